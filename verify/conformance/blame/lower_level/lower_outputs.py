"""Changes of a lower-level pair after it was found: of the multipliers mostly."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.lower_level.programs import Pair, QuadraticProgram, holding, solved
from verify.method.factors import is_almost_one, left_words, spelt_plainly
from verify.method.player import FUNCTIONS, Space, compiled


@dataclass(frozen=True)
class Output:
    """A change of what comes out, in words with its number; ``numbers`` are tried, none where one is measured.

    ``jumps`` says that an entry's size decides: a threshold, or digits that are kept.
    """

    formulas: dict[str, str]
    words: str
    numbers: tuple[float, ...] = (0.0,)
    jumps: bool = False

    @property
    def lets_go(self) -> bool:
        """Whether rows are let go by the size of an entry, so that y and the multipliers are others."""
        return self.jumps and not self.numbers and {"y", "lam"} <= self.formulas.keys()

    def of(self, pair: Pair, program: QuadraticProgram, c: float) -> Pair | None:
        """The pair that comes out; ``None`` where that hangs on the last digits of what was found."""
        outcome = self._plainly(pair, program, c)
        if not self.jumps:
            return outcome
        for by in (1 - EDGE, 1 + EDGE):
            y, lam = self._plainly((pair[0] * by, pair[1] * by), program, c)
            if max(_apart(y, outcome[0]), _apart(lam, outcome[1])) > STEADY:
                return None
        return outcome

    def _plainly(self, pair: Pair, program: QuadraticProgram, c: float) -> Pair:
        y, lam = pair
        space: Space = {"y": y, "lam": lam, "G": program.G, "q": program.q, "B": program.B, "r": program.r}
        space |= {"h": program.violated(y), "c": c}
        own = {name: partial(rule, pair, program) for name, rule in RULES.items()}
        told = {name: eval(compiled(text), _FUNCTIONS | own, space) for name, text in self.formulas.items()}
        return told.get("y", y), told.get("lam", lam)

    def told(self, value: float) -> str:
        """The words for a number."""
        scaled = [word[3:] for word in self.words.split() if word.startswith("{}·")]
        if scaled and is_almost_one(value):
            return left_words(value, " and of ".join(scaled))
        return self.words.replace("{}", spelt_plainly(value))


EDGE, STEADY = 1e-7, 1e-6
"""By how much, relatively, a pair is moved to see whether it is close to a jump, and how much may then change."""


def _apart(one: Vector, other: Vector) -> float:
    return float(np.max(np.abs(one - other) / (1e-300 + np.abs(one) + np.abs(other)), initial=0.0))


def _packed(lam: Vector) -> Vector:
    """Positive entries first, in their order."""
    return np.concatenate([lam[lam > 0], lam[lam <= 0]])


def _moved(lam: Vector) -> Vector:
    """Positive multipliers moved on by one among themselves."""
    held, moved = lam > 0, lam.copy()
    moved[held] = np.roll(lam[held], 1)
    return moved


def _free(_: Pair, program: QuadraticProgram) -> Vector:
    return program.free


def _of_moved(pair: Pair, program: QuadraticProgram) -> Vector:
    return np.asarray(program.free + np.linalg.solve(program.G, program.B.T @ _moved(pair[1])))


def _of_lam(pair: Pair, program: QuadraticProgram) -> Vector:
    return np.asarray(program.free + np.linalg.solve(program.G, program.B.T @ pair[1]))


def _solved_lam(pair: Pair, program: QuadraticProgram) -> Vector:
    right = solved(program)
    return pair[1] if right is None else right[1]


def _least_squares(pair: Pair, program: QuadraticProgram, chosen: Any) -> Vector:
    """Multipliers of some rows from the gradient of g at y, by least squares."""
    lam = np.zeros(len(program.r))
    if chosen.any():
        lam[chosen] = np.linalg.lstsq(program.B[chosen].T, program.G @ pair[0] + program.q)[0]
    return lam


def _held(_: Pair, program: QuadraticProgram, chosen: Any) -> Pair:
    """The pair of some rows held as equations, negative multipliers returned as 0; no number where there is none."""
    pair = holding(program, np.flatnonzero(chosen).tolist())
    if pair is None:
        return np.full(len(program.q), np.nan), np.full(len(program.r), np.nan)
    return pair[0], np.maximum(pair[1], 0.0)


def on_simplex(lam: Vector, total: float) -> Vector:
    """The nearest point with entries >= 0 that add up to a total."""
    down = np.sort(lam)[::-1]
    shifts = (np.cumsum(down) - total) / np.arange(1, len(lam) + 1)
    shift = shifts[np.flatnonzero(down > shifts)[-1]] if len(lam) else 0.0
    return np.maximum(lam - shift, 0.0)


def to_digits(values: Vector, digits: int) -> Vector:
    """Each entry rounded to a number of significant digits."""
    sizes = np.floor(np.log10(np.maximum(np.abs(values), 1e-300)))
    unit = 10.0 ** (sizes - digits + 1)
    return np.asarray(np.where(values == 0, 0.0, np.round(values / unit) * unit))


def _row_lengths(_: Pair, program: QuadraticProgram) -> Vector:
    return np.asarray(np.linalg.norm(program.B, axis=1))


RULES: dict[str, Callable[..., Any]] = {
    "free": _free, "of_moved": _of_moved, "solved_lam": _solved_lam, "least_squares": _least_squares,
    "row_lengths": _row_lengths, "of_lam": _of_lam, "held": _held,
}  # fmt: skip
"""What takes a program to compute."""
_FUNCTIONS: Space = FUNCTIONS | {
    "moved": _moved, "packed": _packed,
    "roll": np.roll, "sort": np.sort, "round": np.round, "arange": np.arange, "argmax": np.argmax,
    "inf": np.inf, "trunc": np.trunc, "tanh": np.tanh, "to_digits": to_digits, "on_simplex": on_simplex,
    "half": lambda v: v.astype(np.float16).astype(np.float64),
}  # fmt: skip
OUTPUTS = {
    name: Output(row[0], row[1], tuple(row[2]) if len(row) > 2 else (0.0,), jumps=row[3:] == [True])
    for name, row in tomllib.loads((resources.files("verify.method") / "pair_edits.toml").read_text("utf-8")).items()
}
"""All of them; those without numbers have one that is measured."""

NEUTRAL = ("solved λ", "|λ|", "λ ≥ 0", "touching", "y of λ")
"""Those that leave the right pair as it is."""
