"""Line 3 of Algorithm 1: the lower-level solution and its multipliers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from f2csa_ref.lower_level.exact import solve_quadratic, solve_smooth
from f2csa_ref.lower_level.first_order import solve_first_order
from f2csa_ref.lower_level.primal_dual import lower_level_runs, primal_dual
from f2csa_ref.lower_level.solution import LowerLevelError, LowerLevelSolution
from f2csa_ref.objectives import Objectives, QuadraticObjectives, as_vector, double_range, objectives_of
from f2csa_ref.sampling import DEFAULTS
from spec.exact import Matrix, Vector
from spec.parameters import OracleParameters
from spec.problem import Problem
from spec.reading import REPAIRED, Reading

__all__ = ["LowerLevelError", "LowerLevelSolution", "lower_level", "lower_level_runs", "primal_dual"]


def lower_level(
    problem: Problem | Objectives,
    x: Vector,
    *,
    reading: Reading = REPAIRED,
    parameters: OracleParameters = DEFAULTS,
    rng: np.random.Generator | None = None,
    draws: Matrix | None = None,
) -> LowerLevelSolution:
    """Compute the lower-level pair (y*_hat, lam_hat) at x.

    By default exact up to rounding and free of noise: a quadratic program for quadratic problems, accelerated
    projected gradients else. With ``parameters.lower_level = "first-order"`` by gradients alone, free of noise, without
    any factorisation; with ``"primal-dual"`` the paper's noisy iteration.

    Args:
        problem: Problem or objectives.
        x: Upper variable, shape (n,), finite.
        reading: Sign and solver of the primal-dual iteration.
        parameters: Which method, and its budget.
        rng: Source of noise for the primal-dual iteration.
        draws: Its standard normals instead, see :func:`primal_dual`.

    Returns:
        The pair with KKT residual, active and weakly active rows, and the LICQ margin.

    Raises:
        InvalidInputError: If x breaks its rule or the lower level is infeasible there.
        LowerLevelError: If an exact solver fails.

    Source: Algorithm 1, line 3. Differs from the paper: exact by default, so that its error is zero unless chosen.
    """
    q = objectives_of(problem)
    x = as_vector(x, q.n, "x")
    with double_range(q):
        return lower_level_solver(q, reading, parameters, rng, draws)(q, x)


def lower_level_solver(
    q: Objectives, reading: Reading, parameters: OracleParameters, rng: np.random.Generator | None, draws: Matrix | None
) -> Callable[..., LowerLevelSolution]:
    """What solves the lower level of these objectives at a checked x: called with both."""
    if parameters.lower_level == "primal-dual":
        return partial(primal_dual, reading=reading, parameters=parameters, rng=rng, draws=draws)
    if parameters.lower_level == "first-order":
        return partial(solve_first_order, steps=parameters.lower_level_steps)
    if isinstance(q, QuadraticObjectives):
        return solve_quadratic
    return partial(solve_smooth, steps=parameters.lower_level_steps)
