"""Single stage calls with known answers: what each stage is asked, what must come out, and how exactly.

Tolerances are what an honest implementation meets, whatever its solvers: :data:`SOLVER` for the lower-level pair,
through the inverse of its optimality system; the asked gradient norm, or the reading's own stop, for the penalty
minimiser; and rounding alone where a formula is evaluated on given numbers. What a stage computes on the way is allowed
its stage's error, followed through the stages after it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from spec import Noise, OracleParameters, Quadratic
from spec.exact import Vector
from verify.conformance.places import LAM_WIDTH, Place, doubles, exact, quadratic_rows, ramp_exactly
from verify.subjects import Call, Capability
from verify.subjects.protocol import Stages
from verify.truth.formulas import ExactLagrangian
from verify.truth.geometry import EPS, Geometry

SOLVER = 1e-7
"""Residual that an iterative lower-level solver is allowed to leave; ten times the usual 1e-8."""
ROUNDING = 64.0
"""Factor on the rounding of one evaluation as it is written: other orders of summation, fused products."""
GRADIENT_NORM = 1e-6
"""What penalty minimisers are asked for where they are compared to many digits."""
Given = Literal["all", "y_star, lam, rho", "y_star, lam", "nothing", ""]
WHOLE: Given = "all"
FROM_RHO: Given = "y_star, lam, rho"
FROM_PAIR: Given = "y_star, lam"
FROM_SCRATCH: Given = "nothing"


@dataclass(frozen=True, eq=False)
class Probe:
    """One stage call.

    Args:
        id: Permanent name.
        stage: The stage called.
        expected: What must come out, all blocks one after another.
        tolerance: Largest accepted difference, entry by entry.
        problem: The problem; none for the activation.
        x: Upper variable, shape (n,).
        call: What the stage is given.
        tol: Gradient norm asked of the penalty minimiser.
        h: Row values, for the activation.
        h_width: Ramp width, for the activation.
        given: For the oracle call, which stages are given.
        scale: Sizes of what is added up, entry by entry: rounding is relative to them.
        published: Whether it is one of the test vectors.
    """

    id: str
    stage: Capability
    expected: Vector
    tolerance: Vector
    problem: Quadratic | None = None
    x: Vector = field(default_factory=lambda: np.zeros(0))
    call: Call = field(default_factory=lambda: Call(alpha=0.1))
    tol: float | None = None
    h: Vector = field(default_factory=lambda: np.zeros(0))
    h_width: float = 1.0
    given: Given = ""
    scale: Vector | None = None
    published: bool = False

    def ask(self, stages: Stages) -> Vector:
        """The subject's answer in the form of :attr:`expected`.

        Raises:
            SubjectFaultError: If the stage crashes or its answer is none.
            MissingCapabilityError: If it is not offered.
        """
        call = self.call
        if self.stage == "activation":
            lam: Any = call.lam
            return stages.activation(self.h, lam, self.h_width, call.parameters.lam_width)
        problem: Any = self.problem
        if self.stage == "lower_level":
            return np.concatenate(stages.lower_level(problem, self.x))
        if self.stage == "penalty_minimiser":
            return stages.penalty_minimiser(problem, self.x, call, self.tol)
        return stages.hypergradient(problem, self.x, call, np.random.default_rng(0))

    def excess(self, got: Vector) -> float:
        """Largest difference in tolerances; beyond 1 it is a divergence."""
        with np.errstate(invalid="ignore"):
            return float(np.max(np.abs(got - self.expected) / self.tolerance, initial=0.0))

    def excess_of(self, stages: Stages) -> float:
        """How far a subject is off."""
        return self.excess(self.ask(stages))

    @property
    def needs_draws(self) -> bool:
        """Whether it makes sense only for a subject that takes its normals from the call."""
        return self.call.draws is not None


def lower_level_probe(place: Place) -> Probe:
    """The pair at a point."""
    expected = np.concatenate([place.y_star, place.lam])
    size = 1.0 + float(np.abs(expected).max(initial=0.0))
    tolerance = np.full(len(expected), SOLVER * size * place.response())
    return Probe(f"lower-level/{place.name}", "lower_level", expected, tolerance, place.problem, place.x)


def activation_probe(name: str, h: Vector, lam: Vector, h_width: float, lam_width: float) -> Probe:
    """The weights of given rows."""
    expected = ramp_exactly(exact(h), exact(lam), h_width, lam_width)
    parameters = OracleParameters(lam_width=lam_width)
    call = Call(alpha=0.1, lam=lam, parameters=parameters)
    return Probe(f"activation/{name}", "activation", expected, np.full(len(h), 1e-9), call=call, h=h, h_width=h_width)


def penalty_probe(
    place: Place, alpha: float, rho: Vector, *, tol: float | None, name: str, lam: Vector | None = None
) -> Probe:
    """The minimiser on given stages."""
    used = place.lam if lam is None else lam
    given = (exact(place.y_star), exact(used), exact(rho))
    expected = doubles(ExactLagrangian(place.problem, exact(place.x), Fraction(alpha), *given).minimiser())
    geometry = place.geometry(alpha, rho, lam=used)
    inverse = np.linalg.inv(geometry.H)
    allowed = 2 * (alpha if tol is None else tol) * np.linalg.norm(inverse, axis=1)
    tolerance = allowed + ROUNDING * EPS * (np.abs(expected) + np.abs(inverse) @ _gradient_sizes(geometry, expected))
    call = Call(alpha=alpha, y_star=place.y_star, lam=used, rho=rho)
    return Probe(f"penalty/{place.name}/{name}/{alpha:g}", "penalty_minimiser", expected, tolerance, place.problem,
                 place.x, call, tol)  # fmt: skip


def _gradient_sizes(geometry: Geometry, y: Vector) -> Vector:
    """Sizes of what is added up in the gradient of L in y, shape (m,)."""
    a, w = geometry.a, geometry.weights
    rows = np.abs(a.A) @ np.abs(geometry.x) + np.abs(a.B) @ np.abs(y) + np.abs(a.b)
    upper = np.abs(a.f_xy.T) @ np.abs(geometry.x) + np.abs(a.f_yy) @ np.abs(y) + np.abs(a.f_y)
    lower = np.abs(a.g_xy.T) @ np.abs(geometry.x) + np.abs(a.g_yy) @ np.abs(y) + np.abs(a.g_y)
    lower = lower + np.abs(a.B.T) @ np.abs(geometry.lam)
    made: Vector = upper + w.alpha_1 * lower + w.alpha_2 * np.abs(a.B.T) @ (geometry.rho * rows)
    return made


def estimate_sizes(geometry: Geometry, y: Vector) -> Vector:
    """Sizes of what is added up in line 6, shape (n,)."""
    a, w, x = geometry.a, geometry.weights, np.abs(geometry.x)
    rows = np.abs(a.A) @ x + np.abs(a.B) @ np.abs(y) + np.abs(a.b)
    made = np.abs(a.f_xx) @ x + np.abs(a.f_xy) @ np.abs(y) + np.abs(a.f_x)
    made = made + w.alpha_1 * np.abs(a.g_xy) @ (np.abs(y) + np.abs(geometry.y_star))
    made = made + 2 * w.alpha_1 * (np.abs(a.g_xx) @ x + np.abs(a.g_x))
    total: Vector = made + w.alpha_2 * np.abs(a.A.T) @ (geometry.rho * rows)
    return total


def formula_probe(place: Place, alpha: float, rho: Vector, y: Vector, lam: Vector, y_star: Vector, name: str) -> Probe:
    """Line 6 alone: every stage is given, off its true value."""
    given = (exact(y_star), exact(lam), exact(rho))
    expected = doubles(ExactLagrangian(place.problem, exact(place.x), Fraction(alpha), *given).estimate(exact(y)))
    sizes = estimate_sizes(place.geometry(alpha, rho, y_star, lam), y)
    call = Call(alpha=alpha, y_star=y_star, lam=lam, rho=rho, y_penalty=y)
    tolerance = ROUNDING * EPS * (1.0 + sizes)
    return Probe(f"hypergradient/{place.name}/{name}/{alpha:g}", "hypergradient", expected, tolerance, place.problem,
                 place.x, call, given="all", scale=1.0 + sizes)  # fmt: skip


def chain_probe(place: Place, alpha: float, given: Given, name: str, y_star: Vector | None = None) -> Probe:
    """An oracle call that computes its later stages, or all, itself."""
    at = place.y_star if y_star is None else y_star
    a, x = place.problem.arrays, exact(place.x)
    rows = quadratic_rows(place.problem, x, exact(at)) if y_star is not None else exact(place.h)
    rho = ramp_exactly(rows, exact(place.lam), place.h_width(alpha), LAM_WIDTH)
    lagrangian = ExactLagrangian(place.problem, x, Fraction(alpha), exact(at), exact(place.lam), exact(rho))
    y = lagrangian.minimiser()
    expected = doubles(lagrangian.estimate(y))
    geometry = place.geometry(alpha, rho, at)
    through = np.linalg.solve(geometry.H, geometry.E.T).T
    tolerance = 1.5 * alpha * np.linalg.norm(through, axis=1)
    tolerance = tolerance + ROUNDING * EPS * (1.0 + estimate_sizes(geometry, doubles(y)))
    tolerance = tolerance + ROUNDING * EPS * np.abs(geometry.E) @ np.abs(doubles(y))
    rows_error = 0.0 if given == FROM_RHO else (1e-14 if given == FROM_PAIR else SOLVER * place.response())
    through_rho = rows_error / place.h_width(alpha) + rows_error / LAM_WIDTH
    moved = np.abs(a.A @ place.x - a.B @ doubles(y) - a.b) * through_rho
    w = geometry.weights
    tolerance = tolerance + w.alpha_2 * np.abs(a.A.T - through @ a.B.T) @ moved
    if given == FROM_SCRATCH:
        tolerance = tolerance + rows_error * w.alpha_1 * (
            np.linalg.norm(through @ a.B.T, axis=1) + np.linalg.norm(through @ a.g_yy - a.g_xy, axis=1)
        )
    call = Call(alpha=alpha)
    if given != FROM_SCRATCH:
        call = replace(call, y_star=at, lam=place.lam, rho=rho if given == FROM_RHO else None)
    return Probe(f"hypergradient/{place.name}/{name}/{alpha:g}", "hypergradient", expected, tolerance, place.problem,
                 place.x, call, given=given, scale=1.0 + estimate_sizes(geometry, doubles(y)))  # fmt: skip


def noisy_probe(place: Place, alpha: float, noise: Noise, N_g: int) -> Probe:
    """Line 6 with the normals handed over."""
    base = off_truth(place, alpha)
    n, rng = len(place.x), np.random.default_rng([N_g, n_of(place.name)])
    draws = {"f_x": rng.standard_normal((N_g, n)), "g_x": rng.standard_normal((N_g, n))}
    apart: Any = base.call.y_penalty
    w = apart - base.call.y_star
    at = float(np.sqrt(place.x @ place.x + apart @ apart)) if noise.model == "matrix" else 1.0
    made = noise.scale("f.x") * at * draws["f_x"].mean(axis=0)
    if noise.model == "matrix":
        made = made + alpha**-2 * noise.scale("g.x") * float(np.linalg.norm(w)) * draws["g_x"].mean(axis=0)
    problem = place.problem.model_copy(update={"noise": noise})
    call = replace(base.call, draws=draws, parameters=OracleParameters(N_g=N_g))
    scale = base.scale
    return replace(base, id=f"{base.id}/{noise.model}", problem=problem, call=call, expected=base.expected + made,
                   tolerance=base.tolerance * 4, scale=scale)  # fmt: skip


def n_of(name: str) -> int:
    """A number for a name, the same everywhere."""
    import zlib

    return zlib.crc32(name.encode())


def off_truth(place: Place, alpha: float) -> Probe:
    """Line 6 on stages that are all a little off, each in its own way: no two of them can be mistaken."""
    p, m = place.problem.p, place.problem.m
    rho = np.linspace(0.25, 1.0, p) if p else np.zeros(0)
    y_star = place.y_star + 1e-3 * np.linspace(1.0, 2.0, m)
    y = place.y_star - 2e-3 * np.linspace(1.0, 1.5, m)
    lam = place.lam + np.linspace(0.5, 1.0, p) if p else np.zeros(0)
    return formula_probe(place, alpha, rho, y, lam, y_star, "given")


NOISES = (
    Noise(model="additive", sigma_f="1/10", sigma_g="1/10"),  # type: ignore[arg-type]  # exact spellings are parsed
    Noise(model="matrix", sigma_f="1/10", sigma_g="1/10"),  # type: ignore[arg-type]  # as above
)
