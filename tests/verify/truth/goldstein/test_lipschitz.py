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
