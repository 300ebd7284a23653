"""Problems posed for one purpose each, where the atlas has none: what the stages of a subject are asked about."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from spec import Quadratic, parse_problem
from verify.conformance.places.places import JudgedPlace

SQUARE: dict[str, Any] = {
    "kind": "quadratic",
    "f": {"xx": [[1, "1/4"], ["1/4", 2]], "xy": [[1, "1/2"], ["-1/2", 2]], "yy": [[1, 0], [0, 1]], "y": [1, -1]},
    "g": {"xy": [["1/2", -1], ["1/4", 0]], "yy": [[2, "1/2"], ["1/2", 1]]},
    "constraints": {"A": [[1, "1/3"], ["-1/2", "3/2"]], "B": [[1, "1/2"], ["-1/4", 1]], "b": [-2, -3]},
}
"""n = m = p and no block symmetric that need not be: a transposed one has the right shape, and shows."""
MANY = 32
"""Lower variables of one problem."""
SIZES = ("1501/70", "16/7", "1/3", "7/150", "3/700", "2/3001", "5/70003")
"""Multipliers of one problem, each in its decade."""


def _posed(name: str, data: dict[str, Any], *x: Fraction | int, purpose: str = "") -> JudgedPlace:
    problem = parse_problem(data)
    assert isinstance(problem, Quadratic)  # by its kind
    return JudgedPlace(name, problem, tuple(map(Fraction, x)), purpose)


def square() -> JudgedPlace:
    """Two variables of each kind and two active rows."""
    return _posed("square", SQUARE, Fraction(1, 2), Fraction(-3, 4))


def multipliers_of_all_sizes() -> JudgedPlace:
    """½‖y‖² over y ≥ r: multipliers are r, from large to small, so that what is cut off or rounded by size shows."""
    rows = [[int(i == j) for j in range(len(SIZES))] for i in range(len(SIZES))]
    data = {"kind": "quadratic", "g": {"xy": [[0] * len(rows)], "yy": rows},
            "constraints": {"A": [[0]] * len(rows), "B": rows, "b": [f"-{size}" for size in SIZES]}}  # fmt: skip
    return _posed("multipliers-of-all-sizes", data, 0)


def many_variables() -> JudgedPlace:
    """Thirty-two variables of as many curvatures from 1 to 10: an iteration that ends too soon shows."""
    m = MANY
    curvatures = [str(round(10 ** (j / (m - 1)), 2)) for j in range(m)]
    data = {"kind": "quadratic", "f": {"y": [[1, -1, 2][j % 3] for j in range(m)]},
            "g": {"yy": [[curvatures[j] if i == j else 0 for i in range(m)] for j in range(m)], "y": [1] * m},
            "constraints": {"A": [[0]], "B": [[1] * m], "b": [1000]}}  # fmt: skip
    return _posed("many-variables", data, 0)


def thin(place: JudgedPlace) -> JudgedPlace:
    """The same rows divided by a power of two, so that ‖B‖ < 1 and no product is rounded otherwise."""
    problem = place.problem
    by = Fraction(2) ** (1 + max(0, int(np.ceil(np.log2(np.linalg.norm(problem.arrays.B, 2))))))
    rows = {name: getattr(problem.constraints, name) for name in ("A", "B", "b")}
    divided = {
        "A": [[str(v / by) for v in row] for row in rows["A"].to_fractions()],
        "B": [[str(v / by) for v in row] for row in rows["B"].to_fractions()],
        "b": [str(v / by) for v in rows["b"].to_fractions()[0]],
    }
    return _posed(f"{place.name}-thin", problem.to_dict() | {"constraints": divided}, *place.x, purpose=place.purpose)
