"""Where implementations are compared: a problem at a point, with its exact lower-level pair."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec import OracleParameters, Quadratic, parse_problem
from spec.atlas import find as find_instance
from spec.exact import Vector
from verify.subjects import Call
from verify.truth import lower_level as exact_lower_level
from verify.truth.geometry import Geometry, quadratic_of, spectral_norm

LAM_WIDTH = OracleParameters().lam_width


def exact(values: Vector) -> tuple[Fraction, ...]:
    """Doubles as the rationals they are."""
    return tuple(Fraction(float(value)) for value in values)


def doubles(values: Any) -> Vector:
    """Correctly rounded doubles."""
    return np.array([float(value) for value in values])


@dataclass(frozen=True)
class Place:
    """A problem at a point, with its exact lower-level pair in doubles."""

    name: str
    problem: Quadratic
    x: Vector
    y_star: Vector
    lam: Vector
    h: Vector
    active: Vector

    @classmethod
    def at(cls, name: str, problem: Quadratic, x: Vector) -> Place | None:
        """``None`` where the pair does not exist or is not unique."""
        try:
            lower = exact_lower_level.solve(problem, exact(x))
        except ValueError:
            return None
        if not lower.licq:
            return None
        active = np.zeros(problem.p, dtype=bool)
        active[list(lower.strictly_active)] = True
        return cls(name, problem, x, doubles(lower.y_star), doubles(lower.lam), doubles(lower.h), active)

    def geometry(self, alpha: float, rho: Vector, y_star: Vector | None = None, lam: Vector | None = None) -> Geometry:
        """The penalty's geometry on this pair, or on another."""
        return Geometry(self.problem, self.x, alpha, self.y_star if y_star is None else y_star,
                        self.lam if lam is None else lam, rho)  # fmt: skip

    def h_width(self, alpha: float) -> float:
        """Ramp width of the repaired reading."""
        call = Call(alpha=alpha)
        return call.parameters.h_width(call.reading, alpha**3, spectral_norm(self.problem.arrays.B))

    def response(self) -> float:
        """Norm of the inverse of the optimality system of the active rows."""
        a = self.problem.arrays
        B = a.B[self.active]
        k = len(B)
        K = np.block([[a.g_yy, B.T], [B, np.zeros((k, k))]]) if k else a.g_yy
        return max(1.0, float(np.linalg.norm(np.linalg.inv(K), 2)))


def ramp_exactly(h: tuple[Fraction, ...], lam: tuple[Fraction, ...], h_width: float, lam_width: float) -> Vector:
    """Activation weights, correctly rounded."""

    def clip(value: Fraction) -> Fraction:
        return min(max(value, Fraction(0)), Fraction(1))

    width, lam_width_ = Fraction(h_width), Fraction(lam_width)
    return doubles(clip(1 + a / width) * clip(b / lam_width_) for a, b in zip(h, lam, strict=True))


def quadratic_rows(problem: Quadratic, x: tuple[Fraction, ...], y: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """h(x, y) exactly."""
    c = problem.constraints
    A, B, b = c.A.to_fractions(), c.B.to_fractions(), c.b.to_fractions()[0]
    return tuple(
        sum((p * q for p, q in zip(A[i], x, strict=True)), Fraction(0))
        - sum((p * q for p, q in zip(B[i], y, strict=True)), Fraction(0))
        - b[i]
        for i in range(len(b))
    )


def place_of(name: str) -> Place:
    """An atlas instance."""
    instance = find_instance(name)
    made = Place.at(name, quadratic_of(instance.problem), doubles(instance.x))
    if made is None:
        raise ValueError(f"{name} has no unique pair")
    return made


SQUARE: dict[str, Any] = {
    "kind": "quadratic",
    "f": {"xx": [[1, "1/4"], ["1/4", 2]], "xy": [[1, "1/2"], ["-1/2", 2]], "yy": [[1, 0], [0, 1]], "y": [1, -1]},
    "g": {"xy": [["1/2", -1], ["1/4", 0]], "yy": [[2, "1/2"], ["1/2", 1]]},
    "constraints": {"A": [[1, "1/3"], ["-1/2", "3/2"]], "B": [[1, "1/2"], ["-1/4", 1]], "b": [-2, -3]},
}
"""n = m = p and no block symmetric that need not be: a transposed one has the right shape, and shows."""


def square() -> Place:
    """Two variables of each kind and two active rows."""
    made = Place.at("square", parse_problem(SQUARE), np.array([0.5, -0.75]))  # type: ignore[arg-type]  # it is quadratic
    if made is None or not made.active.all():
        raise ValueError("both rows are meant to be active")
    return made


def moved(place: Place, shift: float) -> Place:
    """The same problem at a point nearby."""
    made = Place.at(f"{place.name}+{shift:g}", place.problem, place.x + shift)
    if made is None:
        raise ValueError(f"{place.name} has no unique pair there")
    return made
