"""Wrong implementations, each with the claims that must catch it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verify.geometry import quadratic_of
from verify.subjects import Call, ReferenceSubject


class KeepsDualTerm(ReferenceSubject):
    """Leaves α₁Aᵀλ̃ in the estimate whatever the reading."""

    name = "keeps-dual-term"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        return super().hypergradient(problem, x, replace(call, reading=call.reading.choose(dual_term="frozen")), rng)


class DropsImplicitTerm(ReferenceSubject):
    """Returns ∇_x f at the lower-level solution: no response of y* to x."""

    name = "drops-implicit-term"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        a = quadratic_of(problem).arrays
        y_star = call.y_star if call.y_star is not None else self.lower_level(problem, x)[0]
        return a.f_xx @ x + a.f_xy @ y_star + a.f_x


class WeakPenalties(ReferenceSubject):
    """Uses α₁ = α⁻¹ and α₂ = α⁻², the usual way to stop a diverging run."""

    name = "weak-penalties"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        return super().hypergradient(problem, x, replace(call, alpha=call.alpha**0.5), rng)


class AlwaysActive(ReferenceSubject):
    """Gives every row full weight."""

    name = "always-active"

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        return np.ones_like(h)

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        rho = np.ones(quadratic_of(problem).p)
        return super().hypergradient(problem, x, replace(call, rho=rho), rng)


class NarrowRamp(ReferenceSubject):
    """Uses the δ²-wide ramp under every reading."""

    name = "narrow-ramp"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        reading = call.reading.choose(ramp_width="tau-delta")
        return super().hypergradient(problem, x, replace(call, reading=reading), rng)


class IndependentDraws(ReferenceSubject):
    """Samples g at ỹ and at ỹ* independently whatever the reading."""

    name = "independent-draws"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        reading = call.reading.choose(noise_pairing="independent")
        return super().hypergradient_samples(problem, x, replace(call, reading=reading), rng, replications)


class IgnoresBatch(ReferenceSubject):
    """Draws one sample whatever N_g."""

    name = "ignores-batch"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        parameters = call.parameters.model_copy(update={"N_g": 1})
        return super().hypergradient_samples(problem, x, replace(call, parameters=parameters), rng, replications)


class SilentNoise(ReferenceSubject):
    """Adds the noise to the objective's value, so that it never reaches the gradient."""

    name = "silent-noise"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        quiet = problem.model_copy(update={"noise": type(problem.noise)()})
        return np.tile(super().hypergradient(quiet, x, call, rng), (replications, 1))


class UnconstrainedLowerLevel(ReferenceSubject):
    """Solves the lower level as if it had no rows."""

    name = "unconstrained-lower-level"

    def lower_level(self, problem: Any, x: Any) -> Any:
        a = quadratic_of(problem).arrays
        return -np.linalg.solve(a.g_yy, a.g_xy.T @ x + a.g_y), np.zeros(len(a.b))


class DropsMultiplier(ReferenceSubject):
    """Minimises the penalty Lagrangian without λ̃ᵀh."""

    name = "drops-multiplier"

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        return super().penalty_minimiser(problem, x, replace(call, lam=np.zeros_like(call.lam)), tol)


class FlippedPenalty(ReferenceSubject):
    """Has the sign of the quadratic penalty's x-gradient wrong."""

    name = "flipped-penalty"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        right = super().hypergradient(problem, x, call, rng)
        if call.y_penalty is None or call.y_star is None:
            return right
        a = quadratic_of(problem).arrays
        smooth = a.f_xx @ x + a.f_xy @ call.y_penalty + a.f_x
        smooth = smooth + call.alpha**-2 * a.g_xy @ (call.y_penalty - call.y_star)
        return 2 * smooth - right


class SinglePrecision(ReferenceSubject):
    """Computes the estimate from single-precision inner solutions."""

    name = "single-precision"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        def rounded(value: Any) -> Any:
            return None if value is None else value.astype(np.float32).astype(np.float64)

        given = replace(call, y_star=rounded(call.y_star), y_penalty=rounded(call.y_penalty))
        return super().hypergradient(problem, x, given, rng)


@dataclass(frozen=True)
class Caught:
    """A mutant and where it must show: claim, reading, instance, and the verdict the reference gets there."""

    mutant: type[ReferenceSubject]
    claim: str
    instance: str
    reference: str = "SUPPORTED"
    reading: str = "repaired"


CATALOGUE = (
    Caught(KeepsDualTerm, "bias-bound/T3", "toy1"),
    Caught(DropsImplicitTerm, "bias-bound/T3", "two-of-three"),
    Caught(WeakPenalties, "bias-bound/T3", "toy1"),
    Caught(AlwaysActive, "bias-bound/T3", "two-of-three"),
    Caught(AlwaysActive, "dual-extraction/activation-locality", "toy1"),
    Caught(NarrowRamp, "bias-bound/ramp", "toy1"),
    Caught(IndependentDraws, "variance-bound/per-sample", "toy1"),
    Caught(IgnoresBatch, "variance-bound", "toy1"),
    Caught(SilentNoise, "variance-bound", "toy1"),
    Caught(UnconstrainedLowerLevel, "lipschitz-solution", "toy1"),
    Caught(DropsMultiplier, "solution-error", "toy1"),
    Caught(DropsMultiplier, "solution-error/active-rows", "toy1"),
    Caught(FlippedPenalty, "bias-bound/T3", "absolute-moving"),
    Caught(SinglePrecision, "bias-bound/T3", "scalar-rational"),
)
