"""The implicit gradient on one quadratic problem, again and again: the fast oracle's lower level, and its factor again.

What stays is done once, as :class:`f2csa_ref.fast.FastOracle` does; the factor with which the lower level was solved
solves the adjoint system too, so that an answer takes one solve with it and a few products.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from f2csa_ref.baselines.implicit_gradient import regular_rows, upper_noise
from f2csa_ref.baselines.kkt_system import solve_kkt
from f2csa_ref.bounds import Indices
from f2csa_ref.fast.operators import Operator, Rows, Tally
from f2csa_ref.fast.prepared_lower import GeneralLower, prepared_lower
from f2csa_ref.lower_level.solution import length, margin_of, on_rows, sizes
from f2csa_ref.objectives import QuadraticObjectives, as_vector, double_range, objectives_of
from f2csa_ref.second_derivatives.curvature import Curvature
from spec.errors import InvalidInputError
from spec.exact import Vector
from spec.problem import Problem


@dataclass(frozen=True)
class ImplicitAnswer:
    """One answer: the gradient of F (n,), the pair (m,) and (p,), the active rows, and what it took.

    ``counts`` and ``bytes_read`` are as of :class:`f2csa_ref.fast.Estimate`.
    """

    hypergradient: Vector
    y_star: Vector
    lam: Vector
    rows: Indices
    counts: Mapping[str, int]
    bytes_read: int


@dataclass(eq=False)
class ImplicitOracle:
    """The implicit gradient with everything that stays the same prepared.

    Args:
        problem: A quadratic problem, or one drawn as such.

    Raises:
        InvalidInputError: If the problem is not quadratic.

    Source: as :func:`implicit_gradient`, which tests hold this to.

    Example:
        >>> import numpy as np
        >>> from spec import parse_problem
        >>> toy = parse_problem({"kind": "quadratic", "f": {"y": [1]}, "g": {"yy": [[1]]},
        ...                      "constraints": {"A": [[1]], "B": [[1]]}})
        >>> ImplicitOracle(toy)(np.ones(1)).hypergradient
        array([1.])
    """

    problem: Problem | QuadraticObjectives
    tally: Tally = field(default_factory=Tally, init=False)

    def __post_init__(self) -> None:
        q = objectives_of(self.problem)
        if not isinstance(q, QuadraticObjectives):
            raise InvalidInputError("problem", "must be quadratic for the implicit oracle")
        self.q = q
        self.f_xx, self.f_xy, self.f_yy = (Operator(block, self.tally) for block in (q.f_xx, q.f_xy, q.f_yy))
        self.g_xy, self.g_yy = Operator(q.g_xy, self.tally), Operator(q.g_yy, self.tally)
        self.rows = Rows(q, self.tally)
        self.lower = prepared_lower(self)

    def __call__(
        self, x: Vector, *, tilt: Vector | None = None, rng: np.random.Generator | None = None, samples: int = 1
    ) -> ImplicitAnswer:
        """The gradient of F at x, shape (n,); of x ↦ f(x, y) with y the minimiser of g + tiltᵀy, shape (m,), if given.

        Gradients of f are exact, or means of so many samples drawn from ``rng``, as :func:`implicit_gradient` has them.

        Raises:
            InvalidInputError: If x breaks its rule, the lower level is infeasible there, or y* is not known to be
                differentiable: an active row has multiplier 0, or active rows are dependent.
            LowerLevelError: If the lower level cannot be solved.
        """
        q, x, before = self.q, as_vector(x, self.q.n, "x"), replace(self.tally)
        with double_range(q):
            r = self.rows.reach(x)
            c = self.g_xy.back(x) + q.g_y
            y, lam, _, slope = self.lower.solve(x, c if tilt is None else c + tilt, r)
            rows = self._active_rows(x, r, (y, lam), slope)
            noise_x, noise_y = upper_noise(q, x, y, rng, samples)
            grad_y = self.f_xy.back(x) + self.f_yy.forth(y) + q.f_y
            u, v = self._adjoint(rows, grad_y if noise_y is None else grad_y + noise_y)
            gradient = self.f_xx.forth(x) + self.f_xy.forth(y) + q.f_x - self.g_xy.forth(u)
            if noise_x is not None:
                gradient = gradient + noise_x
            if self.rows.A.multiple != 0.0:
                gradient -= v @ q.A[rows]
        return self._answer((gradient, y, lam), rows, before)

    def _adjoint(self, rows: Indices, grad_y: Vector) -> tuple[Vector, Vector]:
        if not isinstance(self.lower, GeneralLower):
            return self.lower.adjoint(rows, grad_y)
        # Many dense rows leave no factor to use again: g_yy and the rows' Gram matrix are factorised at each point.
        q, tally = self.q, self.tally
        solved = solve_kkt(Curvature(q.g_yy, q.g_xy), q.B[rows], grad_y, "standard")
        tally.hessian_factorisations += 1
        tally.row_factorisations += bool(len(rows))
        tally.bytes_read += q.g_yy.nbytes
        return solved.u, solved.v

    def _active_rows(self, x: Vector, r: Vector, pair: tuple[Vector, Vector], slope: Vector) -> Indices:
        """Told by what the solve has at hand."""
        y, lam = pair
        size = sizes(self.q, x, y, lam, length(slope) + self.q.C_g * length(y))
        active, weakly_active = on_rows(r - self.rows.times(y), lam, size)
        return regular_rows(active, weakly_active, margin_of(self.q, active))

    def _answer(self, values: tuple[Vector, Vector, Vector], rows: Indices, before: Tally) -> ImplicitAnswer:
        now = self.tally
        counts = {
            "matrix_products": now.products - before.products,
            "hessian_factorisations": now.hessian_factorisations - before.hessian_factorisations,
            "row_factorisations": now.row_factorisations - before.row_factorisations,
        }  # fmt: skip
        return ImplicitAnswer(*values, rows, counts, now.bytes_read - before.bytes_read)
