"""Shapes of a ramp, ways to put two of them together, and what may be done with weights afterwards."""
# ruff: noqa: ARG005  # what stands in one table is called in one way

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Shape:
    """A ramp over t, right from 0 to 1: ``of(t, sharpness, cut)``; words with the sharpness where there is one."""

    of: Callable[[Any, float, str], Any]
    words: str
    sharp: bool = False


@dataclass(frozen=True)
class Joining:
    """How the two factors become a weight."""

    of: Callable[[Any, Any], Any]
    words: str


@dataclass(frozen=True)
class Finish:
    """What is done with all weights, given a number where there is one."""

    of: Callable[[Any, float], Any]
    words: str
    thresholds: tuple[float, ...] = (0.0,)


def cut_off(t: Any, cut: str) -> Any:
    """Cut off at 0, at 1, at both or not at all."""
    low = 0.0 if cut in ("both", "below") else -np.inf
    return np.clip(t, low, 1.0 if cut in ("both", "above") else np.inf)


def _bounded(of: Callable[[Any], Any]) -> Callable[[Any, float, str], Any]:
    return lambda t, k, cut: of(cut_off(t, cut))


def _step(rule: Callable[[Any], Any]) -> Callable[[Any, float, str], Any]:
    return lambda t, k, cut: np.where(rule(t), 1.0, 0.0)


def _sigmoid(t: Any) -> Any:
    return 1 / (1 + np.exp(-t))


SHAPES: dict[str, Shape] = {
    "straight": Shape(_bounded(lambda t: t), "straight"),
    "above 0": Shape(_step(lambda t: t > 0), "a step: 1 where it should be more than 0, else 0"),
    "from 0": Shape(_step(lambda t: t >= 0), "a step: 1 from the ramp's lower end on, the end included, else 0"),
    "above ½": Shape(_step(lambda t: t > 0.5), "a step: 1 where it should be more than ½, else 0"),
    "from ½": Shape(_step(lambda t: t >= 0.5), "a step: 1 where it should be ½ or more, else 0"),
    "above 1": Shape(_step(lambda t: t > 1), "a step: 1 beyond the ramp's upper end, else 0"),
    "from 1": Shape(_step(lambda t: t >= 1), "a step: 1 where it should be 1, else 0"),
    "cubic": Shape(_bounded(lambda t: t * t * (3 - 2 * t)), "the cubic 3t² − 2t³ in place of straight"),
    "quintic": Shape(_bounded(lambda t: t**3 * (10 + t * (6 * t - 15))), "the quintic 6t⁵ − 15t⁴ + 10t³ in place of "
                     "straight"),
    "cosine": Shape(_bounded(lambda t: (1 - np.cos(np.pi * t)) / 2), "(1 − cos πt)/2 in place of straight"),
    "sine": Shape(_bounded(lambda t: np.sin(np.pi * t / 2)), "sin(πt/2) in place of straight"),
    "power": Shape(lambda t, k, cut: np.sign(cut_off(t, cut)) * np.abs(cut_off(t, cut)) ** k, "t to the power {} in "
                   "place of straight", sharp=True),
    "reversed": Shape(_bounded(lambda t: 1 - t), "1 − t in place of t"),
    "window": Shape(lambda t, k, cut: np.where(t > 1, 0.0, cut_off(t, cut)), "0 beyond its upper end, where it should "
                    "stay 1"),
    "open window": Shape(lambda t, k, cut: np.where(t >= 1, 0.0, cut_off(t, cut)), "0 from its upper end on, where it "
                         "should be 1"),
    "lower top": Shape(lambda t, k, cut: np.clip(t, 0.0, k), "cut off at {} in place of 1", sharp=True),
    "sigmoid in the middle": Shape(lambda t, k, cut: _sigmoid(k * (t - 0.5)), "the sigmoid 1/(1 + exp(−{}(t − ½))) in "
                                   "place of straight", sharp=True),
    "sigmoid at 0": Shape(lambda t, k, cut: _sigmoid(k * t), "the sigmoid 1/(1 + exp(−{}t)) in place of straight",
                          sharp=True),
    "sigmoid at 1": Shape(lambda t, k, cut: _sigmoid(k * (t - 1)), "the sigmoid 1/(1 + exp(−{}(t − 1))) in place of "
                          "straight", sharp=True),
    "tanh": Shape(lambda t, k, cut: np.tanh(k * np.maximum(t, 0)), "tanh({}t) in place of straight", sharp=True),
    "saturating": Shape(lambda t, k, cut: 1 - np.exp(-k * np.maximum(t, 0)), "1 − exp(−{}t) in place of straight",
                        sharp=True),
    "exponential": Shape(lambda t, k, cut: np.exp(k * np.minimum(t - 1, 0)), "exp({}(t − 1)) in place of straight",
                         sharp=True),
    "bell": Shape(lambda t, k, cut: np.exp(-k * (t - 1) ** 2), "exp(−{}(t − 1)²) in place of straight", sharp=True),
    "fraction": Shape(lambda t, k, cut: np.maximum(t, 0) / (np.maximum(t, 0) + k), "t/(t + {}) in place of straight",
                      sharp=True),
}  # fmt: skip
"""All over t, which is 0 and 1 at the right ramp's ends."""

TOGETHER: dict[str, Joining] = {
    "product": Joining(lambda a, b: a * b, "the product of both ramps"),
    "smaller": Joining(np.minimum, "the smaller of both ramps in place of their product"),
    "larger": Joining(np.maximum, "the larger of both ramps in place of their product"),
    "mean": Joining(lambda a, b: (a + b) / 2, "the mean of both ramps in place of their product"),
    "root": Joining(lambda a, b: np.sqrt(a * b), "the square root of the ramps' product in place of it"),
    "sum less 1": Joining(lambda a, b: np.maximum(a + b - 1, 0.0), "max(their sum − 1, 0) in place of the product"),
    "sum": Joining(lambda a, b: np.minimum(a + b, 1.0), "min(their sum, 1) in place of the product"),
    "plain sum": Joining(lambda a, b: a + b, "the sum of both ramps in place of their product"),
    "either": Joining(lambda a, b: a + b - a * b, "the ramps as σ + σ' − σσ' in place of their product σσ'"),
    "h squared": Joining(lambda a, b: a * a, "the ramp of h twice and that of λ never"),
    "λ squared": Joining(lambda a, b: b * b, "the ramp of λ twice and that of h never"),
    "harmonic": Joining(lambda a, b: np.where(a + b > 0, 2 * a * b / np.where(a + b > 0, a + b, 1.0), 0.0), "the "
                        "harmonic mean of both ramps in place of their product"),
    "product squared": Joining(lambda a, b: (a * b) ** 2, "the square of the ramps' product"),
}  # fmt: skip


def _divided(rho: Any, by: float) -> Any:
    return rho / by if by > 0 else rho


def _only(rho: Any, kept: int) -> Any:
    return np.where(np.arange(len(rho)) == kept, rho, 0.0)


def _without(rho: Any, row: int) -> Any:
    return np.where(np.arange(len(rho)) == row % len(rho), 0.0, rho)


AFTERWARDS: dict[str, Finish] = {
    "nothing": Finish(lambda rho, c: rho, "nothing"),
    "complement": Finish(lambda rho, c: 1 - rho, "1 − ρ in place of ρ"),
    "negated": Finish(lambda rho, c: -rho, "−ρ in place of ρ"),
    "next row": Finish(lambda rho, c: np.roll(rho, 1), "each row gets the weight of the row before it"),
    "row before": Finish(lambda rho, c: np.roll(rho, -1), "each row gets the weight of the row after it"),
    "reversed": Finish(lambda rho, c: rho[::-1], "the rows are in reversed order"),
    "ascending": Finish(lambda rho, c: np.sort(rho), "the weights are sorted, the smallest first"),
    "descending": Finish(lambda rho, c: np.sort(rho)[::-1], "the weights are sorted, the largest first"),
    "sum 1": Finish(lambda rho, c: _divided(rho, float(np.sum(rho))), "the weights are divided by their sum"),
    "length 1": Finish(lambda rho, c: _divided(rho, float(np.linalg.norm(rho))), "the weights are divided by their "
                       "length ‖ρ‖"),
    "largest 1": Finish(lambda rho, c: _divided(rho, float(np.max(rho))), "the weights are divided by the largest"),
    "by rows": Finish(lambda rho, c: rho / len(rho), "the weights are divided by the number of rows"),
    "largest alone": Finish(lambda rho, c: _only(rho, int(np.argmax(rho))), "only the row of largest weight keeps it"),
    "largest everywhere": Finish(lambda rho, c: np.full_like(rho, np.max(rho)), "every row gets the largest weight"),
    "smallest everywhere": Finish(lambda rho, c: np.full_like(rho, np.min(rho)), "every row gets the smallest weight"),
    "mean everywhere": Finish(lambda rho, c: np.full_like(rho, np.mean(rho)), "every row gets the mean weight"),
    "no first row": Finish(lambda rho, c: _without(rho, 0), "the first row gets weight 0"),
    "no last row": Finish(lambda rho, c: _without(rho, -1), "the last row gets weight 0"),
    "running product": Finish(lambda rho, c: np.cumprod(rho), "each weight is multiplied by those of the rows before"),
    "cubic": Finish(lambda rho, c: rho * rho * (3 - 2 * rho), "3ρ² − 2ρ³ in place of ρ"),
    "quintic": Finish(lambda rho, c: rho**3 * (10 + rho * (6 * rho - 15)), "6ρ⁵ − 15ρ⁴ + 10ρ³ in place of ρ"),
    "above": Finish(lambda rho, c: np.where(rho > c, 1.0, 0.0), "1 where ρ > {}, else 0", (0.0, 0.5)),
    "from": Finish(lambda rho, c: np.where(rho >= c, 1.0, 0.0), "1 where ρ >= {}, else 0", (0.5, 1.0)),
    "scaled": Finish(lambda rho, c: c * rho, "ρ is multiplied by {}", ()),
    "raised": Finish(lambda rho, c: rho + c, "{} is added to every weight", ()),
    "at least": Finish(lambda rho, c: np.maximum(rho, c), "no weight is less than {}", ()),
    "at most": Finish(lambda rho, c: np.minimum(rho, c), "no weight is more than {}", ()),
    "cut to 0": Finish(lambda rho, c: np.where(rho < c, 0.0, rho), "weights below {} are taken for 0", ()),
    "to the power": Finish(lambda rho, c: np.abs(rho) ** c, "ρ to the power {} in place of ρ", ()),
    "rounded": Finish(lambda rho, c: np.round(rho, int(c)), "the weights are rounded to {} decimals",
                      tuple(float(digits) for digits in range(7))),
}  # fmt: skip
"""Those without thresholds have one that is measured."""

MIXING = frozenset({
    "next row", "row before", "reversed", "ascending", "descending", "sum 1", "length 1", "largest 1", "by rows",
    "largest alone", "largest everywhere", "smallest everywhere", "mean everywhere", "no first row", "no last row",
    "running product",
})  # fmt: skip
"""Those whose weights depend on other rows."""
