"""Single values compared, with what each is held against."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from verify.campaign.baseline.drift_rules import (
    EXACT,
    NUMERIC_CONSTANT,
    ROUNDINGS,
    WORST_CASE,
    Drift,
    Rules,
    constant_drift,
    percent,
    rounding,
)
from verify.campaign.baseline.model import Level


def level_drifts(old: Level, new: Level, rules: Rules) -> Iterator[Drift]:
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
        yield Drift(
            "constant", repr(old.measured) != repr(new.measured), rules.improves(old.measured, new.measured), text
        )
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


def _yardstick(old: Level, new: Level, rules: Rules) -> Iterator[Drift]:
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
