from __future__ import annotations

import json
from fractions import Fraction

import pytest

from spec import InvalidInputError
from verify.cli.arguments.sources import read_box
from verify.cli.main import invoke


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
        (["atlas:toy1", "--radius", "-1"], "--radius: must be > 0; got -1"),
        (["atlas:toy1", "--radius", "nan"], '--radius: must be an integer, a decimal or "p/q"; got nan'),
        (["atlas:toy1", "--radius", "x"], "--radius"),
        (["atlas:toy1"], "--radius"),
        (["atlas:toy1", "--x", "nan", "--radius", "1"], '--x[0]: must be an integer, a decimal or "p/q"; got nan'),
        (["atlas:toy1", "--x", "inf", "--radius", "1"], "--x[0]"),
        (["atlas:toy1", "--x", "1,2", "--radius", "1"], "--x: must have 1 number(s); got 2"),
        (["atlas:nowhere", "--radius", "1"], "problem: must name an atlas instance"),
        (["nowhere.json", "--radius", "1"], "nowhere.json: cannot be read"),
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


CROSSED = {"A": [[0], [0]], "B": [[1], [-1]], "b": [1, -2]}
"""y >= -1 and y <= -2: no y at any x."""
MOVING = {"A": [[1], [0]], "B": [[1], [-1]], "b": [0, 1]}
"""x <= y <= 1."""


def wide(rows, n):
    """The same rows, with components of x that they do not see."""
    return {**rows, "A": [row + [0] * (n - 1) for row in rows["A"]]}


@pytest.mark.parametrize("n", [1, 2, 6])
@pytest.mark.parametrize("rows", [CROSSED, MOVING])
def test_an_infeasible_x_is_named_with_what_it_breaks(capsys, tmp_path, rows, n):
    path = tmp_path / "problem.json"
    f, g = {"x": [1] * n, "y": [1]}, {"yy": [[1]]}
    path.write_text(json.dumps({"kind": "quadratic", "f": f, "g": g, "constraints": wide(rows, n)}))
    at = ", ".join(["3/2"] * n)
    code, out, err = run(capsys, "goldstein", str(path), "--x", at, "--radius", "0.1")
    assert (code, out) == (2, "")
    why = "no y satisfies A x - B y - b <= 0" if n == 6 else "1·h_0 + 1·h_1 is positive for every y"
    assert err == f"f2csa: x: the lower level is infeasible here: {why}; got {at}\n"


@pytest.mark.parametrize("n", [1, 2, 6])
def test_a_ball_that_leaves_the_feasible_x_names_its_radius(capsys, tmp_path, n):
    path = tmp_path / "problem.json"
    f, g = {"x": [1] * n, "y": [1]}, {"yy": [[1]]}
    path.write_text(json.dumps({"kind": "quadratic", "f": f, "g": g, "constraints": wide(MOVING, n)}))
    at = ",".join(["0.95", *["0"] * (n - 1)])
    code, out, err = run(capsys, "goldstein", str(path), "--x", at, "--radius", "0.1")
    assert (code, out) == (2, "")
    assert err.startswith("f2csa: radius: must keep the ball where the lower level is feasible")
    assert err.endswith("; got 1/10\n")


def test_boxes_are_read_once_for_all_or_once_each():
    assert read_box([], 2) is None
    assert read_box(["0,1"], 2) == ((0, 0), (1, 1))
    assert read_box(["0,none", "-inf,1/2"], 2) == ((0, None), (None, Fraction(1, 2)))
    with pytest.raises(InvalidInputError, match="once or 3 times"):
        read_box(["0,1", "0,1"], 3)
