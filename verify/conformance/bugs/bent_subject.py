"""The reference with a bug's lines in the place of the right ones, played by the one player of formulas.

Every wrong subject of the catalogue is a class of this module by its name, made when it is asked for:
``verify.conformance.bugs.bent_subject:KeepsDualTerm``.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from f2csa_ref.lower_level.exact import solve_program
from f2csa_ref.objectives import objectives_of
from spec import Generated, InvalidInputError, Problem, Quadratic
from spec.blocks.quadratic import QuadraticArrays
from spec.exact import Vector
from verify.conformance.bugs.bent_sampling import BentRuns, BentSampling
from verify.conformance.bugs.catalogue import CATALOGUE, find
from verify.conformance.bugs.model import Bug, Rules
from verify.method.lines import Formulas, Procedure, edited
from verify.method.plain_subject import PlainLoop, PlainMethod
from verify.subjects import Call, ReferenceSubject, Subject
from verify.truth.algebra.rationals import Blocks
from verify.truth.algebra.rings import DOUBLES
from verify.truth.formulas import Lagrangian
from verify.truth.geometry import quadratic_of, solve
from verify.truth.lower_level.lower_level import hypergradient as exact_hypergradient

K = TypeVar("K")
V = TypeVar("V")
RIGHT_PAIRS: dict[tuple[int, bytes], tuple[Problem, tuple[Vector, Vector]]] = {}
"""The reference's pairs by problem and point; each problem is kept, so that its id stays its own."""
RIGHT_MINIMISERS: dict[tuple[Any, ...], tuple[Problem, Vector]] = {}
"""Its penalty minimisers by all that they are asked for with, likewise."""
MOST_KEPT = 4096


def arrays_of(problem: Problem) -> QuadraticArrays | None:
    """Blocks of a quadratic problem as doubles; ``None`` for other kinds."""
    return problem.arrays if isinstance(problem, Quadratic | Generated) else None


class BentSubject(ReferenceSubject):
    """The reference but for lines that have become others, and for rules that are no line; right as it stands.

    Its oracle call runs through its own stages, so that one wrong stage shows in both. Lines are formulas of the
    problem's blocks; where it has none, all is right.
    """

    name = "bent-reference"
    rules = Rules()
    edits: Formulas = MappingProxyType({})

    def __init__(self) -> None:
        self.plain, self.right = PlainMethod(edited(self.edits)), PlainMethod()

    def __reduce__(self) -> Any:
        return type(self), ()

    def is_edited(self, problem: Any, *procedures: Procedure) -> bool:
        """Whether lines of these have become others, for a problem that has blocks."""
        return arrays_of(problem) is not None and any(name in self.edits for name in procedures)

    def lower_level(self, problem: Any, x: Any) -> Any:
        a = arrays_of(problem)
        if a is None or "lower_level" not in self.edits:
            return self._right_pair(problem, x)
        try:
            return self.plain.lower_level(problem, x)
        except InvalidInputError:
            return unconstrained(a, x)

    def _right_pair(self, problem: Any, x: Any) -> Any:
        """The reference's pair, which wrong subjects ask for at the same points, one after another."""
        key = id(problem), np.asarray(x, np.float64).tobytes()
        if key not in RIGHT_PAIRS:
            pair = super().lower_level(problem, x)
            _keep(RIGHT_PAIRS, key, (problem, pair))
        y_star, lam = RIGHT_PAIRS[key][1]
        return y_star.copy(), lam.copy()

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        if "activation" not in self.edits:
            return super().activation(h, lam, h_width, lam_width)
        return np.asarray(self.plain.activation(h, lam, h_width, lam_width), np.float64)

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        if self.rules.keeps_rows and arrays_of(problem) is not None:
            return constrained_minimiser(lagrangian(arrays_of(problem), x, call), x)
        if not self.is_edited(problem, "lagrangian", "minimised"):
            return self._right_minimiser(problem, x, call, tol)
        return self.plain.minimiser(problem, x, call, tol)

    def _right_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        """The reference's minimiser, which wrong subjects with right stages before it ask for again and again."""
        stages = (np.asarray(value, np.float64).tobytes() for value in (x, *given(call)[:3]))
        key = id(problem), call.alpha, call.reading, call.parameters, tol, *stages
        if key not in RIGHT_MINIMISERS:
            _keep(RIGHT_MINIMISERS, key, (problem, super().penalty_minimiser(problem, x, call, tol)))
        return RIGHT_MINIMISERS[key][1].copy()

    def completed(self, problem: Any, x: Any, call: Call) -> Call:
        """The call with every stage given: what it lacks is computed by this object's own stages."""
        call = replace(call, reading=call.reading.choose(**self.rules.reading))
        if self.rules.own_stages:
            call = replace(call, y_star=None, lam=None, rho=None, y_penalty=None)
        if call.y_star is None or call.lam is None:
            y_star, lam = self.lower_level(problem, x)
            call = replace(call, y_star=y_star if call.y_star is None else call.y_star,
                           lam=lam if call.lam is None else call.lam)  # fmt: skip
        if call.rho is None:
            q = objectives_of(problem)
            h_width = call.parameters.h_width(call.reading, call.alpha**3, q.B_norm)
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
        told, change = self._line_6(problem, x, self.completed(problem, x, call))
        right = super().hypergradient(problem, x, told, rng)
        a = arrays_of(problem) if self.rules.bits else None
        if a is not None:
            quiet = problem.model_copy(update={"noise": type(problem.noise)()})
            right = right + (in_single_precision(a, x, told) - super().hypergradient(quiet, x, told, None))
        return right + change

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        told, change = self._line_6(problem, x, self.completed(problem, x, call))
        return super().hypergradient_samples(problem, x, told, rng, replications) + change

    def _line_6(self, problem: Any, x: Any, call: Call) -> tuple[Call, Any]:
        """What line 6 is asked instead of a completed call, and what is then added to its answer: 0, or shape (n,).

        Where the weight of g is another, that of its noise is, too.
        """
        if not self.is_edited(problem, "line_6"):
            return call, 0.0
        wrong = self.plain.line_6(problem, x, call)
        told = replace(call, alpha=float(wrong["alpha_1"]) ** -0.5) if "alpha_1" in self.edits["line_6"] else call
        return told, wrong["estimate"] - self.right.line_6(problem, x, told)["estimate"]


def _keep(known: dict[K, V], key: K, value: V) -> None:
    if len(known) >= MOST_KEPT:
        known.clear()
    known[key] = value


def lagrangian(a: Any, x: Vector, call: Call, dtype: type = np.float64) -> Lagrangian[Any]:
    """The penalty Lagrangian of a quadratic problem's blocks, in the given precision."""
    blocks = {field.name: getattr(a, field.name).astype(dtype) for field in fields(Blocks)}
    values: Any = (np.asarray(value, dtype) for value in given(call)[:3])
    y_star, lam, rho = values
    return Lagrangian(DOUBLES, Blocks(**blocks), x.astype(dtype), dtype(call.alpha**-2), dtype(call.alpha**-4), y_star,
                      lam, np.diag(rho))  # fmt: skip


def in_single_precision(a: QuadraticArrays, x: Vector, call: Call) -> Vector:
    """The noise-free estimate of a completed call in 24 bits, shape (n,)."""
    y: Any = np.asarray(call.y_penalty, np.float32)
    around = lagrangian(a, x, call, np.float32)
    # Row values are formed at y, not as a change from y*: what such code does, and where its digits go.
    parts = around.terms(y) | {"penalty": replace(around, y_star=y).terms(y)["penalty"]}
    total = parts["f"] + parts["g_difference"] + parts["penalty"]
    return np.asarray(total + parts["dual"] if call.reading.dual_term == "frozen" else total, np.float64)


def given(call: Call) -> tuple[Vector, Vector, Vector, Vector]:
    """The stage values of a call; none is missing where they are used."""
    return call.y_star, call.lam, call.rho, call.y_penalty  # type: ignore[return-value]  # the line above


def unconstrained(a: QuadraticArrays, x: Vector) -> tuple[Vector, Vector]:
    """The lower level solved without its rows."""
    return -solve(a.g_yy, a.g_xy.T @ x + a.g_y), np.zeros(len(a.b))


def constrained_minimiser(penalty: Lagrangian[Any], x: Vector) -> Any:
    """Minimiser of the penalty Lagrangian over h(x, y) <= 0, shape (m,)."""
    y_star, right = penalty.y_star, penalty.h
    scale = float(np.linalg.norm(penalty.H, 2))
    size = float(np.linalg.norm(penalty.minimiser() - y_star)) + float(np.abs(right).max(initial=0.0))
    shift, _ = solve_program(penalty.H / scale, penalty.gradient_y(y_star) / scale, penalty.blocks.B, right,
                             size=size or 1.0, x=x)  # fmt: skip
    return y_star + shift


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
