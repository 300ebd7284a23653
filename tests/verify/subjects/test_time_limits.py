"""A stage that hangs costs its own results and nothing else."""

from __future__ import annotations

import time

import pytest

from spec.errors import InvalidInputError
from verify.campaign import run as campaign
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls, StageFaultError
from verify.subjects.time_limits import SharedClock, TimedSubject, overdue, timed_alike, timed_here

HERE = "tests.verify.subjects.hanging_subjects"
CLAIMS = ["bias-bound/T3", "bias-bound/T2", "bias-bound/T1", "dual-extraction/activation-locality"]


def run(subject, **how):
    return campaign.run(CLAIMS, subject=subject, profile="smoke", instances=["toy1"], readings="repaired", **how)


@pytest.mark.parametrize(("in_process", "again"), [(True, "twice"), (False, "for the second time")])
@pytest.mark.parametrize("attribute", ["Sleeps", "HoldsTheInterpreter"])
def test_a_hang_is_a_fault_of_its_stage_alone(attribute, in_process, again):
    report = run(f"{HERE}:{attribute}", time_limit=0.3, in_process=in_process)
    faults = [result.fault for result in report.results if result.fault]
    assert faults.count("hypergradient did not answer within 0.3 s") == 2
    assert f"hypergradient is not called again: it did not answer within 0.3 s, {again}" in faults
    # What asks another stage goes on.
    assert [str(r.verdict) for r in report.results if r.claim.startswith("dual-extraction")] == ["SUPPORTED"]


def test_a_worker_that_dies_is_tried_again_and_then_a_fault():
    report = run(f"{HERE}:KillsItself", time_limit=5.0, in_process=True)
    assert {result.fault for result in report.results if result.fault} == {"the worker died (exit code -9)"}
    assert any(result.verdict for result in report.results)


def test_a_subject_that_kills_itself_is_started_again_and_then_a_fault():
    report = run(f"{HERE}:KillsItself", time_limit=5.0)
    how = "ended its process (killed by SIGKILL)"
    again = f"hypergradient is not called again: it {how}, for the second time"
    assert {result.fault for result in report.results if result.fault} == {f"hypergradient {how}", again}
    assert any(result.verdict for result in report.results)


@pytest.mark.parametrize(
    ("in_process", "line"),
    [(True, "the worker died (its process ended)"), (False, "hypergradient ended its process (exit code 0)")],
)
def test_a_subject_that_ends_its_process_does_not_end_the_run(in_process, line):
    report = campaign.run(["bias-bound/T3"], subject=f"{HERE}:LeavesWithSuccess", readings="repaired",
                          profile="smoke", instances=["toy1"], jobs=1, in_process=in_process)  # fmt: skip
    assert [result.fault for result in report.results] == [line]
    assert report.exit_code == 3
    assert ("subject runs" in report.environment) == in_process


def test_the_results_are_those_without_a_limit():
    limited, free = (run(f"{HERE}:Patient", time_limit=limit) for limit in (30.0, None))
    assert [(r.claim, r.verdict) for r in limited.results] == [(r.claim, r.verdict) for r in free.results]


def test_an_object_is_interrupted_in_this_process():
    from tests.verify.subjects.hanging_subjects import Sleeps

    report = run(Sleeps(), time_limit=0.2)
    faults = [result.fault for result in report.results if result.fault]
    assert "hypergradient did not answer within 0.2 s" in faults
    assert [str(r.verdict) for r in report.results if r.claim.startswith("dual-extraction")] == ["SUPPORTED"]


def test_copies_are_on_the_clock_of_the_first():
    from tests.verify.subjects.hanging_subjects import Sleeps

    with timed_here(Sleeps(), 0.05) as timed:
        for subject, said in ((timed, "within"), (timed_alike(Sleeps(), timed), "within"),
                              (timed_alike(Sleeps(), timed), "not called again")):  # fmt: skip
            with pytest.raises(StageFaultError, match=said):
                subject.hypergradient(None, None, None, None)
    free = Sleeps()
    assert timed_alike(free, free) is free


def test_the_reference_is_never_wrapped():
    subject = ReferenceSubject()
    with timed_here(subject, 1.0) as timed:
        assert timed is subject


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf")])
def test_limits_are_checked(limit):
    with pytest.raises(InvalidInputError, match="time_limit"):
        run("reference", time_limit=limit)


def test_the_oracles_time_is_not_the_subjects():
    cells = [0.0, 0.0]
    seen = []

    class Asks(ReferenceSubject):
        def optimise(self, oracle, x0, parameters, rng):
            assert overdue(cells, 0.05) is None
            oracle(x0)
            seen.append(overdue(cells, 0.05))
            return super().optimise(oracle, x0, parameters, rng)

    def oracle(z):
        seen.append(cells[0])
        time.sleep(0.1)
        return z

    timed = TimedSubject(Asks(), SharedClock(cells, 0.05, frozenset()))
    timed.optimise(oracle, *_outer_arguments())
    assert seen[:2] == [0.0, None]
    assert cells[0] == 0.0
    assert StageCalls(timed).offers("penalty_runs")


def _outer_arguments():
    import numpy as np

    from spec import OuterParameters

    outer = OuterParameters(goldstein_radius=0.4, epsilon=0.1, D=0.1, eta=0.1, M=1, K=1)
    return np.ones(1), outer, np.random.default_rng(0)
