"""Lower levels that stop too soon, cut multipliers by their size, or choose rows once: named exactly, or not at all."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from tests.verify.conformance.blame.one_stage import Pair, Solving, lower
from tests.verify.conformance.blame.test_lower_blame import fresh
from verify.conformance.blame.lower_level.lower_blame import explain_lower
from verify.conformance.blame.lower_level.lower_places import ladder
from verify.conformance.comparison.stage_comparison import ask
from verify.conformance.probes.answers import StageAnswer
from verify.conformance.probes.probes import lower_level_probe, multipliers_of_all_sizes
from verify.subjects.protocol import StageCalls


def changed(rule: Any, *, remade: bool = False) -> Pair:
    """Multipliers by a rule, y from those that are returned or from the right ones."""

    def pair(a: Any, x: Any) -> Any:
        y, lam = lower(a, x)
        lam = np.asarray(rule(lam))
        return (np.linalg.solve(a.g_yy, a.B.T @ lam - a.g_xy.T @ x - a.g_y) if remade else y), lam

    return pair


def dual(a: Any, x: Any) -> tuple[Any, Any, Any]:
    """The dual's matrix and linear term, and what makes y of multipliers."""
    inverse = np.linalg.inv(a.g_yy)
    q = a.g_xy.T @ x + a.g_y
    return a.B @ inverse @ a.B.T, a.A @ x - a.b + a.B @ inverse @ q, lambda lam: inverse @ (a.B.T @ lam - q)


def sloped(until: Any, *, most: int = 100_000, box: float = np.inf) -> Pair:
    """Projected gradient ascent with the step of the largest curvature, until a rule says so."""

    def pair(a: Any, x: Any) -> Any:
        Q, r, back = dual(a, x)
        lam, step = np.zeros(len(r)), 1 / np.linalg.eigvalsh(Q)[-1]
        for _ in range(most):
            before, lam = lam, np.maximum(lam + step * (r - Q @ lam), 0)
            if until(before, lam, back(lam), a, x):
                break
        return np.clip(back(lam), -box, box), lam

    return pair


def never(*_: Any) -> bool:
    return False


def row_by_row(sweeps: int) -> Pair:
    def pair(a: Any, x: Any) -> Any:
        Q, r, back = dual(a, x)
        lam = np.zeros(len(r))
        for i in [*range(len(r))] * sweeps:
            rest = r[i] - Q[i] @ lam + Q[i, i] * lam[i]
            lam[i] = max(0.0, rest / Q[i, i])
        return back(lam), lam

    return pair


def nesterov(steps: int) -> Pair:
    def pair(a: Any, x: Any) -> Any:
        Q, r, back = dual(a, x)
        lam = v = np.zeros(len(r))
        t = 1.0
        for _ in range(steps):
            new = np.maximum(0, v - (Q @ v - r) / np.linalg.norm(Q, 2))
            s = 0.5 + np.sqrt(0.25 + t * t)
            v, lam, t = new + (t - 1) / s * (new - lam), new, s
        return back(lam), lam

    return pair


def split(steps: int, weight: float, *, bound: bool) -> Pair:
    """ADMM with the rows' values as a variable of their own."""

    def pair(a: Any, x: Any) -> Any:
        q, r, u = a.g_xy.T @ x + a.g_y, a.A @ x - a.b, np.zeros(len(a.b))
        s = np.maximum(r, 0) if bound else u
        y = 0 * q
        for _ in range(steps):
            y = np.linalg.solve(a.g_yy + weight * a.B.T @ a.B, weight * a.B.T @ (s - u) - q)
            s = np.maximum(a.B @ y + u, r)
            u = u + a.B @ y - s
        return y, np.maximum(-weight * u, 0)

    return pair


def at_once(rule: str) -> Pair:
    """Rows chosen once from the minimiser without any."""

    def pair(a: Any, x: Any) -> Any:
        Q, r, back = dual(a, x)

        def held(rows: Any) -> Any:
            lam = np.zeros(len(r))
            lam[rows] = np.linalg.solve(Q[np.ix_(rows, rows)], r[rows]) if len(rows) else 0.0
            return lam

        first = np.flatnonzero(r > 0)
        if np.linalg.matrix_rank(Q[np.ix_(first, first)]) < len(first):
            return lower(a, x)
        lam = held(first)
        if rule == "cut":
            lam = np.maximum(lam, 0)
        elif rule == "dropped":
            lam = held(np.flatnonzero(lam > 0))
        elif rule == "added":
            over = np.flatnonzero(a.A @ x - a.b - a.B @ back(lam) > 1e-9)
            rows = np.union1d(first, over).astype(int)
            if np.linalg.matrix_rank(Q[np.ix_(rows, rows)]) < len(rows):
                return lower(a, x)
            lam = held(rows)
        return back(lam), np.maximum(lam, 0) if rule == "returned cut" else lam

    return pair


def stabilised(a: Any, x: Any) -> Any:
    """Active rows by their KKT systems, with 1e-6·I left in the block of the multipliers."""
    q, r = a.g_xy.T @ x + a.g_y, a.A @ x - a.b
    for size in range(min(a.B.shape) + 1):
        for rows in map(list, combinations(range(len(r)), size)):
            W = a.B[rows]
            system = np.block([[a.g_yy, -W.T], [W, 1e-6 * np.eye(size)]])
            pair = np.linalg.solve(system, [*-q, *r[rows]])
            y, lam = pair[: len(q)], np.zeros(len(r))
            lam[rows] = pair[len(q) :]
            if (a.B @ y - r >= -2e-6 * (1 + np.abs(lam))).all() and (lam >= 0).all():
                return y, lam
    return lower(a, x)


def held(a: Any, x: Any, rows: Any) -> Any:
    """The pair of some rows held as equations."""
    m, W = len(a.g_y), a.B[rows]
    system = np.block([[a.g_yy, -W.T], [W, np.zeros((len(W), len(W)))]])
    pair = np.linalg.solve(system, np.r_[-(a.g_xy.T @ x + a.g_y), (a.A @ x - a.b)[rows]])
    lam = np.zeros(len(a.b))
    lam[rows] = pair[m:]
    return pair[:m], lam


def let_go(a: Any, x: Any) -> Any:
    _, lam = lower(a, x)
    y, own = held(a, x, np.flatnonzero((lam > 1e-9) & (lam > 0.1 * lam.max())))
    return y, np.maximum(own, 0)


def first_feasible(a: Any, x: Any) -> Any:
    """The last set of rows whose y violates none, whatever the signs, which are cut."""
    for size in range(min(a.B.shape), -1, -1):
        for rows in map(list, combinations(range(len(a.b)), size)):
            if np.linalg.matrix_rank(a.B[rows]) == size:
                y, lam = held(a, x, rows)
                if (loose(a, x, y) < 1e-9).all():
                    return y, np.maximum(lam, 0)
    return lower(a, x)


def in_another_order(a: Any, x: Any) -> Any:
    """Positive multipliers at rows that a sum of digits decides about."""
    y, lam = lower(a, x)
    rows = np.flatnonzero(lam > 1e-9)
    lam[rows] = np.roll(lam[rows], int(1e3 * np.abs(y).sum()) % 3)
    return y, lam


@pytest.mark.parametrize(
    ("pair", "words"),
    [(first_feasible, "which is returned as 0, though y violates no row: a row is held whatever the sign of its"),
     (in_another_order, "that are off y* is right, and λ has the right entries at other rows, exchanged among")],
)  # fmt: skip
def test_what_no_rule_foresees_is_told_by_what_all_answers_show(pair: Pair, words: str) -> None:
    stages = StageCalls(Solving(pair))
    blame = explain_lower(stages, judged(stages))
    assert not blame.explanations
    assert words in blame.described


def loose(a: Any, x: Any, y: Any) -> Any:
    return np.maximum(a.A @ x - a.B @ y - a.b, 0)


def digits(values: Any, count: int) -> Any:
    return np.array([float(f"{value:.{count - 1}e}") for value in values])


SLIPS: dict[str, tuple[Pair, str]] = {
    "small ones are none": (changed(lambda v: np.where(v < 0.05, 0, v)), "λ below 0.05 are returned as 0"),
    "small ones are none, y too": (changed(lambda v: v * (v > 0.3), remade=True), "λ below 0.3 are returned as 0; and"),
    "small beside the largest": (changed(lambda v: v * (v >= 0.02 * v.max())), "λ below 0.02 times the largest"),
    "a small threshold": (changed(lambda v: [0 if e <= 1e-3 else e for e in v]), "λ below 0.001 are returned as 0"),
    "large ones are none": (changed(lambda v: np.where(v > 1.5, 0, v)), "λ above 1.5 are returned as 0"),
    "rows of small ones let go": (let_go, "rows with λ below 0.1 times the largest are let go, and the"),
    "soft threshold": (changed(lambda v: np.maximum(v - 0.1, 0)), "max(λ − 0.1, 0) is returned"),
    "two decimals": (changed(lambda v: np.round(v, 2)), "λ is rounded to 2 decimals"),
    "one decimal, y too": (changed(lambda v: np.round(v, 1), remade=True), "λ is rounded to 1 decimals; and y is made"),
    "cut after two decimals": (changed(lambda v: np.floor(v * 100) / 100), "λ is cut off after 2 decimals"),
    "three digits": (changed(lambda v: digits(v, 3)), "λ is rounded to 3 digits"),
    "half precision": (changed(lambda v: v.astype(np.float16).astype(float)), "λ is returned in half precision"),
    "sum at most 1": (changed(lambda v: v / max(1.0, v.sum())), "λ divided by its sum, where that is more than 1"),
    "sum at most 2.5": (changed(lambda v: v * min(1.0, 2.5 / max(v.sum(), 1e-9))), "scaled down to sum 2.5"),
    "largest at most 1": (changed(lambda v: v / max(1.0, v.max())), "its largest entry, where that is more than 1"),
    "length at most ½": (changed(lambda v: v * min(1.0, 0.5 / max(np.linalg.norm(v), 1e-9))), "to length 0.5"),
    "cap, y too": (changed(lambda v: np.minimum(v, 0.75), remade=True), "λ is cut off at 0.75; and y is made from"),
    "tanh": (changed(np.tanh), "tanh λ is returned"),
    "sixty steps": (sloped(never, most=6), "6 projected gradient steps of size 1/‖Bg_yy⁻¹Bᵀ‖ on λ"),
    "six steps and a box": (sloped(never, most=6, box=1.0), "y is cut off at ±1"),
    "stops at a step of 1e-2": (
        sloped(lambda o, n, y, a, x: np.linalg.norm(n - o) < 1e-2), "end where ‖λ_k − λ_{k−1}‖ is 0.01 or less"),
    "stops at a relative step": (
        sloped(lambda o, n, y, a, x: np.linalg.norm(n - o) <= 3e-3 * max(1, np.linalg.norm(n))),
        "end where ‖λ_k − λ_{k−1}‖/max(1,‖λ_k‖) is 0.003 or less"),
    "stops when nearly feasible": (
        sloped(lambda o, n, y, a, x: loose(a, x, y).max() < 0.02), "end where max(h,0) in every row is 0.02 or less"),
    "stops at a change of 1e-3": (
        sloped(lambda o, n, y, a, x: np.abs(n - o).max() < 1e-3), "end where max|λ_k − λ_{k−1}| is 0.001 or less"),
    "stabilised": (stabilised, "the rows are a penalty ½·1e+06·‖max(h, 0)‖² in place of constraints"),
    "two sweeps": (row_by_row(2), "2 sweeps over the rows"),
    "four sweeps": (row_by_row(4), "4 sweeps over the rows"),
    "ten accelerated steps": (nesterov(10), "10 accelerated projected gradient steps of size 1/‖Bg_yy⁻¹Bᵀ‖"),
    "eight steps of ADMM": (split(8, 1.0, bound=False), "8 steps of ADMM of weight 1 with By = s, from s = 0, "),
    "thirty steps of ADMM": (split(30, 10.0, bound=True), "30 steps of ADMM of weight 10 with By = s, from s = max(Ax"),
    "violated rows once": (at_once(""), "held as an equation, without another look"),
    "violated rows once, returned cut": (at_once("returned cut"), "without another look; and negative λ are replaced"),
    "violated rows once, cut": (at_once("cut"), "negative multipliers are replaced by 0 and y is made from those"),

    "violated rows, some added": (at_once("added"), "and once more with those violated then"),
}  # fmt: skip


def judged(stages: StageCalls) -> list[StageAnswer]:
    """What comparing the stage shows besides what is asked later: multipliers of all sizes."""
    return ask(stages, [lower_level_probe(multipliers_of_all_sizes())]).answers


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_named_and_foreseen(name: str) -> None:
    pair, words = SLIPS[name]
    stages = StageCalls(Solving(pair))
    blame = explain_lower(stages, judged(stages))
    assert len(blame.explanations) == 1, [e.sentence for e in blame.explanations]
    explanation = blame.explanations[0]
    assert words in explanation.sentence
    assert blame.held_out >= 6 and blame.apart <= 1
    compared = 0
    for probe in (*fresh(), ladder("further", (4.0, 0.77, 0.123, 0.0301, 0.0017, 1.1e-4))):
        said = explanation.answer(probe)
        if said is not None:
            compared += 1
            got = probe.ask(stages)
            np.testing.assert_allclose(said, got, atol=1e-6 * (1 + np.abs(got).max()))
    assert compared >= 3


RIGHT: dict[str, Pair] = {
    "many sweeps": row_by_row(4000),
    "many steps": sloped(lambda o, n, y, a, x: np.abs(n - o).max() < 1e-13),
    "a threshold below rounding": changed(lambda v: np.where(v < 1e-9, 0, v)),
    "ten decimals": changed(lambda v: np.round(v, 10)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_exact_enough_gets_no_name(name: str) -> None:
    stages = StageCalls(Solving(RIGHT[name]))
    assert not explain_lower(stages, judged(stages)).explanations


def scattered(values: Any) -> Any:
    """Multipliers changed by their size in a way that no rule has."""
    return np.where(np.sin(7 * values) > 0.5, 0.9 * values, values)


def test_a_rule_that_nothing_has_gets_no_name() -> None:
    stages = StageCalls(Solving(changed(scattered)))
    assert not explain_lower(stages, judged(stages)).explanations
