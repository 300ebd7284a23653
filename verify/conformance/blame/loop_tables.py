"""What may stand in line 7 of Algorithm 2 by mistake: gradients, previous steps and ways to cut, as tables."""
# ruff: noqa: ARG005  # every row of a table takes the same arguments

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from spec.exact import Vector


def averages(g: Vector) -> Vector:
    """Means of all rows so far."""
    return np.asarray(np.cumsum(g, axis=0) / np.arange(1, len(g) + 1)[:, None])


def within_blocks(g: Vector, M: int, made: Callable[[Vector], Vector]) -> Vector:
    """The same, block by block."""
    return np.concatenate([made(g[k : k + M]) for k in range(0, len(g), M)])


def smoothed(g: Vector, beta: float, share: float) -> Vector:
    """Rows m with m ← βm + share·g."""
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
    Gradient("g_t rolled", "the components of g are one place late", lambda g, M: np.roll(g, 1, axis=1)),
    Gradient("g_t rolled", "the components of g are one place early", lambda g, M: np.roll(g, -1, axis=1)),
    Gradient("(1, …, 1)", "g is left out: 1 stands in every component", lambda g, M: np.ones_like(g)),
    Gradient("g_{t−1}", "the answer of the step before is used (at first one left over)",
             lambda g, M: earlier(g, np.full_like(g[0], np.nan))),
    Gradient("first component of g_t", "only the first component of g counts",
             lambda g, M: g * np.eye(g.shape[1])[0]),
    Gradient("g_t/√Σg_i²", "g is scaled by its own history",
             lambda g, M: g / np.sqrt(np.cumsum(g * g, axis=0) + 1e-300)),
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
    Memory(
        "Δ_{t−1}",
        "the step before the previous one is used (at first one left over)",
        lambda S, M: earlier(S, np.full_like(S[0], np.nan)),
    ),
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


def _guarded(p: Parts, guard: float) -> Vector:
    return np.asarray(p.v * (p.limit / (np.maximum(length(p.v), p.limit) + guard)))


def _two_limits(p: Parts, top: Callable[[Parts], Any], bottom: Callable[[Parts], Any]) -> Vector:
    """Numerator and divisor of the clip with limits of their own."""
    return np.asarray(p.v * (top(p) / np.maximum(length(p.v), bottom(p))))


def _limit(p: Parts) -> Any:
    return p.limit


OTHER_LIMITS: tuple[tuple[str, str, Callable[[Parts], Any]], ...] = (
    ("η", "η", lambda p: p.eta), ("{D}²", "D²", lambda p: p.limit**2), ("2{D}", "2D", lambda p: 2 * p.limit),
    ("½{D}", "½D", lambda p: p.limit / 2), ("10{D}", "10D", lambda p: 10 * p.limit),
)  # fmt: skip
"""What may stand for one of the two D of the clip alone."""
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
    Clip("{D}/max(‖{v}‖, {D}) in every component", "the factor alone is left, without what it multiplies",
         lambda p: np.broadcast_to(np.minimum(1.0, p.limit / length(p.v)), p.v.shape)),
    *(Clip(f"({{v}})·{{D}}/(max(‖{{v}}‖, {{D}}) + {guard:g})", f"{guard:g} is added to the divisor",
           partial(_guarded, guard=guard)) for guard in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)),
    *(Clip(f"({{v}})·{shown}/max(‖{{v}}‖, {{D}})", f"the clip's numerator is {words}, its divisor has D",
           partial(_two_limits, top=other, bottom=_limit)) for shown, words, other in OTHER_LIMITS),
    *(Clip(f"({{v}})·{{D}}/max(‖{{v}}‖, {shown})", f"the clip's divisor has {words}, its numerator is D",
           partial(_two_limits, top=_limit, bottom=other)) for shown, words, other in OTHER_LIMITS),
    Clip("({v})·max(‖{v}‖, {D})/{D}", "the clip's factor is upside down",
         lambda p: p.v * np.maximum(length(p.v), p.limit) / p.limit),
    Clip("({v})·{D}·max(‖{v}‖, {D})", "the clip multiplies by what it must divide by",
         lambda p: p.v * p.limit * np.maximum(length(p.v), p.limit)),
    Clip("min({v}, {D})", "steps are cut from above only", lambda p: np.minimum(p.v, p.limit)),
)  # fmt: skip
