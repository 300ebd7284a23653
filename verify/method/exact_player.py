"""The method's formulas over the rationals: what its lines give exactly, whatever they have become.

A value is an array of fractions. What no rational number is, as the norm of B in a width, has no exact value here.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np
from flint import fmpq_mat

from spec import InvalidInputError, Quadratic, parse_problem
from verify.method.lines import Formulas, Procedure
from verify.truth.algebra.rationals import Number, Vector, column, fractions, is_positive_definite, rational
from verify.truth.lower_level import lower_level

Space = dict[str, Any]


def exact(value: Any) -> Any:
    """A number of a formula as a fraction; arrays are made of fractions already."""
    return Fraction(value) if isinstance(value, int | float) else value


def exact_array(values: Any) -> Any:
    """Numbers, of whatever kind, as an array of fractions."""
    return np.vectorize(Fraction, otypes=[object])(values) if np.size(values) else np.zeros(np.shape(values), object)


def solved(matrix: Any, right: Any) -> Any:
    """Solution of a square system; of one without equations, nothing.

    Raises:
        ZeroDivisionError: If the matrix is singular.
    """
    if not np.size(right):
        return np.zeros(np.shape(right), object)
    solution = _rational(matrix).solve(_rational(np.reshape(right, (len(right), -1)))).tolist()
    return exact_array([[Fraction(int(v.p), int(v.q)) for v in row] for row in solution]).reshape(np.shape(right))


def _rational(matrix: Any) -> fmpq_mat:
    return fmpq_mat([[rational(Fraction(value)) for value in row] for row in matrix])


def binding(hessian: Any, slope: Any, rows: Any, least: Any) -> Any:
    """Which rows of ``rows @ y >= least`` hold with equality, and push, at the minimum; shape (p,)."""

    def spelt(values: Any) -> Any:
        return np.vectorize(str, otypes=[object])(values).tolist()

    data = {"f": {"x": [0]}, "g": {"yy": spelt(hessian), "y": spelt(slope)},
            "constraints": {"B": spelt(rows), "b": spelt(-least)}}  # fmt: skip
    program = parse_problem({"kind": "quadratic", **data})
    assert isinstance(program, Quadratic)  # by its kind
    return np.array([value > 0 for value in lower_level.solve(program, (0,)).lam])


def chosen(which: Any, here: Any, elsewhere: Any) -> Any:
    """``here`` where a row is meant, else ``elsewhere``."""
    return np.array([here if is_meant else elsewhere for is_meant in which], object)


def spread(values: Any, where: Any) -> Any:
    """Values put back to their rows, zeros elsewhere."""
    whole = np.zeros(len(where), object)
    whole[where] = values
    return whole


FUNCTIONS: Space = {
    "exact": exact, "solve": solved, "nearest": solved, "binding": binding, "spread": spread, "clip": np.clip,
    "maximum": np.maximum, "minimum": np.minimum, "where": chosen,
    "ones": np.ones_like, "zeros": np.zeros_like,
    "abs": np.abs, "shifted": lambda v: np.roll(v, 1),
}  # fmt: skip
"""What a formula may call here."""


class _Quotients(ast.NodeTransformer):
    """Makes fractions of whole numbers that are divided."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            node.left = ast.Call(ast.Name("exact", ast.Load()), [node.left], [])
        return node


@lru_cache(maxsize=1024)
def _compiled(formula: str) -> CodeType:
    tree = _Quotients().visit(ast.parse(formula, mode="eval"))
    return compile(ast.fix_missing_locations(tree), f"<{formula}>", "eval")


def space_of(problem: Quadratic, x: Vector, alpha: Fraction, stages: Mapping[str, Vector]) -> Space:
    """What formulas are played on: the problem's blocks, the point, alpha, and stage values by name."""
    parts = {"f": problem.f, "g": problem.g, "": problem.constraints}
    space: Space = {"x": exact_array(x), "alpha": alpha} | {name: exact_array(v) for name, v in stages.items()}
    for field in fields(problem.arrays):
        part, _, name = field.name.rpartition("_")
        rows = exact_array(getattr(parts[part], name).to_fractions())
        space[field.name] = rows.reshape(getattr(problem.arrays, field.name).shape)
    return space


def play(formulas: Formulas, procedure: Procedure, given: Space) -> Space:
    """A procedure's values over fractions, and what they were made of."""
    space = {name: value if isinstance(value, str) else exact(value) for name, value in given.items()}
    for name, formula in formulas[procedure].items():
        space[name] = eval(_compiled(formula), FUNCTIONS, space)
    return space


def minimise(formulas: Formulas, given: Space) -> Vector:
    """Where the gradient that the formulas give vanishes, shape (m,).

    Raises:
        InvalidInputError: If it is not the gradient of a strictly convex function.
    """
    m = len(given["y_star"])

    def gradient(y: Sequence[Number]) -> Any:
        return play(formulas, "lagrangian", given | {"y": exact_array(y)})["gradient"]

    at_zero = gradient([0] * m)
    hessian = _rational(np.array([gradient(unit) - at_zero for unit in np.eye(m, dtype=int).tolist()], object))
    if not is_positive_definite(hessian):
        raise InvalidInputError("alpha", "must leave the penalty Lagrangian strictly convex in y", str(given["alpha"]))
    y = exact_array(fractions(hessian.solve(-1 * column(at_zero))))
    return tuple(play(formulas, "minimised", given | {"y": y})["y_penalty"])
