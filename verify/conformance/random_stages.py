"""Random stages: estimates under noise and runs of the inner solvers, as named statistics with their errors.

Estimates have their stages given; mean, variance against N_g and alpha, and correlation are compared with their law.
Runs of inner solvers are compared with the reference's where the protocol settles their law, else by their counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from spec import REPAIRED, Noise, OracleParameters, Quadratic
from spec.exact import Vector
from verify.conformance.places.places import place_of, with_noise
from verify.conformance.probes.probes import NOISES, Probe, n_of, off_truth
from verify.subjects import Call, Capability, MissingCapabilityError, ReferenceSubject
from verify.subjects.protocol import StageCalls
from verify.subjects.stage_table import Stage
from verify.truth.formulas import as_float
from verify.truth.stages import evaluate

SURE = 6.0
"""Standard errors beyond which two numbers differ: about 2e-9 for a normal law, 1e-6 for some hundreds together."""
ROUNDING = 1e-9
"""Relative difference below which two numbers are the same whatever their errors."""
COINCIDENCE = 0.05
"""Error granted to the share of estimates that others undo: rounding may hide a few."""
SILENT = -60.0
"""Logarithm shown for a variance of 0."""
SAMPLES = 1500
FIRST = 32
"""Samples of the first call."""
ALIKE = 5 * FIRST
"""Equal estimates, of the first two calls, that settle that there is no noise: fair coins never fall alike so often."""
RUN_STAGES: tuple[Capability, ...] = ("lower_level_runs", "penalty_runs", "hypergradient_runs")
RUNS = 400
STEPS = 64
ADDITIVE, MATRIX = NOISES
ONLY_G = Noise(model="matrix", sigma_f="0", sigma_g="1/5")  # type: ignore[arg-type]  # exact spellings are parsed
"""Noise of f would drown that of g."""


@dataclass(frozen=True)
class Statistic:
    """One number with its standard error, 0 where it is exact, and what it is in words."""

    value: float
    error: float
    shown: str

    def apart(self, other: Statistic) -> float:
        """Difference in units of what chance and rounding allow; beyond 1 it is real."""
        if not (math.isfinite(self.value) and math.isfinite(other.value)):
            return 0.0 if self.value == other.value else math.inf
        size = abs(self.value) + abs(other.value)
        allowed = SURE * math.hypot(self.error, other.error) + ROUNDING * max(1.0, size)
        return abs(self.value - other.value) / allowed


Signature = Mapping[str, Statistic]
WIDER = 2.0
"""How much larger than the law's a statistic's own standard error may be."""


def distance(first: Signature, second: Signature) -> float:
    """The largest difference of two signatures in allowed units."""
    return max((first[name].apart(second[name]) for name in first if name in second), default=0.0)


@dataclass(frozen=True, eq=False)
class StageSetting:
    """Where a random stage is asked many times over; estimates have a mean, that of the call without noise."""

    id: str
    stage: Stage
    problem: Quadratic
    x: Vector
    call: Call
    mean: Vector = field(default_factory=lambda: np.zeros(0))

    @property
    def deviation(self) -> float:
        """Standard deviation of a component of an estimate: common draws, so additive noise of g cancels."""
        call, x, noise = self.call, self.x, self.problem.noise
        y: Any = call.y_penalty
        w = y - call.y_star
        square = noise.scale("f.x") ** 2
        if noise.model == "matrix":
            square = square * float(x @ x + y @ y) + call.alpha**-4 * noise.scale("g.x") ** 2 * float(w @ w)
        return float(np.sqrt(square / call.parameters.N_g))

    def quiet(self, stages: StageCalls) -> Vector:
        """The subject's own estimate without noise, shape (n,)."""
        return stages.hypergradient(with_noise(self.problem, Noise()), self.x, self.call)

    @property
    def settled(self) -> bool:
        """Whether the protocol settles the law of the runs, so that another law is a divergence by itself."""
        return self.stage == "lower_level_runs"

    @property
    def fewest_gradients(self) -> float:
        """A count below this left something out: a fresh call takes at least one sample a lower-level step."""
        fresh = self.stage == "hypergradient_runs" and self.call.reading.inner_solver != "shared-sample"
        return float(self.call.parameters.lower_level_steps) if fresh else 0.0

    def draw(self, stages: StageCalls, count: int, rng: np.random.Generator) -> Any:
        """What the stage answers: estimates, shape (count, n), or the parts of that many runs."""
        return getattr(stages, self.stage)(self.problem, self.x, self.call, rng, count)

    def of_runs(self, stages: StageCalls, runs: int = RUNS) -> dict[str, Statistic]:
        """Means and spreads of an inner solver's results, and the count of samples."""
        first, second = self.draw(stages, runs, np.random.default_rng([n_of(self.id), runs]))
        if self.stage == "lower_level_runs":
            return _moments(np.hstack([first, second]), self.id)
        count = Statistic(float(second), 0.0, "gradient samples a run")
        return _moments(first, self.id) | {f"{self.id}: samples": count}


def under_noise(id_: str, probe: Probe, noise: Noise, N_g: int) -> StageSetting:
    """Where the estimate is sampled, every stage given by a probe, which is the call without noise."""
    call = replace(probe.call, parameters=OracleParameters(N_g=N_g))
    return StageSetting(id_, "hypergradient_samples", with_noise(probe.problem, noise), probe.x, call, probe.expected)


def sample_settings() -> tuple[StageSetting, ...]:
    """Of estimates: both noises, that of g alone, two alphas, small and large batches; the smallest problem first."""
    toy, two = place_of("toy1"), place_of("two-of-three")
    return (
        under_noise("toy1/additive/0.1/N_g=1", off_truth(toy, 0.1), ADDITIVE, 1),
        under_noise("toy1/additive/0.05/N_g=4", off_truth(toy, 0.05), ADDITIVE, 4),
        under_noise("two-of-three/additive/0.1/N_g=1", off_truth(two, 0.1), ADDITIVE, 1),
        under_noise("two-of-three/additive/0.1/N_g=4", off_truth(two, 0.1), ADDITIVE, 4),
        under_noise("two-of-three/matrix/0.1/N_g=2", off_truth(two, 0.1), MATRIX, 2),
        under_noise("two-of-three/matrix of g/0.05/N_g=4", off_truth(two, 0.05), ONLY_G, 4),
        under_noise("two-of-three/additive/0.1/N_g=1024", off_truth(two, 0.1), ADDITIVE, 1024),
    )


def run_settings() -> tuple[StageSetting, ...]:
    """Of the noisy inner solvers."""
    steps = OracleParameters(lower_level="primal-dual", lower_level_steps=STEPS, eta_y=0.25, eta_lam=0.25)
    place, shared = place_of("toy1"), REPAIRED.choose(inner_solver="shared-sample")
    rho = as_float(evaluate(place.setting(alpha=Fraction(1, 5))).rho)
    budget = OracleParameters(penalty_steps=20, shared_samples=16)
    given = Call(alpha=0.2, reading=shared, y_star=place.y_star, lam=place.lam, rho=rho, parameters=budget)
    whole = budget.model_copy(update={"lower_level": "primal-dual", "lower_level_steps": STEPS})
    call = Call(alpha=0.2, reading=shared, parameters=whole)
    pairs = (
        (f"{name}/{solver}/{STEPS} steps", Call(0.1, REPAIRED.choose(inner_solver=solver), steps))
        for name in ("concave-upper", "toy1")
        for solver in ("averaged", "constant-step")
    )
    return (
        *(_runs(id_, "lower_level_runs", call) for id_, call in pairs),
        _runs("toy1/shared penalty", "penalty_runs", given),
        _runs("toy1/shared call", "hypergradient_runs", call),
        _runs("toy1/fresh call", "hypergradient_runs", replace(call, reading=REPAIRED)),
    )


def _runs(id_: str, stage: Stage, call: Call) -> StageSetting:
    place = place_of(id_.partition("/")[0])
    return StageSetting(id_, stage, with_noise(place.problem, ADDITIVE), place.point, call)


def known_runs(stages: StageCalls, offered: Iterable[str] = RUN_STAGES) -> dict[str, Statistic]:
    """What the inner solvers of a known subject give; drawn from streams of their own, by one run more."""
    wanted = [setting for setting in run_settings() if setting.stage in offered]
    return {k: v for setting in wanted for k, v in setting.of_runs(stages, RUNS + 1).items()}


@lru_cache(maxsize=1)
def reference_runs() -> dict[str, Statistic]:
    """What the inner solvers' results look like."""
    return known_runs(StageCalls(ReferenceSubject()))


@dataclass(frozen=True)
class Sampled:
    """What a subject's samples look like.

    ``counts`` are samples by setting, 0 where it supports none; ``refused`` is what the subject said about these.
    """

    signature: Signature
    counts: dict[str, int]
    refused: dict[str, str]
    ended: bool = False
    """Whether an interrupt left out the other settings."""
    settings: tuple[StageSetting, ...] = ()
    """Where they were drawn."""

    @property
    def law(self) -> Signature:
        """What they should look like: every statistic is 0 then."""
        return dict.fromkeys(self.signature, Statistic(0.0, 0.0, ""))


def sample(
    stages: StageCalls,
    counts: dict[str, int] | None = None,
    stream: int = 0,
    *,
    own_mean: bool = False,
    settings: tuple[StageSetting, ...] = (),
) -> Sampled:
    """Draw :data:`SAMPLES` estimates a setting.

    ``counts`` are sample sizes to use instead, ``stream`` which of the independent random streams is handed over;
    ``own_mean`` compares with the subject's own answer without noise, where that is known to be off; ``settings`` are
    asked instead of the usual ones. A subject that supports no setting at all is refused with its own words.
    """
    signature: dict[str, Statistic] = {}
    used: dict[str, int] = {}
    refused: dict[str, str] = {}
    chosen = settings or sample_settings()
    for setting in chosen:
        wanted = SAMPLES if counts is None else counts[setting.id]
        try:
            estimates = _drawn(setting, stages, wanted, stream)
        except MissingCapabilityError as refusal:
            refused[setting.id], used[setting.id] = str(refusal), 0
            if len(refused) == len(chosen):
                raise
            continue
        except KeyboardInterrupt:
            return Sampled(signature, used, refused, ended=True, settings=chosen)
        used[setting.id] = len(estimates)
        if len(estimates):
            mean = setting.quiet(stages) if own_mean else setting.mean
            signature |= of_samples(estimates, mean, setting.deviation, setting.id)
    return Sampled(signature, used, refused, settings=chosen)


def _drawn(setting: StageSetting, stages: StageCalls, wanted: int, stream: int) -> Vector:
    """The wanted estimates in several calls of growing size: what a call repeats of the one before shows.

    Where the first :data:`ALIKE` never differ there is no noise, and no more are asked for.
    """
    rng = np.random.default_rng([n_of(setting.id), stream])
    blocks, done, size = [np.zeros((0, len(setting.x)))], 0, FIRST
    while done < wanted:
        blocks.append(setting.draw(stages, min(size, wanted - done), rng))
        done += len(blocks[-1])
        size *= 4
        if done >= ALIKE and (blocks[1] == blocks[1][0]).all() and (blocks[-1] == blocks[1][0]).all():
            break
    return np.concatenate(blocks)


def of_samples(samples: Vector, centre: Vector, unit: float, prefix: str) -> dict[str, Statistic]:
    """Mean, spread, repetition and correlation of vectors that should be independent, isotropic and Gaussian.

    ``samples`` of shape (R, n), R >= 8, should have mean ``centre`` and standard deviation ``unit`` in each component.
    """
    R, n = samples.shape
    off = (samples - centre) / unit
    mean = off.mean(axis=0)
    centred = off - mean
    squares = (centred**2).sum(axis=0) / (R - 1)
    spread = float(squares.mean())
    rounding = 1e-10 * (1.0 + float(np.abs(centre).max(initial=0.0)) / unit)
    silent = spread <= rounding**2
    # How many independent numbers a sample counts for: n where the components are alike.
    degrees = float(squares.sum() ** 2 / (squares**2).sum()) if not silent else float(n)
    logarithm, error = (SILENT, 0.0) if silent else (math.log(spread), math.sqrt(2.0 / (degrees * (R - 1))))
    statistics = {"log variance": Statistic(logarithm, error, "log of the variance over its law's")}
    for i, value in enumerate(mean, 1):
        error = math.sqrt(squares[i - 1] / R) + rounding
        statistics[f"mean of component {i}"] = Statistic(float(value), error, "shift in standard deviations of its law")
    repeated = 1.0 - len(np.unique(np.ascontiguousarray(samples), axis=0)) / R
    statistics["repeated"] = Statistic(repeated, 0.0, "share of estimates that are copies")
    if not silent:
        lag = float((centred[1:] * centred[:-1]).sum() / ((R - 1) * n * spread))
        statistics["correlation"] = Statistic(lag, 1.0 / math.sqrt(degrees * (R - 1)), "of neighbouring estimates")
        statistics["opposites"] = Statistic(_opposites(off), COINCIDENCE, "share of estimates that others undo")
    if n > 1 and not silent:
        statistics |= _of_components(centred / math.sqrt(spread))
    return {f"{prefix}: {name}": statistic for name, statistic in statistics.items()}


def _opposites(off: Vector) -> float:
    """Share of rows that are another's negative, up to rounding."""
    rows = np.round(off, 9)
    both = np.vstack([rows, -rows]) + 0.0  # no negative zeros
    return 2.0 - len(np.unique(both, axis=0)) / len(rows)


def _of_components(rows: Vector) -> dict[str, Statistic]:
    """Whether components are alike and independent: each one's variance, and the correlation of neighbours."""
    R = len(rows)
    squares = (rows**2).sum(axis=0) / (R - 1)
    joint = float((rows[:, 1:] * rows[:, :-1]).mean())
    return {
        f"log variance of component {i}": Statistic(
            math.log(square) if square > 0 else SILENT, math.sqrt(2.0 / (R - 1)), "log of its share of the variance"
        )
        for i, square in enumerate(squares, 1)
    } | {"components": Statistic(joint, 1.0 / math.sqrt(R), "correlation of neighbouring components")}


def held_to(signature: Signature, law: Signature) -> dict[str, Statistic]:
    """Statistics with errors of the law's size at most: one run far out must not excuse all others."""
    return {
        name: replace(one, error=min(one.error, WIDER * law[name].error)) if name in law else one
        for name, one in signature.items()
    }


def _moments(rows: Vector, prefix: str) -> dict[str, Statistic]:
    R, moments = len(rows), {}
    for i, column in enumerate(rows.T, 1):
        with np.errstate(over="ignore", invalid="ignore"):
            off = column - column.mean()
            variance, fourth = (off @ off) / (R - 1), (off**4).mean()
            spread = float(np.sqrt(variance))
            # Standard error of a standard deviation, whatever the law.
            error = float(np.sqrt(np.maximum(fourth - variance**2, 0.0) / R)) / (2 * spread) if spread > 0 else 0.0
        error = error if np.isfinite(error) else 0.0
        mean = Statistic(float(column.mean()), float(np.sqrt(variance / R)), "of the runs' results")
        moments[f"{prefix}: mean of component {i}"] = mean
        moments[f"{prefix}: spread of component {i}"] = Statistic(spread, error, "of the runs' results")
    return moments
