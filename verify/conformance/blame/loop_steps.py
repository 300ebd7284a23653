"""Line 7 of Algorithm 2, Δ_{t+1} = clip_D(Δ_t − ηg_t), by edits: what is subtracted from what, how it is cut, how long.

Factors are measured where nothing was cut, as numbers or as laws of the schedule and of time; a rule then predicts
every step from those before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.loop_factors import Factor, Moments, fit
from verify.conformance.blame.loop_rule import LoopRule, apart
from verify.conformance.outer import Recorded

MOST_EDITS = 3
MOST_STRUCTURAL = 2
"""Edits other than factors."""
CLEAR = 1 - 1e-6
"""Share of the longest step below which a step was not cut."""
ROUNDING = 1e-7
"""Relative residual of a fitted factor."""
ONE = Factor()


def averages(g: Vector) -> Vector:
    """Means of all rows so far."""
    return np.asarray(np.cumsum(g, axis=0) / np.arange(1, len(g) + 1)[:, None])


def within_blocks(g: Vector, M: int, made: Callable[[Vector], Vector]) -> Vector:
    """The same, block by block."""
    return np.concatenate([made(g[k : k + M]) for k in range(0, len(g), M)])


def smoothed(g: Vector, beta: float, share: float) -> Vector:
    """m ← βm + share·g."""
    rows, m = [], np.zeros(g.shape[1])
    for row in g:
        m = beta * m + share * row
        rows.append(m)
    return np.array(rows)


def earlier(rows: Vector, first: Vector) -> Vector:
    """Each row one step late."""
    return np.vstack([first[None], rows[:-1]])


def length(rows: Vector) -> Vector:
    """Of each row, shape (R, 1), never 0."""
    return np.asarray(np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300))


class Gradient(NamedTuple):
    """What stands in the place of g_t; ``of`` makes it of the answers g (T, n) and the block length M."""

    letter: str
    words: str
    of: Callable[[Vector, int], Vector]


GRADIENTS = (
    Gradient("g_t", "", lambda g, M: g),
    Gradient("g_{t−1}", "the answer of the step before is used (none at first)",
             lambda g, M: earlier(g, np.zeros_like(g[0]))),
    Gradient("g_{t−1}", "the answer of the step before is used (the first one twice)", lambda g, M: earlier(g, g[0])),
    Gradient("g_{t+1}", "Δ is updated before x moves, with the answer of the same step",
             lambda g, M: np.vstack([g[1:], g[-1:]])),
    Gradient("mean(g_1, …, g_t)", "all answers so far are averaged", lambda g, M: averages(g)),
    Gradient("mean of the block's g", "the answers of the block so far are averaged",
             lambda g, M: within_blocks(g, M, averages)),
    Gradient("Σ g_i over the block", "the answers of the block are added up",
             lambda g, M: within_blocks(g, M, lambda rows: np.cumsum(rows, axis=0))),
    Gradient("Σ g_i", "all answers so far are added up", lambda g, M: np.cumsum(g, axis=0)),
    Gradient("g_1", "the first answer is used throughout", lambda g, M: np.broadcast_to(g[:1], g.shape)),
    Gradient("g at the block's start", "the first answer of the block is used throughout",
             lambda g, M: within_blocks(g, M, lambda rows: np.broadcast_to(rows[:1], rows.shape))),
    Gradient("sign(g_t)", "only the signs of g count", lambda g, M: np.sign(g)),
    Gradient("g_t/‖g_t‖", "g is scaled to length 1", lambda g, M: g / length(g)),
    Gradient("clip_1(g_t)", "g is cut to length 1", lambda g, M: g / np.maximum(length(g), 1.0)),
    Gradient("|g_t|", "the signs of g are lost", lambda g, M: np.abs(g)),
    Gradient("g_t∘g_t", "g is squared", lambda g, M: g * g),
    Gradient("g_t reversed", "the components of g are in reverse order", lambda g, M: g[:, ::-1]),
    Gradient("first component of g_t", "only the first component of g counts",
             lambda g, M: g * np.eye(g.shape[1])[0]),
    Gradient("g_t/√Σg_i²", "g is scaled by its own history", lambda g, M: g / np.sqrt(np.cumsum(g * g, axis=0) + 1e-300)),
    *(Gradient(f"m_t with m_t = {beta:g}·m_{{t−1}} + {share}g_t", f"g is smoothed with {beta:g}",
               partial(lambda g, M, beta, s: smoothed(g, beta, s), beta=beta, s=weight))
      for beta in (0.9, 0.5, 0.99, 0.95, 0.8) for share, weight in (("", 1.0), (f"{1 - beta:.2g}·", 1 - beta))),
)  # fmt: skip
AHEAD = "g_{t+1}"


class Memory(NamedTuple):
    """What stands in the place of Δ_t, made of all steps (T, n) and the block length M."""

    letter: str
    words: str
    of: Callable[[Vector, int], Vector]


MEMORIES = (
    Memory("Δ_t", "", lambda S, M: S),
    Memory("", "the previous step is left out", lambda S, M: np.zeros_like(S)),
    Memory("Δ_{t−1}", "the step before the previous one is used", lambda S, M: earlier(S, np.zeros_like(S[0]))),
    Memory("mean(Δ_1, …, Δ_t)", "the steps so far are averaged", lambda S, M: averages(S)),
    Memory("(x_t − x_0)", "the whole way is used in place of the previous step", lambda S, M: np.cumsum(S, axis=0)),
    Memory("Δ_t reversed", "the components of Δ are in reverse order", lambda S, M: S[:, ::-1]),
)


@dataclass(frozen=True)
class Parts:
    """What a clip may look at: memory and gradient parts of the step, rows (R, n), the raw g and the limit (R, 1)."""

    kept: Vector
    taken: Vector
    g: Vector
    limit: Any
    eta: float

    @property
    def v(self) -> Vector:
        """The step before it is cut."""
        return np.asarray(self.kept - self.taken)


def cut(rows: Vector, limit: Any) -> Vector:
    """To the length of the limit at most."""
    return np.asarray(rows * np.minimum(1.0, limit / length(rows)))


class Clip(NamedTuple):
    """One way to cut a step: ``formula`` has ``{v}`` for what is cut, ``{a}`` and ``{b}`` for its two parts."""

    formula: str
    words: str
    of: Callable[[Parts], Vector]


CLIPS = (
    Clip("clip_{D}({v})", "", lambda p: cut(p.v, p.limit)),
    Clip("{v}", "nothing is cut", lambda p: p.v),
    Clip("{v}, every component cut to [−{D}, {D}]", "every component is cut by itself",
         lambda p: np.clip(p.v, -p.limit, p.limit)),
    Clip("{D}·({v})/‖{v}‖", "short steps are stretched to the full length", lambda p: p.limit * p.v / length(p.v)),
    Clip("({v})·max(1, {D}/‖{v}‖)", "short steps are stretched and long ones are not cut",
         lambda p: p.v * np.maximum(1.0, p.limit / length(p.v))),
    Clip("({v})·min(1, {D}/‖{v}‖²)", "the squared length is compared with D",
         lambda p: p.v * np.minimum(1.0, p.limit / length(p.v) ** 2)),
    Clip("({v})·min(1, {D}/‖{v}‖)²", "the factor is squared",
         lambda p: p.v * np.minimum(1.0, p.limit / length(p.v)) ** 2),
    Clip("({v})·√min(1, {D}/‖{v}‖)", "the factor is the root of the right one",
         lambda p: p.v * np.sqrt(np.minimum(1.0, p.limit / length(p.v)))),
    Clip("({v})·min(1, {D}/‖{v}‖₁)", "lengths are sums of components",
         lambda p: p.v * np.minimum(1.0, p.limit / np.maximum(np.abs(p.v).sum(axis=1, keepdims=True), 1e-300))),
    Clip("({v})·min(1, {D}/‖{v}‖_∞)", "lengths are largest components",
         lambda p: p.v * np.minimum(1.0, p.limit / np.maximum(np.abs(p.v).max(axis=1, keepdims=True), 1e-300))),
    Clip("({v})·{D}/({D} + ‖{v}‖)", "steps are shortened smoothly", lambda p: p.v * p.limit / (p.limit + length(p.v))),
    Clip("{D}·tanh(({v})/{D})", "components are bent smoothly", lambda p: p.limit * np.tanh(p.v / p.limit)),
    Clip("{a} − clip_{D}({b})", "clipped before adding: only the new part is cut",
         lambda p: p.kept - cut(p.taken, p.limit)),
    Clip("{a} − η·clip_{D}({g})", "clipped before adding: g itself is cut",
         lambda p: p.kept - p.eta * cut(p.g, p.limit)),
    Clip("clip_{D}({a}) − {b}", "only the previous step is cut", lambda p: cut(p.kept, p.limit) - p.taken),
    Clip("({v})·min(1, {D}/‖{g}‖)", "the length of g is compared with D",
         lambda p: p.v * np.minimum(1.0, p.limit / length(p.g))),
    Clip("({v})·min(1, {D}/‖{b}‖)", "the length of the new part is compared with D",
         lambda p: p.v * np.minimum(1.0, p.limit / length(p.taken))),
    Clip("({v})·min(1, {D}/‖{a}‖)", "the length of the previous step is compared with D",
         lambda p: p.v * np.minimum(1.0, p.limit / length(p.kept))),
    Clip("{v}, its first component cut to [−{D}, {D}]", "only the first component is cut",
         lambda p: np.hstack([np.clip(p.v[:, :1], -p.limit, p.limit), p.v[:, 1:]])),
    Clip("min({v}, {D})", "steps are cut from above only", lambda p: np.minimum(p.v, p.limit)),
)  # fmt: skip
LIMITS = tuple(Factor(1.0, symbol) for symbol in ("1/√t", "1/t", "1/√k", "1/k", "1/(t + 1)", "1/√(t + 1)"))
"""Laws by which the limit may shrink, which no longest step shows."""


@dataclass(frozen=True)
class StepRule:
    """One way to make the next step; as it stands Algorithm 2's."""

    gradient: Gradient = GRADIENTS[0]
    memory: Memory = MEMORIES[0]
    clip: Clip = CLIPS[0]
    kept: Factor = ONE
    taken: Factor = ONE
    limit: Factor = ONE

    @property
    def structural(self) -> int:
        """Changes that are no factors."""
        return sum((self.gradient is not GRADIENTS[0], self.memory is not MEMORIES[0], self.clip is not CLIPS[0]))

    @property
    def edits(self) -> int:
        """Single changes."""
        return self.structural + sum(not factor.is_one for factor in (self.kept, self.taken, self.limit))

    def expected(self, one: Recorded) -> Vector:
        """Steps Δ_2, ..., Δ_T that follow from the ones before; Δ_1 too where the update comes before the move."""
        q, S, ahead = one.trial.parameters, one.steps, self.gradient.letter == AHEAD
        g, before = self.gradient.of(one.g, q.M), self.memory.of(S, q.M)
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
        words = [part.words for part in (self.gradient, self.memory, self.clip) if part.words] + [
            f"{what} is multiplied by {factor.shown}"
            for what, factor in (("the previous step", self.kept), ("the step size η", abs_taken), ("D", self.limit))
            if not factor.is_one
        ] + (["g is added, not subtracted"] if away else [])
        right = "clip_D(Δ_t − ηg_t)"
        left = "Δ_t" if self.gradient.letter == AHEAD else "Δ_{t+1}"
        made = made.replace("Δ_t", "Δ_{t−1}") if self.gradient.letter == AHEAD else made
        return f"{left} = {made} where Δ_{{t+1}} must be {right}: {', '.join(words)}"


def _times(factor: Factor, letter: str) -> str:
    return letter if factor.is_one or not letter else f"{factor.shown}·{letter}"


def off_by(runs: Sequence[Recorded], rule: StepRule) -> float:
    """How far the steps are from a rule, in tolerances."""
    worst = 0.0
    for one in runs:
        with np.errstate(all="ignore"):
            worst = max(worst, apart(one, rule.expected(one), one.steps))
        if worst > 1:
            break
    return worst


def search_steps(runs: Sequence[Recorded]) -> list[LoopRule]:
    """All rules with the fewest edits that make every step of these runs."""
    if not any(one.steps[1:].any() for one in runs):
        return []
    limits = [ONE, *_limits(runs), *LIMITS]
    rules = [
        StepRule(gradient, memory, clip, *scales, limit)
        for gradient, memory in product(GRADIENTS, MEMORIES)
        for scales in _scales(runs, gradient, memory)
        for clip, limit in product(CLIPS, limits)
    ]
    rules = [rule for rule in rules if 0 < rule.edits <= MOST_EDITS and rule.structural <= MOST_STRUCTURAL]
    for edits in range(1, MOST_EDITS + 1):
        found = [rule for rule in rules if rule.edits == edits and off_by(runs, rule) <= 1]
        if found:
            return [LoopRule("steps", rule.sentence, edits, partial(off_by, rule=rule)) for rule in found]
    return []


def _limits(runs: Sequence[Recorded]) -> list[Factor]:
    """Factors of D: the longest step or component where several are that long."""
    found = []
    for size in (lambda S: np.linalg.norm(S, axis=1), lambda S: np.abs(S).max(axis=1)):
        measured = []
        for one in runs:
            sizes = size(one.steps[1:])
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
    if gradient.letter == AHEAD:
        return
    rows = []
    for one in runs:
        q = one.trial.parameters
        taken, before = q.eta * gradient.of(one.g, q.M)[:-1], memory.of(one.steps, q.M)[:-1]
        free = _uncut(one, taken)
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
            yield from product(made[0][:2], made[1][:2])
    for taken_law in fit(_each([(at, taken, before - S) for at, before, taken, S in rows])):
        yield ONE, taken_law
    if memory.letter:
        for kept_law in fit(_each([(at, before, S + taken) for at, before, taken, S in rows])):
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
