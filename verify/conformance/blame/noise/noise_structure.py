"""Whether draws are independent: copies, opposites, seeds that start anew, shares of a call, unequal components."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.noise.noise_spots import BOTH, HELD_OUT_F, DrawnSpot, Spot
from verify.conformance.probes.probes import Probe
from verify.subjects.protocol import StageCalls

SURE = 6.0
"""Standard errors beyond which two numbers differ."""
SAME = 1e-9
"""Difference, in standard deviations of the noise, below which two draws are the same."""
MOST = 0.95
"""Share of rows that must follow a pattern."""
CALLS, IN_A_CALL = 40, 8
ROWS = 256
SINGLES = 160
SAMPLES = 16
"""Samples a batch where batches are held against each other."""


InRows = Callable[[DrawnSpot], str]
"""What is measured in the estimates of one call, empty where the pattern is not there."""
Shown = Callable[[StageCalls, Spot, int], str]
"""The same from calls of its own at a spot, from a stream."""


@dataclass(frozen=True)
class PatternRule:
    """A pattern in a subject's draws: one that the rows of a call show, or one that takes calls of its own."""

    sentence: str
    in_rows: InRows | None = None
    in_calls: Shown | None = None
    edits: int = 1
    blurs_size: bool = False
    """Whether a call's own variance says nothing about the size of the noise then."""

    def answer(self, probe: Probe) -> Vector | None:  # noqa: ARG002  # as every explanation
        """None: a pattern of random numbers answers no single probe."""
        return None

    def shown(self, stages: StageCalls, spot: Spot, stream: int) -> str:
        """What draws at a spot, from a stream, show of it; empty where it is not there."""
        if self.in_rows is not None:
            return self.in_rows(spot.draw(stages, ROWS, stream))
        return self.in_calls(stages, spot, stream) if self.in_calls is not None else ""

    def predicts(self, drawn: Sequence[DrawnSpot]) -> bool:
        """Whether calls that were made already all show it; one that takes calls of its own none shows."""
        in_rows = self.in_rows
        return in_rows is not None and bool(drawn) and all(in_rows(one) for one in drawn)


def standardised(drawn: DrawnSpot) -> Vector:
    """Draws in standard deviations around their own mean, shape (R, n)."""
    off = drawn.rows - drawn.centre
    return np.asarray(off / max(math.sqrt(drawn.variance), 1e-300))


def _rng(spot: Spot, stream: int, what: int) -> np.random.Generator:
    return np.random.default_rng([len(spot.setting.id), stream, what])


def _draw(stages: StageCalls, spot: Spot, rng: np.random.Generator, rows: int) -> Vector:
    return np.asarray(spot.setting.draw(stages, rows, rng))


def _pairs(rows: Vector, kind: str) -> tuple[Vector, Vector]:
    half = len(rows) // 2
    if kind == "neighbours":
        return rows[0::2][:half], rows[1::2][:half]
    if kind == "mirrored":
        return rows[:half], rows[-half:][::-1]
    return rows[:half], rows[half : 2 * half]


def _matched(drawn: DrawnSpot, kind: str, sign: int) -> str:
    rows = standardised(drawn)
    first, second = _pairs(rows, kind)
    matched = int((np.abs(first - sign * second).max(axis=1) < SAME * len(drawn.rows)).sum())
    return f"{matched} of {len(first)} pairs" if matched > MOST * len(first) and np.ptp(rows) > 0 else ""


def _undone(drawn: DrawnSpot) -> str:
    rows = np.round(standardised(drawn), 6)
    distinct = {tuple(row) for row in rows + 0.0}
    undone = sum(tuple(row) in distinct for row in -rows + 0.0)
    return (
        f"{undone} of {len(drawn.rows)} are undone by another"
        if len(distinct) > 2 and undone > MOST * len(drawn.rows)
        else ""
    )


def _copied(drawn: DrawnSpot) -> str:
    rows = drawn.rows
    different = len(np.unique(rows, axis=0))
    return f"{different} different ones among {len(drawn.rows)}" if 1 < different < MOST * len(drawn.rows) else ""


def _repeats_calls(stages: StageCalls, spot: Spot, stream: int) -> str:
    """Whether a call with another generator draws the same."""
    first, second = (_draw(stages, spot, _rng(spot, stream, k), 32) for k in (1, 2))
    same = np.abs(first - second).max() <= SAME * spot.setting.deviation and np.ptp(first) > 0
    return "32 of 32 estimates of two calls are equal" if same else ""


def _same_elsewhere(stages: StageCalls, spot: Spot, stream: int) -> bool:
    """Whether calls at another alpha draw the same normals too."""
    other = Spot(0.8 * spot.alpha, spot.sigma_f, spot.sigma_g, spot.N_g, spot.place)
    first, second = (standardised(at.draw(stages, 32, stream + k)) for k, at in enumerate((spot, other)))
    return bool(np.abs(first - second).max() <= 1e-6)


def _fixed_seed(stages: StageCalls, spot: Spot, stream: int) -> str:
    words = _repeats_calls(stages, spot, stream)
    return words if words and _same_elsewhere(stages, spot, stream) else ""


def _seeded_by_question(stages: StageCalls, spot: Spot, stream: int) -> str:
    words = _repeats_calls(stages, spot, stream)
    return words if words and not _same_elsewhere(stages, spot, stream) else ""


def _in_calls(stages: StageCalls, spot: Spot, stream: int) -> Any:
    rng = _rng(spot, stream, 3)
    rows = np.array([_draw(stages, spot, rng, IN_A_CALL) for _ in range(CALLS)])
    return rows - rows.mean(axis=(0, 1))


def _shared_by_calls(stages: StageCalls, spot: Spot, stream: int) -> str:
    """Whether rows of one call have more in common than rows of different calls."""
    off = _in_calls(stages, spot, stream)
    between = float((off.mean(axis=1) ** 2).sum(axis=0).mean()) / (CALLS - 1)
    within = float(off.var(axis=1, ddof=1).mean()) / IN_A_CALL
    degrees = CALLS * off.shape[2]
    clear = SURE * math.sqrt(2.0 / degrees + 2.0 / (degrees * IN_A_CALL))
    apart = within > 0 and math.log(between / within) > clear
    return f"means of {IN_A_CALL} have {between / within:.2g} times the variance of independent ones" if apart else ""


def _trend(stages: StageCalls, spot: Spot, stream: int) -> str:
    """Whether the noise of later calls has another size than that of earlier ones."""
    off = _in_calls(stages, spot, stream)
    first, second = (float((half**2).mean()) for half in (off[: CALLS // 2], off[CALLS // 2 :]))
    error = math.sqrt(2 * 2.0 / (off.size / 2))
    apart = min(first, second) > 0 and abs(math.log(first / second)) > SURE * error
    return f"the last {CALLS // 2} of {CALLS} calls have {second / first:.2g} times the variance" if apart else ""


def _alone_differs(stages: StageCalls, spot: Spot, stream: int) -> str:
    """Whether single estimates scatter otherwise than many asked for at once."""
    rng = _rng(spot, stream, 4)
    setting = spot.setting
    single = np.array([stages.hypergradient(setting.problem, setting.x, setting.call, rng) for _ in range(SINGLES)])
    many = _draw(stages, spot, rng, 4 * SINGLES)
    first, second = (float(rows.var(axis=0, ddof=1).mean()) for rows in (single, many))
    error = math.sqrt(2.0 / single.size + 2.0 / many.size)
    apart = min(first, second) > 0 and abs(math.log(first / second)) > (SURE - 1) * error
    return f"its variance is {first / second:.2g} times the other" if apart else ""


def _correlated_components(drawn: DrawnSpot) -> str:
    rows = standardised(drawn)
    if rows.shape[1] < 2:
        return ""
    off = (rows - rows.mean(axis=0)) / np.maximum(rows.std(axis=0), 1e-300)
    joint = float((off[:, 1:] * off[:, :-1]).mean())
    return f"their correlation is {joint:.2f}" if abs(joint) > SURE / math.sqrt(len(drawn.rows)) else ""


def _unequal_components(drawn: DrawnSpot) -> str:
    variances = drawn.rows.var(axis=0, ddof=1)
    if len(variances) < 2 or variances.max() <= 0:
        return ""
    smallest = float(variances.min())
    apart = smallest <= 0 or math.log(float(variances.max()) / smallest) > SURE * math.sqrt(4.0 / len(drawn.rows))
    sizes = ", ".join(f"{size:.3g}" for size in np.sqrt(variances))
    return f"standard deviations {sizes}" if apart else ""


def _chained(drawn: DrawnSpot) -> str:
    rows = drawn.rows
    off = rows - rows.mean(axis=0)
    lag = float((off[1:] * off[:-1]).sum() / max(float((off**2).sum()), 1e-300))
    return f"their correlation is {lag:.2f}" if abs(lag) > SURE / math.sqrt(off.size) else ""


def _overlapping(stages: StageCalls, spot: Spot, stream: int) -> str:
    """Whether neighbouring estimates have samples in common: they are correlated at many samples, not at one."""
    one, many = (_chained(replace(spot, N_g=N_g).draw(stages, ROWS, stream)) for N_g in (1, SAMPLES))
    return f"at N_g = {SAMPLES} {many}, at N_g = 1 they are independent" if many and not one else ""


def _kind(kind: str, sign: int) -> InRows:
    return partial(_matched, kind=kind, sign=sign)


OF_DRAWS = (
    PatternRule("every call repeats the same draws, whatever generator it is given: a fixed seed in each call",
                in_calls=_fixed_seed),
    PatternRule("the same question gets the same draws, whatever generator it is given: it is seeded by the question",
                in_calls=_seeded_by_question),
    PatternRule("every draw is used for two estimates in a row", _kind("neighbours", 1)),
    PatternRule("the second half of a call copies the first", _kind("halves", 1)),
    PatternRule("estimates of a call are copies of others", _copied),
    PatternRule("estimates come in antithetic pairs: each second one undoes the one before", _kind("neighbours", -1)),
    PatternRule("the second half of a call undoes the first: antithetic draws", _kind("halves", -1)),
    PatternRule("the second half of a call undoes the first, last first: antithetic draws", _kind("mirrored", -1)),
    PatternRule("estimates of a call undo each other, in some order: antithetic draws", _undone),
    PatternRule("neighbouring estimates are correlated: noise is carried from one to the next", _chained),
    PatternRule("batches overlap: neighbouring estimates have samples in common", in_calls=_overlapping),
    PatternRule("all estimates of a call share a part of their noise", in_calls=_shared_by_calls, blurs_size=True),
    PatternRule("the size of the noise depends on how many calls were made before", in_calls=_trend, blurs_size=True),
)  # fmt: skip
"""What draws may have in common that no wrong formula of the noise makes by itself, the most particular first."""
PATTERNS = (
    *OF_DRAWS,
    PatternRule("a single estimate scatters otherwise than one of many asked for at once", in_calls=_alone_differs,
                blurs_size=True),
    PatternRule("components have noise of different sizes", _unequal_components),
    PatternRule("neighbouring components share a part of their noise", _correlated_components),
)  # fmt: skip
"""What draws may have in common; what one explains hides the later ones."""


def patterns(stages: StageCalls, among: Sequence[PatternRule] = PATTERNS) -> list[PatternRule]:
    """The pattern that is there at one spot and again at another, on fresh draws; none where none is."""
    for rule in among:
        words = rule.shown(stages, BOTH, 0)
        if words:
            shown_rule = replace(rule, sentence=f"{rule.sentence} ({words})")
            return [shown_rule] if rule.shown(stages, HELD_OUT_F[0], 1) else []
    return []
