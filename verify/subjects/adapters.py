"""Solvers of another shape as subjects: other parameters than alpha, batches of x, a whole optimiser.

.. code-block:: python

    from verify.subjects.adapters import Batched, EndToEnd, Reparametrised

    mine = Reparametrised(hypergradient)  # hypergradient(problem, x, lam1, lam2), for lam1 = α⁻², lam2 = α⁻⁴
    warm = Reparametrised(estimate, {"temperature": lambda alpha: alpha**2})
    many = Batched(hypergradient_batch)  # hypergradient_batch(problem, X, call, rng) -> (k, n)
    whole = EndToEnd(solve)  # solve(problem, x0, D, eta, M, K, alpha, rng) -> x_out, x_bar, path

Then ``f2csa conform --python my_solver:mine``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from spec import InvalidInputError, OuterParameters, Problem
from spec.exact import Vector
from verify.subjects.faults import MissingCapabilityError, SubjectFaultError, as_fault, checked_array
from verify.subjects.protocol import Call, OuterRun

MULTIPLIERS: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {"lam1": lambda alpha: alpha**-2, "lam2": lambda alpha: alpha**-4}
)
"""The weights of the penalty Lagrangian, by name, as functions of alpha."""
BESIDE = 2.0**-10
"""How far the other points of a batch lie, relative to 1 + |x|."""


class Reparametrised:
    """A solver that computes every stage itself and takes other parameters than alpha.

    Args:
        hypergradient: ``hypergradient(problem, x, **parameters) -> (n,)``; where it has an argument ``rng`` it is given
            a generator, and asked once for each of the N_g samples of a noisy problem.
        parametrisation: Each parameter's name with its value as a function of alpha; ``lam1 = α⁻²`` and
            ``lam2 = α⁻⁴``, the weights of the penalty Lagrangian, if not given.
        name: What reports call it.

    Raises:
        InvalidInputError: If the solver does not take such parameters.
    """

    def __init__(
        self,
        hypergradient: Callable[..., Any],
        parametrisation: Mapping[str, Callable[[float], float]] = MULTIPLIERS,
        name: str = "",
    ) -> None:
        if not parametrisation or not all(callable(value) for value in parametrisation.values()):
            rule = "must give each parameter's name a function of alpha"
            raise InvalidInputError("parametrisation", rule, dict(parametrisation))
        _require_taken(hypergradient, ("problem", "x", *parametrisation))
        self.parametrisation = dict(parametrisation)
        self.name = name or _named(hypergradient)
        self._solver = hypergradient
        self._draws = "rng" in _arguments(hypergradient)

    def hypergradient(self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator) -> Any:
        """One estimate at the parameters that this alpha means."""
        if any(value is not None for value in call.stages.values()):
            raise MissingCapabilityError("it computes every stage itself")
        noisy = problem.noise.model != "none"
        if noisy and not self._draws:
            raise MissingCapabilityError("it draws no noise")
        values: dict[str, Any] = {name: value(call.alpha) for name, value in self.parametrisation.items()}
        if self._draws:
            values["rng"] = rng
        answers = [self._solver(problem, x, **values) for _ in range(call.parameters.N_g if noisy else 1)]
        return answers[0] if len(answers) == 1 else np.mean([np.asarray(answer) for answer in answers], axis=0)


class Batched:
    """A solver that answers many points at once.

    Args:
        hypergradient_batch: ``hypergradient_batch(problem, X, call, rng) -> (k, n)`` for ``X`` of shape (k, n), each
            row an oracle call of its own with the stages that the call gives.
        name: What reports call it.

    A point is asked about among neighbours, so that what a row takes from another shows. Estimates under noise
    are asked for as copies of one point.
    """

    def __init__(self, hypergradient_batch: Callable[..., Any], name: str = "") -> None:
        self.name = name or _named(hypergradient_batch)
        self._solver = hypergradient_batch

    def hypergradient(self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator) -> Any:
        """The second row of four."""
        if call.draws is not None:
            raise MissingCapabilityError("it takes no draws")
        apart = BESIDE * (1.0 + np.abs(x))
        try:
            return self._rows(problem, np.array([x - apart, x, x + apart, x + 2 * apart]), call, rng)[1]
        except (ValueError, ArithmeticError, np.linalg.LinAlgError, SubjectFaultError):
            # A neighbour may have no answer, where the rows leave it no y.
            return self._rows(problem, np.array([x, x, x, x]), call, rng)[1]

    def hypergradient_samples(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> Any:
        """Rows of one batch."""
        return self._rows(problem, np.repeat(x[None], replications, axis=0), call, rng)

    def _rows(self, problem: Problem, points: Vector, call: Call, rng: np.random.Generator) -> Vector:
        return checked_array("hypergradient_batch", self._solver(problem, points, call, rng), points.shape)


class EndToEnd:
    """An optimiser that computes its hypergradients itself: no oracle can be handed to it.

    Args:
        solve: ``solve(problem, x0, …)`` with any of the arguments ``parameters`` (:class:`spec.OuterParameters`),
            ``D``, ``eta``, ``M``, ``K``, ``T``, ``alpha`` and ``rng``; answers with ``path (T + 1, n)``, ``x_out (n,)``
            and, if it has them, the block means ``x_bar (K, n)``, as attributes or keys.
        name: What reports call it.

    Algorithm 2 is then judged on problems whose hypergradients are known at every point
    (:mod:`verify.conformance.comparison.end_to_end`).

    Raises:
        InvalidInputError: If it does not take a problem and a start.
    """

    def __init__(self, solve: Callable[..., Any], name: str = "") -> None:
        _require_taken(solve, ("problem", "x0"))
        self.name = name or _named(solve)
        self._solver = solve

    def end_to_end(
        self, problem: Problem, x0: Vector, parameters: OuterParameters, alpha: float, rng: np.random.Generator
    ) -> OuterRun:
        """One run; block means of shape (0, n) where it has none.

        Raises:
            SubjectFaultError: If it crashes or its answer is none.
        """
        q = parameters
        known = {"parameters": q, "D": q.D, "eta": q.eta, "M": q.M, "K": q.K, "T": q.T, "alpha": alpha, "rng": rng}
        arguments = _arguments(self._solver)
        given = {name: value for name, value in known.items() if name in arguments}
        with as_fault("solve raised"):
            answer = self._solver(problem, x0.copy(), **given)

        def part(name: str, shape: tuple[int, ...]) -> Vector:
            value = answer.get(name) if isinstance(answer, dict) else getattr(answer, name, None)
            if value is None and name == "x_bar":
                return np.zeros((0, len(x0)))
            return checked_array(f"solve.{name}", value, shape)

        n = len(x0)
        return OuterRun(part("x_out", (n,)), part("x_bar", (q.K, n)), part("path", (q.T + 1, n)))


def _arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


def _require_taken(function: Callable[..., Any], names: tuple[str, ...]) -> None:
    """Refuse what does not take two arguments by position and the others by name."""
    if not callable(function):
        raise InvalidInputError("solver", "must be callable", type(function).__name__)
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return  # native code does not always say
    kinds = [parameter.kind for parameter in parameters.values()]
    placed = sum(kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds)
    any_name = inspect.Parameter.VAR_KEYWORD in kinds
    missing = [name for name in names[2:] if name not in parameters and not any_name]
    if missing or (placed < 2 and inspect.Parameter.VAR_POSITIONAL not in kinds):
        raise InvalidInputError(
            "solver", f"must take {', '.join(names)}", f"{_named(function)}({', '.join(parameters)})"
        )


def _named(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
