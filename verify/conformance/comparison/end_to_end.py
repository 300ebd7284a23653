"""Algorithm 2 in an optimiser that computes its hypergradients itself: what its iterates alone let one judge.

It is run on problems whose hypergradient is known at every point, to the stopping rule's error: steps are then known,
or lie in an interval, as the point of the segment that was asked about is not. Blocks of one step show where that was.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import special

from spec import OuterParameters, parse_problem
from spec.exact import Vector
from verify.conformance.found import Divergence, StageFinding
from verify.subjects import SubjectFaultError
from verify.subjects.protocol import OuterRun, StageCalls, offers
from verify.subjects.stage_table import END_TO_END

ALPHA = 0.05
"""Accuracy of its oracle calls."""
TOLERANCE = 1e-6
"""Relative difference allowed where a value is known."""
FALSE_ALARM = 1e-9
"""Probability that a right law is called wrong, each time."""
OUTPUTS = 96
"""Runs whose outputs are counted by block."""


@dataclass(frozen=True)
class EndToEndTrial:
    """A problem with ∇F(x) = slope + curvature ∘ x, known to within ``error``, and how Algorithm 2 is run on it."""

    id: str
    data: dict[str, Any]
    x0: tuple[float, ...]
    parameters: OuterParameters
    slope: tuple[float, ...]
    curvature: float = 0.0
    error: float = 0.0

    def run(self, stages: StageCalls, seed: int) -> OuterRun:
        """One run; raises where it crashes or answers nothing."""
        problem, x0 = parse_problem(self.data), np.array(self.x0)
        return stages.end_to_end(problem, x0, self.parameters, ALPHA, np.random.default_rng(seed))


def _schedule(D: float, eta: float, M: int, K: int) -> OuterParameters:
    return OuterParameters(goldstein_radius=M * D, epsilon=0.1, D=D, eta=eta, M=M, K=K)


def _slack(n: int) -> dict[str, Any]:
    return {"A": [[0] * n], "B": [[1]], "b": [100]}


_ONE: dict[str, Any] = {"kind": "quadratic", "g": {"yy": [[1]]}, "constraints": _slack(1)}
_BENT = _ONE | {"f": {"xx": [[1]], "x": ["1/2"]}}


def upper_problem(slope: Sequence[float], curvature: float = 0.0) -> dict[str, Any]:
    """A problem with ∇F(x) = slope + curvature·x, in which y has no part."""
    told, n = [str(Fraction(value)) for value in slope], len(slope)
    bent = (
        {"xx": [[str(Fraction(curvature)) if i == j else 0 for j in range(n)] for i in range(n)]} if curvature else {}
    )
    return {"kind": "quadratic", "f": {"x": told} | bent, "g": {"yy": [[1]]}, "constraints": _slack(n)}


_THROUGH_Y = _ONE | {"f": {"y": [1]}, "g": {"yy": [[1]], "xy": [[-2]]}}
TRIALS = (
    EndToEndTrial("free", _BENT, (0.7,), _schedule(0.5, 0.01, 5, 6), (0.5,), 1.0),
    EndToEndTrial("clipped", _BENT, (0.9,), _schedule(0.02, 0.5, 5, 6), (0.5,), 1.0),
    EndToEndTrial("two-dimensions", upper_problem((1.0, 2.0)), (0.6, -0.3), _schedule(0.02, 0.005, 5, 6), (1.0, 2.0)),
    # The whole gradient comes through y*; the penalty solve's allowed error α reaches the estimate twice over.
    EndToEndTrial("through-y", _THROUGH_Y, (0.7,), _schedule(0.5, 0.01, 5, 6), (2.0,), 0.0, 3 * ALPHA),
)
LONG = EndToEndTrial("blocks-of-one", _BENT, (0.7,), _schedule(0.5, 0.001, 1, 200), (0.5,), 1.0)
"""Its block means are the queried points."""
OUTPUT = EndToEndTrial("output", _BENT, (1.0,), _schedule(0.1, 0.05, 1, 4), (0.5,), 1.0)


@dataclass(frozen=True)
class Held:
    """One rule on one run: what came out, between what it must lie, and Python that computes it from ``run``."""

    trial: EndToEndTrial
    seed: int
    sentence: str
    got: Vector
    low: Vector
    high: Vector
    code: tuple[str, ...]

    @property
    def excess(self) -> float:
        """Beyond 1 where it is broken: distance from the interval in tolerances."""
        apart = np.maximum(np.maximum(self.low - self.got, self.got - self.high), 0.0)
        return float(1.0 + np.max(apart) / TOLERANCE) if np.any(apart > 0) else 0.0

    @property
    def middle(self) -> tuple[float, ...]:
        """What was expected, as numbers: the middle of the interval, or its lower end."""
        return tuple(np.where(np.isfinite(self.high), (self.low + self.high) / 2, self.low).tolist())

    @property
    def said(self) -> str:
        """What came out and what must, in the entry that is furthest off."""
        at = int(np.argmax(np.maximum(self.low - self.got, self.got - self.high)))
        low, high = self.low[at], self.high[at]
        near = high - low <= 4 * TOLERANCE * (1 + abs(low))
        must = f"{(low + high) / 2:.6g}" if near else f"in [{low:.6g}, {high:.6g}]"
        return f"{self.sentence} is {self.got[at]:.6g}, must be {must}"


def is_offered(stages: StageCalls) -> bool:
    """Whether a subject is such an optimiser."""
    return offers(stages.subject, END_TO_END)


def tried_end_to_end(stages: StageCalls) -> str:
    """What its first run looks like; raises where it crashes or its answer is none."""
    run = TRIALS[0].run(stages, 0)
    means = f"x_bar {run.x_bar.shape}" if len(run.x_bar) else "no x_bar"
    return f"x_out {run.x_out.shape}, {means}, path {run.path.shape}"


def judge_end_to_end(stages: StageCalls) -> StageFinding:
    """Hold each rule, and say which is broken first.

    Raises:
        SubjectFaultError: If it crashes or its answer is none.
    """
    held = list(_all_rules(stages))
    wrong = [one for one in held if one.excess > 0]
    worst = max(one.excess for one in held)
    if not wrong:
        sentence = "Steps, block means and outputs of a whole optimiser follow Algorithm 2 as far as its iterates show."
        return StageFinding(stage="optimise", status="agrees", sentence=sentence, compared=len(held), worst=worst)
    first = wrong[0]
    return StageFinding(
        stage="optimise", status="diverges", compared=len(held), diverging=len(wrong), worst=worst,
        sentence=f"{len(wrong)} of {len(held)} rules are broken; first on {first.trial.id}: {first.said}.",
        divergence=Divergence(probe=first.trial.id, what=first.sentence, expected=first.middle,
                              got=tuple(first.got.tolist()), excess=first.excess),
    )  # fmt: skip


def first_broken(stages: StageCalls) -> Held | None:
    """The first rule that does not hold; ``None`` where all do, or where it crashes."""
    try:
        return next((one for one in _all_rules(stages) if one.excess > 0), None)
    except SubjectFaultError:
        return None


def _all_rules(stages: StageCalls) -> Iterator[Held]:
    for seed, trial in enumerate(TRIALS):
        run = trial.run(stages, seed)
        yield from _of_steps(trial, seed, run)
        yield from _of_means(trial, seed, run)
    run = LONG.run(stages, 10)
    yield from _of_steps(LONG, 10, run)
    yield from _of_means(LONG, 10, run)
    if len(run.x_bar):
        yield _of_shares(run)
        yield _of_outputs([OUTPUT.run(stages, 1000 + k) for k in range(OUTPUTS)])


def _of_steps(trial: EndToEndTrial, seed: int, run: OuterRun) -> Iterator[Held]:
    """The start, the first step, and each next one from the one before and the gradients along it."""
    q, path = trial.parameters, run.path
    steps, room = np.diff(path, axis=0), TOLERANCE * (np.abs(path).max() + trial.parameters.D)
    start = np.array(trial.x0)
    yield Held(trial, seed, "x_0", path[0], start - room, start + room, ("got = run.path[0]",))
    yield Held(trial, seed, "the first step x_1 - x_0", steps[0], 0 * start - room, 0 * start + room,
               ("got = run.path[1] - run.path[0]",))  # fmt: skip
    ends = np.sort(np.stack([path[:-1], path[1:]]), axis=0)
    slope = np.array(trial.slope)
    for t in range(1, len(steps)):
        least, most = (slope + trial.curvature * end[t - 1] for end in ends)
        low, high = (_clipped(steps[t - 1] - q.eta * g, q.D) for g in (most + trial.error, least - trial.error))
        yield Held(trial, seed, f"step Δ_{t + 1} = x_{t + 1} - x_{t}", steps[t], low - room, high + room,
                   (f"got = run.path[{t + 1}] - run.path[{t}]",))  # fmt: skip


def _clipped(step: Vector, D: float) -> Vector:
    return np.asarray(step * min(1.0, D / max(float(np.linalg.norm(step)), 1e-300)))


def _of_means(trial: EndToEndTrial, seed: int, run: OuterRun) -> Iterator[Held]:
    """Block means lie between those of the segments' ends; the output is one of them."""
    q, path = trial.parameters, run.path
    room = TOLERANCE * (np.abs(path).max() + q.D)
    ends = np.sort(np.stack([path[:-1], path[1:]]), axis=0).reshape(2, q.K, q.M, -1).mean(axis=2)
    for k, mean in enumerate(run.x_bar):
        yield Held(trial, seed, f"mean of block {k + 1}", mean, ends[0, k] - room, ends[1, k] + room,
                   (f"got = run.x_bar[{k}]",))  # fmt: skip
    if len(run.x_bar):
        nearest = run.x_bar[int(np.linalg.norm(run.x_bar - run.x_out, axis=1).argmin())]
        yield Held(trial, seed, "the output against the nearest block mean", run.x_out, nearest - room, nearest + room,
                   ("got = run.x_out",))  # fmt: skip
        return
    inside = np.all((ends[0] - room <= run.x_out) & (run.x_out <= ends[1] + room), axis=1)
    k = int(np.argmax(inside)) if inside.any() else int(np.linalg.norm(ends.mean(axis=0) - run.x_out, axis=1).argmin())
    yield Held(trial, seed, f"the output against block {k + 1}, the nearest", run.x_out, ends[0, k] - room,
               ends[1, k] + room, ("got = run.x_out",))  # fmt: skip


def _of_shares(run: OuterRun) -> Held:
    """Where on its segment each block of one step lies: uniform, by Kolmogorov's distance."""
    steps = np.diff(run.path, axis=0)[1:, 0]
    shares = np.sort((run.x_bar[1:, 0] - run.path[1:-1, 0]) / np.where(steps == 0, 1e-300, steps))
    ends = np.arange(len(shares) + 1) / len(shares)
    distance = float(np.maximum(ends[1:] - shares, shares - ends[:-1]).max()) * math.sqrt(len(shares))
    code = (
        "steps = np.diff(run.path, axis=0)[1:, 0]",
        "s = np.sort((run.x_bar[1:, 0] - run.path[1:-1, 0]) / np.where(steps == 0, 1e-300, steps))",
        "ends = np.arange(len(s) + 1) / len(s)",
        "got = np.array([np.maximum(ends[1:] - s, s - ends[:-1]).max() * np.sqrt(len(s))])",
    )
    bound = float(special.kolmogi(FALSE_ALARM))
    what = f"distance of s_t from uniform (mean {shares.mean():.3f}), times the root of {len(shares)} steps,"
    return Held(LONG, 10, what, np.array([distance]), np.zeros(1), np.array([bound]), code)


def _of_outputs(runs: Sequence[OuterRun]) -> Held:
    """Which block is output: each as often as any other, by chi squared."""
    K = OUTPUT.parameters.K
    nearest = [int(np.linalg.norm(run.x_bar - run.x_out, axis=1).argmin()) for run in runs]
    counts = np.bincount(nearest, minlength=K)
    share = len(runs) / K
    code = (
        f"runs = [solved(1000 + k) for k in range({len(runs)})]",
        "nearest = [int(np.linalg.norm(run.x_bar - run.x_out, axis=1).argmin()) for run in runs]",
        f"counts = np.bincount(nearest, minlength={K})",
        "print(counts)",
        f"got = np.array([((counts - {share!r}) ** 2).sum() / {share!r}])",
    )
    what = f"chi squared of the blocks that were output ({', '.join(map(str, counts))} times)"
    got, bound = float(((counts - share) ** 2).sum() / share), float(special.chdtri(K - 1, FALSE_ALARM))
    return Held(OUTPUT, 1000, what, np.array([got]), np.zeros(1), np.array([bound]), code)
