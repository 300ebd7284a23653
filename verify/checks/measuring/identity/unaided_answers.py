r"""Complete estimates, no stage given, beside the exact gradient: off by no more than their own stages may make them.

A program that solves for its own stages need not use the paper's solvers, nor its ramps to the digit. With e the exact
estimate on the exact pair with exact weights, E and H the estimate's Jacobian and the penalty's Hessian in y, and δ the
larger of α³ and what the program says of its accuracy, it may be off by

.. math:: \lVert e-\nabla F\rVert + 2\lVert e_{1/2}-e\rVert
          + \delta\,\lVert\partial e/\partial(\tilde y^*, \tilde\lambda)\rVert
          + \alpha\lVert EH^{-1}\rVert,

where half the weights are used for :math:`e_{1/2}`: no ramp as wide as asked goes below where the pair is off by δ. The
last is δ‖E‖ where the penalty's solver may stop within δ of its minimiser. Nobody is allowed half of the gradient.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from spec.exact import Vector
from verify.checks.measuring.case import Case, compare
from verify.checks.measuring.premises import at_truth, regular_truth
from verify.evidence.model import ComparisonEvidence
from verify.subjects.stated_accuracy import solved_to
from verify.truth.enclosures.pair import Truth
from verify.truth.geometry import Geometry, spectral_norm

ALPHAS = (0.006, 0.06)
"""Where complete estimates are asked for: at one drawn between these, evenly in its logarithm."""
COARSEST = 0.1
"""Largest alpha at which a complete estimate is asked for, however coarse a solver says it is."""
TELLS = 0.5
"""Largest error allowed to anybody, in units of the gradient: zero is at distance 1."""


def unaided(case: Case, rng: np.random.Generator) -> ComparisonEvidence | None:
    """The distance of a complete estimate from what it may be, in units of the error allowed.

    Repaired that is ∇F; under another reading its own estimate on the exact pair serves as well. There is no evidence
    where so much is allowed to everybody that every answer is right.
    """
    truth, alpha = regular_truth(case.instance), _alpha(case, rng)
    targets = list(_targets(case, truth, alpha))
    if not targets:
        return None
    answer = case.stages.hypergradient(case.instance.problem, case.x, case.call(alpha))
    off = min(float(np.linalg.norm(answer - centre)) / allowed for centre, allowed in targets)
    quantity = "distance of the subject's own estimate, no stage given, from ∇F, in units of the error allowed"
    return compare(quantity, off, "<=", 1.0, context={"alpha": alpha, "n": float(len(answer))})


def _alpha(case: Case, rng: np.random.Generator) -> float:
    low, high = np.log(ALPHAS)
    drawn = float(np.exp(rng.uniform(low, high)))
    # Coarser solvers than δ asks for are asked where δ is as coarse, if an answer is one there.
    return float(max(drawn, min(COARSEST, np.cbrt(solved_to(case.stages.subject, 0.0)))))


def _targets(case: Case, truth: Truth, alpha: float) -> Iterator[tuple[Vector, float]]:
    """What the answer may be near to, each with how near, where that is nearer than zero is."""
    at, _ = at_truth(case, truth, alpha)
    whole = at.estimate(at.minimiser, dual_term=case.reading.dual_term)
    usual, stated = (_allowed(case, at, whole, solved) for solved in (0.0, solved_to(case.stages.subject, 0.0)))
    bias = float(np.linalg.norm(whole - truth.grad_F))
    for centre, beside in [(truth.grad_F, bias), *([(whole, 0.0)] if case.as_written else [])]:
        # No statement of one's own accuracy makes an answer of what is none.
        most = TELLS * float(np.linalg.norm(centre))
        if usual + beside <= most:
            yield centre, min(stated + beside, most)


def _allowed(case: Case, at: Geometry, whole: Vector, solved: float) -> float:
    """The error that its own stages may cause, each solved to a relative error."""
    dual_term, a, w = case.reading.dual_term, at.a, at.weights
    halved = replace(at, rho=at.rho / 2)
    weights = 2 * float(np.linalg.norm(halved.estimate(halved.minimiser, dual_term=dual_term) - whole))
    delta = max(w.inner_tol, solved * (1 + float(np.linalg.norm(np.concatenate([at.y_star, at.lam])))))
    of_pair = w.alpha_1 * (spectral_norm(a.g_xy) + spectral_norm(a.g_yy) * (dual_term in ("map", "both-maps")))
    of_pair += spectral_norm(at.lam_to_estimate(dual_term=dual_term)) if len(at.lam) else 0.0
    if case.reading.inner_stop == "distance":
        of_stop = delta * spectral_norm(at.E)
    else:
        terms = (a.g_xy.T @ at.x, a.g_yy @ at.y_star, a.g_y, a.B.T @ at.lam)
        left = max(at.alpha, solved * w.alpha_1 * sum(float(np.linalg.norm(term)) for term in terms))
        of_stop = left * spectral_norm(at.lagrangian.left_to_estimate)
    return weights + delta * of_pair + of_stop + at.rounding(at.minimiser, dual_term=dual_term)
