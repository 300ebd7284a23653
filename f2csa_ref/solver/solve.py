"""Algorithms 1 and 2 together, with a trace from which an interrupted run goes on bit for bit."""

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

from f2csa_ref.algorithm_1 import Call, checked_oracle
from f2csa_ref.algorithm_2 import OuterState, OuterTrace, OutputRule, advance, box_projection, finished
from f2csa_ref.objectives import Objectives, as_vector, objectives_of
from f2csa_ref.sampling import DEFAULTS
from f2csa_ref.solver.schedules import Constants, value_at
from f2csa_ref.solver.trace import SCHEMA, Block, TraceWriter, has_header, restore
from spec.errors import InvalidInputError, from_validation
from spec.exact import Vector
from spec.parameters import OracleParameters, OuterParameters
from spec.problem import Generated, Holder, Problem, dumps_problem
from spec.quadratic import Quadratic
from spec.reading import REPAIRED, Reading

PROBES = 3
"""Fixed random points at which a Python problem's gradients are taken to tell it from another."""
CHECKPOINT = 500
"""Calls between two recorded states inside a block; at most so many are repeated after an interruption."""
DIVERGED = 100.0
"""A block whose mean answer exceeds this multiple of the second moment's root ends the run."""


class DivergenceError(RuntimeError):
    """The answers outgrew the constants the schedule was derived from; the message says by how much."""


@dataclass(frozen=True)
class Setting:
    """Everything a run depends on.

    ``oracle`` goes to Algorithm 1, ``outer`` to Algorithm 2; ``constants`` are what the schedule was derived from;
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

    def header(self, problem: str) -> dict[str, Any]:
        """First line of a trace: which run it belongs to."""
        fields: dict[str, Any] = _FIELDS.dump_python(self)
        return {"kind": "header", "schema": SCHEMA, "problem": problem} | fields

    @classmethod
    def from_header(cls, header: dict[str, Any]) -> Setting:
        """The setting a header was written from; refused if it is not such a header."""
        try:
            setting: Setting = _FIELDS.validate_python({name: header[name] for name in cls.__dataclass_fields__})
        except (KeyError, ValidationError) as error:
            why = from_validation(error, "header") if isinstance(error, ValidationError) else error
            raise InvalidInputError("trace", f"must start with a header of {SCHEMA} ({why})") from None
        return setting


_FIELDS: Any = TypeAdapter(Setting)


@dataclass(frozen=True)
class SolveReport:
    """A finished run; ``counts`` are its calls by kind, and at call ``resumed_at`` this process took over."""

    setting: Setting
    trace: OuterTrace
    blocks: tuple[Block, ...]
    counts: dict[str, int]
    resumed_at: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know before trusting the output, one sentence each."""
        made = []
        constants = self.setting.constants
        if constants.estimated:
            made.append(f"estimated, not given: {', '.join(constants.estimated)}")
        largest = max(block.grad_norm for block in self.blocks)
        if largest > constants.lipschitz_F + constants.bias:
            made.append(
                f"a block's mean answer reached {largest:.3g}, above L_F + bias = "
                f"{constants.lipschitz_F + constants.bias:.3g}: give a larger L_F"
            )
        if self.setting.outer.epsilon >= constants.lipschitz_F + constants.bias:
            made.append("the bound on the expected distance exceeds L_F + bias: at this budget it says nothing")
        if self.setting.outer.K == 1:
            made.append("one block only: the run moves by at most the radius; give more calls or a larger gap")
        values = [block.F for block in self.blocks if block.F is not None]
        if values and values[0] - min(values) > 1.01 * constants.gap:
            made.append(f"F fell by more than the gap {constants.gap:.3g}: give a larger gap")
        return tuple(made)


def digest(problem: Problem | Objectives) -> str:
    """What identifies a problem in a trace: the hash of its canonical text, or of its values at fixed points."""
    if isinstance(problem, Quadratic | Holder | Generated):
        return "sha256:" + hashlib.sha256(dumps_problem(problem).encode()).hexdigest()
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
    on_block: Callable[[Block], None] | None = None,
) -> SolveReport:
    """Run Algorithm 2 on Algorithm 1's answers.

    Args:
        problem: Problem or objectives.
        setting: Start, schedule, reading, seed.
        trace: File to write as JSON lines: a header, then one line a block and one a recorded state.
        resume: Go on from the last state on record; the end is then the same, bit for bit, as without interruption.
        on_block: Called as each block ends.

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
    rng = np.random.default_rng([setting.seed, 1])
    state, counts = OuterState.start(x_0), Counter[str]()
    blocks: list[Block] = []
    header = setting.header(digest(problem))
    if trace is not None and resume and has_header(trace):
        state, blocks, counts = restore(trace, header, rng) or (state, blocks, counts)
        for block in blocks:
            _require_bounded(block, setting.constants)
    resumed_at, call = state.t, Call(setting.alpha, setting.reading, setting.oracle)

    def oracle(z: Vector) -> Vector:
        estimate = checked_oracle(q, z, call, rng)
        counts.update(estimate.counts)
        return estimate.hypergradient

    with TraceWriter(trace, header, append=resumed_at > 0) as writer:
        while state.t < setting.outer.T:
            advance(state, rng.random(1), oracle, parameters=setting.outer, projection=projection)
            if state.t % setting.outer.M == 0:
                x_bar = state.x_bar[-1]
                block = Block(len(state.x_bar) - 1, state.t, x_bar, state.grad_mean[-1], value_at(q, x_bar))
                blocks.append(block)
                writer.block(block)
                writer.state(state, rng, counts)
                _require_bounded(block, setting.constants)
                if on_block is not None:
                    on_block(block)
            elif state.t % setting.outer.M % CHECKPOINT == 0:
                writer.state(state, rng, counts)
    made = finished(state, output=setting.output, rng=rng)
    return SolveReport(setting, made, tuple(blocks), dict(counts), resumed_at)


def as_vector_or_inf(values: tuple[float, ...], n: int) -> Vector:
    """Ends of a box, n of them, infinite ones allowed."""
    if len(values) != n:
        raise InvalidInputError("project_onto", f"must have {n} ends each", len(values))
    return np.array(values, dtype=np.float64)


def _require_bounded(block: Block, constants: Constants) -> None:
    limit = DIVERGED * math.sqrt(constants.second_moment)
    if block.grad_norm > limit:
        raise DivergenceError(
            f"the mean answer of block {block.k} has length {block.grad_norm:.3g}, more than {DIVERGED:g} times "
            f"G = {math.sqrt(constants.second_moment):.3g}: F is unbounded below or steeper than L_F = "
            f"{constants.lipschitz_F:.3g}; give a larger L_F, a smaller radius, or keep x in a box"
        )
