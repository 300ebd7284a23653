"""What Algorithm 2 draws: where queried points lie and how s_t is drawn (line 5), and which point is output (line 13).

A draw that follows from others is an exact rule; one that does not is compared with laws, on fresh runs once more.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import special

from spec.exact import Vector
from verify.conformance.blame.algorithm_2.loop_lines import OUTPUT, output_sentence
from verify.conformance.blame.algorithm_2.loop_rule import LoopRule, apart
from verify.conformance.blame.algorithm_2.loop_search import search
from verify.conformance.outer import RecordedLoop
from verify.method.loop_edits import EDITS, STRAIGHT, LineEdit
from verify.method.query_laws import LAWS, distribution, uniform_law

SHORT = 1e-6
"""Share of D below which a direction is too short to say where a point lies on it."""
SAME = 1e-6
"""Difference below which two draws are the same."""
FEWEST = 12
"""Draws that a rule must explain."""
FEWEST_OUTPUTS = 20
CHANCE = 1e-4
"""Probability below which draws do not follow a law."""
CLOSE = 0.2
"""Excess over the best law's up to which a law is told beside it."""


def line_sentence(line: LineEdit, draws: str = "") -> str:
    """What is wrong with points on a line, ``draws`` being what is wrong with s_t."""
    if not line.words:
        return f"{draws} (z_t = {line.shown})"
    right = STRAIGHT.shown
    return f"z_t = {line.shown} where z_t must be {right}: {line.words}{', and ' + draws if draws else ''}"


@dataclass(frozen=True)
class Shares:
    """Where on their lines the points of one run lie, shape (T,), and where that is known."""

    one: RecordedLoop
    s: Vector
    known: Any

    def rows(self, predicted: Vector) -> tuple[Vector, Vector]:
        """A prediction for s, NaN where there is none, beside s, where both are known."""
        there = self.known & np.isfinite(predicted)
        return predicted[there], self.s[there]


def shares(one: RecordedLoop, line: LineEdit) -> Shares | None:
    """Read s_t off; ``None`` where a point lies beside its line."""
    origin, direction = map(one.series.value, line.halves)
    # What was left over by a run before is not known here.
    there: Any = np.isfinite(origin + direction).all(axis=1)
    origin, direction = np.where(there[:, None], origin, one.z), np.where(there[:, None], direction, 0.0)
    squares = (direction**2).sum(axis=1)
    known = squares > (SHORT * one.trial.parameters.D) ** 2
    s = np.divide(((one.z - origin) * direction).sum(axis=1), squares, out=np.zeros(len(one.z)), where=known)
    return None if apart(one, origin + s[:, None] * direction, one.z) > 1 else Shares(one, s, known)


def _first_known(at: Shares, groups: Any) -> Vector:
    """The first known share of each group, for its later members."""
    prediction = np.full(len(at.s), math.nan)
    for group in np.unique(groups):
        rows = np.flatnonzero((groups == group) & at.known)
        prediction[rows[1:]] = at.s[rows[:1]].sum()
    return prediction


def _lagged(at: Shares, lag: int, first: int = 0, every: int = 1) -> Vector:
    """The share ``lag`` steps before, where it is known, for the steps ``first``, ``first + every``, ..., from 0."""
    prediction = np.full(len(at.s), math.nan)
    t = np.arange(lag, len(at.s))
    t = t[at.known[t - lag] & (t % every == first)]
    prediction[t] = at.s[t - lag]
    return prediction


def follower(formula: str) -> Callable[[Shares], Vector]:
    """What shares follow from, by a formula over the numbers of their steps and the functions above."""

    def made(at: Shares) -> Vector:
        q, t = at.one.trial.parameters, np.arange(1.0, len(at.s) + 1)
        names = {"t": t, "T": len(t), "M": q.M, "j": (t - 1) % q.M + 1, "k": (t - 1) // q.M}
        functions = {"first_known": partial(_first_known, at), "lagged": partial(_lagged, at)}
        return np.asarray(eval(formula, functions, names), dtype=np.float64)

    return made


def search_queries(runs: Sequence[RecordedLoop]) -> list[LoopRule]:
    """Rules of line and draws that these runs follow, simplest first."""
    rules: list[LoopRule] = []
    for number, line in enumerate(EDITS["lines"]):
        read = [shares(one, line) for one in runs]
        there = [at for at in read if at is not None]
        if len(there) < len(runs) or sum(int(at.known.sum()) for at in there) < FEWEST:
            continue
        rules += _exact(there, line, number > 0) or _laws(there, line, number > 0)
    fewest = min((rule.edits for rule in rules), default=0)
    return [rule for rule in rules if rule.edits == fewest][:1] or _around(runs)


def _exact(read: list[Shares], line: LineEdit, moved: bool) -> list[LoopRule]:
    """Draws that follow from something."""
    values = np.concatenate([at.s[at.known] for at in read])
    if np.ptp(values) < SAME:
        c = round(float(values.mean()), 6)
        where = {0.0: "x_{t−1}", 1.0: "x_t"}.get(c)
        sentence = line_sentence(line, f"s_t is always {c:g}, not random")
        if where and not moved:
            sentence = (
                f"the oracle is asked at {where} (s_t is always {c:g}) where it must be asked at z_t = {line.shown}"
            )
        return [_made(sentence, line, moved,
                      lambda at: np.full(len(at.s), c))]  # fmt: skip
    follows = [
        _made(line_sentence(line, words), line, moved, follower(formula))
        for formula, _, words in EDITS["followers"]
        if _follow(read, follower(formula)) <= 1
    ]
    if not follows and _unlike_others(read) <= 1:
        sentence = line_sentence(line, "every run uses the same s_t, as if its generator started anew")
        follows = [LoopRule("queries", sentence, 1 + moved, partial(_repeats_runs, line=line))]
    return follows[:1]


def _repeats_runs(runs: Sequence[RecordedLoop], line: LineEdit) -> float:
    read = [shares(one, line) for one in runs]
    return _unlike_others([at for at in read if at is not None]) if None not in read else math.inf


def _unlike_others(read: list[Shares]) -> float:
    """How far draws are from those of the longest run at the same steps; infinite where those are too few."""
    longest = max(read, key=lambda at: len(at.s))
    known = np.where(longest.known, longest.s, math.nan)
    others = [at for at in read if at is not longest]
    return _follow(others, lambda at: known[: len(at.s)])


def _made(sentence: str, line: LineEdit, moved: bool, predict: Callable[[Shares], Vector]) -> LoopRule:
    def excess(runs: Sequence[RecordedLoop]) -> float:
        read = [shares(one, line) for one in runs]
        return _follow([at for at in read if at is not None], predict) if None not in read else math.inf

    return LoopRule("queries", sentence, 1 + moved, excess)


def _follow(read: list[Shares], predict: Callable[[Shares], Vector]) -> float:
    """How far draws are from what they should follow from; infinite where that is too few of them."""
    pairs = [at.rows(predict(at)) for at in read]
    count = sum(len(expected) for expected, _ in pairs)
    worst = max((float(np.abs(e - s).max(initial=0.0)) for e, s in pairs), default=0.0)
    return worst / SAME if count >= FEWEST else math.inf


def _laws(read: list[Shares], line: LineEdit, moved: bool) -> list[LoopRule]:
    """Laws that independent draws may have; the right one counts only on another line."""
    right = uniform_law(0.0, 1.0)
    if not moved and _surprise(read, right) <= 1:
        return []
    for laws in ([right] if moved else [], LAWS, _between(read)):
        best = min(laws, key=lambda law: _surprise(read, law), default=None)
        if best is not None and _surprise(read, best) <= 1:
            words = "" if best is right else best.words
            excess = partial(_lawful, line=line, law=best)
            return [LoopRule("queries", line_sentence(line, words), moved + bool(words), excess)]
    return []


def _between(read: list[Shares]) -> list[LineEdit]:
    """The uniform law on the narrowest simple interval that holds all draws."""
    values = np.concatenate([at.s[at.known] for at in read])
    a, b = float(np.floor(values.min() * 20) / 20), float(np.ceil(values.max() * 20) / 20)
    return [uniform_law(a, b)] if b - a < 20 and (a, b) != (0.0, 1.0) else []


def _lawful(runs: Sequence[RecordedLoop], line: LineEdit, law: LineEdit) -> float:
    read = [shares(one, line) for one in runs]
    return _surprise([at for at in read if at is not None], law) if None not in read else math.inf


def _surprise(read: list[Shares], law: LineEdit) -> float:
    """Above 1 where independent draws of this law would be as far off with probability below the allowed one."""
    values = np.concatenate([at.s[at.known] for at in read])
    return _evenness(distribution(law, values)) if len(values) >= FEWEST else math.inf


def means_of_others(runs: Sequence[RecordedLoop]) -> list[LoopRule]:
    """That block means are of points which the oracle was not asked at, though they lie where it must be asked."""
    sentence = (
        "the block mean x̄_k is of points x_{t−1} + s_tΔ_t with a random s_t, and not of the points that the oracle was "
        "asked at, z_t"
    )
    rule = LoopRule("means", sentence, 1, _off_segments)
    return [rule] if rule.predicts(runs) else []


def _off_segments(runs: Sequence[RecordedLoop]) -> float:
    """How surprising means of blocks of one step are as points drawn from their segments, others being within reach."""
    alone, worst = [], 0.0
    for one in runs:
        if apart(one, one.blocks(one.z), one.run.x_bar) <= 1:
            return math.inf
        if one.trial.parameters.M == 1:
            read = shares(replace(one, z=one.run.x_bar), STRAIGHT)
            if read is None:
                return math.inf
            alone.append(read)
        ends = one.run.path[:-1], one.run.path[1:]
        low, high = one.blocks(np.minimum(*ends)), one.blocks(np.maximum(*ends))
        worst = max(worst, apart(one, np.clip(one.run.x_bar, low, high), one.run.x_bar))
    return max(worst, _surprise(alone, uniform_law(0.0, 1.0))) if alone else worst


def _around(runs: Sequence[RecordedLoop]) -> list[LoopRule]:
    """Points that lie on no line: one share a component, or somewhere around an iterate."""
    rules = []
    if _by_components(runs) <= 1:
        rules.append(LoopRule("queries", "z_t = x_{t−1} + s_t∘Δ_t with a draw for every component where z_t must be "
                              "x_{t−1} + s_tΔ_t: one s_t must serve all components", 1, _by_components))  # fmt: skip
    for where, origin in (("x_{t−1}", slice(None, -1)), ("x_t", slice(1, None))):
        for words, name in (("D", "D"), ("the Goldstein radius", "goldstein_radius")):
            for law, power in (("uniform in the ball", 1.0), ("uniform on the sphere", math.inf)):
                excess = partial(_off_ball, origin=origin, radius=name, power=power)
                if excess(runs) <= 1:
                    sentence = (f"z_t is {law} of radius {words} around {where}, where it must lie on the segment from "
                                "x_{t−1} to x_t")  # fmt: skip
                    rules.append(LoopRule("queries", sentence, 1, excess))
    return rules


def _by_components(runs: Sequence[RecordedLoop]) -> float:
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


def _off_ball(runs: Sequence[RecordedLoop], origin: slice, radius: str, power: float) -> float:
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


def search_outputs(runs: Sequence[RecordedLoop]) -> list[LoopRule]:
    """Rules that output what these runs, many short ones among them, did."""
    if not all(np.ptp(one.run.x_bar, axis=0).any() for one in runs):
        return []
    if rules := search(OUTPUT, runs):
        return rules
    chosen = [(choice, partial(_unlike_choice, choice=choice)) for choice in EDITS["choices"]]
    fits = {choice.words: excess(runs) for choice, excess in chosen}
    best = min(fits.values())
    # Of laws that are far less likely than another one only that one is told.
    return [_output_rule(c.words, excess) for c, excess in chosen if fits[c.words] <= min(1.0, best + CLOSE)]


def _output_rule(words: str, excess: Callable[[Sequence[RecordedLoop]], float]) -> LoopRule:
    return LoopRule("outputs", output_sentence(words), 1, excess)


def _weights(choice: LineEdit, count: int) -> Vector:
    """How often each of so many points is drawn, up to a factor."""
    names = {"i": np.arange(count), "count": count, "where": np.where, "maximum": np.maximum}
    return np.asarray(np.ones(count) * eval(choice.halves[1], names))


def _unlike_choice(runs: Sequence[RecordedLoop], choice: LineEdit) -> float:
    """How surprising the outputs are, by number of the point, over the runs of the trial that was run most."""
    counts: dict[str, Counter[int]] = {}
    alike: dict[str, list[int]] = {}
    for one in runs:
        points, out = one.series.value(choice.halves[0]), one.run.x_out
        if not len(points):
            return math.inf
        at = int(np.argmin(np.linalg.norm(points - out, axis=1)))
        if apart(one, points[at], out) > 1:
            return math.inf
        counts.setdefault(one.trial.id, Counter())[at] += 1
        # Δ_1 = 0: x_0 and x_1 are one point, which is then drawn for both.
        alike[one.trial.id] = [int(np.argmin(np.abs(points - point).max(axis=1))) for point in points]
    id_ = max(counts, key=lambda name: counts[name].total())
    total, count = counts[id_].total(), len(alike[id_])
    weights = np.bincount(alike[id_], _weights(choice, count), count)
    if total < FEWEST_OUTPUTS:
        return math.inf
    seen = np.array([counts[id_][k] for k in range(len(weights))])
    if seen[weights == 0].any():
        return math.inf
    share, there = weights / weights.sum(), weights > 0
    if there.sum() == 1:
        return 0.0
    wanted = total * share[there]
    chance = float(special.chdtrc(len(wanted) - 1, ((seen[there] - wanted) ** 2 / wanted).sum()))
    return math.log(max(chance, 1e-300)) / math.log(CHANCE)
