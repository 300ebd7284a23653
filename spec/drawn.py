r"""Problems drawn by family and seed: what the atlas shows on a few chosen problems is asked of thousands.

``drawn:FAMILY:SEED`` names one, wherever an instance is named, and ``drawn:FAMILY:FIRST-LAST`` several. All entries are
small integers or short fractions, so exact algebra decides on each. The lower-level solution is chosen first: with
:math:`y_0`, multipliers and slacks drawn,

.. math:: g_y = B^T\lambda - g_{yy} y_0 - g_{xy}^T x, \qquad b = Ax - B y_0 + s,

makes :math:`y_0` optimal at the drawn x, with the rows active and the multipliers positive that the family asks for.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spec.blocks.families import draw_experiment, full_rank
from spec.errors import InvalidInputError
from spec.problem import parse_problem

Integers: TypeAlias = NDArray[np.int64]
PREFIX = "drawn:"
MOST = 10**9
"""Seeds lie below this."""
AT_ONCE = 100_000
"""Most problems that one name stands for."""


@dataclass(frozen=True)
class Drawn:
    """One draw: a problem as plain data, the point x, shape (n,), and what its family makes sure of."""

    problem: dict[str, Any]
    x: tuple[Fraction, ...]
    strata: frozenset[str]


@dataclass(frozen=True)
class Family:
    """A family of problems.

    Args:
        name: As in ``drawn:NAME:SEED``.
        purpose: Why it is asked about.
        like: Atlas instances of its kind: a check that is made for one of them can be asked about its draws.
        draw: A draw from a generator.
    """

    name: str
    purpose: str
    like: tuple[str, ...]
    draw: Callable[[np.random.Generator], Drawn]


def _integers(rng: np.random.Generator, low: int, high: int, *shape: int) -> Integers:
    return rng.integers(low, high, endpoint=True, size=shape)


@dataclass(frozen=True)
class _Rows:
    """Sizes, rows and which of them bind; ``lam`` and ``slack`` have a positive entry in one of them, or in none."""

    A: Integers
    B: Integers
    lam: Integers
    slack: Integers


def _independent(rng: np.random.Generator, count: int, m: int, n: int) -> tuple[Integers, Integers]:
    """``count`` <= m independent rows B with entries in -2..2, and their A."""
    B = _integers(rng, -2, 2, count, m)
    while count and not full_rank(B.astype(float)):
        B = _integers(rng, -2, 2, count, m)
    return _integers(rng, -2, 2, count, n), B


def _with_inactive(rng: np.random.Generator, A: Integers, B: Integers, lam: Integers, most: int = 3) -> _Rows:
    """Rows that bind, and up to ``most`` that do not, in a drawn order."""
    extra = int(rng.integers(0, most, endpoint=True))
    more = _integers(rng, -2, 2, extra, B.shape[1])
    more[~more.any(axis=1), 0] = 1
    order = rng.permutation(len(B) + extra)
    return _Rows(
        np.vstack([A, _integers(rng, -2, 2, extra, A.shape[1])])[order],
        np.vstack([B, more])[order],
        np.concatenate([lam, np.zeros(extra, dtype=int)])[order],
        np.concatenate([np.zeros(len(B), dtype=int), _integers(rng, 1, 4, extra)])[order],
    )


def _curvature(rng: np.random.Generator, m: int) -> Integers:
    R = _integers(rng, -1, 1, m, m)
    curved: Integers = R @ R.T + np.eye(m, dtype=int)
    return curved


def _upper(rng: np.random.Generator, n: int, m: int) -> dict[str, Any]:
    """An upper objective that depends on y."""
    S, slope = _integers(rng, -2, 2, m, m), _integers(rng, -3, 3, m)
    slope[0] = slope[0] or 1
    parts = {"xx": np.eye(n, dtype=int), "xy": _integers(rng, -2, 2, n, m), "yy": S + S.T,
             "x": _integers(rng, -2, 2, n), "y": slope}  # fmt: skip
    return {name: part.tolist() for name, part in parts.items()}


def _solved_at(
    rng: np.random.Generator, rows: _Rows, strata: Sequence[str], curvature: Integers | None = None
) -> Drawn:
    """A problem whose lower level has a drawn integer solution at a drawn point."""
    m, n = rows.B.shape[1], rows.A.shape[1]
    G = _curvature(rng, m) if curvature is None else curvature
    x, y, xy = _integers(rng, -2, 2, n), _integers(rng, -2, 2, m), _integers(rng, -2, 2, n, m)
    g = {"xy": xy, "yy": G, "y": rows.B.T @ rows.lam - G @ y - xy.T @ x}
    constraints = {"A": rows.A, "B": rows.B, "b": rows.A @ x - rows.B @ y + rows.slack}
    problem = {
        "kind": "quadratic", "f": _upper(rng, n, m), "g": {name: part.tolist() for name, part in g.items()},
        "constraints": {name: part.tolist() for name, part in constraints.items()},
    }  # fmt: skip
    return Drawn(problem, tuple(Fraction(int(value)) for value in x), frozenset(strata))


def _sizes(rng: np.random.Generator, least_m: int = 1) -> tuple[int, int]:
    """Sizes n in 1..3 and m in least_m..4."""
    return int(rng.integers(1, 3, endpoint=True)), int(rng.integers(least_m, 4, endpoint=True))


def _rows(rng: np.random.Generator) -> Drawn:
    n, m = _sizes(rng)
    active = int(rng.integers(1, m, endpoint=True))
    A, B = _independent(rng, active, m, n)
    return _solved_at(rng, _with_inactive(rng, A, B, _integers(rng, 1, 3, active)), ["strictly-complementary"])


def _fixed_rows(rng: np.random.Generator) -> Drawn:
    n, m = _sizes(rng, 2)
    active = int(rng.integers(1, m, endpoint=True))
    A, B = _independent(rng, active, m, n)
    rows = _with_inactive(rng, A, B, _integers(rng, 1, 3, active))
    rows = _Rows(np.zeros_like(rows.A), rows.B, rows.lam, rows.slack)
    return _solved_at(rng, rows, ["A-zero", "strictly-complementary"])


def _interior(rng: np.random.Generator) -> Drawn:
    n, m = _sizes(rng)
    A, B = _independent(rng, 1, m, n)
    rows = _with_inactive(rng, A, B, np.zeros(1, dtype=int), 2)
    rows = _Rows(rows.A, rows.B, rows.lam, rows.slack + (rows.slack == 0))
    return _solved_at(rng, rows, ["no-active-row", "inactive-row", "strictly-complementary"])


def _one_sided(rng: np.random.Generator, n: int, m: int, *, moving: bool) -> _Rows:
    """Rows ±(y_i - c_i(x)) <= 1 of a box, some of whose sides bind."""
    bound = rng.integers(-1, 1, endpoint=True, size=m)
    bound[rng.integers(m)] = rng.choice((-1, 1))
    eye = np.eye(m, dtype=int)
    side = _integers(rng, -2, 2, m, n) if moving else np.zeros((m, n), dtype=int)
    lam, slack = np.zeros(2 * m, dtype=int), np.zeros(2 * m, dtype=int)
    for i, sign in enumerate(bound):
        low, high = (i, i + m) if sign > 0 else (i + m, i)
        lam[low] = rng.integers(1, 3, endpoint=True) if sign else 0
        slack[low], slack[high] = (0, 2) if sign else (1, 1)
    return _Rows(np.vstack([side, -side]), np.vstack([eye, -eye]), lam, slack)


def _box(rng: np.random.Generator) -> Drawn:
    n, m = _sizes(rng)
    rows = _one_sided(rng, n, m, moving=False)
    return _solved_at(rng, rows, ["A-zero", "inactive-row", "strictly-complementary"])


def _moving_box(rng: np.random.Generator) -> Drawn:
    n, m = _sizes(rng)
    return _solved_at(rng, _one_sided(rng, n, m, moving=True), ["inactive-row", "strictly-complementary"])


def _weakly_active(rng: np.random.Generator) -> Drawn:
    n, m = _sizes(rng)
    active = int(rng.integers(1, m, endpoint=True))
    A, B = _independent(rng, active, m, n)
    lam = _integers(rng, 1, 3, active)
    lam[0] = 0
    return _solved_at(rng, _with_inactive(rng, A, B, lam), ["weakly-active"])


def _dependent(rng: np.random.Generator) -> Drawn:
    n, m = _sizes(rng)
    active = int(rng.integers(1, m, endpoint=True))
    A, B = _independent(rng, active, m, n)
    A, B = np.vstack([A, 2 * A[:1]]), np.vstack([B, 2 * B[:1]])
    return _solved_at(rng, _with_inactive(rng, A, B, _integers(rng, 1, 3, active + 1)), ["licq-fails"])


def _nearly_dependent(rng: np.random.Generator) -> Drawn:
    n, m = _sizes(rng, 2)
    tilt = int(rng.integers(8, 12, endpoint=True))
    first = np.zeros(m, dtype=int)
    first[0] = tilt
    second = first.copy()
    second[1] = 1
    A = _integers(rng, -2, 2, 1, n)
    rows = _Rows(np.vstack([A, A]), np.vstack([first, second]), _integers(rng, 1, 3, 2), np.zeros(2, dtype=int))
    drawn = _solved_at(rng, rows, ["rows-nearly-dependent", "several-active-rows", "strictly-complementary"])
    # Rows of length about 1, a tilt apart: the same feasible set.
    for name in ("A", "B", "b"):
        drawn.problem["constraints"][name] = _over(drawn.problem["constraints"][name], tilt)
    return drawn


def _over(values: Any, by: int) -> Any:
    return [_over(value, by) for value in values] if isinstance(values, list) else str(Fraction(values, by))


def _ill_conditioned(rng: np.random.Generator) -> Drawn:
    n, m = _sizes(rng, 2)
    scale = np.diag([int(value) for value in (1, *rng.choice((1, 8), m - 2), 80)])
    active = int(rng.integers(1, m, endpoint=True))
    A, B = _independent(rng, active, m, n)
    rows = _with_inactive(rng, A, B, _integers(rng, 1, 3, active))
    curvature = scale @ _curvature(rng, m) @ scale
    return _solved_at(rng, rows, ["ill-conditioned", "strictly-complementary"], curvature)


def _infeasible(rng: np.random.Generator) -> Drawn:
    feasible = _fixed_rows(rng) if rng.integers(2) else _box(rng)
    held = feasible.problem["constraints"]
    held["A"] = [*held["A"], [0] * len(feasible.x)]
    held["B"] = [*held["B"], [-value for value in held["B"][0]]]
    held["b"] = [*held["b"], -held["b"][0] - int(rng.integers(1, 3, endpoint=True))]
    return Drawn(feasible.problem, feasible.x, frozenset({"infeasible"}))


def _experiment(rng: np.random.Generator) -> Drawn:
    """The paper's family, its entries rounded to eighths; at a point where no row is weakly active."""
    d = int(rng.integers(1, 4, endpoint=True))
    blocks = draw_experiment(rng, d, condition=float(rng.choice((2, 5, 10))))
    problem = {
        "kind": "quadratic",
        **{block: {name: _eighths(part) for name, part in parts.items()} for block, parts in blocks.items()},
    }
    # Sevenths beside eighths: no solution reaches a side by chance without a multiplier.
    x = tuple(Fraction(int(value), 7) for value in rng.choice((-1, 1), d) * _integers(rng, 1, 6, d))
    return Drawn(problem, x, frozenset({"A-zero"}))


def _eighths(part: NDArray[np.float64]) -> Any:
    numerators = (part * 8).round().astype(int).tolist()
    return _over(numerators, 8)


FAMILIES = {
    family.name: family
    for family in (
        Family("rows", "General rows that move with x, some of them active.",
               ("two-of-three", "random-2x3x4", "random-3x5x4", "random-4x6x6"), _rows),
        Family("fixed-rows", "General rows that do not move.", ("fixed-rows",), _fixed_rows),
        Family("box", "A box that does not move, some sides active.", ("box-rational",), _box),
        Family("moving-box", "A box that moves with x.", ("moving-box",), _moving_box),
        Family("interior", "Rows, and none of them active.", ("interior",), _interior),
        Family("experiment", "The paper's experiment: a box and rotated quadratics.", ("experiment-5d",), _experiment),
        Family("ill-conditioned", "Curvatures thousands apart.", ("ill-conditioned",), _ill_conditioned),
        Family("rows-nearly-dependent", "Two active rows a small angle apart.", ("rows-nearly-dependent",),
               _nearly_dependent),
        Family("weakly-active", "An active row without a multiplier: strict complementarity fails.",
               ("weakly-active",), _weakly_active),
        Family("licq-fails", "An active row twice: the multipliers are not unique.", ("licq-fails",), _dependent),
        Family("infeasible", "Rows that no y satisfies.", ("infeasible",), _infeasible),
    )
}  # fmt: skip
"""Families by name, the plainest first."""

_NAME = re.compile(r"drawn:(?P<family>[a-z-]*):(?P<first>[0-9]{1,10})(?:-(?P<last>[0-9]{1,10}))?")


def is_drawn(name: str) -> bool:
    """Whether an instance's name is that of a draw."""
    return name.startswith(PREFIX)


def family_of(name: str) -> Family:
    """The family that a draw's name names."""
    return FAMILIES[name.split(":")[1]]


def name_of(family: str, seed: int) -> str:
    """The name of a draw."""
    return f"{PREFIX}{family}:{seed}"


def names(text: str, argument: str = "instance") -> Iterator[str]:
    """The draws that a name stands for, one or a range.

    Raises:
        InvalidInputError: If there is no such family, or the seeds are none or too many.
    """
    match = _NAME.fullmatch(text)
    if match is None or match["family"] not in FAMILIES:
        rule = f"must be drawn:FAMILY:SEED or drawn:FAMILY:FIRST-LAST, with a family of {', '.join(FAMILIES)}"
        raise InvalidInputError(argument, rule, text)
    first, last = int(match["first"]), int(match["last"] or match["first"])
    if not first <= last < MOST:
        raise InvalidInputError(argument, f"must have seeds FIRST <= LAST below {MOST}", text)
    if last - first >= AT_ONCE:
        raise InvalidInputError(argument, f"must name at most {AT_ONCE} problems", text)
    return (name_of(match["family"], seed) for seed in range(first, last + 1))


@lru_cache(maxsize=256)
def draw(name: str, argument: str = "instance") -> tuple[Any, Drawn]:
    """The problem of a draw, validated, and what is known of it.

    Raises:
        InvalidInputError: If the name is none.
    """
    one, *more = names(name, argument)
    if more:
        raise InvalidInputError(argument, "must name one problem", name)
    family = family_of(one)
    # The family's name in the seed: another family added moves no draw.
    drawn = family.draw(np.random.default_rng([int(one.rsplit(":", 1)[1]), zlib.crc32(family.name.encode())]))
    return parse_problem(drawn.problem, one), drawn
