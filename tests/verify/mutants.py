"""Wrong implementations, each with the claims that must catch it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verify.exact.lower_level import hypergradient as exact_hypergradient
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


class OneSampleFewer(ReferenceSubject):
    """Averages N_g - 1 samples."""

    name = "one-sample-fewer"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        parameters = call.parameters.model_copy(update={"N_g": max(1, call.parameters.N_g - 1)})
        return super().hypergradient_samples(problem, x, replace(call, parameters=parameters), rng, replications)


class AveragesTooMuch(ReferenceSubject):
    """Divides the noise once more by the root of N_g."""

    name = "averages-too-much"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        right = super().hypergradient_samples(problem, x, call, rng, replications)
        mean = super().hypergradient(problem.model_copy(update={"noise": type(problem.noise)()}), x, call, rng)
        return mean + (right - mean) / call.parameters.N_g**0.5


class BiasedDraw(ReferenceSubject):
    """Adds a hundredth of the noise's standard deviation to every component of a draw."""

    name = "biased-draw"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        right = super().hypergradient_samples(problem, x, call, rng, replications)
        return right + 0.01 * float(problem.noise.sigma_f)


class CorrelatedSamples(ReferenceSubject):
    """Lets all samples of a batch share a fifth of their variance."""

    name = "correlated-samples"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        own = super().hypergradient_samples(problem, x, call, rng, replications)
        single = call.parameters.model_copy(update={"N_g": 1})
        shared = super().hypergradient_samples(problem, x, replace(call, parameters=single), rng, replications)
        mean = super().hypergradient(problem.model_copy(update={"noise": type(problem.noise)()}), x, call, rng)
        return mean + 0.8**0.5 * (own - mean) + 0.2**0.5 * (shared - mean)


class RepeatedDraws(ReferenceSubject):
    """Uses every draw in two consecutive estimates."""

    name = "repeated-draws"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        half = super().hypergradient_samples(problem, x, call, rng, -(-replications // 2))
        return np.repeat(half, 2, axis=0)[:replications]


class CommonDraws(ReferenceSubject):
    """Samples g at ỹ and at ỹ* with one draw whatever the reading."""

    name = "common-draws"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        reading = call.reading.choose(noise_pairing="common")
        return super().hypergradient_samples(problem, x, replace(call, reading=reading), rng, replications)


class ClimbsInY(ReferenceSubject):
    """Takes the primal step along + B'lambda whatever the reading."""

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
        quiet = problem.model_copy(update={"noise": type(problem.noise)()})
        return super().lower_level_runs(quiet, x, call, rng, replications)


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


class CopiesDraws(ReferenceSubject):
    """Draws half of what is asked and returns it twice."""

    name = "copies-draws"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        half = super().hypergradient_samples(problem, x, call, rng, (replications + 1) // 2)
        return np.concatenate([half, half])[:replications]


class ReturnsTheTruth(ReferenceSubject):
    """Ignores the stages it is given and returns the exact gradient of F."""

    name = "returns-the-truth"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        return np.array([float(v) for v in exact_hypergradient(quadratic_of(problem), tuple(x.tolist()))])


class InflatedMultipliers(ReferenceSubject):
    """Returns multipliers ten per cent too large."""

    name = "inflated-multipliers"

    def lower_level(self, problem: Any, x: Any) -> Any:
        y_star, lam = super().lower_level(problem, x)
        return y_star, 1.1 * lam


class FrozenLowerLevel(ReferenceSubject):
    """Remembers the first lower-level solution of each problem."""

    name = "frozen-lower-level"

    def __init__(self) -> None:
        self.kept: dict[int, Any] = {}

    def lower_level(self, problem: Any, x: Any) -> Any:
        return self.kept.setdefault(id(problem), super().lower_level(problem, x))


class SmootherRamp(ReferenceSubject):
    """Replaces the linear ramp by a cubic one with the same ends and middle."""

    name = "smoother-ramp"

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        rho = super().activation(h, lam, h_width, lam_width)
        return rho * rho * (3 - 2 * rho)


class ShiftedRows(ReferenceSubject):
    """Gives each row its neighbour's weight."""

    name = "shifted-rows"

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        return np.roll(super().activation(h, lam, h_width, lam_width), 1)


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
    Caught(CopiesDraws, "variance-bound/independence", "toy1"),
    Caught(ReturnsTheTruth, "bias-bound/conditional-mean", "toy1"),
    Caught(InflatedMultipliers, "lipschitz-solution", "toy1"),
    Caught(FrozenLowerLevel, "lipschitz-solution", "two-of-three"),
    Caught(SmootherRamp, "dual-extraction/activation-locality", "toy1"),
    Caught(ShiftedRows, "dual-extraction/activation-locality", "toy1"),
    Caught(SinglePrecision, "bias-bound/T3", "scalar-rational"),
    Caught(SilentNoise, "stochastic-oracles/noise-reaches-gradient", "toy1"),
    Caught(OneSampleFewer, "variance-bound", "toy1"),
    Caught(AveragesTooMuch, "variance-bound", "two-of-three"),
    Caught(BiasedDraw, "stochastic-oracles/unbiasedness", "toy1"),
    Caught(BiasedDraw, "stochastic-oracles/unbiasedness", "two-of-three"),
    Caught(CorrelatedSamples, "variance-bound", "toy1"),
    Caught(CorrelatedSamples, "variance-bound/independence", "box-rational"),
    Caught(RepeatedDraws, "variance-bound/independence", "toy1"),
    Caught(IndependentDraws, "variance-bound/g-noise-only", "box-rational"),
    Caught(IndependentDraws, "inner-cost/batch-size", "toy1"),
    Caught(CommonDraws, "variance-bound/per-sample", "toy1", "REFUTED", "as-written"),
    Caught(AveragesTooMuch, "hypergradient-accuracy/decomposition", "toy1"),
    Caught(IgnoresBatch, "hypergradient-accuracy", "box-rational"),
    Caught(ClimbsInY, "inner-cost/primal-dual-sign", "toy1"),
    Caught(NeverAverages, "inner-cost/samples-for-accuracy", "concave-upper"),
    Caught(NeverAverages, "inner-loop-remark", "interior"),
    Caught(SilentLowerLevel, "inner-cost/noise-floor", "concave-upper"),
    Caught(SharesNothing, "inner-cost/shared-sample", "toy1"),
    Caught(SharesNothing, "inner-cost/svrg", "toy1"),
    Caught(ForgetsToCount, "inner-cost/total", "toy1", "REFUTED", "as-written"),
    Caught(AlwaysActive, "inner-cost/condition-number", "two-of-three"),
    Caught(DropsImplicitTerm, "hypergradient-accuracy/first-moment", "two-of-three", "REFUTED", "as-written"),
)
