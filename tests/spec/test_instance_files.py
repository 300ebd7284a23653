"""Instances in files of their own: exact, and refused in one line where they are none."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from spec import InvalidInputError
from spec.atlas import find, hold_instance, know_instance, read_instance

BODY = """
[problem]
kind = "quadratic"
[problem.f]
y = [0.1]
[problem.g]
yy = [[1]]
[problem.constraints]
A = [["1/3"]]
B = [[1]]
"""
GOOD = f"x = [0.3]\n{BODY}"


def written(folder: Path, text: str, name: str = "mine.toml") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_decimals_are_exact(tmp_path: Path) -> None:
    instance = read_instance(written(tmp_path, GOOD))
    assert instance.x == (Fraction(3, 10),)
    assert instance.problem.to_dict()["constraints"]["A"] == [["1/3"]]
    assert find(instance.name) is instance


def test_json_and_toml_mean_the_same(tmp_path: Path) -> None:
    toml = read_instance(written(tmp_path, GOOD))
    json = read_instance(written(tmp_path, toml.text, "mine.json"))
    flat = read_instance(
        written(
            tmp_path,
            '{"kind": "quadratic", "x": [0.3], "f": {"y": [0.1]}, "g": {"yy": [[1]]},'
            ' "constraints": {"A": [["1/3"]], "B": [[1]]}}',
            "flat.json",
        )
    )
    assert toml.text == json.text == flat.text
    # Draws are of what it holds, wherever it lies.
    assert toml.seeds_as == json.seeds_as == flat.seeds_as
    assert find("toy1").seeds_as == "toy1"


def test_a_file_is_read_again_and_what_is_known_of_it_is_held(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    first = read_instance(path)
    written(tmp_path, GOOD.replace("0.3", "0.4"))
    assert find(path) is first
    know_instance(path, GOOD.replace("0.3", "0.5"))
    assert find(path) is first
    assert read_instance(path).x == (Fraction(2, 5),)
    Path(path).unlink()
    assert find(path).x == (Fraction(2, 5),)
    know_instance(str(tmp_path / "other.toml"), "none")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        find(str(tmp_path / "other.toml"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "mine.toml: x: is required"),
        (BODY, "mine.toml: x: is required"),
        ("x = [0]", "needs a kind"),
        (GOOD.replace("[0.3]", "[1, 2]"), r"mine.toml: x: must have 1 number\(s\); got 2"),
        (GOOD.replace("[0.3]", '["one"]'), "must be an integer, a decimal"),
        (GOOD.replace("[0.3]", "[nan]"), "x"),
        (GOOD.replace("[[1]]", "[[0]]"), "g.yy: must be positive definite"),
        (GOOD.replace('"quadratic"', '"cubic"'), "kind"),
        ("more = 1\n" + GOOD, "more: is not a field"),
        ("x = [0", "must be TOML"),
        ("a." * 50_000 + "a = 1\n" + GOOD, "keys of at most 32 parts"),
        ("a = " + "[" * 100_000 + "\n" + GOOD, "not nested so deeply"),
        (GOOD.replace("y = [0.1]", 'y = {npy = "y.npy"}'), "y.npy"),
        ("[1, 2]", "mine.toml"),
        ('{"x": [1]}', "mine.toml"),
    ],
)
def test_what_is_no_instance_is_refused_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says) as refused:
        read_instance(written(tmp_path, text))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "says"), [("no.toml", "cannot be read"), ("a|b.toml", "without |"), ("a\n.json", "printable")]
)
def test_what_is_no_file_is_refused(tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says.replace("|", r"\|")):
        read_instance(str(tmp_path / name))


def test_a_text_of_no_place_names_no_files() -> None:
    with pytest.raises(InvalidInputError):
        hold_instance("sent.toml", GOOD.replace("y = [0.1]", 'y = {npy = "y.npy"}'))
