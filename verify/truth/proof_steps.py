r"""The quantities of the bias proof as exact rational functions of alpha.

With hats for the scenario's inexact stages and :math:`E(\cdot)` the estimator,

.. math::
    T_1 &= E(\hat y) - E(y^*_{\hat\lambda,\alpha}), &
    T_2 &= E(y^*_{\hat\lambda,\alpha}) - E^*(y^*_{\lambda^*,\alpha}), &
    T_3 &= E^*(y^*_{\lambda^*,\alpha}) - \nabla F,

where E carries the scenario's pair and activation, E* the exact pair and true activation. They sum to the bias.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.penalty_functions import Family, estimator, estimator_at_minimiser, minimiser
from verify.truth.scenario import Quantity, Scenario

QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)


def error(family: Family, scenario: Scenario, quantity: Quantity = "bias") -> RationalVector:
    """One quantity of the proof as a function of alpha.

    Args:
        family: The problem at its point.
        scenario: Dual term, activation and the errors spent on the stages.
        quantity: Which one.

    Returns:
        Shape (n,), or (m,) for the two shifts.

    Source:
        Lemma "Hypergradient Bias Bound", Lemma "Solution Error". Differs from the paper: T2 compares activation
        weights too, which the lemma's text leaves open.
    """
    return _DEFINITIONS[quantity](family, family.fitted(scenario))


def exact_counterpart(family: Family, scenario: Scenario) -> Scenario:
    """The scenario with exact stages and the true activation, the same dual term."""
    return family.exact_stages.model_copy(update={"dual_term": scenario.dual_term})


def _bias(family: Family, scenario: Scenario) -> RationalVector:
    return estimator(family, scenario) - RationalVector.constant(family.hypergradient)


def _T1(family: Family, scenario: Scenario) -> RationalVector:  # noqa: N802  # the paper's name
    return estimator(family, scenario) - estimator_at_minimiser(family, scenario)


def _T2(family: Family, scenario: Scenario) -> RationalVector:  # noqa: N802  # the paper's name
    return estimator_at_minimiser(family, scenario) - estimator(family, exact_counterpart(family, scenario))


def _T3(family: Family, scenario: Scenario) -> RationalVector:  # noqa: N802  # the paper's name
    return _bias(family, exact_counterpart(family, scenario))


def _solution_shift(family: Family, scenario: Scenario) -> RationalVector:
    return minimiser(family, scenario) - minimiser(family, exact_counterpart(family, scenario))


def _penalty_shift(family: Family, scenario: Scenario) -> RationalVector:
    return minimiser(family, scenario) - RationalVector.constant(family.lower.y_star)


_DEFINITIONS: dict[Quantity, Callable[[Family, Scenario], RationalVector]] = {
    "bias": _bias,
    "T1": _T1,
    "T2": _T2,
    "T3": _T3,
    "solution-shift": _solution_shift,
    "penalty-shift": _penalty_shift,
}
