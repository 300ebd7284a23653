"""The noisy inner solvers: laws of their results where the protocol settles them, and what their counts may be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from spec import REPAIRED, OracleParameters, Quadratic
from spec.exact import Vector
from verify.conformance.places import doubles, place_of, with_noise
from verify.conformance.probe_set import NOISES, n_of
from verify.conformance.signatures import Statistic
from verify.subjects import Call, Capability
from verify.subjects.protocol import Stages
from verify.truth.stages import evaluate

RUNS = 400
STEPS = 64


@dataclass(frozen=True)
class RunSetting:
    """Where many runs of an inner solver are compared; the problem is noisy."""

    id: str
    stage: Capability
    problem: Quadratic
    x: Vector
    call: Call

    @property
    def settled(self) -> bool:
        """Whether the protocol settles the law, so that another law is a divergence by itself."""
        return self.stage == "lower_level_runs"

    def signature(self, stages: Stages, runs: int = RUNS) -> dict[str, Statistic]:
        """Means and spreads of the results, and the count of samples.

        Raises:
            SubjectFaultError: If the stage crashes or its answer is none.
        """
        rng = np.random.default_rng([n_of(self.id), runs])
        given = (self.problem, self.x, self.call, rng, runs)
        if self.stage == "lower_level_runs":
            y, lam = stages.lower_level_runs(*given)
            return _moments(np.hstack([y, lam]), self.id)
        if self.stage == "penalty_runs":
            rows, calls = stages.penalty_runs(*given)
        else:
            rows, calls = stages.hypergradient_runs(*given)
        return _moments(rows, self.id) | {f"{self.id}: samples": Statistic(float(calls), 0.0, "gradient samples a run")}


def settings() -> tuple[RunSetting, ...]:
    """All of them."""
    steps = OracleParameters(lower_level="primal-dual", lower_level_steps=STEPS, eta_y=0.25, eta_lam=0.25)
    place, shared = place_of("toy1"), REPAIRED.choose(inner_solver="shared-sample")
    rho = doubles(evaluate(place.setting(alpha=Fraction(1, 5))).rho)
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
        *(_setting(id_, "lower_level_runs", call) for id_, call in pairs),
        _setting("toy1/shared penalty", "penalty_runs", given),
        _setting("toy1/shared call", "hypergradient_runs", call),
        _setting("toy1/fresh call", "hypergradient_runs", replace(call, reading=REPAIRED)),
    )


def _setting(id_: str, stage: Capability, call: Call) -> RunSetting:
    place = place_of(id_.partition("/")[0])
    return RunSetting(id_, stage, with_noise(place.problem, NOISES[0]), place.point, call)


def fewest_samples(setting: RunSetting) -> float | None:
    """A count below this left something out: a fresh call takes at least one sample a lower-level step."""
    if setting.stage == "hypergradient_runs" and setting.call.reading.inner_solver != "shared-sample":
        return float(setting.call.parameters.lower_level_steps)
    return None


def _moments(rows: Vector, prefix: str) -> dict[str, Statistic]:
    R, moments = len(rows), {}
    for i, column in enumerate(rows.T, 1):
        off = column - column.mean()
        variance, fourth = float(off @ off) / (R - 1), float((off**4).mean())
        spread = float(np.sqrt(variance))
        # Standard error of a standard deviation, whatever the law.
        error = float(np.sqrt(max(fourth - variance**2, 0.0) / R)) / (2 * spread) if spread > 0 else 0.0
        mean = Statistic(float(column.mean()), float(np.sqrt(variance / R)), "of the runs' results")
        moments[f"{prefix}: mean of component {i}"] = mean
        moments[f"{prefix}: spread of component {i}"] = Statistic(spread, error, "of the runs' results")
    return moments
