"""What each stage is asked at a place, and its exact answer: alphas, sizes of rows and ramps drawn afresh."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spec import REPAIRED, Noise, OracleParameters, OuterParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case, compare
from verify.checks.measuring.estimates.samples import SampleSetting
from verify.checks.measuring.own_values import AGREEMENT_ROUNDINGS
from verify.checks.measuring.premises import at_truth, estimate, feasible, h_width, regular_truth
from verify.checks.measuring.runs.iteration_runs import call_of, settled_iteration
from verify.checks.measuring.runs.outer_recursion import Follower
from verify.checks.measuring.runs.outer_runs import record
from verify.evidence.model import ComparisonEvidence
from verify.subjects.protocol import MissingCapabilityError
from verify.subjects.stated_accuracy import solved_to
from verify.truth.enclosures.pair import Truth
from verify.truth.formulas import as_float
from verify.truth.geometry import Geometry, quadratic_of, ramp

Ask = Callable[[Case, np.random.Generator], ComparisonEvidence | None]
"""A question put to a stage at a case's place; no evidence where any answer would do."""

ALPHA, DRAWN = 0.1, (0.01, 0.09)
"""Where a stage is asked: at the first, and at one drawn between the others."""
SOLVED = 1e-6
"""Error of a solver that solves, in units of one and the solution's size, where it states no other."""
PLAIN = 1e-9
"""Error of what takes no solver, likewise."""
WIDTHS = (1e-3, 0.5)
"""Between these the ramps' widths are drawn."""
ROWS = (2, 24)
"""Between these, both among them, the number of rows is drawn whose weights are asked for."""
QUIET = "1/1000000000"
"""Scale of a noise that is there and moves an estimate by next to nothing."""
LONGEST_DRAW = 12.0
"""Standard normals are no longer, with a probability of error of 1e-32."""
PLAINLY = REPAIRED.choose(inner_solver="constant-step")
"""How inner solvers are asked for what they tend to, whatever the check's own reading is."""
FINE, STOPPED = (0.02, 0.03), 0.05
"""Where noisy solvers are asked without noise, and how far one that stops at accuracy alpha may be off, relative."""
STEPS = 4000
"""Longest noise-free iteration that is tried."""
EPOCHS = 24
"""Epochs of a penalty solve, each of which about halves the error."""
SETTLED = 30
"""Steps a noise-free iteration is given, in units of what divides its error by e."""


def _lower_level(case: Case, _: np.random.Generator) -> ComparisonEvidence:
    exact = feasible(case.instance)
    y, lam = case.stages.lower_level(case.instance.problem, case.x)
    pairs = [(y, as_float(exact.y_star))] + ([(lam, as_float(exact.lam))] if exact.licq else [])
    return _errors("the exact lower-level pair", pairs, solved_to(case.stages.subject, SOLVED))


def _activation(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    low, high = np.log(WIDTHS)
    h_width, lam_width = (float(width) for width in np.exp(rng.uniform(low, high, 2)))
    rows = int(rng.integers(*ROWS, endpoint=True))
    h, lam = h_width * rng.uniform(-2, 0.5, rows), lam_width * np.maximum(rng.uniform(-0.5, 2, rows), 0)
    weights = case.stages.activation(h, lam, h_width, lam_width)
    return _errors("the ramps' weights", [(weights, ramp(h, lam, h_width, lam_width))], PLAIN)


def _geometries(case: Case, rng: np.random.Generator) -> Iterator[Geometry]:
    """Stages beside the exact ones, with the weights that follow from them: at each alpha that is asked."""
    exact, problem = feasible(case.instance), quadratic_of(case.instance.problem)
    for alpha in (ALPHA, rng.uniform(*DRAWN)):
        y_star = as_float(exact.y_star) + alpha * rng.standard_normal(problem.m)
        lam = np.abs(as_float(exact.lam) + alpha * rng.standard_normal(problem.p))
        bare, call = Geometry(problem, case.x, alpha, y_star, lam, np.zeros(problem.p)), case.call(alpha)
        yield replace(bare, rho=ramp(bare.h, lam, h_width(case, alpha, call), call.parameters.lam_width))


def _penalty_minimiser(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    pairs = []
    for at in _geometries(case, rng):
        call = case.call(at.alpha, y_star=at.y_star, lam=at.lam, rho=at.rho)
        pairs.append((case.stages.penalty_minimiser(case.instance.problem, case.x, call, 0.0), at.minimiser))
    return _errors("the exact penalty minimiser", pairs, solved_to(case.stages.subject, SOLVED))


def _hypergradient(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    off = []
    for at in _geometries(case, rng):
        y = at.y_star + at.alpha * rng.standard_normal(len(at.y_star))
        call = case.call(at.alpha, y_star=at.y_star, lam=at.lam)
        error = float(np.linalg.norm(estimate(case, call, y) - at.estimate(y, dual_term=case.reading.dual_term)))
        rounding = at.rounding(y, dual_term=case.reading.dual_term, h_width=h_width(case, at.alpha, call))
        off.append((error / max(rounding, 1e-300), at.alpha))
    worst, alpha = max(off)
    quantity = "difference of the subject's hypergradient from ∇_xL at given stages, in roundings"
    return compare(quantity, worst, "<=", AGREEMENT_ROUNDINGS, context={"alpha": alpha})


def samples(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    """Estimates under a noise too small to matter, of whichever kind the subject knows: on the exact estimate."""
    truth, alpha = regular_truth(case.instance), float(rng.uniform(*DRAWN))
    known: list[str] = []
    for model in ("additive", "matrix"):
        noise = Noise(model=model, sigma_f=QUIET, sigma_g=QUIET)  # type: ignore[arg-type]  # exact spellings are parsed
        setting = SampleSetting.at(case, truth, alpha, noise)
        at, noisy = setting.geometry, setting.case
        try:
            estimates = noisy.stages.hypergradient_samples(noisy.instance.problem, case.x, setting.call, rng, 2)
        except MissingCapabilityError as refusal:
            known.append(str(refusal))
            continue
        exact = at.estimate(at.minimiser, dual_term=case.reading.dual_term)
        size = 1 + np.linalg.norm(case.x) + 2 * np.linalg.norm(at.minimiser)
        scale = float(noise.scale("f.x") + 2 * at.weights.alpha_1 * noise.scale("g.x"))
        allowed = LONGEST_DRAW * np.sqrt(exact.size * (case.x.size + at.minimiser.size)) * scale * float(size)
        allowed += AGREEMENT_ROUNDINGS * at.rounding(at.minimiser, dual_term=case.reading.dual_term)
        return _errors("the estimate that its samples vary about", [(row, exact) for row in estimates], float(allowed))
    raise MissingCapabilityError(known[0])


def _lower_level_runs(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    """The repaired iteration without noise, to its end."""
    truth = regular_truth(case.instance)
    iteration = settled_iteration(case.instance, truth, sigma=0.0)
    steps = _steps(iteration.radius)
    call = replace(call_of(case, iteration, steps), reading=PLAINLY, alpha=float(rng.uniform(*DRAWN)))
    y, lam = case.stages.lower_level_runs(case.instance.problem, case.x, call, rng, 1)
    left = iteration.radius**steps
    return _errors("the pair its iteration tends to", [(y[0], truth.y_star), (lam[0], truth.lam)], SOLVED + 100 * left)


def _hypergradient_runs(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    """A whole call without noise, its lower level iterated to its end, its minimiser stopped as the reading says."""
    alpha = float(rng.uniform(*FINE))
    truth, parameters, left = _settled(case)
    exact, given = at_truth(replace(case, reading=PLAINLY), truth, alpha)
    call = replace(given, y_star=None, lam=None, parameters=parameters)
    estimates, _ = case.stages.hypergradient_runs(_without_noise(case), case.x, call, rng, 1)
    pairs = [(estimates[0], exact.estimate(exact.minimiser, dual_term=PLAINLY.dual_term))]
    # What is left of the lower level's start is divided by α⁴.
    return _errors("the estimate its complete calls tend to", pairs, STOPPED + 100 * left / alpha**4)


def _penalty_runs(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    """A noisy penalty solve without noise from a point well off its minimiser, to the end of its epochs."""
    truth, alpha = regular_truth(case.instance), float(rng.uniform(*FINE))
    exact, given = at_truth(replace(case, reading=PLAINLY), truth, alpha)
    start = exact.y_star + rng.uniform(-1, 1, len(exact.y_star))
    call = replace(given, y_star=start, rho=exact.rho, parameters=OracleParameters(penalty_steps=EPOCHS))
    y, _ = case.stages.penalty_runs(_without_noise(case), case.x, call, rng, 1)
    minimiser = replace(exact, y_star=start).minimiser
    return _errors("the point its penalty solves tend to", [(y[0], minimiser)], STOPPED)


def _settled(case: Case) -> tuple[Truth, OracleParameters, float]:
    """The truth, parameters of a call whose noise-free lower level comes to its end, and what is left of its start."""
    truth = regular_truth(case.instance)
    iteration = settled_iteration(case.instance, truth, sigma=0.0)
    steps = _steps(iteration.radius)
    parameters = OracleParameters(
        lower_level="primal-dual", lower_level_steps=steps, eta_y=iteration.eta_y, eta_lam=iteration.eta_lam,
        penalty_steps=STEPS, shared_samples=4,
    )  # fmt: skip
    return truth, parameters, iteration.radius**steps


def _steps(radius: float) -> int:
    """Steps until an iteration that contracts so is settled, if that can be waited for."""
    return int(min(STEPS, SETTLED * (1 + 1 / max(1e-12, 1 - radius))))


def _without_noise(case: Case) -> Any:
    return case.instance.with_noise(Noise()).problem


def _optimise(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    """Lines 5, 7, 10 and 13 of Algorithm 2, on what one run asked and was told, as long as x is."""
    n, oracle, parameters = _outer(case, rng)
    ran = record(replace(case, rng=rng), oracle, rng.uniform(-0.5, 0.5, n), parameters)
    if not ran.followed.holds:
        return ran.followed
    means, out = ran.run.x_bar, ran.run.x_out
    nearest = min(means, key=lambda mean: float(np.linalg.norm(mean - out)))
    pairs = [(means, ran.blocks(ran.z).mean(axis=1)), (out, nearest)]
    return _errors("Algorithm 2's own means and output", pairs, PLAIN)


def optimise_runs(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    """The same of two runs at once, whose output is nobody's."""
    n, oracle, parameters = _outer(case, rng)
    starts, questions = rng.uniform(-0.5, 0.5, (2, n)), list[Vector]()

    def remembering(z: Vector) -> Vector:
        questions.append(np.array(z, dtype=np.float64))
        return oracle(z)

    follower = Follower(remembering, starts, parameters)
    x_bar, _ = case.stages.optimise_runs(follower, starts, parameters, rng)
    followed = follower.evidence()
    if not followed.holds:
        return followed
    # Both at once, or one after the other.
    z = np.concatenate([np.atleast_2d(each) for each in questions])
    together = z.reshape(-1, 2, n) if len(questions) == parameters.T else np.swapaxes(z.reshape(2, -1, n), 0, 1)
    means = together.reshape(parameters.K, parameters.M, 2, n).mean(axis=1)
    return _errors("the means of Algorithm 2's runs", [(x_bar, means)], PLAIN)


def _outer(case: Case, rng: np.random.Generator) -> tuple[int, Callable[[Vector], Vector], OuterParameters]:
    """A size, a gradient with kinks, and drawn parameters."""
    n, D = len(case.x), float(rng.uniform(0.03, 0.08))
    M, K = (int(count) for count in rng.integers(3, 6, 2))
    parameters = OuterParameters(
        goldstein_radius=D * M, epsilon=0.1, D=D, eta=float(rng.uniform(0.02, 0.08)), M=M, K=K
    )  # fmt: skip
    slopes = rng.uniform(-1, 1, n)
    return n, lambda z: slopes * np.sign(z) + 0.3 * z, parameters


def _errors(what: str, pairs: Sequence[tuple[Vector, Vector]], allowed: float) -> ComparisonEvidence:
    error = max(float(np.linalg.norm(value - exact) / (1 + np.linalg.norm(exact))) for value, exact in pairs)
    return compare(f"difference of the subject from {what}, relative", error, "<=", allowed)


ASKED_ANYWHERE: dict[str, Ask] = {"activation": _activation, "optimise": _optimise}
"""Stages whose exact answers hang on no problem."""
ASKED = ASKED_ANYWHERE | {
    "lower_level": _lower_level, "penalty_minimiser": _penalty_minimiser, "hypergradient": _hypergradient,
    "lower_level_runs": _lower_level_runs, "hypergradient_runs": _hypergradient_runs, "penalty_runs": _penalty_runs,
}  # fmt: skip
"""How each stage is asked."""
