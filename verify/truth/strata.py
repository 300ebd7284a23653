"""What kind of problem one is at its point: the strata of the atlas, derived exactly."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import fmpq_mat

from spec.atlas import Instance, Stratum, find
from spec.blocks.quadratic import Quadratic
from spec.errors import InvalidInputError
from spec.problem import Holder
from verify.truth.algebra.rationals import matrix
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.complementarity import InfeasibleLowerLevelError

ILL_CONDITIONED = 1e3
"""Condition numbers of g_yy above this count as bad; of the atlas they are 13 and 10⁴, so no rounding decides."""
NEARLY_DEPENDENT = 0.2
"""Smallest singular value of the active rows of B below which they count as nearly dependent."""


def strata_of(instance: Instance) -> frozenset[Stratum]:
    """The strata of a quadratic instance, all but whether another piece of F begins nearby.

    Raises:
        InvalidInputError: If it is not quadratic, or g is not strongly convex in y.
    """
    if isinstance(instance.problem, Holder):
        raise InvalidInputError("instance", "must be quadratic", instance.name)
    problem = quadratic_of(instance.problem)
    strata: set[Stratum] = {"A-zero" if problem.constraints.A.is_zero else "A-nonzero"}
    try:
        lower = lower_level.solve(problem, instance.x)
    except InfeasibleLowerLevelError:
        return frozenset(strata | {"infeasible"})
    return frozenset(strata | _rows(problem) | _active(lower) | _curvature(problem, lower))


@lru_cache(maxsize=4096)
def strata_of_draw(name: str) -> frozenset[Stratum]:
    """The same for a draw, by its name."""
    return strata_of(find(name))


def _rows(problem: Quadratic) -> set[Stratum]:
    rows = problem.constraints.B.to_fractions()
    along_axes = all(sorted(map(abs, row))[:-1] == [0] * (problem.m - 1) for row in rows)
    units = [[Fraction(sign * (i == j)) for j in range(problem.m)] for sign in (1, -1) for i in range(problem.m)]
    fixed = problem.constraints.A.is_zero
    strata: set[Stratum] = set() if fixed and along_axes else {"general-rows"}
    return strata | ({"box"} if fixed and rows == units else set())


def _active(lower: lower_level.ExactLowerLevel) -> set[Stratum]:
    strata: set[Stratum] = {"inactive-row"} if lower.inactive else set()
    if not lower.licq:
        return strata | {"licq-fails", _counted(lower)}
    if lower.weakly_active:
        return strata | {"weakly-active"}
    return strata | {"strictly-complementary", _counted(lower)}


def _counted(lower: lower_level.ExactLowerLevel) -> Stratum:
    counts: dict[int, Stratum] = {0: "no-active-row", 1: "one-active-row"}
    return counts.get(len(lower.active), "several-active-rows")


def _curvature(problem: Quadratic, lower: lower_level.ExactLowerLevel) -> set[Stratum]:
    strata: set[Stratum] = set() if is_positive_semidefinite(matrix(problem.f.yy)) else {"indefinite-f-yy"}
    if float(np.linalg.cond(problem.arrays.g_yy)) > ILL_CONDITIONED:
        strata.add("ill-conditioned")
    active = list(lower.active)
    if active and lower.licq and np.linalg.svd(problem.arrays.B[active])[1].min() < NEARLY_DEPENDENT:
        strata.add("rows-nearly-dependent")
    return strata


def is_positive_semidefinite(symmetric: fmpq_mat) -> bool:
    """Whether all roots of the characteristic polynomial are >= 0: its coefficients then alternate in sign."""
    coefficients = symmetric.charpoly().coeffs()
    return all(c * (-1) ** (len(coefficients) - 1 - k) >= 0 for k, c in enumerate(coefficients))
