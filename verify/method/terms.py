"""What wrong formulas of Algorithm 1 may be made of, by name: cost and formula; ``terms.toml`` has them."""

from __future__ import annotations

import re
import tomllib
from functools import partial
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from spec.exact import Vector
from verify.method.lines import Procedure
from verify.method.player import FUNCTIONS, Space, compiled, lengths
from verify.method.summands import written_out

LINES: dict[str, Procedure] = {"upper": "lagrangian", "lower": "lagrangian", "grad_f": "line_6", "grad_g": "line_6",
                               "c": "lower_level"}  # fmt: skip
"""Lines that terms name."""


def turned(M: Vector) -> Vector:
    """What it makes to transpose a matrix where it is square, and so fits; elsewhere nothing."""
    return another(M, M.T)


def another(M: Vector, other: Vector) -> Vector:
    """What another matrix makes in the place of one, where it fits; elsewhere nothing."""
    return other - M if M.shape == other.shape else np.zeros_like(M)


TERM_FUNCTIONS: Space = FUNCTIONS | {
    "roll": np.roll, "sign": np.sign, "arange": np.arange, "lengths": lengths, "eye": np.eye, "triu": np.triu,
    "tril": np.tril, "sort": np.sort, "turned": turned, "another": another,
    "cumsum": np.cumsum, "tanh": np.tanh, "round": np.round, "norm_2": partial(np.linalg.norm, ord=2),
}  # fmt: skip
"""What a term's formula may call."""


def changed_entries(change: str, v: Vector) -> Vector:
    """A vector or matrix by a formula of itself."""
    return np.asarray(term_value(change, {"v": v}))


def term_value(formula: str, names: Any) -> Any:
    """A formula's value over what names it looks up."""
    return eval(compiled(formula), TERM_FUNCTIONS, names)


class Term(NamedTuple):
    """Its cost and its formula."""

    cost: float
    formula: str


def _term(cost: float, formula: str) -> Term:
    def line(match: re.Match[str]) -> str:
        name, star = match.groups()
        written = written_out(LINES[name], name).replace("y_penalty", "y")
        return re.sub(r"\by\b", "y_star", written) if star else written

    return Term(cost, re.sub(r"\{(\w+)(\*?)\}", line, formula))


def _read(table: dict[str, Any]) -> dict[str, Term]:
    return {name: _term(*row) for name, row in table.items()}


_TABLES = tomllib.loads((resources.files("verify.method") / "terms.toml").read_text("utf-8"))
GROUPS: dict[str, dict[str, Term]] = {space: _read(table) for space, table in _TABLES.pop("groups").items()}
"""Whole groups, by the space of their values."""
NORMS: dict[str, str] = _TABLES.pop("norms")
"""Sizes of B in the width of the ramp of h."""
HANDED: dict[str, dict[str, str]] = _TABLES.pop("handed")
"""What the activation is handed otherwise."""
ANSWERS: dict[str, dict[str, Term]] = {name: _read(table) for name, table in _TABLES.pop("answers").items()}
"""What may become of an answer ``v``: of any, or of the penalty minimiser."""
OVERWRITTEN: dict[str, str] = _TABLES.pop("overwritten")
"""What row values become where weights are made in their place."""
JUMPS: dict[str, str] = _TABLES.pop("jumps")
"""What jump noise of g may add, over its scale; the right one first, without words."""
HESSIANS: dict[str, dict[str, str]] = _TABLES.pop("hessians")
"""What stands for a part of the Hessian, by part and for any part ``M``; the right one has no name."""
WIDTHS: dict[str, dict[str, str]] = _TABLES.pop("widths")
"""Widths that the activation is handed otherwise."""
EXCHANGES: dict[str, dict[str, tuple[float, Any]]] = _TABLES.pop("exchanges")
"""Arguments by formulas of them, and blocks read wrongly by a formula of ``v``."""
TERMS: dict[str, dict[str, Term]] = {kind: _read(table) for kind, table in _TABLES.items()}
"""Vectors of rows, weights, vectors in y and x, matrices, and changes of entries."""
