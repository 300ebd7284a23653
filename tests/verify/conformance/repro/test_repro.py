"""Repros end in what was got and what it must be, replay what they need, and were seen in a fresh process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.verify.conformance.leaking import OnceWide, seen_in_order
from tests.verify.conformance.replays import played_here
from verify.conformance.blame.accuracy.accuracy import declared_accuracy, widened
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.bugs.catalogue import find
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.places.places import place_of
from verify.conformance.probes.probes import Probe, lower_level_probe, probes
from verify.conformance.repro.replay import Replay, needed_before, replay
from verify.conformance.repro.repro import failing, reproduce, reproduce_stage
from verify.conformance.repro.scripts import of_probe, script
from verify.subjects import ReferenceSubject, SubjectFaultError
from verify.subjects.protocol import StageCalls

LEAKS = "load_subject('tests.verify.conformance.leaking:OnceWide')"


def test_a_leak_is_replayed_with_the_calls_that_it_needs() -> None:
    seen = seen_in_order(OnceWide(), "toy1", "two-of-three", "box-rational", "scalar-rational", "toy1")
    assert seen.first == "lower_level"
    made = reproduce(seen, LEAKS, played_here)
    assert made is not None
    assert made.sentence.startswith("Needs the earlier calls: lower_level answers ")
    assert made.code.count("subject.lower_level(") == 2  # the wide one, and what it spoils
    assert played_here(made.code).shows is True
    alone = made.code.replace("np.concatenate(subject.lower_level(problem, x))\n", "", 1)
    assert played_here(alone).shows is False


def test_what_no_process_shows_again_is_said() -> None:
    seen = seen_in_order(OnceWide(), "box-rational", "toy1")
    made = reproduce(seen, LEAKS, lambda _: Replay(False, ""))
    assert made is not None
    assert made.sentence.endswith("asked this alone or after all that was asked before, answers rightly.")
    made = reproduce(seen, LEAKS, lambda _: Replay(None, "no licence"))
    assert made is not None
    assert made.sentence.endswith("It could not be run again in a fresh process (no licence).")


@pytest.mark.parametrize("needed", [(0,), (11,), (5,), (2, 9), tuple(range(12))])
def test_few_earlier_calls_are_found(needed: tuple[int, ...]) -> None:
    calls: list[Any] = list(range(12))
    asked: list[Sequence[Any]] = []

    def shows(some: Sequence[Any]) -> bool:
        asked.append(some)
        return set(needed) <= set(some)

    found = needed_before(shows, calls)
    assert found is not None
    assert set(needed) <= set(found)
    assert len(found) <= len(needed) + 3
    assert len(asked) <= 19


def test_no_earlier_calls_are_found_where_none_do() -> None:
    calls: list[Any] = [1, 2, 3]
    assert needed_before(lambda _: False, calls) is None


ASKED = "import numpy as np\ngot, low, high = np.array([{}]), np.zeros(1), np.ones(1)\nprint('got', got.tolist())"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (ASKED.format(2.0), Replay(True, "got [2.0]")),
        (ASKED.format("np.nan"), Replay(True, "got [nan]")),
        (ASKED.format(0.5), Replay(False, "got [0.5]")),
        ("raise ValueError('no licence')", Replay(None, "ValueError: no licence")),
    ],
)
def test_a_fresh_process_says_what_it_sees(code: str, found: Replay) -> None:
    assert replay(code) == found


def test_a_script_that_hangs_shows_that_it_does() -> None:
    assert replay("import time\ntime.sleep(60)", seconds=0.3) == Replay(True, "it did not answer within 0.3 s")


def test_a_fault_ends_in_what_must_be_too() -> None:
    probe = lower_level_probe(place_of("toy1"))
    fault = SubjectFaultError("lower_level did not answer within 0.2 s")
    found = played_here(script("load_subject('tests.verify.conformance.leaking:Slow')", of_probe(probe, fault=fault)))
    assert found == Replay(True, "got [nan, nan] must be [1.0, 1.0]")


@pytest.mark.parametrize(
    "id_",
    ["halves-the-steps", "never-averages", "forgets-to-count", "silent-noise", "biased-draw",
     "outputs-the-last-block", "queries-the-start", "outputs-the-last-iterate", "clips-components", "ascends"],
)  # fmt: skip
def test_laws_and_runs_are_held_against_bounds(id_: str) -> None:
    bug = find(id_)
    seen = look(StageCalls(by_id(id_)), only=[bug.stage])
    assert failing(seen) == (bug.stage,)
    made = reproduce_stage(seen, bug.stage, f"load_subject({bug.source!r})", played_here)
    assert made is not None
    assert made.sentence.endswith("A fresh process shows it, too.")
    right = made.code.replace(bug.source, "reference")
    assert played_here(right).shows is False  # the same script is content with what is right


@pytest.mark.parametrize("stage", ["samples", "runs", "optimise", "lower_level"])
def test_what_agrees_has_no_repro(stage: Any) -> None:
    seen = look(StageCalls(ReferenceSubject()), only=[stage])
    assert failing(seen) == ()
    assert reproduce_stage(seen, stage, "load_subject('reference')", played_here) is None


def test_one_problem_stays_one_object_in_a_script() -> None:
    place = place_of("toy1")
    first, second = lower_level_probe(place), lower_level_probe(place.moved(0.125))
    lines = of_probe(second, [first])
    assert sum("parse_problem" in line for line in lines) == 1
    other: Probe = lower_level_probe(place_of("two-of-three"))
    assert sum("parse_problem" in line for line in of_probe(second, [first, other])) == 2


class Rough(ReferenceSubject):
    """Its solver errs as it declares; where there are two rows or more it doubles the multipliers besides."""

    name = "rough"
    accuracy = 1e-4

    def lower_level(self, problem: Any, x: Any) -> Any:
        y_star, lam = super().lower_level(problem, x)
        return y_star * (1 + 2e-5), lam * (2 if problem.p > 1 else 1)


def test_a_repro_shows_the_fault_and_not_the_error_that_the_subject_declares() -> None:
    stages = StageCalls(Rough())
    asked = [
        widened(probe, declared_accuracy(stages))
        for probe in probes()
        if probe.id in ("lower-level/toy1", "lower-level/box-rational")
    ]
    assert [probe.excess_of(stages) <= 1 for probe in asked] == [True, False]
    made = reproduce(look(stages, only=["lower_level"], questions=asked), "your_subject")
    assert made is not None
    assert made.problem is not None
    assert len(made.problem["constraints"]["b"]) == 2  # with one row nothing is left but what it declares
    assert max(abs(float(got) - want) for got, want in zip(made.got, made.expected, strict=True)) > 0.1
