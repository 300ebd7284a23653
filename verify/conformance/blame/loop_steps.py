"""Line 7 of Algorithm 2, Δ_{t+1} = clip_D(Δ_t − ηg_t), by edits: what is subtracted from what, how it is cut, how long.

Factors are measured where nothing was cut, as numbers or as laws of the schedule and of time; a rule then predicts
every step from those before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.loop_factors import Factor, Moments, fit
from verify.conformance.blame.loop_rule import LoopRule, apart
from verify.conformance.blame.loop_tables import AHEAD, CLIPS, GRADIENTS, MEMORIES, Clip, Gradient, Memory, Parts
from verify.conformance.outer import Recorded

MOST_EDITS = 3
MOST_STRUCTURAL = 2
"""Edits other than factors."""
CLEAR = 1 - 1e-6
"""Share of the longest step below which a step was not cut."""
ROUNDING = 1e-7
"""Relative residual of a fitted factor."""
ONE = Factor()


LIMITS = (
    *(Factor(1.0, symbol) for symbol in ("1/√t", "1/t", "1/√k", "1/k", "1/(t + 1)", "1/√(t + 1)", "η/D")),
    Factor(10.0), Factor(0.1), Factor(100.0),
)  # fmt: skip
"""What may multiply the limit though no longest step shows it."""
SCALES = (
    (ONE, Factor(-1.0)), (Factor(-1.0), ONE), (ONE, Factor(1.0, "1/η")), (ONE, Factor(1.0, "D/η")),
    (ONE, Factor(1.0, "η")), (Factor(1.0, "η"), ONE), (ONE, Factor(-1.0, "1/η")), (ONE, Factor(0.1)),
    (ONE, Factor(10.0)), (Factor(-1.0, "η"), Factor(-1.0, "1/η")),
)  # fmt: skip
"""Factors of the previous step and of the gradient that show though every step is cut."""


Ready = dict[tuple[int, Gradient, Memory], tuple[Vector, Vector]]
"""What stands in for g and Δ in each run of a search, made once."""


@dataclass(frozen=True)
class StepRule:
    """One way to make the next step; as it stands Algorithm 2's."""

    gradient: Gradient = GRADIENTS[0]
    memory: Memory = MEMORIES[0]
    clip: Clip = CLIPS[0]
    kept: Factor = ONE
    taken: Factor = ONE
    limit: Factor = ONE

    def expected(self, one: Recorded, made_of: Ready | None = None) -> Vector:
        """Steps Δ_2, ..., Δ_T that follow from the ones before; Δ_1 too where the update comes before the move."""
        q, S, ahead = one.trial.parameters, one.steps, self.gradient.letter == AHEAD
        ready, key = {} if made_of is None else made_of, (id(one), self.gradient, self.memory)
        if key not in ready:
            ready[key] = (self.gradient.of(one.g, q.M), self.memory.of(S, q.M))
        g, before = ready[key]
        rows, answers = (np.vstack([0 * S[:1], before[:-1]]), one.g) if ahead else (before[:-1], g[:-1])
        at = Moments(one.trial, np.arange(0 if ahead else 1, q.T, dtype=np.float64) + ahead)
        kept, taken, limit = (np.reshape(f.at(at), (-1, 1)) for f in (self.kept, self.taken, self.limit))
        made = self.clip.of(Parts(kept * rows, taken * q.eta * answers, answers, limit * q.D, q.eta))
        return made if ahead else np.vstack([S[:1], made])

    @property
    def sentence(self) -> str:
        """The formula beside the right one, and what that means."""
        letter = "g_t" if self.gradient.letter == AHEAD else self.gradient.letter
        a = _times(self.kept, self.memory.letter)
        away, abs_taken = self.taken.number < 0, replace(self.taken, number=abs(self.taken.number))
        b = _times(abs_taken, f"η{letter}")
        D = "D" if self.limit.is_one else f"({self.limit.shown}·D)"
        v = f"{a} {'+' if away else '−'} {b}" if a else f"{'' if away else '−'}{b}"
        made = self.clip.formula.format(D=D, v=v, a=a or "0", b=f"(−{b})" if away else b, g=letter)
        words = (
            [part.words for part in (self.gradient, self.memory, self.clip) if part.words]
            + [
                f"{what} is multiplied by {factor.shown}"
                for what, factor in (
                    ("the previous step", self.kept),
                    ("the step size η", abs_taken),
                    ("D", self.limit),
                )
                if not factor.is_one
            ]
            + (["g is added, not subtracted"] if away else [])
        )
        right = "clip_D(Δ_t − ηg_t)"
        left = "Δ_t" if self.gradient.letter == AHEAD else "Δ_{t+1}"
        made = made.replace("Δ_t", "Δ_{t−1}") if self.gradient.letter == AHEAD else made
        return f"{left} = {made} where Δ_{{t+1}} must be {right}: {', '.join(words)}"


def _times(factor: Factor, letter: str) -> str:
    return letter if factor.is_one or not letter else f"{factor.shown}·{letter}"


def off_by(runs: Sequence[Recorded], rule: StepRule, ready: Ready | None = None) -> float:
    """How far the steps are from a rule, in tolerances."""
    worst = 0.0
    for one in runs:
        with np.errstate(all="ignore"):
            made = rule.expected(one, ready)
            # What was left over by a run before is not known here.
            worst = max(worst, apart(one, np.where(np.isnan(made), one.steps, made), one.steps))
        if worst > 1:
            break
    return worst


def search_steps(runs: Sequence[Recorded]) -> list[LoopRule]:
    """All rules with the fewest edits that make every step of these runs."""
    if not any(one.steps[1:].any() for one in runs):
        return []
    ready: Ready = {}
    # What tells most apart comes first: several dimensions, cut steps.
    runs = sorted(runs, key=lambda one: (len(one.trial.x0) > 1, len(one.z)), reverse=True)
    limits = [ONE, *_limits(runs), *LIMITS]
    scales: dict[tuple[int, int], list[tuple[Factor, Factor]]] = {}
    for edits in range(1, MOST_EDITS + 1):
        found = [rule for rule in _with_edits(runs, edits, limits, scales) if off_by(runs, rule, ready) <= 1]
        if found:
            # A first value that is known says more than one left over.
            found = [rule for rule in found if "left over" not in rule.sentence] or found
            return [
                LoopRule("steps", r.sentence, edits, partial(off_by, rule=r), r.gradient.letter == AHEAD) for r in found
            ]
    return []


def _with_edits(
    runs: Sequence[Recorded], edits: int, limits: Sequence[Factor], scales: dict[tuple[int, int], Any]
) -> Iterator[StepRule]:
    """All rules of so many edits; ``scales`` keeps the factors found for a gradient and a previous step."""
    for (i, gradient), (j, memory) in product(enumerate(GRADIENTS), enumerate(MEMORIES)):
        structural = (i > 0) + (j > 0)
        if structural > min(edits, MOST_STRUCTURAL):
            continue
        if (i, j) not in scales:
            scales[i, j] = [*_scales(runs, gradient, memory)]
        for kept, taken in scales[i, j]:
            scaled = structural + (kept is not ONE) + (taken is not ONE)
            for (k, clip), (m, limit) in product(enumerate(CLIPS), enumerate(limits)):
                if scaled + (k > 0) + (m > 0) == edits and structural + (k > 0) <= MOST_STRUCTURAL:
                    yield StepRule(gradient, memory, clip, kept, taken, limit)


def _limits(runs: Sequence[Recorded]) -> list[Factor]:
    """Factors of D: the longest step or component where several are that long."""
    found = []
    for order in (2, np.inf):
        measured = []
        for one in runs:
            sizes = np.linalg.norm(one.steps[1:], ord=order, axis=1)
            longest = float(sizes.max(initial=0.0))
            if longest > 0 and (sizes >= CLEAR * longest).sum() >= 3:
                measured.append((Moments(one.trial, np.ones(1)), np.array([longest / one.trial.parameters.D])))
        found += [factor for factor in fit(measured) if not factor.is_one]
    return list(dict.fromkeys(found))


def _uncut(one: Recorded, taken: Vector) -> Any:
    """Rows of steps 2, ..., T that nothing seems to have cut, as a mask."""
    S, D = one.steps[1:], one.trial.parameters.D
    free = np.linalg.norm(taken, axis=1) < 0.5 * D
    for sizes in (np.linalg.norm(S, axis=1), np.abs(S).max(axis=1)):
        longest = sizes.max(initial=0.0)
        if (sizes >= CLEAR * longest).sum() >= 2:
            free &= sizes < CLEAR * longest
    return free


def _scales(runs: Sequence[Recorded], gradient: Gradient, memory: Memory) -> Iterator[tuple[Factor, Factor]]:
    """Factors of the previous step and of the gradient that uncut steps show; first of all none."""
    yield ONE, ONE
    if gradient is GRADIENTS[0] and memory.letter in ("Δ_t", ""):
        yield from SCALES
    if gradient.letter == AHEAD:
        return
    rows = []
    for one in runs:
        q = one.trial.parameters
        taken, before = q.eta * gradient.of(one.g, q.M)[:-1], memory.of(one.steps, q.M)[:-1]
        free = _uncut(one, taken) & np.isfinite(taken + before).all(axis=1)
        if free.sum() >= 3:
            t = np.arange(1, q.T, dtype=np.float64)[free]
            rows.append((Moments(one.trial, t), before[free], taken[free], one.steps[1:][free]))
    if not rows:
        return
    if memory.letter:
        pairs = [_both(*row[1:]) for row in rows]
        if all(pair is not None for pair in pairs):
            made = [fit([(row[0], np.full(len(row[0].t), pair[i])) for row, pair in zip(rows, pairs, strict=True)
                         if pair is not None]) for i in (0, 1)]  # fmt: skip
            found = product(made[0][:2], made[1][:2])
            yield from (
                (ONE if a.is_one else a, ONE if b.is_one else b) for a, b in found if not (a.is_one and b.is_one)
            )
    for taken_law in fit(_each([(at, taken, before - S) for at, before, taken, S in rows])):
        if not taken_law.is_one:
            yield ONE, taken_law
    if memory.letter:
        for kept_law in fit(_each([(at, before, S + taken) for at, before, taken, S in rows])):
            if not kept_law.is_one:
                yield kept_law, ONE


def _both(before: Vector, taken: Vector, S: Vector) -> Vector | None:
    """Both factors at once, where they make the steps to many digits."""
    columns = np.stack([before.ravel(), -taken.ravel()], axis=1)
    found, _, rank, _ = np.linalg.lstsq(columns, S.ravel(), rcond=1e-9)
    if rank < 2 or np.abs(columns @ found - S.ravel()).max() > ROUNDING * np.abs(S).max():
        return None
    return np.asarray(found)


def _each(rows: list[tuple[Moments, Vector, Vector]]) -> list[tuple[Moments, Vector]]:
    """The factor of each row that makes ``whole`` of ``part``; none where one does not."""
    measured = []
    for at, part, whole in rows:
        squares = (part**2).sum(axis=1)
        there = squares > 1e-20 * max(float(squares.max(initial=0.0)), 1e-300)
        factor = (part * whole).sum(axis=1)[there] / squares[there]
        if np.abs(factor[:, None] * part[there] - whole[there]).max(initial=0.0) > ROUNDING * np.abs(whole).max():
            return []
        measured.append((Moments(at.trial, at.t[there]), factor))
    return [m for m in measured if len(m[1])] if not any(math.isnan(m[1].sum()) for m in measured) else []
