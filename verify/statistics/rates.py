r"""Exponents with intervals from sampled quantities, in one variable or several jointly.

One weighted least-squares fit of :math:`\log q = c + \sum_v k_v \log v`. Each exponent is linear in the logarithms,
so its error is a linear combination of the points' log errors. Where every point is a chi-square variance estimate
that combination has an exactly known moment generating function and its tails are bounded by it; otherwise each
exponent's extremes over the points' simultaneous confidence boxes are taken.

Coverage is exact for a power law. A law that still bends is met by fitting the later half of the sweep as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from verify.evidence import Point, RateEvidence
from verify.rates import SETTLED_DRIFT, UNSETTLED_FACTOR
from verify.statistics.laws import chi2_lower, chi2_upper, log_variance_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verify.statistics.budget import Share
    from verify.subjects.protocol import Vector

Role = Literal["conclusion", "support"]
RESOLVED = 0.1
"""Half-width of an interval that tells tenths of an order apart."""
EXTRAPOLATION = 1.5
"""A first-order correction halves along a halving sweep, so the limit lies beyond the later half's exponent by about
as much as that lies beyond the whole sweep's; half as much again is allowed."""
FLOOR_SHARE = 0.5
"""A point whose uncertainty is more than this share of it lies at the noise floor and is not fitted."""


@dataclass(frozen=True)
class Estimate:
    """A sampled positive quantity at one setting of the variables.

    Args:
        at: Variables by name, each > 0.
        value: The estimate, >= 0.
        dof: Degrees of freedom if ``value`` is a chi-square variance estimate; else give the interval.
        low: Lower end of a confidence interval, jointly valid over all points of a fit.
        high: Its upper end.
        samples: What it took.
        predicted: The value derived independently, if known.
    """

    at: dict[str, float]
    value: float
    dof: float | None = None
    low: float = 0.0
    high: float = 0.0
    samples: int = 0
    predicted: float | None = None

    def boxed(self, error: float) -> Estimate:
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


def fit_power_law(
    estimates: Sequence[Estimate],
    share: Share,
    *,
    quantity: str,
    role: Role = "conclusion",
) -> dict[str, RateEvidence]:
    """Fit exponents in all variables that vary, jointly.

    Args:
        estimates: Independent measurements, in the order towards the limit; intervals of those without degrees of
            freedom must hold jointly at half the share's error.
        share: What the fit may spend; half goes to the exponents, half to the points' own intervals.
        quantity: What was measured.
        role: Whether the exponents decide the verdict.

    Returns:
        Evidence by variable. Too few usable points give the interval (-inf, inf), which decides nothing; a quantity
        that is zero throughout has exponent ``inf``. The interval covers the exponent of the whole sweep, that of its
        later half, and where the two point to: a sweep that still bends decides little.
    """
    boxed = [estimate.boxed(share.error / 2 / len(estimates)) for estimate in estimates]
    variables = [name for name in boxed[0].at if len({e.at[name] for e in boxed}) > 1]
    usable = [e.value > 0 and e.uncertainty <= FLOOR_SHARE * e.value for e in boxed]
    fitted = [e for e, good in zip(boxed, usable, strict=True) if good]
    made = {}
    for name in variables:
        points = tuple(
            Point(at=e.at[name], measured=e.value, uncertainty=e.uncertainty, predicted=e.predicted, usable=good)
            for e, good in zip(boxed, usable, strict=True)
        )
        floor = next((e.at[name] for e, good in zip(boxed, usable, strict=True) if not good), None)
        made[name] = RateEvidence(
            quantity=quantity, variable=name, points=points, exponent=math.nan, interval=(-math.inf, math.inf),
            settled=False, floor=floor, rung="statistical", error_rate=share.error, role=role,
            power=1 - share.missed, samples=sum(e.samples for e in boxed),
        )  # fmt: skip
    if all(e.value == 0 for e in boxed):
        return {
            name: item.model_copy(
                update={"exponent": math.inf, "interval": (math.inf, math.inf), "settled": True, "floor": None}
            )
            for name, item in made.items()
        }
    whole = _Fit.of(fitted, variables)
    if whole is None:
        return made
    for i, name in enumerate(variables):
        exponent, below, above = whole.exponent(i, share.error / 2)
        tail = _Fit.of(_tail(fitted, name), variables)
        late, late_below, late_above = tail.exponent(i, share.error / 2) if tail else (exponent, below, above)
        drift = late - exponent
        slack = max(above - below, late_above - late_below)
        settled = whole.straight and abs(drift) <= SETTLED_DRIFT + slack
        reach = EXTRAPOLATION if settled else UNSETTLED_FACTOR
        ends = (exponent - above, exponent - below, late - late_above, late - late_below, late + reach * drift)
        interval = min(ends), max(ends)
        missed = max(abs(v) for v in whole.exponent(i, 2 * share.missed)[1:])
        half = (interval[1] - interval[0]) / 2
        made[name] = made[name].model_copy(
            update={
                "exponent": exponent if settled else late, "interval": interval, "settled": settled,
                "local_exponents": _local(fitted, variables, name), "detectable": half + missed,
                "samples_needed": int(int(made[name].samples or 0) * max(1.0, half / RESOLVED) ** 2),
            }
        )  # fmt: skip
    return made


def invert(rate: RateEvidence, *, quantity: str, variable: str, power: float = 1.0) -> RateEvidence:
    """The same law read the other way: from q ∝ v^k, how v grows as q**power shrinks.

    Args:
        rate: q against v.
        quantity: What v counts.
        variable: Name of q**power.
        power: E.g. 1/2 where q is a mean square and the variable its root.
    """
    low, high = rate.interval
    points = tuple(
        Point(
            at=p.measured**power,
            measured=p.at,
            uncertainty=p.at * p.uncertainty / p.measured / abs(rate.exponent),
            usable=p.usable,
        )
        for p in rate.points
    )
    if not (math.isfinite(low) and math.isfinite(high)) or low <= 0 <= high:
        ends = (-math.inf, math.inf)
    else:
        one, two = 1 / (low * power), 1 / (high * power)
        ends = (min(one, two), max(one, two))
    scale = abs(1 / (rate.exponent**2 * power)) if rate.exponent else math.inf
    return rate.model_copy(
        update={
            "quantity": quantity, "variable": variable, "points": points, "interval": ends,
            "exponent": 1 / (rate.exponent * power) if rate.exponent else math.nan,
            "local_exponents": tuple(1 / (v * power) for v in rate.local_exponents if v),
            "detectable": None if rate.detectable is None else rate.detectable * scale,
        }
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Fit:
    """Weighted least squares of the logarithms.

    Args:
        estimates: The points.
        weights: From log values to coefficients, shape (1 + variables, points).
        straight: Whether a straight line runs through all intervals.
    """

    estimates: Sequence[Estimate]
    weights: Vector
    straight: bool

    @classmethod
    def of(cls, estimates: Sequence[Estimate], variables: Sequence[str]) -> _Fit | None:
        """The fit, or nothing where the points are too few for it; one more than coefficients shows no curve yet."""
        design = np.array([[1.0, *(math.log(e.at[name]) for name in variables)] for e in estimates])
        if len(estimates) < len(variables) + 2 or np.linalg.matrix_rank(design) < design.shape[1]:
            return None
        logs = np.log([e.value for e in estimates])
        relative = np.array([math.log(e.high / e.low) for e in estimates])
        scaled = design / relative[:, None]
        weights = np.linalg.solve(scaled.T @ scaled, scaled.T) / relative
        straight = bool((np.abs(logs - design @ (weights @ logs)) <= relative).all())
        return cls(estimates, weights, straight)

    def exponent(self, i: int, error: float) -> tuple[float, float, float]:
        """Exponent of variable i and the bounds of its own error, crossed with probability at most ``error``."""
        row = self.weights[i + 1]
        value = float(row @ np.log([e.value for e in self.estimates]))
        return (value, *_errors(row, self.estimates, error))


def _tail(estimates: Sequence[Estimate], name: str) -> list[Estimate]:
    """The later half of a sweep in one variable, and one more."""
    values = list(dict.fromkeys(e.at[name] for e in estimates))
    late = set(values[-(len(values) // 2 + 1) :])
    return [e for e in estimates if e.at[name] in late]


def _errors(row: Vector, estimates: Sequence[Estimate], error: float) -> tuple[float, float]:
    """Bounds of the fitted exponent's own error, lower and upper, crossed with probability at most ``error``."""
    dofs = [e.dof for e in estimates]
    if all(dof is not None for dof in dofs):
        return log_variance_interval(row, np.array(dofs, dtype=np.float64), error)
    up = np.array([math.log(e.value / e.low) for e in estimates])
    down = np.array([math.log(e.value / e.high) for e in estimates])
    return float(np.where(row > 0, down, up) @ row), float(np.where(row > 0, up, down) @ row)


def _local(estimates: Sequence[Estimate], variables: Sequence[str], name: str) -> tuple[float, ...]:
    """Local exponents in one variable, the others held at the setting with most points."""
    others = [other for other in variables if other != name]
    groups: dict[tuple[float, ...], list[Estimate]] = {}
    for e in estimates:
        groups.setdefault(tuple(e.at[other] for other in others), []).append(e)
    longest = max(groups.values(), key=len)
    return tuple(math.log(a.value / b.value) / math.log(a.at[name] / b.at[name]) for a, b in pairwise(longest))
