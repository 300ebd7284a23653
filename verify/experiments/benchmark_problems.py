"""The problems that methods are run on side by side, each with its start, its noise and the radius it is judged at."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from f2csa_ref.baselines.implicit_gradient import implicit_gradient
from f2csa_ref.objectives import Objectives, objectives_of
from spec import InvalidInputError, Noise, Quadratic, parse_problem
from spec.atlas import experiment, find
from spec.blocks.quadratic import Constraints
from spec.exact import Vector
from verify.truth.geometry import quadratic_of

SIGMA = Fraction(1, 100)
NOISE = Noise(model="matrix", sigma_f=SIGMA, sigma_g=SIGMA, on=("f.x", "f.y", "g.y"))
"""The text's: Gaussian on the quadratic terms; ∇_x g = y has none."""
COUPLING = 0.25
"""Scale of C in the coupled variant, whose box is |y - Cx| ≤ 1; its norm is about twice this."""
BESIDE = 1e-6
_DECIMALS = 9
_RIDGE_DECIMALS = 2


@dataclass(frozen=True)
class Course:
    """A problem by name.

    Args:
        family: ``paper`` (the experiment's family), ``coupled`` (the same with a box that moves with x, which the
            paper does not test), ``ridges`` (F = Σ c_i |a_iᵀx - b_i|) or the name of an atlas instance.
        radius: Goldstein radius δ at which the end is judged, and which enters the schedules, units of x.
        d, condition, seed: Of the families; the seed draws the problem, and the condition of ridges is the largest c
            over the least.
        upper_scale: What f of the paper's family is multiplied by, whose size the text does not give.
        start: Start, where it is not the origin of a family or an atlas instance's own point.
    """

    family: str
    radius: float
    d: int = 0
    condition: float = 1.0
    seed: int = 0
    start: tuple[float, ...] = ()
    upper_scale: int = 1

    @property
    def plain(self) -> dict[str, Any]:
        """As a cell's argument."""
        return asdict(self) | {"start": list(self.start)}

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Course:
        """From a cell's argument; a process that runs many cells draws each problem once."""
        return _kept(cls(**plain | {"start": tuple(plain["start"])}))

    @cached_property
    def problem(self) -> Quadratic:
        """The problem with its noise."""
        if self.family == "paper":
            drawn = quadratic_of(experiment(self.d, condition=self.condition, seed=self.seed))
            return _noisy(drawn if self.upper_scale == 1 else _with_f_times(drawn, self.upper_scale))
        if self.family == "coupled":
            return _noisy(_coupled(self.d, self.condition, self.seed))
        if self.family == "ridges":
            return _noisy(_ridges(self.d, self.condition, self.seed))
        return _noisy(find(self.family).problem)

    @cached_property
    def objectives(self) -> Objectives:
        """The same, evaluated in doubles."""
        return objectives_of(self.problem)

    @cached_property
    def x_0(self) -> Vector:
        """The start (n,)."""
        if self.start:
            return np.array(self.start)
        return np.zeros(self.d) if self.d else np.array([float(value) for value in find(self.family).x])

    @cached_property
    def first_gradient(self) -> float:
        """‖∇F(x_0)‖, the scale of all step sizes."""
        return float(np.linalg.norm(self.gradient(self.x_0)))

    def gradient(self, x: Vector) -> Vector:
        """∇F(x); where F has a kink at x, a gradient beside it.

        Raises:
            InvalidInputError: If F has none there either.
        """
        try:
            return implicit_gradient(self.objectives, x).hypergradient
        except InvalidInputError:
            beside = x + BESIDE * np.random.default_rng(0).standard_normal(len(x))
            return implicit_gradient(self.objectives, beside).hypergradient


@lru_cache(maxsize=64)
def _kept(course: Course) -> Course:
    return course


def _noisy(problem: Any) -> Quadratic:
    return quadratic_of(problem).model_copy(update={"noise": NOISE})


def _with_f_times(problem: Quadratic, scale: int) -> Quadratic:
    blocks = problem.to_dict()
    multiplied = {name: (np.array(block, dtype=object) * scale).tolist() for name, block in blocks["f"].items()}
    return quadratic_of(parse_problem(blocks | {"f": multiplied}))


def _coupled(d: int, condition: float, seed: int) -> Quadratic:
    """The family's draw with A = [C; -C]: rows -1 ≤ y - Cx ≤ 1, entries of C normal, of variance COUPLING²/d."""
    drawn = quadratic_of(experiment(d, condition=condition, seed=seed))
    C = np.random.default_rng([seed, d, 2]).standard_normal((d, d)) * COUPLING / np.sqrt(d)
    C = np.round(C, _DECIMALS)
    # The family's rows are -1 ≤ y, then y ≤ 1.
    rows = Constraints(A=np.vstack([C, -C]).tolist(), B=drawn.constraints.B, b=drawn.constraints.b)
    return Quadratic(f=drawn.f, g=drawn.g, constraints=rows)


def _ridges(n: int, condition: float, seed: int) -> Quadratic:
    """F = Σ c_i |a_iᵀx - b_i| with 2n ridges, whose minimiser lies where n of them cross, by rows that move with x.

    y_i = max(a_iᵀx - b_i, 0) solves min ½‖y‖² over y_i ≥ a_iᵀx - b_i, and f = Σ c_i (2 y_i - a_iᵀx).
    """
    rng = np.random.default_rng([seed, n, 3])
    a = rng.standard_normal((2 * n, n))
    a = np.round(a / np.linalg.norm(a, axis=1)[:, None], _RIDGE_DECIMALS)
    b = np.round(rng.standard_normal(2 * n), _RIDGE_DECIMALS)
    c = np.round(np.geomspace(1.0, condition, 2 * n), _RIDGE_DECIMALS)
    blocks = {
        "f": {"x": np.round(-c @ a, 4).tolist(), "y": (2 * c).tolist()},
        "g": {"yy": np.eye(2 * n, dtype=int).tolist()},
        "constraints": {"A": a.tolist(), "B": np.eye(2 * n, dtype=int).tolist(), "b": b.tolist()},
    }
    return quadratic_of(parse_problem({"kind": "quadratic", **blocks}))
