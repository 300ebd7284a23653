"""Right formulas fed with something else: another argument, another weight, a block read wrongly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from spec.blocks.quadratic import QuadraticArrays
from spec.exact import Vector
from verify.conformance.blame.lower_level.programs import QuadraticProgram, solved
from verify.conformance.blame.sums.call_points import CallPoint
from verify.conformance.blame.sums.right_sums import right_minimiser
from verify.conformance.blame.sums.term_basis import DIGITS
from verify.method.factors import spelt_plainly
from verify.method.terms import EXCHANGES, changed_entries

Exchanged = Callable[[CallPoint], CallPoint | None]


@dataclass(frozen=True, eq=False)
class Exchange:
    """One thing taken for another; ``change`` gives ``None`` where the sizes do not allow it.

    ``of_y``: it depends on the y at which the formula is evaluated, so that solving takes iterations. ``solves``: it
    solves for another y, as exactly as doubles allow.
    """

    name: str
    cost: float
    change: Exchanged
    of_y: bool = False
    solves: bool = False

    def at(self, c: CallPoint) -> CallPoint | None:
        """What :attr:`change` makes of a point, made there once."""
        if self not in c.table:
            c.table[self] = self.change(c)
        point: CallPoint | None = c.table[self]
        return point


@dataclass(frozen=True)
class OtherAlpha:
    """``factor · alpha ** power`` where alpha belongs, in both weights: what an exchange makes of a point."""

    factor: float
    power: float

    def __str__(self) -> str:
        number = "" if self.factor == 1 and self.power else spelt_plainly(self.factor)
        if self.power == 1 and self.factor < 1 and (1 / self.factor).is_integer():
            return f"α/{1 / self.factor:.0f}"
        return f"{number or 1}/α" if self.power == -1 else f"{number}{POWERS[self.power]}"

    def of(self, alpha: float) -> float:
        """Its value, > 0."""
        return float(self.factor * alpha**self.power)

    def __call__(self, c: CallPoint) -> CallPoint:
        """The point with it."""
        alpha = self.of(c.alpha)
        return replace(c, alpha=alpha, alpha_1=alpha**-2, alpha_2=alpha**-4)

    @property
    def exchange(self) -> Exchange:
        """As one of the exchanges."""
        return Exchange(f"{self} where α belongs in both weights", USUAL_ALPHAS.get(self, 0.25), self)


POWERS = {1: "α", 0: "", 2: "α²", 3: "α³", 4: "α⁴", -1: "1/α", 0.5: "√α"}
"""Powers of alpha, the likeliest first, as they are spelt."""
USUAL_ALPHAS = {
    OtherAlpha(1, 2): 0.1, OtherAlpha(1, 0.5): 0.1, OtherAlpha(1, -1): 0.1, OtherAlpha(2, 1): 0.2,
    OtherAlpha(0.5, 1): 0.2, OtherAlpha(10, 1): 0.2, OtherAlpha(1, 3): 0.2,
}  # fmt: skip
"""What stands where alpha belongs most often, and how unlikely each is; others are measured."""


def _solved_anew(c: CallPoint, part: int) -> Vector:
    """The lower level's own solution at x, or its multipliers, for what is given, which stays where there is none."""
    if "solved anew" not in c.table:
        q = c.q
        c.table["solved anew"] = solved(QuadraticProgram(q.g_yy, q.g_xy.T @ c.x + q.g_y, q.B, q.A @ c.x - q.b))
    pair = c.table["solved anew"]
    return (c.y_star, c.lam)[part] if pair is None else np.asarray(pair[part])


_PAIRS = (("f_xy", "g_xy"), ("f_yy", "g_yy"), ("f_y", "g_y"), ("f_x", "g_x"), ("f_xx", "g_xx"), ("A", "B"),
          ("f_x", "f_y"), ("g_x", "g_y"))  # fmt: skip


def _taken(to: str, source: str) -> Exchanged:
    def made(c: CallPoint) -> CallPoint | None:
        value = getattr(c.q, source)
        return c.with_blocks(**{to: value}) if value.shape == getattr(c.q, to).shape else None

    return made


def _reread(block: str, change: str) -> Exchanged:
    def made(c: CallPoint) -> CallPoint | None:
        value = changed_entries(change, getattr(c.q, block))
        return c.with_blocks(**{block: value}) if value.shape == getattr(c.q, block).shape else None

    return made


def _with(change: dict[str, str]) -> Exchanged:
    """Arguments by formulas."""

    def made(c: CallPoint) -> CallPoint:
        own = {
            "solved_anew": partial(_solved_anew, c),
            "activated": c.activated,
            "minimiser": partial(right_minimiser, c),
        }
        told: Any = {name: c.value(formula, own) for name, formula in change.items()}
        return replace(c, **told)

    return made


def _rounded(
    kind: type, decimals: int | None = None, stages: Sequence[str] = ("x", "y", "y_star", "lam", "rho")
) -> Exchanged:
    """All blocks of the problem rounded, and these stages."""

    def one(value: Vector) -> Vector:
        return np.round(value, decimals) if decimals is not None else _short(value, kind)

    def made(c: CallPoint) -> CallPoint:
        given: dict[str, Any] = {name: one(getattr(c, name)) for name in stages}
        return replace(c, **given).with_blocks(**{f.name: one(getattr(c.q, f.name)) for f in fields(c.q)})

    return made


def _short(value: Vector, kind: type) -> Vector:
    # What is too large for the kind becomes infinite, as it does there.
    with np.errstate(over="ignore"):
        return np.asarray(value.astype(kind).astype(np.float64))


def _weight(name: str, power: int, factor: float) -> Exchanged:
    def made(c: CallPoint) -> CallPoint:
        weight: dict[str, Any] = {name: factor * c.alpha**power}
        return replace(c, **weight)

    return made


def _sized_weight(name: str, power: int, size: int, sign: int) -> Exchanged:
    """A weight times, or over, n, m or p."""

    def made(c: CallPoint) -> CallPoint:
        weight: dict[str, Any] = {name: float(c.sizes[size]) ** sign * c.alpha**power}
        return replace(c, **weight)

    return made


def _singly_rounded(name: str) -> Exchanged:
    def made(c: CallPoint) -> CallPoint:
        told: Any = {name: _short(getattr(c, name), np.float32)}
        return replace(c, **told)

    return made


@lru_cache(maxsize=1)
def exchanges() -> tuple[Exchange, ...]:
    """All of them, the most usual first."""
    return tuple(sorted(_all_exchanges(), key=lambda e: e.cost))


def _all_exchanges() -> Iterator[Exchange]:
    for name, (cost, told) in EXCHANGES["rho"].items():
        yield Exchange(name, cost, _with(told), re.search(r"\bh\b", told["rho"]) is not None)
    for name, (cost, told) in EXCHANGES["arguments"].items():
        yield Exchange(name, cost, _with(told), solves=any("minimiser()" in formula for formula in told.values()))
    yield from (alpha.exchange for alpha in USUAL_ALPHAS)
    for block in (field.name for field in fields(QuadraticArrays)):
        kind = "vectors" if block in ("f_x", "f_y", "g_x", "g_y", "b") else "matrices"
        rules = EXCHANGES["blocks"] | EXCHANGES[kind]
        for name, (cost, reread) in rules.items():
            yield Exchange(name.format(block), cost + 0.05, _reread(block, reread))
    for a, b in _PAIRS:
        yield Exchange(f"{b} where {a} belongs", 0.15, _taken(a, b))
        yield Exchange(f"{a} where {b} belongs", 0.15, _taken(b, a))
    for weight, name, right in (("alpha_1", "α₁", -2), ("alpha_2", "α₂", -4)):
        for power in range(-8, 9):
            if power != right:
                spelt = {0: "1", -2: "α₁", -4: "α₂", 1: "α"}.get(power, f"α{str(power).translate(DIGITS)}")
                yield Exchange(f"{spelt} where {name} belongs", 0.02, _weight(weight, power, 1.0))
        for factor, spelt in ((2.0, "2"), (0.5, "½"), (-1.0, "−"), (0.25, "¼"), (4.0, "4"), (3.0, "3"), (10.0, "10")):
            yield Exchange(f"{spelt}{name} where {name} belongs", 0.02, _weight(weight, right, factor))
        for factor, spelt in ((2.0, "2α"), (0.5, "α/2"), (10.0, "10α"), (0.1, "α/10")):
            yield Exchange(f"{spelt} where α belongs in {name}", 0.02, _weight(weight, right, factor**right))
        for size, letter in enumerate("nmp"):
            yield Exchange(f"{letter}{name} where {name} belongs", 0.3, _sized_weight(weight, right, size, 1))
            yield Exchange(f"{name}/{letter} where {name} belongs", 0.2, _sized_weight(weight, right, size, -1))
        yield Exchange(f"{name} left out", 0.02, _weight(weight, 0, 0.0))
    for name, spelt in (("x", "x"), ("y", "ỹ"), ("y_star", "ỹ*"), ("lam", "λ̃"), ("rho", "ρ")):
        yield Exchange(f"{spelt} rounded to 24 bits", 0.2, _singly_rounded(name))
    yield Exchange("everything given rounded to 24 bits", 0.2, _rounded(np.float32))
    yield Exchange("the problem's blocks rounded to 24 bits", 0.2, _rounded(np.float32, stages=()))
    yield Exchange("everything given rounded to 11 bits", 0.3, _rounded(np.float16))
    for digits in range(1, 9):
        yield Exchange(f"everything given rounded to {digits} decimals", 0.4, _rounded(np.float64, digits))
