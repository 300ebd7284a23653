"""Assumption "Stochastic Oracles" of the gradients in y, which only the inner solvers draw.

One step of the primal-dual iteration from zero is a draw of ∇_y g there; the minimiser of one shared sample of the
penalty Lagrangian is the exact one moved by that sample's noise, through a Hessian that is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from spec import Noise, OracleParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check
from verify.checks.measuring.estimates.samples import ADDITIVE, F_ONLY, G_ONLY, MATRIX
from verify.checks.measuring.premises import at_truth, regular_truth
from verify.evidence.bets.betting import MeanBound, VarianceBound
from verify.evidence.bets.correlations import DirectionBound
from verify.evidence.model import ComparisonEvidence, Relation
from verify.evidence.samples.moments import Moments, Scatter
from verify.evidence.streams import Sampler, Streams
from verify.truth.geometry import quadratic_of

EPOCHS = 12
"""Each about halves the error of a shared sample's minimiser: far below the noise."""
ALPHA = 0.1


@dataclass(frozen=True)
class OracleDraws:
    """Draws of one gradient in y: their exact mean (m,) and variance.

    ``seen`` are the shift of the mean, in units of the noise, and the relative change of the variance to be seen; a
    minimiser is dearer than a step.
    """

    name: str
    draw: Callable[[np.random.Generator, int], Vector]
    mean: Vector
    variance: float
    block: int
    seen: tuple[float, float]

    def sampler(self, case: Case, *, shorter: int = 1, together: bool = False) -> Sampler:
        """A stream of them, in calls so many times shorter: bets need a few calls, and not many draws."""
        moments = Scatter(self.mean) if together else Moments(self.mean)
        return case.ledger.keep(Sampler(self.draw, Streams.of(case.rng), moments, self.block // shorter))


@check("stochastic-oracles/y-gradients", instances=("toy1", "two-of-three"),
       needs=("lower_level_runs", "penalty_runs"), decisions=8)  # fmt: skip
def y_gradients(case: Case) -> Measurement:
    """Mean and variance of draws of ∇_y g and ∇_y f; as written one level for both, repaired each its own, exactly."""
    lower, upper, matrix = _of_g(case, ADDITIVE), _of_f(case, ADDITIVE), _of_g(case, MATRIX)
    relation: Relation = "<=" if case.as_written else "=="
    evidence: list[ComparisonEvidence] = []
    for drawn in (lower, upper):
        width = len(drawn.mean)
        quantity = f"distance of the mean draw of {drawn.name} from the gradient"
        shift = MeanBound(
            quantity, case.share, width=width, second_moment=drawn.variance, wanted=drawn.seen[0], block=drawn.block
        )
        evidence.append(shift.run(drawn.sampler(case, shorter=4)))
    for drawn in (lower, upper, matrix):
        level = drawn.variance
        if case.as_written and drawn is not matrix:
            level = max(lower.variance, upper.variance)
        variance = VarianceBound(
            f"variance of a draw of {drawn.name}", case.share, width=len(drawn.mean), level=level, relation=relation,
            wanted=drawn.seen[1], block=drawn.block,
        )  # fmt: skip
        evidence.append(variance.run(drawn.sampler(case, shorter=16)))
        if not case.as_written:
            along = replace(variance, quantity=f"{variance.quantity} along its most deviating direction", wanted=0.4)
            evidence.append(DirectionBound.of(along).run(drawn.sampler(case, shorter=16, together=True)))
    return Measurement(tuple(evidence), {item.quantity: item.measured for item in evidence})


def _of_g(case: Case, noise: Noise) -> OracleDraws:
    """One step of size 1 from y = 0, λ = 0, without its sign."""
    problem = case.instance.with_noise(noise.model_copy(update={"on": G_ONLY})).problem
    a, x = quadratic_of(problem).arrays, case.x
    parameters = OracleParameters(lower_level_steps=1, eta_y=1.0, eta_lam=1.0)
    call = replace(case.call(ALPHA, parameters=parameters), reading=case.repaired.choose(inner_solver="constant-step"))

    def draw(rng: np.random.Generator, count: int) -> Vector:
        return -case.stages.lower_level_runs(problem, x, call, rng, count)[0]

    size = float(x @ x) if noise.model == "matrix" else 1.0
    variance = len(a.g_y) * noise.scale("g.y") ** 2 * size
    return OracleDraws(f"∇_y g, {noise.model} noise", draw, a.g_xy.T @ x + a.g_y, variance, 1 << 13, (0.03, 0.1))


def _of_f(case: Case, noise: Noise) -> OracleDraws:
    """The exact penalty minimiser's gradient in y at y*, as one shared sample of the Lagrangian has it."""
    problem = case.instance.with_noise(noise.model_copy(update={"on": F_ONLY})).problem
    geometry, call = at_truth(case, regular_truth(case.instance), ALPHA)
    parameters = OracleParameters(shared_samples=1, penalty_steps=EPOCHS)
    reading = case.repaired.choose(inner_solver="shared-sample")
    call = replace(call, rho=geometry.rho, parameters=parameters, reading=reading)

    def draw(rng: np.random.Generator, count: int) -> Vector:
        minimisers, _ = case.stages.penalty_runs(problem, case.x, call, rng, count)
        return (geometry.y_star - minimisers) @ geometry.H

    mean = geometry.gradient_y(geometry.y_star)
    return OracleDraws("∇_y f", draw, mean, len(mean) * noise.scale("f.y") ** 2, 1 << 10, (0.15, 0.15))
