"""Solvers that end too soon and pairs that no program gives: what their answers leave is told, and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse.linalg import cg

from verify.conformance.blame.all_stages import explain_all
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.letter.diagnosis import diagnose
from verify.method.plain_subject import PlainMethod
from verify.subjects.protocol import StageCalls


class LooseConjugateGradients(PlainMethod):
    """A relative stop at 1e-5, which a handful of variables never meets."""

    def penalty_minimiser(self, problem: Any, x: Any, call: Any, tol: Any) -> Any:
        q, at = problem.arrays, call.y_star
        H = q.f_yy + call.alpha**-2 * q.g_yy + call.alpha**-4 * (q.B.T * call.rho) @ q.B
        right = super().penalty_minimiser(problem, x, call, tol)
        return at + cg(H, H @ (right - at), rtol=1e-5)[0]


class SinglePrecision(PlainMethod):
    def _blocks(self, problem: Any) -> Any:
        blocks = super()._blocks(problem)
        arrays = {name: value for name, value in blocks.items() if isinstance(value, np.ndarray)}
        return blocks | {name: value.astype(np.float32).astype(np.float64) for name, value in arrays.items()}


class Damped(PlainMethod):
    """A lower level left a thousandth of the way, each pair its own part of it."""

    def lower_level(self, problem: Any, x: Any) -> Any:
        y, lam = super().lower_level(problem, x)
        part = 1e-3 * (1 + np.sin(1e3 * np.sum(y)) / 2)
        return y * (1 - part) + part, lam * (1 - part**1.5)


class StopsRelatively(PlainMethod):
    """It leaves half of what it may leave of the gradient, times the length of the system's right side."""

    def penalty_minimiser(self, problem: Any, x: Any, call: Any, tol: Any) -> Any:
        q, y = problem.arrays, super().penalty_minimiser(problem, x, call, tol)
        H = q.f_yy + call.alpha**-2 * q.g_yy + call.alpha**-4 * (q.B.T * call.rho) @ q.B
        left = np.ones(len(y)) / np.sqrt(len(y)) * (call.alpha if tol is None else tol) * np.linalg.norm(H @ y) / 2
        return y + np.linalg.solve(H, left)


class KeepsARow(PlainMethod):
    """Now and then a row stays held though its multiplier is set to 0."""

    def lower_level(self, problem: Any, x: Any) -> Any:
        q = problem.arrays
        y, lam = super().lower_level(problem, x)
        h = q.A @ x - q.B @ y - q.b
        if len(lam) > 2 and h.min() < -1e-9 and np.sum(x) > 0:
            i = int(np.argmin(h))
            y = y + q.B[i] * h[i] / (q.B[i] @ q.B[i])
        return y, lam


def told_of(subject: Any, stage: Any) -> tuple[str, str]:
    """The finding's status, and what the letter says of the stage."""
    seen = look(StageCalls(subject), only=[stage])
    return seen.findings[0].status, "\n".join(d.sentence for d in diagnose(seen, explain_all(seen.stages, seen)))


def test_an_iteration_that_ends_too_soon_shows_where_there_are_many_variables() -> None:
    status, told = told_of(LooseConjugateGradients(), "penalty_minimiser")
    assert status == "diverges"
    assert told.startswith("no term says why. 1 of the 1 answers that are off leave at most ")
    assert told.endswith("where at most 1e-06 may be left: as a solve leaves it that ends too soon")


def test_a_stop_that_is_relative_to_the_right_side_is_told() -> None:
    status, told = told_of(StopsRelatively(), "penalty_minimiser")
    assert status == "diverges"
    assert "answers leave at most tol·‖∇_yL(x,0)‖ of the gradient" in told
    assert told.endswith("as a solve leaves it whose stop is relative to its right side")


def test_blocks_in_single_precision_are_named() -> None:
    _, told = told_of(SinglePrecision(), "penalty_minimiser")
    assert "the right one with the problem's blocks rounded to 24 bits" in told
    # Every answer counts once, and those asked for afterwards are of problems that show it.
    assert "(65 answers are as it says" in told
    assert "12 of them asked for after it was found" in told


@pytest.mark.parametrize(
    ("subject", "breaks", "ends"),
    [
        (Damped(), "g_yy y + g_xyᵀx + g_y − Bᵀλ = 0 by up to 0.00", "or of something small that is added"),
        (KeepsARow(), "g_yy y + g_xyᵀx + g_y − Bᵀλ = 0 by up to 0.", "λ ≥ 0 holds"),
    ],
)
def test_of_a_lower_level_that_no_program_gives_it_is_told_what_it_breaks(subject: Any, breaks: str, ends: str) -> None:
    status, told = told_of(subject, "lower_level")
    assert status == "diverges"
    assert told.startswith("no program known here gives its pairs. The ")
    assert breaks in told
    assert told.endswith(ends)


def test_a_right_subject_is_told_nothing() -> None:
    for stage in ("lower_level", "penalty_minimiser"):
        assert told_of(PlainMethod(), stage) == ("agrees", "")
