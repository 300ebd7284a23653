"""Shapes of a ramp, ways to put two of them together, and what may be done with weights afterwards."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from verify.method.player import FUNCTIONS, Space, compiled


def divided(rho: Any, by: float) -> Any:
    """Weights divided by a positive number; by none other."""
    return rho / by if by > 0 else rho


_FUNCTIONS: Space = FUNCTIONS | {
    "sign": np.sign, "tanh": np.tanh, "cos": np.cos, "sin": np.sin, "pi": np.pi, "roll": np.roll, "sort": np.sort,
    "cumprod": np.cumprod, "arange": np.arange, "argmax": np.argmax, "round": np.round, "divided": divided,
}  # fmt: skip


@dataclass(frozen=True)
class RampShape:
    """A ramp, right from 0 to 1; words with the sharpness where there is one."""

    formula: str
    words: str
    sharp: bool = False

    def of(self, t: Any, k: float, cut: str) -> Any:
        """Its values, cut off as a program cuts them."""
        return eval(compiled(self.formula), _FUNCTIONS, {"t": t, "k": k, "u": cut_off(t, cut)})


@dataclass(frozen=True)
class Joining:
    """How the two factors become a weight."""

    formula: str
    words: str

    def of(self, a: Any, b: Any) -> Any:
        """Weights of two ramps."""
        return eval(compiled(self.formula), _FUNCTIONS, {"a": a, "b": b})


@dataclass(frozen=True)
class Finish:
    """What is done with all weights, given a number where there is one: one of these, or one that is measured."""

    formula: str
    words: str
    thresholds: tuple[float, ...] = (0.0,)

    def of(self, rho: Any, c: float) -> Any:
        """Weights after it."""
        return eval(compiled(self.formula), _FUNCTIONS, {"rho": rho, "c": c})


def of_both(formula: str, own: Any, other: Any) -> Any:
    """A formula of what is a bracket's own and what is the other's."""
    return eval(compiled(formula), _FUNCTIONS, {"own": own, "other": other})


def cut_off(t: Any, cut: str) -> Any:
    """Cut off at 0, at 1, at both or not at all."""
    low = 0.0 if cut in ("both", "below") else -np.inf
    return np.clip(t, low, 1.0 if cut in ("both", "above") else np.inf)


_TABLES = tomllib.loads((resources.files("verify.method") / "activation_edits.toml").read_text("utf-8"))
SHAPES = {name: RampShape(*row) for name, row in _TABLES["shapes"].items()}
"""All over t, which is 0 and 1 at the right ramp's ends."""
TOGETHER = {name: Joining(*row) for name, row in _TABLES["together"].items()}
AFTERWARDS = {name: Finish(*row[:2], *map(tuple, row[2:])) for name, row in _TABLES["afterwards"].items()}
"""Those without thresholds have one that is measured."""
WIDTHS: dict[str, str] = _TABLES["widths"]
"""What a bracket is divided by, from its own width and the other's."""
ENTERS: dict[str, str] = _TABLES["enters"]
"""What a bracket is made of."""

MIXING = frozenset({
    "next row", "row before", "reversed", "ascending", "descending", "sum 1", "length 1", "largest 1", "by rows",
    "largest alone", "largest everywhere", "smallest everywhere", "mean everywhere", "no first row", "no last row",
    "running product",
})  # fmt: skip
"""Those whose weights depend on other rows."""
