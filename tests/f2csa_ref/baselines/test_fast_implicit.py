"""The prepared implicit gradient answers as its page does, with every linear algebra."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from f2csa_ref.baselines.fast_implicit import FastImplicit
from f2csa_ref.baselines.implicit_gradient import implicit_gradient
from f2csa_ref.baselines.kkt_system import LinearAlgebra
from f2csa_ref.lower_level import lower_level
from f2csa_ref.objectives import QuadraticObjectives, objectives_of
from spec import InvalidInputError, parse_problem
from spec.atlas import experiment, find


def objectives(name: str) -> tuple[QuadraticObjectives, np.ndarray]:
    if name == "experiment-40d":
        q, x = objectives_of(experiment(40)), np.random.default_rng(0).standard_normal(40) * 2
    else:
        instance = find(name)
        q, x = objectives_of(instance.problem), np.array([float(value) for value in instance.x])
    assert isinstance(q, QuadraticObjectives)
    return q, x


@pytest.mark.parametrize("algebra", get_args(LinearAlgebra))
@pytest.mark.parametrize("name", ["experiment-40d", "moving-box", "two-of-three", "random-2x3x4", "interior"])
def test_it_answers_as_the_page_does(name: str, algebra: LinearAlgebra) -> None:
    q, x = objectives(name)
    page = implicit_gradient(q, x, linear_algebra=algebra)
    found, work = FastImplicit(q, algebra)(x, page.lower_level)
    np.testing.assert_allclose(found, page.hypergradient, rtol=1e-11, atol=1e-11)
    kinds = [name for name in work if "(" in name]
    assert kinds == [name for name in page.counts if "(" in name]


def test_products_with_identity_and_zero_are_no_work() -> None:
    q, x = objectives("experiment-40d")
    lower = implicit_gradient(q, x).lower_level
    # Both gradients of f take two products each; g_xy is the identity, and nothing moves with x.
    assert FastImplicit(q, "best")(x, lower)[1]["matrix_products"] == 4
    exact = FastImplicit(q, "cg", 1e-13)(x, lower)[1]["matrix_products"]
    rough = FastImplicit(q, "cg", 1e-2)(x, lower)[1]["matrix_products"]
    assert 4 < rough < exact


def test_a_kink_is_refused() -> None:
    # toy2: y* = max(x, 0), which bends at 0.
    q = objectives_of(find("toy2").problem)
    assert isinstance(q, QuadraticObjectives)
    x = np.zeros(1)
    with pytest.raises(InvalidInputError, match="differentiable"):
        FastImplicit(q)(x, lower_level(q, x))


@pytest.mark.parametrize("algebra", get_args(LinearAlgebra))
def test_where_the_box_holds_everything_nothing_is_solved(algebra: LinearAlgebra) -> None:
    # y* = (1, 1) for every x nearby.
    problem = parse_problem({"kind": "quadratic", "f": {"xx": [[1]], "y": [1, 2]},
                             "g": {"yy": [[2, 1], [1, 2]], "xy": [[1, 1]], "y": [-9, -9]},
                             "constraints": {"A": [[0]] * 4, "B": [[1, 0], [0, 1], [-1, 0], [0, -1]],
                                             "b": [1] * 4}})  # fmt: skip
    q = objectives_of(problem)
    assert isinstance(q, QuadraticObjectives)
    x = np.ones(1)
    found, _ = FastImplicit(q, algebra)(x, lower_level(q, x))
    np.testing.assert_allclose(found, implicit_gradient(q, x, linear_algebra=algebra).hypergradient)
    np.testing.assert_allclose(found, [1.0])
