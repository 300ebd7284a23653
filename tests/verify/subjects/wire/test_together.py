"""Questions that are known beforehand, many in a line: answered as if asked one after the other."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from spec import Noise, OracleParameters
from spec.atlas import find
from verify.subjects import Call, ReferenceSubject
from verify.subjects.protocol import StageCalls, StageFaultError
from verify.subjects.wire.client import WireSubject
from verify.subjects.wire.guard import descendants, memory_below
from verify.subjects.wire.guarded import Guarded

SERVE = shlex.join([sys.executable, "-m", "verify.subjects.wire.serve"])
INSTANCE = find("random-3x5x4")
HERE = ".".join(Path(__file__).relative_to(Path(__file__).parents[4]).with_suffix("").parts)


class Slow(ReferenceSubject):
    """Takes its time."""

    name = "slow"

    def hypergradient(self, problem, x, call, rng):
        time.sleep(0.4)
        return super().hypergradient(problem, x, call, rng)


class TiresOfIt(ReferenceSubject):
    """Raises at one point."""

    name = "tires-of-it"

    def hypergradient(self, problem, x, call, rng):
        if x[0] == 7.0:
            raise ValueError("seven")
        return super().hypergradient(problem, x, call, rng)


def asked(count, rng):
    parameters = OracleParameters(N_g=2)
    return [(rng.standard_normal(3), Call(0.1, parameters=parameters)) for _ in range(count)]


@pytest.mark.parametrize("noisy", [False, True])
def test_they_are_answered_as_one_after_the_other(noisy, monkeypatch):
    problem = (INSTANCE.with_noise(Noise(model="additive", sigma_f=0.1, sigma_g=0.1)) if noisy else INSTANCE).problem
    questions = asked(150, np.random.default_rng(1))
    with WireSubject(f"{SERVE} reference") as subject:
        stages, lines = StageCalls(subject), []
        exchange = subject._talk.ask_all
        monkeypatch.setattr(subject._talk, "ask_all", lambda *a, **k: lines.append(a) or exchange(*a, **k))
        singly, together = np.random.default_rng(2), np.random.default_rng(2)
        expected = [stages.hypergradient(problem, x, call, singly) for x, call in questions]
        lines.clear()
        answers = stages.hypergradients(problem, questions, together)
        assert np.array_equal(answers, expected)
        assert sum(line[0] == "hypergradient" for line in lines) < len(questions) / 5
    assert singly.random() == together.random()


def test_a_slow_program_is_asked_few_at_a_time_and_keeps_within_its_limit():
    with WireSubject(f"{SERVE} {HERE}:Slow", time_limit=4.0) as subject:
        answers = StageCalls(subject).hypergradients(INSTANCE.problem, asked(12, np.random.default_rng(1)))
    assert len(answers) == 12


def test_a_fault_among_them_is_told_as_of_one():
    questions = asked(20, np.random.default_rng(1))
    questions[15][0][0] = 7.0
    with WireSubject(f"{SERVE} {HERE}:TiresOfIt") as subject:
        stages = StageCalls(subject)
        faults = []
        for ask in (
            lambda: [stages.hypergradient(INSTANCE.problem, x, call) for x, call in questions],
            lambda: stages.hypergradients(INSTANCE.problem, questions),
        ):
            with pytest.raises(StageFaultError, match="seven") as fault:
                ask()
            faults.append(str(fault.value))
        assert faults[0] == faults[1]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists them")
def test_memory_is_that_of_all_below_whoever_lists_them():
    process = Guarded(["sh", "-c", "sleep 60 & sh -c 'sleep 60 & sleep 60' & wait"])
    try:
        until = time.monotonic() + 20
        while len(descendants(process.guard.pid)) < 5 and time.monotonic() < until:
            time.sleep(0.01)
        assert process.processes().keys() == descendants(process.guard.pid).keys()
        assert len(process.processes()) == 5
        assert memory_below(process.pid) != {}
    finally:
        process.end()
