"""How two numbers are compared: what may differ, in which direction is better, and how a difference is said.

Statistical numbers have drifted where their intervals do not meet. Each holds the ideal value except with the chance
the run states, so a number that did not change is called a drift with at most twice that probability, and any number
of a full run with at most twice the error budget of the run.

Other numbers carry no randomness; they may differ by their stated uncertainties and by what another processor's
rounding does, the small constants below.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from spec.claims import Bound
from verify.campaign.baseline.model import Entry, Level, Sweep
from verify.evidence.model import RUNGS, Rung
from verify.verdict import Verdict

EXACT: tuple[Rung, ...] = ("certified", "symbolic", "cited")
EXACT_CONSTANT = 1e-5
"""Relative change allowed to an exact constant: the errors spent are rounded to a grid of 2**-20 a unit."""
NUMERIC_CONSTANT = 1e-4
"""Relative change allowed to a computed number beyond its own uncertainty."""
NUMERIC_EXPONENT = 1e-3
"""Change allowed to a computed exponent beyond its own interval."""
WORST_CASE = 0.05
"""Relative change allowed, at the same seed, to a worst case over tries; at another seed the tries are others."""
SAME_POINT = 1e-6
"""Relative difference of two values of a swept variable that are meant to be the same; rounding may move it."""
WHOLE = 100.0
"""From this size on a whole number may be a count, and rounding may decide about its last step."""
ROUNDINGS = "in roundings"
"""What quantities are called that measure rounding itself; they differ between processors and only have to hold."""


Kind = Literal["verdict", "evidence", "exponent", "constant", "new", "expected"]


@dataclass(frozen=True)
class Drift:
    """One number compared: whether it changed beyond what is allowed, and both values in words."""

    kind: Kind
    moved: bool
    better: bool = False
    text: str = ""


@dataclass(frozen=True)
class DriftRules:
    """What two runs have in common, and which direction is better; ``None`` where none is."""

    same_seed: bool
    same_profile: bool
    smaller_is_better: bool | None = None
    toward_zero: bool = True

    def under(self, bound: Bound | None, entry: Entry) -> DriftRules:
        """For a result: a bound that holds may be beaten by more; what fails, or is an equality, may not move."""
        if bound is None or entry.verdict is not Verdict.SUPPORTED:
            return self
        smaller = {"upper": True, "lower": False}.get(bound.tag)
        return replace(self, smaller_is_better=smaller, toward_zero=bound.toward == "zero")

    def improves(self, old: float, new: float) -> bool:
        """Whether a quantity that went from old to new is further on the safe side."""
        return self.smaller_is_better is not None and (new < old) == self.smaller_is_better

    def exponent_improves(self, old: float, new: float) -> bool:
        """The same for its exponent: towards zero a larger one makes the quantity smaller."""
        return self.improves(-old, -new) if self.toward_zero else self.improves(old, new)


def rung_drift(old: Sweep | Level, new: Sweep | Level) -> Drift:
    """Compare how a number was obtained, and whether it decided the verdict."""
    if old.role == "conclusion" and new.role == "support":
        return Drift("evidence", True, False, f"{old.quantity} no longer decides the verdict")
    return rung_change(f"evidence of {old.quantity}", old.rung, new.rung)


def rung_change(name: str, old: Rung, new: Rung) -> Drift:
    """Whether evidence is stronger or weaker than on record."""
    better = RUNGS.index(new) < RUNGS.index(old)
    text = f"{name} is {new}, on record {old} ({'stronger' if better else 'weaker'})"
    return Drift("evidence", old != new, better, text)


def rounding(old: float, new: float) -> float:
    """What another processor's rounding may change in a number without randomness."""
    allowed = NUMERIC_CONSTANT * max(abs(old), abs(new))
    both_whole = old == int(old) and new == int(new) if math.isfinite(old + new) else False
    return max(allowed, 1.0) if both_whole and min(old, new) >= WHOLE else allowed


def constant_drift(name: str, old: float, new: float, allowed: float, rules: DriftRules, more: str = "") -> Drift:
    """Whether a constant is off by more than is allowed."""
    off = new - old
    text = (
        f"{name} is {new:.6g}, on record {old:.6g}: off by {percent(off, old)}, allowed {percent(allowed, old)}{more}"
    )
    return Drift("constant", abs(off) > allowed, rules.improves(old, new), text)


def percent(part: float, whole: float) -> str:
    """A part of a whole, in per cent where there is a whole."""
    return f"{100 * part / abs(whole):.3g} %" if whole and math.isfinite(part) else f"{part:.3g}"


def sweep_drifts(old: Sweep, new: Sweep, rules: DriftRules) -> Iterator[Drift]:
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
        was, now = (f"{len(sweep.at)}{word} of {sweep.points}" for sweep, word in ((old, ""), (new, " usable points")))
        yield Drift("evidence", True, False, f"{old.quantity} has {now}, on record {was}")


def _exponent(old: Sweep, new: Sweep, rules: DriftRules) -> Drift:
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


def _points(old: Sweep, new: Sweep, rules: DriftRules) -> Iterator[Drift]:
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
        if [len(points) for points in beside] == [1, 1]:
            yield point, beside[1][0]


def _centres(old: Sweep, new: Sweep, rules: DriftRules) -> Iterator[Drift]:
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


def level_drifts(old: Level, new: Level, rules: DriftRules) -> Iterator[Drift]:
    """Compare measured values that stand beside a prediction."""
    if old.role == "support" or new.role == "support":
        if old.holds != new.holds:
            text = f"{old.quantity}: {_relation(new)}, on record {_relation(old)}"
            yield Drift("evidence", True, new.holds, text)
        return
    if old.relation != new.relation:
        text = f"{old.quantity} is compared by {new.relation}, on record by {old.relation}"
        yield Drift("evidence", True, False, text)
        return
    if ROUNDINGS in old.quantity:
        return
    if not (math.isfinite(old.measured) and math.isfinite(new.measured)):
        text = f"{old.quantity} is {new.measured:.6g}, on record {old.measured:.6g}"
        moved = repr(old.measured) != repr(new.measured)
        yield Drift("constant", moved, rules.improves(old.measured, new.measured), text)
        return
    one_sided = old.relation != "=="
    yield from _yardstick(old, new, rules)
    statistical = "statistical" in (old.rung, new.rung)
    if statistical:
        # A refuted comparison says how far it is off only roughly, and one without an error rate not at all.
        if not (one_sided and old.holds and new.holds and old.error_rate and new.error_rate):
            return
        allowed = _sampling(old) + _sampling(new)
    elif one_sided and old.rung not in EXACT:
        if not rules.same_seed:
            return
        allowed = old.tolerance + new.tolerance + WORST_CASE * max(abs(old.measured), abs(old.predicted))
    else:
        allowed = old.tolerance + new.tolerance + rounding(old.measured, new.measured)
    if one_sided and old.holds and new.holds:
        rules = replace(rules, smaller_is_better=old.relation == "<=")
    yield constant_drift(old.quantity, old.measured, new.measured, allowed, rules)


def _yardstick(old: Level, new: Level, rules: DriftRules) -> Iterator[Drift]:
    """Compare what the measured value is held against: a looser prediction or tolerance is a weaker check."""
    if not (rules.same_seed and rules.same_profile):
        return
    one_sided, statistical = old.relation != "==", "statistical" in (old.rung, new.rung)
    share = WORST_CASE if statistical or (one_sided and old.rung not in EXACT) else NUMERIC_CONSTANT
    off = new.predicted - old.predicted
    allowed = share * abs(old.predicted) + (0.0 if statistical else old.tolerance)
    better = one_sided and (off < 0) == (old.relation == "<=")
    text = (
        f"{old.quantity} is held against {new.predicted:.6g}, on record against {old.predicted:.6g}: "
        f"off by {percent(off, old.predicted)}, allowed {percent(allowed, old.predicted)}"
    )
    yield Drift("constant", not abs(off) <= allowed and new.predicted != old.predicted, better, text)
    if statistical:
        return  # its tolerance follows from the samples drawn
    size = max(abs(old.predicted), abs(old.measured))
    looser = new.tolerance > 2 * old.tolerance + NUMERIC_CONSTANT * size
    text = f"tolerance of {old.quantity} is {new.tolerance:.3g}, on record {old.tolerance:.3g}"
    yield Drift("evidence", looser, False, text)


def is_worst_case(level: Level) -> bool:
    """Whether a level may be the worst over tries drawn at random."""
    return (
        level.relation != "==" and level.rung == "numeric" and level.role == "conclusion"
        and ROUNDINGS not in level.quantity
    )  # fmt: skip


def _sampling(level: Level) -> float:
    """Half-width of the measured value's own interval; the tolerance is that of the predicted one."""
    return level.tolerance * max(1.0, abs(level.measured / level.predicted) if level.predicted else 1.0)


def _relation(level: Level) -> str:
    within = f" within {level.tolerance:.3g}" if level.tolerance else ""
    return f"{level.measured:.6g} {level.relation} {level.predicted:.6g}{within} {'holds' if level.holds else 'fails'}"
