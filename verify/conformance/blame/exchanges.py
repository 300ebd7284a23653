"""Right formulas fed with something else: another argument, another weight, a block read wrongly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from spec.exact import Vector
from spec.quadratic import QuadraticArrays
from verify.conformance.blame.call_points import CallPoint
from verify.conformance.blame.programs import Program, solved
from verify.conformance.blame.term_basis import DIGITS

Exchanged = Callable[[CallPoint], CallPoint | None]


@dataclass(frozen=True, eq=False)
class Exchange:
    """One thing taken for another; ``change`` gives ``None`` where the sizes do not allow it.

    ``of_y``: it depends on the y at which the formula is evaluated, so that solving takes iterations.
    """

    name: str
    cost: float
    change: Exchanged
    of_y: bool = False

    def at(self, c: CallPoint) -> CallPoint | None:
        """What :attr:`change` makes of a point, made there once."""
        if self not in c.table:
            c.table[self] = self.change(c)
        made: CallPoint | None = c.table[self]
        return made


_WEIGHTS_BY_RHO: dict[str, tuple[float, Callable[[CallPoint], Vector], bool]] = {
    "ρ replaced by 1 in every row": (0.1, lambda c: np.ones(len(c.rho)), False),
    "ρ² where ρ belongs": (0.1, lambda c: c.rho**2, False),
    "√ρ where ρ belongs": (0.1, lambda c: np.sqrt(np.abs(c.rho)), False),
    "1−ρ where ρ belongs": (0.1, lambda c: 1.0 - c.rho, False),
    "ρ rounded to 0 or 1": (0.1, lambda c: (c.rho >= 0.5).astype(float), False),
    "ρ replaced by 1 wherever it is above ½": (0.15, lambda c: (c.rho > 0.5).astype(float), False),
    "ρ replaced by 1 wherever it is above 0": (0.1, lambda c: (c.rho > 0).astype(float), False),
    "2ρ where ρ belongs": (0.2, lambda c: 2 * c.rho, False),
    "ρ/2 where ρ belongs": (0.2, lambda c: 0.5 * c.rho, False),
    "ρ over its sum where ρ belongs": (0.2, lambda c: c.rho / (c.rho.sum() or 1.0), False),
    "the mean of ρ in every row": (0.2, lambda c: np.full(len(c.rho), c.rho.mean()), False),
    "the largest ρ in every row": (0.2, lambda c: np.full(len(c.rho), c.rho.max()), False),
    "ρ one row on": (0.1, lambda c: np.roll(c.rho, 1), False),
    "ρ one row back": (0.1, lambda c: np.roll(c.rho, -1), False),
    "ρ in reverse": (0.1, lambda c: c.rho[::-1], False),
    "λ̃ where ρ belongs": (0.2, lambda c: c.lam, False),
    "ρ∘λ̃ where ρ belongs": (0.2, lambda c: c.rho * c.lam, False),
    "h(x,ỹ*) where ρ belongs": (0.2, lambda c: c.h_star, False),
    "h(x,ỹ) where ρ belongs": (0.2, lambda c: c.h, True),
    "the weight of row 1 left out": (0.2, lambda c: c.rho * (np.arange(len(c.rho)) > 0), False),
    "the weight of the last row left out": (0.2, lambda c: c.rho * (np.arange(len(c.rho)) < len(c.rho) - 1), False),
    "only rows with h(x,ỹ) > 0 weighed by ρ": (0.1, lambda c: c.rho * (c.h > 0), True),
    "only rows with h(x,ỹ) < 0 weighed by ρ": (0.2, lambda c: c.rho * (c.h < 0), True),
    "rows with h(x,ỹ) > 0 weighed by 1, others by 0": (0.2, lambda c: (c.h > 0).astype(float), True),
    "only rows with h(x,ỹ*) > 0 weighed by ρ": (0.2, lambda c: c.rho * (c.h_star > 0), False),
    "only rows with h(x,ỹ*) < 0 weighed by ρ": (0.2, lambda c: c.rho * (c.h_star < 0), False),
    "only rows with λ̃ > 0 weighed by ρ": (0.2, lambda c: c.rho * (c.lam > 0), False),
    "ρ made anew by the activation of h(x,ỹ)": (0.2, lambda c: c.activated(c.h), True),
    "the given ρ not used but made anew by the activation of h(x,ỹ*)": (0.2, lambda c: c.activated(c.h_star), False),
    "ρ no larger than ½": (0.3, lambda c: np.minimum(c.rho, 0.5), False),
}  # fmt: skip


def _alpha_from_below(c: CallPoint) -> float:
    """The smallest alpha from which on the penalty Lagrangian is surely convex, or alpha where that is larger."""
    return max(c.alpha, 2.0 * float(np.linalg.norm(c.q.f_yy, 2) / np.linalg.eigvalsh(c.q.g_yy)[0]))


def _solved_anew(c: CallPoint) -> dict[str, Any]:
    """The lower level's own solution at x for the one that is given; nothing where there is none."""
    if "solved anew" not in c.table:
        q = c.q
        c.table["solved anew"] = solved(Program(q.g_yy, q.g_xy.T @ c.x + q.g_y, q.B, q.A @ c.x - q.b))
    pair = c.table["solved anew"]
    return {} if pair is None else {"y_star": pair[0]}


_ARGUMENTS: dict[str, tuple[float, Callable[[CallPoint], dict[str, Any]]]] = {
    "ỹ* where ỹ belongs": (0.0, lambda c: {"y": c.y_star}),
    "ỹ where ỹ* belongs": (0.0, lambda c: {"y_star": c.y}),
    "ỹ and ỹ* exchanged": (0.0, lambda c: {"y_star": c.y, "y": c.y_star}),
    "the midpoint of ỹ and ỹ* where ỹ belongs": (0.2, lambda c: {"y": 0.5 * (c.y + c.y_star)}),
    "ỹ − ỹ* where ỹ belongs": (0.1, lambda c: {"y": c.y - c.y_star}),
    "2ỹ* − ỹ where ỹ belongs": (0.2, lambda c: {"y": 2 * c.y_star - c.y}),
    "0 where ỹ* belongs": (0.1, lambda c: {"y_star": 0.0 * c.y_star}),
    "−ỹ where ỹ belongs": (0.2, lambda c: {"y": -c.y}),
    "ỹ with its entries in reverse": (0.1, lambda c: {"y": c.y[::-1]}),
    "ỹ with its entries one on": (0.1, lambda c: {"y": np.roll(c.y, 1)}),
    "ỹ with its entries one back": (0.1, lambda c: {"y": np.roll(c.y, -1)}),
    "ỹ* with its entries in reverse": (0.1, lambda c: {"y_star": c.y_star[::-1]}),
    "ỹ* with its entries one on": (0.1, lambda c: {"y_star": np.roll(c.y_star, 1)}),
    "ỹ* with its entries one back": (0.1, lambda c: {"y_star": np.roll(c.y_star, -1)}),
    "max(ỹ,0) where ỹ belongs": (0.2, lambda c: {"y": np.maximum(c.y, 0.0)}),
    "|ỹ| where ỹ belongs": (0.3, lambda c: {"y": np.abs(c.y)}),
    "the given ỹ* not used but solved for anew": (0.2, _solved_anew),
    "0 where x belongs": (0.1, lambda c: {"x": 0.0 * c.x}),
    "−x where x belongs": (0.1, lambda c: {"x": -c.x}),
    "2x where x belongs": (0.3, lambda c: {"x": 2 * c.x}),
    "x with its entries in reverse": (0.1, lambda c: {"x": c.x[::-1]}),
    "x with its entries one on": (0.1, lambda c: {"x": np.roll(c.x, 1)}),
    "x with its entries one back": (0.1, lambda c: {"x": np.roll(c.x, -1)}),
    "|x| where x belongs": (0.3, lambda c: {"x": np.abs(c.x)}),
    "1 where x belongs": (0.3, lambda c: {"x": np.ones(len(c.x))}),
    "0 where λ̃ belongs": (0.1, lambda c: {"lam": 0.0 * c.lam}),
    "−λ̃ where λ̃ belongs": (0.1, lambda c: {"lam": -c.lam}),
    "2λ̃ where λ̃ belongs": (0.1, lambda c: {"lam": 2 * c.lam}),
    "λ̃/2 where λ̃ belongs": (0.1, lambda c: {"lam": 0.5 * c.lam}),
    "ρ where λ̃ belongs": (0.1, lambda c: {"lam": c.rho}),
    "ρ∘λ̃ where λ̃ belongs": (0.1, lambda c: {"lam": c.rho * c.lam}),
    "λ̃² where λ̃ belongs": (0.3, lambda c: {"lam": c.lam**2}),
    "λ̃ one row on": (0.1, lambda c: {"lam": np.roll(c.lam, 1)}),
    "λ̃ one row back": (0.1, lambda c: {"lam": np.roll(c.lam, -1)}),
    "λ̃ in reverse": (0.1, lambda c: {"lam": c.lam[::-1]}),
    "1 where λ̃ belongs": (0.2, lambda c: {"lam": np.ones(len(c.lam))}),
    "λ̃ and ρ exchanged": (0.1, lambda c: {"lam": c.rho, "rho": c.lam}),
    "the weights α₁ and α₂ exchanged": (0.0, lambda c: {"alpha_1": c.alpha_2, "alpha_2": c.alpha_1}),
    "α² where α belongs in both weights": (0.1, lambda c: {"alpha_1": c.alpha**-4, "alpha_2": c.alpha**-8}),
    "√α where α belongs in both weights": (0.1, lambda c: {"alpha_1": 1 / c.alpha, "alpha_2": c.alpha**-2}),
    "1/α where α belongs in both weights": (0.1, lambda c: {"alpha_1": c.alpha**2, "alpha_2": c.alpha**4}),
    "2α where α belongs in both weights": (0.2, lambda c: {"alpha_1": c.alpha_1 / 4, "alpha_2": c.alpha_2 / 16}),
    "α/2 where α belongs in both weights": (0.2, lambda c: {"alpha_1": c.alpha_1 * 4, "alpha_2": c.alpha_2 * 16}),
    "10α where α belongs in both weights": (
        0.2,
        lambda c: {"alpha_1": c.alpha_1 / 100, "alpha_2": c.alpha_2 / 10_000},
    ),
    "α³ where α belongs in both weights": (0.2, lambda c: {"alpha_1": c.alpha**-6, "alpha_2": c.alpha**-12}),
    "max(α, 2‖f_yy‖/λ_min(g_yy)) where α belongs in both weights": (
        0.3,
        lambda c: dict(
            zip(("alpha_1", "alpha_2"), (_alpha_from_below(c) ** -2, _alpha_from_below(c) ** -4), strict=True)
        ),
    ),
    "both weights 1": (0.2, lambda c: {"alpha_1": c.alpha**0, "alpha_2": c.alpha**0}),
}


def _columns_on(values: Vector, shift: int) -> Vector:
    return np.roll(values, shift, axis=1)


def _unit_rows(values: Vector) -> Vector:
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(values / np.where(lengths > 0, lengths, 1.0))


_OF_BLOCKS: dict[str, tuple[float, Callable[[Vector], Vector]]] = {
    "{} left out": (0.0, lambda M: 0.0 * M),
    "{} with its sign flipped": (0.0, lambda M: -M),
    "2{0} where {0} belongs": (0.1, lambda M: 2 * M),
    "½{0} where {0} belongs": (0.1, lambda M: 0.5 * M),
    "|{0}| entry by entry where {0} belongs": (0.3, np.abs),
}
_OF_VECTORS: dict[str, tuple[float, Callable[[Vector], Vector]]] = {
    "{} one entry on": (0.15, lambda v: np.roll(v, 1)),
    "{} one entry back": (0.15, lambda v: np.roll(v, -1)),
    "{} in reverse": (0.15, lambda v: v[::-1]),
}
_OF_MATRICES: dict[str, tuple[float, Callable[[Vector], Vector]]] = {
    "{} transposed": (0.0, lambda M: M.T),
    "{} read column by column": (0.05, lambda M: M.ravel().reshape(M.shape[::-1]).T),
    "{} with its rows one on": (0.15, lambda M: np.roll(M, 1, axis=0)),
    "{} with its rows one back": (0.15, lambda M: np.roll(M, -1, axis=0)),
    "{} with its rows in reverse": (0.15, lambda M: M[::-1]),
    "{} with its columns one on": (0.15, lambda M: _columns_on(M, 1)),
    "{} with its columns one back": (0.15, lambda M: _columns_on(M, -1)),
    "{} with its columns in reverse": (0.15, lambda M: M[:, ::-1]),
    "{} with rows of length 1": (0.2, _unit_rows),
    "the diagonal of {} alone": (0.15, lambda M: M * np.eye(*M.shape)),
    "the upper triangle of {} alone": (0.2, np.triu),
    "the lower triangle of {} alone": (0.2, np.tril),
    "{} without its diagonal": (0.3, lambda M: M - M * np.eye(*M.shape)),
    "{} with its first row 0": (0.25, lambda M: M * (np.arange(len(M)) > 0)[:, None]),
    "{} with its last row 0": (0.25, lambda M: M * (np.arange(len(M)) < len(M) - 1)[:, None]),
}
_PAIRS = (("f_xy", "g_xy"), ("f_yy", "g_yy"), ("f_y", "g_y"), ("f_x", "g_x"), ("f_xx", "g_xx"), ("A", "B"),
          ("f_x", "f_y"), ("g_x", "g_y"))  # fmt: skip


def _taken(to: str, source: str) -> Exchanged:
    def made(c: CallPoint) -> CallPoint | None:
        value = getattr(c.q, source)
        return c.with_blocks(**{to: value}) if value.shape == getattr(c.q, to).shape else None

    return made


def _reread(block: str, change: Callable[[Vector], Vector]) -> Exchanged:
    def made(c: CallPoint) -> CallPoint | None:
        value = change(getattr(c.q, block))
        return c.with_blocks(**{block: value}) if value.shape == getattr(c.q, block).shape else None

    return made


def _with(change: Callable[[CallPoint], dict[str, Any]]) -> Exchanged:
    return lambda c: replace(c, **change(c))


def _rounded(kind: type, decimals: int | None = None) -> Exchanged:
    def one(value: Vector) -> Vector:
        return np.round(value, decimals) if decimals is not None else _short(value, kind)

    def made(c: CallPoint) -> CallPoint:
        stages: dict[str, Any] = {name: one(getattr(c, name)) for name in ("x", "y", "y_star", "lam", "rho")}
        return replace(c, **stages).with_blocks(**{f.name: one(getattr(c.q, f.name)) for f in fields(c.q)})

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


def _reweighed(weights: Callable[[CallPoint], Vector]) -> Exchanged:
    return lambda c: replace(c, rho=weights(c))


def _singly_rounded(name: str) -> Exchanged:
    return _with(lambda c: {name: _short(getattr(c, name), np.float32)})


@lru_cache(maxsize=1)
def exchanges() -> tuple[Exchange, ...]:
    """All of them, the most usual first."""
    return tuple(sorted(_all_exchanges(), key=lambda e: e.cost))


def _all_exchanges() -> Iterator[Exchange]:
    for name, (cost, weights, of_y) in _WEIGHTS_BY_RHO.items():
        yield Exchange(name, cost, _reweighed(weights), of_y)
    for name, (cost, change) in _ARGUMENTS.items():
        yield Exchange(name, cost, _with(change))
    for block in (field.name for field in fields(QuadraticArrays)):
        rules = dict(_OF_BLOCKS)
        rules |= _OF_VECTORS if block in ("f_x", "f_y", "g_x", "g_y", "b") else _OF_MATRICES
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
        yield Exchange(f"{name} left out", 0.02, _weight(weight, 0, 0.0))
    for name, spelt in (("x", "x"), ("y", "ỹ"), ("y_star", "ỹ*"), ("lam", "λ̃"), ("rho", "ρ")):
        yield Exchange(f"{spelt} rounded to 24 bits", 0.2, _singly_rounded(name))
    yield Exchange("everything given rounded to 24 bits", 0.2, _rounded(np.float32))
    yield Exchange("everything given rounded to 11 bits", 0.3, _rounded(np.float16))
    for digits in range(1, 9):
        yield Exchange(f"everything given rounded to {digits} decimals", 0.4, _rounded(np.float64, digits))
