"""The implicit gradient: the exact gradient of F where y* is differentiable, from second derivatives of g."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from f2csa_ref.baselines.kkt_system import LinearAlgebra, solve_kkt
from f2csa_ref.lower_level import LowerLevelSolution, lower_level_solver
from f2csa_ref.lower_level.solution import RANK_TOL, Mask
from f2csa_ref.objectives import Objectives, as_vector, double_range, objectives_of
from f2csa_ref.sampling import DEFAULTS, Draws, noise_x_f, noise_y
from f2csa_ref.second_derivatives.curvature import curvature
from spec.errors import InvalidInputError
from spec.exact import Vector
from spec.problem import Problem
from spec.reading import REPAIRED

Indices = np.ndarray[Any, np.dtype[np.intp]]


@dataclass(frozen=True)
class ImplicitGradient:
    """An implicit gradient (n,) with what it came from.

    ``adjoint`` (m,) and ``adjoint_rows`` (one of each row ``active``, by index) solve the linear system; ``counts`` are
    calls by kind: ``grad_x_f``, ``grad_y_f`` (one a sample), ``hessian_products`` by ∇²_yy g, ``cross_products`` by
    ∇²_xy g, ``row_products``, factorisations by kind and size (``cholesky(50)``), and the lower level's.
    """

    hypergradient: Vector
    lower_level: LowerLevelSolution
    active: Indices
    adjoint: Vector
    adjoint_rows: Vector
    counts: dict[str, int]

    @property
    def factorisations(self) -> dict[tuple[str, int], int]:
        """How many matrices of each kind and size were factorised; what the lower level factorises is not here."""
        return factorisations(self.counts)


def factorisations(counts: dict[str, int]) -> dict[tuple[str, int], int]:
    """Factorisations among counts: how many of each kind and size."""
    numbers = {}
    for name, number in counts.items():
        kind, bracket, size = name.partition("(")
        if bracket:
            numbers[kind, int(size.removesuffix(")"))] = number
    return numbers


def implicit_gradient(
    problem: Problem | Objectives,
    x: Vector,
    *,
    linear_algebra: LinearAlgebra = "best",
    lower: LowerLevelSolution | None = None,
    rng: np.random.Generator | None = None,
    samples: int = 1,
) -> ImplicitGradient:
    r"""Differentiate F(x) = f(x, y*(x)) through the optimality conditions of the lower level.

    With active rows I the conditions give
    :math:`[H, -B_I^T; -B_I, 0][dy; d\lambda] = [-\nabla^2_{yx} g; -A_I]` and
    :math:`\nabla F = \nabla_x f + dy^T \nabla_y f`. The matrix is symmetric, so one solve is enough:
    :math:`[H, -B_I^T; -B_I, 0][u; v] = [\nabla_y f; 0]` and
    :math:`\nabla F = \nabla_x f - \nabla^2_{xy} g\, u - A_I^T v`.

    Args:
        problem: Problem or objectives, with second derivatives of g.
        x: Upper variable, shape (n,), finite.
        linear_algebra: ``naive`` (LU of the whole matrix), ``standard`` (Cholesky of H and of the Schur complement on
            the rows), ``best`` (the same on the free block only) or ``cg`` (products by H only).
        lower: Lower-level pair to differentiate at, e.g. of a perturbed lower level; solved for if ``None``.
        rng: Source of the noise of ∇f; exact gradients of f if ``None``.
        samples: Samples of ∇f averaged, >= 1.

    Raises:
        InvalidInputError: If an argument breaks its rule, the problem offers no second derivatives, or y* is not
            known to be differentiable at x: an active row has multiplier 0, or active rows are dependent.
        LinearSolveError: If the linear system is not solved.
        LowerLevelError: If the lower level is not solved.

    Source: implicit function theorem; Khanduri et al. 2023 and 2025, Lemma on the implicit gradient. Signs are ours,
    h = A x - B y - b <= 0.

    Example:
        >>> import numpy as np
        >>> from spec import parse_problem
        >>> toy = parse_problem({"kind": "quadratic", "f": {"y": [1]}, "g": {"yy": [[1]]},
        ...                      "constraints": {"A": [[1]], "B": [[1]]}})
        >>> implicit_gradient(toy, np.ones(1)).hypergradient
        array([1.])
    """
    q = objectives_of(problem)
    x = as_vector(x, q.n, "x")
    if samples < 1:
        raise InvalidInputError("samples", "must be >= 1", samples)
    with double_range(q):
        counts: Counter[str] = Counter()
        if lower is None:
            lower = lower_level_solver(q, REPAIRED, DEFAULTS, None, None)(q, x)
            counts.update(lower.counts, lower_level_solves=1)
        y = lower.y_star
        I = regular_rows(lower.active, lower.weakly_active, lower.licq_margin)  # noqa: E741  # the papers' letter for the active rows

        second = curvature(q, x, y)
        grad_x, grad_y = upper_gradients(q, x, y, rng, samples)
        solved = solve_kkt(second, q.B[I], grad_y, linear_algebra)
        grad_F = grad_x - second.xy @ solved.u - solved.v @ q.A[I]

        counts.update(solved.work)
        counts.update(grad_x_f=samples, grad_y_f=samples, cross_products=1, row_products=1)
    return ImplicitGradient(grad_F, lower, I, solved.u, solved.v, dict(counts))


def regular_rows(active: Mask, weakly_active: Mask, licq_margin: float) -> Indices:
    """The active rows by index, where y* is differentiable; refused elsewhere."""
    if not licq_margin > RANK_TOL:
        rows = np.flatnonzero(active)
        raise InvalidInputError("x", "must be where active rows are independent; dependent are", rows[:8].tolist())
    if weakly_active.any():
        rows = np.flatnonzero(weakly_active)
        rule = "must be where y* is differentiable; active with multiplier 0 are rows"
        raise InvalidInputError("x", rule, rows[:8].tolist())
    return np.flatnonzero(active)


def upper_gradients(
    q: Objectives, x: Vector, y: Vector, rng: np.random.Generator | None, samples: int = 1
) -> tuple[Vector, Vector]:
    """grad_x f (n,) and grad_y f (m,) at (x, y): exact, or means of samples drawn from ``rng``, f.x before f.y."""
    noise_x, noise_y_f = upper_noise(q, x, y, rng, samples)
    grad_x, grad_y = q.grad_x_f(x, y), q.grad_y_f(x, y)
    grad_x = grad_x if noise_x is None else grad_x + noise_x
    return grad_x, grad_y if noise_y_f is None else grad_y + noise_y_f


def upper_noise(
    q: Objectives, x: Vector, y: Vector, rng: np.random.Generator | None, samples: int = 1
) -> tuple[Vector | None, Vector | None]:
    """Mean noise of both gradients of f over so many samples, (n,) and (m,); ``None`` where there is none."""
    of_x = of_y = None
    if rng is not None and q.noise.scale("f.x") > 0:
        noise = noise_x_f(q, x, y, Draws(f_x=rng.standard_normal((samples, q.n))))
        of_x = None if noise is None else noise.mean(axis=0)
    if rng is not None and q.noise.scale("f.y") > 0:
        of_y = noise_y(q, "f.y", x, y, rng.standard_normal((samples, q.m))).mean(axis=0)
    return of_x, of_y
