"""Wrong stochastic inner solvers: primal-dual iterations, noisy penalty solves and complete noisy calls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from verify.conformance.bugs.entry import Catch, Mutant
from verify.subjects import Call, ReferenceSubject


class ClimbsInY(ReferenceSubject):
    """Takes the primal step along + B'lam whatever the reading."""

    name = "climbs-in-y"

    def lower_level_runs(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        reading = call.reading.choose(primal_dual_sign="plus")
        return super().lower_level_runs(problem, x, replace(call, reading=reading), rng, replications)


class NeverAverages(ReferenceSubject):
    """Returns the last iterate of constant steps whatever the solver."""

    name = "never-averages"

    def lower_level_runs(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        reading = call.reading.choose(inner_solver="constant-step")
        return super().lower_level_runs(problem, x, replace(call, reading=reading), rng, replications)


class SilentLowerLevel(ReferenceSubject):
    """Runs the lower level on exact gradients and calls it stochastic."""

    name = "silent-lower-level"

    def lower_level_runs(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        drawn = getattr(problem, "quadratic", problem)
        quiet = drawn.model_copy(update={"noise": type(problem.noise)()})
        return super().lower_level_runs(quiet, x, call, rng, replications)


class HalvesTheSteps(ReferenceSubject):
    """Takes half the lower-level steps it is told to."""

    name = "halves-the-steps"

    def lower_level_runs(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        steps = max(1, call.parameters.lower_level_steps // 2)
        parameters = call.parameters.model_copy(update={"lower_level_steps": steps})
        return super().lower_level_runs(problem, x, replace(call, parameters=parameters), rng, replications)


class SharesNothing(ReferenceSubject):
    """Draws afresh in every phase where one sample is to be shared."""

    name = "shares-nothing"

    def hypergradient_runs(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        reading = call.reading.choose(inner_solver="averaged")
        return super().hypergradient_runs(problem, x, replace(call, reading=reading), rng, replications)

    def penalty_runs(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        reading = call.reading.choose(inner_solver="constant-step")
        return super().penalty_runs(problem, x, replace(call, reading=reading), rng, replications)


class ForgetsToCount(ReferenceSubject):
    """Counts a call of the lower level's solver, not its gradients."""

    name = "forgets-to-count"

    def hypergradient_runs(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        estimates, _ = super().hypergradient_runs(problem, x, call, rng, replications)
        return estimates, 1 + 3 * call.parameters.N_g


MUTANTS = (
    Mutant(
        "climbs-in-y", ClimbsInY, "runs", "paper-as-written",
        "The primal step climbs along the rows: the iteration settles elsewhere or diverges, an error of order 1 "
        "wherever a row binds.",
        (Catch("inner-cost/primal-dual-sign", "toy1"),), choice="primal_dual_sign",
    ),
    Mutant(
        "never-averages", NeverAverages, "runs", "paper-as-written",
        "A constant step stalls at a floor of order σ√η: no number of steps reaches α³.",
        (Catch("inner-cost/samples-for-accuracy", "concave-upper"), Catch("inner-loop-remark", "interior")),
        choice="inner_solver",
    ),
    Mutant(
        "silent-lower-level", SilentLowerLevel, "runs", "noise",
        "The inner solver converges linearly because its gradients are exact: costs look like log(1/α).",
        (Catch("inner-cost/noise-floor", "concave-upper"),),
    ),
    Mutant(
        "halves-the-steps", HalvesTheSteps, "runs", "counting",
        "Half the steps that are asked for and counted: the mean-square error is twice what was paid for.",
        (Catch("inner-cost/samples-for-accuracy", "concave-upper"),),
    ),
    Mutant(
        "shares-nothing", SharesNothing, "runs", "generator",
        "The shared sample is drawn anew in every phase: the phases' errors no longer cancel and α₁ and α₂ multiply "
        "them, a variance of order α⁻⁴ at the shared sample's price.",
        (Catch("inner-cost/shared-sample", "toy1"), Catch("inner-cost/svrg", "toy1")),
    ),
    Mutant(
        "forgets-to-count", ForgetsToCount, "runs", "counting",
        "Inner gradients are left out of the count: the cost of a call looks constant where it grows like α⁻⁶.",
        (Catch("inner-cost/total", "toy1", "as-written"),),
    ),
)  # fmt: skip
