"""Strangers with mistakes, and manners, that no catalogue has: the independent implementation but for one thing."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.verify.conformance.subjects import Independent
from verify.subjects import Call, MissingCapabilityError


class Additive(Independent):
    """Additive noise on the upper gradient, one estimate at a time; draws always, noise of size 0 too."""

    name = "additive"
    too_wide = 1.0

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        if problem.noise.model not in ("none", "additive"):
            raise MissingCapabilityError("additive noise only")
        quiet = problem.model_copy(update={"noise": type(problem.noise)()})
        drawn = rng.standard_normal((call.parameters.N_g, len(x))).mean(axis=0)
        noise = self.too_wide * problem.noise.scale("f.x") * drawn if problem.noise.model == "additive" else 0.0
        return super().hypergradient(quiet, x, call, rng) + noise


class TooWide(Additive):
    """A tenth more noise than it should have: between the law and those in the catalogue."""

    name = "too-wide"
    too_wide = 1.1


class FirstVariableOnly(Independent):
    """Says that it has one upper variable at most."""

    name = "first-variable-only"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        if len(x) > 1:
            raise MissingCapabilityError("one upper variable at most")
        return super().hypergradient(problem, x, call, rng)


class Transposing(Independent):
    """Takes the transposed A wherever shapes allow it."""

    name = "transposing"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        right = super().hypergradient(problem, x, call, rng)
        a = getattr(problem, "quadratic", problem).arrays
        if call.y_penalty is None or a.A.shape[0] != a.A.shape[1]:
            return right
        rows = a.A @ x - a.B @ call.y_penalty - a.b
        return right + call.alpha**-4 * (a.A - a.A.T) @ (call.rho * rows)


class WeaklyOn(Independent):
    """Weight 1 for rows that hold with equality and have no multiplier."""

    name = "weakly-on"

    def weights(self, h: Any, lam: Any, a: Any, call: Call) -> Any:
        return np.where((np.abs(h) < 1e-12) & (lam == 0), 1.0, super().weights(h, lam, a, call))


class HardAndDual(Independent):
    """Two mistakes at once: hard weights, and the dual term kept."""

    name = "hard-and-dual"
    hard = True

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        right = super().hypergradient(problem, x, call, rng)
        a = getattr(problem, "quadratic", problem).arrays
        lam = call.lam if call.lam is not None else self.pair(a, x)[1]
        return right + call.alpha**-2 * a.A.T @ lam


class DoublePenalty(Independent):
    """α₂ for α₂/2 in the Lagrangian: twice the penalty, in the solve and in line 6."""

    name = "double-penalty"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        a = getattr(problem, "quadratic", problem).arrays
        right = super().hypergradient(problem, x, call, rng)
        if call.y_penalty is None or call.rho is None:
            return right
        return right + call.alpha**-4 * a.A.T @ (call.rho * (a.A @ x - a.B @ call.y_penalty - a.b))


class OneCallLate(Independent):
    """Uses the point of the call before."""

    name = "one-call-late"
    last: Any = None

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        used = x if self.last is None or len(self.last) != len(x) else self.last
        self.last = x.copy()
        return super().hypergradient(problem, used, call, rng)


class SometimesNothing(Independent):
    """NaN for small alpha."""

    name = "sometimes-nothing"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        right = super().hypergradient(problem, x, call, rng)
        return right * np.nan if call.alpha < 0.04 else right


class Scalars:
    """Asks the oracle of Algorithm 2 at numbers in place of vectors."""

    name = "scalars"

    def optimise(self, oracle: Any, x0: Any, parameters: Any, rng: Any) -> Any:
        return oracle(x0[0])


class AsksTooOften:
    """Asks the oracle once more than there are steps."""

    name = "asks-too-often"

    def optimise(self, oracle: Any, x0: Any, parameters: Any, rng: Any) -> Any:
        for _ in range(parameters.T + 1):
            oracle(x0)
        n = len(x0)
        return {"x_out": x0, "x_bar": np.zeros((parameters.K, n)), "path": np.zeros((parameters.T + 1, n))}
