"""What the checks of section 4 start from: instances, the exact pair with its geometry, and a call that is given it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spec.exact import Vector
from verify.checks.measuring.case import Case
from verify.evidence.model import Point
from verify.subjects.protocol import Call
from verify.truth.geometry import Geometry, quadratic_of, spectral_norm
from verify.truth.pair import Truth, geometry_at_truth

REGULAR = (
    "toy1", "two-of-three", "box-rational", "scalar-rational", "absolute-moving", "toy2", "kink", "crossing-kinks",
    "absolute-fixed", "fixed-rows", "interior", "experiment-1d", "experiment-5d", "random-2x3x4", "random-3x5x4",
    "random-4x6x6", "ill-conditioned", "rows-nearly-dependent", "moving-box",
)  # fmt: skip
DEGENERATE = ("weakly-active", "licq-fails", "infeasible")
SHOWN_ALPHA = 0.1
"""The alpha at which single values are shown beside the sweep."""


def h_width(case: Case, alpha: float, call: Call) -> float:
    """Ramp width of this case's reading, constraint units."""
    B = quadratic_of(case.instance.problem).arrays.B
    return call.parameters.h_width(case.reading, alpha**3, spectral_norm(B))


def at_truth(case: Case, truth: Truth, alpha: float) -> tuple[Geometry, Call]:
    """The geometry on the exact pair and a call that is given that pair."""
    call = case.call(alpha, y_star=truth.y_star, lam=truth.lam)
    width, lam_width = h_width(case, alpha, call), call.parameters.lam_width
    return geometry_at_truth(case.instance, truth, alpha, width, lam_width), call


def estimate(case: Case, call: Call, y: Vector) -> Vector:
    """The subject's noise-free estimate with its inner solutions given."""
    return case.stages.hypergradient(case.instance.problem, case.x, replace(call, y_penalty=y))


def frozen(case: Case) -> bool:
    """Whether this reading keeps the dual term in the estimator."""
    return case.reading.dual_term == "frozen"


def sweep_point(alpha: float, error: Vector, rounding: float, predicted: float | None) -> Point:
    """One point of a sweep from an error vector."""
    return Point(at=alpha, measured=float(np.linalg.norm(error)), uncertainty=rounding, predicted=predicted)


def sweep_ends(points: list[Point]) -> dict[str, float | str]:
    """The sweep's ends, to show with a counterexample."""
    chosen = [p for p in points if p.uncertainty <= 0.02 * p.measured] or points
    first, last = chosen[0], chosen[-1]
    return {f"value at alpha = {first.at:g}": first.measured, f"value at alpha = {last.at:g}": last.measured}


def shown_vector(vector: Vector) -> str:
    """A vector for a sentence."""
    return "(" + ", ".join(f"{value:.9g}" for value in vector) + ")"
