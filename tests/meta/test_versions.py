"""Version files agree with each other, name no place to fetch from, and every licence is listed."""

from __future__ import annotations

import re
import runpy
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LICENCES = runpy.run_path(str(ROOT / ".ci" / "licences.py"))
LOCKED: dict[str, str] = LICENCES["locked"]()
PAGE = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def versions(file: str) -> dict[str, str]:
    text = (ROOT / file).read_text(encoding="utf-8")
    return {plain(name): version for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.M)}


def release(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in version.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def test_the_lowest_versions_are_the_bounds() -> None:
    lowest = versions("constraints-lowest.txt")
    bounds = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]
    assert len(bounds) > 20
    for bound in bounds:
        name, _, version = bound.partition(">=")
        least, have = release(version), release(lowest[plain(name)])
        assert have[: len(least)] == least, f"{bound}: .ci/lock makes constraints-lowest.txt anew"
        # The first release there is of what the bound names.
        assert not any(have[len(least) :]) or plain(name) in ("scipy-stubs", "pytest-xdist"), bound


def test_the_hashed_versions_are_the_locked_ones() -> None:
    hashed, locked = versions("constraints-hashed.txt"), {plain(name): version for name, version in LOCKED.items()}
    assert hashed.items() >= locked.items()
    # What only another system, or the build, needs.
    assert set(hashed) - set(locked) == {"colorama", "editables", "tzdata"}
    text = (ROOT / "constraints-hashed.txt").read_text(encoding="utf-8")
    entries = re.split(r"^(?=[\w.-]+==)", text, flags=re.M)[1:]
    assert all("--hash=sha256:" in entry for entry in entries)


@pytest.mark.parametrize("file", ["constraints.txt", "constraints-lowest.txt", "constraints-hashed.txt"])
def test_no_version_file_names_an_index(file: str) -> None:
    assert not re.search(r"https?:|file:|index|find-links", (ROOT / file).read_text(encoding="utf-8"))


def test_every_locked_package_has_its_licence_on_the_page() -> None:
    rows = re.findall(r"^\| (\S+) \| (\S+) \| .+ \|$", PAGE, re.M)
    assert dict(rows[1:]) == LOCKED


def test_the_page_says_what_the_packages_here_say() -> None:
    here = {dist.metadata["Name"]: dist.version for dist in metadata.distributions()}
    same = [name for name, version in LOCKED.items() if here.get(name) == version]
    if len(same) < len(LOCKED) // 2:
        pytest.skip("other versions than the locked ones are installed")
    for name in same:
        assert LICENCES["row"](name, LOCKED[name]) in PAGE
