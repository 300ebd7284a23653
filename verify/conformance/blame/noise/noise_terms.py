"""Terms of which noise of line 6 may be made: a number times scales, sizes of points and sums of the given normals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.conformance.probes.probes import Probe

SAME = 1e-7
"""Relative difference of two numbers that are the same: estimates lose digits to the terms that noise is added to."""
NAMED = {
    0.5: "½", 0.25: "¼", 2.0: "2", 3.0: "3", 4.0: "4", 0.1: "0.1", 10.0: "10", 2**0.5: "√2", 0.5**0.5: "√½",
    0.9: "0.9", 1.1: "1.1", 1 / 3: "⅓", 1.5: "1.5",
}  # fmt: skip
"""Numbers that programmers write, and what they are called."""
POWERS = {-4: "⁻⁴", -3: "⁻³", -2: "⁻²", -1: "⁻¹", 1: "", 2: "²", 3: "³", 4: "⁴", 0.5: "^½", 1.5: "^1.5", -0.5: "^(−½)"}


@dataclass(frozen=True, eq=False)
class NoisyCall:
    """A call with all stages and normals given, as far as its noise goes, and its estimate without noise."""

    probe: Probe
    quiet: Vector

    @cached_property
    def points(self) -> dict[str, Vector]:
        """What lengths are taken of, in words."""
        call, x = self.probe.call, self.probe.x
        y: Any = call.y_penalty
        y_star: Any = call.y_star
        points = {
            "(x,ỹ)": np.concatenate([x, y]), "ỹ−ỹ*": y - y_star, "x": x, "ỹ": y, "ỹ*": y_star,
            "(x,ỹ*)": np.concatenate([x, y_star]), "ỹ+ỹ*": y + y_star, "(ỹ,ỹ*)": np.concatenate([y, y_star]),
            "ỹ, its entries shifted by one,−ỹ*": np.roll(y, 1) - y_star,
            "ỹ−ỹ*, its entries shifted by one,": y - np.roll(y_star, 1),
        }  # fmt: skip
        for factor, word in ((2.0, "2"), (0.5, "½")):
            points |= {
                f"{word}ỹ−ỹ*": factor * y - y_star, f"ỹ−{word}ỹ*": y - factor * y_star,
                f"({word}x,ỹ)": np.concatenate([factor * x, y]), f"(x,{word}ỹ)": np.concatenate([x, factor * y]),
            }  # fmt: skip
        return points

    @cached_property
    def sizes(self) -> dict[str, float]:
        """Numbers that scales may be multiplied by, in words; all positive but where a point is 0."""
        sizes = {"": 1.0}
        for word, v in self.points.items():
            sizes[f"‖{word}‖"] = float(np.linalg.norm(v))
        for word, v in self.points.items():
            sizes[f"‖{word}‖₁"] = float(np.abs(v).sum())
            sizes[f"‖{word}‖_max"] = float(np.abs(v).max())
        of = {word: sizes[f"‖{word}‖"] for word in ("x", "ỹ", "ỹ*")}
        sizes |= {f"(‖{a}‖+‖{b}‖)": of[a] + of[b] for a, b in combinations(of, 2)}
        return sizes | {f"max(‖{a}‖,‖{b}‖)": max(of[a], of[b]) for a, b in combinations(of, 2)}

    @cached_property
    def scales(self) -> tuple[float, float, float, float]:
        """sigma_f, sigma_g, alpha and N_g."""
        noise, call = self.probe.problem.noise, self.probe.call
        return float(noise.sigma_f), float(noise.sigma_g), call.alpha, float(call.parameters.N_g)

    @cached_property
    def vectors(self) -> dict[str, Vector]:
        """What is added in a component: sums over samples, and things that are not random; in words, shape (n,)."""
        vectors: dict[str, Vector] = {}
        draws: Any = self.probe.call.draws
        n = len(self.probe.x)
        for source in ("f", "g"):
            z = np.asarray(draws[f"{source}_x"], dtype=np.float64)
            vectors |= {
                f"Σz_{source}": z.sum(axis=0), f"z_{source} of the first sample": z[0],
                f"z_{source} of the last sample": z[-1], f"Σz_{source} without the last sample": z[:-1].sum(axis=0),
                f"the mean of the first two z_{source}": z[:2].mean(axis=0),
                f"the mean of the first half of the z_{source}": z[: (len(z) + 1) // 2].mean(axis=0),
                f"Σ|z_{source}|": np.abs(z).sum(axis=0), f"|Σz_{source}|": np.abs(z.sum(axis=0)),
                f"(Σz_{source})⁺": np.maximum(z.sum(axis=0), 0.0), f"Σz_{source}²": (z**2).sum(axis=0),
                f"Σ(mean of z_{source}'s components)": np.full(n, z.sum() / n),
                f"Σ(first component of z_{source})": np.full(n, z[:, 0].sum()),
                f"1/Σz_{source}": 1 / np.where(z.sum(axis=0) == 0, np.inf, z.sum(axis=0)),
            }  # fmt: skip
        return vectors | {"1 in every component": np.ones(n), "the estimate without noise": self.quiet}

    @cached_property
    def right(self) -> dict[str, Vector]:
        """The noise of f and that of g as they should be, shape (n,) each."""
        sigma_f, sigma_g, alpha, N_g = self.scales
        n = len(self.probe.x)
        if self.probe.problem.noise.model != "matrix":
            return {"f": sigma_f * self.vectors["Σz_f"] / N_g, "g": np.zeros(n)}
        f = sigma_f * self.sizes["‖(x,ỹ)‖"] * self.vectors["Σz_f"] / N_g
        return {"f": f, "g": alpha**-2 * sigma_g * self.sizes["‖ỹ−ỹ*‖"] * self.vectors["Σz_g"] / N_g}


@dataclass(frozen=True)
class NoiseTerm:
    """number·sigma_f^a·sigma_g^b·alpha^c·(N_g + more)^d·size^e times a vector."""

    number: float
    powers: tuple[float, float, float, float]
    vector: str
    size: str = ""
    of_size: float = 1.0
    more: float = 0.0

    def value(self, at: NoisyCall) -> Vector:
        """What it adds, shape (n,)."""
        sigma_f, sigma_g, alpha, N_g = at.scales
        # Of a single sample N_g − 1 is 0, by which no program divides.
        bases = (sigma_f, sigma_g, alpha, max(N_g + self.more, 1.0))
        factor = float(np.prod([base**power for base, power in zip(bases, self.powers, strict=True)]))
        return np.asarray(self.number * factor * at.sizes[self.size] ** self.of_size * at.vectors[self.vector])

    @property
    def words(self) -> str:
        """As a formula."""
        N = f"(N_g {'+' if self.more > 0 else '−'} {abs(self.more):g})" if self.more else "N_g"
        names = (("α", self.powers[2]), ("σ_f", self.powers[0]), ("σ_g", self.powers[1]), (self.size, self.of_size))
        factors = [power_of(name, power) for name, power in names if name and power]
        body = "·".join([*_number(abs(self.number)), *factors, self.vector])
        if self.powers[3]:
            inverse = power_of(N, -self.powers[3])
            body = f"{body}/{inverse}" if self.powers[3] < 0 else f"{power_of(N, self.powers[3])}·{body}"
        return f"−{body}" if self.number < 0 else body


def power_of(name: str, power: float) -> str:
    """A name with its power; alpha squared and its like as the paper writes them."""
    if name == "α" and power in (-2, -4):
        return {-2: "α₁", -4: "α₂"}[round(power)]
    if power == 0.5:
        return f"√{name}"
    return f"{name}{POWERS.get(power, f'^{power:g}')}"


def _number(value: float) -> list[str]:
    if abs(value - 1) <= SAME:
        return []
    return [next((word for number, word in NAMED.items() if abs(value - number) <= SAME * number), f"{value:.6g}")]


MORE = (0.0, -1.0, 1.0, 1e-4, 1e-6)
"""What may be added to N_g where it divides."""
RIGHT_TERMS: Mapping[tuple[str, str], NoiseTerm | None] = {
    ("additive", "f"): NoiseTerm(1.0, (1.0, 0.0, 0.0, -1.0), "Σz_f"),
    ("additive", "g"): None,
    ("matrix", "f"): NoiseTerm(1.0, (1.0, 0.0, 0.0, -1.0), "Σz_f", "‖(x,ỹ)‖"),
    ("matrix", "g"): NoiseTerm(1.0, (0.0, 1.0, -2.0, -1.0), "Σz_g", "‖ỹ−ỹ*‖"),
}
"""What belongs, by model and gradient."""


def single_terms(calls: Sequence[NoisyCall], left: Sequence[Vector]) -> list[NoiseTerm]:
    """Terms that alone give what is left in every call; ``left`` is not zero everywhere."""
    terms: list[NoiseTerm] = []
    for vector in calls[0].vectors:
        numbers = [_multiple(call.vectors[vector], rest, call) for call, rest in zip(calls, left, strict=True)]
        if all(number is not None for number in numbers):
            terms += monomials(calls, np.array(numbers, dtype=np.float64), vector)
    return terms


def monomials(calls: Sequence[NoisyCall], numbers: Vector, vector: str) -> list[NoiseTerm]:
    """Products of powers of scales and sizes that are these numbers, call by call; all of one sign, none 0."""
    signs = np.sign(numbers)
    if not (signs[0] and (signs == signs[0]).all()):
        return []
    scales, logs = np.log([call.scales for call in calls]), np.log(np.abs(numbers))
    terms = []
    for more in MORE:
        columns = [np.ones(len(calls)), *scales.T[:3], np.log([call.scales[3] + more for call in calls])]
        for size in calls[0].sizes:
            sizes = np.array([call.sizes[size] for call in calls])
            if (sizes <= 0).any():
                continue
            matrix = np.column_stack([*columns, np.log(sizes)] if size else columns)
            if len(calls) <= matrix.shape[1]:
                continue
            fitted = np.linalg.lstsq(matrix, logs, rcond=None)[0]
            powers = np.round(2 * fitted[1:]) / 2
            level = logs - matrix[:, 1:] @ powers
            if np.ptp(level) > SAME or np.abs(powers).max() > 8 or (size and powers[-1] == 0):
                continue
            if more and powers[3] == 0:
                continue
            number = float(signs[0] * np.exp(level.mean()))
            of = tuple(float(power) for power in powers[:4])
            terms.append(NoiseTerm(_written(number), (of[0], of[1], of[2], of[3]), vector, size,
                                   float(powers[4]) if size else 1.0, more))  # fmt: skip
    return terms


def _written(number: float) -> float:
    """The number that programmers write, where it is one up to rounding."""
    near = (value for value in (1.0, *NAMED) if abs(abs(number) - value) <= SAME * value)
    return float(np.sign(number)) * next(near, abs(number))


def _multiple(vector: Vector, rest: Vector, call: NoisyCall) -> float | None:
    """The number that makes one vector of another, ``None`` where none does."""
    square = float(vector @ vector)
    if square == 0:
        return None
    number = float(vector @ rest) / square
    off = float(np.abs(rest - number * vector).max())
    return number if off <= allowance(call) + SAME * float(np.abs(rest).max()) else None


def allowance(call: NoisyCall) -> float:
    """Rounding of an estimate."""
    return 1e-11 * (1.0 + float(np.abs(call.quiet).max()) + float(np.abs(call.probe.expected).max()))
