"""Arithmetic operations behind counted calls, on dense data: a product with a d × d matrix is 2d², a Cholesky d³/3.

Operations on vectors alone are left out, and products with the identity or zero, of all methods alike.
"""

from __future__ import annotations

from collections.abc import Mapping

from f2csa_ref.baselines.implicit_gradient import factorisations

GRADIENTS = 4
"""Products with whole blocks behind both gradients of f, which every method takes."""


def factoring(counts: Mapping[str, int]) -> float:
    """Operations of factorisations and of what is solved with them.

    After a Cholesky factorisation of size m and one of size k < m, the Schur complement on k rows took k more
    solutions with the first factor and the product of k rows with them.
    """
    factors = factorisations(dict(counts))
    cost = sum(number * size**3 * (2 / 3 if kind == "lu" else 1 / 3) for (kind, size), number in factors.items())
    solved = sum(number * 2.0 * size**2 for (_, size), number in factors.items())
    by_size = sorted((size for kind, size in factors if kind == "cholesky"), reverse=True)
    schur = sum(2.0 * by_size[0] ** 2 * k + 2.0 * by_size[0] * k * k for k in by_size[1:])
    return cost + solved + schur


def operations(counts: Mapping[str, int], d: int) -> float:
    """Operations of one hypergradient with blocks of d × d, its lower level given."""
    return 2.0 * counts["matrix_products"] * d**2 + factoring(counts)


def linear_solve(counts: Mapping[str, int], d: int) -> float:
    """Operations of an implicit gradient's linear system alone: what both gradients of f take is left out."""
    return operations(counts, d) - 2.0 * GRADIENTS * d**2
