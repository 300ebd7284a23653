"""A subject's own lower-level iterations: how their error falls with the steps, held against the exact law."""

from __future__ import annotations

import math
from math import ceil, log, sqrt

import numpy as np
import scipy

from spec import Noise, OracleParameters
from spec.atlas import Instance
from spec.exact import Vector
from verify.checks.measuring.case import Case, compare
from verify.checks.measuring.premises import additive
from verify.evidence.budget import Share
from verify.evidence.decisions import SquareDecision
from verify.evidence.laws import SquareLaw, normal_upper
from verify.evidence.model import ComparisonEvidence, Law, RateEvidence
from verify.evidence.premises_of_laws import Taken, law_of_squares
from verify.evidence.rates import RESOLVED, Estimate, fit_power_law, invert
from verify.subjects.protocol import Call
from verify.truth.geometry import quadratic_of, spectral_norm
from verify.truth.iterations import LinearIteration, best_constant, mean_square, primal_dual, shrinking
from verify.truth.pair import Truth
from verify.verdict import RESOLUTION

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
MARGIN = 1.5
"""On sample sizes from a normal tail: sums of squares have a heavier one."""


def measured_steps(
    case: Case, truth: Truth, iteration: LinearIteration, law: RateEvidence, *, power: float, name: str
) -> tuple[RateEvidence, ComparisonEvidence, ComparisonEvidence]:
    """Steps against δ**power over the subject's iterations, the mean square's slope off the law's, and its size.

    Each mean square is taken in units of its exact covariance, which makes it a chi-square variable, and the law's
    lower-order terms are divided out: what is left is the law's limiting power times what the subject adds to it.
    Under a constant step the best size for each number of steps is used. ``law`` has the steps by the exact iteration.
    """
    runs = _sizes(case, iteration, law, power)
    start = float(np.linalg.norm(iteration.start))
    slope = 2 / (power * law.exponent)
    ratios, estimates, reached, laws = [], [], [], list[Taken]()
    spent = case.share.single.error / 2 / len(TIMES)
    seen: dict[int, tuple[Vector, SquareLaw, LinearIteration]] = {}
    first: tuple[float, float] | None = None
    for steps, count in zip(times(case), runs, strict=True):
        sized = sized_for(case, iteration, steps)
        mean, covariance = law_at(case, sized, steps)
        rows = errors(case, truth, call_of(case, sized, steps), SMALL, runs=count)
        square = float(mean @ mean + np.trace(covariance))
        calls = steps / log(start / sqrt(square)) if constant_step(case) else float(steps)
        first = first or (calls, square)
        white = scipy.linalg.solve_triangular(np.linalg.cholesky(covariance), (rows - mean).T, lower=True)
        # An error that is not Gaussian is worth fewer degrees of freedom.
        each: Vector = (white**2).sum(axis=0)
        laws.append(law_of_squares(each, SquareLaw((1.0,) * len(mean), (0.0,) * len(mean), count), spent, SIZES))
        dof = white.size * laws[-1].worth
        ratio = float(each.mean()) / len(mean)
        value = ratio * first[1] * (calls / first[0]) ** slope
        reached.append((ratio * square) ** (power / 2))
        ratios.append(Estimate({"steps": calls}, ratio, dof, samples=len(rows)))
        estimates.append(Estimate({"steps": calls}, value, dof, samples=len(rows)))
        seen[steps] = rows, SquareLaw.of(mean, covariance, len(rows)), sized
    # The law's bends are divided out, and a bend of the subject's own shows at the middle time, which is held apart.
    measured = "mean squared error of the subject's pair"
    squares = fit_power_law(estimates, case.share.single, quantity=measured, bends=False)["steps"]
    worst = min(laws, key=lambda taken: taken.worth)
    squares = squares.model_copy(update={"law": worst.law, "checked": worst.checked})
    # The law's own exponent is known to within its interval only; where that is open, the squares may stop falling.
    low, high = squares.interval
    steep, flat = sorted(2 / (power * end) for end in law.interval)
    squares = squares.model_copy(
        update={"interval": (low + steep - slope, high + flat - slope), "error_rate": case.share.error}
    )  # fmt: skip
    if max(abs(end) for end in law.interval) == math.inf:
        squares = squares.model_copy(update={"interval": (squares.interval[0], 0.0)})
    rate = invert(squares, quantity="steps to accuracy, the subject's own", variable=name, power=power / 2)
    points = tuple(p.model_copy(update={"at": at}) for p, at in zip(rate.points, reached, strict=True))
    rate = rate.model_copy(update={"points": points})
    slope_off = slope_of(ratios, case.share).model_copy(update={"law": worst.law, "checked": worst.checked})
    return rate, slope_off, _held(case, *seen[times(case)[HELD]])


def times(case: Case) -> tuple[int, ...]:
    """Numbers of steps after which the subject's own iterations are read."""
    return tuple(steps // case.profile.shorter for steps in TIMES)


def errors(case: Case, truth: Truth, call: Call, noise: Noise, *, runs: int, pair: bool = True) -> Vector:
    """Errors of y, and of the active rows' multipliers if asked, over independent iterations, one a row."""
    active = truth.active > 0
    problem = case.instance.with_noise(noise).problem
    y, lam = case.stages.lower_level_runs(problem, case.x, call, case.rng, runs)
    off: Vector = y - truth.y_star
    return np.hstack([off, lam[:, active] - truth.lam[active]]) if pair else off


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
    reach, missed = normal_upper(case.share.single.error / 4), normal_upper(case.share.missed)
    if case.bound.tag == "tight" and power == 1:
        # What the law's own interval leaves of a tenth of an order, as an exponent of the mean square; the middle of
        # the measured interval is off by chance as well.
        off = max(abs(end - claimed) for end in law.interval)
        width = min(COARSE, max(0.0, RESOLUTION - off) * 2 / law.exponent**2 / (1 + missed / reach) / TAILS)
    d = len(iteration.start)
    long = ceil((1 + 1 / EARLY) * 2 / d * (reach / (max(width, FINE) * log(TIMES[-1] / TIMES[0]))) ** 2)
    held = times(case)[HELD]
    covariance = law_at(case, sized_for(case, iteration, held), held)[1]
    spread = float((covariance**2).sum()) / float(np.trace(covariance)) ** 2
    middle = ceil(MARGIN * 2 * spread * ((reach + missed) / CONSTANT_SEEN) ** 2)
    return tuple(case.share.times(count) for count in (EARLY * long, middle, long))


def slope_of(ratios: list[Estimate], share: Share) -> ComparisonEvidence:
    """Power of the steps in the ratio of the subject's mean square to the law's, against none."""
    # Where the subject is right they are 1 throughout.
    fit = fit_power_law(ratios, share.single, quantity="", bends=False)["steps"]
    low, high = fit.interval
    half = max(high - fit.exponent, fit.exponent - low)
    return compare(
        "power of the steps in the mean squared error over the exact law's", fit.exponent, "==", 0.0, half,
        rung="statistical", error_rate=share.error, detectable=(fit.detectable or 0.0) - RESOLVED, wanted=0.15,
        power=1 - share.missed, samples=fit.samples, samples_needed=fit.samples_needed,
        law="exponent (log chi-square)",
    )  # fmt: skip


def _held(case: Case, rows: Vector, law: SquareLaw, iteration: LinearIteration) -> ComparisonEvidence:
    """The subject's mean squared error against the law's: constants count beside powers."""
    return SquareDecision(
        quantity=f"mean squared error after {times(case)[HELD]} steps", law=law, share=case.share, wanted=CONSTANT_SEEN,
        context={"step size": iteration.eta_y, "solver": "constant step" if constant_step(case) else "averaged"},
    ).of((rows**2).sum(axis=1))  # fmt: skip
