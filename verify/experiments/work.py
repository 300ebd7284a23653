"""Arithmetic operations behind counted calls, on dense data: a product with a d × d matrix is 2d², a Cholesky d³/3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from f2csa_ref.baselines.implicit_gradient import factorisations


class Sizes(NamedTuple):
    """Of a problem with dense blocks: n upper and m lower variables, rows with so many entries that are not zero.

    A box has one entry a row, and a program that multiplies by its zeros too is no fair measure.
    """

    n: int
    m: int
    row_entries: int


def first_order(counts: Mapping[str, int], sizes: Sizes) -> float:
    """Operations of gradients and rows: every gradient is a product with the y-block, and in x also with the x-block.

    The part of ∇_y at a fixed x that x alone gives is computed once a call and is not counted.
    """
    n, m, entries = sizes
    in_x = counts.get("grad_x_f", 0) + counts.get("grad_x_g", 0)
    in_y = counts.get("grad_y_f", 0) + counts.get("grad_y_g", 0)
    return 2.0 * (in_x * (n * n + n * m) + in_y * m * m + counts.get("row_products", 0) * entries)


def second_order(counts: Mapping[str, int], sizes: Sizes) -> float:
    """Operations beyond gradients: products with second derivatives, and factorisations with what they solve.

    After a Cholesky factorisation of size m and one of size k < m, the Schur complement on k rows took k more
    solutions with the first factor and the product of k rows with them.
    """
    n, m, _ = sizes
    products = 2.0 * (counts.get("hessian_products", 0) * m * m + counts.get("cross_products", 0) * n * m)
    factors = factorisations(dict(counts))
    cost = sum(number * size**3 * (2 / 3 if kind == "lu" else 1 / 3) for (kind, size), number in factors.items())
    solved = sum(number * 2.0 * size**2 for (_, size), number in factors.items())
    by_size = sorted((size for kind, size in factors if kind == "cholesky"), reverse=True)
    schur = sum(2.0 * by_size[0] ** 2 * k + 2.0 * by_size[0] * k * k for k in by_size[1:])
    return products + cost + solved + schur


def linear_solve(counts: Mapping[str, int], sizes: Sizes) -> float:
    """Operations of an implicit gradient's linear system alone."""
    return second_order({name: number for name, number in counts.items() if name != "cross_products"}, sizes)


def operations(counts: Mapping[str, int], sizes: Sizes) -> float:
    """All counted operations of a call, without those of a lower-level quadratic program."""
    return first_order(counts, sizes) + second_order(counts, sizes)


def products_by_matrix(counts: Mapping[str, int]) -> int:
    """Products with a whole block in y: what is left of a first-order method's cost where d is large."""
    return counts.get("grad_y_f", 0) + counts.get("grad_y_g", 0)
