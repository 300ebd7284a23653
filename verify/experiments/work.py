"""Arithmetic operations behind counted calls, on dense data: a product with a d × d matrix is 2d², a Cholesky d³/3.

Operations on vectors alone are left out, of all methods alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from f2csa_ref.baselines.implicit_gradient import factorisations


class Sizes(NamedTuple):
    """Of a problem: n upper and m lower variables, and entries that are not zero in g_xy and in the rows.

    A box has one entry a row, and the experiments' g_xy is the identity: a program that multiplies by their zeros is
    no fair measure.
    """

    n: int
    m: int
    cross_entries: int
    row_entries: int


def gradients(counts: Mapping[str, int], sizes: Sizes) -> float:
    """Operations of gradients of f at points that share nothing: two products each; and of products with rows."""
    n, m, _, entries = sizes
    in_x, in_y = counts.get("grad_x_f", 0) * n * (n + m), counts.get("grad_y_f", 0) * m * (n + m)
    return 2.0 * (in_x + in_y + counts.get("row_products", 0) * entries)


def linear_solve(counts: Mapping[str, int], sizes: Sizes) -> float:
    """Operations of an implicit gradient's linear system.

    After a Cholesky factorisation of size m and one of size k < m, the Schur complement on k rows took k more
    solutions with the first factor and the product of k rows with them.
    """
    products = 2.0 * counts.get("hessian_products", 0) * sizes.m**2
    factors = factorisations(dict(counts))
    cost = sum(number * size**3 * (2 / 3 if kind == "lu" else 1 / 3) for (kind, size), number in factors.items())
    solved = sum(number * 2.0 * size**2 for (_, size), number in factors.items())
    by_size = sorted((size for kind, size in factors if kind == "cholesky"), reverse=True)
    schur = sum(2.0 * by_size[0] ** 2 * k + 2.0 * by_size[0] * k * k for k in by_size[1:])
    return products + cost + solved + schur


def implicit(counts: Mapping[str, int], sizes: Sizes) -> float:
    """Operations of an implicit gradient, its lower level given."""
    cross = 2.0 * counts.get("cross_products", 0) * sizes.cross_entries
    return gradients(counts, sizes) + linear_solve(counts, sizes) + cross


def first_order(counts: Mapping[str, int], sizes: Sizes) -> float:
    """Operations of F2CSA's oracle as it counts itself: products with whole matrices, its lower level given."""
    return 2.0 * counts["matrix_products"] * sizes.m**2
