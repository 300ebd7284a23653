"""Wrong noise: estimates whose stages are right, but not their law."""
# ruff: noqa: ARG002  # a wrong stage keeps the signature of the right one

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from verify.conformance.bugs.entry import Catch, Mutant
from verify.subjects import Call, ReferenceSubject


class _Sampled(ReferenceSubject):
    """Single noisy calls and many at once have the same law; draws that are handed over go unused."""

    uses_draws = False

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        if problem.noise.model == "none" or call.parameters.lower_level == "primal-dual":
            return super().hypergradient(problem, x, call, rng)
        return self.hypergradient_samples(problem, x, call, rng, 1)[0]

    def mean(self, problem: Any, x: Any, call: Call) -> Any:
        """The estimate without noise, shape (n,)."""
        return ReferenceSubject.hypergradient(self, _quiet(problem), x, call, None)


def _quiet(problem: Any) -> Any:
    drawn = getattr(problem, "quadratic", problem)
    return drawn.model_copy(update={"noise": type(problem.noise)()})


def _batch(call: Call, N_g: int) -> Call:
    return replace(call, parameters=call.parameters.model_copy(update={"N_g": N_g}))


class IndependentDraws(_Sampled):
    """Samples g at y and at y* independently whatever the reading."""

    name = "independent-draws"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        reading = call.reading.choose(noise_pairing="independent")
        return super().hypergradient_samples(problem, x, replace(call, reading=reading), rng, replications)


class CommonDraws(_Sampled):
    """Samples g at y and at y* with one draw whatever the reading."""

    name = "common-draws"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        reading = call.reading.choose(noise_pairing="common")
        return super().hypergradient_samples(problem, x, replace(call, reading=reading), rng, replications)


class IgnoresBatch(_Sampled):
    """Draws one sample whatever N_g."""

    name = "ignores-batch"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        return super().hypergradient_samples(problem, x, _batch(call, 1), rng, replications)


class OneSampleFewer(_Sampled):
    """Averages N_g - 1 samples."""

    name = "one-sample-fewer"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        fewer = _batch(call, max(1, call.parameters.N_g - 1))
        return super().hypergradient_samples(problem, x, fewer, rng, replications)


class BatchFromAlpha(_Sampled):
    """Averages sigma**2 / alpha**2 samples, as the convergence theorem asks, whatever N_g."""

    name = "batch-from-alpha"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        wanted = math.ceil(round((float(problem.noise.scale("f.x")) / call.alpha) ** 2, 6))
        batch = max(1, min(wanted, 1 << 16))
        return super().hypergradient_samples(problem, x, _batch(call, batch), rng, replications)


class SilentNoise(_Sampled):
    """Adds the noise to the objective's value, so that it never reaches the gradient."""

    name = "silent-noise"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        return np.tile(self.mean(problem, x, call), (replications, 1))


class NoUpperNoise(_Sampled):
    """Samples g, but takes the exact gradient of f."""

    name = "no-upper-noise"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        lower_only = problem.noise.model_copy(update={"sigma_f": type(problem.noise)().sigma_f})
        drawn = getattr(problem, "quadratic", problem).model_copy(update={"noise": lower_only})
        return super().hypergradient_samples(drawn, x, call, rng, replications)


class AveragesTooMuch(_Sampled):
    """Divides the noise once more by the root of N_g."""

    name = "averages-too-much"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        right = super().hypergradient_samples(problem, x, call, rng, replications)
        mean = self.mean(problem, x, call)
        return mean + (right - mean) / call.parameters.N_g**0.5


class SumsBatch(_Sampled):
    """Adds the samples up without dividing by their number."""

    name = "sums-batch"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        return call.parameters.N_g * super().hypergradient_samples(problem, x, call, rng, replications)


class BiasedDraw(_Sampled):
    """Adds a hundredth of the noise's standard deviation to every component of a draw."""

    name = "biased-draw"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        right = super().hypergradient_samples(problem, x, call, rng, replications)
        return right + 0.01 * float(problem.noise.sigma_f)


class CorrelatedSamples(_Sampled):
    """Lets all samples of a batch share a fifth of their variance."""

    name = "correlated-samples"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        own = super().hypergradient_samples(problem, x, call, rng, replications)
        shared = super().hypergradient_samples(problem, x, _batch(call, 1), rng, replications)
        mean = self.mean(problem, x, call)
        return mean + 0.8**0.5 * (own - mean) + 0.2**0.5 * (shared - mean)


class RepeatedDraws(_Sampled):
    """Uses every draw in two consecutive estimates."""

    name = "repeated-draws"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        half = super().hypergradient_samples(problem, x, call, rng, -(-replications // 2))
        return np.repeat(half, 2, axis=0)[:replications]


class CopiesDraws(_Sampled):
    """Draws half of what is asked and returns it twice."""

    name = "copies-draws"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        half = super().hypergradient_samples(problem, x, call, rng, (replications + 1) // 2)
        return np.concatenate([half, half])[:replications]


class ReseedsEveryCall(_Sampled):
    """Starts its own generator from one seed in every call."""

    name = "reseeds-every-call"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        once = super().hypergradient_samples(problem, x, call, np.random.default_rng(0), 1)
        return np.repeat(once, replications, axis=0)


AVERAGING = Catch("variance-bound", "toy1")
INDEPENDENCE = Catch("variance-bound/independence", "toy1")

MUTANTS = (
    Mutant(
        "independent-draws", IndependentDraws, "samples", "paper-as-written",
        "Noise of ∇_xg at ỹ and at ỹ* no longer cancels: one sample's variance grows like α⁻⁴.",
        (
            Catch("variance-bound/per-sample", "toy1"),
            Catch("variance-bound/g-noise-only", "box-rational"),
            Catch("inner-cost/batch-size", "toy1"),
        ),
        choice="noise_pairing",
    ),
    Mutant(
        "common-draws", CommonDraws, "samples", "noise",
        "One draw serves ∇_xg at ỹ and ỹ* even where independent ones are asked for: the variance stays bounded "
        "where the literal text's grows like α⁻⁴. Right under the repaired reading.",
        (Catch("variance-bound/per-sample", "toy1", "as-written"),),
    ),
    Mutant(
        "ignores-batch", IgnoresBatch, "samples", "averaging",
        "The variance does not fall with N_g; it is N_g times what was paid for.",
        (AVERAGING, Catch("hypergradient-accuracy", "box-rational")),
    ),
    Mutant(
        "one-sample-fewer", OneSampleFewer, "samples", "averaging",
        "The variance is N_g/(N_g - 1) times what was paid for.",
        (AVERAGING,),
    ),
    Mutant(
        "batch-from-alpha", BatchFromAlpha, "samples", "paper-as-written",
        "N_g = σ²/α² is drawn whatever N_g says: the variance is α², the price of an outer step ε⁻².",
        (AVERAGING, Catch("hypergradient-accuracy/decomposition", "toy1")), choice="outer_batch",
    ),
    Mutant(
        "silent-noise", SilentNoise, "samples", "noise",
        "The noise sits on the objective's value and its gradient is exact: runs look noise-free at any σ.",
        (AVERAGING, Catch("stochastic-oracles/noise-reaches-gradient", "toy1")),
    ),
    Mutant(
        "no-upper-noise", NoUpperNoise, "samples", "noise",
        "Only g is sampled: under common draws the variance falls like α² instead of staying at σ².",
        (AVERAGING, Catch("stochastic-oracles/noise-reaches-gradient", "toy1")),
    ),
    Mutant(
        "averages-too-much", AveragesTooMuch, "samples", "averaging",
        "The variance falls like N_g⁻², as if the average were divided by N_g twice.",
        (Catch("variance-bound", "two-of-three"), Catch("hypergradient-accuracy/decomposition", "toy1")),
    ),
    Mutant(
        "sums-batch", SumsBatch, "samples", "averaging",
        "The estimate is N_g times too long, noise included.",
        (AVERAGING, Catch("hypergradient-accuracy/decomposition", "toy1")),
    ),
    Mutant(
        "biased-draw", BiasedDraw, "samples", "noise",
        "Every component is shifted by σ/100, whatever α: a bias that no averaging removes.",
        (
            Catch("stochastic-oracles/unbiasedness", "toy1"),
            Catch("stochastic-oracles/unbiasedness", "two-of-three"),
        ),
    ),
    Mutant(
        "correlated-samples", CorrelatedSamples, "samples", "generator",
        "The samples of a batch share a fifth of their variance: averaging stops helping at σ²/5.",
        (AVERAGING, Catch("variance-bound/independence", "box-rational")),
    ),
    Mutant(
        "repeated-draws", RepeatedDraws, "samples", "generator",
        "Neighbouring estimates are equal: each looks right, their averages are twice as noisy as they should be.",
        (INDEPENDENCE,),
    ),
    Mutant(
        "copies-draws", CopiesDraws, "samples", "generator",
        "Half of the estimates are copies of the other half: sample sizes are half of what they seem.",
        (INDEPENDENCE,),
    ),
    Mutant(
        "reseeds-every-call", ReseedsEveryCall, "samples", "generator",
        "Every estimate is the same draw: no spread, and one draw's error as bias.",
        (AVERAGING, Catch("stochastic-oracles/noise-reaches-gradient", "toy1")),
    ),
)  # fmt: skip
