"""What the two algorithms must be told besides noisy gradients: one thing is changed, and all gradients are kept."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from spec import parse_problem
from verify.checks.measuring.case import Case, Measurement, check
from verify.checks.measuring.finite_laws import ExactOracle, exactly
from verify.truth.algebra.numbers import Real
from verify.truth.geometry import quadratic_of
from verify.truth.stages import ExactSetting, evaluate

ALPHA, EPSILON, RADIUS = Fraction(1, 10), Fraction(1, 8), Fraction(1, 4)
ROWS = ("A", "B", "b")
BOUNDS = {"σ": Fraction(1, 2), "L_F": Fraction(1), "F(x₀) - inf F": Fraction(3)}


def _call(case: Case, rows: dict[str, object]) -> tuple[Real, ...]:
    """Row values, minimiser and estimate on the same pair, some rows' data replaced."""
    problem = case.instance.problem.to_dict()
    moved = quadratic_of(parse_problem({**problem, "constraints": {**problem["constraints"], **rows}}))
    lower = ExactOracle.at(case.instance, ALPHA).lower
    given = {"y_star": lower.y_star, "lam": lower.lam}
    answer = evaluate(ExactSetting(moved, case.instance.x, ALPHA, given=given))
    return (*answer.h, *answer.y_penalty, *answer.hypergradient)


def prescribed(bounds: dict[str, Fraction]) -> tuple[Fraction, ...]:
    """N_g, D, M and K for these bounds."""
    M = Fraction(ceil(36 * bounds["L_F"] ** 2 / EPSILON**2))
    K = Fraction(ceil(2 * bounds["F(x₀) - inf F"] / (RADIUS * EPSILON)))
    return Fraction(ceil(bounds["σ"] ** 2 / ALPHA**2)), RADIUS / M, M, K


def used(case: Case) -> Iterator[str]:
    """What is no gradient, and changes an output or a parameter when it alone is changed."""
    constraints = quadratic_of(case.instance.problem).constraints
    for name in ROWS:
        entries = getattr(constraints, name)
        rows = [[str(value + 1) for value in row] for row in entries.to_fractions()]
        raised = rows if entries.ndim == 2 else rows[0]
        if _call(case, {name: raised}) != _call(case, {}):
            yield name
    for name, value in BOUNDS.items():
        if prescribed({**BOUNDS, name: 2 * value}) != prescribed(BOUNDS):
            yield name


@check("stochastic-oracles/inputs", instances=("two-of-three", "scalar-rational"))
def inputs(case: Case) -> Measurement:
    """How many inputs are no gradients, as written; of those that the repaired text names, how many have no effect."""
    effective = list(used(case))
    if case.as_written:
        counted = exactly("number of inputs that are no gradients", len(effective))
    else:
        idle = len(ROWS) + len(BOUNDS) - len(effective)
        counted = exactly("number of inputs named that change nothing", idle)
    return Measurement((counted,), {"inputs with an effect": ", ".join(effective)})
