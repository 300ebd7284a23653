"""The rivals at their best take the same steps as their pages, at less work."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest

from verify.experiments.benchmark_problems import Course
from verify.experiments.budgeted_run import run
from verify.experiments.compared_methods import DSBLO, DSBLO_2, F2CSA, PARENT, PIGD, SSIGD, ZEROTH, Contender

COURSES = (Course("paper", 0.1, 12, 10.0, 3), Course("coupled", 0.1, 12, 10.0, 3))
ROUNDED, STOPPED = 1e-9, 0.05
"""Of the way gone: implicit gradients and values to rounding; penalty estimates as far as their minimisers' stop."""


def _walked(course: Course, entrant: Contender, steps: int = 15) -> np.ndarray:
    method, rng = entrant.method(course, Counter()), np.random.default_rng(1)
    state = method.start(course.x_0, rng)
    for _ in range(steps):
        method.step(state, rng)
    return np.asarray(state.x)


@pytest.mark.parametrize("course", COURSES, ids=lambda course: course.family)
@pytest.mark.parametrize(
    ("name", "apart"),
    [(SSIGD, ROUNDED), (DSBLO, ROUNDED), (DSBLO_2, ROUNDED), (ZEROTH, 1e-6), (PARENT, STOPPED), (PIGD, STOPPED),
     (F2CSA, STOPPED)],
)  # fmt: skip
def test_prepared_answers_lead_where_the_pages_lead(course: Course, name: str, apart: float) -> None:
    page, best = (_walked(course, Contender(name, 0.05, fast=fast)) for fast in (False, True))
    gone = float(np.linalg.norm(page - course.x_0))
    assert gone > 0.1
    assert float(np.linalg.norm(page - best)) <= apart * gone


def test_penalty_estimates_differ_by_their_minimisers_stop_alone() -> None:
    """Stopped at rounding, both take the same steps."""
    own = (("inner", 1e-9),)
    page, best = (_walked(COURSES[1], Contender(F2CSA, 0.05, own=own, fast=fast)) for fast in (False, True))
    np.testing.assert_allclose(page, best, atol=1e-6)


@pytest.mark.parametrize("name", [SSIGD, DSBLO_2, PARENT, PIGD, ZEROTH, F2CSA])
def test_a_budget_of_work_buys_more_calls_at_the_best_and_samples_cost(name: str) -> None:
    def calls(**how: object) -> float:
        entrant = asdict(Contender(name, 0.05, **how))  # type: ignore[arg-type]
        found = run(COURSES[0].plain, entrant, 0, (200.0, "products"), points=2, distances=0)["calls"]
        assert isinstance(found, list)
        return found[-1]

    assert calls(fast=True) > calls()
    if name in (SSIGD, DSBLO_2, F2CSA):
        assert calls(fast=True, own=(("samples", 16.0),)) < 0.6 * calls(fast=True)


def test_own_numbers_reach_the_method() -> None:
    blo = Contender(DSBLO, 0.05, own=(("perturbation", 0.01),), fast=True).method(COURSES[0], Counter())
    assert blo.spec.perturbation == 0.01  # type: ignore[attr-defined]
    assert Contender(F2CSA, 0.05, own=(("alpha", 0.3),)).used_alpha == 0.3
    assert Contender(SSIGD, 0.05, own=(("samples", 4.0),)).told == "constant, samples 4"
