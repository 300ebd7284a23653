r"""How quantities scale: exponents with intervals, of a deterministic sweep or from samples in one or more variables.

Samples: one weighted least-squares fit of :math:`\log q = c + \sum_v k_v \log v`. Each exponent is linear in the
logarithms, so its error is a linear combination of the points' log errors. Where every point is a chi-square variance
estimate that combination has an exactly known moment generating function and its tails are bounded by it; otherwise
each exponent's extremes over the points' simultaneous confidence boxes are taken.

Coverage is exact for a power law. A law that still bends is met by fitting the later half of the sweep as well.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.evidence.budget import Share
from verify.evidence.model import Law, Point, RateEvidence, Role, Rung
from verify.evidence.rates.bends import SUPPORTED, Bends
from verify.evidence.rates.local_exponents import UNSETTLED, read_sweep
from verify.evidence.samples.laws import chi2_lower, chi2_upper, log_variance_interval

TINY = 1e-9
"""Exponents below this have no inverse worth the name."""
RESOLVED = 0.1
"""Half-width of an interval that tells tenths of an order apart."""
CENTRED = 1.5
"""The interval's middle is off by chance as well: by up to half its half-width, where both errors are as promised."""
EXTRAPOLATION = 1.5
"""A first-order correction halves along a halving sweep, so the limit lies beyond the later half's exponent by about
as much as that lies beyond the whole sweep's; half as much again is allowed."""
BOXED = 0.5
"""How far a sweep of points with intervals of their own, wider than their noise, is looked for bends, of full reach."""
PURE = "powers, times what its exact law bends by"
"""The class of a quantity whose law is known."""
LOOKS = 4
"""Looks that share what may be missed."""
ROUNDING = 1e-12
"""Least width of an estimate's interval in logarithms: what never varies is known to that."""
NORMAL = sys.float_info.min
"""Smaller doubles have lost digits: whatever they hold is not fitted."""
FLOOR_SHARE = 0.5
"""A point whose uncertainty is more than this share of it lies at the noise floor and is not fitted."""


@dataclass(frozen=True)
class SweepEstimate:
    """A sampled quantity >= 0 at one setting of the variables, each > 0.

    A chi-square variance estimate has degrees of freedom ``dof``; any other an interval, jointly valid over all points
    of a fit, and a law that it rests on.
    """

    at: dict[str, float]
    value: float
    dof: float | None = None
    low: float = 0.0
    high: float = 0.0
    samples: int = 0
    predicted: float | None = None
    law: Law = "exponent (log chi-square)"

    def boxed(self, error: float) -> SweepEstimate:
        """With a two-sided interval of its own at this error, if it has none."""
        if self.dof is None:
            return self
        low = self.value * self.dof / chi2_upper(self.dof, error / 2)
        high = self.value * self.dof / chi2_lower(self.dof, error / 2)
        return replace(self, low=low, high=high)

    @property
    def uncertainty(self) -> float:
        """Half-width that covers the interval on both sides."""
        return max(self.high - self.value, self.value - self.low)

    @property
    def usable(self) -> bool:
        """Whether it lies above the noise floor."""
        return self.value > 0 and self.uncertainty <= FLOOR_SHARE * self.value

    def point(self, name: str) -> Point:
        """It as a point of a sweep in one variable."""
        return Point(
            at=self.at[name], measured=self.value, uncertainty=self.uncertainty, predicted=self.predicted,
            usable=self.usable,
        )  # fmt: skip


def fit_power_law(
    estimates: Sequence[SweepEstimate], share: Share, *, quantity: str, role: Role = "conclusion", bends: bool = True
) -> dict[str, RateEvidence]:
    """Fit exponents in all variables that vary, jointly.

    The estimates are independent, in the order towards the limit. Half of the share goes to the exponents, half to the
    points' own intervals: those given with estimates without degrees of freedom must hold jointly at that half.

    Returns:
        Evidence by variable. Too few usable points give the interval (-inf, inf), which decides nothing; a quantity
        that is zero throughout has exponent ``inf``. The interval covers the exponent of the whole sweep, that of its
        later half, and where the two point to: a sweep that still bends decides little.
    """
    boxed = [estimate.boxed(share.error / 2 / len(estimates)) for estimate in estimates]
    variables = [name for name in boxed[0].at if len({e.at[name] for e in boxed}) > 1]
    fitted = [e for e in boxed if e.usable]
    zero = all(e.value == 0 for e in boxed)
    evidence = {
        name: RateEvidence(
            quantity=quantity, variable=name, points=tuple(e.point(name) for e in boxed),
            exponent=math.inf if zero else math.nan, interval=(math.inf if zero else -math.inf, math.inf),
            settled=zero, floor=None if zero else next((e.at[name] for e in boxed if not e.usable), None),
            rung="statistical", error_rate=share.error, role=role, power=1 - share.missed,
            samples=sum(e.samples for e in boxed), law=boxed[0].law,
        )
        for name in variables
    }  # fmt: skip
    if zero:
        return evidence
    whole = _rows(fitted, variables, range(len(fitted)))
    if whole is None:
        return evidence
    for i, name in enumerate(variables):
        evidence[name] = evidence[name].model_copy(update=_fit_variable(fitted, variables, i, whole, share, bends))

    return evidence


def _fit_variable(
    fitted: Sequence[SweepEstimate], variables: Sequence[str], i: int, whole: Vector, share: Share, may_bend: bool
) -> dict[str, Any]:
    """One variable's exponent, its interval and where a bend could still take it."""
    name, row, logs = variables[i], whole[i + 1], np.log([e.value for e in fitted])
    late_rows = _rows(fitted, variables, _tail(fitted, name))
    late_row = late_rows[i + 1] if late_rows is not None else row
    exponent, late = float(row @ logs), float(late_row @ logs)
    below, above = _errors(row, fitted, share.error / 2)
    late_below, late_above = _errors(late_row, fitted, share.error / 2)
    bends = _bends(fitted, variables, i)
    if may_bend and bends.contrasts:
        settled = bends.straight(share.error)
    else:
        settled = _is_straight(fitted, variables, logs, whole)
    beyond = EXTRAPOLATION if settled else UNSETTLED
    ends = (exponent - above, exponent - below, late - late_above, late - late_below, late + beyond * (late - exponent))
    low, high = min(ends), max(ends)
    detectable = RESOLVED + _seen_beyond(row, late_row, fitted, share)
    limit, missed = None, None
    if may_bend:
        reach = 1.0 if all(e.dof is not None for e in fitted) else BOXED
        limit = bends.limit(share.error, reach=reach if settled else math.inf, whole=True)
        narrowed = bends.at(share.error / 2, share.missed / LOOKS)
        missed = narrowed.limit(share.missed / LOOKS, reach=SUPPORTED * reach) if settled else None
        detectable = max(detectable, bends.told(share.error, share.missed / LOOKS, reach))
    if not settled and limit is not None:
        # Where the whole sweep lies is no matter once it is seen to bend.
        (low, high), limit = limit, None
    wide = max(1.0, CENTRED * (high - low) / 2 / RESOLVED) ** 2
    return {
        "exponent": exponent if settled else min(max(late, low), high), "interval": (low, high), "settled": settled,
        "local_exponents": _local(fitted, variables, name), "limit": limit, "limit_missed": missed,
        "detectable": detectable, "function_class": None if may_bend else PURE,
        "samples_needed": int(sum(e.samples for e in fitted) * wide) if math.isfinite(wide) else None,
    }  # fmt: skip


def _bends(fitted: Sequence[SweepEstimate], variables: Sequence[str], i: int) -> Bends:
    """The laws that bend in one variable, held against points between which no other differs."""
    groups: dict[tuple[float, ...], list[SweepEstimate]] = {}
    for e in fitted:
        groups.setdefault(tuple(e.at[name] for name in variables if name != variables[i]), []).append(e)
    swept = [group for group in groups.values() if len(group) > 1] or [list(fitted)]
    points = [e for group in swept for e in group]
    levels = [[float(e in group) for group in swept] for e in points]
    variable = np.log([e.at[variables[i]] for e in points])
    design = np.column_stack([levels, variable])
    relative = _design(points, variables)[1]
    row = np.linalg.pinv(design / relative[:, None])[-1] / relative
    boxes = None
    if len(swept) == 1 and all(e.dof is None for e in points):
        boxes = np.log([e.low for e in points]), np.log([e.high for e in points])
    return Bends(
        logs=np.log([e.value for e in points]), design=design, relative=relative, row=row, variable=variable,
        errors=lambda combined, error: _errors(combined, points, error), boxes=boxes,
    )  # fmt: skip


def invert(rate: RateEvidence, *, quantity: str, variable: str, power: float = 1.0) -> RateEvidence:
    """The same law read the other way: from q ∝ v^k, how v, a count, grows as q**power shrinks.

    The power is 1/2 where q is a mean square and the new variable its root.
    """
    level = abs(rate.exponent) <= TINY
    points = tuple(
        Point(at=p.measured**power, measured=p.at, usable=p.usable and not level,
              uncertainty=math.inf if level else p.at * p.uncertainty / p.measured / abs(rate.exponent))
        for p in rate.points
    )  # fmt: skip
    return rate.model_copy(
        update={
            "quantity": quantity, "variable": variable, "points": points, "interval": _inverse(rate.interval, power),
            "exponent": math.nan if level else 1 / (rate.exponent * power),
            "local_exponents": tuple(1 / (v * power) for v in rate.local_exponents if abs(v) > TINY),
            "detectable": _inverted(rate, power),
            "limit": _inverse(_until_none(rate.limit, rate.exponent), power),
            "limit_missed": _inverse(_until_none(rate.limit_missed, rate.exponent), power),
        }
    )  # fmt: skip


def _until_none(limit: tuple[float, float] | None, exponent: float) -> tuple[float, float] | None:
    """A limit cut at 0: what no longer shrinks no count reaches, which is beyond every power of it."""
    if limit is None:
        return None
    low, high = limit
    return (low, min(high, 0.0)) if exponent < 0 else (max(low, 0.0), high)


def _inverse(interval: tuple[float, float] | None, power: float) -> tuple[float, float] | None:
    """Reciprocals of exponents times a power; unbounded where 0 is among them."""
    if interval is None:
        return None
    low, high = interval
    if low < 0 < high or max(abs(low), abs(high)) <= TINY:
        return -math.inf, math.inf
    # An end at 0 is one at infinity, on the side of the other.
    if high <= 0:
        return (1 / (high * power) if high < -TINY else -math.inf), (1 / (low * power) if low > -math.inf else -0.0)
    return (1 / (high * power) if high < math.inf else 0.0), (1 / (low * power) if low > TINY else math.inf)


def _inverted(rate: RateEvidence, power: float) -> float | None:
    """Violation of the inverse that is seen on either side; none where the interval then straddles zero."""
    if rate.detectable is None or abs(rate.exponent) <= TINY:
        return None
    right = abs(1 / (rate.exponent * power))
    reach = rate.detectable - RESOLVED
    seen = 1 / (power * (right + RESOLVED)) - reach
    return 1 / (power * seen) - right if seen > reach else None


def _rows(estimates: Sequence[SweepEstimate], variables: Sequence[str], chosen: Sequence[int]) -> Vector | None:
    """Rows that map all log values to the coefficients of a weighted fit through the chosen points.

    ``None`` where these are too few: with one point more than coefficients a curve does not show yet.
    """
    design, relative = _design([estimates[i] for i in chosen], variables)
    if len(chosen) < len(variables) + 2 or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    scaled = design / relative[:, None]
    rows: Vector = np.zeros((design.shape[1], len(estimates)))
    rows[:, list(chosen)] = np.linalg.solve(scaled.T @ scaled, scaled.T) / relative
    return rows


def _design(estimates: Sequence[SweepEstimate], variables: Sequence[str]) -> tuple[Vector, Vector]:
    """The fit's design matrix, and the widths of the intervals in logarithms, which rounding at least has."""
    design = np.array([[1.0, *(math.log(e.at[name]) for name in variables)] for e in estimates])
    return design, np.array([max(math.log(e.high / e.low), ROUNDING) for e in estimates])


def _is_straight(estimates: Sequence[SweepEstimate], variables: Sequence[str], logs: Vector, rows: Vector) -> bool:
    """Whether one power law runs through all intervals; else the sweep is still crossing over to another power."""
    design, relative = _design(estimates, variables)
    return bool((np.abs(logs - design @ (rows @ logs)) <= relative).all())


def _seen_beyond(row: Vector, late_row: Vector, estimates: Sequence[SweepEstimate], share: Share) -> float:
    """Deviation of a power law's exponent at which every end of the interval passes the claim, in all but few runs."""
    missed = 2 * share.missed / 3
    further = (1 + EXTRAPOLATION) * late_row - EXTRAPOLATION * row
    widths = [0.0]
    for one, error in ((row, share.error / 2), (late_row, share.error / 2), (further, None)):
        own = max(abs(v) for v in _errors(one, estimates, error)) if error is not None else 0.0
        widths.append(own + max(abs(v) for v in _errors(one, estimates, missed)))
    return max(widths)


def _tail(estimates: Sequence[SweepEstimate], name: str) -> list[int]:
    """Positions of the later half of a sweep in one variable, and one more."""
    values = list(dict.fromkeys(e.at[name] for e in estimates))
    late = set(values[-(len(values) // 2 + 1) :])
    return [i for i, e in enumerate(estimates) if e.at[name] in late]


def _errors(row: Vector, estimates: Sequence[SweepEstimate], error: float) -> tuple[float, float]:
    """Bounds of the fitted exponent's own error, lower and upper, crossed with probability at most ``error``."""
    dofs = [e.dof for e in estimates]
    if all(dof is not None for dof in dofs):
        return log_variance_interval(row, np.array(dofs, dtype=np.float64), error)
    up = np.array([math.log(e.value / e.low) for e in estimates])
    down = np.array([math.log(e.value / e.high) for e in estimates])
    return float(np.where(row > 0, down, up) @ row), float(np.where(row > 0, up, down) @ row)


def _local(estimates: Sequence[SweepEstimate], variables: Sequence[str], name: str) -> tuple[float, ...]:
    """Local exponents in one variable, the others held at the setting with most points."""
    others = [other for other in variables if other != name]
    groups: dict[tuple[float, ...], list[SweepEstimate]] = {}
    for e in estimates:
        groups.setdefault(tuple(e.at[other] for other in others), []).append(e)
    longest = max(groups.values(), key=len)
    return tuple(math.log(a.value / b.value) / math.log(a.at[name] / b.at[name]) for a, b in pairwise(longest))


USABLE_RELATIVE_UNCERTAINTY = 0.02
"""A point enters a fit only where its uncertainty is at most this share of it: local exponents over a factor of
two in the variable are then known to about 0.06, finer than the tenth of an order the verdict resolves."""


def fit_rate(
    points: Sequence[Point], *, quantity: str, variable: str, rung: Rung = "numeric", role: Role = "conclusion"
) -> RateEvidence:
    r"""Read the local exponents of a deterministic sweep and enclose the limiting one.

    The points come in the order towards the limit; how far their drift may still lead is said in
    :mod:`verify.evidence.rates.local_exponents`. A quantity that is zero throughout (measured zero, or predicted zero
    and measured within its uncertainty) has exponent ``inf``. Fewer than three usable points give the interval
    (-inf, inf), which decides nothing; one end is infinite where the sweep is still crossing over that way.
    """
    marked = [point.model_copy(update={"usable": _is_usable(point)}) for point in points]
    floor = next((point.at for point in marked if not point.usable), None)
    if all(_is_zero(point) for point in marked):
        return RateEvidence(
            quantity=quantity, variable=variable, points=tuple(marked), exponent=math.inf,
            interval=(math.inf, math.inf), rung=rung, role=role,
        )  # fmt: skip
    # Those before the first unusable one: beyond the floor a chance agreement proves nothing.
    usable = list(takewhile(lambda point: point.usable, marked))
    sweep = read_sweep([p.at for p in usable], [p.measured for p in usable], [p.uncertainty for p in usable])
    return RateEvidence(
        quantity=quantity, variable=variable, points=tuple(marked), exponent=sweep.exponent, interval=sweep.interval,
        local_exponents=sweep.local, settled=sweep.settled, floor=floor, rung=rung, role=role,
    )  # fmt: skip


def _is_usable(point: Point) -> bool:
    if not (math.isfinite(point.measured) and point.measured >= NORMAL):
        return False
    return point.uncertainty <= USABLE_RELATIVE_UNCERTAINTY * point.measured


def _is_zero(point: Point) -> bool:
    if point.measured == 0:
        return True
    return point.predicted == 0 and point.measured <= point.uncertainty
