"""Lower levels that hold rows whatever the sign of their multiplier, kept from a call before or not: told exactly."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from tests.verify.conformance.blame.one_stage import Solving, lower
from tests.verify.conformance.blame.test_remembered_values import renewed
from verify.conformance.blame.all_stages import explain_all
from verify.conformance.blame.lower_level.lower_blame import explain_lower
from verify.conformance.blame.memory.state import explain_state
from verify.conformance.comparison.stage_comparison import look
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls

Passes = Callable[[Any, Any], bool]


def held(a: Any, x: Any, rows: Any) -> tuple[Any, Any, Any] | None:
    """Minimiser with rows held, its multipliers and h; nothing where they depend on each other."""
    m, W, lam = len(a.g_y), a.B[list(rows)], np.zeros(len(a.b))
    if len(rows) > m or np.linalg.matrix_rank(W) < len(rows):
        return None
    system = np.block([[a.g_yy, -W.T], [W, np.zeros((len(rows), len(rows)))]])
    found = np.linalg.solve(system, np.r_[-(a.g_xy.T @ x + a.g_y), (a.A @ x - a.b)[list(rows)]])
    lam[list(rows)] = found[m:]
    return found[:m], lam, a.A @ x - a.b - a.B @ found[:m]


def feasible(lam: Any, h: Any) -> bool:
    return bool((h <= 1e-9).all())


def signed(lam: Any, h: Any) -> bool:
    return bool((lam >= -1e-9).all())


class Warm:
    """Rows kept by a key are held again where they pass."""

    name = "warm"

    def __init__(self, key: Any, passes: Passes, *, anew: bool = True) -> None:
        self.key, self.passes, self.anew, self.kept = key, passes, anew, dict[Any, Any]()

    def lower_level(self, problem: Any, x: Any) -> Any:
        a, key = problem.arrays, self.key(problem)
        rows = self.kept.get(key)
        pair = None if rows is None or max(rows, default=0) >= len(a.b) else held(a, x, rows)
        if pair is not None and self.passes(*pair[1:]):
            return pair[:2]
        y, lam = lower(a, x)
        if self.anew or rows is None:
            self.kept[key] = np.flatnonzero(lam > 1e-9).tolist()
        return y, lam


class WarmInCalls(Warm):
    """The same inside of oracle calls alone."""

    own, lower_level = Warm.lower_level, None  # type: ignore[assignment]  # no stage of its own

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        if call.lam is None and problem.kind != "holder":
            y_star, lam = self.own(problem, x)
            call = type(call)(**{**vars(call), "y_star": y_star, "lam": lam})
        return ReferenceSubject().hypergradient(problem, x, call, rng)


def text(problem: Any) -> str:
    return str(problem.to_dict())


def of_rows(problem: Any) -> Any:
    return tuple(block.tobytes() for block in (problem.arrays.A, problem.arrays.B, problem.arrays.b))


PLANTED: dict[str, tuple[Callable[[], Any], str]] = {
    "by problem": (lambda: Warm(text, feasible), "found for this problem are held again at another x where y then "
                                                 "violates no row: whether a λ is negative is not looked at"),
    "signs alone": (lambda: Warm(text, signed), "found for this problem are held again at another x where no λ is"),
    "the first": (lambda: Warm(text, feasible, anew=False), "the rows of the first call for this problem are held"),
    "by sizes": (lambda: Warm(lambda p: (p.n, p.m, p.p), feasible), "found for these n, m and p are held again"),
    "by rows": (lambda: Warm(of_rows, feasible), "found for these A, B and b are held again"),
    "of any": (lambda: Warm(lambda p: 0, feasible), "found for any problem are held again"),
    "in calls": (lambda: WarmInCalls(text, feasible), "found for this problem are held again"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_rows_that_are_held_again_are_told(name: str) -> None:
    make, words = PLANTED[name]
    (blame,) = explain_state(StageCalls(make()), renewed(make))
    assert blame.stage == ("hypergradient" if name == "in calls" else "lower_level")
    assert [words in one.sentence for one in blame.explanations] == [True], blame.explanations
    assert blame.held_out >= 50


def test_rows_that_are_looked_at_are_no_memory() -> None:
    def both(lam: Any, h: Any) -> bool:
        return feasible(lam, h) and signed(lam, h)

    def make() -> Any:
        return Warm(text, both)

    assert explain_state(StageCalls(make()), renewed(make)) == ()


def test_rows_kept_by_no_known_rule_are_told_by_their_signs() -> None:
    def make() -> Any:
        return Warm(lambda p: (text(p), p.arrays.g_y[0] > 0), lambda lam, h: feasible(lam, h) and lam.min() > -2.0)

    stages = StageCalls(make())
    (blame,) = explain_all(stages, look(stages, only=["lower_level"]), renew=renewed(make))
    (told,) = blame.explanations
    assert "in no way known here. Beside that, " in told.sentence
    assert "have a λ below 0" in told.sentence and "though y violates no row" in told.sentence


def first_of(passes: Passes, sizes: Any, least: float = -np.inf) -> Any:
    """The first set of rows that passes and has no λ below a number."""

    def pair(a: Any, x: Any) -> Any:
        for size in sizes(min(a.B.shape)):
            for rows in combinations(range(len(a.b)), size):
                found = held(a, x, rows)
                if found is not None and passes(*found[1:]) and found[1].min() >= least:
                    return found[:2]
        return lower(a, x)

    return pair


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (first_of(feasible, lambda k: range(k + 1)), "few rows before many, and the first whose y violates no row"),
        (first_of(signed, lambda k: range(k, -1, -1)), "many rows before few, and the first whose λ has no negative"),
    ],
    ids=["feasible", "signed"],
)
def test_sets_of_rows_of_which_half_is_looked_at_are_named(pair: Any, words: str) -> None:
    blame = explain_lower(StageCalls(Solving(pair)), look(StageCalls(Solving(pair)), only=["lower_level"]).answers)
    assert [words in one.sentence for one in blame.explanations] == [True], blame.explanations
    assert blame.held_out >= 6


def test_negative_multipliers_of_no_known_program_are_told_as_what_they_are() -> None:
    stages = StageCalls(Solving(first_of(feasible, lambda k: range(k + 1), -2.0)))
    blame = explain_lower(stages, look(stages, only=["lower_level"]).answers)
    assert not blame.explanations
    assert "have a λ below 0" in blame.described and "a row is held whatever the sign" in blame.described


def test_other_mistakes_are_not_told_as_negative_multipliers() -> None:
    stages = StageCalls(Solving(lambda a, x: (lower(a, x)[0] + 0.01 * np.sin(x.sum()), lower(a, x)[1])))
    blame = explain_lower(stages, look(stages, only=["lower_level"]).answers)
    assert not blame.explanations and "have a λ below 0" not in blame.described
