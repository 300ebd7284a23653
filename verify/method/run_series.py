"""Formulas over everything that one run of Algorithm 2 recorded: all its steps at once, as rows t = 1, ..., T."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.method.player import FUNCTIONS, ROW_FUNCTIONS, Space, compiled, lengths

CLOSE = 1e-9
"""Relative difference below which two points are one."""
TINY = 1e-300
"""What a length is at least where it divides."""


def size(rows: Any, order: float = 2) -> Any:
    """Lengths that may divide."""
    return np.maximum(lengths(rows, order), TINY)


def cut(rows: Any, limit: Any) -> Vector:
    """To the length of the limit at most."""
    return np.asarray(rows * np.minimum(1.0, limit / size(rows)))


def late(rows: Vector, first: float = 0.0) -> Vector:
    """Each row one step late; a constant first."""
    return np.vstack([np.full_like(rows[:1], first), rows[:-1]])


def averages(rows: Vector) -> Vector:
    """Means of all rows so far."""
    return np.asarray(np.cumsum(rows, axis=0) / np.arange(1, len(rows) + 1)[:, None])


def smoothed(rows: Vector, beta: float, share: float) -> Vector:
    """Rows m with m ← βm + share·row, from 0."""
    series, m = [], np.zeros(rows.shape[1])
    for row in rows:
        m = beta * m + share * row
        series.append(m)
    return np.array(series)


def settled(rows: Vector, beta: float) -> Vector:
    """Rows m with m ← βm + (1 − β)·row, from the first row on."""
    series = [rows[0]]
    for row in rows[1:]:
        series.append(beta * series[-1] + (1 - beta) * row)
    return np.array(series)


SERIES: Space = {
    "size": size, "size_1": partial(size, order=1), "size_max": partial(size, order=np.inf), "cut": cut,
    "late": late, "left_over": partial(late, first=np.nan), "twice": lambda v: np.vstack([v[:1], v[:-1]]),
    "ahead": lambda v: np.vstack([v[1:], v[-1:]]), "averages": averages, "smoothed": smoothed,
    "settled": settled, "cumsum": partial(np.cumsum, axis=0), "first": lambda v: np.broadcast_to(v[:1], v.shape),
    "sign": np.sign, "tanh": np.tanh, "nan": np.nan, "arange": np.arange, "median": np.median,
    "reversed": lambda v: v[:, ::-1], "rolled": lambda v, k: np.roll(v, k, axis=1),
    "ones": np.ones_like, "component": lambda v: v * np.eye(v.shape[1])[0],
    "longest": lambda rows: int(np.argmax(lengths(rows))),
}  # fmt: skip
"""What a formula over rows may call besides."""


class RunSeries:
    """The names of one run, and values of formulas over them, each computed once."""

    def __init__(self, names: Mapping[str, Any], M: int) -> None:
        def blocks(rows: Vector) -> Vector:
            return rows.reshape(-1, M, rows.shape[1])

        def within(name: str, rows: Vector, *more: float) -> Vector:
            return np.concatenate([SERIES[name](rows[k : k + M], *more) for k in range(0, len(rows), M)])

        def over(rows: Vector, early: int, beyond: int, what: str = "mean") -> Vector:
            windows = (rows[max(k + early, 0) : k + M + beyond] for k in range(0, len(rows), M))
            return np.array([getattr(np, what)(window, axis=0) for window in windows])

        def played(g: Vector) -> Vector:
            steps = [0 * g[0]]
            for row in g[:-1]:
                steps.append(cut((steps[-1] - names["eta"] * row)[None], names["D"])[0])
            return np.array(steps)

        def kept(put: str, c: float) -> Vector:
            """The steps behind iterates that are put back somewhere after each; not a number where they are not."""
            steps, x_next = self.value("played(g)"), names["x_next"]
            space = {"x": names["x"] + steps, "c": c, "o": names["path"][:1]}
            iterates = np.asarray(eval(compiled(put), self.names, space))
            near = np.abs(iterates - x_next) <= CLOSE * (np.abs(iterates) + np.abs(x_next) + np.abs(steps))
            return np.where(near.all(axis=1, keepdims=True), steps, np.nan)

        t = np.arange(1.0, len(names["z"]) + 1)[:, None]
        own = {"blocks": blocks, "within": within, "over": over, "played": played, "kept": kept, "t": t, "place": t[:M],
               "every_kth": lambda rows: rows.reshape(M, -1, rows.shape[1]).mean(0)}  # fmt: skip
        self.names: Space = FUNCTIONS | ROW_FUNCTIONS | SERIES | own | dict(names)
        self.values: dict[str, Any] = {}

    def value(self, formula: str) -> Any:
        """Its value; nobody may write into it."""
        if formula not in self.values:
            self.values[formula] = self.made(formula, {})
        return self.values[formula]

    def made(self, formula: str, more: Mapping[str, Any]) -> Any:
        """Its value with more names, kept nowhere."""
        with np.errstate(all="ignore"):
            return eval(compiled(formula), self.names, dict(more))
