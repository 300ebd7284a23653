"""The reference under a bug's rules of sampling: estimates with right stages and a wrong law, and noisy solvers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.conformance.bugs.model import Rules
from verify.subjects import Call, ReferenceSubject


def quiet(problem: Any) -> Any:
    """The problem without its noise."""
    return getattr(problem, "quadratic", problem).model_copy(update={"noise": type(problem.noise)()})


def with_parameters(call: Call, **parameters: int) -> Call:
    """The call with other sizes."""
    return replace(call, parameters=call.parameters.model_copy(update=parameters))


@dataclass(frozen=True)
class Estimates:
    """Where estimates are drawn, right as they come, of a problem with its noise."""

    problem: Any
    x: Vector
    call: Call
    rng: np.random.Generator

    def draw(self, count: int, rng: np.random.Generator | None = None) -> Any:
        """Right estimates, shape (count, n)."""
        return ReferenceSubject().hypergradient_samples(self.problem, self.x, self.call, rng or self.rng, count)

    @cached_property
    def mean(self) -> Any:
        """The estimate without noise, shape (n,)."""
        return ReferenceSubject().hypergradient(quiet(self.problem), self.x, self.call, None)

    def off(self, count: int) -> Any:
        """Right estimates less their mean."""
        return self.draw(count) - self.mean

    @property
    def of_one_sample(self) -> Estimates:
        """The same with N_g = 1."""
        return replace(self, call=with_parameters(self.call, N_g=1))


def half(count: int) -> int:
    """Of so many, rounded up."""
    return (count + 1) // 2


def batch_shared(e: Estimates, R: int) -> Any:
    own, shared = e.off(R), e.of_one_sample.off(R)
    return e.mean + 0.8**0.5 * own + 0.2**0.5 * shared


def echo(e: Estimates, R: int) -> Any:
    own = e.off(R)
    heard = own.copy()
    for first in range(1000, R, 1000):
        here = slice(first, min(first + 1000, R))
        heard[here] = 0.3 * heard[first - 1000 : first][: len(heard[here])] + 0.91**0.5 * own[here]
    return e.mean + heard


def opposites(e: Estimates, R: int, order: Callable[[Any], Any]) -> Any:
    first = e.off(half(R))
    return e.mean + np.concatenate([first, -order(first)])[:R]


def call_shared(e: Estimates, R: int) -> Any:
    own = e.off(R + 1)
    return e.mean + 0.95**0.5 * own[1:] + 0.05**0.5 * own[:1]


def mixed(e: Estimates, R: int, mixing: Vector) -> Any:
    return e.mean + e.off(R) @ mixing.T


def half_correlated(n: int) -> Any:
    """A factor of the covariance with ones and halves, shape (n, n)."""
    return np.linalg.cholesky(0.5 * np.eye(n) + 0.5 * np.ones((n, n)))


DRAWS: dict[str, Callable[[Estimates, int], Any]] = {
    "averaged-twice": lambda e, R: e.mean + e.off(R) / e.call.parameters.N_g**0.5,
    "batch-shared": batch_shared,
    "each-twice": lambda e, R: np.repeat(e.draw(half(R)), 2, axis=0)[:R],
    "half-copied": lambda e, R: np.tile(e.draw(half(R)), (2, 1))[:R],
    "one-alone": lambda e, R: np.repeat(e.draw(1, np.random.default_rng(0)), R, axis=0),
    "own-seed": lambda e, R: e.draw(R, np.random.default_rng(0)),
    "echo": echo,
    "mirrored": lambda e, R: opposites(e, R, lambda rows: rows[::-1]),
    "shuffled-opposites": lambda e, R: opposites(e, R, e.rng.permutation),
    "call-shared": call_shared,
    "one-component": lambda e, R: mixed(e, R, np.diag([len(e.x) ** 0.5] + [0.0] * (len(e.x) - 1))),
    "mixed-components": lambda e, R: mixed(e, R, half_correlated(len(e.x))),
    "noise-twice": lambda e, R: e.mean + e.off(R) + e.off(R),
    "noisier-alone": lambda e, R: e.mean + e.off(R) * (1.6 if R == 1 else 1.0),
}
"""Wrong ways to draw R estimates."""


class BentSampling(ReferenceSubject):
    """Single noisy calls and many at once have the same law; draws that are handed over go unused."""

    name = "bent-sampling"
    uses_draws = False
    rules = Rules()

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        if problem.noise.model == "none" or call.parameters.lower_level == "primal-dual":
            return super().hypergradient(problem, x, call, rng)
        return self.hypergradient_samples(problem, x, call, rng, 1)[0]

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        r = self.rules
        estimates = Estimates(self._noisy(problem), x, self._told(problem, call), rng)
        if r.averaging == "none":
            return np.tile(estimates.mean, (replications, 1))
        drawn = DRAWS[r.draws](estimates, replications) if r.draws else estimates.draw(replications)
        drawn = call.parameters.N_g * drawn if r.averaging == "sum" else drawn
        return drawn + float(r.shift) * float(problem.noise.sigma_f) if r.shift else drawn

    def _noisy(self, problem: Any) -> Any:
        if self.rules.noise_on != "g":
            return problem
        lower_only = problem.noise.model_copy(update={"sigma_f": type(problem.noise)().sigma_f})
        return getattr(problem, "quadratic", problem).model_copy(update={"noise": lower_only})

    def _told(self, problem: Any, call: Call) -> Call:
        r, N_g = self.rules, call.parameters.N_g
        call = replace(call, reading=call.reading.choose(**r.reading))
        if r.averaging == "first":
            return with_parameters(call, N_g=1)
        if r.batch == "from-alpha":
            wanted = math.ceil(round((float(problem.noise.scale("f.x")) / call.alpha) ** 2, 6))
            return with_parameters(call, N_g=max(1, min(wanted, 1 << 16)))
        if r.batch == "one-fewer" or r.one_fewer_of == N_g:
            return with_parameters(call, N_g=max(1, N_g - 1))
        return call


class BentRuns(ReferenceSubject):
    """Noisy inner solvers; right as they stand."""

    name = "bent-runs"
    rules = Rules()

    def lower_level_runs(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        r, steps = self.rules, call.parameters.lower_level_steps
        call = replace(call, reading=call.reading.choose(**r.reading))
        call = with_parameters(call, lower_level_steps=min(max(1, int(r.steps * steps)), r.most_steps or steps))
        own_problem = quiet(problem) if r.noise_on == "none" else problem
        y, lam = super().lower_level_runs(own_problem, x, call, rng, replications)
        if r.quiet_small_steps:
            centre = y.mean(axis=0)
            y = centre + (y - centre) * min(1.0, float(call.parameters.eta_y or 0.1) / 0.1) ** 0.1
        return y, lam

    def penalty_runs(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        return super().penalty_runs(problem, x, self._unshared(call, "constant-step"), rng, replications)

    def hypergradient_runs(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        estimates, count = super().hypergradient_runs(problem, x, self._unshared(call, "averaged"), rng, replications)
        return estimates, count if self.rules.counts else 1 + 3 * call.parameters.N_g

    def _unshared(self, call: Call, solver: str) -> Call:
        return replace(call, reading=call.reading.choose(inner_solver=solver)) if self.rules.shares_nothing else call
