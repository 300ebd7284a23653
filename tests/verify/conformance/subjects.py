"""Implementations to be judged: honest ones that differ from the reference, and strangers with few stages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import daqp
import numpy as np

from verify.conformance.bugs.bent_subject import BentSubject, arrays_of, lagrangian
from verify.subjects import Call, MissingCapabilityError, ReferenceSubject, Subject


class OnlyHypergradient:
    """Passes single oracle calls on; nothing else."""

    name = "only-hypergradient"

    def __init__(self, subject: Subject | None = None) -> None:
        self.subject: Any = subject if subject is not None else ReferenceSubject()

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        return self.subject.hypergradient(problem, x, call, rng)


class OnlyEstimates(OnlyHypergradient):
    """Passes many calls on at once, too: a comparison of its samples costs no 11,000 single calls."""

    name = "only-estimates"

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        return self.subject.hypergradient_samples(problem, x, call, rng, replications)


class Iterative(BentSubject):
    """Solvers that stop at 1e-8, and everywhere at what is just allowed; formulas with rounding of their own."""

    name = "iterative"
    uses_draws = False

    def lower_level(self, problem: Any, x: Any) -> Any:
        y_star, lam = super().lower_level(problem, x)
        return y_star + 1e-8 * np.cos(np.arange(len(y_star))), lam + 1e-8 * np.sin(np.arange(len(lam)))

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        return super().activation(h, lam, h_width, lam_width) * (1 - 1e-13)

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        y = super().penalty_minimiser(problem, x, call, 0.0)
        a = arrays_of(problem)
        if a is None:
            return y
        H = lagrangian(a, x, call).H
        direction = np.ones(len(y)) / len(y) ** 0.5
        return y + np.linalg.solve(H, 0.9 * (call.alpha if tol is None else tol) * direction)

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        return super().hypergradient(problem, x, call, rng) * (1 + 4e-16)


class Unable:
    """Offers a stage and supports no call of it."""

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        raise NotImplementedError("not this one")


class OwnGenerator(OnlyHypergradient):
    """Ignores the generator it is given and uses a bit generator of its own, kept from call to call."""

    name = "own-generator"

    def __init__(self) -> None:
        super().__init__()
        self.rng = np.random.Generator(np.random.MT19937(5))

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        return super().hypergradient(problem, x, replace(call, draws=None), self.rng)


class RepairedOnly(OnlyHypergradient):
    """Knows one reading, whatever it is told."""

    name = "repaired-only"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        return super().hypergradient(problem, x, replace(call, reading=type(call.reading)()), rng)


class Independent:
    """Algorithm 1 written from the paper's formulas alone: nothing is shared with the reference or the catalogue."""

    name = "independent"
    powers = (-2, -4)
    dtype: Any = np.float64
    hard = False

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        a = getattr(getattr(problem, "quadratic", problem), "arrays", None)
        if a is None or problem.noise.model != "none":
            raise MissingCapabilityError("only quadratic problems without noise")
        pair: Any = (call.y_star, call.lam) if call.lam is not None else self.pair(a, x)
        y_star, lam = pair
        h = a.A @ x - a.B @ y_star - a.b
        alpha_1, alpha_2 = call.alpha ** self.powers[0], call.alpha ** self.powers[1]
        rho = self.weights(h, lam, a, call) if call.rho is None else call.rho
        y = call.y_penalty
        if y is None:
            H = a.f_yy + alpha_1 * a.g_yy + alpha_2 * a.B.T @ np.diag(rho) @ a.B
            slope = a.f_xy.T @ x + a.f_yy @ y_star + a.f_y - alpha_2 * a.B.T @ (rho * h)
            slope = slope + alpha_1 * (a.g_xy.T @ x + a.g_yy @ y_star + a.g_y - a.B.T @ lam)
            y = y_star - np.linalg.solve(H, slope)
        t = self.dtype
        A, x_t, y_t = a.A.astype(t), x.astype(t), y.astype(t)
        rows = (A @ x_t - a.b.astype(t)) - a.B.astype(t) @ y_t
        made = a.f_x.astype(t) + a.f_xy.astype(t) @ y_t + a.f_xx.astype(t) @ x_t
        made = made + t(alpha_1) * (a.g_xy.astype(t) @ y_t - a.g_xy.astype(t) @ y_star.astype(t))
        return (made + (t(alpha_2) * A.T) @ (rho.astype(t) * rows)).astype(float)

    def pair(self, a: Any, x: Any) -> Any:
        c, right = a.g_xy.T @ x + a.g_y, a.A @ x - a.b
        y, _, _, info = daqp.solve(a.g_yy.copy(), c, -a.B, -right, primal_tol=1e-10)
        return np.array(y), np.array(info["lam"])

    def weights(self, h: Any, lam: Any, a: Any, call: Call) -> Any:
        width = 2 * call.parameters.ramp_constant * max(1.0, float(np.linalg.norm(a.B, 2))) * call.alpha**3
        rho = np.clip(1 + h / width, 0, 1) * np.clip(lam / call.parameters.lam_width, 0, 1)
        return (rho > 0).astype(float) if self.hard else rho


class IndependentlyWeak(Independent):
    """Other powers of alpha."""

    name = "independently-weak"
    powers = (-1, -2)


class IndependentlySingle(Independent):
    """Line 6 in single precision."""

    name = "independently-single"
    dtype = np.float32


class IndependentlyHard(Independent):
    """Weights 0 and 1."""

    name = "independently-hard"
    hard = True
