"""Problems and strategies shared by the tests of the exact layer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st

from spec import Generated, Quadratic, parse_problem
from spec.atlas import atlas
from verify.truth.algebra.rationals import fractions, rational
from verify.truth.algebra.rings import RATIONALS, Flint
from verify.truth.formulas import Lagrangian, exact_minimiser
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily
from verify.truth.lower_level import lower_level


def quadratic(f, g, A, B, b, **more) -> Quadratic:
    made = parse_problem({"kind": "quadratic", "f": f, "g": g, "constraints": {"A": A, "B": B, "b": b}, **more})
    assert isinstance(made, Quadratic)
    return made


def random_rows(n: int, m: int, p: int, seed: int) -> Quadratic:
    return Generated(family="random-rows", n=n, m=m, p=p, seed=seed).quadratic


TOY1 = quadratic({"y": [1]}, {"yy": [[1]]}, [[1]], [[1]], [0])
TOY2 = quadratic({"y": [1]}, {"yy": [[1]], "xy": [[-1]]}, [[0]], [[-1]], [0])
KINK = quadratic({"x": [-1], "y": [2]}, {"yy": [[1]], "xy": [[-1]]}, [[0]], [[1]], [0])


def regular_instances() -> list[tuple[str, PenaltyFamily]]:
    """Every quadratic atlas instance at whose point F has a gradient."""
    found = []
    for name, instance in atlas().items():
        problem = getattr(instance.problem, "quadratic", instance.problem)
        if isinstance(problem, Quadratic) and not {"weakly-active", "infeasible"} & instance.strata:
            found.append((name, PenaltyFamily.at(problem, instance.x)))
    return found


small_fractions = st.builds(Fraction, st.integers(-6, 6), st.integers(1, 4))


@st.composite
def problems(draw, largest: int = 4) -> Quadratic:
    n, m, p = (draw(st.integers(1, largest)) for _ in range(3))
    return random_rows(n, m, p, draw(st.integers(0, 10_000)))


@st.composite
def problems_at_points(draw, largest: int = 4) -> tuple[Quadratic, tuple[Fraction, ...]]:
    problem = draw(problems(largest))
    return problem, tuple(draw(small_fractions) for _ in range(problem.n))


@st.composite
def regular_families(draw, largest: int = 3) -> PenaltyFamily:
    """A problem at x = 0, where its first rows bind with positive multipliers by construction."""
    problem = draw(problems(largest))
    return PenaltyFamily.at(problem, [0] * problem.n)


@dataclass(frozen=True)
class ExactLagrangian:
    """The formulas over the rationals, from and to plain fractions."""

    problem: Quadratic
    x: Any
    alpha: Any
    y_star: Any
    lam: Any
    rho: Any

    @cached_property
    def over_rationals(self) -> Lagrangian[Flint]:
        weights = (rational(Fraction(self.alpha) ** power) for power in (-2, -4))
        return Lagrangian.of(RATIONALS, self.problem, self.x, tuple(weights), (self.y_star, self.lam, self.rho))

    def minimiser(self) -> tuple[Fraction, ...]:
        return exact_minimiser(self.over_rationals, self.alpha)

    def estimate(self, y, dual_term="cancelled") -> tuple[Fraction, ...]:
        return fractions(self.over_rationals.estimate(RATIONALS.vector(y), dual_term).entries)


def hessian(problem: Quadratic, alpha, rho) -> np.ndarray:
    """The penalty Lagrangian's exact Hessian in y, which x and the pair do not enter, in doubles."""
    exact = ExactLagrangian(problem, [0] * problem.n, alpha, [0] * problem.m, [0] * problem.p, rho)
    return np.array([[float(int(v.p) / int(v.q)) for v in row] for row in exact.over_rationals.H.entries.tolist()])


def objective(problem: Quadratic, x) -> Fraction:
    """F(x), from the exact solution, in plain fractions."""
    y = lower_level.solve(problem, x).y_star
    f = problem.f
    xx, xy, yy = (block.to_fractions() for block in (f.xx, f.xy, f.yy))
    x_, y_ = f.x.to_fractions()[0], f.y.to_fractions()[0]
    made = sum(a * b for a, b in zip(x_, x, strict=True)) + sum(a * b for a, b in zip(y_, y, strict=True))
    made += sum(x[i] * xy[i][j] * y[j] for i in range(len(x)) for j in range(len(y)))
    made += sum(x[i] * xx[i][j] * x[j] for i in range(len(x)) for j in range(len(x))) / 2
    return made + sum(y[i] * yy[i][j] * y[j] for i in range(len(y)) for j in range(len(y))) / 2
