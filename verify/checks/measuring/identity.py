"""Whether a subject's stages compute what a check asks of them at all.

A bound holds of much that is not the paper's: of zero, to begin with. So a statement about a subject is supported only
where each stage that its check uses gives the exact value of what was asked, at a few places of the check's instance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from spec import REPAIRED, OuterParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case, compare
from verify.checks.measuring.iteration_runs import call_of, settled_iteration
from verify.checks.measuring.outer_runs import record
from verify.checks.measuring.own_values import AGREEMENT_ROUNDINGS
from verify.checks.measuring.premises import PremiseUnmetError, estimate, feasible, frozen, h_width, regular_truth
from verify.evidence.model import ComparisonEvidence
from verify.subjects.protocol import MissingCapabilityError
from verify.truth.formulas import as_float
from verify.truth.geometry import Geometry, quadratic_of, ramp

Ask = Callable[[Case, np.random.Generator], ComparisonEvidence]

ALPHA = 0.1
SOLVED = 1e-6
"""Error of a solver that solves, in units of one and the solution's size."""
PLAIN = 1e-9
"""Error of what takes no solver, likewise."""
OUTER = OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.05, eta=0.04, M=4, K=3)
STEPS = 4000
"""Longest noise-free iteration that is tried."""


UNAIDED = ("bias-bound/black-box", "bias-bound/black-box-kinks", "variance-bound/black-box")
"""What is asked of a subject's own answers alone: one that takes no stage values is right there all the same."""


def not_as_asked(case: Case, stages: Sequence[str]) -> tuple[ComparisonEvidence, ...]:
    """For each of the stages that does not compute what it is asked, the comparison that shows it.

    A stage that is not offered, or refuses what it is given, is compared with nothing; nor is any in :data:`UNAIDED`.
    """
    asked = () if case.claim in UNAIDED else stages
    found = [error for stage in asked if stage in ASKED for error in _compared(case, ASKED[stage])]
    return tuple(item for item in found if not item.holds)


def _compared(
    case: Case, ask: Callable[[Case, np.random.Generator], ComparisonEvidence]
) -> Iterator[ComparisonEvidence]:
    try:
        # Of its own, so that no draw of the check moves.
        yield ask(case, np.random.default_rng([case.seed, 7]))
    except (MissingCapabilityError, PremiseUnmetError, TypeError):
        return  # it does not offer it, or the instance has no such stage: no quadratic, no feasible y


def _lower_level(case: Case, _: np.random.Generator) -> ComparisonEvidence:
    exact = feasible(case.instance)
    y, lam = case.stages.lower_level(case.instance.problem, case.x)
    pairs = [(y, as_float(exact.y_star))] + ([(lam, as_float(exact.lam))] if exact.licq else [])
    return _errors("the exact lower-level pair", pairs, SOLVED)


def _activation(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    widths = (0.3, 0.2)
    h, lam = rng.uniform(-0.6, 0.3, 12), np.abs(rng.uniform(-0.1, 0.4, 12))
    return _errors("the ramps' weights", [(case.stages.activation(h, lam, *widths), ramp(h, lam, *widths))], PLAIN)


def _geometry(case: Case, rng: np.random.Generator) -> Geometry:
    """Stages beside the exact ones, with the weights that follow from them."""
    exact, problem = feasible(case.instance), quadratic_of(case.instance.problem)
    y_star = as_float(exact.y_star) + ALPHA * rng.standard_normal(problem.m)
    lam = np.abs(as_float(exact.lam) + ALPHA * rng.standard_normal(problem.p))
    bare = Geometry(problem, case.x, ALPHA, y_star, lam, np.zeros(problem.p))
    call = case.call(ALPHA)
    return replace(bare, rho=ramp(bare.h, lam, h_width(case, ALPHA, call), call.parameters.lam_width))


def _penalty_minimiser(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    at = _geometry(case, rng)
    call = case.call(ALPHA, y_star=at.y_star, lam=at.lam, rho=at.rho)
    found = case.stages.penalty_minimiser(case.instance.problem, case.x, call, 0.0)
    return _errors("the exact penalty minimiser", [(found, at.minimiser)], SOLVED)


def _hypergradient(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    at = _geometry(case, rng)
    y = at.y_star + ALPHA * rng.standard_normal(len(at.y_star))
    call = case.call(ALPHA, y_star=at.y_star, lam=at.lam)
    error = float(np.linalg.norm(estimate(case, call, y) - at.estimate(y, frozen=frozen(case))))
    rounding = at.rounding(y, frozen=frozen(case), h_width=h_width(case, ALPHA, call))
    quantity = "difference of the subject's hypergradient from ∇_xL at given stages, in roundings"
    return compare(quantity, error / max(rounding, 1e-300), "<=", AGREEMENT_ROUNDINGS, context={"alpha": ALPHA})


def _lower_level_runs(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    """The repaired iteration without noise, to its end."""
    truth = regular_truth(case.instance)
    iteration = settled_iteration(case.instance, truth, sigma=0.0)
    steps = int(min(STEPS, 20 + 20 / max(1e-12, 1 - iteration.radius)))
    call = replace(call_of(case, iteration, steps), reading=REPAIRED.choose(inner_solver="constant-step"))
    y, lam = case.stages.lower_level_runs(case.instance.problem, case.x, call, rng, 1)
    left = iteration.radius**steps
    return _errors("the pair its iteration tends to", [(y[0], truth.y_star), (lam[0], truth.lam)], SOLVED + 100 * left)


def _optimise(case: Case, rng: np.random.Generator) -> ComparisonEvidence:
    """Lines 5, 7, 10 and 13 of Algorithm 2, on what one run asked and was told."""
    slopes = np.array([1.0, -0.7])
    run = record(replace(case, rng=rng), lambda z: slopes * np.sign(z) + 0.3 * z, np.array([0.4, -0.2]), OUTER)
    path, z, g = run.run.path, run.z, run.g
    steps, shift = run.steps, z - path[:-1]
    unclipped = steps[:-1] - OUTER.eta * g[:-1]
    lengths = np.linalg.norm(unclipped, axis=1, keepdims=True)
    clipped = unclipped * np.minimum(1.0, OUTER.D / np.maximum(lengths, 1e-300))
    along = (shift * steps).sum(axis=1) / np.maximum((steps**2).sum(axis=1), 1e-300)
    pairs = [
        (path[0], np.array([0.4, -0.2])),
        (steps[0], np.zeros(2)),
        (steps[1:], clipped),
        (shift, np.clip(along, 0.0, 1.0)[:, None] * steps),
        (run.run.x_bar, run.blocks(z).mean(axis=1)),
        (run.run.x_out, min(run.run.x_bar, key=lambda mean: float(np.linalg.norm(mean - run.run.x_out)))),
    ]
    return _errors("Algorithm 2's own steps, means and output", pairs, PLAIN)


def _errors(what: str, pairs: Sequence[tuple[Vector, Vector]], allowed: float) -> ComparisonEvidence:
    error = max(float(np.linalg.norm(found - exact) / (1 + np.linalg.norm(exact))) for found, exact in pairs)
    return compare(f"difference of the subject from {what}, relative", error, "<=", allowed)


ASKED: dict[str, Ask] = {
    "lower_level": _lower_level, "activation": _activation, "penalty_minimiser": _penalty_minimiser,
    "hypergradient": _hypergradient, "lower_level_runs": _lower_level_runs, "optimise": _optimise,
}  # fmt: skip
"""How each stage is asked; the runs of whole calls are held to their laws by the checks themselves."""
