"""The two objectives and the rows, as gradient functions with the constants the method needs."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
import scipy.linalg

from f2csa_ref.objectives.holder import HolderObjectives
from f2csa_ref.objectives.rows import AffineRows, extreme_eigenvalues
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector
from spec.noise import Noise
from spec.problem import Generated, Holder, Problem
from spec.quadratic import Quadratic

Gradient: TypeAlias = Callable[[Vector, Vector], Vector]
Value: TypeAlias = Callable[[Vector, Vector], float]


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
        ...

    def grad_y_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:
        """``grad_y_g(x, y + w) - grad_y_g(x, y)``, with as little cancellation as the problem allows."""
        ...

    def h(self, x: Vector, y: Vector) -> Vector:
        """Row values ``A x - B y - b``, shape ``(p,)``."""
        ...


class QuadraticObjectives(AffineRows):
    """Quadratic f and g in doubles.

    Args:
        problem: The exact problem; ``generated`` problems go through their ``quadratic``.
    """

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
        return scipy.linalg.cholesky(self.g_yy, lower=True), True

    def f(self, x: Vector, y: Vector) -> float:
        half = x @ self.f_xx @ x + y @ self.f_yy @ y
        return float(0.5 * half + x @ self.f_xy @ y + x @ self.f_x + y @ self.f_y)

    def g(self, x: Vector, y: Vector) -> float:
        half = x @ self.g_xx @ x + y @ self.g_yy @ y
        return float(0.5 * half + x @ self.g_xy @ y + x @ self.g_x + y @ self.g_y)

    def grad_x_f(self, x: Vector, y: Vector) -> Vector:
        return self.f_xx @ x + self.f_xy @ y + self.f_x

    def grad_y_f(self, x: Vector, y: Vector) -> Vector:
        return x @ self.f_xy + self.f_yy @ y + self.f_y

    def grad_x_g(self, x: Vector, y: Vector) -> Vector:
        return self.g_xx @ x + self.g_xy @ y + self.g_x

    def grad_y_g(self, x: Vector, y: Vector) -> Vector:
        return x @ self.g_xy + self.g_yy @ y + self.g_y

    def grad_x_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:  # noqa: ARG002  # constant Hessian
        return self.g_xy @ w

    def grad_y_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:  # noqa: ARG002  # constant Hessian
        return self.g_yy @ w


@dataclass(frozen=True, eq=False)
class SmoothObjectives(AffineRows):
    """Any smooth f and g, given as gradient functions ``(x, y) -> vector``.

    Args:
        grad_x_f: Shape (n,).
        grad_y_f: Shape (m,).
        grad_x_g: Shape (n,).
        grad_y_g: Shape (m,).
        A: Shape (p, n).
        B: Shape (p, m).
        b: Shape (p,).
        mu_g: Lower bound on the curvature of ``g(x, .)`` where it is used, > 0.
        C_g: Upper bound on it, >= mu_g.
        C_f: Bound on the absolute curvature of ``f(x, .)``, >= 0.
        noise: Scatter of the sampled gradients.
        f_value: ``(x, y) -> float``; only needed where a value of f is asked for.
        g_value: The same for g.

    Raises:
        InvalidInputError: If shapes do not fit or a constant breaks its rule.

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

    def __post_init__(self) -> None:
        if self.A.ndim != 2 or self.B.ndim != 2 or self.b.shape != self.A.shape[:1] or len(self.A) != len(self.B):
            shapes = f"A {self.A.shape}, B {self.B.shape}, b {self.b.shape}"
            raise InvalidInputError("rows", "must have shapes A (p, n), B (p, m), b (p,)", shapes)
        if not (0 < self.mu_g <= self.C_g < math.inf):
            raise InvalidInputError("mu_g", "must satisfy 0 < mu_g <= C_g < inf", (self.mu_g, self.C_g))
        if not (0 <= self.C_f < math.inf):
            raise InvalidInputError("C_f", "must be >= 0 and finite", self.C_f)

    def f(self, x: Vector, y: Vector) -> float:
        if self.f_value is None:
            raise InvalidInputError("f_value", "must be given where a value of f is asked for")
        return self.f_value(x, y)

    def g(self, x: Vector, y: Vector) -> float:
        if self.g_value is None:
            raise InvalidInputError("g_value", "must be given where a value of g is asked for")
        return self.g_value(x, y)

    def grad_x_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:
        return self.grad_x_g(x, y + w) - self.grad_x_g(x, y)

    def grad_y_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:
        return self.grad_y_g(x, y + w) - self.grad_y_g(x, y)


_METHODS = ("grad_x_f", "grad_y_f", "grad_x_g", "grad_y_g", "grad_x_g_change", "grad_y_g_change", "h")
_made: dict[int, tuple[weakref.ref[Quadratic | Holder | Generated], Objectives]] = {}
# By identity: hashing a problem would hash every exact entry. An entry goes when its problem goes.


def objectives_of(problem: Problem | Objectives) -> Objectives:
    """The gradient functions of a problem; objectives pass through unchanged.

    Conversion to doubles and spectral constants are computed once per problem object.

    Raises:
        InvalidInputError: If ``problem`` is neither.
    """
    if not isinstance(problem, Quadratic | Holder | Generated):
        missing = [name for name in _METHODS if not hasattr(problem, name)]
        if missing:
            raise InvalidInputError("problem", f"must be a spec.Problem or offer Objectives; {missing[0]} is missing")
        return problem
    key = id(problem)
    known = _made.get(key)
    if known is not None and known[0]() is problem:
        return known[1]
    made: Objectives
    if isinstance(problem, Holder):
        made = HolderObjectives(problem)
    else:
        made = QuadraticObjectives(problem.quadratic if isinstance(problem, Generated) else problem)
    _made[key] = (weakref.ref(problem, lambda _: _made.pop(key, None)), made)
    return made


@contextmanager
def double_range(objectives: Objectives) -> Iterator[None]:
    """Turn overflow inside into a clear refusal; gradient functions of strangers may overflow at will.

    Raises:
        InvalidInputError: If a number leaves the range of doubles.
    """
    if not isinstance(objectives, QuadraticObjectives | HolderObjectives):
        yield
        return
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            yield
    except FloatingPointError as error:
        rule = f"leads out of the range of doubles here ({error}); rescale its blocks, x or alpha"
        raise InvalidInputError("problem", rule) from None
