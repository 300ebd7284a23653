"""Line 5 of Algorithm 2, z_t = x_{t−1} + s_tΔ_t: on which line the queried points lie, and how s_t is drawn.

A draw that follows from others is an exact rule; one that does not is compared with laws, on fresh runs once more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from spec.exact import Vector
from verify.conformance.blame.loop_rule import LoopRule, apart
from verify.conformance.blame.loop_tables import earlier
from verify.conformance.outer import Recorded

SHORT = 1e-6
"""Share of D below which a direction is too short to say where a point lies on it."""
SAME = 1e-6
"""Difference below which two draws are the same."""
FEWEST = 12
"""Draws that a rule must explain."""
CHANCE = 1e-4
"""Probability below which draws do not follow a law."""


class Line(NamedTuple):
    """A line that queried points may lie on: origins and directions, rows (T, n), of a run."""

    formula: str
    words: str
    of: Callable[[Recorded], tuple[Vector, Vector]]

    def sentence(self, draws: str = "") -> str:
        """What is wrong with points on it, ``draws`` being what is wrong with s_t."""
        if not self.words:
            return f"{draws} (z_t = {self.formula})"
        right = "x_{t−1} + s_tΔ_t"
        return f"z_t = {self.formula} where z_t must be {right}: {self.words}{', and ' + draws if draws else ''}"


def _before(one: Recorded) -> Vector:
    return earlier(one.steps, np.full_like(one.steps[0], np.nan))


def _starts(one: Recorded) -> Vector:
    M = one.trial.parameters.M
    return one.run.path[np.arange(one.trial.parameters.T) // M * M]


def _scaled_line(one: Recorded, c: float) -> tuple[Vector, Vector]:
    return c * one.run.path[:-1], one.steps


STEP_BEFORE = Line("x_{t−1} + s_tΔ_{t−1}", "the step before is followed from x_{t−1}",
                   lambda one: (one.run.path[:-1], _before(one)))  # fmt: skip
"""What Δ that is updated before x moves comes to."""
LINES = (
    Line("x_{t−1} + s_tΔ_t", "", lambda one: (one.run.path[:-1], one.steps)),
    STEP_BEFORE,
    Line("x_t + s_tΔ_{t−1}", "the step before is followed from x_t", lambda one: (one.run.path[1:], _before(one))),
    Line("x_{t−2} + s_tΔ_{t−1}", "the segment before is used",
         lambda one: (one.run.path[:-1] - _before(one), _before(one))),
    Line("x_{t−2} + s_tΔ_t", "it starts a point early", lambda one: (one.run.path[:-1] - _before(one), one.steps)),
    *(Line(f"{c:g}·x_{{t−1}} + s_tΔ_t", f"x_{{t−1}} is multiplied by {c:g}", partial(_scaled_line, c=c))
      for c in (0.5, 2.0, 0.0, -1.0)),
    Line("x_{t−1} + s_t·(1, …, 1)", "Δ_t is left out", lambda one: (one.run.path[:-1], np.ones_like(one.steps))),
    Line("x_0 + s_t(x_t − x_0)", "segments start at x_0",
         lambda one: (np.broadcast_to(one.run.path[0], one.steps.shape), one.run.path[1:] - one.run.path[0])),
    Line("x_start + s_t(x_t − x_start)", "segments start where the block does",
         lambda one: (_starts(one), one.run.path[1:] - _starts(one))),
    Line("s_t·x_{t−1}", "a multiple of x_{t−1} is asked at", lambda one: (0 * one.steps, one.run.path[:-1])),
    Line("s_t·x_t", "a multiple of x_t is asked at", lambda one: (0 * one.steps, one.run.path[1:])),
)  # fmt: skip


@dataclass(frozen=True)
class Shares:
    """Where on their lines the points of one run lie, shape (T,), and where that is known."""

    one: Recorded
    s: Vector
    known: Any

    def rows(self, made: Vector) -> tuple[Vector, Vector]:
        """A prediction for s, NaN where there is none, beside s, where both are known."""
        there = self.known & np.isfinite(made)
        return made[there], self.s[there]


def shares(one: Recorded, line: Line) -> Shares | None:
    """Read s_t off; ``None`` where a point lies beside its line."""
    origin, direction = line.of(one)
    # What was left over by a run before is not known here.
    there: Any = np.isfinite(origin + direction).all(axis=1)
    origin, direction = np.where(there[:, None], origin, one.z), np.where(there[:, None], direction, 0.0)
    squares = (direction**2).sum(axis=1)
    known = squares > (SHORT * one.trial.parameters.D) ** 2
    s = np.divide(((one.z - origin) * direction).sum(axis=1), squares, out=np.zeros(len(one.z)), where=known)
    return None if apart(one, origin + s[:, None] * direction, one.z) > 1 else Shares(one, s, known)


def _blocks(at: Shares) -> tuple[Any, int]:
    M = at.one.trial.parameters.M
    return np.arange(len(at.s)) // M, M


def _first_known(at: Shares, groups: Any) -> Vector:
    """The first known share of each group, for its later members."""
    made = np.full(len(at.s), math.nan)
    for group in np.unique(groups):
        rows = np.flatnonzero((groups == group) & at.known)
        made[rows[1:]] = at.s[rows[:1]].sum()
    return made


def _lagged(at: Shares, lag: int, change: Callable[[Vector], Vector], keep: Callable[[Any], Any]) -> Vector:
    """Shares that follow from those ``lag`` steps before, at the places t (from 0) that are kept."""
    made = np.full(len(at.s), math.nan)
    t = np.arange(lag, len(at.s))
    t = t[at.known[t - lag] & keep(t)]
    made[t] = change(at.s[t - lag])
    return made


def _places(at: Shares) -> Any:
    return np.arange(len(at.s)) % at.one.trial.parameters.M


REPEATED: tuple[tuple[str, Callable[[Shares], Vector]], ...] = (
    ("s_t is j/M in step j of a block, not random", lambda at: (_places(at) + 1) / _blocks(at)[1]),
    ("s_t is (j − 1)/M in step j of a block, not random", lambda at: _places(at) / _blocks(at)[1]),
    ("s_t is (j − ½)/M in step j of a block, not random", lambda at: (_places(at) + 0.5) / _blocks(at)[1]),
    ("s_t is t/T, not random", lambda at: (np.arange(len(at.s)) + 1) / len(at.s)),
    ("s_t is (t − 1)/T, not random", lambda at: np.arange(len(at.s)) / len(at.s)),
    ("s_t is drawn once and used in every step of a run", lambda at: _first_known(at, np.zeros(len(at.s)))),
    ("s_t is drawn once a block and used in all its steps", lambda at: _first_known(at, _blocks(at)[0])),
    ("every block uses the same s_t, as if its generator started anew",
     lambda at: _lagged(at, _blocks(at)[1], lambda s: s, lambda t: t >= 0)),
    ("every draw of s_t is used in two consecutive steps",
     lambda at: _lagged(at, 1, lambda s: s, lambda t: t % 2 == 1)),
    ("every draw of s_t is used in two consecutive steps, from the second on",
     lambda at: _lagged(at, 1, lambda s: s, lambda t: t % 2 == 0)),
    ("s_t = 1 − s_{t−1} in every second step: antithetic pairs",
     lambda at: _lagged(at, 1, lambda s: 1 - s, lambda t: t % 2 == 1)),
    ("s_t = 1 − s_{t−1} in every second step, from the second on: antithetic pairs",
     lambda at: _lagged(at, 1, lambda s: 1 - s, lambda t: t % 2 == 0)),
)  # fmt: skip
"""Rules by which draws follow from others or from their place, each with its predictions."""


class Law(NamedTuple):
    """A law of s_t by its distribution function."""

    words: str
    of: Callable[[Vector], Vector]


def _uniform(a: float, b: float) -> Law:
    return Law(f"s_t is uniform on [{a:g}, {b:g}], not on [0, 1]", lambda s: np.clip((s - a) / (b - a), 0.0, 1.0))


LAWS = (
    *(_uniform(a, b) for a, b in (
        (0, 0.5), (0.5, 1), (0.25, 0.75), (-1, 0), (-1, 1), (-0.5, 0.5), (-0.5, 0), (1, 2), (0, 2), (0.5, 1.5), (-1, 2),
        (-2, 0), (-2, 2), (0, 1.5), (0, 0.1), (0.9, 1), (0.1, 0.9), (0.1, 1), (0, 0.9), (0, 3), (2, 3), (-0.5, 1.5),
        (0, 0.25), (0.75, 1),
    )),
    Law("s_t is the square of a uniform draw", lambda s: np.sqrt(np.clip(s, 0, 1))),
    Law("s_t is the root of a uniform draw", lambda s: np.clip(s, 0, 1) ** 2),
    Law("s_t is the product of two uniform draws",
        lambda s: np.where(s > 0, np.clip(s, 1e-300, 1) * (1 - np.log(np.clip(s, 1e-300, 1))), 0.0)),
    Law("s_t is the mean of two uniform draws",
        lambda s: np.where(s < 0.5, 2 * np.clip(s, 0, 1) ** 2, 1 - 2 * (1 - np.clip(s, 0, 1)) ** 2)),
    Law("s_t is the cube of a uniform draw", lambda s: np.cbrt(np.clip(s, 0, 1))),
    Law("s_t is the smaller of two uniform draws", lambda s: 1 - (1 - np.clip(s, 0, 1)) ** 2),
    Law("s_t has the law Beta(½, ½)", lambda s: special.betainc(0.5, 0.5, np.clip(s, 0, 1))),
    Law("s_t has the law Beta(2, 2)", lambda s: special.betainc(2, 2, np.clip(s, 0, 1))),
    Law("s_t is a standard normal number", special.ndtr),
    Law("s_t is the size of a standard normal number", lambda s: np.clip(2 * special.ndtr(s) - 1, 0, 1)),
    Law("s_t is normal with mean ½ and variance 1", lambda s: special.ndtr(s - 0.5)),
    Law("s_t is exponential", lambda s: 1 - np.exp(-np.maximum(s, 0))),
)  # fmt: skip


def search_queries(runs: Sequence[Recorded]) -> list[LoopRule]:
    """Rules of line and draws that these runs follow, simplest first."""
    found: list[LoopRule] = []
    for number, line in enumerate(LINES):
        read = [shares(one, line) for one in runs]
        there = [at for at in read if at is not None]
        if len(there) < len(runs) or sum(int(at.known.sum()) for at in there) < FEWEST:
            continue
        found += _exact(there, line, number > 0) or _laws(there, line, number > 0)
    fewest = min((rule.edits for rule in found), default=0)
    return [rule for rule in found if rule.edits == fewest][:1] or _around(runs)


def _exact(read: list[Shares], line: Line, moved: bool) -> list[LoopRule]:
    """Draws that follow from something."""
    values = np.concatenate([at.s[at.known] for at in read])
    if np.ptp(values) < SAME:
        c = round(float(values.mean()), 6)
        return [_made(line.sentence(f"s_t is always {c:g}, not random"), line, moved,
                      lambda at: np.full(len(at.s), c))]  # fmt: skip
    follows = [_made(line.sentence(words), line, moved, made) for words, made in REPEATED if _follow(read, made) <= 1]
    if not follows and _unlike_others(read) <= 1:
        sentence = line.sentence("every run uses the same s_t, as if its generator started anew")
        follows = [LoopRule("queries", sentence, 1 + moved, partial(_repeats_runs, line=line))]
    return follows[:1]


def _repeats_runs(runs: Sequence[Recorded], line: Line) -> float:
    read = [shares(one, line) for one in runs]
    return _unlike_others([at for at in read if at is not None]) if None not in read else math.inf


def _unlike_others(read: list[Shares]) -> float:
    """How far draws are from those of the longest run at the same steps; infinite where those are too few."""
    longest = max(read, key=lambda at: len(at.s))
    known = np.where(longest.known, longest.s, math.nan)
    others = [at for at in read if at is not longest]
    return _follow(others, lambda at: known[: len(at.s)])


def _made(sentence: str, line: Line, moved: bool, made: Callable[[Shares], Vector]) -> LoopRule:
    def excess(runs: Sequence[Recorded]) -> float:
        read = [shares(one, line) for one in runs]
        return _follow([at for at in read if at is not None], made) if None not in read else math.inf

    return LoopRule("queries", sentence, 1 + moved, excess)


def _follow(read: list[Shares], made: Callable[[Shares], Vector]) -> float:
    """How far draws are from what they should follow from; infinite where that is too few of them."""
    pairs = [at.rows(made(at)) for at in read]
    count = sum(len(expected) for expected, _ in pairs)
    worst = max((float(np.abs(e - s).max(initial=0.0)) for e, s in pairs), default=0.0)
    return worst / SAME if count >= FEWEST else math.inf


def _laws(read: list[Shares], line: Line, moved: bool) -> list[LoopRule]:
    """Laws that independent draws may have; the right one counts only on another line."""
    right = _uniform(0.0, 1.0)
    if not moved and _surprise(read, right) <= 1:
        return []
    for laws in ([right] if moved else [], LAWS, _between(read)):
        best = min(laws, key=lambda law: _surprise(read, law), default=None)
        if best is not None and _surprise(read, best) <= 1:
            words = "" if best is right else best.words
            excess = partial(_lawful, line=line, law=best)
            return [LoopRule("queries", line.sentence(words), moved + bool(words), excess)]
    return []


def _between(read: list[Shares]) -> list[Law]:
    """The uniform law on the narrowest simple interval that holds all draws."""
    values = np.concatenate([at.s[at.known] for at in read])
    a, b = float(np.floor(values.min() * 20) / 20), float(np.ceil(values.max() * 20) / 20)
    return [_uniform(a, b)] if b - a < 20 and (a, b) != (0.0, 1.0) else []


def _lawful(runs: Sequence[Recorded], line: Line, law: Law) -> float:
    read = [shares(one, line) for one in runs]
    return _surprise([at for at in read if at is not None], law) if None not in read else math.inf


def _surprise(read: list[Shares], law: Law) -> float:
    """Above 1 where independent draws of this law would be as far off with probability below the allowed one."""
    values = np.concatenate([at.s[at.known] for at in read])
    ends = law.of(values)
    if len(values) < FEWEST:
        return math.inf
    return _evenness(ends)


def _around(runs: Sequence[Recorded]) -> list[LoopRule]:
    """Points that lie on no line: one share a component, or somewhere around an iterate."""
    found = []
    if _by_components(runs) <= 1:
        found.append(LoopRule("queries", "z_t = x_{t−1} + s_t∘Δ_t with a draw for every component where z_t must be "
                              "x_{t−1} + s_tΔ_t: one s_t must serve all components", 1, _by_components))  # fmt: skip
    for where, origin in (("x_{t−1}", slice(None, -1)), ("x_t", slice(1, None))):
        for words, name in (("D", "D"), ("the Goldstein radius", "goldstein_radius")):
            for law, power in (("uniform in the ball", 1.0), ("uniform on the sphere", math.inf)):
                excess = partial(_off_ball, origin=origin, radius=name, power=power)
                if excess(runs) <= 1:
                    sentence = (f"z_t is {law} of radius {words} around {where}, where it must lie on the segment from "
                                "x_{t−1} to x_t")  # fmt: skip
                    found.append(LoopRule("queries", sentence, 1, excess))
    return found


def _by_components(runs: Sequence[Recorded]) -> float:
    values = []
    for one in runs:
        known = np.abs(one.steps) > SHORT * one.trial.parameters.D
        s = np.divide(one.z - one.run.path[:-1], one.steps, out=np.zeros_like(one.z), where=known)
        if apart(one, one.run.path[:-1] + s * one.steps, one.z) > 1:
            return math.inf
        values.append(s[known])
    drawn = np.concatenate(values)
    if len(drawn) < FEWEST:
        return math.inf
    return _evenness(drawn)


def _off_ball(runs: Sequence[Recorded], origin: slice, radius: str, power: float) -> float:
    values = []
    for one in runs:
        n = len(one.trial.x0)
        ratio = np.linalg.norm(one.z - one.run.path[origin], axis=1) / float(getattr(one.trial.parameters, radius))
        if math.isinf(power):
            if np.abs(ratio - 1).max(initial=0.0) > SAME:
                return math.inf
        else:
            values.append(np.clip(ratio, 0.0, 2.0) ** n)
    if math.isinf(power):
        return 0.0
    return _evenness(np.concatenate(values))


def _evenness(values: Sequence[float] | Vector) -> float:
    """How unlikely the largest distance of their distribution from the even one is, on the scale of chances."""
    # Only where a loop deviates: what it imports takes half a second.
    from scipy import stats

    return math.log(max(float(stats.kstest(values, "uniform").pvalue), 1e-300)) / math.log(CHANCE)
