r"""Simpler problems than one, as a strategy of Hypothesis: what its shrinker makes small is the problem.

Each entry is drawn from its own value and all simpler numbers, each coordinate of x and y and each row may go. Where
the lower level has a solution, solution, multipliers and slacks are drawn in place of :math:`g_y` and :math:`b`, which
follow from them as in :mod:`spec.drawn`: what is made simpler has a solution again, of the same kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from hypothesis import strategies as st

from spec.atlas import Instance
from spec.blocks.exact_json import dumps
from spec.exact import to_json_value
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.complementarity import InfeasibleLowerLevelError

Row: TypeAlias = Sequence[Fraction]
Rows: TypeAlias = Sequence[Row]

WIDE = 2**16
"""Numbers that an entry is drawn by: so many mean its own value that nearly all first tries are near the problem."""
SMALL = tuple(
    Fraction(sign * top, below) for below in (1, 2, 3, 4) for top in (*range(9), 10, 100, 1000) for sign in (1, -1)
)
"""Numbers that are simpler than most."""


def _weight(value: Fraction) -> tuple[int, int, bool]:
    return value.denominator, abs(value.numerator), value < 0


@lru_cache(maxsize=4096)
def simpler(value: Fraction, *, positive: bool = False) -> tuple[Fraction, ...]:
    """Simpler numbers than this one, the simplest first, and at the end itself."""
    below = {one for one in SMALL if _weight(one) < _weight(value) and (one > 0 or not positive)}
    return (*sorted(below, key=_weight), value)


class _Drawn:
    """What one try draws: as many numbers whatever goes, so that one made simpler moves no other."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self._draw = draw

    def kept(self, count: int) -> list[int]:
        """Which of so many stay: one at least."""
        drawn = [self._draw(st.integers(0, WIDE)) for _ in range(count if count > 1 else 0)]
        return [i for i, number in enumerate(drawn) if number > 0] or [count - 1]

    def entry(self, value: Fraction, *, positive: bool = False) -> Fraction:
        """An entry in place of this one."""
        values = simpler(value, positive=positive)
        return value if len(values) == 1 else values[min(self._draw(st.integers(0, WIDE)), len(values) - 1)]

    def vector(self, values: Row, at: Sequence[int], *, positive: bool = False) -> list[Fraction]:
        whole = [self.entry(value, positive=positive and value > 0) for value in values]
        return [whole[i] for i in at]

    def matrix(self, values: Rows, rows: Sequence[int], columns: Sequence[int]) -> list[list[Fraction]]:
        whole = [[self.entry(value) for value in row] for row in values]
        return [[whole[i][j] for j in columns] for i in rows]

    def symmetric(self, values: Rows, at: Sequence[int], *, positive: bool = False) -> list[list[Fraction]]:
        below = [
            [self.entry(value, positive=positive and i == j) for j, value in enumerate(row[: i + 1])]
            for i, row in enumerate(values)
        ]
        return [[below[max(i, j)][min(i, j)] for j in at] for i in at]


def simpler_problems(instance: Instance) -> st.SearchStrategy[str]:
    """Texts of instance files, whose problems are this one or simpler; not all of them are valid."""
    q = quadratic_of(instance.problem)
    f, g, rows = ({name: block.to_fractions() for name, block in part} for part in (q.f, q.g, q.constraints))
    try:
        solved = lower_level.solve(q, instance.x)
    except InfeasibleLowerLevelError:
        solved = None
    y_star, lam = ([], []) if solved is None else (solved.y_star, solved.lam)
    slack = [] if solved is None else [-value for value in solved.h]

    @st.composite
    def text(draw: Any) -> str:
        drawn = _Drawn(draw)
        ns, ms, ps = drawn.kept(q.n), drawn.kept(q.m), drawn.kept(q.p)
        x = drawn.vector(instance.x, ns)
        A, B = drawn.matrix(rows["A"], ps, ns), drawn.matrix(rows["B"], ps, ms)
        G, xy = drawn.symmetric(g["yy"], ms, positive=True), drawn.matrix(g["xy"], ns, ms)
        if solved is None:
            g_y, b = drawn.vector(g["y"][0], ms), drawn.vector(rows["b"][0], ps)
        else:
            y = drawn.vector(y_star, ms)
            held, apart = drawn.vector(lam, ps, positive=True), drawn.vector(slack, ps, positive=True)
            pull = [_dot(held, [row[j] for row in B]) for j in range(len(ms))]
            g_y = [pull[j] - _dot(G[j], y) - _dot(x, [row[j] for row in xy]) for j in range(len(ms))]
            b = [_dot(A[i], x) - _dot(B[i], y) + apart[i] for i in range(len(ps))]
        upper = {
            "xx": drawn.symmetric(f["xx"], ns), "xy": drawn.matrix(f["xy"], ns, ms),
            "yy": drawn.symmetric(f["yy"], ms), "x": drawn.vector(f["x"][0], ns), "y": drawn.vector(f["y"][0], ms),
        }  # fmt: skip
        lower = {"xy": xy, "yy": G, "y": g_y}
        problem = {"kind": "quadratic", "f": upper, "g": lower, "constraints": {"A": A, "B": B, "b": b}}
        return dumps(_written({"x": x, "problem": problem}))

    return text()


def _dot(a: Row, b: Row) -> Fraction:
    return sum((one * other for one, other in zip(a, b, strict=True)), Fraction(0))


def _written(value: Any) -> Any:
    """Plain data, its fractions in their canonical spelling."""
    if isinstance(value, Fraction):
        return to_json_value(value.numerator if value.denominator == 1 else value)
    if isinstance(value, dict):
        return {name: _written(item) for name, item in value.items()}
    return [_written(item) for item in value] if isinstance(value, list) else value
