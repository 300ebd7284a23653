"""The reference solver as a subject."""

from __future__ import annotations

import numpy as np

from f2csa_ref.activation import activation_weights
from f2csa_ref.algorithm_1 import OracleCall, Stages, checked_oracle
from f2csa_ref.algorithm_2 import Oracle, OuterTrace, outer_loop
from f2csa_ref.lower_level import lower_level, lower_level_runs
from f2csa_ref.many.hypergradient_runs import hypergradient_runs, hypergradient_samples
from f2csa_ref.many.penalty_runs import penalty_runs
from f2csa_ref.objectives import objectives_of
from f2csa_ref.penalty import PenaltyLagrangian
from f2csa_ref.penalty_minimiser import penalty_minimiser
from f2csa_ref.sampling import Draws
from spec import OuterParameters, Problem
from spec.exact import Vector
from verify.subjects.protocol import TRUSTED, Call


class ReferenceSubject:
    """``f2csa_ref``, with every stage and every reading."""

    name = "reference"
    uses_draws = True

    def lower_level(self, problem: Problem, x: Vector) -> tuple[Vector, Vector]:
        """Exact lower-level pair."""
        solution = lower_level(problem, x)
        return solution.y_star, solution.lam

    def activation(self, h: Vector, lam: Vector, h_width: float, lam_width: float) -> Vector:
        """Smooth activation weights."""
        return activation_weights(h, lam, h_width=h_width, lam_width=lam_width)

    def penalty_minimiser(self, problem: Problem, x: Vector, call: Call, tol: float | None) -> Vector:
        """First-order minimiser of the penalty Lagrangian."""
        lagrangian = _lagrangian("penalty_minimiser", problem, x, call)
        return penalty_minimiser(lagrangian, reading=call.reading, parameters=call.parameters, tol=tol).y

    def hypergradient(self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator | None) -> Vector:
        """Algorithm 1."""
        return checked_oracle(objectives_of(problem), x, _call(call), rng).hypergradient

    def hypergradient_samples(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> Vector:
        """Independent averages of N_g samples, given the stages."""
        return hypergradient_samples(problem, x, _call(call), rng=rng, replications=replications)

    def optimise(self, oracle: Oracle, x0: Vector, parameters: OuterParameters, rng: np.random.Generator) -> OuterTrace:
        """Algorithm 2."""
        return outer_loop(oracle, x0, parameters=parameters, rng=rng, keep_path=True)

    def optimise_runs(
        self, oracle: Oracle, x0: Vector, parameters: OuterParameters, rng: np.random.Generator, keep_path: bool
    ) -> tuple[Vector, Vector | None]:
        """Algorithm 2, one row a run."""
        runs = outer_loop(oracle, x0, parameters=parameters, rng=rng, keep_path=keep_path)
        return runs.x_bar, runs.path

    def lower_level_runs(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> tuple[Vector, Vector]:
        """Primal-dual iterations, one row a run."""
        return lower_level_runs(
            problem, x, reading=call.reading, parameters=call.parameters, rng=rng, replications=replications
        )

    def penalty_runs(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> tuple[Vector, float]:
        """SVRG or averaged SGD, one row a run."""
        lagrangian = _lagrangian("penalty_runs", problem, x, call)
        return penalty_runs(
            lagrangian, reading=call.reading, parameters=call.parameters, rng=rng, replications=replications
        )

    def hypergradient_runs(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> tuple[Vector, float]:
        """Algorithm 1 with noisy inner solvers, one row a run."""
        return hypergradient_runs(problem, x, _call(call), rng=rng, replications=replications)


def _call(call: Call) -> OracleCall:
    given = Stages(y_star=call.y_star, lam=call.lam, rho=call.rho, y_penalty=call.y_penalty)
    draws = None if call.draws is None else Draws(**call.draws)
    return OracleCall(call.alpha, call.reading, call.parameters, given, draws)


def _lagrangian(stage: str, problem: Problem, x: Vector, call: Call) -> PenaltyLagrangian:
    if call.y_star is None or call.lam is None or call.rho is None:
        raise ValueError(f"{stage} needs y_star, lam and rho")
    return PenaltyLagrangian.at(problem, x, alpha=call.alpha, y_star=call.y_star, lam=call.lam, rho=call.rho)


TRUSTED.add(ReferenceSubject)
