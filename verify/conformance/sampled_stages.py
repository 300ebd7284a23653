"""The oracle call under noise, its stages given: mean, variance against N_g and alpha, and correlation."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spec import Noise, OracleParameters, Quadratic
from spec.exact import Vector
from verify.conformance.places import place_of
from verify.conformance.probe_set import NOISES, n_of, off_truth
from verify.conformance.probes import Probe
from verify.conformance.signatures import Signature, Statistic, of_law, of_samples
from verify.subjects import Call, MissingCapabilityError
from verify.subjects.protocol import Stages

SAMPLES = 1500
FIRST = 32
"""Samples of the first block, which also tells how long one takes."""
FEWEST = 64
"""Below this many samples a setting says nothing."""
ADDITIVE, MATRIX = NOISES


@dataclass(frozen=True)
class Setting:
    """Where the estimate is sampled, every stage given; the probe is the call without noise, its answer the mean."""

    id: str
    probe: Probe
    noise: Noise
    N_g: int

    @property
    def problem(self) -> Quadratic:
        """The noisy problem."""
        problem: Any = self.probe.problem
        # A copy keeps the arrays made once: subjects are asked thousands of times.
        noisy: Quadratic = problem.model_copy(update={"noise": self.noise})
        return noisy

    @property
    def call(self) -> Call:
        """The call."""
        return replace(self.probe.call, parameters=OracleParameters(N_g=self.N_g))

    @property
    def deviation(self) -> float:
        """Standard deviation of a component of an estimate: common draws, so additive noise of g cancels."""
        call, x = self.probe.call, self.probe.x
        y: Any = call.y_penalty
        w = y - call.y_star
        square = self.noise.scale("f.x") ** 2
        if self.noise.model == "matrix":
            square = square * float(x @ x + y @ y) + call.alpha**-4 * self.noise.scale("g.x") ** 2 * float(w @ w)
        return float(np.sqrt(square / self.N_g))

    def draw(self, stages: Stages, count: int, rng: np.random.Generator) -> Vector:
        """Estimates, shape (count, n)."""
        return stages.hypergradient_samples(self.problem, self.probe.x, self.call, rng, count)


def settings() -> tuple[Setting, ...]:
    """All of them: both noises, two alphas, small and large batches; the smallest problem first."""
    toy, two = place_of("toy1"), place_of("two-of-three")
    return (
        Setting("toy1/additive/0.1/N_g=1", off_truth(toy, 0.1), ADDITIVE, 1),
        Setting("toy1/additive/0.05/N_g=4", off_truth(toy, 0.05), ADDITIVE, 4),
        Setting("two-of-three/additive/0.1/N_g=1", off_truth(two, 0.1), ADDITIVE, 1),
        Setting("two-of-three/additive/0.1/N_g=4", off_truth(two, 0.1), ADDITIVE, 4),
        Setting("two-of-three/matrix/0.1/N_g=2", off_truth(two, 0.1), MATRIX, 2),
        Setting("two-of-three/additive/0.1/N_g=1024", off_truth(two, 0.1), ADDITIVE, 1024),
    )


@dataclass(frozen=True)
class Sampled:
    """What a subject's samples look like, and should: statistics by setting.

    Args:
        counts: Samples by setting; 0 where there was no time for any.
        refused: What the subject said about settings that it does not support.
    """

    signature: Signature
    law: Signature
    counts: dict[str, int]
    seconds_a_call: float
    refused: dict[str, str] = field(default_factory=dict)


def sample(stages: Stages, seconds: float, counts: dict[str, int] | None = None, stream: int = 0) -> Sampled:
    """Draw as many estimates as the time allows, at most :data:`SAMPLES` a setting.

    Args:
        stages: The subject's.
        seconds: Time for all settings.
        counts: Sample sizes to use instead.
        stream: Which of the independent random streams is handed over.

    Raises:
        SubjectFaultError: If a call crashes or its answer is none.
        MissingCapabilityError: If the subject supports no setting at all.
    """
    signature: dict[str, Statistic] = {}
    law: dict[str, Statistic] = {}
    used: dict[str, int] = {}
    refused: dict[str, str] = {}
    chosen, spent, slowest = settings(), 0.0, 0.0
    for position, setting in enumerate(chosen):
        share = max(0.0, seconds - spent) / (len(chosen) - position)
        wanted = SAMPLES if counts is None else counts[setting.id]
        started = time.perf_counter()
        try:
            found = _drawn(setting, stages, wanted, share, stream)
        except MissingCapabilityError as refusal:
            refused[setting.id], used[setting.id] = str(refusal), 0
            if len(refused) == len(chosen):
                raise
            continue
        spent += time.perf_counter() - started
        slowest = max(slowest, (time.perf_counter() - started) / (len(found) or 4))
        used[setting.id] = len(found) if len(found) >= FEWEST else 0
        if len(found) >= FEWEST:
            signature |= of_samples(found, setting.probe.expected, setting.deviation, setting.id)
            law |= of_law(len(setting.probe.x), setting.id)
    return Sampled(signature, law, used, slowest, refused)


def _seconds_of_two(setting: Setting, stages: Stages) -> float:
    """Time of two estimates that are not kept; asked again for subjects that compile when first called."""
    started = time.perf_counter()
    setting.draw(stages, 2, np.random.default_rng(0))
    return time.perf_counter() - started


def _drawn(setting: Setting, stages: Stages, wanted: int, seconds: float, stream: int) -> Vector:
    """As many of the wanted estimates as the time allows, in growing blocks."""
    rng = np.random.default_rng([n_of(setting.id), stream])
    blocks, done = [np.zeros((0, len(setting.probe.x)))], 0
    if wanted and min(_seconds_of_two(setting, stages), _seconds_of_two(setting, stages)) / 2 * FEWEST > 2 * seconds:
        return blocks[0]
    started = time.perf_counter()
    size = FIRST
    while done < wanted:
        size = min(size, wanted - done)
        spent = time.perf_counter() - started
        if done and spent + size * spent / done > seconds:
            size = int((seconds - spent) * done / spent)
            if size < FIRST:
                break
        blocks.append(setting.draw(stages, size, rng))
        done += size
        size *= 4
    return np.concatenate(blocks)
