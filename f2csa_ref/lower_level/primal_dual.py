"""The paper's primal-dual iteration for the lower level, under every reading of it, for one run or many."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np

from f2csa_ref.lower_level.scalar_steps import ScalarProgram, mean_pair
from f2csa_ref.lower_level.solution import Candidate, LowerLevelSolution, sizes
from f2csa_ref.objectives import Objectives, as_vector, double_range, objectives_of
from f2csa_ref.sampling import DEFAULTS, draw_width, noise_y_at, require_rng
from f2csa_ref.shared_sample import grad_y_g_at, one_row_a_run, price, share
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector
from spec.parameters import OracleParameters
from spec.problem import Problem
from spec.reading import REPAIRED, Reading

DIVERGED = 1e12
"""An iterate this many times larger than the start's data has left every neighbourhood of the solution."""
LARGEST = 1e100
"""Components stop growing here: what diverges stays a number, and a very large one."""
DECAY = 2.0 / 3.0
"""Power at which the step decreases: between 1/2 and 1, as averaging needs."""
_BLOCK, _TOGETHER = 256, 1 << 13
"""Most steps whose noise is drawn at once, and of many runs most numbers: they stay in the cache."""

Pair = tuple[Vector, Vector]


def primal_dual(
    objectives: Objectives,
    x: Vector,
    *,
    reading: Reading = REPAIRED,
    parameters: OracleParameters = DEFAULTS,
    rng: np.random.Generator | None = None,
    draws: Matrix | None = None,
) -> LowerLevelSolution:
    r"""Alternate noisy primal and projected dual steps for a fixed number of steps.

    :math:`y_{t+1} = y_t - \eta_y(\nabla_y \tilde g(x, y_t) \pm B^T\lambda_t)`,
    :math:`\lambda_{t+1} = \max\{0, \lambda_t + \eta_\lambda h(x, y_{t+1})\}`; minus is the gradient of the
    Lagrangian, plus the literal text. Solver ``constant-step`` returns the last pair. ``averaged`` lets both
    steps fall like (1 + t/10)^(-2/3) and returns the mean of the last half. ``shared-sample`` draws one batch,
    keeps it for all steps, and returns the last pair: deterministic given the batch.

    Of the reading, ``primal_dual_sign`` and ``inner_solver`` matter; of the parameters, ``lower_level_steps``,
    ``eta_y``, ``eta_lam`` and ``shared_samples``. Noise comes from ``rng``, or from ``draws``: standard normals, one
    row a step, shape (steps, m), or (steps, 1) for the jump model; not for ``shared-sample``.

    Returns:
        The pair, with status ``diverged`` where the iterates leave all bounds; never an exception for that.

    Raises:
        InvalidInputError: If noise is asked for without a source, or draws have the wrong shape.

    Source: Lemma "Inner-loop Oracle Complexity", proof, step C1. Differs from the paper: the sign and the
    solver are choices of the reading; step sizes, which it leaves open, default to 1 / (C_g + ||B||^2).
    """
    q, source = objectives, rng if draws is None else draws
    if q.noise.scale("g.y") > 0 and reading.inner_solver == "shared-sample":
        q = share(q, parameters.shared_samples, require_rng(rng))
    if q.noise.scale("g.y") > 0:
        shape = (parameters.lower_level_steps, draw_width(q.noise, q.m))
        if draws is None:
            require_rng(rng)
        elif draws.shape != shape:
            raise InvalidInputError("draws.g_y", f"must have shape {shape}", draws.shape)
    start = np.zeros(q.m), np.zeros(q.p)
    bound = DIVERGED * (1.0 + _size(q.grad_y_g(x, start[0]) / q.C_g, q.A @ x - q.b))
    y, lam, steps, inside = _last(iterates(q, x, reading, parameters, source, start), reading, parameters, bound)
    samples = steps * price(q)
    if not inside:
        nothing = np.zeros(q.p, dtype=bool)
        return LowerLevelSolution(
            y, lam, math.nan, nothing, nothing, math.inf, "primal-dual", "diverged", steps, samples
        )  # fmt: skip
    return Candidate(q, x, y, lam, sizes(q, x, y, lam)).solution("primal-dual", "budget", steps, samples)


def lower_level_runs(
    problem: Problem | Objectives,
    x: Vector,
    *,
    reading: Reading = REPAIRED,
    parameters: OracleParameters = DEFAULTS,
    rng: np.random.Generator | None = None,
    replications: int = 1,
) -> tuple[Matrix, Matrix]:
    """Run :func:`primal_dual` independently R = ``replications`` times, one row a run.

    Returns:
        Final pairs, shapes (R, m) and (R, p). A run that diverges is stopped at 1e100 a component.

    Raises:
        InvalidInputError: If an argument breaks its rule.

    Source: Lemma "Inner-loop Oracle Complexity", proof, step C1. Differs from the paper: as :func:`primal_dual`.
    """
    q = objectives_of(problem)
    x = as_vector(x, q.n, "x")
    if q.noise.scale("g.y") > 0:
        require_rng(rng)
    seen = seen_by_runs(q, replications, reading, parameters, rng)
    with double_range(q):
        return pairs_of_runs(seen, x, replications, reading, parameters, rng)


def seen_by_runs(
    objectives: Objectives,
    runs: int,
    reading: Reading,
    parameters: OracleParameters,
    rng: np.random.Generator | None,
) -> Objectives:
    """The objectives for one row a run: noise shared within each run where the reading says so, else fresh."""
    if runs < 1:
        raise InvalidInputError("replications", "must be >= 1", runs)
    if reading.inner_solver == "shared-sample" and objectives.noise.model != "none":
        return share(objectives, parameters.shared_samples, require_rng(rng), (runs,))
    return one_row_a_run(objectives)


def pairs_of_runs(
    objectives: Objectives,
    x: Vector,
    runs: int,
    reading: Reading,
    parameters: OracleParameters,
    rng: np.random.Generator | None,
) -> tuple[Matrix, Matrix]:
    """Final pairs of runs whose objectives are set up, shapes (R, m) and (R, p); what diverges goes on as a number."""
    program = ScalarProgram.of(objectives, x, plus=reading.primal_dual_sign == "plus") if runs == 1 else None
    if program is not None:
        return _scalar_pair(objectives, program, reading, parameters, rng)
    start = np.zeros((runs, objectives.m)), np.zeros((runs, objectives.p))
    y, lam, _, _ = _last(iterates(objectives, x, reading, parameters, rng, start), reading, parameters)
    return y, lam


def iterates(
    objectives: Objectives,
    x: Vector,
    reading: Reading,
    parameters: OracleParameters,
    source: np.random.Generator | Matrix | None,
    start: Pair,
) -> Iterator[Pair]:
    """The pairs (y_t, lam_t), t = 1, 2, ..., from a start of shapes (m,) and (p,), or (R, m) and (R, p) for R runs.

    Noise comes from a generator, or from supplied normals, one row a step.
    """
    q, steps = objectives, parameters.lower_level_steps
    plus = reading.primal_dual_sign == "plus"
    B_turned, signed_B, r = q.B.T, q.B if plus else -q.B, q.A @ x - q.b
    y, lam = start
    if y.ndim == 2 and len(y) > 1:
        # Many short rows: numbers that lie as they are used cost a third.
        B_turned, r = np.ascontiguousarray(B_turned), np.tile(r, (len(y), 1))
    noisy = q.noise.scale("g.y") > 0
    gradient, noise = grad_y_g_at(q, x, y.shape[:-1]), noise_y_at(q, "g.y", x)
    shape = (*y.shape[:-1], draw_width(q.noise, q.m))
    # Noise that does not hang on y is scaled as it is drawn, many steps at once.
    fixed = q.noise.scale("g.y") if q.noise.model == "additive" else None
    blocks: Iterable[Matrix] = _blocks(source, steps, shape, fixed) if noisy else ()
    normals = itertools.chain.from_iterable(blocks)
    for size_y, size_lam in _sizes(q, reading, parameters):
        # An array without axes is multiplied by in half a float's time.
        eta_y, eta_lam = np.array(size_y), np.array(size_lam)
        # In place, in memory of our own: of many rows, new memory takes a good part of the time.
        grad, pull = gradient(y), np.dot(lam, signed_B)
        if noisy:
            z = next(normals)
            sampled = z if fixed is not None else noise(y, z)
            sampled += grad
            pull += sampled
        else:
            pull += grad
        pull *= eta_y
        y = np.subtract(y, pull, pull)
        rows = np.dot(y, B_turned)
        np.subtract(r, rows, rows)
        rows *= eta_lam
        rows += lam
        lam = np.maximum(0.0, rows, out=rows)
        if plus:
            # Only the literal sign runs away.
            y, lam = np.minimum(np.maximum(y, -LARGEST), LARGEST), np.minimum(lam, LARGEST)
        yield y, lam


def _sizes(objectives: Objectives, reading: Reading, parameters: OracleParameters) -> Iterator[tuple[float, float]]:
    """The primal and the dual size of each step."""
    q = objectives
    eta_y = parameters.eta_y if parameters.eta_y is not None else 1.0 / (q.C_g + q.B_norm**2)
    eta_lam = parameters.eta_lam if parameters.eta_lam is not None else eta_y
    if reading.inner_solver != "averaged":
        return itertools.repeat((eta_y, eta_lam), parameters.lower_level_steps)
    return ((shrink * eta_y, shrink * eta_lam) for shrink in _shrinks(parameters.lower_level_steps))


@lru_cache(maxsize=8)
def _shrinks(steps: int) -> tuple[float, ...]:
    """By how much each step of the averaged iteration is shorter than the first."""
    return tuple((1.0 + t / 10.0) ** -DECAY for t in range(steps))


def _blocks(
    source: np.random.Generator | Matrix | None, steps: int, shape: tuple[int, ...], scale: float | None = None
) -> Iterator[Matrix]:
    """Normals of all steps, times a scale if given, drawn some steps ahead: the same numbers however many."""
    factor = None if scale is None else np.array(scale)
    if isinstance(source, np.ndarray):
        yield source if factor is None else factor * source
        return
    runs = math.prod(shape[:-1])
    at_once = _BLOCK if runs == 1 else min(_BLOCK, max(1, _TOGETHER // (runs * shape[-1])))
    for first in range(0, steps, at_once):
        block = require_rng(source).standard_normal((min(at_once, steps - first), *shape))
        yield block if factor is None else np.multiply(factor, block, block)


def _scalar_pair(
    q: Objectives,
    program: ScalarProgram,
    reading: Reading,
    parameters: OracleParameters,
    rng: np.random.Generator | None,
) -> tuple[Matrix, Matrix]:
    """What :func:`_last` returns of one run of one component, shapes (1, 1)."""
    steps, largest = parameters.lower_level_steps, LARGEST if reading.primal_dual_sign == "plus" else math.inf
    normals: Iterator[float] = itertools.repeat(0.0, steps)
    if program.scale > 0:
        normals = itertools.chain.from_iterable(block.ravel().tolist() for block in _blocks(rng, steps, (1, 1)))
    first = steps // 2 if reading.inner_solver == "averaged" else steps - 1
    y, lam = mean_pair(program, _sizes(q, reading, parameters), normals, first=first, largest=largest)
    return np.array([[y]]), np.array([[lam]])


def _last(
    pairs: Iterator[Pair], reading: Reading, parameters: OracleParameters, bound: float = math.inf
) -> tuple[Vector, Vector, int, bool]:
    """The pair the solver returns, the steps taken, and whether all stayed in the bound; the first outside ends."""
    averaged, steps = reading.inner_solver == "averaged", parameters.lower_level_steps
    sums: Pair | None = None
    for taken, (y, lam) in enumerate(pairs, 1):
        if bound < math.inf and not _size(y, lam) <= bound:
            return y, lam, taken, False
        if averaged and 2 * taken > steps:
            if sums is None:
                sums = 0.0 + y, 0.0 + lam
            else:
                np.add(sums[0], y, sums[0])
                np.add(sums[1], lam, sums[1])
    tail = steps - steps // 2
    return (y, lam, steps, True) if sums is None else (sums[0] / tail, sums[1] / tail, steps, True)


def _size(y: Vector, lam: Vector) -> float:
    return math.sqrt(float(y @ y) + float(lam @ lam))
