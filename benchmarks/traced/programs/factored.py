"""Frozen dataclasses that hand factors on, scipy's factorisations, weights in one object."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.linalg import block_diag, cho_factor, cho_solve, norm, solve

from verify import MissingCapabilityError


@dataclass(frozen=True)
class Weights:
    first: float
    second: float

    @classmethod
    def of(cls, alpha):
        return cls(first=alpha**-2, second=alpha**-4)


@dataclass(frozen=True)
class Point:
    data: object
    x: np.ndarray
    y: np.ndarray

    def rows(self):
        return self.data.A.dot(self.x) - self.data.B.dot(self.y) - self.data.b

    def f_by_y(self):
        return self.x.dot(self.data.f_xy) + self.data.f_yy.dot(self.y) + self.data.f_y

    def g_by_y(self):
        return self.x.dot(self.data.g_xy) + self.data.g_yy.dot(self.y) + self.data.g_y

    def f_by_x(self):
        return self.data.f_xx.dot(self.x) + self.data.f_xy.dot(self.y) + self.data.f_x

    def g_by_x(self):
        return self.data.g_xx.dot(self.x) + self.data.g_xy.dot(self.y) + self.data.g_x


@dataclass(frozen=True)
class Pair:
    y: np.ndarray
    lam: np.ndarray


def lower_pair(data, x):
    origin = Point(data, x, np.zeros(len(data.g_y)))
    factor = cho_factor(data.g_yy)
    free = -cho_solve(factor, origin.g_by_y())
    back = cho_solve(factor, data.B.T)
    need = origin.rows() - data.B.dot(free)
    dual = data.B.dot(back)
    for size in range(len(need) + 1):
        for on in map(list, combinations(range(len(need)), size)):
            block = dual[np.ix_(on, on)]
            if size and np.linalg.cond(block) > 1e11:
                continue
            lam = np.zeros(len(need))
            if size:
                lam[on] = solve(block, need[on])
            y = free + back.dot(lam)
            if lam.min(initial=0.0) >= -1e-10 and Point(data, x, y).rows().max(initial=0.0) <= 1e-9:
                return Pair(y, lam)
    raise ValueError("no pair")


@dataclass(frozen=True)
class Newton:
    """One step of Newton's method on the penalty Lagrangian."""

    at: Point
    pair: Pair
    rho: np.ndarray
    weights: Weights

    def matrix(self):
        data = self.at.data
        weighed = data.B.T.dot(np.diag(self.rho)).dot(data.B)
        return data.f_yy + self.weights.first * data.g_yy + self.weights.second * weighed

    def residual(self):
        data, weights = self.at.data, self.weights
        stationarity = self.at.g_by_y() - data.B.T.dot(self.pair.lam)
        violation = self.rho * self.at.rows()
        return self.at.f_by_y() + weights.first * stationarity - weights.second * data.B.T.dot(violation)

    def minimiser(self):
        return self.at.y - solve(self.matrix(), self.residual())


def ramp(values, width):
    return np.minimum(np.maximum(values / width, 0.0), 1.0)


def gradient(new, old, rho, weights):
    data = new.data
    change = new.g_by_x() - old.g_by_x()
    rows = data.A.T.dot(rho * new.rows())
    return new.f_by_x() + weights.first * change + weights.second * rows


def spread(noise, new, old, weights, draws):
    first, second = noise.scale("f.x"), 0.0
    if noise.model == "matrix":
        first = first * norm(np.hstack([new.x, new.y]))
        second = noise.scale("g.x") * weights.first * norm(new.y - old.y)
    total = first * draws["f_x"].mean(axis=0)
    return total + second * draws["g_x"].mean(axis=0) if second else total


@dataclass(frozen=True)
class State:
    x: np.ndarray
    move: np.ndarray

    def asked(self, share):
        return self.x + share * self.move

    def after(self, gradient, q):
        move = self.move - q.eta * gradient
        length = norm(move)
        return State(self.x + self.move, move * min(1.0, q.D / length) if length else move)


class Subject:
    name = "factored"
    uses_draws = True

    def lower_level(self, problem, x):
        pair = lower_pair(problem.arrays, x)
        return pair.y, pair.lam

    def activation(self, h, lam, h_width, lam_width):
        return ramp(h + h_width, h_width) * ramp(lam, lam_width)

    def penalty_minimiser(self, problem, x, call, tol):
        at = Point(problem.arrays, x, call.y_star)
        return Newton(at, Pair(call.y_star, call.lam), call.rho, Weights.of(call.alpha)).minimiser()

    def hypergradient(self, problem, x, call, rng):
        data, weights = problem.arrays, Weights.of(call.alpha)
        pair = Pair(call.y_star, call.lam) if call.lam is not None else lower_pair(data, x)
        old, rho = Point(data, x, pair.y), call.rho
        if rho is None:
            width = call.parameters.h_width(call.reading, call.alpha**3, norm(data.B, 2))
            rho = self.activation(old.rows(), pair.lam, width, call.parameters.lam_width)
        y = call.y_penalty if call.y_penalty is not None else Newton(old, pair, rho, weights).minimiser()
        new = replace(old, y=y)
        value = gradient(new, old, rho, weights)
        if problem.noise.model == "none":
            return value
        if call.draws is None or problem.noise.model not in ("additive", "matrix"):
            raise MissingCapabilityError("normals that are handed in, additive or matrix")
        return value + spread(problem.noise, new, old, weights, call.draws)

    def optimise(self, oracle, x0, parameters, rng):
        state, asked, path = State(np.array(x0), np.zeros(len(x0))), [], [np.array(x0)]
        for share in rng.random(parameters.T):
            asked.append(state.asked(share))
            state = state.after(oracle(asked[-1]), parameters)
            path.append(state.x)
        averages = block_diag(*[np.full((1, parameters.M), 1.0 / parameters.M)] * parameters.K)
        means = averages.dot(np.array(asked))
        return {"x_out": means[rng.integers(parameters.K)], "x_bar": means, "path": np.array(path)}
