"""What the scaling experiment says, in counted operations: no clock decides, for a clock is of one machine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from verify.checks.measuring.case import Case, Measurement, Profile, check, compare
from verify.evidence.charts import Mark, Plot
from verify.evidence.model import Point, RateEvidence
from verify.evidence.rates import fit_rate
from verify.experiments.costs import EXACT, F2CSA, ITERATIVE, hypergradients
from verify.experiments.scaling import PRINTED_LARGEST, Curves

FAMILY = ("experiment-5d",)
CONDITION, SEED = 10.0, 0
PRINTED_CROSSING, PRINTED_RATIO = 1000.0, 3.0
HALF = 0.5
"""What rounds to the printed 3."""
NEAR = 2.0
"""A crossing within this factor of the printed one is near it."""
MULTIPLE = 13.0
"""d² operations of an implicit gradient beside its factorisation: two gradients of f (8), a product with the Hessian
and one solution with the factor (2 each), the identity and the rows."""
METHOD = {
    "conjugate-gradients": ITERATIVE,
    "free-block": EXACT,
    "full-cholesky": "implicit, full Cholesky",
    "full-system": "implicit, LU of the whole system",
}
"""The rivals' linear algebra, by the reading's value."""


def dimensions(profile: Profile) -> tuple[int, ...]:
    """The sweep of one run."""
    return {"smoke": (50, 100, 200, 400), "full": (200, 400, 800, 1600)}.get(profile.name, (100, 200, 400, 800))


@lru_cache(maxsize=2)
def counted(dims: tuple[int, ...]) -> tuple[Mapping[str, Any], ...]:
    """Counted rows of every method."""
    return tuple(row for d in dims for row in hypergradients(d, CONDITION, SEED, timed=False))


def curves(case: Case) -> Curves:
    """Operations over d."""
    return Curves(counted(dimensions(case.profile)), CONDITION, "operations")


def rival(case: Case) -> str:
    """The Hessian-based method that this reading compares with."""
    return METHOD[case.sense.linear_algebra]


def _rate(dims: Sequence[int], values: Sequence[float], quantity: str) -> RateEvidence:
    points = [Point(at=float(d), measured=value, uncertainty=0.0) for d, value in zip(dims, values, strict=True)]
    return fit_rate(points, quantity=quantity, variable="d")


@check("scaling-experiment", instances=FAMILY)
def cost_ratio(case: Case) -> Measurement:
    """A rival's operations over F2CSA's, carried on to the printed dimension by both powers of d."""
    found = curves(case)
    ratio = found.ratio(rival(case), PRINTED_LARGEST)
    quantity = f"operations of a Hessian-based hypergradient ({rival(case)}) over F2CSA's at d = {PRINTED_LARGEST}"
    evidence = (
        compare(quantity, ratio, "==", PRINTED_RATIO, HALF) if case.as_written else compare(quantity, ratio, ">=", 1.0)
    )
    values: dict[str, float | str] = {f"at d = {d}": found.ratio(rival(case), d) for d in found.dimensions}
    note = f"Counted up to d = {found.dimensions[-1]}, then by the powers of d read off there."
    return Measurement((evidence,), values, note, pictures=(_picture(found),))


def _picture(found: Curves) -> Plot:
    """Operations of all methods, with the printed crossing where F2CSA's curve has its dimension."""
    last = found.dimensions[-1]
    there = found.values(F2CSA)[-1] * (PRINTED_CROSSING / last) ** found.growth(F2CSA).exponent
    return Plot(
        title=f"Operations of one hypergradient, condition number {CONDITION:g}", x_label="dimension d",
        y_label="floating-point operations", series=found.series(), log_x=True, log_y=True,
        marks=(Mark(x=PRINTED_CROSSING, y=there, text="all cross here"),),
    )  # fmt: skip


@check("scaling-experiment/crossover", instances=FAMILY)
def place_of_crossing(case: Case) -> Measurement:
    """The dimension from which F2CSA takes fewer operations, against the printed one or against the bound."""
    found, name = curves(case), rival(case)
    at = found.crossing(name)
    values: dict[str, float | str] = {"crossing": at}
    if case.as_written:
        apart = max(at / PRINTED_CROSSING, PRINTED_CROSSING / at) if 0 < at < math.inf else math.inf
        quantity, allowed = f"factor between the crossing with {name} and d = {PRINTED_CROSSING:.0f}", NEAR
    else:
        bound = latest_crossing(counted(dimensions(case.profile)), name)
        values["bound"] = bound
        apart, allowed = at / bound, 1.0
        quantity = f"crossing with {name} over 6 N / φ³ = {bound:.0f}"
    return Measurement((compare(quantity, apart, "<=", allowed),), values)


def latest_crossing(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    """6 N / φ³: from there on a Cholesky on φd coordinates, φ³d³/3, is more than N products, 2Nd²."""
    products = max(row["operations"] / (2 * row["d"] ** 2) for row in rows if row["method"] == F2CSA)
    share = min(row["free"] / row["d"] for row in rows if row["method"] == name)
    return float(6 * products / share**3)


@check("scaling-experiment/growth", instances=FAMILY)
def first_order_growth(case: Case) -> Measurement:
    """The power of d that F2CSA's operations follow."""
    found = curves(case)
    values: dict[str, float | str] = {
        f"products at d = {d}": value / (2 * d**2)
        for d, value in zip(found.dimensions, found.values(F2CSA), strict=True)
    }
    return Measurement((_rate(found.dimensions, found.values(F2CSA), "F2CSA's operations per hypergradient"),), values)


@check("scaling-experiment/super-linear", instances=FAMILY)
def implicit_growth(case: Case) -> Measurement:
    """The power of d that the operations of an implicit gradient follow."""
    found, name = curves(case), rival(case)
    return Measurement((_rate(found.dimensions, found.values(name), f"operations per hypergradient, {name}"),))


@check("scaling-experiment/hessian-growth", instances=FAMILY)
def second_order_growth(case: Case) -> Measurement:
    """The power of d that the linear solve of an implicit gradient follows."""
    name = rival(case)
    found = Curves(counted(dimensions(case.profile)), CONDITION, "solve_operations")
    return Measurement((_rate(found.dimensions, found.values(name), f"operations of one linear solve, {name}"),))


@check("scaling-experiment/fair-baseline", instances=FAMILY)
def spread_of_baselines(case: Case) -> Measurement:
    """As written what the linear algebra changes; repaired one factorisation against its formula."""
    found = curves(case)
    if case.as_written:
        ratios = {name: found.ratio(name, PRINTED_LARGEST) for name in METHOD.values()}
        spread = max(ratios.values()) / min(ratios.values())
        quantity = f"largest over least operations among standard implementations at d = {PRINTED_LARGEST}"
        return Measurement((compare(quantity, spread, "==", 1.0, HALF),), dict(ratios))
    rows = [row for row in counted(dimensions(case.profile)) if row["method"] == EXACT]
    worst = max(row["operations"] / (row["d"] ** 3 / 3 + MULTIPLE * row["d"] ** 2) for row in rows)
    quantity = f"operations of one implicit gradient ({EXACT}) over d³/3 + {MULTIPLE:g} d²"
    return Measurement((compare(quantity, worst, "<=", 1.0),))
