"""Pairs that meet every equation of the rows they hold but have a multiplier below 0: what answers themselves show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spec import Quadratic
from spec.exact import Vector
from verify.conformance.blame.accuracy.lower_residuals import pair_of, row_residual, stationarity_residual
from verify.conformance.probes.answers import StageAnswer

HOLDS = 1e-6
"""Part of its largest term that an equation may leave."""
MOST = 0.75
"""Least share of answers that are off that must be so."""
FEWEST = 3
"""Fewest of them, and of those asked for afterwards."""


def negative_multipliers(seen: Sequence[StageAnswer], later: Sequence[StageAnswer]) -> str:
    """That answers that are off are pairs of rows held whatever the sign of their multiplier.

    Args:
        seen: Answers of a lower level.
        later: Answers to what was asked after those.

    Returns:
        A sentence without a full stop; empty where fewer than three quarters of the answers that are off are so.
    """
    of_seen, of_later = ([a for a in part if not a.excess <= 1] for part in (seen, later))
    both = [*of_seen, *of_later]
    shown, afterwards = ([a for a in part if is_held_negative(a)] for part in (both, of_later))
    if min(len(shown) - MOST * len(both), len(afterwards) - MOST * len(of_later)) < 0:
        return ""
    if min(len(shown), len(afterwards)) < FEWEST:
        return ""
    lowest = min(float(held_multipliers(a).min()) for a in shown)
    past = sum(_violates(a) for a in shown)
    violates = f", and in {past} of them y violates a row that is not held" if past else ", though y violates no row"
    clipped = sum(bool(pair_of(a.probe, a.got)[3].min() >= 0) for a in shown)
    cut = (
        ", which is returned as 0"
        if clipped == len(shown)
        else f", in {clipped} of them returned as 0"
        if clipped
        else ""
    )
    left = len(both) - len(shown)
    rest = f"; {left} that {'is' if left == 1 else 'are'} off otherwise" if left else ""
    return (
        f"{len(shown)} of {len(both)} answers that are off, {len(afterwards)} of them asked for after it was found, "
        "meet g_yy y + g_xyᵀx + g_y − Bᵀλ = 0 and h = 0 in every row with λ ≠ 0, but have a λ below 0, as low as "
        f"{lowest:.3g}{cut}{violates}: a row is held whatever the sign of its multiplier{rest}"
    )


def is_held_negative(answer: StageAnswer) -> bool:
    """Whether an answer is the pair of some rows held as equations, with a negative multiplier."""
    if not isinstance(answer.probe.problem, Quadratic) or not np.isfinite(answer.got).all():
        return False
    a, x, y, _ = pair_of(answer.probe, answer.got)
    lam = held_multipliers(answer)
    got = np.concatenate([y, lam])
    size = 1.0 + float(np.abs(a.g_yy @ y).max() + np.abs(a.g_xy.T @ x + a.g_y).max() + np.abs(a.B.T @ lam).max())
    wide = 1.0 + float(np.abs(a.A @ x - a.b).max(initial=0.0) + np.abs(a.B @ y).max(initial=0.0))
    left = float(np.abs(stationarity_residual(answer.probe, got)).max(initial=0.0)) / size
    open_ = float(np.abs(row_residual(answer.probe, got)).max(initial=0.0)) / wide
    negative = float(lam.min(initial=0.0)) < -HOLDS * (1.0 + float(np.abs(lam).max(initial=0.0)))
    return negative and max(left, open_) <= HOLDS


def held_multipliers(answer: StageAnswer) -> Vector:
    """Its multipliers, or those of the rows that y meets as equations where these, negative ones as 0, are its own."""
    a, x, y, lam = pair_of(answer.probe, answer.got)
    h = a.A @ x - a.B @ y - a.b
    held = np.flatnonzero(np.abs(h) <= HOLDS * (1.0 + float(np.abs(a.A @ x - a.b).max(initial=0.0))))
    own = np.zeros(len(lam))
    own[held] = np.linalg.lstsq(a.B[held].T, a.g_yy @ y + a.g_xy.T @ x + a.g_y)[0]
    near = HOLDS * (1.0 + float(np.abs(own).max(initial=0.0)))
    return own if (np.abs(np.maximum(own, 0.0) - lam) <= near).all() and own.min(initial=0.0) < -near else lam


def _violates(answer: StageAnswer) -> bool:
    a, x, y, _ = pair_of(answer.probe, answer.got)
    h = a.A @ x - a.B @ y - a.b
    return bool(h.max(initial=0.0) > HOLDS * (1.0 + float(np.abs(h).max(initial=0.0))))
