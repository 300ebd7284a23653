"""Sweeps compared: exponents, leading coefficients, proven bounds, and the quantity point by point."""

from __future__ import annotations

import math
from collections.abc import Iterator

from verify.campaign.baseline.drift_rules import (
    EXACT,
    EXACT_CONSTANT,
    NUMERIC_EXPONENT,
    SAME_POINT,
    WORST_CASE,
    Drift,
    Rules,
    constant_drift,
    percent,
    rounding,
)
from verify.campaign.baseline.model import Sweep


def sweep_drifts(old: Sweep, new: Sweep, rules: Rules) -> Iterator[Drift]:
    """Compare exponents, leading coefficients, proven bounds, and the quantity at each value of the variable."""
    yield _exponent(old, new, rules)
    if old.coefficient is not None:
        name = f"leading coefficient of {old.quantity}"
        if new.coefficient is None:
            yield Drift("evidence", True, False, f"{name} is gone, on record {old.coefficient:.6g}")
        else:
            yield constant_drift(name, old.coefficient, new.coefficient, EXACT_CONSTANT * abs(old.coefficient), rules)
    yield from _bounds(old, new)
    yield from _points(old, new, rules)
    if rules.same_profile and len(new.at) < len(old.at) - 1:
        # Rounding may decide about one point at the floor.
        text = (
            f"{old.quantity} has {len(new.at)} usable points of {new.points}, on record {len(old.at)} of {old.points}"
        )
        yield Drift("evidence", True, False, text)


def _exponent(old: Sweep, new: Sweep, rules: Rules) -> Drift:
    if old.rung in EXACT and new.rung in EXACT:
        moved = old.exponent != new.exponent
    else:
        statistical = "statistical" in (old.rung, new.rung)
        moved = not _meet(old.interval, new.interval, 0.0 if statistical else NUMERIC_EXPONENT)
    text = (
        f"exponent of {old.quantity} in {old.variable} is {new.exponent:.4g} {_interval(new.interval)}, "
        f"on record {old.exponent:.4g} {_interval(old.interval)}"
    )
    return Drift("exponent", moved, rules.exponent_improves(old.exponent, new.exponent), text)


def _bounds(old: Sweep, new: Sweep) -> Iterator[Drift]:
    there = {(bound.side, bound.exponent): bound for bound in new.bounds}
    for was in old.bounds:
        relation = "≤" if was.side == "upper" else "≥"
        what = f"proven bound {old.quantity} {relation} {was.constant:.6g}·{old.variable}^{was.exponent}"
        now = there.get((was.side, was.exponent))
        if now is None:
            yield Drift("evidence", True, False, f"{what} is gone")
            continue
        off = now.constant - was.constant
        better = (off < 0) == (was.side == "upper")
        text = f"{what}: its constant is now {now.constant:.6g}, off by {percent(off, was.constant)}"
        yield Drift("constant", abs(off) > EXACT_CONSTANT * abs(was.constant), better, text)
        reach = now.end - was.end
        text = f"{what} holds up to {now.end:.6g}, on record up to {was.end:.6g}"
        yield Drift("evidence", abs(reach) > EXACT_CONSTANT * was.end, reach > 0, text)


def _points(old: Sweep, new: Sweep, rules: Rules) -> Iterator[Drift]:
    """The quantity where both runs measured it; the worst point speaks for all."""
    if (statistical := "statistical" in (old.rung, new.rung)) and old.at != new.at and rules.same_profile:
        yield from _centres(old, new, rules)
        return
    pairs = list(_common(old, new))
    if not pairs:
        if rules.same_profile:
            yield from _centres(old, new, rules)
        return
    drifts = []
    for (at, was, u_was), (_, now, u_now) in pairs:
        allowed = u_was + u_now + (0.0 if statistical else rounding(was, now))
        drifts.append((abs(now - was) / allowed if allowed else math.inf * abs(now - was) if now != was else 0.0,
                       at, was, now, allowed))  # fmt: skip
    _, at, was, now, allowed = max(drifts)
    name = f"{old.quantity} at {old.variable} = {at:.6g}"
    count = sum(ratio > 1 for ratio, *_ in drifts)
    more = f"; so are {count - 1} other points of {len(pairs)}" if count > 1 else ""
    yield constant_drift(name, was, now, allowed, rules, more)


def _common(old: Sweep, new: Sweep) -> Iterator[tuple[tuple[float, float, float], tuple[float, float, float]]]:
    left, right = ([*zip(s.at, s.measured, s.uncertainty, strict=True)] for s in (old, new))
    if old.at == new.at:
        yield from zip(left, right, strict=True)
        return
    # Values that occur once on both sides; of others it cannot be said which belong together.
    for point in left:
        beside = [[p for p in side if math.isclose(p[0], point[0], rel_tol=SAME_POINT)] for side in (left, right)]
        if [len(found) for found in beside] == [1, 1]:
            yield point, beside[1][0]


def _centres(old: Sweep, new: Sweep, rules: Rules) -> Iterator[Drift]:
    """Where the variable itself was measured: the power laws at one value in the middle of the recorded sweep."""
    if min(len(old.at), len(new.at)) < 2 or not all(v > 0 for s in (old, new) for v in (*s.at, *s.measured)):
        return
    middle = _mean([math.log(at) for at in old.at])
    (was, u_was), (now, u_now) = _centre(old, middle), _centre(new, middle)
    if not all(math.isfinite(v) for v in (was, now, u_was, u_now)):
        return
    if "statistical" not in (old.rung, new.rung):
        u_was += math.log1p(WORST_CASE)  # a power law is not quite what a computed sweep follows
    # Logarithms, so that both sides of an interval count.
    name = f"{old.quantity} at {old.variable} = {math.exp(middle):.4g}"
    moved = abs(now - was) > u_was + u_now
    off = math.expm1(now - was)
    text = (
        f"{name} is {math.exp(now):.6g}, on record {math.exp(was):.6g}: off by {off:+.1%}, "
        f"allowed by the intervals a factor {math.exp(u_was + u_now):.3g}"
    )
    yield Drift("constant", moved, rules.improves(was, now), text)


def _centre(sweep: Sweep, middle: float) -> tuple[float, float]:
    shift = middle - _mean([math.log(at) for at in sweep.at])
    level = _mean([math.log(value) for value in sweep.measured]) + sweep.exponent * shift
    low, high = sweep.interval
    wide = max(high - sweep.exponent, sweep.exponent - low) * abs(shift)
    return level, wide + _mean(
        [_log_half(value, u) for value, u in zip(sweep.measured, sweep.uncertainty, strict=True)]
    )


def _log_half(value: float, uncertainty: float) -> float:
    return -math.log1p(-uncertainty / value) if uncertainty < value else math.inf


def is_rougher(old: Sweep, new: Sweep) -> bool:
    """Whether the quantity is known less well than before: drifts hide there, but the run may have drawn less."""
    pairs = [(was, now) for (_, _, was), (_, _, now) in _common(old, new)]
    return "statistical" in (old.rung, new.rung) and any(now > 2 * was > 0 for was, now in pairs)


def _meet(one: tuple[float, float], two: tuple[float, float], slack: float) -> bool:
    unknown = [any(map(math.isnan, ends)) for ends in (one, two)]
    if any(unknown):
        return all(unknown)
    return one[0] <= two[1] + slack and two[0] <= one[1] + slack


def _interval(ends: tuple[float, float]) -> str:
    return f"[{ends[0]:.4g}, {ends[1]:.4g}]"


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)
