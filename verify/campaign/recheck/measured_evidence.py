"""Measured evidence derived again from its raw points, as far as they go: fits, flags, error rates, exact partners."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from verify.campaign.recheck.proven_bounds import ROUNDINGS
from verify.evidence.budget import POWER, Share
from verify.evidence.decisions import BETS
from verify.evidence.model import LAWS, ComparisonEvidence, Evidence, Point, RateEvidence
from verify.evidence.rates.rates import FLOOR_SHARE, RESOLVED, fit_rate

FITTED = ("exponent", "interval", "local_exponents", "settled", "floor", "points")
"""What a deterministic fit makes of its points."""
HALF = 0.5
"""Of an order: how far the slope between the last points may be from the exponent that is derived for them."""
Shortcoming = tuple[str, str]
"""A field and the rule it breaks."""


def measured_rate(rate: RateEvidence, share: Share) -> Iterator[Shortcoming]:
    """What of a rate that is not certified its points, or the run's error budget, contradict."""
    if rate.bounds:
        yield "bounds", "must be proven by certified evidence only"
    if rate.rung == "numeric":
        yield from _fit(rate)
    elif rate.rung == "statistical":
        yield from _stochastic_fit(rate)
    elif rate.interval != (rate.exponent, rate.exponent) or (rate.points and rate.rung != "symbolic"):
        yield "interval", "must be the exponent, without points: nothing was measured"
    yield from error_spent(rate, share)
    form = rate.closed_form
    if form is not None and form.measured and len(form.values) == len(rate.points):
        pairs = zip(rate.points, form.values, strict=True)
        if any(not abs(point.measured - value) <= point.uncertainty for point, (_, value) in pairs):
            yield "closed_form", "must not be called measured: points leave it by more than their uncertainty"


def error_spent(item: RateEvidence | ComparisonEvidence, share: Share) -> Iterator[Shortcoming]:
    """What is stated of errors against what one decision may spend; only what is statistical spends any."""
    if item.error_rate is None:
        return
    if item.rung != "statistical":
        yield "error_rate", "must be stated by statistical evidence only"
    parts = share.error / item.error_rate if item.error_rate > 0 else math.inf
    single = (share.level + 1) * (share.level + 2)
    if not any(math.isclose(parts, whole * max(1, round(parts / whole)), rel_tol=1e-9) for whole in (1, single)):
        yield "error_rate", f"must be {share.error:.6g}, this decision's share of the run's, or an equal part of it"
    if item.law not in LAWS:
        yield "law", "must name what the error rate rests on"
    if isinstance(item, ComparisonEvidence) and item.broken is not None and math.isfinite(item.tolerance):
        yield "broken", "must come with an infinite tolerance: it decides nothing"
    if item.power is not None and not _is_promised(item, share):
        yield "power", f"must be the power promised, {POWER:g}, or of bets what a run's false supports leave"
    if item.samples is None or item.samples <= 0:
        yield "samples", "must be stated by statistical evidence"


def _is_promised(item: RateEvidence | ComparisonEvidence, share: Share) -> bool:
    """Whether a power is the one promised: of bets, whose misses a run counts together, to an equal part of a share."""
    if item.power is None or not (item.law or "").endswith(BETS):
        return item.power is not None and math.isclose(item.power, POWER, rel_tol=1e-12)
    parts = share.unseen / (1 - item.power) if item.power < 1 else math.inf
    return math.isfinite(parts) and math.isclose(parts, max(1, round(parts)), rel_tol=1e-6)


def _fit(rate: RateEvidence) -> Iterator[Shortcoming]:
    """A deterministic sweep is fitted again."""
    raw = [point.model_copy(update={"usable": True}) for point in rate.points]
    try:
        again = fit_rate(raw, quantity=rate.quantity, variable=rate.variable)
    except (ArithmeticError, ValueError):
        yield "points", "must be a sweep that a rate can be fitted to"
        return
    for name in FITTED:
        if repr(getattr(again, name)) != repr(getattr(rate, name)):
            yield name, "must follow from the points; they give another value"
            return


def _stochastic_fit(rate: RateEvidence) -> Iterator[Shortcoming]:
    """The samples are gone; the points must still agree with flags, local exponents and the fit's range."""
    low, high = rate.interval
    if not (math.isnan(rate.exponent) or low <= rate.exponent <= high):
        yield "interval", "must contain the exponent"
    if low == -math.inf and high == math.inf:
        return  # it decides nothing
    if rate.limit is not None and not rate.limit[0] <= rate.exponent <= rate.limit[1]:
        yield "limit", "must contain the exponent"
    if any(point.usable != _is_usable(point) for point in rate.points):
        yield "points", f"must be usable exactly where their uncertainty is at most {FLOOR_SHARE:g} of them"
        return
    if rate.points and all(point.measured == 0 for point in rate.points) != (rate.exponent == math.inf):
        yield "exponent", "must be infinite where every point is 0, and only there"
    used = [point for point in rate.points if point.usable]
    if not rate.local_exponents or len({point.at for point in used}) < len(used):
        return  # swept in several variables at once: which points are neighbours is not kept
    slopes = [_slope(a, b) for a, b in pairwise(used)]
    if len(slopes) != len(rate.local_exponents) or any(
        abs(local - slope) > slack for local, (slope, slack) in zip(rate.local_exponents, slopes, strict=True)
    ):
        yield "local_exponents", "must follow from the points, within their uncertainty"
    elif not min(s - slack for s, slack in slopes) <= rate.exponent <= max(s + slack for s, slack in slopes):
        yield "exponent", "must lie among the slopes between the points"


def _is_usable(point: Point) -> bool:
    return point.measured > 0 and point.uncertainty <= FLOOR_SHARE * point.measured


def _slope(a: Point, b: Point) -> tuple[float, float]:
    """Of the line through two points in logarithms, and how far uncertainties, of either coordinate, may turn it."""
    span = math.log(a.at / b.at)
    slack = 2 * (a.uncertainty / a.measured + b.uncertainty / b.measured) / abs(span)
    return math.log(a.measured / b.measured) / span, slack + RESOLVED


def _leads_to(rate: RateEvidence) -> bool:
    """Whether the points that a derived exponent brings along lead to it, to half an order."""
    used = [point for point in rate.points if point.usable][-2:]
    return len(used) == 2 and abs(_slope(used[0], used[1])[0] - rate.exponent) <= HALF


def exact_partners(evidence: Sequence[Evidence], others: Collection[str] = ()) -> Iterator[Shortcoming]:
    """A leading term without certificate against the sweep whose points carry the same sum as predicted.

    ``others`` are quantities that are derived again elsewhere.

    Where it decides, the sweep's usable points agree with it too; where the sum is zero, so is every prediction.
    """
    rates = [item for item in evidence if isinstance(item, RateEvidence)]
    sweeps = [rate for rate in rates if rate.rung == "numeric" and rate.role == "conclusion" and rate.points]
    for rate in rates:
        if rate.rung != "symbolic" or rate.quantity in others or (rate.points and _leads_to(rate)):
            continue
        sweep = next((one for one in sweeps if one.variable == rate.variable), None)
        if sweep is None or any(point.predicted is None for point in sweep.points):
            yield "exponent", f"of {rate.quantity} must come with a sweep that carries its exact values"
            continue
        if (rate.exponent == math.inf) != all(point.predicted == 0 for point in sweep.points):
            yield "exponent", f"of {rate.quantity} must be infinite where its exact values are all 0, and only there"
        off = any(
            point.usable and abs(point.measured - (point.predicted or 0.0)) > ROUNDINGS * point.uncertainty
            for point in sweep.points
        )
        if off and rate.role == "conclusion":
            yield "role", f"of {rate.quantity} must be support: the sweep leaves its exact values"
