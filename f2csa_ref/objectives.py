"""What is minimised: f, g and the affine rows in doubles, with the constants the method needs.

A point y is one vector, shape (m,), or one row a run, shape (R, m); quadratic and Hölder gradients take either.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np

from f2csa_ref.bounds import Bounds, bounds_of
from f2csa_ref.libraries import scipy_late as sp
from f2csa_ref.libraries.eigenvalues import LANCZOS_FROM, extreme_eigenvalues
from spec.blocks.noise import Noise
from spec.blocks.quadratic import Quadratic
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector, all_finite
from spec.problem import Generated, Holder, Problem

Gradient: TypeAlias = Callable[[Vector, Vector], Vector]
Value: TypeAlias = Callable[[Vector, Vector], float]

EXTENDED_LIMIT = 1_000_000
"""Largest number of matrix entries multiplied in extended precision (a few milliseconds each time)."""


class Objectives(Protocol):
    """What Algorithm 1 asks of a problem; any object with these members will do.

    Shapes: ``x (n,)``, ``y (m,)``, ``A (p, n)``, ``B (p, m)``, ``b (p,)``; rows h = A x - B y - b <= 0.
    ``mu_g`` and ``C_g`` bound the curvature of ``g(x, .)`` from below and above, ``C_f`` bounds the absolute
    curvature of ``f(x, .)``, ``B_norm`` is the spectral norm of ``B``.
    """

    @property
    def n(self) -> int: ...
    @property
    def m(self) -> int: ...
    @property
    def p(self) -> int: ...
    @property
    def A(self) -> Matrix: ...  # noqa: N802  # the paper's letter
    @property
    def B(self) -> Matrix: ...  # noqa: N802  # the paper's letter
    @property
    def b(self) -> Vector: ...
    @property
    def noise(self) -> Noise: ...
    @property
    def mu_g(self) -> float: ...
    @property
    def C_g(self) -> float: ...  # noqa: N802  # the paper's letter
    @property
    def C_f(self) -> float: ...  # noqa: N802  # the paper's letter
    @property
    def B_norm(self) -> float: ...  # noqa: N802  # the paper's letter

    def f(self, x: Vector, y: Vector) -> float: ...
    def g(self, x: Vector, y: Vector) -> float: ...
    def grad_x_f(self, x: Vector, y: Vector) -> Vector: ...
    def grad_y_f(self, x: Vector, y: Vector) -> Vector: ...
    def grad_x_g(self, x: Vector, y: Vector) -> Vector: ...
    def grad_y_g(self, x: Vector, y: Vector) -> Vector: ...

    def grad_x_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:
        """``grad_x_g(x, y + w) - grad_x_g(x, y)``, with as little cancellation as the problem allows."""

    def grad_y_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:
        """``grad_y_g(x, y + w) - grad_y_g(x, y)``, with as little cancellation as the problem allows."""

    def h(self, x: Vector, y: Vector) -> Vector:
        """Row values ``A x - B y - b``, shape ``(p,)``."""


class AffineRows:
    """What all kinds share: ``A (p, n)``, ``B (p, m)``, ``b (p,)``, and changes of gradients as differences."""

    A: Matrix
    B: Matrix
    b: Vector
    grad_x_g: Gradient
    grad_y_g: Gradient

    @property
    def n(self) -> int:
        return int(self.A.shape[1])

    @property
    def m(self) -> int:
        return int(self.B.shape[1])

    @property
    def p(self) -> int:
        return int(self.B.shape[0])

    @cached_property
    def B_norm(self) -> float:  # noqa: N802  # the paper's letter
        """Spectral norm of ``B``."""
        if min(self.p, self.m) > LANCZOS_FROM and self.bounds is not None:
            return math.sqrt(float(self.bounds.curvature(np.ones(self.p)).max()))
        gram = self.B @ self.B.T if self.p <= self.m else self.B.T @ self.B
        return math.sqrt(max(0.0, extreme_eigenvalues(gram)[1]))

    @cached_property
    def bounds(self) -> Bounds | None:
        """The rows as bounds on single coordinates of y, where they are that."""
        return bounds_of(self.B)

    @cached_property
    def _extended_rows(self) -> tuple[Any, Any]:
        wide = np.longdouble if self.A.size + self.B.size <= EXTENDED_LIMIT else np.float64
        return self.A.astype(wide, copy=False), self.B.astype(wide, copy=False)

    def h(self, x: Vector, y: Vector) -> Vector:
        """Row values, summed in extended precision where affordable: alpha_2 = alpha**-4 amplifies their rounding."""
        A, B = self._extended_rows  # products by the method, on vectors of this precision: half of what @ takes
        at_y = y @ B.T if y.ndim > 1 else B.dot(y.astype(B.dtype))
        return np.asarray(A.dot(x.astype(A.dtype)) - at_y - self.b, dtype=np.float64)

    def grad_x_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:
        return self.grad_x_g(x, y + w) - self.grad_x_g(x, y)

    def grad_y_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:
        return self.grad_y_g(x, y + w) - self.grad_y_g(x, y)


class QuadraticObjectives(AffineRows):
    """Quadratic f and g in doubles; ``generated`` problems go through their ``quadratic``."""

    def __init__(self, problem: Quadratic) -> None:
        q = problem.arrays
        self.A, self.B, self.b, self.noise = q.A, q.B, q.b, problem.noise
        self.f_xx, self.f_xy, self.f_yy, self.f_x, self.f_y = q.f_xx, q.f_xy, q.f_yy, q.f_x, q.f_y
        self.g_xx, self.g_xy, self.g_yy, self.g_x, self.g_y = q.g_xx, q.g_xy, q.g_yy, q.g_x, q.g_y

    @cached_property
    def _g_curvature(self) -> tuple[float, float]:
        return extreme_eigenvalues(self.g_yy)

    @property
    def mu_g(self) -> float:
        """Smallest eigenvalue of ``g.yy``."""
        return self._g_curvature[0]

    @property
    def C_g(self) -> float:  # noqa: N802  # the paper's letter
        """Largest eigenvalue of ``g.yy``."""
        return self._g_curvature[1]

    @cached_property
    def C_f(self) -> float:  # noqa: N802  # the paper's letter
        """Spectral norm of ``f.yy``."""
        low, high = extreme_eigenvalues(self.f_yy)
        return max(abs(low), abs(high))

    @cached_property
    def g_yy_factor(self) -> tuple[Matrix, bool]:
        """Lower Cholesky factor of ``g.yy``, as ``scipy.linalg.cho_solve`` takes it; the exact lower level's alone."""
        return sp.cholesky(self.g_yy, lower=True), True

    def f(self, x: Vector, y: Vector) -> float:
        half = x @ self.f_xx @ x + y @ self.f_yy @ y
        return float(0.5 * half + x @ self.f_xy @ y + x @ self.f_x + y @ self.f_y)

    def g(self, x: Vector, y: Vector) -> float:
        half = x @ self.g_xx @ x + y @ self.g_yy @ y
        return float(0.5 * half + x @ self.g_xy @ y + x @ self.g_x + y @ self.g_y)

    def grad_x_f(self, x: Vector, y: Vector) -> Vector:
        return _sum(self.f_xx @ x, y @ self.f_xy.T, self.f_x)

    def grad_y_f(self, x: Vector, y: Vector) -> Vector:
        return _sum(x @ self.f_xy, y @ self.f_yy.T, self.f_y)

    def grad_x_g(self, x: Vector, y: Vector) -> Vector:
        return _sum(self.g_xx @ x, y @ self.g_xy.T, self.g_x)

    def grad_y_g(self, x: Vector, y: Vector) -> Vector:
        return _sum(x @ self.g_xy, y @ self.g_yy.T, self.g_y)

    def grad_x_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:  # noqa: ARG002  # constant Hessian
        return w @ self.g_xy.T

    def grad_y_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:  # noqa: ARG002  # constant Hessian
        return w @ self.g_yy.T


def _sum(at_x: Vector, at_y: Vector, fixed: Vector) -> Vector:
    """One vector adds up from the left; many rows first add what they share, so that each is touched once."""
    return at_x + at_y + fixed if at_y.ndim == 1 else at_y + (at_x + fixed)


@dataclass(frozen=True, eq=False)
class SmoothObjectives(AffineRows):
    """Any smooth f and g, given as gradient functions ``(x, y) -> vector``.

    ``mu_g > 0`` and ``C_g >= mu_g`` bound the curvature of ``g(x, .)``, ``C_f >= 0`` the absolute one of ``f(x, .)``;
    values are needed only where one is asked for, ``hess_yy_g`` (m, m) and ``hess_xy_g`` (n, m), arrays or operators
    that multiply by @, only by methods that use second derivatives. What does not fit is an InvalidInputError.

    Example:
        >>> import numpy as np
        >>> one = np.ones((1, 1))
        >>> toy = SmoothObjectives(
        ...     grad_x_f=lambda x, y: 0 * x, grad_y_f=lambda x, y: np.ones(1),
        ...     grad_x_g=lambda x, y: 0 * x, grad_y_g=lambda x, y: y,
        ...     A=one, B=one, b=np.zeros(1), mu_g=1.0, C_g=1.0, C_f=0.0)
        >>> toy.h(np.ones(1), np.zeros(1))
        array([1.])
    """

    grad_x_f: Gradient
    grad_y_f: Gradient
    grad_x_g: Gradient
    grad_y_g: Gradient
    A: Matrix
    B: Matrix
    b: Vector
    mu_g: float
    C_g: float
    C_f: float
    noise: Noise = field(default_factory=Noise)
    f_value: Value | None = None
    g_value: Value | None = None
    hess_yy_g: Callable[[Vector, Vector], Any] | None = None
    hess_xy_g: Callable[[Vector, Vector], Any] | None = None

    def __post_init__(self) -> None:
        if self.A.ndim != 2 or self.B.ndim != 2 or self.b.shape != self.A.shape[:1] or len(self.A) != len(self.B):
            shapes = f"A {self.A.shape}, B {self.B.shape}, b {self.b.shape}"
            raise InvalidInputError("rows", "must have shapes A (p, n), B (p, m), b (p,)", shapes)
        if not (0 < self.mu_g <= self.C_g < math.inf):
            raise InvalidInputError("mu_g", "must satisfy 0 < mu_g <= C_g < inf", (self.mu_g, self.C_g))
        if not (0 <= self.C_f < math.inf):
            raise InvalidInputError("C_f", "must be >= 0 and finite", self.C_f)

    def f(self, x: Vector, y: Vector) -> float:
        return _stated(self.f_value, "f")(x, y)

    def g(self, x: Vector, y: Vector) -> float:
        return _stated(self.g_value, "g")(x, y)


def _stated(value: Value | None, name: str) -> Value:
    if value is None:
        raise InvalidInputError(f"{name}_value", f"must be given where a value of {name} is asked for")
    return value


class HolderObjectives(AffineRows):
    """Of :class:`spec.Holder`: ``g_yy`` is within ``1.5 s r**s`` of 1 up to ``reach``, and within 1/2 beyond."""

    mu_g, C_g, C_f = 0.5, 1.5, 0.0

    def __init__(self, problem: Holder) -> None:
        rows = problem.constraints
        self.A, self.B, self.b = rows.A.to_numpy(), rows.B.to_numpy(), rows.b.to_numpy()
        self.noise = problem.noise
        self.s = float(problem.s)
        # So far that no double is: (3 s)^(-1/s) overflows for small s.
        self.reach = math.exp(min(700.0, -math.log(3 * self.s) / self.s))

    def _radius_powers(self, x: Vector, y: Vector) -> tuple[Vector, Vector]:
        """q(r) and q'(r)/r, the latter 0 at the origin where it only ever meets factors r²."""
        r = np.hypot(x, y)
        near = np.minimum(r, self.reach)
        power, share = near**self.s, np.divide(near, r, out=np.ones_like(r), where=r > 0)
        inner = np.divide(self.s * power, r * r, out=np.zeros_like(r), where=r > 0)
        return power * (1 + self.s * (1 - share)), inner * share

    def f(self, x: Vector, y: Vector) -> float:  # noqa: ARG002  # f = y
        return float(y[0])

    def g(self, x: Vector, y: Vector) -> float:
        outer, _ = self._radius_powers(x, y)
        return float((y * y / 2 + x * y * (1 + outer))[0])

    def grad_x_f(self, x: Vector, y: Vector) -> Vector:  # noqa: ARG002  # f = y
        return np.zeros(1)

    def grad_y_f(self, x: Vector, y: Vector) -> Vector:  # noqa: ARG002  # f = y
        return np.ones(1)

    def grad_x_g(self, x: Vector, y: Vector) -> Vector:
        outer, inner = self._radius_powers(x, y)
        return y * (1 + outer + inner * x * x)

    def grad_y_g(self, x: Vector, y: Vector) -> Vector:
        outer, inner = self._radius_powers(x, y)
        return y + x * (1 + outer + inner * y * y)


_METHODS = ("grad_x_f", "grad_y_f", "grad_x_g", "grad_y_g", "grad_x_g_change", "grad_y_g_change", "h")
# By identity: hashing a problem would hash every exact entry. An entry goes when its problem goes.
_known: dict[int, tuple[weakref.ref[Quadratic | Holder | Generated], Objectives]] = {}


def objectives_of(problem: Problem | Objectives) -> Objectives:
    """The gradient functions of a problem, made once per problem object; objectives pass through unchanged.

    Raises:
        InvalidInputError: If ``problem`` is neither.
    """
    key, known = id(problem), _known.get(id(problem))
    if known is not None and known[0]() is problem:
        return known[1]
    if not isinstance(problem, Quadratic | Holder | Generated):
        missing = [name for name in _METHODS if not hasattr(problem, name)]
        if missing:
            raise InvalidInputError("problem", f"must be a spec.Problem or offer Objectives; {missing[0]} is missing")
        return problem
    exact = problem.quadratic if isinstance(problem, Generated) else problem
    doubles = HolderObjectives(exact) if isinstance(exact, Holder) else QuadraticObjectives(exact)
    _known[key] = (weakref.ref(problem, lambda _: _known.pop(key, None)), doubles)
    return doubles


@contextmanager
def double_range(objectives: Objectives) -> Iterator[None]:
    """Turn overflow inside into a clear refusal; gradient functions of strangers may overflow at will."""
    if not isinstance(objectives, QuadraticObjectives | HolderObjectives):
        yield
        return
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            yield
    except FloatingPointError as error:
        rule = f"leads out of the range of doubles here ({error}); rescale its blocks, x or alpha"
        raise InvalidInputError("problem", rule) from None


def as_vector(value: object, size: int, argument: str) -> Vector:
    """Read a finite vector of known length, or refuse it by the argument's name."""
    try:
        vector = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(argument, "must be a vector of numbers", value) from None
    if vector.shape != (size,):
        raise InvalidInputError(argument, f"must have shape ({size},)", vector.shape)
    if not all_finite(vector):
        raise InvalidInputError(argument, "must be finite", vector.tolist())
    return vector
