"""The primal-dual iteration where y and the rows have one component, in plain floats: what is only fast.

One run of :func:`f2csa_ref.lower_level.primal_dual.iterates`, number by number the same. An array of one number costs
as much a step as one of a hundred; a run of Algorithm 2 on a problem with n = m = p = 1 takes a million such steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from f2csa_ref.objectives import Objectives, QuadraticObjectives
from f2csa_ref.shared_sample import SampledObjectives
from spec.exact import Vector


@dataclass(frozen=True)
class ScalarProgram:
    """g's curvature, its slope at x, a shared sample's part of that, the dual part, B, r = A x - b, the noise's scale.

    The dual part is B with the sign that the reading gives it in the primal step.
    """

    curvature: float
    slope: float
    offset: float
    dual: float
    B: float
    r: float
    scale: float

    @classmethod
    def of(cls, objectives: Objectives, x: Vector, *, plus: bool) -> ScalarProgram | None:
        """The numbers of a problem as one run sees it; ``None`` where it is another kind of problem."""
        q = objectives
        if not isinstance(q, SampledObjectives) or type(q.base) is not QuadraticObjectives or (q.m, q.p) != (1, 1):
            return None
        if q.matrices or q.jumps or q.noise.model not in ("none", "additive"):
            return None
        # A shared sample's offset has a row a run.
        offset = q.offsets["g.y"].item() if "g.y" in q.offsets else 0.0
        slope, r = x @ q.g_xy + q.g_y, q.A @ x - q.b
        B = q.B.item()
        return cls(q.g_yy.item(), slope.item(), offset, B if plus else -B, B, r.item(), q.noise.scale("g.y"))


def mean_pair(
    program: ScalarProgram,
    sizes: Iterable[tuple[float, float]],
    normals: Iterable[float],
    *,
    first: int,
    largest: float,
) -> tuple[float, float]:
    """Mean of the pairs (y, lam) from step ``first`` on, from (0, 0) by steps of these sizes, each with its normal.

    Components stop growing at ``largest``.

    Raises:
        FloatingPointError: If the iteration leaves the range of doubles.
    """
    p, G, B, r = program, program.curvature, program.B, program.r
    y = lam = y_sum = lam_sum = 0.0
    taken = 0
    for (eta_y, eta_lam), z in zip(sizes, normals, strict=True):
        y = y - eta_y * ((y * G + p.slope + p.offset + p.scale * z) + lam * p.dual)
        lam = max(0.0, lam + eta_lam * (r - y * B))
        if largest < math.inf:
            y, lam = min(max(y, -largest), largest), min(lam, largest)
        if taken >= first:
            y_sum, lam_sum = y_sum + y, lam_sum + lam
        taken += 1
    # What overflows once is never a number again.
    if not (math.isfinite(y_sum) and math.isfinite(lam_sum)):
        raise FloatingPointError("overflow in the lower level's steps")
    return y_sum / (taken - first), lam_sum / (taken - first)
