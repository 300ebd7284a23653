"""Subjects that refuse what they are asked: all of it, soon told, or some of it, which costs no comparison."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import verify
from verify.campaign import worker_choice
from verify.conformance.bugs.null_subjects import MissingSubject
from verify.conformance.comparison.stage_comparison import ask
from verify.conformance.probes.probes import probes
from verify.subjects import MissingCapabilityError, ReferenceSubject
from verify.subjects.protocol import StageCalls

MISSING = "verify.conformance.bugs.null_subjects:MissingSubject"


class Counting(MissingSubject):
    """Counts what it refuses."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __getattr__(self, stage: str) -> Any:
        refuse = super().__getattr__(stage)

        def counted(*given: Any) -> Any:
            self.asked[stage] += 1
            return refuse(*given)

        return counted


class NoSolves(ReferenceSubject):
    """Refuses line 5 on all but one problem, the last it is asked about."""

    def __init__(self, only: Any) -> None:
        self.only = only

    def penalty_minimiser(self, problem: Any, *given: Any) -> Any:
        if problem is not self.only:
            raise MissingCapabilityError("another problem")
        return super().penalty_minimiser(problem, *given)


def of_line_5() -> list[Any]:
    return [probe for probe in probes() if probe.stage == "penalty_minimiser" and not probe.needs_draws]


def test_who_refuses_each_kind_of_call_on_each_problem_is_asked_no_more() -> None:
    subject, asked = Counting(), of_line_5()
    found = ask(StageCalls(subject), asked)
    problems = {id(probe.problem) for probe in asked}
    assert len(problems) <= subject.asked["penalty_minimiser"] == len(found.refusals) < len(asked)
    assert not found.answers
    assert found.late == 0


def test_who_answers_anything_is_asked_everything() -> None:
    asked = of_line_5()
    only = asked[-1].problem
    found = ask(StageCalls(NoSolves(only)), asked)
    right = [probe for probe in asked if probe.problem is only]
    assert len(right) < len(asked)
    assert sorted(answer.probe.id for answer in found.answers) == sorted(probe.id for probe in right)
    assert len(found.refusals) == len(asked) - len(right)
    assert all(answer.excess <= 1 for answer in found.answers)


def test_who_refuses_everything_is_told_so_stage_by_stage_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_wanted(*_: Any, **__: Any) -> Any:
        raise AssertionError("workers take longer to start than a refusal takes")

    monkeypatch.setattr(worker_choice, "Crew", none_wanted)
    found = verify.conform(MISSING, claims=["bias-bound", "inner-cost"], jobs=2)
    assert {stage.status for stage in found.stages} == {"not offered"}
    assert {stage.stage for stage in found.stages if stage.refuses} >= {
        "lower_level", "activation", "penalty_minimiser", "hypergradient",
    }  # fmt: skip
    assert {claim.status for claim in found.claims} == {"NOT_APPLICABLE"}
    assert "lower_level" in found.environment["subject offers"]
    assert (found.exit_code, found.complete) == (3, True)
    assert "no comparison was made" in str(found)
