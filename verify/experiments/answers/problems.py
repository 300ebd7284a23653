"""The board's problems by name, each with points: one to begin at, a walk from it, and points that know no other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from f2csa_ref.baselines.implicit_oracle import ImplicitOracle
from f2csa_ref.objectives import QuadraticObjectives, objectives_of
from spec import parse_problem
from spec.errors import InvalidInputError
from spec.exact import Vector

ROWS: dict[str, int | None] = {"box": None, "5 rows": 5, "50 rows": 50}
"""Kinds of rows: the paper's box, or so many dense rows in x and y."""
LEAST: dict[str, int] = {"box": 1, "5 rows": 10, "50 rows": 100}
"""Dimension from which a kind is asked: many rows leave few variables no common point."""
STEP = 0.01
"""Length of a step of the walk, in units of x's."""
HELD = 0.1
"""Share of the coordinates that the box holds at the points, at least."""
LARGEST_SCALE = 2.0**20


@dataclass(frozen=True)
class Points:
    """Those to choose an effort at, the first of the runs, the walk from there, and the fresh ones."""

    tuning: tuple[Vector, ...]
    first: Vector
    walk: tuple[Vector, ...]
    fresh: tuple[Vector, ...]

    @property
    def judged(self) -> tuple[Vector, ...]:
        """All that answers are held to."""
        return (self.first, *self.walk, *self.fresh)


def drawn(kind: str, d: int, condition: float, seed: int) -> QuadraticObjectives:
    """The problem without noise, in doubles."""
    p = ROWS[kind]
    data = {"kind": "generated", "n": d, "condition": condition, "seed": seed}
    data |= {"family": "paper-experiment"} if p is None else {"family": "coupled-rows", "p": p}
    q = objectives_of(parse_problem(data))
    assert isinstance(q, QuadraticObjectives)  # by the families
    return q


def points_of(q: QuadraticObjectives, seed: int, tuning: int, walk: int, fresh: int) -> Points:
    """Normal points; over a box so far out that it holds a tenth of the coordinates."""
    rng = np.random.default_rng([seed, q.n, 5])
    scale = _scale(q, rng.standard_normal(q.n))

    def anew() -> Vector:
        x: Vector = scale * rng.standard_normal(q.n)
        return x

    tuning_points, first, steps = tuple(anew() for _ in range(tuning)), anew(), list[Vector]()
    for _ in range(walk):
        steps.append((steps[-1] if steps else first) + STEP * anew())
    return Points(tuning_points, first, tuple(steps), tuple(anew() for _ in range(fresh)))


def _scale(q: QuadraticObjectives, direction: Vector) -> float:
    if q.bounds is None:
        return 1.0
    oracle, scale = ImplicitOracle(q), 1.0
    while scale < LARGEST_SCALE and len(oracle(scale * direction).rows) < HELD * q.m:
        scale *= 2
    if scale == LARGEST_SCALE:
        raise InvalidInputError("problem", "must have a box that holds y somewhere")
    return scale
