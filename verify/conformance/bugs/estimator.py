"""Wrong estimators of the hypergradient from right inner solutions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from verify.conformance.bugs.composed import ComposedSubject
from verify.conformance.bugs.entry import Catch, Mutant
from verify.conformance.bugs.formulas import arrays_of, given, h_width, terms
from verify.subjects import Call
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import hypergradient as exact_hypergradient


class _Corrected(ComposedSubject, ABC):
    """The right estimate, noise and all, plus what is wrong with it."""

    @abstractmethod
    def correction(self, problem: Any, x: Any, call: Call) -> Any:
        """What is wrong with it, shape (n,)."""

    def estimate(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        return super().estimate(problem, x, call, rng) + self.correction(problem, x, call)

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        full = self.completed(problem, x, call)
        right = super().hypergradient_samples(problem, x, full, rng, replications)
        return right + self.correction(problem, x, full)


class KeepsDualTerm(_Corrected):
    """Leaves alpha_1 A' lam in the estimate whatever the reading."""

    name = "keeps-dual-term"

    def correction(self, problem: Any, x: Any, call: Call) -> Any:
        return terms(problem, x, call)["dual"] if call.reading.dual_term == "cancelled" else np.zeros(len(x))


class DropsImplicitTerm(_Corrected):
    """Returns grad_x f at the lower-level solution: no response of y* to x."""

    name = "drops-implicit-term"

    def correction(self, problem: Any, x: Any, call: Call) -> Any:
        right = terms(problem, x, call)
        dual = right["dual"] if call.reading.dual_term == "frozen" else 0.0
        wanted = terms(problem, x, call, y=call.y_star)["f"]
        return wanted - right["f"] - right["g_difference"] - right["penalty"] - dual


class FlippedPenalty(_Corrected):
    """Has the sign of the quadratic penalty's gradient in x wrong."""

    name = "flipped-penalty"

    def correction(self, problem: Any, x: Any, call: Call) -> Any:
        return -2 * terms(problem, x, call)["penalty"]


class DropsPenaltyTerm(_Corrected):
    """Leaves the quadratic penalty out of the estimate."""

    name = "drops-penalty-term"

    def correction(self, problem: Any, x: Any, call: Call) -> Any:
        return -terms(problem, x, call)["penalty"]


class HalfPenaltyTerm(_Corrected):
    """Forgets the 2 in the derivative of h squared."""

    name = "half-penalty-term"

    def correction(self, problem: Any, x: Any, call: Call) -> Any:
        return -0.5 * terms(problem, x, call)["penalty"]


class FlippedGDifference(_Corrected):
    """Takes grad_x g at y* less grad_x g at y."""

    name = "flipped-g-difference"

    def correction(self, problem: Any, x: Any, call: Call) -> Any:
        return -2 * terms(problem, x, call)["g_difference"]


class DropsGDifference(_Corrected):
    """Leaves alpha_1 (grad_x g(x, y) - grad_x g(x, y*)) out of the estimate."""

    name = "drops-g-difference"

    def correction(self, problem: Any, x: Any, call: Call) -> Any:
        return -terms(problem, x, call)["g_difference"]


class ReturnsTheTruth(ComposedSubject):
    """Ignores the stages it is given and returns the exact gradient of F."""

    name = "returns-the-truth"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        if arrays_of(problem) is None:
            return super().hypergradient(problem, x, call, rng)
        return np.array([float(v) for v in exact_hypergradient(quadratic_of(problem), tuple(x.tolist()))])


class IgnoresGivenStages(ComposedSubject):
    """Computes every stage itself whatever it is given."""

    name = "ignores-given-stages"

    def completed(self, problem: Any, x: Any, call: Call) -> Call:
        return super().completed(problem, x, replace(call, y_star=None, lam=None, rho=None, y_penalty=None))


class SinglePrecision(ComposedSubject):
    """Evaluates line 6 in single precision."""

    name = "single-precision"

    def estimate(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        a = arrays_of(problem)
        if a is None:
            return super().estimate(problem, x, call, rng)
        noise = super().estimate(problem, x, call, rng) - self._mean(problem, x, call)
        single = {name: getattr(a, name).astype(np.float32) for name in ("f_xx", "f_xy", "f_x", "g_xy", "A", "B", "b")}
        x32, y_star, lam, rho, y = (np.asarray(value, dtype=np.float32) for value in (x, *given(call)))
        alpha_1, alpha_2 = np.float32(call.alpha**-2), np.float32(call.alpha**-4)
        h = single["A"] @ x32 - single["B"] @ y - single["b"]
        made = single["f_xx"] @ x32 + single["f_xy"] @ y + single["f_x"] + alpha_1 * (single["g_xy"] @ (y - y_star))
        made = made + alpha_2 * (single["A"].T @ (rho * h))
        if call.reading.dual_term == "frozen":
            made = made + alpha_1 * (single["A"].T @ lam)
        return made.astype(np.float64) + noise

    def _mean(self, problem: Any, x: Any, call: Call) -> Any:
        if problem.noise.model == "none":
            return super().estimate(problem, x, call, None)
        return super().estimate(problem.model_copy(update={"noise": type(problem.noise)()}), x, call, None)


class NarrowRamp(ComposedSubject):
    """Uses the delta**2-wide ramp under every reading."""

    name = "narrow-ramp"

    def ramp_width(self, problem: Any, call: Call) -> float:
        return h_width(problem, replace(call, reading=call.reading.choose(ramp_width="tau-delta")))


T3 = "bias-bound/T3"

MUTANTS = (
    Mutant(
        "keeps-dual-term", KeepsDualTerm, "hypergradient", "paper-as-written",
        "α₁Aᵀλ̃ stays in the estimate: it grows like α⁻² wherever rows move with x and bind.",
        (Catch(T3, "toy1"),), choice="dual_term",
    ),
    Mutant(
        "drops-implicit-term", DropsImplicitTerm, "hypergradient", "missing-term",
        "The estimate is ∇_xf: the response of y* to x is missing, an error of order 1.",
        (Catch(T3, "two-of-three"),),
    ),
    Mutant(
        "flipped-penalty", FlippedPenalty, "hypergradient", "sign",
        "α₂Aᵀ(ρ∘h) is subtracted: the response of moving rows has the wrong sign, an error of order 1.",
        (Catch(T3, "absolute-moving"),),
    ),
    Mutant(
        "drops-penalty-term", DropsPenaltyTerm, "hypergradient", "missing-term",
        "The response of moving rows is missing, an error of order 1; nothing shows where A = 0.",
        (Catch(T3, "absolute-moving"),),
    ),
    Mutant(
        "half-penalty-term", HalfPenaltyTerm, "hypergradient", "weight",
        "Half the response of moving rows is missing, an error of order 1; nothing shows where A = 0.",
        (Catch(T3, "absolute-moving"),),
    ),
    Mutant(
        "flipped-g-difference", FlippedGDifference, "hypergradient", "sign",
        "The response of y* through ∇²_xy g has the wrong sign, an error of order 1.",
        (Catch(T3, "interior"),),
    ),
    Mutant(
        "drops-g-difference", DropsGDifference, "hypergradient", "missing-term",
        "The response of y* through ∇²_xy g is missing, an error of order 1.",
        (Catch(T3, "interior"),),
    ),
    Mutant(
        "returns-the-truth", ReturnsTheTruth, "hypergradient", "given-values-ignored",
        "The exact ∇F whatever is given: right where it can be had, but Algorithm 1 was not run, and its bias, its "
        "dependence on α and its cost are not what is measured.",
        (Catch("bias-bound/conditional-mean", "toy1"),),
    ),
    Mutant(
        "ignores-given-stages", IgnoresGivenStages, "hypergradient", "given-values-ignored",
        "Given ỹ*, λ̃, ρ and ỹ are recomputed: right by itself, but nothing conditional on them can be measured.",
        (Catch("bias-bound/conditional-mean", "toy1"),),
    ),
    Mutant(
        "single-precision", SinglePrecision, "hypergradient", "precision",
        "Rounding 6e-8 in h is multiplied by α₂: the error grows like 6e-8·α⁻⁴ and passes the bias at α ≈ 0.06.",
        (Catch(T3, "scalar-rational"),), roundoff=2.0**-24,
    ),
    Mutant(
        "narrow-ramp", NarrowRamp, "hypergradient", "paper-as-written",
        "A ramp δ² = α⁶ wide switches a binding row off when ỹ* is inside by the allowed error δ = α³: an error of "
        "order 1.",
        (Catch("bias-bound/ramp", "toy1"),), choice="ramp_width",
    ),
)  # fmt: skip
