"""The truth that answers are held against: by exact algebra where that is at hand, and refused where F has a kink."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from f2csa_ref.objectives import QuadraticObjectives, objectives_of
from spec import parse_problem
from spec.errors import InvalidInputError
from verify.experiments.answers.truth import TrueGradients
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level.lower_level import hypergradient


@pytest.mark.parametrize(("family", "rows"), [("paper-experiment", None), ("coupled-rows", 5)])
@pytest.mark.parametrize("condition", [10, 1000])
def test_it_is_the_exact_gradient(family: str, rows: int | None, condition: int) -> None:
    data = {"kind": "generated", "family": family, "n": 6, "seed": 1, "condition": condition}
    problem = parse_problem(data | ({} if rows is None else {"p": rows}))
    q = objectives_of(problem)
    assert isinstance(q, QuadraticObjectives)
    known, x = TrueGradients(q), 4 * np.random.default_rng(0).standard_normal(6)
    if rows is not None:
        x /= 8
    found = known(x)
    at = [Fraction(value) for value in x.tolist()]
    exact = [float(v) for v in hypergradient(quadratic_of(problem), at)]
    # Entries are decimals there and doubles here.
    np.testing.assert_allclose(found.gradient.astype(float), exact, rtol=1e-11, atol=1e-12 * found.length)
    assert found.error < 1e-15
    assert found.error_of(np.array(exact)) < 1e-12


def test_the_error_of_an_answer_is_relative_and_infinite_where_it_is_not_finite() -> None:
    q = objectives_of(parse_problem({"kind": "generated", "family": "paper-experiment", "n": 4, "seed": 0}))
    assert isinstance(q, QuadraticObjectives)
    found = TrueGradients(q)(np.ones(4))
    assert found.error_of(1.01 * found.gradient.astype(float)) == pytest.approx(0.01)
    assert found.error_of(np.full(4, np.nan)) == np.inf


def test_a_point_on_a_kink_has_none() -> None:
    kink = parse_problem({"kind": "quadratic", "f": {"y": [1]}, "g": {"yy": [[1]], "xy": [[-1]]},
                          "constraints": {"A": [[0]], "B": [[1]], "b": [0]}})  # fmt: skip
    q = objectives_of(kink)
    assert isinstance(q, QuadraticObjectives)
    with pytest.raises(InvalidInputError, match=r"differentiable|can be told"):
        TrueGradients(q)(np.zeros(1))
