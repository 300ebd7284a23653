"""Whether a subject's stages compute what a check asks of them at all.

A bound holds of much that is not the paper's: of zero, to begin with. So a statement about a subject is supported only
where each stage that its check uses gives the exact value of what was asked, on the check's instance at an alpha of
each sweep and at one drawn afresh; and on the same instance in coordinates drawn afresh, of which nobody has a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from spec import REPAIRED, Holder, Noise, OracleParameters, OuterParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case, Check, compare
from verify.checks.measuring.iteration_runs import call_of, settled_iteration
from verify.checks.measuring.outer_runs import record
from verify.checks.measuring.own_values import AGREEMENT_ROUNDINGS
from verify.checks.measuring.premises import PremiseUnmetError, at_truth, estimate, feasible, h_width, regular_truth
from verify.evidence.model import ComparisonEvidence, PremiseEvidence
from verify.subjects.protocol import MissingCapabilityError
from verify.subjects.stage_table import REFUSED
from verify.truth.coordinates import in_other_coordinates
from verify.truth.formulas import as_float
from verify.truth.geometry import Geometry, quadratic_of, ramp
from verify.truth.pair import Truth
from verify.truth.propositions.arithmetic import NoValueError

Ask = Callable[[Case, np.random.Generator], ComparisonEvidence]

PREMISE = "stages-as-asked"
"""Where being refuted is right: no credit to a subject that does not compute what it is asked."""
ALPHA, DRAWN = 0.1, (0.01, 0.09)
"""Where a stage is asked: at the first, and at one drawn between the others."""
SOLVED = 1e-6
"""Error of a solver that solves, in units of one and the solution's size."""
PLAIN = 1e-9
"""Error of what takes no solver, likewise."""
OUTER = OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.05, eta=0.04, M=4, K=3)
PLAINLY = REPAIRED.choose(inner_solver="constant-step")
"""How inner solvers are asked for what they tend to, whatever the check's own reading is."""
FINE, STOPPED = 0.02, 0.05
"""Where noisy solvers are asked without noise, and how far one that stops at accuracy alpha may be off, relative."""
TRANSFORMED = 24
"""Largest n + m + p that is put into other coordinates."""
STEPS = 4000
"""Longest noise-free iteration that is tried."""


def not_as_asked(case: Case, check: Check) -> tuple[ComparisonEvidence | PremiseEvidence, ...]:
    """For each stage the check needs that does not compute what it is asked, the comparison that shows it.

    Repaired it refutes; under any other reading, where being refuted is what a right subject comes to, it leaves the
    statement unjudged; so does a stage that is offered and refuses to answer at these places. One that is not offered
    is compared with nothing; nor, repaired, is any of a check that asks for a subject's own answers alone.
    """
    known = ASKED_ANYWHERE if isinstance(case.instance.problem, Holder) else ASKED
    # Where refuting is right, so would any wrong answer be: also of who is asked for answers of its own alone.
    asked = [] if check.unaided and not case.as_written else [known[stage] for stage in check.needs if stage in known]
    places = (case, *_in_other_coordinates(case))
    off = ((item for place in places for item in _compared(place, ask) if _is_off(item, check)) for ask in asked)
    found = [item for items in off for item in islice(items, 1)]
    return tuple(
        _unjudged(item) if case.as_written and isinstance(item, ComparisonEvidence) else item for item in found
    )


def _is_off(item: ComparisonEvidence | PremiseEvidence, check: Check) -> bool:
    """Whether a stage was seen not to do what it is asked; one that takes no stages from anybody may refuse to."""
    return not item.holds and not (check.unaided and isinstance(item, PremiseEvidence))


def _in_other_coordinates(case: Case) -> Iterator[Case]:
    """The same case with its problem's variables and rows relabelled, in other units, from another origin."""
    problem = case.instance.problem
    if isinstance(problem, Holder):
        return
    plain = quadratic_of(problem)
    if plain.n + plain.m + plain.p <= TRANSFORMED:
        image, x = in_other_coordinates(plain, case.instance.x, np.random.default_rng([case.seed, 11]))
        yield replace(case, instance=replace(case.instance, problem=image, x=x))


def _unjudged(item: ComparisonEvidence) -> PremiseEvidence:
    finding = f"{item.quantity} is {item.measured:.3g}, of which {item.predicted:.3g} is allowed"
    return PremiseEvidence(premise=PREMISE, holds=False, finding=finding)


def _compared(case: Case, ask: Ask) -> Iterator[ComparisonEvidence | PremiseEvidence]:
    try:
        # Of its own, so that no draw of the check moves.
        yield ask(case, np.random.default_rng([case.seed, 7]))
    except (PremiseUnmetError, NoValueError):
        return  # the instance has no such stage: no feasible y
    except MissingCapabilityError as missing:
        # What it answers where the check asks alone may be known by heart.
        if str(missing).startswith(REFUSED):
            yield PremiseEvidence(premise=PREMISE, holds=False, finding=f"asked where the check does not: {missing}")


def _lower_level(case: Case, _: np.random.Generator) -> ComparisonEvidence:
    exact = feasible(case.instance)
    y, lam = case.stages.lower_level(case.instance.problem, case.x)
    pairs = [(y, as_float(exact.y_star))] + ([(lam, as_float(exact.lam))] if exact.licq else [])
    return _errors("the exact lower-level pair", pairs, SOLVED)


def _activation(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    widths = (0.3, 0.2)
    h, lam = rng.uniform(-0.6, 0.3, 12), np.abs(rng.uniform(-0.1, 0.4, 12))
    return _errors("the ramps' weights", [(case.stages.activation(h, lam, *widths), ramp(h, lam, *widths))], PLAIN)


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
    return _errors("the exact penalty minimiser", pairs, SOLVED)


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


def _lower_level_runs(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    """The repaired iteration without noise, to its end."""
    truth = regular_truth(case.instance)
    iteration = settled_iteration(case.instance, truth, sigma=0.0)
    steps = int(min(STEPS, 20 + 20 / max(1e-12, 1 - iteration.radius)))
    call = replace(call_of(case, iteration, steps), reading=PLAINLY)
    y, lam = case.stages.lower_level_runs(case.instance.problem, case.x, call, rng, 1)
    left = iteration.radius**steps
    return _errors("the pair its iteration tends to", [(y[0], truth.y_star), (lam[0], truth.lam)], SOLVED + 100 * left)


def _hypergradient_runs(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    """A whole call without noise, its lower level iterated to its end, its minimiser stopped as the reading says."""
    truth, parameters, left = _settled(case)
    exact, given = at_truth(replace(case, reading=PLAINLY), truth, FINE)
    call = replace(given, y_star=None, lam=None, parameters=parameters)
    estimates, _ = case.stages.hypergradient_runs(_without_noise(case), case.x, call, rng, 1)
    pairs = [(estimates[0], exact.estimate(exact.minimiser, dual_term=PLAINLY.dual_term))]
    return _errors("the estimate its complete calls tend to", pairs, STOPPED + _magnified(left))


def _penalty_runs(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    """A noisy penalty solve without noise, stopped as the reading says."""
    truth, parameters, _ = _settled(case)
    exact, given = at_truth(replace(case, reading=PLAINLY), truth, FINE)
    call = replace(given, rho=exact.rho, parameters=parameters)
    y, _ = case.stages.penalty_runs(_without_noise(case), case.x, call, rng, 1)
    return _errors("the point its penalty solves tend to", [(y[0], exact.minimiser)], STOPPED)


def _settled(case: Case) -> tuple[Truth, OracleParameters, float]:
    """The truth, parameters of a call whose noise-free lower level comes to its end, and what is left of its start."""
    truth = regular_truth(case.instance)
    iteration = settled_iteration(case.instance, truth, sigma=0.0)
    steps = int(min(STEPS, 20 + 20 / max(1e-12, 1 - iteration.radius)))
    parameters = OracleParameters(
        lower_level="primal-dual", lower_level_steps=steps, eta_y=iteration.eta_y, eta_lam=iteration.eta_lam,
        penalty_steps=STEPS, shared_samples=4,
    )  # fmt: skip
    return truth, parameters, iteration.radius**steps


def _without_noise(case: Case) -> Any:
    return case.instance.with_noise(Noise()).problem


def _magnified(left: float) -> float:
    """What is left of the lower level's start, in an estimate that divides by α⁴."""
    return 100 * left / FINE**4


def _optimise(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    """Lines 5, 7, 10 and 13 of Algorithm 2, on what one run asked and was told."""
    slopes = np.array([1.0, -0.7])
    ran = record(replace(case, rng=rng), lambda z: slopes * np.sign(z) + 0.3 * z, np.array([0.4, -0.2]), OUTER)
    if not ran.followed.holds:
        return ran.followed
    means, out = ran.run.x_bar, ran.run.x_out
    nearest = min(means, key=lambda mean: float(np.linalg.norm(mean - out)))
    pairs = [(means, ran.blocks(ran.z).mean(axis=1)), (out, nearest)]
    return _errors("Algorithm 2's own means and output", pairs, PLAIN)


def _errors(what: str, pairs: Sequence[tuple[Vector, Vector]], allowed: float) -> ComparisonEvidence:
    error = max(float(np.linalg.norm(found - exact) / (1 + np.linalg.norm(exact))) for found, exact in pairs)
    return compare(f"difference of the subject from {what}, relative", error, "<=", allowed)


ASKED_ANYWHERE: dict[str, Ask] = {"activation": _activation, "optimise": _optimise}
"""Stages whose exact answers hang on no problem."""
ASKED = ASKED_ANYWHERE | {
    "lower_level": _lower_level, "penalty_minimiser": _penalty_minimiser, "hypergradient": _hypergradient,
    "lower_level_runs": _lower_level_runs, "hypergradient_runs": _hypergradient_runs, "penalty_runs": _penalty_runs,
}  # fmt: skip
"""How each stage is asked."""
