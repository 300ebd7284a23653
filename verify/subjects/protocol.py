"""What an implementation may offer, stage by stage, and how the checks call it.

A subject is any object with some of the stage methods below. Arrays go in and come out as numpy doubles. A
stage it lacks makes the checks that need it NOT_APPLICABLE; a stage that raises, or returns NaN or the wrong
shape, is a fault of the subject and never a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, get_args, runtime_checkable

import numpy as np

from spec import REPAIRED, OracleParameters, Problem, Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Vector: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Capability = Literal["lower_level", "activation", "penalty_minimiser", "hypergradient", "optimise"]
CAPABILITIES: tuple[Capability, ...] = get_args(Capability)


class SubjectFaultError(RuntimeError):
    """The subject crashed or returned something that is not an answer."""


class MissingCapabilityError(RuntimeError):
    """The subject does not offer a stage, or not under this reading."""


@dataclass(frozen=True)
class Call:
    """Everything one oracle call is given besides problem and point.

    Args:
        alpha: Accuracy parameter.
        reading: How the paper is read.
        parameters: N_g, ramp widths, budgets.
        y_star: Lower-level solution to use instead of computing one, shape (m,).
        lam: Multipliers to use, shape (p,).
        rho: Activation weights to use, shape (p,).
        y_penalty: Penalty minimiser to use, shape (m,).
    """

    alpha: float
    reading: Reading = REPAIRED
    parameters: OracleParameters = field(default_factory=OracleParameters)
    y_star: Vector | None = None
    lam: Vector | None = None
    rho: Vector | None = None
    y_penalty: Vector | None = None


@runtime_checkable
class Subject(Protocol):
    """The stages an implementation may offer; each method is optional.

    ``lower_level(problem, x) -> (y_star (m,), lam (p,))``;
    ``activation(h, lam, h_width, lam_width) -> rho (p,)``;
    ``penalty_minimiser(problem, x, call, tol) -> y (m,)`` with ``tol`` a bound on the gradient norm of the
    penalty Lagrangian, or ``None`` for the reading's own stopping rule;
    ``hypergradient(problem, x, call, rng) -> (n,)``: one oracle call, given stages used as they are;
    ``hypergradient_samples(problem, x, call, rng, replications) -> (replications, n)``: optional speed-up;
    ``optimise(oracle, x0, parameters, rng)``: Algorithm 2.
    """

    name: str


class Stages:
    """Calls a subject's stages and checks what comes back.

    Args:
        subject: The implementation.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    def offers(self, capability: Capability) -> bool:
        """Whether the subject has this stage."""
        return callable(getattr(self.subject, capability, None))

    def require(self, capabilities: Sequence[Capability]) -> None:
        """Refuse to go on without these stages.

        Raises:
            MissingCapabilityError: Naming the first one missing.
        """
        for capability in capabilities:
            if not self.offers(capability):
                raise MissingCapabilityError(f"the subject offers no {capability}")

    def lower_level(self, problem: Problem, x: Vector) -> tuple[Vector, Vector]:
        """The lower-level pair (y*, λ*) at x, shapes (m,) and (p,)."""
        answer = self._call("lower_level", problem, x)
        try:
            y_star, lam = answer
        except (TypeError, ValueError):
            raise SubjectFaultError("lower_level must return a pair (y_star, lam)") from None
        _, m, p = sizes(problem)
        return self._vector("lower_level", y_star, (m,)), self._vector("lower_level", lam, (p,))

    def activation(self, h: Vector, lam: Vector, h_width: float, lam_width: float) -> Vector:
        """Weights ρ of the rows, shape (p,)."""
        return self._vector("activation", self._call("activation", h, lam, h_width, lam_width), h.shape)

    def penalty_minimiser(self, problem: Problem, x: Vector, call: Call, tol: float | None) -> Vector:
        """Minimiser of the penalty Lagrangian in y, shape (m,)."""
        m = sizes(problem)[1]
        return self._vector("penalty_minimiser", self._call("penalty_minimiser", problem, x, call, tol), (m,))

    def hypergradient(self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator | None = None) -> Vector:
        """One estimate of ∇F(x), shape (n,)."""
        return self._vector("hypergradient", self._call("hypergradient", problem, x, call, rng), x.shape)

    def hypergradient_samples(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> Vector:
        """Independent estimates given the call's stages, shape (replications, n)."""
        shape = (replications, len(x))
        if callable(getattr(self.subject, "hypergradient_samples", None)):
            found = self._call("hypergradient_samples", problem, x, call, rng, replications)
            return self._vector("hypergradient_samples", found, shape)
        return np.array([self.hypergradient(problem, x, call, rng) for _ in range(replications)])

    def _call(self, stage: str, *args: Any) -> Any:
        method: Callable[..., Any] | None = getattr(self.subject, stage, None)
        if not callable(method):
            raise MissingCapabilityError(f"the subject offers no {stage}")
        try:
            return method(*args)
        except MissingCapabilityError:
            raise
        except Exception as error:
            raise SubjectFaultError(f"{stage} raised {type(error).__name__}: {error}") from error

    def _vector(self, stage: str, value: Any, shape: tuple[int, ...]) -> Vector:
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise SubjectFaultError(f"{stage} must return numbers; got {type(value).__name__}") from None
        if array.shape != shape:
            raise SubjectFaultError(f"{stage} must return shape {shape}; got {array.shape}")
        if not np.isfinite(array).all():
            raise SubjectFaultError(f"{stage} must return finite numbers; got {array.ravel()[:4]}")
        return array


def sizes(problem: Problem) -> tuple[int, int, int]:
    """(n, m, p) of a problem of any kind."""
    made: Any = getattr(problem, "quadratic", problem)
    return made.n, made.m, made.p
