"""Installing where no package index has the suite: the wheel and what it holds, and each page's commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from verify.conformance.skeleton_files import GUIDE, SKELETONS, WORKFLOW, write_skeleton

ROOT = Path(__file__).parents[2]
PACKAGES = ("spec", "f2csa_ref", "verify")
PLACE = "path/to/checkout"
OFFLINE = {
    "pip wheel": "--no-index --no-build-isolation --quiet",
    "pip install": "--no-index --no-deps --no-compile --quiet",
}
"""What is added to a page's command: nothing is fetched or compiled, its other packages are those that are here."""
BY_NAME = re.compile(r"pip install[^\n`]*(?<![\w./-])f2csa-verify\b(?![-/.]\w)")
"""Installs that ask a package index for the suite."""
MENDS = ("tests/meta/test_installing.py", "tests/test_f2csa_command.py")
"""Of a copy that was installed by its name, which is where an index has it."""


def environment(**more: str) -> dict[str, str]:
    """Ours, without what configures pip here."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHONPATH"))}
    return {**mine, "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **more}


def tried(command: str, folder: Path, site: Path | None = None) -> None:
    """Run a page's command in a folder, without a network; what it installs goes to a site of its own."""
    kind = " ".join(command.split()[:2])
    rest = command.removeprefix(kind).replace(PLACE, shlex.quote(str(ROOT)))
    target = "" if site is None else f" --no-build-isolation --target {shlex.quote(str(site))}"
    line = f"{shlex.quote(sys.executable)} -m {kind} {OFFLINE[kind]}{target} {rest}"
    made = subprocess.run(
        ["sh", "-c", line], cwd=folder, env=environment(), capture_output=True, text=True, timeout=300, check=False
    )
    assert made.returncode == 0, f"{line}\n{made.stderr}"


def commands(text: str, start: str) -> list[str]:
    """The page's commands that begin so, without comments; one on a line, or in backticks."""
    found = re.findall(rf"^(?:\s*- run: )?({start}[^\n]*)$|`({start}[^`\n]*)`", text, re.M)
    return [(line or quoted).partition(" #")[0].strip() for line, quoted in found]


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the documented command has made ``wheels``."""
    if find_spec("hatchling") is None:
        pytest.skip("hatchling, which builds the project, is not here: pip install -e '.[dev]'")
    folder = tmp_path_factory.mktemp("built")
    tried(f"pip wheel --no-deps --wheel-dir wheels {PLACE}", folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    (path,) = (built / "wheels").iterdir()
    return zipfile.ZipFile(path)


def test_the_wheel_holds_every_file_of_the_packages(wheel: zipfile.ZipFile) -> None:
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]
    ours = {path.relative_to(ROOT).as_posix() for path in paths if "__pycache__" not in path.parts}
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == {*ours, "f2csa_command.py"}
    assert {".py", ".toml", ".j2", ".json", ".v", ".in"} <= {Path(name).suffix for name in held}


def test_the_wheel_names_the_command(wheel: zipfile.ZipFile) -> None:
    (entry,) = (name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt"))
    assert "f2csa = f2csa_command:main" in wheel.read(entry).decode().splitlines()


def test_what_the_wheel_installs_runs(built: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    tried("pip install wheels/f2csa_verify-*.whl", built, site)
    for arguments in (["--version"], ["doctor"], ["hypergradient", "atlas:toy1", "--alpha", "0.1"], ["init", "python"]):
        command, env = [sys.executable, str(site / "bin" / "f2csa"), *arguments], environment(PYTHONPATH=str(site))
        made = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False)
        assert (made.returncode, made.stderr) == (0, ""), made.stdout
        if arguments == ["doctor"]:
            assert f"packages: {site}, installed as a wheel" in made.stdout


@pytest.mark.parametrize("name", ["docs/ten-minutes.md", "docs/ci.md"])
def test_each_pages_install_works(built: Path, tmp_path: Path, name: str) -> None:
    suites = [line for line in commands(page(name), "pip install") if "pytest" not in line and not line.endswith(" .")]
    assert suites
    for number, line in enumerate(suites):
        tried(line, built, site := tmp_path / str(number))
        assert (site / "bin" / "f2csa").is_file()
    assert commands(page(name), "pip wheel") == [f"pip wheel --no-deps --wheel-dir wheels {PLACE}"]


@pytest.mark.parametrize("language", SKELETONS)
def test_the_skeletons_workflow_installs_what_its_guide_makes(built: Path, tmp_path: Path, language: str) -> None:
    write_skeleton(language, tmp_path / "mine")
    guide, workflow = ((tmp_path / "mine" / name).read_text(encoding="utf-8") for name in (GUIDE, WORKFLOW))
    assert commands(guide, "pip wheel") == [f"pip wheel --no-deps --wheel-dir wheels {PLACE}"]
    (line,) = commands(workflow, "pip install")
    assert line == f"pip install wheels/f2csa_verify-*.whl {SKELETONS[language].packages}".strip()
    if language == "python":
        tried(line, built, tmp_path / "site")
        assert (tmp_path / "site" / "bin" / "f2csa").is_file()


def test_nothing_asks_a_package_index_for_the_suite() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("the list of files is git's: no checkout here")
    found = []
    for name in filter(None, listed.stdout.split("\0")):
        if name in MENDS or not (ROOT / name).is_file():
            continue
        text = (ROOT / name).read_bytes().decode("utf-8", errors="ignore")
        found += [f"{name}: {hit[0]}" for hit in BY_NAME.finditer(text)]
    assert found == []


@pytest.mark.parametrize(
    ("line", "asks"),
    [
        ("pip install f2csa-verify", True),
        ("pip install 'f2csa-verify[dask]'", True),
        ("pip install -q f2csa-verify torch", True),
        ("pip install f2csa-verify==0.1.0", True),
        ("pip install wheels/f2csa_verify-*.whl", False),
        ("pip install ../f2csa-verify", False),
        ("pip install git+ssh://host/f2csa-verify.git", False),
    ],
)
def test_asking_an_index_is_told_from_a_place(line: str, asks: bool) -> None:
    assert bool(BY_NAME.search(line)) is asks
