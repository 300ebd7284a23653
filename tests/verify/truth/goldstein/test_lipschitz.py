"""The Lipschitz constant of F on all of R^n, where its pieces show it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import parse_problem
from spec.atlas import atlas
from verify.truth.geometry import quadratic_of
from verify.truth.goldstein.estimate import Pieces
from verify.truth.goldstein.lipschitz import lipschitz_constant


@pytest.mark.parametrize(
    ("name", "constant"),
    [("kink", 1.0), ("swapping-rows", 1.0), ("absolute-fixed", math.sqrt(5)), ("concave-upper", None),
     ("box-rational", None)],
)  # fmt: skip
def test_of_the_atlas(name: str, constant: float | None) -> None:
    shown = lipschitz_constant(quadratic_of(atlas()[name].problem))
    assert shown == (constant if constant is None else pytest.approx(constant))


def test_a_bounded_y_bounds_the_slope_of_a_quadratic_f() -> None:
    rows = {"A": [[0], [0]], "B": [[1], [-1]], "b": [3, 2]}
    data = {"kind": "quadratic", "f": {"yy": [[-1]]}, "g": {"yy": [[1]], "xy": [[1]]}, "constraints": rows}
    assert lipschitz_constant(quadratic_of(parse_problem(data))) == pytest.approx(3.0)


@given(places=st.lists(st.floats(-50, 50), min_size=2, max_size=2))
def test_no_gradient_is_longer(places: list[float]) -> None:
    problem = quadratic_of(atlas()["crossing-kinks"].problem)
    constant = lipschitz_constant(problem)
    assert constant is not None
    assert np.linalg.norm(Pieces(problem).gradient(np.array(places))) <= constant + 1e-9


def with_rows(f: dict[str, object], g_xy: float, B: list[int], b: list[float]) -> float | None:
    rows = {"A": [[0]] * len(B), "B": [[value] for value in B], "b": b}
    data = {"kind": "quadratic", "f": f, "g": {"yy": [[1]], "xy": [[g_xy]]}, "constraints": rows}
    return lipschitz_constant(quadratic_of(parse_problem(data)))


def test_a_row_that_is_never_active_changes_nothing() -> None:
    curved: dict[str, object] = {"xy": [[3]], "yy": [[6]]}
    assert with_rows(curved, 1, [1, -1], [1, 1]) == with_rows(curved, 1, [1, -1, 1], [1, 1, 2]) == pytest.approx(3.0)


def test_where_f_is_nowhere_or_a_piece_too_small_to_see_nothing_is_said() -> None:
    assert with_rows({"y": [1]}, 1, [1, -1], [-1, -2]) is None
    assert with_rows({"y": [1]}, 1e12, [1, -1], [0.1, 0.1]) is None
