"""A subject's own lower-level iterations: how their error falls with the steps, held against the exact law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log, sqrt

import numpy as np

from spec import Noise, OracleParameters
from spec.atlas import Instance
from spec.exact import Vector
from verify.checks.measuring.case import Case, compare
from verify.checks.measuring.premises import additive, regular_truth
from verify.evidence.bets.squares import SquareBound
from verify.evidence.budget import EFFORT_STEP, Share
from verify.evidence.intervals import Looks
from verify.evidence.model import ComparisonEvidence, Law, RateEvidence
from verify.evidence.rates.rates import RESOLVED, SweepEstimate, fit_power_law, invert
from verify.evidence.samples.laws import SquareLaw, normal_upper
from verify.evidence.samples.moments import Moments
from verify.evidence.samples.premises_of_laws import Taken, law_of_variance
from verify.evidence.streams import Sampler, Streams
from verify.subjects.protocol import Call
from verify.truth.enclosures.pair import Truth
from verify.truth.geometry import quadratic_of, spectral_norm
from verify.truth.iterations import LinearIteration, best_constant, mean_square, primal_dual, shrinking
from verify.verdict import RESOLUTION, decide

SMALL = additive("1/10")
TIMES = (64, 512, 2048)
"""Steps at which the subject's own iterations are read; fewer in a profile that asks for shorter ones."""
HELD = 1
"""At which of these times their mean square is held against the exact law's."""
CONSTANT_SEEN = 0.2
"""Relative error of that mean square that must be seen."""
EARLY = 4
"""How many times as many short iterations as long ones are run: they cost less."""
COARSE, FINE = 0.04, 0.01
"""Half-width of the measured exponent of the mean square: where the claim is far away, and at least."""
TAILS = 1.2
"""On widths from a normal tail: the bound of a sum of logarithms is wider, and so is the law's own interval."""
SIZES: Law = "exponent (log chi-square)"
"""The law of the mean squares' exponent."""
FURTHER = 2
"""Looks at the powers before they are left open."""
SWEEP_BLOCK, HELD_BLOCK = 512, 128
"""Iterations a call."""


def measured_steps(
    case: Case, iteration: LinearIteration, law: RateEvidence, *, power: float, name: str
) -> tuple[RateEvidence, ComparisonEvidence, ComparisonEvidence]:
    """Steps against δ**power over the subject's iterations, the mean square's slope off the law's, and its size.

    Each mean square is taken in units of its exact covariance, which makes it a chi-square variable, and the law's
    lower-order terms are divided out: what is left is the law's limiting power times what the subject adds to it.
    Under a constant step the best size for each number of steps is used. ``law`` has the steps by the exact iteration.
    Samples grow until both powers are decided, each look at its part of the share; the size is decided by bets.
    """
    sweep = _Sweep.of(case, iteration)
    planned, held = Looks(2, case.share.error), held_to_law(case, iteration)
    sizes = _sizes(case, iteration, law, power)
    while True:
        look = max(1, sweep.samplers[0].look)
        share = replace(case.share, error=planned.spends(look))
        ratios, taken = sweep.ratios(sizes, look, share.error / 2 / len(sizes))
        rate = _rate_of_steps(sweep, ratios, law, share, power=power, name=name)
        stated = {"law": taken.law, "checked": taken.checked, "error_rate": case.share.error}
        rate = rate.model_copy(update=stated)
        slope_off = slope_of(ratios, share).model_copy(update=stated)
        decided = str(decide(case.bound, [rate]).verdict), str(decide(case.bound, [slope_off]).verdict)
        if look >= FURTHER + case.share.level or (
            "INCONCLUSIVE" not in decided and (look > case.share.level or "REFUTED" in decided)
        ):
            return rate, slope_off, held
        sweep.samplers[0].look = look + 1


@dataclass(frozen=True)
class _Sweep:
    """Independent iterations of growing lengths, each error in units of its exact covariance, around its exact mean."""

    steps: tuple[int, ...]
    samplers: tuple[Sampler, ...]
    calls: tuple[float, ...]
    """Steps, over the logarithm under a constant step, that is not counted."""
    squares: tuple[float, ...]
    """Mean squares by the exact law."""

    @classmethod
    def of(cls, case: Case, iteration: LinearIteration) -> _Sweep:
        start, samplers, calls, squares = float(np.linalg.norm(iteration.start)), [], [], []
        for steps in times(case):
            sized = sized_for(case, iteration, steps)
            mean, covariance = law_at(case, sized, steps)
            square = float(mean @ mean + np.trace(covariance))
            root = np.linalg.inv(np.linalg.cholesky(covariance))
            call = call_of(case, sized, steps)
            samplers.append(error_sampler(case, call, SMALL, block=SWEEP_BLOCK, white=(mean, root)))
            calls.append(steps / log(start / sqrt(square)) if constant_step(case) else float(steps))
            squares.append(square)
        return cls(times(case), tuple(samplers), tuple(calls), tuple(squares))

    def ratios(self, sizes: Sequence[int], look: int, error: float) -> tuple[list[SweepEstimate], Taken]:
        """Mean squares over the exact law's at a look, and the law that says least of them."""
        estimates, laws = [], []
        for sampler, calls, size in zip(self.samplers, self.calls, sizes, strict=True):
            moments = sampler.reach(size * EFFORT_STEP ** (look - 1))
            # An error that is not Gaussian is worth fewer degrees of freedom.
            laws.append(law_of_variance(moments, error, SIZES))
            width = len(moments.mean)
            dof = width * moments.count * laws[-1].worth
            estimates.append(SweepEstimate({"steps": calls}, moments.mean_square / width, dof, samples=moments.count))
        return estimates, min(laws, key=lambda taken: taken.worth)


def _rate_of_steps(
    sweep: _Sweep, ratios: Sequence[SweepEstimate], law: RateEvidence, share: Share, *, power: float, name: str
) -> RateEvidence:
    """Steps against the accuracy reached."""
    slope, first = 2 / (power * law.exponent), (sweep.calls[0], sweep.squares[0])
    estimates = [replace(one, value=one.value * first[1] * (calls / first[0]) ** slope)
                 for one, calls in zip(ratios, sweep.calls, strict=True)]  # fmt: skip
    reached = [(one.value * square) ** (power / 2) for one, square in zip(ratios, sweep.squares, strict=True)]
    # The law's bends are divided out, and a bend of the subject's own shows at the middle time, which is held apart.
    measured = "mean squared error of the subject's pair"
    squares = fit_power_law(estimates, share, quantity=measured, bends=False)["steps"]
    # The law's own exponent is known to within its interval only; where that is open, the squares may stop falling.
    low, high = squares.interval
    steep, flat = sorted(2 / (power * end) for end in law.interval)
    squares = squares.model_copy(update={"interval": (low + steep - slope, high + flat - slope)})
    if max(abs(end) for end in law.interval) == math.inf:
        squares = squares.model_copy(update={"interval": (squares.interval[0], 0.0)})
    rate = invert(squares, quantity="steps to accuracy, the subject's own", variable=name, power=power / 2)
    points = tuple(p.model_copy(update={"at": at}) for p, at in zip(rate.points, reached, strict=True))
    return rate.model_copy(update={"points": points})


def times(case: Case) -> tuple[int, ...]:
    """Numbers of steps after which the subject's own iterations are read."""
    return tuple(steps // case.profile.shorter for steps in TIMES)


def error_sampler(
    case: Case, call: Call, noise: Noise, *, block: int, pair: bool = True,
    white: tuple[Vector, Vector] | None = None,
) -> Sampler:  # fmt: skip
    """Errors of y, and of the active rows' multipliers if asked, over independent iterations, ``block`` a call.

    ``white`` are a mean to take off, shape (k,), and a matrix to apply, shape (k, k).
    """
    truth = regular_truth(case.instance)
    active = truth.active > 0
    problem = case.instance.with_noise(noise).problem

    def draw(rng: np.random.Generator, runs: int) -> Vector:
        y, lam = case.stages.lower_level_runs(problem, case.x, call, rng, runs)
        off: Vector = y - truth.y_star
        rows = np.hstack([off, lam[:, active] - truth.lam[active]]) if pair else off
        return rows if white is None else (rows - white[0]) @ white[1].T

    width = len(truth.y_star) + int(active.sum()) * pair
    return case.ledger.keep(Sampler(draw, Streams.of(case.rng), Moments(np.zeros(width)), block))


def steps_call(case: Case, steps: int, eta_y: float, eta_lam: float, **choices: str) -> Call:
    """A call for so many steps of these sizes, under the case's reading or one with other choices."""
    parameters = OracleParameters(lower_level_steps=steps, eta_y=eta_y, eta_lam=eta_lam)
    return case.call(1.0, reading=case.reading.choose(**choices), parameters=parameters)


def call_of(case: Case, iteration: LinearIteration, steps: int, **choices: str) -> Call:
    """The same with an iteration's sizes."""
    return steps_call(case, steps, iteration.eta_y, iteration.eta_lam, **choices)


def settled_iteration(instance: Instance, truth: Truth, *, sigma: float, size: float = 1.0) -> LinearIteration:
    """The iteration with both steps ``size`` over the largest curvature of g and of the rows."""
    a = quadratic_of(instance.problem).arrays
    active = a.B[truth.active > 0]
    eta = size / (spectral_norm(a.g_yy) + (spectral_norm(active) ** 2 if len(active) else 0.0))
    return primal_dual(instance.problem, truth, eta_y=eta, eta_lam=eta, sigma=sigma)


def constant_step(case: Case) -> bool:
    """Whether the reading's lower level takes steps of constant size."""
    return case.reading.inner_solver == "constant-step"


def mean_square_at(constant: bool, iteration: LinearIteration, steps: int) -> tuple[float, LinearIteration]:
    """Mean square by the exact law, and the iteration: with the best constant sizes, or averaged with its own."""
    if constant:
        return best_constant(iteration, steps)
    return mean_square(*iteration.averaged(steps, shrinking)), iteration


def sized_for(case: Case, iteration: LinearIteration, steps: int) -> LinearIteration:
    """The iteration with the sizes used for so many steps: the best constant ones, or its own, shrinking."""
    return best_constant(iteration, steps)[1] if constant_step(case) else iteration


def law_at(case: Case, iteration: LinearIteration, steps: int) -> tuple[Vector, Vector]:
    """Mean and covariance of the error after so many steps, by the exact law."""
    return iteration.constant(steps) if constant_step(case) else iteration.averaged(steps, shrinking)


def _sizes(case: Case, iteration: LinearIteration, law: RateEvidence, power: float) -> tuple[int, ...]:
    """Independent iterations at each time: so many that a tight claim is resolved, if that is affordable."""
    claimed = float(case.bound.exponents[law.variable])
    width = COARSE
    reach, missed = normal_upper(case.share.error / 8), normal_upper(case.share.missed)
    if case.bound.tag == "tight" and power == 1:
        # What the law's own interval leaves of a tenth of an order, as an exponent of the mean square; the middle of
        # the measured interval is off by chance as well.
        off = max(abs(end - claimed) for end in law.interval)
        width = min(COARSE, max(0.0, RESOLUTION - off) * 2 / law.exponent**2 / (1 + missed / reach) / TAILS)
    d = len(iteration.start)
    long = ceil((1 + 1 / EARLY) * 2 / d * (reach / (max(width, FINE) * log(TIMES[-1] / TIMES[0]))) ** 2)
    return EARLY * long, long, long


def slope_of(ratios: list[SweepEstimate], share: Share) -> ComparisonEvidence:
    """Power of the steps in the ratio of the subject's mean square to the law's, against none."""
    # Where the subject is right they are 1 throughout.
    fit = fit_power_law(ratios, share, quantity="", bends=False)["steps"]
    low, high = fit.interval
    power, half = fit.exponent, max(high - fit.exponent, fit.exponent - low)
    if math.isnan(power):  # too few samples to fit
        first, last = ratios[0], ratios[-1]
        power, half = log(last.value / first.value) / log(last.at["steps"] / first.at["steps"]), math.inf
    seen = math.inf if fit.detectable is None else fit.detectable - RESOLVED
    return compare(
        "power of the steps in the mean squared error over the exact law's", power, "==", 0.0, half,
        rung="statistical", error_rate=share.error, detectable=seen, wanted=0.15,
        power=1 - share.missed, samples=fit.samples, samples_needed=fit.samples_needed,
        law="exponent (log chi-square)",
    )  # fmt: skip


def held_to_law(case: Case, iteration: LinearIteration) -> ComparisonEvidence:
    """The subject's mean squared error against the law's: constants count beside powers."""
    steps = times(case)[HELD]
    sized = sized_for(case, iteration, steps)
    decision = SquareBound(
        f"mean squared error after {steps} steps", case.share, law=SquareLaw.of(*law_at(case, sized, steps)),
        wanted=CONSTANT_SEEN,
        context={"step size": sized.eta_y, "solver": "constant step" if constant_step(case) else "averaged"},
    )  # fmt: skip
    return decision.run(error_sampler(case, call_of(case, sized, steps), SMALL, block=HELD_BLOCK))
