from __future__ import annotations

import json
import pickle
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from spec import (
    Generated,
    Holder,
    InvalidInputError,
    Noise,
    Quadratic,
    dumps_problem,
    load_problem,
    loads_problem,
    parse_problem,
    problem,
)
from spec.blocks.exact_json import dumps
from tests.strategies import json_text, matrices, quadratic_data, quadratics, spellings

EXAMPLE: dict[str, Any] = {
    "kind": "quadratic",
    "f": {"xy": [["1/3", 0]], "y": [1, 2]},
    "g": {"yy": [[2, 1], [1, 2]]},
    "constraints": {"A": [[1], [0], [2]], "B": [[1, 0], [0, 1], [1, 1]], "b": [0, 0.5, 1]},
}


def changed(**blocks: Any) -> dict[str, Any]:
    """EXAMPLE with fields replaced, ``f_x=…`` meaning the block x of f; ``None`` drops one."""
    made: dict[str, Any] = json.loads(json.dumps(EXAMPLE))
    for name, value in blocks.items():
        outer, _, inner = name.partition("_")
        outer = "constraints" if outer == "rows" else outer
        target, key = (made[outer], inner) if inner else (made, outer)
        if value is None:
            target.pop(key)
        else:
            target[key] = value
    return made


def refusal(data: object) -> str:
    with pytest.raises(InvalidInputError) as caught:
        parse_problem(data)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@settings(max_examples=60)
@given(quadratics())
def test_a_written_problem_reads_back_equal_and_writes_the_same_bytes(made: Quadratic) -> None:
    for indent in (None, 1):
        text = dumps_problem(made, indent=indent)
        again = loads_problem(text)
        assert again == made
        assert hash(again) == hash(made)
        assert dumps_problem(again, indent=indent) == text
        assert dumps_problem(loads_problem(text.encode()), indent=indent) == text


@settings(max_examples=60)
@given(quadratic_data(), st.randoms(use_true_random=False))
def test_exact_values_survive_whatever_the_order_of_fields(data: dict[str, Any], shuffle: random.Random) -> None:
    def shuffled(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        items = list(value.items())
        shuffle.shuffle(items)
        return {key: shuffled(item) for key, item in items}

    made = loads_problem(json_text(data))
    assert isinstance(made, Quadratic)
    other = loads_problem(json_text(shuffled(data)))
    assert other == made
    assert dumps_problem(other) == dumps_problem(made)
    for name in ("f", "g"):
        for block, value in data[name].items():
            rows = value if isinstance(value[0], list) else [value]
            assert getattr(getattr(made, name), block).to_fractions() == rows
    assert made.constraints.A.to_fractions() == data["constraints"]["A"]
    assert made.constraints.B.to_fractions() == data["constraints"]["B"]
    assert (made.p, made.n) == made.constraints.A.shape
    assert (made.p, made.m) == made.constraints.B.shape


@settings(max_examples=60)
@given(matrices(2, 2, spellings()))
def test_a_file_keeps_the_exact_value_of_every_spelling(drawn: list[list[Any]]) -> None:
    rows = ", ".join(f"[{row[0].token}, {row[1].token}]" for row in drawn)
    text = '{"kind": "quadratic", "g": {"yy": [[1]]}, "constraints": {"A": [' + rows + '], "B": [["1"], [1.0]]}}'
    made = loads_problem(text)
    assert isinstance(made, Quadratic)
    exact = [[cell.value for cell in row] for row in drawn]
    assert made.constraints.A.to_fractions() == exact
    assert loads_problem(dumps_problem(made)).constraints.A.to_fractions() == exact  # type: ignore[union-attr]  # a Quadratic, asserted above
    assert made.arrays.A.tolist() == [[v.numerator / v.denominator for v in row] for row in exact]


def test_missing_blocks_are_zero_and_the_canonical_form_leaves_zero_blocks_out() -> None:
    made = parse_problem({"kind": "quadratic", "f": {"x": [1, 2]}, "g": {"yy": [[1]], "xx": [[0, 0], [0, 0]]},
                          "constraints": {"B": [[1], [-1]]}})  # fmt: skip
    assert isinstance(made, Quadratic)
    assert (made.n, made.m, made.p) == (2, 1, 2)
    assert made.f.xy.shape == (2, 1)
    assert made.g.xx.shape == (2, 2)
    assert made.constraints.b.to_list() == [0, 0]
    assert made.to_dict() == {
        "kind": "quadratic", "f": {"x": [1, 2]}, "g": {"yy": [[1]]},
        "constraints": {"A": [[0, 0], [0, 0]], "B": [[1], [-1]], "b": [0, 0]},
    }  # fmt: skip
    assert made.arrays.f_xy.tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("where", ["A", "f.x", "f.xx", "f.xy", "g.x", "g.xx", "g.xy"])
def test_any_block_with_n_rows_tells_n(where: str) -> None:
    data: dict[str, Any] = {"kind": "quadratic", "f": {}, "g": {"yy": [[1]]}, "constraints": {"B": [[1]]}}
    blocks = {"A": [[1, 2, 3]], "x": [1, 2, 3], "xx": [[0] * 3] * 3, "xy": [[1], [2], [3]]}
    name, _, block = where.rpartition(".")
    (data[name] if name else data["constraints"])[block] = blocks[block]
    assert parse_problem(data).n == 3
    assert refusal(data | {"f": {}, "g": {"yy": [[1]]}, "constraints": {"B": [[1]]}}).startswith(
        "problem.n: must be >= 1"
    )


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ({"f_x": [1, 2]}, "problem.f.x: must have shape (1,); got (2,)"),
        ({"f_y": [1]}, "problem.f.y: must have shape (2,); got (1,)"),
        ({"f_xy": [[1], [2]]}, "problem.f.xy: must have shape (1, 2); got (2, 1)"),
        ({"f_yy": [[1]]}, "problem.f.yy: must have shape (2, 2); got (1, 1)"),
        ({"g_xx": [[1, 0], [0, 1]]}, "problem.g.xx: must have shape (1, 1); got (2, 2)"),
        ({"g_yy": [[1]]}, "problem.g.yy: must have shape (2, 2); got (1, 1)"),
        ({"rows_A": [[1]]}, "problem.constraints.A: must have shape (3, 1); got (1, 1)"),
        ({"rows_b": [1]}, "problem.constraints.b: must have shape (3,); got (1,)"),
        ({"rows_B": []}, "problem.p: must be >= 1 (constraints.B needs a row); got 0"),
        ({"rows_B": [[]]}, "problem.m: must be >= 1 (constraints.B needs a column); got 0"),
        ({"rows_A": [[], [], []]}, "problem.constraints.A: must have shape (3, 1); got (3, 0)"),
        ({"rows_B": None}, "problem.constraints.B: is required (with a row for each h_i; A and b are zero if missing)"),
        ({"g": None}, "problem.g: is required (g.yy at least, positive definite)"),
        ({"constraints": None}, "problem.constraints: is required (constraints.B at least, with a row for each h_i;"),
        ({"g_yy": [[1, 2], [3, 1]]}, 'problem.g.yy: must be symmetric (or say "symmetrise": true); [1][0] is 3'),
        ({"f_yy": [[0, "1/3"], [0.333, 0]]}, 'problem.f.yy: must be symmetric (or say "symmetrise": true)'),
        ({"g_yy": [[1, 2], [2, 1]]}, "problem.g.yy: must be positive definite; its smallest eigenvalue is -1"),
        ({"g_yy": [[1, 1], [1, 1]]}, "problem.g.yy: must be positive definite"),
        ({"g_yy": None}, "problem.g.yy: must be positive definite; its smallest eigenvalue is 0"),
        ({"g_yy": [[1, 0], [0, "1e-150"]]},
         "problem.g.yy: must be positive definite beyond rounding; its smallest eigenvalue is 1e-150"),
        ({"g_yy": [["1e-150", "1e150"], ["1e150", "1e150"]]}, "problem.g.yy: must be positive definite; its smallest"),
        ({"f_z": [1]}, "problem.f.z: is not a field of this block; got [1]"),
        ({"alpha": 1}, "problem.alpha: is not a field of this block; got 1"),
        ({"f_x": 1}, "problem.f.x: must be a list of numbers; got 1"),
        ({"f_x": [[1]]}, 'problem.f.x[0]: must be an integer, a decimal or "p/q"; got [1]'),
        ({"rows_B": [[1, 0], [0], [1, 1]]},
         "problem.constraints.B: rows must have equal length: row 0 has 2, row 1 has 1"),
        ({"rows_B": [[1, 0], [0, "x"], [1, 1]]}, "problem.constraints.B[1][1]: must be an integer"),
        ({"rows_b": [0, True, 0]}, "problem.constraints.b[1]: must be an integer"),
        ({"f": 3}, "problem.f: must be an object; got 3"),
        ({"g": []}, "problem.g: must be an object; got []"),
        ({"noise": {"model": "loud"}}, "problem.noise.model: must be 'none', 'additive', 'matrix' or 'jump'; got loud"),
        ({"noise": {"sigma_f": -1}}, "problem.noise.sigma_f: must be >= 0; got -1"),
        ({"noise": {"on": "f.x"}}, "problem.noise.on: must be a list; got f.x"),
        ({"symmetrise": "yes"}, "problem.symmetrise: must be a valid boolean; got yes"),
        ({"kind": "cubic"}, "problem: needs a kind, one of quadratic, holder, generated"),
        ({"kind": None}, "problem: needs a kind, one of quadratic, holder, generated"),
    ],
)  # fmt: skip
def test_a_broken_rule_is_named_with_its_place(blocks: dict[str, Any], message: str) -> None:
    assert refusal(changed(**blocks)).startswith(message)


@pytest.mark.parametrize("data", [None, 1, "a", [], [EXAMPLE], {}, {"kind": ["quadratic"]}, {"kind": 1}, {1: 2}])
def test_what_is_no_problem_at_all_is_refused(data: object) -> None:
    assert refusal(data).startswith("problem: ")


def test_a_too_deeply_nested_value_is_refused_not_shown() -> None:
    nested: Any = 1
    for _ in range(100_000):
        nested = [nested]
    assert "too large to show" in refusal(changed(f_x=nested)) or "deep" in refusal(changed(f_x=nested))
    while isinstance(nested, list):  # taken apart by hand: freeing it at once recurses
        nested = nested.pop()


def test_symmetrising_is_asked_for_and_then_written_out() -> None:
    made = parse_problem(changed(g_yy=[[2, 1], [0, "7/3"]], f_yy=[[0, 3], [0, 0]], symmetrise=True))
    assert isinstance(made, Quadratic)
    assert made.g.yy.to_fractions() == [[Fraction(2), Fraction(1, 2)], [Fraction(1, 2), Fraction(7, 3)]]
    assert made.f.yy.to_fractions() == [[Fraction(0), Fraction(3, 2)], [Fraction(3, 2), Fraction(0)]]
    assert not made.symmetrise
    assert "symmetrise" not in made.to_dict()
    assert loads_problem(dumps_problem(made)) == made


@pytest.mark.parametrize("scale", ["1e-150", "1e-75", 1, "1e75", "1e150"])
def test_definiteness_does_not_depend_on_the_scale(scale: Any) -> None:
    assert parse_problem(changed(g_yy=[[scale, 0], [0, scale]])).m == 2
    negative = f"-{scale}"
    assert "smallest eigenvalue is -1" in refusal(changed(g_yy=[[scale, 0], [0, negative]]))


@settings(max_examples=40)
@given(matrices(3, 3))
def test_an_indefinite_block_is_refused_with_its_smallest_eigenvalue(drawn: list[list[Fraction]]) -> None:
    block = np.array([[float(v) for v in row] for row in drawn])
    smallest = float(np.linalg.eigvalsh(block + block.T)[0])
    data = {"kind": "quadratic", "f": {"x": [0]},
            "g": {"yy": [[drawn[i][j] + drawn[j][i] for j in range(3)] for i in range(3)]},
            "constraints": {"B": [[1, 0, 0]]}}  # fmt: skip
    if smallest > 1e-9:
        assert parse_problem(data).m == 3
    elif smallest < -1e-9:
        said = float(refusal(data).rsplit(" ", 1)[1])
        assert said == pytest.approx(smallest, rel=1e-5)
    else:
        assert "positive definite" in refusal(data)


def test_problems_cannot_be_changed() -> None:
    made = parse_problem(EXAMPLE)
    assert isinstance(made, Quadratic)
    for model, field, value in ((made, "kind", "holder"), (made.f, "x", made.f.y), (made.constraints, "b", made.f.y)):
        with pytest.raises(ValidationError, match="frozen"):
            setattr(model, field, value)
    with pytest.raises(ValidationError, match="Extra inputs"):
        Quadratic.model_validate(EXAMPLE | {"extra": 1})
    with pytest.raises(ValueError, match="read-only"):
        made.arrays.g_yy[0, 0] = 0.0
    with pytest.raises(AttributeError):
        made.arrays.A = made.arrays.B  # type: ignore[misc]  # that it cannot be assigned is what is tested


def test_equal_problems_are_equal_whatever_was_computed_from_them() -> None:
    one, two = parse_problem(EXAMPLE), parse_problem(EXAMPLE)
    assert isinstance(one, Quadratic)
    assert one.arrays.B.tolist() == [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    assert one == two
    assert hash(one) == hash(two)
    assert len({one, two, pickle.loads(pickle.dumps(one))}) == 1
    assert one != parse_problem(changed(noise={"model": "additive", "sigma_f": 1}))


def test_the_attributes_of_the_arrays_are_the_blocks_whatever_was_computed_from_them() -> None:
    made = parse_problem(EXAMPLE)
    assert isinstance(made, Quadratic)
    assert np.array_equal(made.sizes.g_xy, np.abs(made.arrays.g_xy))
    assert set(vars(made.arrays)) == set(made.blocks)


def test_two_spellings_of_one_number_make_equal_problems() -> None:
    assert parse_problem(changed(rows_b=[0, "1/2", "4/4"])) == parse_problem(EXAMPLE)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe\x00", b"\x80abc", b"[]", b"null", b"{}", b'{"kind": "holder"']
)
def test_a_file_that_holds_no_problem_is_refused_by_its_name(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"^mine\.json: "):
        load_problem(path)


def test_a_file_that_cannot_be_read_is_refused_by_its_path(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.symlink_to(closed)  # refers to itself: not even root can read it
    for path in (tmp_path, tmp_path / "none.json", closed, tmp_path / ("a" * 300), tmp_path / "nul\0"):
        with pytest.raises(InvalidInputError, match=r"cannot be read \(.+\)$"):
            load_problem(path)


def test_a_text_beyond_the_size_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem, "MAX_FILE_BYTES", 100)
    path = tmp_path / "large.json"
    path.write_text(" " * 101)
    with pytest.raises(InvalidInputError, match=r"^large\.json: must be at most 100 bytes$"):
        load_problem(path)
    path.write_text(" " * 100)
    with pytest.raises(InvalidInputError, match="is not valid JSON"):
        load_problem(path)


def test_files_may_start_with_a_byte_order_mark_and_be_utf_16(tmp_path: Path) -> None:
    for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-32"):
        path = tmp_path / "p.json"
        path.write_bytes(dumps(EXAMPLE).encode(encoding))
        assert load_problem(path) == parse_problem(EXAMPLE)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"s": 0}, "problem.s: must be in (0, 1]; got 0"),
        ({"s": "3/2"}, "problem.s: must be in (0, 1]; got 3/2"),
        ({}, "problem.s: is required"),
        ({"s": "x"}, "problem.s: must be an integer"),
        ({"s": 1, "n": 2}, "problem.n: must be less than or equal to 1"),
        ({"s": 1, "f": {}}, "problem.f: is not a field"),
    ],
)
def test_the_holder_problem_checks_its_exponent(data: dict[str, Any], message: str) -> None:
    assert refusal({"kind": "holder"} | data).startswith(message)


def test_the_holder_problem_round_trips() -> None:
    for s in ("1/3", 0.5, 1):
        made = parse_problem({"kind": "holder", "s": s, "noise": {"model": "jump", "sigma_g": "1/10"}})
        assert isinstance(made, Holder)
        assert loads_problem(dumps_problem(made)) == made
        assert (made.n, made.m, made.p) == (1, 1, 1)
        assert dumps_problem(loads_problem(dumps_problem(made))) == dumps_problem(made)
    assert parse_problem({"kind": "holder", "s": 1}).to_dict() == {"kind": "holder", "s": 1}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"family": "nope", "n": 1}, "problem.family: must be 'paper-experiment', 'paper-literal'"),
        ({"n": 1}, "problem.family: is required"),
        ({"family": "random-rows"}, "problem.n: is required"),
        ({"family": "random-rows", "n": 0}, "problem.n: must be greater than or equal to 1; got 0"),
        ({"family": "random-rows", "n": 8193}, "problem.n: must be less than or equal to 8192; got 8193"),
        ({"family": "random-rows", "n": 1.5}, "problem.n: must be a valid integer"),
        ({"family": "random-rows", "n": True}, "problem.n: must be a number; got True"),
        ({"family": "random-rows", "n": "2"}, "problem.n: must be a number; got 2"),
        ({"family": "random-rows", "n": 1, "seed": -1}, "problem.seed: must be greater than or equal to 0; got -1"),
        ({"family": "random-rows", "n": 1, "seed": 2**63}, "problem.seed: must be less than or equal to"),
        ({"family": "random-rows", "n": 10**5000}, "problem.n: "),
        ({"family": "random-rows", "n": 1, "condition": 0.5}, "problem.condition: must be greater than or equal to 1"),
        ({"family": "random-rows", "n": 1, "condition": float("nan")}, "problem.condition: must be"),
        ({"family": "paper-experiment", "n": 2, "m": 3}, "problem.m: must equal n for family paper-experiment; got 3"),
        ({"family": "paper-experiment", "n": 2, "p": 4}, "problem.p: must be left out for family"),
    ],
    ids=range(15),
)  # fmt: skip
def test_a_generated_problem_checks_its_sizes_before_drawing(data: dict[str, Any], message: str) -> None:
    assert refusal({"kind": "generated"} | data).startswith(message)


def test_a_generated_problem_is_written_by_its_recipe_and_drawn_the_same() -> None:
    text = '{"kind": "generated", "family": "random-rows", "n": 2, "m": 3, "p": 4, "condition": 10.0, "seed": 5}'
    made = loads_problem(text)
    assert isinstance(made, Generated)
    assert dumps_problem(made) == text
    again = loads_problem(dumps_problem(made))
    assert again == made
    assert isinstance(again, Generated)
    assert again.quadratic == made.quadratic
    assert again == made  # having been drawn or not makes no difference


def test_a_generated_problem_passes_its_noise_on() -> None:
    made = parse_problem(
        {"kind": "generated", "family": "random-rows", "n": 1, "noise": {"model": "matrix", "sigma_f": 1}}
    )
    assert isinstance(made, Generated)
    assert made.quadratic.noise == made.noise == Noise(model="matrix", sigma_f=1)
    assert loads_problem(dumps_problem(made)) == made
