"""Algorithm 2 on known oracles: every step, every queried point, every block mean and the output, one by one.

Given what the oracle was asked and answered, each line of the algorithm is a comparison of its own, so one wrong line
does not blur the next. Randomness is the subject's own; only the laws of s_t and of the output's block are compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from spec import InvalidInputError, OuterParameters
from spec.exact import Vector
from verify.method.factors import FactorMoments
from verify.method.plain_subject import PlainLoop
from verify.method.run_series import RunSeries
from verify.subjects.protocol import OuterRun, StageCalls

TOLERANCE = 1e-9
"""Relative difference allowed where nothing is random."""
FALSE_ALARM = 1e-9
"""Probability that a right law is called wrong, each time."""
ALIKE = 1e-8
"""Difference below which two draws are the same."""
REPEATS = 4
"""Coincidences of neighbouring draws that chance does not bring about."""
OUTPUTS = 96
"""Runs whose outputs are counted by block."""
RIGHT = PlainLoop()
"""Algorithm 2."""


@dataclass(frozen=True)
class LoopTrial:
    """One way to run Algorithm 2; the oracle answers ``slopes * sign(z) + curvature * z``, component by component."""

    id: str
    x0: tuple[float, ...]
    parameters: OuterParameters
    slopes: tuple[float, ...]
    curvature: float | tuple[float, ...]

    def oracle(self, z: Vector) -> Vector:
        """A fixed answer to every point."""
        return np.asarray(np.where(z >= 0, 1.0, -1.0) * np.array(self.slopes) + np.array(self.curvature) * z)


def _schedule(D: float, eta: float, M: int, K: int) -> OuterParameters:
    return OuterParameters(goldstein_radius=M * D, epsilon=0.1, D=D, eta=eta, M=M, K=K)


TRIALS = (
    LoopTrial("one-dimension/free", (0.7,), _schedule(0.5, 0.01, 10, 6), (0.5,), 1.0),
    LoopTrial("one-dimension/clipped", (0.4,), _schedule(0.02, 0.5, 10, 12), (1.0,), 0.5),
    LoopTrial("two-dimensions/clipped", (0.6, -0.3), _schedule(0.02, 0.05, 10, 12), (1.0, 2.0), 0.3),
    LoopTrial("two-dimensions/far", (60.0, -25.0), _schedule(1.5, 0.01, 5, 4), (1.0, 2.0), 0.3),
)
"""The smallest first: short steps, then clipped ones, in one dimension and in two; and far from 0."""
OUTPUT_TRIAL = LoopTrial("output", (1.0,), _schedule(0.1, 0.05, 1, 4), (0.2,), 1.0)
"""Four blocks of one step whose answers shrink: the best block, the last one and a uniform one differ."""


@dataclass(frozen=True)
class RecordedLoop:
    """One run with what was asked and answered."""

    trial: LoopTrial
    run: OuterRun
    z: Vector
    g: Vector

    @cached_property
    def steps(self) -> Vector:
        """Δ_1, ..., Δ_T, shape (T, n)."""
        return np.diff(self.run.path, axis=0)

    @cached_property
    def moments(self) -> FactorMoments:
        """Its steps, for factors."""
        return FactorMoments(self.trial, np.arange(1.0, len(self.z) + 1))

    @property
    def space(self) -> dict[str, Any]:
        """What the lines of a step made, by name: rows t = 1, ..., T; draws do not show."""
        q, S = self.trial.parameters, self.steps
        return {
            "x": self.run.path[:-1], "x_next": self.run.path[1:], "step": S, "z": self.z, "g": self.g, "total": 0 * S,
            "D": q.D, "eta": q.eta, "M": q.M, "K": q.K,
        }  # fmt: skip

    @cached_property
    def series(self) -> RunSeries:
        """Formulas over all its rows."""
        return RunSeries(self.space | {"path": self.run.path, "x_bar": self.run.x_bar}, self.trial.parameters.M)

    def blocks(self, rows: Vector) -> Vector:
        """Means by block, shape (K, n)."""
        shape = (self.trial.parameters.K, self.trial.parameters.M, -1)
        return np.asarray(rows.reshape(shape).mean(axis=1))


@dataclass(frozen=True)
class LoopComparison:
    """One line of the algorithm against a rule, on the trial where it was seen worst; beyond 1 its excess is real.

    ``difference`` is the difference itself, or the probability of the law's statistic.
    """

    part: str
    trial: str
    excess: float
    difference: float
    sentence: str
    expected: tuple[float, ...] = ()
    got: tuple[float, ...] = ()
    rule: str = ""
    """What must hold where no single number must come out: ``at most 0.02 long``."""

    @property
    def is_law(self) -> bool:
        """Whether what was compared is random."""
        return "where uniform" in self.sentence or "where fresh" in self.sentence

    @property
    def said(self) -> str:
        """The sentence with what came out and what must."""
        if self.is_law or not self.got:
            return self.sentence
        return f"{self.sentence} is {_listed(self.got)}, must be {self.rule or _listed(self.expected)}"


def _listed(values: tuple[float, ...]) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in values) + ")" if len(values) > 1 else f"{values[0]:.6g}"


class WrongNumberOfCallsError(Exception):
    """The subject does not ask T times."""


def record(stages: StageCalls, trial: LoopTrial, seed: int) -> RecordedLoop:
    """Run the subject on an oracle that remembers; refused if it does not ask T times."""
    heard, T = listen(stages, trial, seed), trial.parameters.T
    if len(heard.z) != T:
        raise WrongNumberOfCallsError(f"it asks the oracle {len(heard.z)} times instead of T = KM = {T}")
    return heard


def listen(stages: StageCalls, trial: LoopTrial, seed: int) -> RecordedLoop:
    """Run the subject on an oracle that remembers, however often it asks."""
    queries: list[Vector] = []

    def remembering(z: Vector) -> Vector:
        at = np.array(z, dtype=np.float64)
        if at.shape != (len(trial.x0),) or not np.isfinite(at).all():
            raise InvalidInputError("z", f"must be finite and of shape ({len(trial.x0)},)", at.tolist())
        queries.append(at)
        return trial.oracle(at)

    run = stages.optimise(remembering, np.array(trial.x0), trial.parameters, np.random.default_rng(seed))
    z = np.array(queries).reshape(-1, len(trial.x0))
    return RecordedLoop(trial, run, z, np.array([trial.oracle(at) for at in z]).reshape(z.shape))


@dataclass(frozen=True)
class LoopRecord:
    """Everything one subject was seen to do."""

    runs: tuple[RecordedLoop, ...]
    outputs: tuple[RecordedLoop, ...]


def watch(stages: StageCalls) -> LoopRecord:
    """Run all trials."""
    runs = tuple(record(stages, trial, seed) for seed, trial in enumerate(TRIALS))
    return LoopRecord(runs, tuple(record(stages, OUTPUT_TRIAL, 1000 + k) for k in range(OUTPUTS)))


def compare(seen: LoopRecord, rules: PlainLoop) -> list[LoopComparison]:
    """Each line of what was seen against one set of rules."""
    return [*compare_lines((*seen.runs, *seen.outputs[:4]), rules), _outputs(seen, rules)]


def compare_lines(every: Sequence[RecordedLoop], rules: PlainLoop) -> list[LoopComparison]:
    """Steps, queried points and block means of runs against one set of rules; where nothing is off, the worst."""
    return [
        _worst([_steps(one, rules) for one in every]),
        _queries(every, rules),
        _worst([_means(one, rules) for one in every]),
    ]


def _worst(comparisons: list[LoopComparison]) -> LoopComparison:
    return next((c for c in comparisons if c.excess > 1), max(comparisons, key=lambda c: c.excess))


def _compared(part: str, one: RecordedLoop, expected: Vector, got: Vector, what: str) -> LoopComparison:
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(got - expected)
        allowed = TOLERANCE * (np.abs(one.run.path).max() + np.abs(got) + np.abs(expected))
        ratio = np.nan_to_num(apart / allowed, nan=math.inf)
    excess, by_row = float(ratio.max(initial=0.0)), ratio.reshape(len(ratio), -1).max(axis=1)
    # The worst row, or the first that is off.
    row = int(np.argmax(by_row if excess <= 1 else by_row > 1))
    return LoopComparison(part, one.trial.id, excess, float(apart.max(initial=0.0)), what.format(row + 1, row),
                      tuple(expected[row].tolist()), tuple(got[row].tolist()))  # fmt: skip


def _steps(one: RecordedLoop, rules: PlainLoop) -> LoopComparison:
    expected = np.zeros_like(one.steps)
    expected[1:] = rules.line("step", "step_next", one.space)[:-1]
    comparison = _compared("steps", one, expected, one.steps, "step Δ_{0} = x_{0} - x_{1}")
    if rules is not RIGHT:
        return comparison
    return _wrong_start(one) or (comparison if comparison.excess <= 1 else _too_long(one, expected) or comparison)


def _wrong_start(one: RecordedLoop) -> LoopComparison | None:
    """The first iterate, where it is not the one that was given."""
    start = np.array(one.trial.x0)
    comparison = _compared("start", one, start[None], one.run.path[:1], "first iterate of the path")
    return comparison if comparison.excess > 1 else None


def _too_long(one: RecordedLoop, expected: Vector) -> LoopComparison | None:
    """The first step longer than D, if one is."""
    D, lengths = one.trial.parameters.D, np.linalg.norm(one.steps, axis=1)
    excess = (lengths - D) / (TOLERANCE * (np.abs(one.run.path).max() + D))
    if not (excess > 1).any():
        return None
    t = int(np.argmax(excess > 1)) + 1
    what = f"step Δ_{t} = x_{t} - x_{t - 1} ({lengths[t - 1]:.6g} long where D = {D:g} is the most)"
    return LoopComparison("steps", one.trial.id, float(excess.max()), float(lengths.max() - D), what,
                      tuple(expected[t - 1].tolist()), tuple(one.steps[t - 1].tolist()))  # fmt: skip


def _queries(every: Sequence[RecordedLoop], rules: PlainLoop) -> LoopComparison:
    fixed = rules.fixed_query
    comparisons, shares = [], []
    for one in every:
        if fixed:
            known = {name: value for name, value in one.space.items() if name != "z"}
            what, expected = "queried point z_{0}", rules.line("step", "z", known)
        else:
            s, off = along(one)
            what = "queried point z_{0}"
            expected = one.run.path[:-1] + np.clip(s, 0.0, 1.0)[:, None] * one.steps
            shares.append(s[off])
        line = _compared("queries", one, expected, one.z, what)
        comparisons.append(line if fixed else replace(line, rule=_segment(one, line)))
    worst = _worst(comparisons)
    if fixed or worst.excess > 1 or not sum(map(len, shares)):
        return worst
    stale = _not_fresh(shares)
    if stale:
        return LoopComparison("queries", every[0].trial.id, float(REPEATS), 0.0, stale)
    values = np.sort(np.concatenate(shares))
    R = len(values)
    ends = np.arange(R + 1) / R
    apart = float(np.max(np.maximum(ends[1:] - values, values - ends[:-1])))
    chance = float(special.kolmogorov(apart * math.sqrt(R)))
    sentence = (
        f"s_t over {R} steps has mean {values.mean():.3f} and standard deviation {values.std():.3f}, where uniform "
        f"ones have 0.5 and 0.289"
    )
    return LoopComparison("queries", every[0].trial.id, _surprise(chance), chance, sentence, (0.5, 0.2887),
                      (float(values.mean()), float(values.std())))  # fmt: skip


def _segment(one: RecordedLoop, worst: LoopComparison) -> str:
    """What must hold of the point that was found off: ``in [0.6, 0.7]``."""
    t = int(worst.sentence.rpartition("_")[2])
    start, end = one.run.path[t - 1], one.run.path[t]
    if len(start) == 1:
        return f"in [{min(start[0], end[0]):.9g}, {max(start[0], end[0]):.9g}], between x_{t - 1} and x_{t}"
    return f"on the segment from x_{t - 1} = {_listed(tuple(start))} to x_{t} = {_listed(tuple(end))}"


def _not_fresh(shares: list[Vector]) -> str:
    """In words, draws that repeat others or undo them; empty where they may be fresh ones."""
    pairs = sum(max(len(s) - 1, 0) for s in shares)
    same = sum(int((np.abs(np.diff(s)) < ALIKE).sum()) for s in shares)
    undone = sum(int((np.abs(s[1:] + s[:-1] - 1) < ALIKE).sum()) for s in shares)
    values = np.sort(np.concatenate(shares))
    copies = int((np.diff(values) < ALIKE).sum())
    if len(values) > REPEATS and float(np.ptp(values)) < ALIKE:
        return f"every s_t is {values[0]:.6g}, where fresh ones differ"
    if same >= REPEATS:
        return f"{same} of {pairs} neighbouring s_t are equal, where fresh ones differ"
    if undone >= REPEATS:
        return f"{undone} of {pairs} neighbouring s_t add up to 1, where fresh ones are independent"
    return f"{copies} of {len(values)} s_t repeat another, where fresh ones differ" if copies >= 2 * REPEATS else ""


def along(one: RecordedLoop) -> tuple[Vector, Any]:
    """Where on its segment each queried point lies, and which segments are long enough to say."""
    length = (one.steps**2).sum(axis=1)
    apart = ((one.z - one.run.path[:-1]) * one.steps).sum(axis=1)
    off = length > (1e-6 * one.trial.parameters.D) ** 2
    return np.divide(apart, length, out=np.zeros_like(apart), where=off), off


def _means(one: RecordedLoop, rules: PlainLoop) -> LoopComparison:
    expected = one.blocks(rules.line("step", "total_next", one.space))
    return _compared("means", one, expected, one.run.x_bar, "mean of block {0}")


def _outputs(seen: LoopRecord, rules: PlainLoop) -> LoopComparison:
    fixed = rules.fixed_output
    what = "output x_out" if fixed else "output x_out against the nearest block mean"
    trial = seen.outputs[0].trial if seen.outputs else OUTPUT_TRIAL
    comparisons, counts = [], np.zeros(trial.parameters.K)
    for one in (*seen.runs, *seen.outputs):
        run = one.run
        if fixed:
            space = {"x_bar": run.x_bar, "answers": one.blocks(one.g), "K": len(run.x_bar), "x": run.path[-1]}
            expected = rules.line("output", "x_out", space)
        else:
            away = np.linalg.norm(run.x_bar - run.x_out, axis=1)
            expected = run.x_bar[int(np.argmin(away))]
            if one.trial is trial:
                # Blocks of one mean cannot be told apart: each may have been the output.
                near = away <= away.min() + TOLERANCE * np.abs(run.path).max()
                counts += near / near.sum()
        comparisons.append(_compared("outputs", one, expected[None], run.x_out[None], what))
    worst = _worst(comparisons)
    if fixed or worst.excess > 1:
        return worst
    share = counts.sum() / len(counts)
    chance = float(special.chdtrc(len(counts) - 1, float(((counts - share) ** 2).sum() / share)))
    if not counts.all():
        # That a block never comes is less likely than its part of the square says.
        chance = min(chance, len(counts) * (1 - 1 / len(counts)) ** float(counts.sum()))
    sentence = (
        f"blocks were output {', '.join(f'{c:.3g}' for c in counts)} times in {len(seen.outputs)} runs, where "
        f"{'uniform' if counts.all() else 'fresh'} draws give {share:.0f} each on average"
    )
    return LoopComparison("outputs", trial.id, _surprise(chance), chance, sentence,
                      tuple([share] * len(counts)), tuple(counts.tolist()))  # fmt: skip


def _surprise(chance: float) -> float:
    """Above 1 exactly where the probability is below the allowed one."""
    return math.log(max(chance, 1e-300)) / math.log(FALSE_ALARM)
