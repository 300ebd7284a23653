"""Public programs as entrants, each an optional package: what a user would pick instead of ours.

Nothing of them is imported before one is asked for; what is not installed is told in a line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from typing import Any

import daqp
import numpy as np

from f2csa_ref.objectives import QuadraticObjectives
from spec.exact import Vector
from verify.experiments.answers.answering import Answer, Effort, OutsideDomainError, Work
from verify.experiments.answers.ours import IMPLICIT

LARGEST_QP, LARGEST_LAYER = 1000, 200
"""Sizes of y beyond which daqp, which is dense and sequential, and a cone program's derivative are not waited for."""
OSQP_TOLS, LAYER_TOLS = (1e-3, 1e-6, 1e-9), (1e-4, 1e-7, 1e-10)
"""Tolerances that the solvers are given, the first about their default."""
PADDED = 64
"""Active rows are padded to a multiple of this."""
ACTIVE = 1e-9
"""Multipliers above this part of the largest are of active rows."""


def missing(packages: tuple[str, ...]) -> str:
    """Which packages are not installed, in a line; empty where all are."""
    lacking = []
    for name in packages:
        try:
            installed(name)
        except PackageNotFoundError:
            lacking.append(name)
    return f"which needs {' '.join(lacking)} (pip install)" if lacking else ""


def versions(packages: tuple[str, ...]) -> str:
    """``jaxopt 0.8.5, jax 0.10.2``."""
    return ", ".join(f"{name} {installed(name)}" for name in packages)


@dataclass
class Public:
    """A public program: its name, packages, tolerances, largest size and what makes its answers of a problem."""

    name: str
    implementation: str
    packages: tuple[str, ...]
    tols: tuple[float, ...]
    largest: int
    maker: Callable[[QuadraticObjectives, float], Callable[[Vector], Any]]
    method: str = IMPLICIT

    @property
    def version(self) -> str:
        return versions(self.packages)

    def ladders(self, wanted: float, scale: float) -> tuple[tuple[Effort, ...], ...]:  # noqa: ARG002  # its own
        return tuple(({"tol": tol},) for tol in self.tols) or (({},),)

    def prepare(self, q: QuadraticObjectives, effort: Effort) -> _Function:
        if q.m > self.largest:
            raise OutsideDomainError(f"is not waited for beyond {self.largest} variables")
        return _Function(self.maker(q, effort.get("tol", 0.0)))


@dataclass
class _Function:
    """Answers by a function of x; what it raises is its refusal."""

    function: Callable[[Vector], Any]
    preparation: Work = field(default_factory=Work)

    def at(self, x: Vector, rng: np.random.Generator | None = None) -> Answer:  # noqa: ARG002  # it draws nothing
        """As :class:`verify.experiments.answers.answering.Answering`."""
        try:
            return Answer(np.asarray(self.function(x), dtype=np.float64), Work())
        except Exception as error:  # whatever a foreign program raises is its answer
            raise OutsideDomainError(f"{type(error).__name__}: {str(error).splitlines()[0]}") from None


def _jax() -> tuple[Any, Any]:
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    return jax, import_module("jax.numpy")


def daqp_and_lineax(q: QuadraticObjectives, _tol: float) -> Callable[[Vector], Any]:
    """The lower level by daqp, the whole KKT system by lineax's LU, compiled for some numbers of rows."""
    jax, jnp = _jax()
    lineax = import_module("lineax")
    G, B_rows = q.g_yy.copy(), -q.B
    blocks = {name: jnp.asarray(getattr(q, name)) for name in ("g_yy", "g_xy", "f_xx", "f_xy", "f_yy")}

    def differentiated(x: Any, y: Any, A: Any, B: Any, padding: Any) -> Any:
        k = B.shape[0]
        matrix = jnp.block([[blocks["g_yy"], -B.T], [-B, jnp.diag(padding)]])
        slope = blocks["f_xy"].T @ x + blocks["f_yy"] @ y + q.f_y
        right = jnp.concatenate([slope, jnp.zeros(k)])
        both = lineax.linear_solve(lineax.MatrixLinearOperator(matrix), right, lineax.LU()).value
        u, v = both[: q.m], both[q.m :]
        return blocks["f_xx"] @ x + blocks["f_xy"] @ y + q.f_x - blocks["g_xy"] @ u - A.T @ v

    compiled = jax.jit(differentiated)

    def at(x: Vector) -> Any:
        y, _, flag, info = daqp.solve(G.copy(), q.g_xy.T @ x + q.g_y, B_rows, -(q.A @ x - q.b))
        if flag != 1:
            raise RuntimeError(f"daqp ended with {flag}")
        lam = np.asarray(info["lam"])
        rows = np.flatnonzero(np.abs(lam) > ACTIVE * np.abs(lam).max(initial=0.0))
        # Rows of zeros beside, so that another number of active rows seldom means another compilation.
        k = PADDED * (1 + len(rows) // PADDED)
        A, B, padding = np.zeros((k, q.n)), np.zeros((k, q.m)), np.ones(k)
        A[: len(rows)], B[: len(rows)], padding[: len(rows)] = q.A[rows], q.B[rows], 0.0
        return compiled(x, y, A, B, padding)

    return at


def jaxopt_osqp(q: QuadraticObjectives, tol: float) -> Callable[[Vector], Any]:
    """Jaxopt's OSQP at a tolerance, differentiated as it differentiates itself; bounds are rows of B to it."""
    jax, jnp = _jax()
    solver = import_module("jaxopt").OSQP(tol=tol, maxiter=20_000, jit=True)
    G, rows, A = jnp.asarray(q.g_yy), jnp.asarray(-q.B), jnp.asarray(q.A)
    g_xy, f_xx, f_xy, f_yy = (jnp.asarray(block) for block in (q.g_xy, q.f_xx, q.f_xy, q.f_yy))

    def F(x: Any) -> Any:  # noqa: N802  # the paper's letter
        solution = solver.run(params_obj=(G, g_xy.T @ x + q.g_y), params_ineq=(rows, q.b - A @ x))
        y = solution.params.primal
        return 0.5 * (x @ f_xx @ x + y @ f_yy @ y) + x @ f_xy @ y + x @ q.f_x + y @ q.f_y

    gradient = jax.jit(jax.grad(F))
    return lambda x: gradient(jnp.asarray(x))


def cvxpylayers_cone(q: QuadraticObjectives, tol: float) -> Callable[[Vector], Any]:
    """Cvxpylayers on jax: the lower level as a cone program, whose derivative it takes by implicit differentiation."""
    jax, jnp = _jax()
    cp, layers = import_module("cvxpy"), import_module("cvxpylayers.jax")
    y, c, r = cp.Variable(q.m), cp.Parameter(q.m), cp.Parameter(q.p)
    root = np.linalg.cholesky(q.g_yy)
    program = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(root.T @ y) + c @ y), [q.B @ y >= r])
    layer = layers.CvxpyLayer(program, parameters=[c, r], variables=[y])
    arguments = {"eps": tol, "max_iters": 100_000}
    A, g_xy, f_xx, f_xy, f_yy = (jnp.asarray(block) for block in (q.A, q.g_xy, q.f_xx, q.f_xy, q.f_yy))

    def F(x: Any) -> Any:  # noqa: N802  # the paper's letter
        (at,) = layer(g_xy.T @ x + q.g_y, A @ x - q.b, solver_args=arguments)
        return 0.5 * (x @ f_xx @ x + at @ f_yy @ at) + x @ f_xy @ at + x @ q.f_x + at @ q.f_y

    gradient = jax.grad(F)
    return lambda x: gradient(jnp.asarray(x))


PUBLIC = (
    Public("daqp and lineax", "daqp, then lineax's LU of the whole system", ("daqp", "lineax", "jax"), (), LARGEST_QP,
           daqp_and_lineax),
    Public("jaxopt", "OSQP in jax, differentiated implicitly", ("jaxopt", "jax"), OSQP_TOLS, LARGEST_QP, jaxopt_osqp),
    Public("cvxpylayers", "a cone program and its derivative", ("cvxpylayers", "cvxpy", "diffcp", "jax"), LAYER_TOLS,
           LARGEST_LAYER, cvxpylayers_cone),
)  # fmt: skip
