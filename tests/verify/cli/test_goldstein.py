from __future__ import annotations

import json
from fractions import Fraction

import pytest

from spec import InvalidInputError
from verify.cli.main import invoke
from verify.cli.sources import read_box


def run(capsys, *arguments):
    code = invoke(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_bracket_comes_with_what_proves_it(capsys):
    code, out, _ = run(capsys, "goldstein", "atlas:experiment-1d", "--x", "2.3", "--radius", "0.2", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["exact"] == "11/10"
    assert found["lower"] <= 1.1 <= found["upper"]
    assert found["certified"] == {"lower": True, "upper": True}
    assert found["proof"]["points"] == [[2.1]]
    assert found["notes"] == []


def test_beyond_four_dimensions_it_says_what_is_not_certified(capsys):
    _, out, _ = run(capsys, "goldstein", "atlas:experiment-5d", "--radius", "1/2", "--json")
    found = json.loads(out)
    assert found["certified"] == {"lower": False, "upper": True}
    assert "estimate" in found["notes"][0]


def test_a_box_adds_its_normal_cone(capsys):
    _, out, _ = run(capsys, "goldstein", "atlas:toy1", "--radius", "0.1", "--box", "1,2", "--json")
    assert json.loads(out)["exact"] == "0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["atlas:toy1", "--radius", "0"], "--radius: must be > 0"),
        (["atlas:toy1", "--radius", "x"], "--radius"),
        (["atlas:holder-1-4", "--radius", "1"], "problem: must be quadratic"),
        (["atlas:toy1", "--radius", "1", "--box", "2,3"], "x[0]: must lie in the box"),
        (["atlas:toy1", "--radius", "1", "--box", "3,2"], "--box: must have LOW <= HIGH"),
        (["atlas:toy1", "--radius", "1", "--box", "3"], "--box: must have the form LOW,HIGH"),
        (["atlas:random-2x3x4", "--radius", "9"], "feasible"),
    ],
)
def test_wrong_input_is_one_clear_line(capsys, arguments, message):
    code, out, err = run(capsys, "goldstein", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_boxes_are_read_once_for_all_or_once_each():
    assert read_box([], 2) is None
    assert read_box(["0,1"], 2) == ((0, 0), (1, 1))
    assert read_box(["0,none", "-inf,1/2"], 2) == ((0, None), (None, Fraction(1, 2)))
    with pytest.raises(InvalidInputError, match="once or 3 times"):
        read_box(["0,1", "0,1"], 3)
