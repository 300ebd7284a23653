"""Lines 9 to 13 of Algorithm 2: what a block's mean is taken of, and which block's mean is the output."""
# ruff: noqa: ARG005  # every row of a table takes the same arguments

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy import special

from spec.exact import Vector
from verify.conformance.blame.loop_factors import Factor, Moments, fit
from verify.conformance.blame.loop_rule import LoopRule, apart, row_by_row
from verify.conformance.blame.loop_tables import averages, earlier
from verify.conformance.outer import Recorded

CHANCE = 1e-4
"""Probability below which counts do not follow a law."""
CLOSE = 0.2
"""Excess over the best law's up to which a law is told beside it."""
FEWEST = 20
"""Outputs that a law is judged by."""


class Points(NamedTuple):
    """What means are taken of, rows (T, n)."""

    words: str
    of: Callable[[Recorded], Vector]


class Window(NamedTuple):
    """Which points of which block make its mean, from all rows, the block length and the number k of the block."""

    words: str
    of: Callable[[Vector, int, int], Vector | None]


POINTS = (
    Points("", lambda one: one.z),
    Points("the iterates x_t instead of the queried points z_t", lambda one: one.run.path[1:]),
    Points("the iterates x_{t−1} instead of the queried points z_t", lambda one: one.run.path[:-1]),
    Points("the segments' middles instead of the queried points z_t",
           lambda one: (one.run.path[1:] + one.run.path[:-1]) / 2),
    Points("the queried points one step late, z_{t−1}", lambda one: earlier(one.z, one.z[0])),
    Points("the queried points one step early, z_{t+1}", lambda one: np.vstack([one.z[1:], one.z[-1:]])),
    Points("the steps Δ_t instead of the queried points z_t", lambda one: one.steps),
    Points("the answers g_t instead of the queried points z_t", lambda one: one.g),
    Points("the sizes |z_t|", lambda one: np.abs(one.z)),
)  # fmt: skip


def _block(rows: Vector, M: int, k: int) -> Vector:
    return rows[k * M : (k + 1) * M]


def _mean(rows: Vector) -> Vector | None:
    return np.asarray(rows.mean(axis=0)) if len(rows) else None


def _smoothed(rows: Vector, beta: float) -> Vector:
    mean = rows[0]
    for row in rows[1:]:
        mean = beta * mean + (1 - beta) * row
    return np.asarray(mean)


def _guarded_mean(rows: Vector, M: int, k: int, guard: float) -> Vector:
    return np.asarray(_block(rows, M, k).sum(axis=0) / (M + guard))


def _multiplied(rows: Vector, M: int, k: int, c: float) -> Vector:
    total = np.zeros(rows.shape[1])
    for row in _block(rows, M, k):
        total = c * total + row
    return np.asarray(total / M)


WINDOWS = (
    Window("", lambda rows, M, k: _mean(_block(rows, M, k))),
    Window("all points so far, not the block's alone", lambda rows, M, k: _mean(rows[: (k + 1) * M])),
    Window("the last point of each block is left out", lambda rows, M, k: _mean(_block(rows, M, k)[: max(M - 1, 1)])),
    Window("the first point of each block is left out", lambda rows, M, k: _mean(_block(rows, M, k)[min(M - 1, 1) :])),
    Window("the last point of each block is left out of the sum, and counted",
           lambda rows, M, k: np.asarray(_block(rows, M, k)[:-1].sum(axis=0) / M)),
    Window("the first point of each block is left out of the sum, and counted",
           lambda rows, M, k: np.asarray(_block(rows, M, k)[1:].sum(axis=0) / M)),
    Window("only the last point of a block", lambda rows, M, k: _block(rows, M, k)[-1]),
    Window("only the first point of a block", lambda rows, M, k: _block(rows, M, k)[0]),
    Window("the second half of a block", lambda rows, M, k: _mean(_block(rows, M, k)[M // 2 :])),
    Window("the first half of a block", lambda rows, M, k: _mean(_block(rows, M, k)[: M // 2])),
    Window("one point too many, the last of the block before",
           lambda rows, M, k: _mean(rows[max(k * M - 1, 0) : (k + 1) * M])),
    Window("one point too many, the first of the next block",
           lambda rows, M, k: _mean(rows[k * M : (k + 1) * M + 1])),
    Window("blocks start one step late", lambda rows, M, k: _mean(rows[k * M + 1 : (k + 1) * M + 1])),
    Window("blocks start one step early",
           lambda rows, M, k: _mean(rows[max(k * M - 1, 0) : (k + 1) * M - 1])),
    Window("the block before", lambda rows, M, k: _mean(_block(rows, M, max(k - 1, 0)))),
    Window("the first block throughout", lambda rows, M, k: _mean(_block(rows, M, 0))),
    Window("blocks in reverse order", lambda rows, M, k: _mean(_block(rows, M, len(rows) // M - 1 - k))),
    Window("the sum keeps the blocks before: it is never reset",
           lambda rows, M, k: np.asarray(rows[: (k + 1) * M].sum(axis=0) / M)),
    Window("later points weigh more, in proportion to their place in the block",
           lambda rows, M, k: np.asarray(np.average(_block(rows, M, k), axis=0, weights=np.arange(1, M + 1)))),
    Window("points are smoothed with 0.9 instead of averaged", lambda rows, M, k: _smoothed(_block(rows, M, k), 0.9)),
    Window("points are smoothed with ½ instead of averaged", lambda rows, M, k: _smoothed(_block(rows, M, k), 0.5)),
    Window("points are smoothed with 0.9 over all blocks", lambda rows, M, k: _smoothed(rows[: (k + 1) * M], 0.9)),
    *(Window(f"the divisor is M + {guard:g}", partial(_guarded_mean, guard=guard)) for guard in (1e-4, 1e-6, 1e-8)),
    *(Window(f"the sum is multiplied by {c:g} before each point is added", partial(_multiplied, c=c))
      for c in (0.5, 2.0, -1.0)),
    Window("M is divided by the sum of the points",
           lambda rows, M, k: np.asarray(M / _block(rows, M, k).sum(axis=0))),
    Window("the median of each component", lambda rows, M, k: np.asarray(np.median(_block(rows, M, k), axis=0))),
)  # fmt: skip


NONE = Factor()
"""What multiplies nothing."""


def block_means(one: Recorded, points: Points, window: Window, factor: Factor = NONE) -> Vector | None:
    """What a rule makes of a run, shape (K, n); ``None`` where it has no points to average."""
    q, rows = one.trial.parameters, points.of(one)
    made = [window.of(rows, q.M, k) for k in range(q.K)]
    if any(mean is None for mean in made):
        return None
    means: Vector = np.array(made, dtype=np.float64)
    return means * float(np.ravel(factor.at(Moments(one.trial, np.ones(1))))[0])


def search_means(runs: Sequence[Recorded]) -> list[LoopRule]:
    """Rules with the fewest edits whose block means are those of these runs."""
    if not any(np.ptp(one.run.x_bar) for one in runs):
        return []
    runs = [one for one in runs if one.trial.parameters.M > 1]
    found: dict[int, list[LoopRule]] = {}
    for points, window in product(POINTS, WINDOWS):
        for factor in _factors(runs, points, window):
            edits = bool(points.words) + bool(window.words) + (not factor.is_one)
            excess = row_by_row(partial(block_means, points=points, window=window, factor=factor), _got_means)
            if edits and excess(runs) <= 1:
                found.setdefault(edits, []).append(
                    LoopRule("means", _means_in_words(points, window, factor), edits, excess)
                )
    return found[min(found)] if found else []


def _got_means(one: Recorded) -> Vector:
    return one.run.x_bar


def _factors(runs: Sequence[Recorded], points: Points, window: Window) -> list[Factor]:
    """None, or the number or power of the schedule by which every mean is too long."""
    measured = []
    for one in runs:
        made = block_means(one, points, window)
        if made is None:
            return []
        ratio = float((made * one.run.x_bar).sum() / max(float((made**2).sum()), 1e-300))
        if apart(one, ratio * made, one.run.x_bar) > 1:
            return [Factor()]
        measured.append((Moments(one.trial, np.ones(1)), np.array([ratio])))
    return [Factor(), *(factor for factor in fit(measured)[:2] if not factor.is_one)]


def _means_in_words(points: Points, window: Window, factor: Factor) -> str:
    parts = [part for part in (points.words, window.words) if part]
    parts += [f"it is multiplied by {factor.shown}"] if not factor.is_one else []
    return f"the block mean x̄_k is not the mean of the block's M queried points z_t: {', and '.join(parts)}"


class Output(NamedTuple):
    """A rule that fixes the output; what it makes of a run."""

    words: str
    of: Callable[[Recorded], Vector]


def _best(one: Recorded) -> Vector:
    return np.asarray(one.run.x_bar[int(np.argmin(np.linalg.norm(one.blocks(one.g), axis=1)))])


def _answers(one: Recorded) -> Vector:
    return np.asarray(np.linalg.norm(one.g, axis=1))


OUTPUTS = (
    Output("always the last block's mean", lambda one: one.run.x_bar[-1]),
    Output("always the first block's mean", lambda one: one.run.x_bar[0]),
    Output("always the second block's mean", lambda one: one.run.x_bar[min(1, len(one.run.x_bar) - 1)]),
    Output("the mean of the block before the last", lambda one: one.run.x_bar[-2]),
    Output("the mean of the block in the middle", lambda one: one.run.x_bar[len(one.run.x_bar) // 2]),
    Output("the mean of the block whose mean answer is shortest", _best),
    Output("the mean of the block whose mean answer is longest",
           lambda one: one.run.x_bar[int(np.argmax(np.linalg.norm(one.blocks(one.g), axis=1)))]),
    Output("the mean of all block means", lambda one: np.asarray(one.run.x_bar.mean(axis=0))),
    Output("the median of all block means", lambda one: np.asarray(np.median(one.run.x_bar, axis=0))),
    Output("the last iterate", lambda one: one.run.path[-1]),
    Output("the last iterate but one", lambda one: one.run.path[-2]),
    Output("the mean of all iterates", lambda one: np.asarray(one.run.path.mean(axis=0))),
    Output("the mean of the iterates x_1, …, x_T", lambda one: np.asarray(one.run.path[1:].mean(axis=0))),
    Output("the mean of the iterates x_0, …, x_{T−1}", lambda one: np.asarray(one.run.path[:-1].mean(axis=0))),
    Output("the last queried point", lambda one: one.z[-1]),
    Output("the queried point with the shortest answer", lambda one: one.z[int(np.argmin(_answers(one)))]),
    Output("the iterate before the shortest answer", lambda one: one.run.path[int(np.argmin(_answers(one)))]),
    Output("the iterate after the shortest answer", lambda one: one.run.path[1 + int(np.argmin(_answers(one)))]),
    Output("the mean of the second half of the iterates",
           lambda one: np.asarray(one.run.path[len(one.run.path) // 2 :].mean(axis=0))),
    Output("the mean of the iterates of the last block",
           lambda one: np.asarray(one.run.path[-one.trial.parameters.M :].mean(axis=0))),
)  # fmt: skip


class Choice(NamedTuple):
    """Points of which one is output at random: their weights by number from the first, of ``count`` points."""

    words: str
    of: Callable[[Recorded], Vector]
    weights: Callable[[int], Vector]


def _flat(count: int) -> Vector:
    return np.ones(count)


def _without(*gone: int) -> Callable[[int], Vector]:
    def weights(count: int) -> Vector:
        made = np.ones(count)
        made[list(gone)] = 0.0
        return made

    return weights


def _first(count: int, few: int) -> Vector:
    return np.where(np.arange(count) < max(few, 1), 1.0, 0.0)


def _scaled_means(one: Recorded, c: float) -> Vector:
    return c * one.run.x_bar


CHOICES = (
    Choice("a uniform block, but never the last", lambda one: one.run.x_bar, _without(-1)),
    Choice("a uniform block, but never the first", lambda one: one.run.x_bar, _without(0)),
    Choice("a random block, later ones more often (weights 1, 2, …, K)", lambda one: one.run.x_bar,
           lambda count: np.arange(1.0, count + 1)),
    Choice("a random block, earlier ones more often (weights K, …, 2, 1)", lambda one: one.run.x_bar,
           lambda count: np.arange(float(count), 0, -1)),
    *(Choice(f"{c:g} times the mean of a uniform block", partial(_scaled_means, c=c), _flat) for c in (0.5, 2.0, -1.0)),
    Choice("one of the first two blocks", lambda one: one.run.x_bar, lambda count: _first(count, 2)),
    Choice("one of the first √K blocks", lambda one: one.run.x_bar, lambda count: _first(count, int(count**0.5))),
    Choice("one of the first K/2 blocks", lambda one: one.run.x_bar, lambda count: _first(count, count // 2)),
    Choice("a block of the second half", lambda one: one.run.x_bar, lambda count: _half(count)),
    Choice("a random block, the first and the last half as often (a rounded uniform number)",
           lambda one: one.run.x_bar, lambda count: np.r_[0.5, np.ones(max(count - 2, 0)), 0.5]),
    Choice("a uniform queried point instead of a block's mean", lambda one: one.z, _flat),
    Choice("a uniform iterate x_1, …, x_T instead of a block's mean", lambda one: one.run.path[1:], _flat),
    Choice("a uniform iterate x_0, …, x_{T−1} instead of a block's mean", lambda one: one.run.path[:-1], _flat),
    Choice("a uniform iterate x_0, …, x_T instead of a block's mean", lambda one: one.run.path, _flat),
    Choice("the iterate at a uniform block's end", lambda one: one.run.path[one.trial.parameters.M ::
           one.trial.parameters.M], _flat),
    Choice("the mean of the block means up to a uniform one", lambda one: averages(one.run.x_bar), _flat),
)  # fmt: skip


def _half(count: int) -> Vector:
    return np.where(np.arange(count) >= count // 2, 1.0, 0.0)


def search_outputs(runs: Sequence[Recorded]) -> list[LoopRule]:
    """Rules that output what these runs, many short ones among them, did."""
    found: list[LoopRule] = []
    if not all(np.ptp(one.run.x_bar, axis=0).any() for one in runs):
        return found
    for output in OUTPUTS:
        excess = row_by_row(output.of, lambda one: one.run.x_out)
        if excess(runs) <= 1:
            found.append(_output_rule(output.words, excess))
    if found:
        return found
    chosen = [(choice, partial(_unlike_choice, choice=choice)) for choice in CHOICES]
    fits = {choice.words: made(runs) for choice, made in chosen}
    best = min(fits.values())
    # Of laws that are far less likely than another one only that one is told.
    return [_output_rule(c.words, made) for c, made in chosen if fits[c.words] <= min(1.0, best + CLOSE)]


def _output_rule(words: str, excess: Callable[[Sequence[Recorded]], float]) -> LoopRule:
    return LoopRule("outputs", f"the output is {words}, where it must be the mean of a uniform one of the K blocks", 1,
                    excess)  # fmt: skip


def _unlike_choice(runs: Sequence[Recorded], choice: Choice) -> float:
    """How surprising the outputs are, by number of the point, over the runs of the trial that was run most."""
    counts: dict[str, Counter[int]] = {}
    sizes: dict[str, int] = {}
    for one in runs:
        points, out = choice.of(one), one.run.x_out
        if not len(points):
            return math.inf
        at = int(np.argmin(np.linalg.norm(points - out, axis=1)))
        if apart(one, points[at], out) > 1:
            return math.inf
        counts.setdefault(one.trial.id, Counter())[at] += 1
        sizes[one.trial.id] = len(points)
    id_ = max(counts, key=lambda name: counts[name].total())
    total, weights = counts[id_].total(), choice.weights(sizes[id_])
    if total < FEWEST:
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
