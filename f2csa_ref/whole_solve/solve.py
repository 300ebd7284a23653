"""A run of Algorithms 1 and 2, or of a rival, with a trace from which an interrupted run goes on bit for bit."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from f2csa_ref.accuracy.wanted_error import Accuracy
from f2csa_ref.algorithm_1 import OracleCall, checked_oracle
from f2csa_ref.algorithm_2 import OuterTrace, OutputRule, box_projection, finished
from f2csa_ref.baselines.exact_parent import ParentParameters
from f2csa_ref.baselines.implicit_gradient import factorisations
from f2csa_ref.baselines.iterates import Surroundings
from f2csa_ref.baselines.methods import F2csaParameters, MethodSpec, rival_method, takes_samples
from f2csa_ref.baselines.zeroth_order import ZerothOrderParameters
from f2csa_ref.fast.in_runs import RememberingMomentum, counted, fast_oracle
from f2csa_ref.objectives import Objectives, as_vector, objectives_of
from f2csa_ref.sampling import DEFAULTS
from f2csa_ref.solver.run_loop import ClippedMomentum, Method, Recording, Watch, run_blocks
from f2csa_ref.solver.schedules import Constants, value_at
from f2csa_ref.solver.trace import SCHEMA, TraceBlock
from f2csa_ref.whole_solve.certified_steps import CertifiedSteps, StepErrors
from spec.blocks.quadratic import Quadratic
from spec.errors import InvalidInputError, from_validation
from spec.exact import Vector
from spec.parameters import OracleParameters, OuterParameters
from spec.problem import Generated, Holder, Problem
from spec.problem import digest as problem_digest
from spec.reading import REPAIRED, Reading

PROBES = 3
"""Fixed random points at which a Python problem's gradients are taken to tell it from another."""
DIVERGED = 100.0
"""A block whose mean answer exceeds this multiple of the second moment's root ends the run."""


class DivergenceError(RuntimeError):
    """The answers outgrew the constants the schedule was derived from; the message says by how much."""


STUCK = 1e-6
"""Of the radius: what never went farther from its start has not moved."""


@dataclass(frozen=True)
class Setting:
    """Everything a run depends on.

    ``oracle`` goes to Algorithm 1, ``outer`` to Algorithm 2; ``constants`` are what the schedule was derived from.
    Of a rival, ``method`` has its own parameters; of the others it uses the radius, M and K in ``outer``, and D and eta
    where it runs Algorithm 2's loop, ``alpha`` where it makes penalty estimates, N_g where it samples f.
    Where an ``accuracy`` is wanted, of Algorithm 1's page alone, every call chooses alpha, stop and N_g by it: the
    search begins at ``alpha``, and ``oracle.N_g`` is the least taken.
    ``seed >= 0`` is that of all randomness; ``project_onto`` is a box X, as (lower, upper) of n numbers each, whose
    projection keeps x in X, ``None`` for free steps.
    """

    x_0: tuple[float, ...]
    alpha: float
    outer: OuterParameters
    constants: Constants
    reading: Reading = REPAIRED
    oracle: OracleParameters = DEFAULTS
    seed: int = 0
    output: OutputRule = "uniform"
    project_onto: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    method: MethodSpec = F2csaParameters()  # noqa: RUF009  # frozen
    accuracy: Accuracy | None = None

    @property
    def shown_schedule(self) -> dict[str, Any]:
        """The parameters the run uses, by name."""
        shown = self.outer.model_dump() | {"T": self.outer.T}
        if self.method.name in ("ssigd", "dsblo", "pigd"):
            shown = {name: value for name, value in shown.items() if name not in ("D", "eta", "epsilon")}
        if isinstance(self.method, F2csaParameters):
            return shown
        return shown | self.method.model_dump(exclude={"name"})

    def header(self, problem: str) -> dict[str, Any]:
        """First line of a trace: which run it belongs to."""
        fields: dict[str, Any] = _FIELDS.dump_python(self)
        if self.method == F2csaParameters():
            del fields["method"]
        if self.accuracy is None:
            del fields["accuracy"]
        return {"kind": "header", "schema": SCHEMA, "problem": problem} | fields

    @classmethod
    def from_header(cls, header: dict[str, Any]) -> Setting:
        """The setting a header was written from; refused if it is not such a header."""
        try:
            setting: Setting = _FIELDS.validate_python(
                {
                    name: header[name]
                    for name in cls.__dataclass_fields__
                    if name not in ("method", "accuracy") or name in header
                }
            )
        except (KeyError, ValidationError) as error:
            why = from_validation(error, "header") if isinstance(error, ValidationError) else error
            raise InvalidInputError("trace", f"must start with a header of {SCHEMA} ({why})") from None
        return setting


_FIELDS: Any = TypeAdapter(Setting)


@dataclass(frozen=True)
class SolveReport:
    """A finished run; ``counts`` are its calls by kind, and at call ``resumed_at`` this process took over.

    ``ignored_noise`` says that the problem's gradients are noisy and the method took their means.
    """

    setting: Setting
    trace: OuterTrace
    blocks: tuple[TraceBlock, ...]
    counts: dict[str, int]
    resumed_at: int = 0
    ignored_noise: bool = False

    @property
    def errors(self) -> StepErrors | None:
        """What is certified of the errors of all calls, where that was wanted."""
        step_errors = [StepErrors.from_dict(block.error) for block in self.blocks if block.error is not None]
        return sum(step_errors, StepErrors()) if step_errors else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know before trusting the output, one sentence each."""
        notes = self._on_second_derivatives() + self._on_errors()
        constants = self.setting.constants
        if constants.estimated:
            notes.append(f"estimated, not given: {', '.join(constants.estimated)}")
        largest = max(block.grad_norm for block in self.blocks)
        if largest > constants.lipschitz_F + constants.bias:
            notes.append(
                f"a block's mean answer reached {largest:.3g}, above L_F + bias = "
                f"{constants.lipschitz_F + constants.bias:.3g}: give a larger L_F"
            )
        clipped = isinstance(self.setting.method, F2csaParameters | ParentParameters | ZerothOrderParameters)
        if clipped and self.setting.outer.epsilon >= constants.lipschitz_F + constants.bias:
            notes.append("the bound on the expected distance exceeds L_F + bias: at this budget it says nothing")
        if clipped and self.setting.outer.K == 1:
            notes.append("one block only: the run moves by at most the radius; give more calls or a larger gap")
        far = max(float(np.abs(block.x_bar - np.array(self.setting.x_0)).max()) for block in self.blocks)
        if far <= STUCK * self.setting.outer.goldstein_radius:
            notes.append(f"x stayed within {far:.2g} of its start: the run says no more than a call there")
        values = [block.F for block in self.blocks if block.F is not None]
        if values and values[0] - min(values) > 1.01 * constants.gap:
            notes.append(f"F fell by more than the gap {constants.gap:.3g}: give a larger gap")
        return tuple(notes)

    def _on_errors(self) -> list[str]:
        """What certificates rest on besides the problem; where steps did not keep to the error: how many, and why."""
        errors, accuracy = self.errors, self.setting.accuracy
        if errors is None or accuracy is None:
            return []
        rests = [f"the bounds of the errors rest on constants {what}: {', '.join(names)}"
                 for what, names in (("estimated", errors.estimated), ("stated", errors.stated)) if names]  # fmt: skip
        if errors.all_met:
            return rests
        why_not = "; ".join(f"{count} times {reason}" for reason, count in errors.why_not.items())
        missed = errors.steps - errors.met
        return [
            *rests,
            f"{missed} of {errors.steps} steps are not certified to an error of {accuracy.error:g}, "
            f"{errors.without} of them have no bound: {why_not}",
        ]

    def _on_second_derivatives(self) -> list[str]:
        """For rivals and the fast oracle: what their own steps used, and what the lower level's solver did."""
        method = self.setting.method
        if isinstance(method, F2csaParameters):
            first_order = self.setting.oracle.lower_level == "first-order"
            answer = "yes" if first_order else "no, the lower level factorises the Hessian of g"
            return [f"fully first-order: {answer}"] if method.fast else []
        used = "yes" if "cross_products" in self.counts else "no"
        number = sum(factorisations(self.counts).values())
        solves, programs = self.counts.get("lower_level_solves", 0), self.counts.get("quadratic_programs", 0)
        exact = ["took exact gradients where the problem's are noisy"] if self.ignored_noise else []
        return [
            *exact,
            f"used second derivatives: {used}, factorisations: {number}",
            f"the lower level was solved {solves} times, by {programs} quadratic programs that factorise, too",
        ]


def digest(problem: Problem | Objectives) -> str:
    """What identifies a problem in a trace: the hash of its canonical text, or of its values at fixed points."""
    if isinstance(problem, Quadratic | Holder | Generated):
        return problem_digest(problem)
    q = objectives_of(problem)
    rng = np.random.default_rng(0)
    parts: list[object] = [q.n, q.m, q.p, q.A.tolist(), q.B.tolist(), q.b.tolist(), q.mu_g, q.C_g, q.C_f, repr(q.noise)]
    for _ in range(PROBES):
        x, y = rng.standard_normal(q.n), rng.standard_normal(q.m)
        parts += [grad(x, y).tolist() for grad in (q.grad_x_f, q.grad_y_f, q.grad_x_g, q.grad_y_g)]
    return "python-sha256:" + hashlib.sha256(repr(parts).encode()).hexdigest()


def solve(
    problem: Problem | Objectives,
    setting: Setting,
    *,
    trace: Path | None = None,
    resume: bool = False,
    on_block: Callable[[TraceBlock], None] | None = None,
    on_start: Callable[[int], None] | None = None,
) -> SolveReport:
    """Run Algorithm 2 on Algorithm 1's answers, or the rival that ``setting.method`` names.

    Args:
        problem: Problem or objectives.
        setting: Start, schedule, reading, seed.
        trace: File to write as JSON lines: a header, then one line a block and one a recorded state.
        resume: Go on from the last state on record; the end is then the same, bit for bit, as without interruption.
        on_block: Called as each block ends.
        on_start: Called before the first step with the number of calls on record.

    Raises:
        InvalidInputError: If the trace belongs to another run, or an argument breaks its rule.
        DivergenceError: If the answers outgrow the constants.

    Source: Algorithms 1 and 2. Differs from the paper: as ``hypergradient`` and ``outer_loop`` do; the points on the
    segments and the noise come from one generator.
    """
    q = objectives_of(problem)
    x_0 = as_vector(setting.x_0, q.n, "x_0")
    projection = None
    if setting.project_onto is not None:
        lower, upper = (as_vector_or_inf(ends, q.n) for ends in setting.project_onto)
        projection = box_projection(lower, upper)
        x_0 = projection(x_0)
    rng, counts = np.random.default_rng([setting.seed, 1]), Counter[str]()
    around = Surroundings(q, setting.outer, setting.alpha, setting.oracle.N_g, projection, counts)
    error: Callable[[], dict[str, Any]] | None = None
    value: Callable[[Vector], float | None] = lambda x: value_at(q, x)  # noqa: E731  # or the fast oracle's
    method: Method[Any]
    if setting.accuracy is not None:
        if setting.method != F2csaParameters():
            raise InvalidInputError("accuracy", "is for f2csa with the plain oracle", setting.method.name)
        call = OracleCall(setting.alpha, setting.reading, setting.oracle)
        steps = CertifiedSteps(q, setting.accuracy, call, counts)
        method, error = RememberingMomentum(steps.answer, setting.outer, projection, oracle=steps), steps.finished_block
    elif not isinstance(setting.method, F2csaParameters):
        method = rival_method(setting.method, around)
    elif setting.method.fast:
        oracle = fast_oracle(q, OracleCall(setting.alpha, setting.reading, setting.oracle))
        answers = counted(oracle, counts)
        method, value = RememberingMomentum(answers, setting.outer, projection, oracle=oracle), oracle.value
    else:
        method = _algorithm_2(setting, around)
    state, blocks, resumed_at = run_blocks(
        method, x_0, setting.outer, rng, counts,
        (Recording(trace, setting.header(digest(problem)), resume),
         Watch(value, lambda block: _require_bounded(block, setting), on_block, on_start, error)),
    )  # fmt: skip
    outcome = finished(state, output=setting.output, rng=rng)
    ignored = q.noise.model != "none" and not takes_samples(setting.method)
    return SolveReport(setting, outcome, tuple(blocks), dict(counts), resumed_at, ignored)


def _algorithm_2(setting: Setting, around: Surroundings) -> Method[Any]:
    """Algorithm 2 on Algorithm 1's answers."""
    call = OracleCall(setting.alpha, setting.reading, setting.oracle)

    def answer(z: Vector, rng: np.random.Generator) -> Vector:
        estimate = checked_oracle(around.objectives, z, call, rng)
        around.counts.update(estimate.counts, lower_level_solves=1)
        return estimate.hypergradient

    return ClippedMomentum(answer, setting.outer, around.projection)


def as_vector_or_inf(values: tuple[float, ...], n: int) -> Vector:
    """Ends of a box, n of them, infinite ones allowed."""
    if len(values) != n:
        raise InvalidInputError("project_onto", f"must have {n} ends each", len(values))
    return np.array(values, dtype=np.float64)


def _require_bounded(block: TraceBlock, setting: Setting) -> None:
    constants = setting.constants
    limit = DIVERGED * math.sqrt(constants.second_moment)
    if block.grad_norm > limit:
        raise DivergenceError(
            f"the mean answer of block {block.k} has length {block.grad_norm:.3g}, more than {DIVERGED:g} times "
            f"G = {math.sqrt(constants.second_moment):.3g}: F is unbounded below or steeper than L_F = "
            f"{constants.lipschitz_F:.3g}; give a larger L_F, a smaller radius or step size, or keep x in a box"
        )
