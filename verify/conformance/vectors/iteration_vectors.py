r"""The cases of the primal-dual iteration without noise: a few steps from zero, step sizes given.

:math:`y_{t+1} = y_t - s_t\eta_y(\nabla_y g(x,y_t) \pm B^T\lambda_t)`,
:math:`\lambda_{t+1} = \max\{0, \lambda_t + s_t\eta_\lambda h(x,y_{t+1})\}`. A constant step has :math:`s_t = 1` and
answers with the last pair, rational; the averaged one has :math:`s_t = (1+t/10)^{-2/3}` and answers with the mean of
the pairs t + 1 > steps/2, enclosed in balls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product as pairs

import numpy as np
from flint import arb, ctx, fmpq_mat

from spec import REPAIRED, Reading
from verify.conformance.bugs import rules as deviations
from verify.conformance.places import Place, place_of
from verify.conformance.sizes import Sizes, Sizing, sizes, times
from verify.conformance.vectors.decimals import expected, numbers
from verify.conformance.vectors.model import Parameters, TestVector
from verify.conformance.vectors.writing import dense_blocks, measured
from verify.truth.algebra.numbers import PRECISION, Real, add, ball, double
from verify.truth.algebra.numbers import times as product
from verify.truth.algebra.rationals import column, fraction, fractions

_PLACES = ("toy1", "experiment-1d", "scalar-rational", "two-of-three", "box-rational")
ETA = (Fraction(1, 16), Fraction(1, 8))
"""Step sizes in y and in the multipliers: different, so that they cannot be confused."""
Pair = tuple[tuple[Real, ...], tuple[Real, ...]]


@dataclass(frozen=True)
class Steps:
    """How the iteration goes; the defaults are right, anything else is a mistake somebody makes.

    Args:
        sign: Of ``B' lam`` in the primal step.
        averaged: Whether steps decrease and the last half is averaged.
        old_y: The dual step uses the y before the primal step.
        unclipped: Multipliers may become negative.
        no_dual: Multipliers stay zero.
        taken: Number of steps.
    """

    sign: int
    averaged: bool
    taken: int
    old_y: bool = False
    unclipped: bool = False
    no_dual: bool = False


def iterations() -> Iterator[tuple[str, Callable[[], TestVector]]]:
    """Both signs and both solvers."""
    for name, (sign, solver), taken in pairs(
        _PLACES, pairs(("minus", "plus"), ("constant-step", "averaged")), (1, 2, 5)
    ):
        if solver == "averaged" and taken == 1:
            continue  # one step averages itself
        id_ = f"lower-level-runs/{name}/{sign}-{solver}-{taken}"
        reading = REPAIRED.choose(primal_dual_sign=sign, inner_solver=solver)
        yield id_, _case(id_, place_of(name), reading, taken)


def _case(id_: str, found: Place, reading: Reading, taken: int) -> Callable[[], TestVector]:
    def make() -> TestVector:
        sign = 1 if reading.primal_dual_sign == "plus" else -1
        right = Steps(sign=sign, averaged=reading.inner_solver == "averaged", taken=taken)
        y, lam = iterate(found, right)
        limits = _tolerances(found, right)
        values, tolerance = {"y_star": y, "lam": lam}, dict(zip(("y_star", "lam"), limits, strict=True))
        wrong = {
            "step-sign": Steps(sign=-sign, averaged=right.averaged, taken=taken),
            "other-solver": Steps(sign=sign, averaged=not right.averaged, taken=taken),
            "old-y": Steps(sign=sign, averaged=right.averaged, taken=taken, old_y=True),
            "unclipped-multipliers": Steps(sign=sign, averaged=right.averaged, taken=taken, unclipped=True),
            "dual-step-missing": Steps(sign=sign, averaged=right.averaged, taken=taken, no_dual=True),
            "one-step-more": Steps(sign=sign, averaged=right.averaged, taken=taken + 1),
        }
        separations = measured(((flag, _answer(found, steps)) for flag, steps in wrong.items()), values, tolerance)
        special = ["irrational"] if right.averaged else []
        return TestVector(
            id=id_,
            stage="lower_level_runs",
            strata=found.strata,
            flags=tuple(sorted((*special, *separations))),
            notes=f"{taken} step(s) from zero without noise; one run, one row.",
            problem=found.problem.to_dict(),
            blocks=dense_blocks(found.problem),
            x=numbers(found.x),
            reading=reading,
            parameters=Parameters(eta_y=double(ETA[0]), eta_lam=double(ETA[1]), lower_level_steps=taken),
            expected={name: expected(values[name], tolerance[name]) for name in values},
            separation=separations,
        )

    return make


def _answer(found: Place, steps: Steps) -> Callable[[], deviations.Answer]:
    return lambda: dict(zip(("y_star", "lam"), iterate(found, steps), strict=True))


def iterate(found: Place, steps: Steps) -> Pair:
    """The pair the iteration answers with."""
    r, x = found.setting().rows, column(found.x)
    G, B = _entries(r.g_yy), _entries(r.B)
    slope, offset = fractions(r.g_y + r.g_xy.transpose() * x), fractions(r.A * x - r.b)
    y: tuple[Real, ...] = (Fraction(0),) * len(G)
    lam: tuple[Real, ...] = (Fraction(0),) * len(B)
    kept: list[Pair] = []
    for t in range(steps.taken):
        shrink = _shrink(t) if steps.averaged else Fraction(1)
        old = y
        pull = tuple(_dot([B[i][j] for i in range(len(B))], lam) for j in range(len(G)))
        slopes = (add(add(_dot(G[j], y), slope[j]), product(Fraction(steps.sign), pull[j])) for j in range(len(G)))
        y = tuple(add(a, product(product(-ETA[0], shrink), b)) for a, b in zip(y, slopes, strict=True))
        used = old if steps.old_y else y
        rows = [add(offset[i], product(Fraction(-1), _dot(B[i], used))) for i in range(len(B))]
        moved = [add(a, product(product(ETA[1], shrink), b)) for a, b in zip(lam, rows, strict=True)]
        if steps.no_dual:
            moved = list(lam)
        lam = tuple(value if steps.unclipped or _positive(value) else Fraction(0) for value in moved)
        if 2 * (t + 1) > steps.taken:
            kept.append((y, lam))
    return (_mean([a for a, _ in kept]), _mean([b for _, b in kept])) if steps.averaged else (y, lam)


def _shrink(t: int) -> Real:
    """``(1 + t/10)**(-2/3)``."""
    if t == 0:
        return Fraction(1)
    with ctx.workprec(PRECISION):
        made: arb = ball(Fraction(10 + t, 10)) ** (arb(-2) / 3)
        return made


def _positive(value: Real) -> bool:
    """The sign, proven."""
    if isinstance(value, arb) and value.contains(0):
        raise ArithmeticError(f"the sign of {value} is not proven")
    return bool(value > 0)


def _mean(rows: list[tuple[Real, ...]]) -> tuple[Real, ...]:
    made = rows[0]
    for row in rows[1:]:
        made = tuple(add(a, b) for a, b in zip(made, row, strict=True))
    return tuple(product(Fraction(1, len(rows)), value) for value in made)


def _dot(a: list[Fraction], b: tuple[Real, ...]) -> Real:
    made: Real = Fraction(0)
    for left, right in zip(a, b, strict=True):
        made = add(made, product(left, right))
    return made


def _entries(matrix: fmpq_mat) -> list[list[Fraction]]:
    return [[fraction(value) for value in row] for row in matrix.tolist()]


def _tolerances(found: Place, steps: Steps) -> tuple[Sizes, Sizes]:
    """Rounding errors of every step carried along, signs dropped: they grow a little with each step."""
    sizing = Sizing(found.setting())
    eta_y, eta_lam, gamma, q = float(ETA[0]), float(ETA[1]), sizing.gamma, sizing.blocks
    y, lam = np.zeros(len(q.g_yy)), np.zeros(len(q.B))
    for t in range(1, steps.taken + 1):
        here_y, here_lam = (sizes(part) for part in iterate(found, Steps(steps.sign, averaged=False, taken=t)))
        moved = times(q.g_yy, y) + times(q.B.T, lam) + gamma * sizing.stationarity(here_y, here_lam)
        y = y + eta_y * moved + gamma * here_y
        lam = lam + eta_lam * (times(q.B, y) + gamma * sizing.rows(here_y)) + gamma * here_lam
    return y, lam
