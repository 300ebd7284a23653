"""Errors spent on the stages of Algorithm 1 in their worst directions, to leading order in alpha."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

import numpy as np

from spec.exact import FloatArray
from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.algebra.rings import FUNCTIONS
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily
from verify.truth.functions_of_alpha.scenario import Error, Scenario, exact_error

_GRID = 10**8
"""Worst directions are rounded to this many steps a unit."""


Spent: TypeAlias = Literal["y_error", "gradient_error", "lam_error", "y_star_error"]
"""The errors a scenario can spend, by their names in it."""


def response(
    family: PenaltyFamily, scenario: Scenario, error: Spent, rows: Sequence[int] | None = None
) -> RationalVector:
    """The estimate's derivative in an error, a matrix of functions of alpha; the scenario's own errors are ignored.

    Its norm for ``y_error`` is the paper's L_{H,y}, there a constant. ``rows`` are those whose multiplier may be wrong,
    all by default: on active ones the penalty opposes the error, on others nothing does.

    Source:
        Lemma "Hypergradient Bias Bound", T1 and T2.
    """
    plain = family.lagrangian(Scenario(dual_term=scenario.dual_term, rho=family.fitted(scenario).rho))
    match error:
        case "y_error":
            return plain.E
        case "gradient_error":
            return plain.left_to_estimate
        case "lam_error":
            selector = [int(rows is None or i in rows) for i in range(family.problem.p)]
            return plain.lam_to_estimate(scenario.dual_term) @ FUNCTIONS.diagonal(selector)
        case "y_star_error":
            # The minimiser does not depend on it while the activation stays as it is.
            return plain.blocks.g_xy.times(-1, -2)


def worst_scenario(
    family: PenaltyFamily, scenario: Scenario, powers: Mapping[Spent, int], rows: Sequence[int] | None = None
) -> Scenario:
    """The scenario with errors of norm ``alpha**power`` instead of its own, each in the direction worst for its term.

    Signs are chosen so that the effects add up; ``rows`` are as for :func:`response`.

    Source:
        Algorithm 1, lines 3 and 5.
    """
    spent: dict[str, tuple[Error, ...]] = dict.fromkeys(get_args(Spent), ())
    total = np.zeros(family.problem.n)
    for name in get_args(Spent):
        if name in powers:
            leading = response(family, scenario, name, rows).leading().array
            direction = worst_direction(leading)
            effect = leading @ np.array([float(value) for value in direction])
            sign = -1 if float(effect @ total) < 0 else 1
            total = total + sign * effect
            spent[name] = (exact_error(powers[name], [sign * value for value in direction]),)
    return scenario.model_copy(update=spent)


def worst_direction(response: FloatArray) -> tuple[Fraction, ...]:
    """A rational direction (k,), of exact norm <= 1, along which a linear map (n, k) is largest, to about 1e-7.

    The top right singular vector, rounded and shrunk; zero if the map is.
    """
    if not response.any():
        return tuple(Fraction(0) for _ in range(response.shape[1]))
    _, _, right = np.linalg.svd(response)
    top = right[0] * (1.0 if right[0][int(np.abs(right[0]).argmax())] > 0 else -1.0)
    rounded = [Fraction(round(float(value) * _GRID), _GRID) for value in top]
    norm_squared = sum((value * value for value in rounded), Fraction(0))
    if norm_squared > 1:
        # 1/s <= 1/sqrt(s) for s >= 1: dividing by the square is exact and costs no more than the rounding did.
        rounded = [value / norm_squared for value in rounded]
    return tuple(rounded)
