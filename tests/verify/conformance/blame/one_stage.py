"""Subjects that offer one stage, written down as a function of plain numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import daqp
import numpy as np

from verify.subjects.protocol import StageCalls

Weigh = Callable[[Any, Any, float, float], Any]
Pair = Callable[[Any, Any], Any]


class Weighing:
    """Offers an activation."""

    name = "weighing"

    def __init__(self, weigh: Weigh) -> None:
        self.weigh = weigh
        self.calls = 0

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        self.calls += 1
        return self.weigh(h, lam, h_width, lam_width)


class Solving:
    """Offers a lower level, from a problem's arrays and x; an accuracy where it has one."""

    name = "solving"

    def __init__(self, pair: Pair, accuracy: Any = None) -> None:
        self.pair = pair
        self.calls = 0
        if accuracy is not None:
            self.accuracy = accuracy

    def lower_level(self, problem: Any, x: Any) -> Any:
        self.calls += 1
        return self.pair(problem.arrays, x)


def weighing(weigh: Weigh) -> StageCalls:
    return StageCalls(Weighing(weigh))


def solving(pair: Pair, accuracy: Any = None) -> StageCalls:
    return StageCalls(Solving(pair, accuracy))


def right_weights(h: Any, lam: Any, w: float, v: float) -> Any:
    return np.clip(1 + h / w, 0, 1) * np.clip(lam / v, 0, 1)


def quadratic_program(G: Any, q: Any, B: Any, r: Any) -> Any:
    """Least ½ y'Gy + q'y with B y >= r, and multipliers; without rows where there is none."""
    bounds = np.full(len(r), -1e30)
    y, _, flag, info = daqp.solve(np.array(G), np.array(q), np.ascontiguousarray(-B), -r, bounds, primal_tol=1e-12)
    if flag != 1:
        return -np.linalg.solve(G, q), np.zeros(len(r))
    return y, np.asarray(info["lam"])[-len(r) :]


def lower(a: Any, x: Any, **changed: Any) -> Any:
    """The lower level with blocks of the program changed: G, q, B or r."""
    data = {"G": a.g_yy, "q": a.g_xy.T @ x + a.g_y, "B": a.B, "r": a.A @ x - a.b} | changed
    return quadratic_program(**data)


def transposed(block: Any) -> Any:
    return block.T if block.shape[0] == block.shape[1] else block


def coarse(pair: Pair, accuracy: float) -> Pair:
    """The same from a solver that is only so exact: errors without a pattern, the same at each call."""

    def rough(a: Any, x: Any) -> Any:
        y, lam = pair(a, x)
        errors = accuracy * np.sin(1e3 * np.sum(x) + 7.1 * np.arange(len(y) + len(lam)))
        return y + errors[: len(y)] * (1 + np.abs(y).max()), lam + errors[len(y) :] * (1 + np.abs(lam).max())

    return rough
