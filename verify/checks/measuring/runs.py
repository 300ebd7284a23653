r"""Runs of the subject's Algorithm 2 on functions whose Goldstein distance is known, all it asked and was told on
record, and whether its random choices are uniform.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spec import OuterParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case
from verify.evidence.intervals import mean_interval
from verify.evidence.model import ComparisonEvidence
from verify.subjects.protocol import OuterRun, SubjectFaultError
from verify.truth.functions import WeightedAbsolute

Oracle = Callable[[Vector], Vector]


@dataclass(frozen=True)
class Recorded:
    """A run with the points z it asked about and the answers g, each of shape (T, n)."""

    run: OuterRun
    z: Vector
    g: Vector
    parameters: OuterParameters

    @property
    def steps(self) -> Vector:
        """The steps Δ_1, ..., Δ_T, shape (T, n)."""
        return np.asarray(np.diff(self.run.path, axis=0))

    def blocks(self, rows: Vector) -> Vector:
        """Rows grouped by block, shape (K, M, n)."""
        return rows.reshape(self.parameters.K, self.parameters.M, -1)


def record(case: Case, oracle: Oracle, x_0: Vector, parameters: OuterParameters) -> Recorded:
    """Run the subject's Algorithm 2 on an oracle that remembers.

    Raises:
        SubjectFaultError: If it does not ask T times.
    """
    asked: list[Vector] = []
    told: list[Vector] = []

    def remembering(z: Vector) -> Vector:
        answer = oracle(z)
        asked.append(np.array(z, dtype=np.float64))
        told.append(answer)
        return answer

    run = case.stages.optimise(remembering, x_0, parameters, case.rng)
    if len(asked) != parameters.T:
        raise SubjectFaultError(f"optimise asked the oracle {len(asked)} times instead of T = {parameters.T}")
    return Recorded(run, np.array(asked), np.array(told), parameters)


FUNCTION = WeightedAbsolute((1.0,))
RUNS = 3000
START = 0.3
"""The second segment leads from here to -0.7: its middle and its ends say nothing about the kink's place on it."""

ACROSS = OuterParameters(goldstein_radius=2.0, epsilon=0.1, D=1.0, eta=1.0, M=2, K=1)

TOWARDS = OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.1, eta=1.0, M=1, K=4)
"""Four blocks on the way to the kink: far from it, far, near or far by chance, near."""


def uniform_point(case: Case) -> ComparisonEvidence:
    """Mean of ⟨∇F(z), Δ⟩ at the points the subject asks on a segment across a kink, against the change of F."""
    asked: list[Vector] = []

    def oracle(z: Vector) -> Vector:
        asked.append(np.array(z))
        return FUNCTION.gradient(z)

    runs = case.share.times(RUNS)
    _, path = case.stages.optimise_runs(oracle, np.full((runs, 1), START), ACROSS, case.rng, keep_path=True)
    assert path is not None  # asked for
    # One run after another, or all at once: the second question of each.
    z = asked[1] if len(asked) == ACROSS.T and len(asked[1]) == runs else np.array(asked[1::2]).reshape(-1, 1)
    step = path[2] - path[1]
    inner = (FUNCTION.gradient(z[: len(step)]) * step).sum(axis=1)
    change = FUNCTION.value(path[2]) - FUNCTION.value(path[1])
    quantity = "mean of ⟨∇F(z), Δ⟩ less the change of F, on a segment across a kink"
    return _near_zero(case, inner - change, 2.0, quantity, wanted=0.5)


def uniform_block(case: Case) -> ComparisonEvidence:
    """Distance of the outputs against the mean distance of their runs' blocks."""
    found = []
    for _ in range(case.share.times(RUNS)):
        run = case.stages.optimise(FUNCTION.gradient, np.array([START + 0.05]), TOWARDS, case.rng)
        radius = TOWARDS.goldstein_radius
        found.append(float(FUNCTION.distance(run.x_out, radius) - FUNCTION.distance(run.x_bar, radius).mean()))
    quantity = "expected distance of the output less the mean over its run's blocks"
    return _near_zero(case, np.array(found), 1.0, quantity, wanted=0.35)


def _near_zero(case: Case, values: Vector, size: float, quantity: str, *, wanted: float) -> ComparisonEvidence:
    """The mean of independent values in [-size, size] against 0."""
    low, high = mean_interval(values + size, 2 * size, case.share.single.error)
    missed_low, missed_high = mean_interval(values + size, 2 * size, case.share.missed)
    mean = float(values.mean())
    tolerance = max(high - size - mean, mean - (low - size))
    return ComparisonEvidence(
        quantity=quantity, measured=mean, relation="==", predicted=0.0, tolerance=tolerance, rung="statistical",
        error_rate=case.share.error, detectable=2 * tolerance + (missed_high - missed_low) / 2, wanted=wanted,
        power=1 - case.share.missed, samples=len(values), law="bounded mean (Bernstein)",
    )  # fmt: skip
