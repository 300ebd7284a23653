"""A class a stage, each with the quantities of its line as cached attributes."""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from verify import MissingCapabilityError


@dataclass
class Lower:
    """The lower level through its dual, which has signs alone."""

    data: object
    x: np.ndarray

    @cached_property
    def linear(self):
        return self.data.g_y + self.x @ self.data.g_xy

    @cached_property
    def bound(self):
        return self.data.A @ self.x - self.data.b

    @cached_property
    def root(self):
        return np.linalg.cholesky(self.data.g_yy)

    @cached_property
    def scaled_rows(self):
        return np.linalg.solve(self.root, self.data.B.T)

    @cached_property
    def missing(self):
        return self.bound + self.data.B @ np.linalg.solve(self.data.g_yy, self.linear)

    @cached_property
    def multipliers(self):
        reach = self.scaled_rows.T @ self.scaled_rows
        p = len(self.missing)
        for size in range(p + 1):
            for rows in combinations(range(p), size):
                on = list(rows)
                inner = reach[np.ix_(on, on)]
                if size and np.linalg.cond(inner) > 1e11:
                    continue
                found = np.zeros(p)
                found[on] = np.linalg.solve(inner, self.missing[on])
                if (found >= -1e-10).all() and (self.missing - reach @ found <= 1e-9).all():
                    return found
        raise ValueError("no multipliers meet the rows")

    @cached_property
    def minimum(self):
        return np.linalg.solve(self.data.g_yy, self.data.B.T @ self.multipliers - self.linear)


@dataclass
class Ramp:
    """A piecewise linear step from 0 to 1."""

    width: float

    def __call__(self, values):
        return np.clip(values / self.width, 0.0, 1.0)


@dataclass
class Penalty:
    """Line 5 about a given point."""

    data: object
    x: np.ndarray
    alpha: float
    at: np.ndarray
    lam: np.ndarray
    rho: np.ndarray

    @cached_property
    def gap(self):
        return self.data.A @ self.x - self.data.B @ self.at - self.data.b

    @cached_property
    def hessian(self):
        weighed = self.data.B.T @ (self.rho[:, None] * self.data.B)
        return self.data.f_yy + (self.data.g_yy + weighed / self.alpha**2) / self.alpha**2

    @cached_property
    def upper(self):
        return self.x @ self.data.f_xy + self.data.f_yy @ self.at + self.data.f_y

    @cached_property
    def lower(self):
        return self.x @ self.data.g_xy + self.data.g_yy @ self.at + self.data.g_y

    @cached_property
    def slope(self):
        inner = self.lower - self.data.B.T @ self.lam
        return self.upper + self.alpha**-2 * inner - self.alpha**-4 * (self.rho * self.gap) @ self.data.B

    @cached_property
    def minimum(self):
        return self.at - np.linalg.solve(self.hessian, self.slope)


@dataclass
class Estimate:
    """Line 6."""

    data: object
    x: np.ndarray
    alpha: float
    y: np.ndarray
    at: np.ndarray
    rho: np.ndarray

    @cached_property
    def shift(self):
        return self.y - self.at

    @cached_property
    def direct(self):
        return self.data.f_xx @ self.x + self.data.f_xy @ self.y + self.data.f_x

    @cached_property
    def through_g(self):
        return self.alpha**-2 * self.data.g_xy @ self.shift

    @cached_property
    def through_rows(self):
        gap = self.data.A @ self.x - self.data.B @ self.y - self.data.b
        return self.alpha**-4 * self.data.A.T @ (self.rho * gap)

    @cached_property
    def value(self):
        return self.direct + self.through_g + self.through_rows

    def noise(self, noise, draws):
        size = np.sqrt(self.x @ self.x + self.y @ self.y) if noise.model == "matrix" else 1.0
        total = noise.scale("f.x") * size * np.mean(draws["f_x"], axis=0)
        if noise.model == "matrix":
            reach = self.alpha**-2 * np.sqrt(self.shift @ self.shift)
            total = total + noise.scale("g.x") * reach * np.mean(draws["g_x"], axis=0)
        return total


class Subject:
    """Hands each stage to its class."""

    name = "staged"
    uses_draws = True

    def lower_level(self, problem, x):
        solved = Lower(problem.arrays, x)
        return solved.minimum, solved.multipliers

    def activation(self, h, lam, h_width, lam_width):
        return Ramp(h_width)(h + h_width) * Ramp(lam_width)(lam)

    def penalty_minimiser(self, problem, x, call, tol):
        return Penalty(problem.arrays, x, call.alpha, call.y_star, call.lam, call.rho).minimum

    def hypergradient(self, problem, x, call, rng):
        data = problem.arrays
        at, lam = call.y_star, call.lam
        if lam is None:
            at, lam = self.lower_level(problem, x)
        rho = call.rho
        if rho is None:
            width = call.parameters.h_width(call.reading, call.alpha**3, np.linalg.norm(data.B, 2))
            rho = self.activation(data.A @ x - data.B @ at - data.b, lam, width, call.parameters.lam_width)
        y = call.y_penalty
        if y is None:
            y = Penalty(data, x, call.alpha, at, lam, rho).minimum
        made = Estimate(data, x, call.alpha, y, at, rho)
        if problem.noise.model == "none":
            return made.value
        if call.draws is None or problem.noise.model not in ("additive", "matrix"):
            raise MissingCapabilityError("normals that are handed in, additive or matrix")
        return made.value + made.noise(problem.noise, call.draws)
