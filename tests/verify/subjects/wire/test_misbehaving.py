"""Whatever a program does wrong is one clear line of its stage; other stages go on; no process stays behind."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from spec.atlas import find
from verify.subjects import Call, MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls, StageFaultError
from verify.subjects.wire import guard
from verify.subjects.wire.client import WireSubject

SCRIPT = Path(__file__).with_name("misbehaving.py")
TOY = find("toy1").problem
X = np.ones(1)
CALL = Call(alpha=0.1)

FAULTS = {
    "hang": ("hang", "hypergradient did not answer within 0.3 s"),
    "spin": ("hang", "hypergradient did not answer within 0.3 s"),
    "exit": ("crash", "hypergradient ended its process (exit code 7; it said: out of luck)"),
    "kill": ("crash", "hypergradient ended its process (killed by SIGKILL)"),
    "garbage": ("garbage", "hypergradient answered what is not JSON: Segmentation fault? No, \\x1b[31mjust"),
    "bytes": ("garbage", "hypergradient answered what is not JSON"),
    "deep": ("garbage", "hypergradient answered what is not JSON: [[[["),
    "flood": ("flood", "hypergradient wrote more than"),
    "chatter": ("schema", "hypergradient answered a single request with an array"),
    "half": ("half", "hypergradient wrote half a message (25 bytes"),
    "half-exit": ("half", "hypergradient ended its process (exit code 0), after half a message (25 bytes"),
    "nan": ("not-finite", "hypergradient answered NaN or Infinity, which are no numbers"),
    "infinity": ("not-finite", "hypergradient answered a number beyond doubles at result.hypergradient.0"),
    "null": ("not-finite", "hypergradient answered null instead of a number at result.hypergradient.0"),
    "text": ("schema", "hypergradient answered against the schema: answer.result.hypergradient.0"),
    "true": ("schema", "hypergradient answered against the schema: answer.result.hypergradient.0"),
    "missing": ("schema", "hypergradient answered against the schema: answer.result.hypergradient: is required"),
    "lie": ("lie", "hypergradient was announced, but answered that there is no such method"),
    "error": ("error", "hypergradient answered error -32000: it diverged"),
    "two-ids": ("schema", "hypergradient answered with id twice in one object"),
    "two-results": ("schema", "hypergradient answered with result twice in one object"),
    "wrong-id": ("unknown-id", "hypergradient answered id"),
    "text-id": ("schema", "hypergradient answered against the schema: answer.id: must be a valid integer; got "),
    "huge": ("not-finite", "hypergradient answered a number beyond doubles at result.hypergradient.0"),
    "empty-line": ("garbage", "hypergradient answered with an empty line"),
    "pretty": ("garbage", "hypergradient answered what is not JSON: {; a message must be on one line"),
    "request": ("schema", "hypergradient sent a request of its own, hypergradient; it may ask for oracle alone"),
    "null-error": ("schema", "hypergradient answered against the schema: answer.error: must be left out where there"),
    "close": ("closed-pipe", "hypergradient closed its standard output; its process still runs"),
    "oracle": ("unknown-id", "hypergradient asked for the oracle, which only optimise may"),
    "stderr": ("hang", "hypergradient did not answer within 0.3 s"),
}


def command(how: str, stage: str = "hypergradient") -> str:
    return shlex.join([sys.executable, "-S", str(SCRIPT), how, stage])


@pytest.fixture
def small_lines(monkeypatch):
    """Floods are found after a megabyte instead of a quarter of a gigabyte."""
    monkeypatch.setattr("verify.subjects.wire.conversation.MESSAGE_BYTES", 1 << 20)


@pytest.mark.parametrize("how", FAULTS)
def test_one_clear_line(how, small_lines):
    kind, line = FAULTS[how]
    with WireSubject(command(how), time_limit=0.3) as subject:
        stages = StageCalls(subject)
        assert stages.activation(X, X, 0.1, 0.1) == 1.0
        with pytest.raises(StageFaultError) as caught:
            stages.hypergradient(TOY, X, CALL, np.random.default_rng(0))
        text = str(caught.value)
        assert text.startswith(line)
        assert caught.value.kind == kind
        assert text.isprintable()
        assert len(text) < 250
        # Other stages go on, in a new process if need be.
        assert stages.lower_level(TOY, X)[0].shape == (1,)
        mark = subject._talk._program.process.mark
        assert guard.marked(mark) == [subject.pid]
    assert guard.marked(mark) == []


def test_wrong_shape_is_the_stages_word():
    with WireSubject(command("shape")) as subject, pytest.raises(SubjectFaultError, match=r"shape \(1,\); got \(7,\)"):
        StageCalls(subject).hypergradient(TOY, X, CALL)


def test_a_refusal_is_no_fault():
    with WireSubject(command("refuse")) as subject, pytest.raises(MissingCapabilityError, match="only repaired"):
        StageCalls(subject).hypergradient(TOY, X, CALL)


def test_what_nobody_asked_for_is_found_at_the_next_request():
    with WireSubject(command("twice")) as subject:
        stages = StageCalls(subject)
        assert stages.hypergradient(TOY, X, CALL) == X
        time.sleep(0.05)
        with pytest.raises(StageFaultError, match="lower_level sent what nobody asked for"):
            stages.lower_level(TOY, X)


def test_a_stage_that_hung_twice_is_not_called_again():
    with WireSubject(command("hang"), time_limit=0.1) as subject:
        stages = StageCalls(subject)
        for _ in range(2):
            with pytest.raises(StageFaultError, match=r"did not answer within 0.1 s$"):
                stages.hypergradient(TOY, X, CALL)
        with pytest.raises(StageFaultError, match=r"is not called again: it did not answer within 0.1 s, for the"):
            stages.hypergradient(TOY, X, CALL)
        assert stages.lower_level(TOY, X)[1].shape == (1,)


def test_an_id_spelt_as_a_double_is_the_same_number():
    with WireSubject(command("double-id")) as subject:
        assert StageCalls(subject).hypergradient(TOY, X, CALL) == X


def test_text_in_place_of_a_number_is_called_text():
    with WireSubject(command("text-id")) as subject, pytest.raises(StageFaultError, match="got 3, which is text"):
        StageCalls(subject).hypergradient(TOY, X, CALL)


@pytest.mark.parametrize("how", ["memory", "memory-of-a-child"])
def test_memory_is_bounded(how):
    with WireSubject(command(how), memory_mib=150) as subject:
        with pytest.raises(StageFaultError, match=r"took \d+ MiB of memory; the limit is 150") as caught:
            StageCalls(subject).hypergradient(TOY, X, CALL)
        assert caught.value.kind == "memory"


def test_killed_between_two_requests():
    with WireSubject(command("none")) as subject:
        stages = StageCalls(subject)
        stages.lower_level(TOY, X)
        os.kill(subject.pid, signal.SIGKILL)
        with pytest.raises(StageFaultError, match=r"ended its process \(killed by SIGKILL\)"):
            stages.lower_level(TOY, X)
        assert stages.lower_level(TOY, X)[0].shape == (1,)


def test_closed_input_is_noticed():
    with WireSubject(command("close-input")) as subject:
        stages = StageCalls(subject)
        stages.hypergradient(TOY, X, CALL)
        with pytest.raises(StageFaultError, match="closed its standard input; its process still runs") as caught:
            stages.hypergradient(TOY, X, CALL)
        assert caught.value.kind == "closed-pipe"


@pytest.mark.parametrize("how", ["hang", "exit", "garbage", "nan", "lie"])
def test_a_bad_start_is_one_line(how):
    with WireSubject(command(how, "initialize"), start_limit=0.3) as subject:
        for _ in range(2):
            with pytest.raises(StageFaultError, match=r"^initialize "):
                StageCalls(subject).require(["lower_level"])
        with pytest.raises(StageFaultError, match=r"^the subject is down: "):
            StageCalls(subject).require(["lower_level"])


def test_no_grandchild_is_left():
    with WireSubject(command("grandchild"), time_limit=0.5) as subject:
        stages = StageCalls(subject)
        stages.lower_level(TOY, X)
        mark = subject._talk._program.process.mark
        with pytest.raises(StageFaultError):
            stages.hypergradient(TOY, X, CALL)
        assert _gone(mark)


def test_a_killed_runner_leaves_nothing_behind():
    """kill -9 of the runner, its subject in an endless loop with children."""
    program = (
        "import numpy as np, sys\n"
        "from verify.subjects.wire.client import WireSubject\n"
        "from verify.subjects import Call\n"
        "from spec.atlas import find\n"
        f"subject = WireSubject({command('grandchild')!r}, time_limit=60)\n"
        "subject.hello\n"
        "print(subject._talk._program.process.mark, flush=True)\n"
        "subject.hypergradient(find('toy1').problem, np.ones(1), Call(alpha=0.1), None)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as runner:
        mark = runner.stdout.readline().strip()
        until = time.monotonic() + 10
        while len(guard.marked(mark)) < 3 and time.monotonic() < until:
            time.sleep(0.02)
        assert len(guard.marked(mark)) == 3
        runner.kill()
    assert _gone(mark)


def _gone(mark: str) -> bool:
    until = time.monotonic() + 5
    while guard.marked(mark) and time.monotonic() < until:
        time.sleep(0.02)
    return not guard.marked(mark)
