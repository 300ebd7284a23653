r"""The cases of the primal-dual iteration without noise: a few steps from zero, step sizes given.

:math:`y_{t+1} = y_t - s_t\eta_y(\nabla_y g(x,y_t) \pm B^T\lambda_t)`,
:math:`\lambda_{t+1} = \max\{0, \lambda_t + s_t\eta_\lambda h(x,y_{t+1})\}`. A constant step has :math:`s_t = 1` and
answers with the last pair, rational; the averaged one has :math:`s_t = (1+t/10)^{-2/3}` and answers with the mean of
the pairs t + 1 > steps/2, enclosed in balls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product as pairs
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat

from spec import REPAIRED, Reading
from verify.conformance.places.places import JudgedPlace, place_of
from verify.conformance.places.sizes import Sizes, Sizing, sizes, times
from verify.conformance.vectors.model import Parameters, TestVector
from verify.conformance.vectors.writing import dense_blocks, expected, measured, numbers
from verify.truth.algebra.numbers import PRECISION, Real, ball
from verify.truth.algebra.rationals import column, fraction, rational

_PLACES = ("toy1", "experiment-1d", "scalar-rational", "two-of-three", "box-rational")
ETA = (Fraction(1, 16), Fraction(1, 8))
"""Step sizes in y and in the multipliers: different, so that they cannot be confused."""


@dataclass(frozen=True)
class Steps:
    """How the iteration goes, ``sign`` being that of ``B' lam``; the defaults are right, the rest are mistakes."""

    sign: int
    averaged: bool
    taken: int
    old_y: bool = False  # in the dual step
    unclipped: bool = False  # multipliers may become negative
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
        yield id_, partial(_vector, id_, place_of(name), reading, taken)


def _vector(id_: str, place: JudgedPlace, reading: Reading, taken: int) -> TestVector:
    right = Steps(1 if reading.primal_dual_sign == "plus" else -1, reading.inner_solver == "averaged", taken)
    values, limits = iterate(place, right), _tolerances(place, right)
    wrong = {
        "step-sign": replace(right, sign=-right.sign),
        "other-solver": replace(right, averaged=not right.averaged),
        "old-y": replace(right, old_y=True),
        "unclipped-multipliers": replace(right, unclipped=True),
        "dual-step-missing": replace(right, no_dual=True),
        "one-step-more": replace(right, taken=taken + 1),
    }
    separations = measured(((flag, partial(iterate, place, steps)) for flag, steps in wrong.items()), values, limits)
    return TestVector(
        id=id_,
        stage="lower_level_runs",
        strata=place.strata,
        flags=tuple(sorted((*(["irrational"] if right.averaged else []), *separations))),
        notes=f"{taken} step(s) from zero without noise; one run, one row.",
        problem=place.problem.to_dict(),
        blocks=dense_blocks(place.problem),
        x=numbers(place.x),
        reading=reading,
        parameters=Parameters(eta_y=float(ETA[0]), eta_lam=float(ETA[1]), lower_level_steps=taken),
        expected={name: expected(values[name], limits[name]) for name in values},
        separation=separations,
    )


def iterate(place: JudgedPlace, steps: Steps) -> dict[str, tuple[Real, ...]]:
    """The pair the iteration answers with: rationals, or balls where steps decrease."""
    r, x = place.setting().rows, column(place.x)
    G, B, slope, offset = (_array(part) for part in (r.g_yy, r.B, r.g_y + r.g_xy.transpose() * x, r.A * x - r.b))
    slope, offset, zero = slope[:, 0], offset[:, 0], fmpq(0)
    y, lam = np.full(len(G), zero), np.full(len(B), zero)
    tail = []
    with ctx.workprec(PRECISION):
        for t in range(steps.taken):
            # (1 + t/10)**(-2/3)
            shrink = ball(Fraction(10 + t, 10)) ** (arb(-2) / 3) if steps.averaged and t else fmpq(1)
            old, y = y, y - rational(ETA[0]) * shrink * (G @ y + slope + steps.sign * (B.T @ lam))
            if not steps.no_dual:
                lam = lam + rational(ETA[1]) * shrink * (offset - B @ (old if steps.old_y else y))
            if not steps.unclipped:
                lam = np.array([value if _positive(value) else zero for value in lam])
            if 2 * (t + 1) > steps.taken:
                tail.append((y, lam))
        pair = (sum(part) / fmpq(len(tail)) for part in zip(*tail, strict=True)) if steps.averaged else (y, lam)
        return {name: tuple(fraction(value) if isinstance(value, fmpq) else value for value in part)
                for name, part in zip(("y_star", "lam"), pair, strict=True)}  # fmt: skip


def _positive(value: fmpq | arb) -> bool:
    """The sign, proven."""
    if isinstance(value, arb) and value.contains(0):
        raise ArithmeticError(f"the sign of {value} is not proven")
    return bool(value > 0)


def _array(matrix: fmpq_mat) -> Any:
    """The entries, in an array that adds and multiplies them as they are."""
    return np.array(matrix.entries(), dtype=object).reshape(matrix.nrows(), matrix.ncols())


def _tolerances(place: JudgedPlace, steps: Steps) -> dict[str, Sizes]:
    """Rounding errors of every step carried along, signs dropped: they grow a little with each step."""
    sizing = Sizing(place.setting())
    eta_y, eta_lam, gamma, q = float(ETA[0]), float(ETA[1]), sizing.gamma, sizing.blocks
    y, lam = np.zeros(len(q.g_yy)), np.zeros(len(q.B))
    for t in range(1, steps.taken + 1):
        here = iterate(place, Steps(steps.sign, averaged=False, taken=t))
        here_y, here_lam = sizes(here["y_star"]), sizes(here["lam"])
        moved = times(q.g_yy, y) + times(q.B.T, lam) + gamma * sizing.stationarity(here_y, here_lam)
        y = y + eta_y * moved + gamma * here_y
        lam = lam + eta_lam * (times(q.B, y) + gamma * sizing.rows(here_y)) + gamma * here_lam
    return {"y_star": y, "lam": lam}
