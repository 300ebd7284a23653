"""A subject's accuracy is declared or measured, never so coarse that what is wrong becomes right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spec import InvalidInputError
from tests.verify.conformance.blame.one_stage import coarse, lower, solving
from verify.conformance.blame.accuracy.accuracy import (
    EXACT,
    GRANTED,
    LARGEST_PART,
    DeclaredAccuracy,
    accuracy_of,
    to_declare,
    widened,
)
from verify.conformance.blame.lower_level.lower_places import drawn_problems
from verify.conformance.bugs.null_subjects import null_subjects
from verify.conformance.comparison.stage_comparison import ask, look
from verify.conformance.probes.answers import StageAnswer
from verify.conformance.probes.probes import FROM_SCRATCH, WHOLE, Probe, probes
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls


def answers(pair: Any) -> list[StageAnswer]:
    return ask(solving(pair), drawn_problems()[:12]).answers


@pytest.mark.parametrize("value", [True, "1e-6", -1e-9, 2e-3, 1e3, float("nan"), float("inf")])
def test_what_is_no_small_number_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"accuracy.* must be a number from 0 to 0"):
        accuracy_of(solving(lower, value), [])


def test_a_declared_accuracy_is_taken_and_told() -> None:
    found = accuracy_of(solving(lower, 1e-6), [])
    assert found.declared and found.value == 1e-6 and "1e-06" in found.sentence


def test_a_coarse_solver_is_measured_and_an_exact_one_is_exact() -> None:
    found = accuracy_of(solving(lower), answers(coarse(lower, 1e-5)))
    assert not found.declared and 1e-6 < found.value <= GRANTED and "optimality" in found.sentence
    assert accuracy_of(solving(lower), answers(lower)) == EXACT
    seen = look(StageCalls(ReferenceSubject()), only=("lower_level",))
    assert accuracy_of(seen.stages, seen) == EXACT


def test_a_term_is_no_accuracy() -> None:
    def regularised(a: Any, x: Any) -> Any:
        return lower(a, x, G=a.g_yy + 1e-5 * np.eye(len(a.g_y)))

    def displaced(a: Any, x: Any) -> Any:
        return lower(a, x, r=a.A @ x - a.b + 1e-5)

    for pair in (regularised, displaced, coarse(lower, 1e-2)):
        assert accuracy_of(solving(pair), answers(pair)) == EXACT


def _some(given: str, count: int = 6) -> list[Probe]:
    return [probe for probe in probes() if probe.given == given and probe.stage == "hypergradient"][:count]


def test_only_what_is_solved_is_allowed_more_and_never_more_than_a_hundredth() -> None:
    accuracy = DeclaredAccuracy(1e-6, True)
    for probe in (*_some(WHOLE), *(p for p in probes() if p.stage == "activation")):
        assert widened(probe, accuracy) is probe
    for probe in (*_some(FROM_SCRATCH), *[p for p in probes() if p.stage in ("lower_level", "penalty_minimiser")][::9]):
        assert widened(probe, EXACT) is probe
        wider = widened(probe, accuracy)
        assert (wider.tolerance >= probe.tolerance).all() and wider.expected is probe.expected
        assert (wider.tolerance <= probe.tolerance + LARGEST_PART * np.abs(probe.expected).max()).all()
    assert any((widened(p, accuracy).tolerance > 1.1 * p.tolerance).any() for p in _some(FROM_SCRATCH))


def test_small_alpha_amplifies_an_accuracy_up_to_its_limit() -> None:
    first, second = (next(p for p in _some(FROM_SCRATCH, 99) if p.call.alpha == alpha) for alpha in (0.05, 0.02))

    def granted(probe: Probe, accuracy: float) -> float:
        return float((widened(probe, DeclaredAccuracy(accuracy, True)).tolerance - probe.tolerance).max())

    assert granted(second, 1e-12) / granted(first, 1e-12) == pytest.approx((0.05 / 0.02) ** 4, rel=1e-6)
    for probe in (first, second):
        assert granted(probe, 1e-4) == pytest.approx(LARGEST_PART * np.abs(probe.expected).max())
    (whole,) = _some(WHOLE)[:1]
    assert granted(whole, 1e-4) == 0


@pytest.mark.parametrize("name", ["zero", "constant", "echo", "random"])
def test_no_accuracy_makes_a_null_subject_right(name: str) -> None:
    stages, coarsest = StageCalls(null_subjects()[name]), DeclaredAccuracy(1e-3, True)
    asked = [p for p in probes() if p.stage in ("lower_level", "penalty_minimiser")][::5] + _some(FROM_SCRATCH)
    for answer in ask(stages, asked).answers:
        if answer.excess > 1:
            assert widened(answer.probe, coarsest).excess(answer.got) > 1, answer.probe.id


def test_a_subject_as_coarse_as_it_says_is_allowed_that() -> None:
    rough = coarse(lower, 1e-6)
    asked = [p for p in probes() if p.stage == "lower_level"]
    found = ask(solving(rough), asked).answers
    assert any(answer.excess > 1 for answer in found)
    accuracy = accuracy_of(solving(rough, 1e-6), found)
    assert all(widened(answer.probe, accuracy).excess(answer.got) <= 1 for answer in found)
    ten_times = ask(solving(coarse(lower, 1e-3)), asked).answers
    assert any(widened(answer.probe, accuracy).excess(answer.got) > 1 for answer in ten_times)


def test_an_accuracy_that_would_make_all_right_is_proposed_and_one_that_hides_a_mistake_is_not() -> None:
    def proposed(pair: Any, declared: float | None = None) -> str:
        return to_declare(look(solving(pair, declared), only=["lower_level"]))

    said = proposed(coarse(lower, 1e-6))
    assert "accuracy = " in said
    assert "would be right" in said
    value = float(said.split("accuracy = ")[1].split()[0])
    assert 1e-8 <= value <= 1e-5
    again = look(solving(coarse(lower, 1e-6), value), only=["lower_level"],
                 questions=[widened(probe, DeclaredAccuracy(value, declared=True)) for probe in probes()])  # fmt: skip
    assert again.first is None  # what it says is so
    assert proposed(lower) == ""
    assert proposed(coarse(lower, 1e-6), value) == ""
    assert proposed(lambda a, x: tuple(1.5 * part for part in lower(a, x))) == ""
