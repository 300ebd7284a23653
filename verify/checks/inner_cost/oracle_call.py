"""Lemma "Inner-loop Oracle Complexity", step C3: the batch, the sum of all calls, and what they buy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from math import ceil, log

import numpy as np

from spec import Noise, OracleParameters
from spec.atlas import find
from spec.exact import Vector
from verify.checks.assumptions.stochastic_oracles import jumping_rate, may_jump
from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.estimates.samples import (
    RATE_BLOCK,
    SampledFormula,
    SampleSetting,
    sampled_rates,
    second_moment,
    variance_order,
)
from verify.checks.measuring.premises import additive, regular_truth
from verify.checks.measuring.runs.iteration_runs import (
    call_of,
    constant_step,
    error_sampler,
    law_at,
    mean_square_at,
    settled_iteration,
    sized_for,
)
from verify.evidence.bets.squares import SquareBound
from verify.evidence.intervals import quantile_interval
from verify.evidence.model import ComparisonEvidence, Point, RateEvidence
from verify.evidence.rates.orders import bent
from verify.evidence.rates.rates import SweepEstimate, fit_power_law, fit_rate
from verify.evidence.samples.laws import SquareLaw
from verify.subjects.protocol import Call
from verify.truth.enclosures.pair import Truth
from verify.truth.iterations import LinearIteration, shrinking
from verify.verdict import decide

INSTANCES = ("toy1", "two-of-three")
NOISE, FAINT, LOUD, BATCH_NOISE = (additive(sigma) for sigma in ("1/30", "1/100", "1/10", "1/20"))
BATCH_ALPHAS = (0.05, 0.025, 0.0125, 0.00625)
COUNTED = {True: (0.12, 0.11, 0.1, 0.092, 0.085), False: (0.11, 0.098, 0.087, 0.077, 0.068)}
"""Alphas at which a whole call is counted, for constant and for averaged steps, which reach their rate later; the lower
level takes α⁻⁶ steps."""
HELD_ALPHA = 0.1
"""One at which the accuracy that the steps buy is measured."""
LADDER = {True: tuple(2**k for k in range(7, 15)), False: tuple(2**k for k in range(7, 13))}
"""Steps at which the lower level's exact law is read, for constant and for averaged steps; beyond, by its power."""
LATE = 4096
"""Steps after which the averaged iteration's error shrinks like 1/√t to within a few hundredths."""
SHARED_ALPHAS = {True: (0.1, 0.07, 0.05, 0.035), False: (0.1, 0.05, 0.025, 0.0125)}
"""As written, where fresh draws make runs long, and repaired."""
ERROR_ALPHAS = (0.05, 0.00884, 0.0015625)
"""At a larger one the decile of the second instance still bends, at a smaller one doubles round as much away."""
LEVEL = 0.9
"""Which quantile speaks where errors follow no known law: the mean is at least a tenth of it."""
RUNS, ENDS = 1000, 900
"""Independent complete calls behind one error at the first look."""
CALLED = 32
"""Independent lower-level runs a call."""
LOOKS = 2
"""Looks at the size of errors, each of four times as many calls as the one before."""
ACCURATE = 0.2
"""Relative slack on the accuracy asked of the counted calls."""


@check("inner-cost/batch-size", instances=("two-of-three", "toy1", "box-rational", "random-3x5x4"),
       needs=("hypergradient",), decisions=1)  # fmt: skip
def batch_size(case: Case) -> Measurement:
    """Conditional variance at N_g = σ²/α² against alpha; where noise may jump, that of one sample over this N_g."""
    truth = regular_truth(case.instance)
    if may_jump(case, truth):
        rate = jumping_rate(case, truth, "variance of one sample over N_g = σ²/α², jump noise", lambda alpha: alpha**-2)
        return Measurement((rate,), values_at("variance at alpha", rate.points))
    settings = []
    for alpha in BATCH_ALPHAS:
        N_g = max(1, ceil(len(case.x) * BATCH_NOISE.scale("f.x") ** 2 / alpha**2 - 1e-9))
        setting = SampleSetting.at(case, truth, alpha, BATCH_NOISE, N_g=N_g)
        exact = second_moment(setting, BATCH_NOISE) / N_g
        settings.append(({"alpha": alpha}, setting.sampler(block=RATE_BLOCK), exact))
    order = variance_order(case, BATCH_NOISE)
    # N_g is a whole number, and α⁻² but for less than one.
    formula = None if order is None else SampledFormula({"alpha": order + 2.0})
    rate = sampled_rates(case, settings, quantity="variance at N_g = σ²/α²", deciding="alpha", formula=formula)["alpha"]
    return Measurement((rate,), values_at("variance at alpha", rate.points))


@check("inner-cost/total", instances=INSTANCES, needs=("hypergradient_runs", "lower_level_runs"), decisions=1,
       sure=1)  # fmt: skip
def total(case: Case) -> Measurement:
    """Gradient samples one call counts at the accuracies asserted, which its lower level is seen to reach."""
    return _counted_call(case, "The lower level's σ²/δ² = σ²α⁻⁶ noisy steps outweigh everything else.")


@check("inner-cost", instances=INSTANCES, needs=("hypergradient_runs", "lower_level_runs"), decisions=1,
       sure=1)  # fmt: skip
def whole_call(case: Case) -> Measurement:
    """The same with the batch that brings this reading's variance to α², and the iteration's own sign."""
    return _counted_call(case, batch=True)


def _counted_call(case: Case, note: str = "", *, batch: bool = False) -> Measurement:
    truth = regular_truth(case.instance)
    rate = _counted(case, truth, batch=batch)
    return Measurement((rate, accurate(case)), values_at("calls at alpha", rate.points), note)


@check("inner-cost/output-accuracy", instances=INSTANCES, needs=("hypergradient",), decisions=1)
def output_accuracy(case: Case) -> Measurement:
    """Error of complete calls at the asserted number of gradient samples: α⁻² as written, α⁻⁶ repaired.

    The lower level's pair is drawn from its iteration's exact law after so many steps, which the counted calls hold
    subjects to; all else is the subject's own.
    """
    truth = regular_truth(case.instance)
    pairs = {alpha: _pair_law(case, alpha) for alpha in ERROR_ALPHAS}
    # Independent draws bury everything in Gaussian noise; without them the pair's own, clipped errors spread further.
    first = ENDS if case.reading.noise_pairing == "independent" else 2 * ENDS
    rate = _sized(case, ERROR_ALPHAS, first, lambda alpha, runs: _errors_from(case, truth, alpha, pairs[alpha], runs))
    note = "Errors of y* and λ* far above α³ are multiplied by α₁ and α₂."
    return Measurement((rate,), values_at("error at alpha", rate.points), note)


@check("inner-cost/shared-sample", instances=INSTANCES, needs=("hypergradient_runs",), decisions=1, sure=2)
def shared_sample(case: Case) -> Measurement:
    """Error of complete calls with N = σ²/α² samples: drawn afresh for each phase as written, shared repaired."""
    truth = regular_truth(case.instance)
    counts, alphas = {}, SHARED_ALPHAS[case.as_written]
    problem = case.instance.with_noise(LOUD).problem
    there, first = case, RUNS
    if not case.as_written:
        there, first = (
            replace(case, reading=case.reading.choose(inner_solver="shared-sample")),
            40 * RUNS // len(case.x),
        )

    def draw(alpha: float, runs: int) -> Vector:
        if case.as_written:
            iteration, steps = _frugal(case, alpha)
        else:
            iteration = settled_iteration(case.instance, truth, sigma=0.0)
            steps = ceil(log(1e-3 * alpha**5) / log(iteration.radius)) + 100
        call = _call(there, LOUD, alpha, iteration, steps)
        estimated, calls = case.stages.hypergradient_runs(problem, case.x, call, case.rng, runs)
        counts[alpha] = Point(at=alpha, measured=calls / log(1 / alpha))
        return np.asarray(estimated - truth.grad_F)

    rate = _sized(case, alphas, first, draw)
    price = fit_rate(
        list(counts.values()), quantity="gradient samples of one call over log 1/α", variable="alpha", role="support"
    )
    # The claim is an accuracy at a price; counts are exact, so the price decides by its power alone.
    power = "power of α in the gradient samples of one call, logarithms divided out"
    cost = compare(power, price.interval[0], ">=", -2.0, PRICE_TOLERANCE)
    note = "A shared sample perturbs one problem by σ/√N = α; its solution and its hypergradient move by O(α)."
    return Measurement((rate, price, cost), values_at("error at alpha", rate.points), note)


PRICE_TOLERANCE = 0.5
"""Half an order: logarithms bend the power over so short a sweep, the next worse price is two orders away."""
SIZE = "ninth decile of the estimate's error"


def _sized(case: Case, alphas: Sequence[float], first: int, draw: Callable[[float, int], Vector]) -> RateEvidence:
    """Power of alpha in the size of errors: their ninth decile, whose order statistics hold for every continuous law.

    Complete calls pass through max(0, λ) and the ramps, so no Gaussian law is at hand. The root mean square is at
    least a third of the decile. ``draw`` gives the errors of so many runs, shape (runs, n); three times as many are
    added as often as :data:`LOOKS` allow while the claim is undecided.
    """
    looks, runs = case.share.single.part(LOOKS), case.share.times(first)
    sizes: dict[float, Vector] = {alpha: np.zeros(0) for alpha in alphas}
    for look in range(LOOKS):
        estimates = []
        for alpha in alphas:
            more = runs if look == 0 else 3 * len(sizes[alpha])
            sizes[alpha] = np.concatenate([sizes[alpha], np.linalg.norm(draw(alpha, more), axis=1)])
            middle, low, high = quantile_interval(sizes[alpha], LEVEL, looks.error / 2 / len(alphas))
            at, count = {"alpha": alpha}, len(sizes[alpha])
            estimates.append(SweepEstimate(at, middle, None, low, high, count, law="exponent (order statistics)"))
        rate = bent(fit_power_law(estimates, looks, quantity=SIZE)["alpha"])
        if str(decide(case.bound, [rate]).verdict) != "INCONCLUSIVE":
            break
    return rate.model_copy(update={"error_rate": case.share.single.error})


def _errors_from(case: Case, truth: Truth, alpha: float, law: tuple[Vector, Vector], runs: int) -> Vector:
    """Errors of the subject's estimates, each from a pair of its own."""
    active, m = truth.active > 0, len(truth.y_star)
    pairs = case.rng.multivariate_normal(*law, size=runs, method="eigh")
    problem = case.instance.with_noise(LOUD).problem
    call = _call(case, LOUD, alpha, None, 1)
    questions = []
    for pair in pairs:
        lam = truth.lam.copy()
        lam[active] = np.maximum(0.0, lam[active] + pair[m:])
        questions.append((case.x, replace(call, y_star=truth.y_star + pair[:m], lam=lam)))
    return np.array(case.stages.hypergradients(problem, questions, case.rng)) - truth.grad_F


def _pair_law(case: Case, alpha: float) -> tuple[Vector, Vector]:
    """Mean and covariance of the pair's error: at α⁻² log 1/α steps as written, at mean square α⁶ repaired."""
    if case.as_written and constant_step(case):
        iteration, steps = _frugal(case, alpha)
        return iteration.constant(steps)
    # Averaged errors shrink like 1/√t: read late and scaled.
    covariance = _averaged_law(case.instance.name)
    square = float(np.trace(covariance))
    wanted = square * LATE / _frugal(case, alpha)[1] if case.as_written else alpha**6
    return np.zeros(len(covariance)), covariance * (wanted / square)


@lru_cache(maxsize=16)
def _averaged_law(name: str) -> Vector:
    """Covariance of the averaged pair's error after :data:`LATE` steps."""
    return _iteration(name, LOUD.scale("g.y")).averaged(LATE, shrinking)[1]


def _iteration(name: str, sigma: float) -> LinearIteration:
    instance = find(name)
    return settled_iteration(instance, regular_truth(instance), sigma=sigma)


def _frugal(case: Case, alpha: float) -> tuple[LinearIteration, int]:
    """As many steps as α⁻² log 1/α, with the best constant size where it is constant."""
    steps = ceil(2 * log(1 / alpha) / alpha**2)
    return sized_for(case, _iteration(case.instance.name, LOUD.scale("g.y")), steps), steps


def _call(case: Case, noise: Noise, alpha: float, iteration: LinearIteration | None, steps: int) -> Call:
    n_sigma = len(case.x) * noise.scale("f.x") ** 2
    samples = max(1, ceil(n_sigma / alpha**2 - 1e-9))
    parameters = OracleParameters(lower_level_steps=steps, N_g=samples, shared_samples=samples)
    sizes = {} if iteration is None else {"eta_y": iteration.eta_y, "eta_lam": iteration.eta_lam}
    return case.call(alpha, parameters=parameters.model_copy(update=sizes))


def _counted(case: Case, truth: Truth, *, batch: bool) -> RateEvidence:
    """Counts of single calls whose lower level takes the steps its exact law asks for accuracy α³ of the pair."""
    noise, points = noise_of(case), []
    for alpha in COUNTED[constant_step(case)]:
        call = _call(case, noise, alpha, *enough(case, alpha))
        if batch:
            samples = ceil(second_moment(SampleSetting.at(case, truth, alpha, noise), noise) / alpha**2)
            call = replace(call, parameters=call.parameters.model_copy(update={"N_g": samples}))
        calls = case.stages.hypergradient_runs(case.instance.with_noise(noise).problem, case.x, call, case.rng, 1)[1]
        points.append(Point(at=alpha, measured=calls))
    return fit_rate(points, quantity="gradient samples of one call", variable="alpha")


def accurate(case: Case) -> ComparisonEvidence:
    """The subject's pair after the counted steps: within α³ in mean square, at one α of the sweep."""
    alpha = HELD_ALPHA
    iteration, steps = enough(case, alpha)
    call = replace(call_of(case, iteration, steps), alpha=alpha)
    decision = SquareBound(
        "mean squared error of the pair at the counted steps", case.share, relation="<=",
        law=SquareLaw.of(*law_at(case, iteration, steps)), predicted=(1 + ACCURATE) * alpha**6, wanted=1.0,
        context={"alpha": alpha, "steps": float(steps)},
    )  # fmt: skip
    return decision.run(error_sampler(case, call, noise_of(case), block=CALLED))


def noise_of(case: Case) -> Noise:
    """Fainter for the constant step, whose logarithm would make its runs long."""
    return FAINT if constant_step(case) else NOISE


@lru_cache(maxsize=16)
def _ladder(name: str, constant: bool, sigma: float) -> tuple[tuple[int, float, LinearIteration], ...]:
    """Mean square of the pair's error at growing numbers of steps, by the exact law, with the step sizes used."""
    iteration = _iteration(name, sigma)
    return tuple((steps, *mean_square_at(constant, iteration, steps)) for steps in LADDER[constant])


def enough(case: Case, alpha: float) -> tuple[LinearIteration, int]:
    """Steps after which the mean square is α⁶, between the ladder's rungs by their power law."""
    law, target = _ladder(case.instance.name, constant_step(case), noise_of(case).scale("g.y")), alpha**6
    (few, before, _), (many, after, sized) = next(
        (pair for pair in pairwise(law) if pair[1][1] <= target), (law[-2], law[-1])
    )
    steps = ceil(few * (many / few) ** (log(before / target) / log(before / after)))
    return sized_for(case, sized, steps), steps
