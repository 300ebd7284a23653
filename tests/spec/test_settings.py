"""A project's settings: found in its folder, complete or refused in one line."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from spec.errors import InvalidInputError
from spec.settings import EFFORTS, Settings, load_settings
from verify.evidence.budget import EFFORT_STEP, LEVELS

WHOLE = """
subject = "my_solver:Subject"
profile = "smoke"
reading = "repaired"
seed = 5
effort = 4
time-limit = 3
noise = "kurtosis<=5"
baseline = "b.json"
[expected-failures]
"bias-bound/T1" = "constant step"
[skips]
"inner-cost" = "an hour"
"""


def test_a_folder_without_settings_has_empty_ones(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other]\nseed = 1\n")
    found = load_settings(tmp_path)
    assert (found.settings, found.source) == (Settings(), "")


def test_both_files_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "f2csa.toml").write_text(WHOLE)
    own = load_settings(tmp_path)
    assert own.source == "f2csa.toml"
    assert own.settings.reading == ("repaired",)
    assert own.settings.time_limit == 3
    assert own.settings.noise == "kurtosis<=5"
    assert [entry.reason for entry in own.settings.failing] == ["constant step"]
    assert [entry.claim for entry in own.settings.skipped] == ["inner-cost"]
    (tmp_path / "f2csa.toml").unlink()
    shared = WHOLE.replace("[", "[tool.f2csa.")
    (tmp_path / "pyproject.toml").write_text(f"[tool.f2csa]\n{shared}")
    assert load_settings(tmp_path).settings == own.settings


def test_the_example_of_the_documentation_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```toml\n(.*?)^```$", page, re.M | re.S)
    (tmp_path / "f2csa.toml").write_text(example, encoding="utf-8")
    held = load_settings(tmp_path).settings
    assert len(held.failing) == 2
    assert [entry.id for entry in held.skipped] == ["inner-cost/noise-floor"]


def test_two_places_are_one_too_many(tmp_path: Path) -> None:
    (tmp_path / "f2csa.toml").write_text("seed = 1\n")
    (tmp_path / "pyproject.toml").write_text("[tool.f2csa]\nseed = 2\n")
    with pytest.raises(InvalidInputError, match="one of them"):
        load_settings(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed = ", "must be TOML"),
        (f"seed = {'9' * 5000}", "must be TOML"),
        ("effort = 3", "f2csa.toml.effort: must be one of 1, 4, 16"),
        ("reading = 'fixed'", "f2csa.toml.reading"),
        ("subject = ''", "f2csa.toml.subject"),
        ("baseline = ''", "f2csa.toml.baseline"),
        ("time-limit = inf", "f2csa.toml.time-limit"),
        ("[" * 5000, "must be TOML"),
        ("subjct = 'a:B'", "is not a field"),
        ("subject = 3", "f2csa.toml.subject"),
        ("seed = true", "f2csa.toml.seed"),
        ("seed = -1", "f2csa.toml.seed"),
        ("profile = 'ci-cd'", "f2csa.toml.profile"),
        ("time-limit = 0.0", "f2csa.toml.time-limit"),
        ("effort = 1.5", "f2csa.toml.effort"),
        ("reading = [1]", "f2csa.toml.reading"),
        ("[expected-failures]\n'bias-bound/T1' = 'r'", "subject: is required"),
        ("subject = 'a:B'\n[expected-failures]\n'bias-bound/T1' = ''", "bias-bound/T1: must have a reason"),
        ("subject = 'a:B'\n[expected-failures]\n'bias-bound/T1' = 1", "expected-failures"),
        ("subject = 'a:B'\n[skips]\n'bias-bound/T99' = 'r'", "known claim or step"),
        ("subject = 'a:B'\nskips = ['bias-bound']", "skips"),
    ],
)
def test_broken_settings_are_one_line_with_their_place(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "f2csa.toml").write_text(text)
    with pytest.raises(InvalidInputError) as refused:
        load_settings(tmp_path)
    assert said in str(refused.value)
    assert str(refused.value).startswith("f2csa.toml")
    assert "\n" not in str(refused.value)


def test_a_table_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\nf2csa = 3\n")
    with pytest.raises(InvalidInputError, match="must be an object"):
        load_settings(tmp_path)


@pytest.mark.parametrize("name", ["f2csa.toml", "pyproject.toml"])
def test_a_folder_or_a_link_to_nowhere_is_no_absence_of_settings(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(InvalidInputError, match=name):
        load_settings(tmp_path)
    (tmp_path / name).rmdir()
    (tmp_path / name).symlink_to("nowhere.toml")
    with pytest.raises(InvalidInputError, match=name):
        load_settings(tmp_path)


def test_efforts_are_those_that_a_run_takes() -> None:
    assert tuple(EFFORT_STEP**k for k in range(LEVELS + 1)) == EFFORTS


def test_settings_are_looked_for_in_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="must be a folder"):
        load_settings(tmp_path / "none")


def test_a_pipe_that_nobody_writes_into_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f2csa.toml")
    with pytest.raises(InvalidInputError, match=r"f2csa\.toml: must be a file, no pipe"):
        load_settings(tmp_path)


@pytest.mark.parametrize(
    "text", ["a." * 50_000 + "a = 1", "[" + "a." * 50_000 + "a]", "x = 1\n" + '"a" . ' * 99 + "a=1"]
)
def test_a_key_of_very_many_parts_is_refused_unread(tmp_path: Path, text: str) -> None:
    (tmp_path / "f2csa.toml").write_text(text)
    with pytest.raises(InvalidInputError, match="must have keys of at most 32 parts"):
        load_settings(tmp_path)
