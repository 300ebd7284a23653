"""Arithmetic operations behind counted calls, on dense data: a product with a d × d matrix is 2d², a Cholesky d³/3.

One model for all experiments and all methods. Operations on vectors alone are left out, and so are products with zero
and with a multiple of the identity. Where two matrices meet one vector, as f_yy and g_yy in a step of the penalty
minimiser, their sum is formed once and one product is taken. A factor that the lower level has made serves the implicit
gradient at the same point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from f2csa_ref.baselines.implicit_gradient import factorisations
from f2csa_ref.fast.operators import multiple_of_identity
from f2csa_ref.objectives import QuadraticObjectives

SAMPLE_X, SAMPLE_Y = 2, 2
"""Products behind one more sample of grad_x f, and of grad_y f."""
GRADIENTS = 4
"""Products with whole blocks behind both gradients of f, which every method takes."""


def factoring(counts: Mapping[str, int], at_hand: int = 0) -> float:
    """Operations of factorisations and of what is solved with them.

    After a Cholesky factorisation of size m and one of size k < m, the Schur complement on k rows took k more
    solutions with the first factor and the product of k rows with them. The largest ``at_hand`` Cholesky factors are
    there already: only what is solved with them is counted.
    """
    factors = factorisations(dict(counts))
    cost = sum(number * size**3 * (2 / 3 if kind == "lu" else 1 / 3) for (kind, size), number in factors.items())
    solved = sum(number * 2.0 * size**2 for (_, size), number in factors.items())
    by_size = sorted((size for kind, size in factors if kind == "cholesky"), reverse=True)
    schur = sum(2.0 * by_size[0] ** 2 * k + 2.0 * by_size[0] * k * k for k in by_size[1:])
    for size in by_size[:1]:
        cost -= min(at_hand, factors["cholesky", size]) * size**3 / 3
    return cost + solved + schur


def operations(counts: Mapping[str, int], d: int) -> float:
    """Operations of one hypergradient with blocks of d × d, its lower level given."""
    return 2.0 * counts["matrix_products"] * d**2 + factoring(counts)


def linear_solve(counts: Mapping[str, int], d: int) -> float:
    """Operations of an implicit gradient's linear system alone: what both gradients of f take is left out."""
    return operations(counts, d) - 2.0 * GRADIENTS * d**2


@dataclass(frozen=True)
class WorkBlocks:
    """Which blocks of a problem cost a product, 1, and which none, 0; A in products with a block of m × m."""

    m: int
    f_xx: int = 1
    f_xy: int = 1
    f_yy: int = 1
    g_xx: int = 1
    g_xy: int = 1
    g_yy: int = 1
    A: float = 0.0

    @classmethod
    def of(cls, q: QuadraticObjectives) -> Self:
        """Read off the problem's matrices."""
        dense = {
            name: int(multiple_of_identity(getattr(q, name)) is None)
            for name in ("f_xx", "f_xy", "f_yy", "g_xx", "g_xy", "g_yy")
        }
        return cls(m=q.m, A=q.A.size / q.m**2 if q.A.any() else 0.0, **dense)

    def prepared(self, counts: Mapping[str, int], p: int) -> float:
        """The work of prepared answers, in products: what they read, solutions with factors too, and factorisations.

        A factorisation of g_yy, or of its free block, is m³/3 operations; of the Gram matrix of rows, of p at most.
        What a sample of f beyond the first costs, though its noise is drawn without a matrix, is ``sampled_products``.
        """
        factors = (
            counts.get("hessian_factorisations", 0)
            + counts.get("row_factorisations", 0) * (min(p, self.m) / self.m) ** 3
        )
        return counts["bytes_read"] / (8 * self.m**2) + factors * self.m / 6 + counts.get("sampled_products", 0)

    def products(self, counts: Mapping[str, int]) -> float:
        """The work of the counted calls of one oracle answer, in products with a block of m × m.

        A lower-level solution is a Cholesky factorisation of g_yy and two products with the factor or the matrix,
        whatever the solver did, with what x adds to it. A product with the Hessian gives an implicit gradient the
        multipliers of coordinates at their bounds, which only a bound that moves with x asks for.
        """
        # A solver that counts its parts has several programs a solution.
        solves = counts.get("lower_level_solves", counts.get("quadratic_programs", 0))
        solved = solves * (self.m / 6 + 2 + self.g_xy + self.A)
        in_f, in_g = counts.get("grad_y_f", 0), counts.get("grad_y_g", 0)
        steps = min(in_f, in_g) * max(self.f_yy, self.g_yy) + max(in_f - in_g, 0) * self.f_yy
        steps += max(in_g - in_f, 0) * self.g_yy
        of_x = self.f_xy * bool(in_f) * max(solves, 1)
        in_x: float = counts.get("grad_x_f", 0) * (self.f_xx + self.f_xy) + self.A * bool(counts.get("grad_x_f"))
        # Of two gradients of g in x the difference is taken, in which g_xx x cancels.
        in_x += counts.get("grad_x_g", 0) / 2 * self.g_xy
        second: float = counts.get("cross_products", 0) * self.g_xy + counts.get("hessian_products", 0) * bool(self.A)
        second += factoring(counts, at_hand=solves) / (2.0 * self.m**2)
        return steps + of_x + in_x + second + counts.get("f_values", 0) * (self.f_xx + self.f_xy + self.f_yy) + solved
