"""The reference with every stage under a bug's rules: one subject plays all mistakes of the deterministic stages.

Every wrong subject of the catalogue is a class of this module by its name, made when it is asked for:
``verify.conformance.bugs.bent_subject:KeepsDualTerm``.
"""
# ruff: noqa: ARG005  # all ways to weigh rows are told the same

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np

from f2csa_ref import objectives_of
from f2csa_ref.lower_level.exact import solve_program
from spec import Generated, InvalidInputError, Problem, Quadratic
from spec.exact import Vector
from spec.quadratic import QuadraticArrays
from verify.conformance.bugs.bent_sampling import BentRuns, BentSampling
from verify.conformance.bugs.catalogue import CATALOGUE, find
from verify.conformance.bugs.model import Bug, Rules
from verify.conformance.bugs.rules import changed
from verify.method.plain_subject import PlainLoop
from verify.subjects import Call, ReferenceSubject, Subject
from verify.truth.algebra.rationals import Blocks
from verify.truth.algebra.rings import DOUBLES
from verify.truth.formulas import Lagrangian
from verify.truth.geometry import quadratic_of, solve
from verify.truth.lower_level import hypergradient as exact_hypergradient

RIGHT_PAIRS: dict[tuple[int, bytes], tuple[Problem, tuple[Vector, Vector]]] = {}
"""The reference's pairs by problem and point; each problem is kept, so that its id stays its own."""
MOST_PAIRS = 4096


def arrays_of(problem: Problem) -> QuadraticArrays | None:
    """Blocks of a quadratic problem as doubles; ``None`` for other kinds."""
    return problem.arrays if isinstance(problem, Quadratic | Generated) else None


class BentSubject(ReferenceSubject):
    """Its oracle call runs through its own stages, so that one wrong stage shows in both; right as it stands.

    Rules that change blocks of the problem are played where it has blocks, and are right elsewhere.
    """

    name = "bent-reference"
    rules = Rules()

    def __init__(self) -> None:
        self.previous: dict[tuple[int, ...], Any] = {}
        # The problem is kept beside what was made of it: the id of one that is gone may be given to another.
        self.kept: dict[int, tuple[Any, Any]] = {}

    def lower_level(self, problem: Any, x: Any) -> Any:
        y_star, lam = self._pair(problem, x)
        factor = float(self.rules.multipliers)
        return y_star, lam if factor == 1 else factor * lam

    def _pair(self, problem: Any, x: Any) -> Any:
        kind, a = self.rules.lower_level, arrays_of(problem)
        if kind == "first":
            return self._once(problem, lambda: super(BentSubject, self).lower_level(problem, x))
        if kind == "previous":
            pair = self._right_pair(problem, x)
            sizes = (len(x), *map(len, pair))
            answer, self.previous[sizes] = self.previous.get(sizes, pair), pair
            return answer
        if a is not None and kind == "unconstrained":
            return unconstrained(a, x)
        if a is not None and kind == "equations":
            return rows_as_equations(a, x)
        if a is not None and (self.rules.zeroed or self.rules.mirrored == "lower_level"):
            try:
                return super().lower_level(self._once(problem, lambda: changed(problem, self.rules)), x)
            except InvalidInputError:
                return unconstrained(a, x)
        return self._right_pair(problem, np.zeros_like(x) if kind == "at-zero" else x)

    def _right_pair(self, problem: Any, x: Any) -> Any:
        """The reference's pair, which wrong subjects ask for at the same points, one after another."""
        key = id(problem), np.asarray(x, np.float64).tobytes()
        if key not in RIGHT_PAIRS:
            pair = super().lower_level(problem, x)
            if len(RIGHT_PAIRS) >= MOST_PAIRS:
                RIGHT_PAIRS.clear()
            RIGHT_PAIRS[key] = problem, pair
        y_star, lam = RIGHT_PAIRS[key][1]
        return y_star.copy(), lam.copy()

    def _once(self, problem: Any, make: Callable[[], Any]) -> Any:
        if id(problem) not in self.kept:
            self.kept[id(problem)] = (problem, make())
        return self.kept[id(problem)][1]

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        kind = self.rules.ramp or self.rules.activation
        return RAMPS[kind](super().activation, h, lam, h_width, lam_width)

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        r, a = self.rules, arrays_of(problem)
        lam, rho, alpha = r.multiplier, r.pull, self.alpha(problem, call.alpha)
        if r.minimiser == "skipped":
            return np.array(call.y_star)
        if r.minimiser == "stops-short":
            y = super().penalty_minimiser(problem, x, call, 0.0)
            if a is None or tol is not None or not np.any(call.rho):
                return y
            row = a.B[int(np.argmax(np.asarray(call.rho)))]
            return y + call.alpha**3 * row / float(np.linalg.norm(row))
        other = alpha != call.alpha or r.upper != 1 or lam < 0 or r.mirrored == "penalty_minimiser" or r.minimiser
        if a is None or not other:
            # Its own solver, told less: with a smaller multiplier or weight the problem is of the same kind.
            told = replace(call, lam=scaled(lam, call.lam), rho=scaled(rho, call.rho))
            return super().penalty_minimiser(problem, x, call if lam < 0 else told, tol)
        penalty = lagrangian(a, x, call, r, alpha)
        return constrained_minimiser(penalty, x) if r.minimiser == "constrained" else penalty.minimiser()

    def alpha(self, problem: Any, alpha: float) -> float:
        """What both weights are made from; ramps and solvers keep the call's."""
        a, (power, _) = arrays_of(problem), self.rules.powers
        if self.rules.alpha_from_below and a is not None:
            return max(alpha, 2 * float(np.linalg.norm(a.f_yy, 2)) / float(np.linalg.eigvalsh(a.g_yy)[0]))
        return alpha if power == -2 else float(alpha ** (-power / 2))

    def completed(self, problem: Any, x: Any, call: Call) -> Call:
        """The call with every stage given: what it lacks is computed by this object's own stages."""
        if self.rules.own_stages:
            call = replace(call, y_star=None, lam=None, rho=None, y_penalty=None)
        if call.y_star is None or call.lam is None:
            y_star, lam = self.lower_level(problem, x)
            call = replace(call, y_star=y_star if call.y_star is None else call.y_star,
                           lam=lam if call.lam is None else call.lam)  # fmt: skip
        if call.rho is None:
            q, width = objectives_of(problem), self.rules.ramp_width
            reading = call.reading if width is None else call.reading.choose(ramp_width=width)
            h_width = call.parameters.h_width(reading, call.alpha**3, q.B_norm)
            y_star, lam = given(call)[:2]
            call = replace(call, rho=self.activation(q.h(x, y_star), lam, h_width, call.parameters.lam_width))
        if call.y_penalty is None:
            call = replace(call, y_penalty=self.penalty_minimiser(problem, x, call, None))
        return call

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        if self.rules.returns_truth and arrays_of(problem) is not None:
            return np.array([float(v) for v in exact_hypergradient(quadratic_of(problem), tuple(x.tolist()))])
        if call.parameters.lower_level == "primal-dual":
            return super().hypergradient(problem, x, call, rng)
        return self.estimate(problem, x, self.completed(problem, x, call), rng)

    def estimate(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        """Line 6 on a completed call."""
        told = replace(call, alpha=self.alpha(problem, call.alpha))
        right = super().hypergradient(problem, x, told, rng)
        a = arrays_of(problem) if self.rules.bits else None
        if a is not None:
            quiet = problem.model_copy(update={"noise": type(problem.noise)()})
            right = right + (in_single_precision(a, x, call) - super().hypergradient(quiet, x, call, None))
        return right + self.correction(problem, x, call)

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        full = self.completed(problem, x, call)
        told = replace(full, alpha=self.alpha(problem, call.alpha))
        right = super().hypergradient_samples(problem, x, told, rng, replications)
        return right + self.correction(problem, x, full)

    def correction(self, problem: Any, x: Any, call: Call) -> Any:
        """What the rules change about the noise-free estimate of a completed call, shape (n,)."""
        r = self.rules
        if not r.bends_estimate:
            return 0.0
        right = terms(problem, x, call)
        bent = terms(problem, x, replace(call, y_penalty=call.y_star)) if r.at_y_star else dict(right)
        if r.one_sided:
            y: Any = call.y_star if r.at_y_star else call.y_penalty
            bent["g_difference"] = call.alpha**-2 * objectives_of(problem).grad_x_g(x, y)
        frozen = call.reading.dual_term
        used = {"f": 1.0, "g_difference": 1.0, "dual": float(frozen == "frozen"), "penalty": 1.0}
        wanted = used | {"g_difference": float(r.g_difference), "penalty": float(r.penalty),
                         "dual": float((r.dual_term or frozen) == "frozen")}  # fmt: skip
        wanted |= dict.fromkeys(r.dropped, 0.0)
        return sum(wanted[name] * bent[name] - used[name] * right[name] for name in used)


def terms(problem: Problem, x: Vector, call: Call) -> dict[str, Vector]:
    """Parts of the noise-free estimate, dual part included, each (n,); every stage of the call is given."""
    q = objectives_of(problem)
    y_star, lam, rho, y = given(call)
    return {
        "f": q.grad_x_f(x, y),
        "g_difference": call.alpha**-2 * q.grad_x_g_change(x, y_star, y - y_star),
        "dual": call.alpha**-2 * (lam @ q.A),
        "penalty": call.alpha**-4 * ((rho * q.h(x, y)) @ q.A),
    }


def lagrangian(
    a: QuadraticArrays, x: Vector, call: Call, rules: Rules, alpha: float, dtype: type = np.float64
) -> Lagrangian[Any]:
    """The penalty Lagrangian that a bug sees, in the given precision."""
    blocks = {field.name: getattr(a, field.name).astype(dtype) for field in fields(Blocks)}
    if rules.mirrored == "penalty_minimiser":
        blocks["B"] = -blocks["B"]
    for name in ("f_xy", "f_yy", "f_y"):
        blocks[name] = scaled(rules.upper, blocks[name])
    stages: Any = (np.asarray(value, dtype) for value in given(call)[:3])
    y_star, lam, rho = stages
    return Lagrangian(DOUBLES, Blocks(**blocks), x.astype(dtype), dtype(alpha**-2), dtype(alpha**-4), y_star,
                      scaled(rules.multiplier, lam), np.diag(scaled(rules.pull, rho)))  # fmt: skip


def in_single_precision(a: QuadraticArrays, x: Vector, call: Call) -> Vector:
    """The noise-free estimate of a completed call in 24 bits, shape (n,)."""
    y: Any = np.asarray(call.y_penalty, np.float32)
    around = lagrangian(a, x, call, Rules(), call.alpha, np.float32)
    # Row values are formed at y, not as a change from y*: what such code does, and where its digits go.
    parts = around.terms(y) | {"penalty": replace(around, y_star=y).terms(y)["penalty"]}
    total = parts["f"] + parts["g_difference"] + parts["penalty"]
    return np.asarray(total + parts["dual"] if call.reading.dual_term == "frozen" else total, np.float64)


def given(call: Call) -> tuple[Vector, Vector, Vector, Vector]:
    """The stage values of a call; none is missing where they are used."""
    return call.y_star, call.lam, call.rho, call.y_penalty  # type: ignore[return-value]  # the line above


def scaled(factor: Any, values: Any) -> Any:
    """Values times a factor, untouched where it is 1."""
    return values if factor == 1 else float(factor) * np.asarray(values)


def unconstrained(a: QuadraticArrays, x: Vector) -> tuple[Vector, Vector]:
    """The lower level solved without its rows."""
    return -solve(a.g_yy, a.g_xy.T @ x + a.g_y), np.zeros(len(a.b))


def rows_as_equations(a: QuadraticArrays, x: Vector) -> tuple[Vector, Vector]:
    """The lower level with every row held, as well as they can be held together."""
    p, m = a.B.shape
    system = np.block([[a.g_yy, a.B.T], [a.B, np.zeros((p, p))]])
    solution = np.linalg.lstsq(system, np.concatenate([-(a.g_xy.T @ x + a.g_y), a.A @ x - a.b]))[0]
    return solution[:m], -solution[m:]


def constrained_minimiser(penalty: Lagrangian[Any], x: Vector) -> Any:
    """Minimiser of the penalty Lagrangian over h(x, y) <= 0, shape (m,)."""
    y_star, right = penalty.y_star, penalty.h
    scale = float(np.linalg.norm(penalty.H, 2))
    size = float(np.linalg.norm(penalty.minimiser() - y_star)) + float(np.abs(right).max(initial=0.0))
    shift, _ = solve_program(penalty.H / scale, penalty.gradient_y(y_star) / scale, penalty.blocks.B, right,
                             size=size or 1.0, x=x)  # fmt: skip
    return y_star + shift


RAMPS: dict[str, Callable[[Any, Any, Any, float, float], Any]] = {
    "ramp": lambda right, h, lam, a, b: right(h, lam, a, b),
    "always": lambda right, h, lam, a, b: np.ones_like(h),
    "hard": lambda right, h, lam, a, b: np.where((h > -a) & (lam > 0), 1.0, 0.0),
    "sure": lambda right, h, lam, a, b: np.where((h >= 0) & (lam >= b), 1.0, 0.0),
    "h-alone": lambda right, h, lam, a, b: right(h, np.full_like(lam, b), a, b),
    "lam-alone": lambda right, h, lam, a, b: right(np.zeros_like(h), lam, a, b),
    "smaller": lambda right, h, lam, a, b: np.minimum(
        right(h, np.full_like(lam, b), a, b), right(np.zeros_like(h), lam, a, b)
    ),
    "late": lambda right, h, lam, a, b: right(h - a, lam, a, b),
    "open": lambda right, h, lam, a, b: np.maximum(1.0 + h / a, 0.0) * np.maximum(lam / b, 0.0),
    "cubic": lambda right, h, lam, a, b: smooth_step(right(h, lam, a, b)),
    "shifted": lambda right, h, lam, a, b: np.roll(right(h, lam, a, b), 1),
    "swapped-widths": lambda right, h, lam, a, b: right(h, lam, b, a),
    "negated-rows": lambda right, h, lam, a, b: right(-h, lam, a, b),
}
"""Weights of rows from the right ramp, row values, multipliers and the two widths."""


def smooth_step(rho: Vector) -> Vector:
    """A cubic with the straight ramp's ends and middle."""
    return rho * rho * (3 - 2 * rho)


@cache
def subject_class(bug: Bug) -> type[ReferenceSubject]:
    """The wrong subject of a bug, of the catalogue or not."""
    bases: dict[str, type[ReferenceSubject]] = {"samples": BentSampling, "runs": BentRuns, "optimise": PlainLoop}
    own = {"__module__": __name__, "__doc__": bug.does, "name": bug.id, "rules": bug.rules,
           "edits": bug.formulas}  # fmt: skip
    return type(bug.class_name, (bases.get(bug.stage, BentSubject),), own)


def by_id(id: str) -> Subject:
    """The wrong subject of a bug, ready to be judged."""
    return subject_class(find(id))()


def __getattr__(name: str) -> Any:
    for bug in CATALOGUE:
        if bug.class_name == name:
            return subject_class(bug)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
