"""What the scaling experiment says, in counted operations: no clock decides, for a clock is of one machine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from verify.checks.measuring.case import Case, Measurement, Profile, check, compare
from verify.evidence.charts import Mark, Plot
from verify.evidence.model import Point, RateEvidence
from verify.evidence.rates.rates import fit_rate
from verify.experiments.costs import EXACT, F2CSA, ITERATIVE, hypergradients
from verify.experiments.scaling import PRINTED_LARGEST, Curves, crossings

FAMILY = ("experiment-5d",)
CONDITION = 10.0
DRAWS, AGAIN, FEWER, LARGER = 5, 200, 3, 400
"""Draws at every dimension up to the second number, and up to the fourth: there one in twenty, in a hundred and fifty,
takes a product more. Larger ones are drawn once, for their counts hardly differ."""
SMALL = (12, 25, 50)
"""Dimensions below those of a sweep, to see a crossing there instead of following the curves back."""
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
    largest = {"full": 1600, "smoke": 400}.get(profile.name, 800)
    return tuple(largest // 2**k for k in (3, 2, 1, 0))


@lru_cache(maxsize=64)
def counted_at(d: int, seed: int) -> tuple[Mapping[str, Any], ...]:
    """Counted rows of every method on one draw."""
    return tuple(hypergradients(d, CONDITION, seed, timed=False))


def counted(case: Case) -> tuple[Mapping[str, Any], ...]:
    """Counted rows of the sweep, each dimension drawn once and the smaller ones again."""
    dims, seed = dimensions(case.profile), case.seed
    again = [(d, seed + k) for d in dims for k in range(1, DRAWS if d <= AGAIN else FEWER if d <= LARGER else 1)]
    return tuple(row for place in [*((d, seed) for d in dims), *again] for row in counted_at(*place))


def curves(case: Case) -> Curves:
    """Operations over d."""
    return Curves(counted(case), CONDITION, "operations")


def crossing_range(case: Case, name: str) -> tuple[float, float]:
    """Where F2CSA's operations fall below a method's, least and largest over draws, small dimensions included.

    Where the sweep's own dimensions show no crossing there is none.
    """
    if math.isinf(curves(case).crossing(name)):
        return math.inf, math.inf
    small = [d for d in SMALL if d < dimensions(case.profile)[0]]
    further = [row for k in range(DRAWS) for d in small for row in counted_at(d, case.seed + k)]
    return crossings([*counted(case), *further], CONDITION, name)


def rival(case: Case) -> str:
    """The Hessian-based method that this reading compares with."""
    return METHOD[case.sense.linear_algebra]


def _rate(work: Curves, name: str, quantity: str) -> RateEvidence:
    points = [
        Point(at=float(d), measured=value, uncertainty=0.0)
        for d, value in zip(work.dimensions, work.values(name), strict=True)
    ]
    return fit_rate(points, quantity=quantity, variable="d")


@check("scaling-experiment", instances=FAMILY)
def cost_ratio(case: Case) -> Measurement:
    """A rival's operations over F2CSA's, carried on to the printed dimension by both powers of d."""
    work = curves(case)
    ratio = work.ratio(rival(case), PRINTED_LARGEST)
    quantity = f"operations of a Hessian-based hypergradient ({rival(case)}) over F2CSA's at d = {PRINTED_LARGEST}"
    low, high = work.ratio_range(rival(case), PRINTED_LARGEST)
    # What speaks for the text, as far as draws and slopes leave it open; of a bound what speaks against it.
    nearest = min(max(PRINTED_RATIO, low), high)
    evidence = (
        compare(quantity, nearest, "==", PRINTED_RATIO, HALF) if case.as_written else compare(quantity, low, ">=", 1.0)
    )
    values: dict[str, float | str] = {f"at d = {d}": work.ratio(rival(case), d) for d in work.dimensions}
    values |= {"at d = 4000": ratio, "at least": low, "at most": high}
    note = f"Counted up to d = {work.dimensions[-1]}, then by the powers of d read off there."
    return Measurement((evidence,), values, note, pictures=(_picture(work),))


def _picture(work: Curves) -> Plot:
    """Operations of all methods, with the printed crossing where F2CSA's curve has its dimension."""
    last = work.dimensions[-1]
    there = work.values(F2CSA)[-1] * (PRINTED_CROSSING / last) ** work.growth(F2CSA).exponent
    return Plot(
        title=f"Operations of one hypergradient, condition number {CONDITION:g}", x_label="dimension d",
        y_label="floating-point operations", series=work.series(), log_x=True, log_y=True,
        marks=(Mark(x=PRINTED_CROSSING, y=there, text="all cross here"),),
    )  # fmt: skip


@check("scaling-experiment/crossover", instances=FAMILY)
def place_of_crossing(case: Case) -> Measurement:
    """The dimension from which F2CSA takes fewer operations, against the printed one or against the bound."""
    name = rival(case)
    first, last = crossing_range(case, name)
    values: dict[str, float | str] = {"crossing at the earliest": first, "crossing at the latest": last}
    if case.as_written:
        nearest = min(max(PRINTED_CROSSING, first), last)
        apart = max(nearest / PRINTED_CROSSING, PRINTED_CROSSING / nearest) if 0 < nearest < math.inf else math.inf
        quantity, allowed = f"factor between the crossing with {name} and d = {PRINTED_CROSSING:.0f}", NEAR
    else:
        bound = latest_crossing(counted(case), name)
        values["bound"] = bound
        apart, allowed = last / bound, 1.0
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
    work = curves(case)
    values: dict[str, float | str] = {
        f"products at d = {d}": value / (2 * d**2) for d, value in zip(work.dimensions, work.values(F2CSA), strict=True)
    }
    return Measurement((_rate(work, F2CSA, "F2CSA's operations per hypergradient"),), values)


@check("scaling-experiment/super-linear", instances=FAMILY)
def implicit_growth(case: Case) -> Measurement:
    """The power of d that the operations of an implicit gradient follow."""
    work, name = curves(case), rival(case)
    return Measurement((_rate(work, name, f"operations per hypergradient, {name}"),))


@check("scaling-experiment/hessian-growth", instances=FAMILY)
def second_order_growth(case: Case) -> Measurement:
    """The power of d that the linear solve of an implicit gradient follows."""
    name = rival(case)
    work = Curves(counted(case), CONDITION, "solve_operations")
    return Measurement((_rate(work, name, f"operations of one linear solve, {name}"),))


@check("scaling-experiment/fair-baseline", instances=FAMILY)
def spread_of_baselines(case: Case) -> Measurement:
    """As written what the linear algebra changes; repaired one factorisation against its formula."""
    work = curves(case)
    if case.as_written:
        ratios = {name: work.ratio(name, PRINTED_LARGEST) for name in METHOD.values()}
        spread = max(ratios.values()) / min(ratios.values())
        quantity = f"largest over least operations among standard implementations at d = {PRINTED_LARGEST}"
        return Measurement((compare(quantity, spread, "==", 1.0, HALF),), dict(ratios))
    rows = [row for row in counted(case) if row["method"] == EXACT]
    worst = max(row["operations"] / (row["d"] ** 3 / 3 + MULTIPLE * row["d"] ** 2) for row in rows)
    quantity = f"operations of one implicit gradient ({EXACT}) over d³/3 + {MULTIPLE:g} d²"
    return Measurement((compare(quantity, worst, "<=", 1.0),))
