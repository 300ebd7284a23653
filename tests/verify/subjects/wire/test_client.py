"""The reference over the wire is the reference; draws, batches, limits and the oracle's requests."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from spec import REPAIRED, OuterParameters
from spec.atlas import find
from spec.errors import InvalidInputError
from spec.problem import parse_problem
from verify.campaign import run as campaign
from verify.cli.main import invoke
from verify.subjects import Call, MissingCapabilityError, ReferenceSubject, load_subject
from verify.subjects.protocol import StageCalls
from verify.subjects.wire import conversation
from verify.subjects.wire.client import WireSubject
from verify.subjects.wire.self_test import TINY, run_self_test

SERVE = shlex.join([sys.executable, "-m", "verify.subjects.wire.serve"])
ECHO = shlex.join([sys.executable, "-m", "verify.subjects.wire.echo"])
PROBLEM = parse_problem(TINY)
X = np.array([0.5, -0.25])
OUTER = OuterParameters(goldstein_radius=0.4, epsilon=0.1, D=0.1, eta=0.1, M=4, K=3)


class OnlySingleCalls(ReferenceSubject):
    """Nothing but the hypergradient, one at a time, under one reading."""

    name = "only-single-calls"

    def __getattribute__(self, name):
        if name in ("hypergradient_samples", "optimise", "optimise_runs", "penalty_runs"):
            raise AttributeError(name)
        return super().__getattribute__(name)

    def hypergradient(self, problem, x, call, rng):
        if call.reading != REPAIRED:
            raise MissingCapabilityError("only repaired")
        return super().hypergradient(problem, x, call, rng)


class AsksItself(ReferenceSubject):
    """Has a stage that is called while another is pending."""

    name = "asks-itself"


@pytest.fixture(scope="module")
def served():
    with WireSubject(f"{SERVE} reference") as subject:
        yield StageCalls(subject)


@pytest.fixture(scope="module")
def echo():
    with WireSubject(ECHO) as subject:
        yield StageCalls(subject)


REFERENCE = StageCalls(ReferenceSubject())


def rng(seed=0):
    return np.random.default_rng(seed)


def test_deterministic_stages_agree_to_the_last_bit(served):
    for name in ("toy1", "two-of-three", "holder-half", "experiment-1d"):
        try:
            instance = find(name)
        except InvalidInputError:
            continue
        problem, x = instance.problem, np.array([float(value) for value in instance.x])
        for ours, theirs in zip(served.lower_level(problem, x), REFERENCE.lower_level(problem, x), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        quiet = problem.model_copy(update={"noise": type(problem.noise)()})
        call = Call(alpha=0.1)
        expected = REFERENCE.hypergradient(quiet, x, call)
        np.testing.assert_array_equal(served.hypergradient(quiet, x, call), expected)


def test_noisy_calls_agree_given_the_draws(served):
    draws = {"f_x": rng().standard_normal((1, 2))}
    call = Call(alpha=0.1, draws=draws)
    expected = REFERENCE.hypergradient(PROBLEM, X, call)
    np.testing.assert_array_equal(served.hypergradient(PROBLEM, X, call), expected)
    # Without draws in the call the runner draws them, as the reference would.
    expected = REFERENCE.hypergradient(PROBLEM, X, Call(alpha=0.1), rng(3))
    np.testing.assert_array_equal(served.hypergradient(PROBLEM, X, Call(alpha=0.1), rng(3)), expected)


def test_samples_scatter_as_they_must(served):
    found = served.hypergradient_samples(PROBLEM, X, Call(alpha=0.1), rng(), 4000)
    assert found.shape == (4000, 2)
    assert np.allclose(found.std(axis=0), 0.1, rtol=0.1)


def test_repeated_estimates_come_in_batches_of_single_ones(monkeypatch):
    monkeypatch.syspath_prepend(".")
    command = f"{SERVE} tests.verify.subjects.wire.test_client:OnlySingleCalls"
    with WireSubject(command) as subject:
        stages = StageCalls(subject)
        assert not stages.offers("optimise")
        found = stages.hypergradient_samples(PROBLEM, X, Call(alpha=0.1), rng(), 200)
        assert len(np.unique(found[:, 0])) == 200
        assert np.allclose(found.std(axis=0), 0.1, rtol=0.3)
        with pytest.raises(MissingCapabilityError, match="only repaired"):
            stages.hypergradient(PROBLEM, X, Call(alpha=0.1, reading=REPAIRED.choose(dual_term="frozen")), rng())


def test_draws_that_do_not_fit_leave_a_seed(echo, monkeypatch):
    few = Call(alpha=0.1)
    several = Call(alpha=0.1, parameters=few.parameters.model_copy(update={"N_g": 1000}))
    many = Call(alpha=0.1, parameters=few.parameters.model_copy(update={"N_g": 4000}))
    assert not np.array_equal(echo.hypergradient(PROBLEM, X, several, rng()), X)
    np.testing.assert_array_equal(echo.hypergradient(PROBLEM, X, many, rng()), X)
    monkeypatch.setattr(conversation, "MESSAGE_BYTES", 80_000)
    np.testing.assert_array_equal(echo.hypergradient(PROBLEM, X, several, rng()), X)
    assert not np.array_equal(echo.hypergradient(PROBLEM, X, few, rng()), X)


def test_an_answer_without_rows_ends_the_asking(served, monkeypatch):
    subject, asked = served.subject, []
    monkeypatch.setattr(subject._talk, "ask", lambda *_, **__: asked.append(1) or SimpleNamespace(hypergradients=[]))
    assert subject.hypergradient_samples(PROBLEM, X, Call(alpha=0.1), rng(), 5).shape != (5, 2)
    assert len(asked) == 1


def test_chunks_of_samples_are_independent(echo, monkeypatch):
    monkeypatch.setattr("verify.subjects.wire.client.CHUNK_BYTES", 3000)
    found = echo.hypergradient_samples(PROBLEM, X, Call(alpha=0.1), rng(), 50)
    assert len(np.unique(found[:, 0])) == 50


def test_algorithm_2_from_supplied_uniforms(served, echo):
    """The echo subject uses s and the block, the served reference the seed; they must be the same run."""
    calls = []

    def oracle(z):
        calls.append(z.shape)
        return np.array([1.0, -2.0]) * z

    runs = [stages.optimise(oracle, X, OUTER, rng(5)) for stages in (served, echo)]
    np.testing.assert_allclose(runs[0].path, runs[1].path, atol=1e-14)
    np.testing.assert_allclose(runs[0].x_bar, runs[1].x_bar, atol=1e-14)
    np.testing.assert_allclose(runs[0].x_out, runs[1].x_out, atol=1e-14)
    assert calls == [(2,)] * (2 * OUTER.T)


def test_many_runs_at_once(served):
    x_bar, path = served.optimise_runs(np.negative, np.tile(X, (5, 1)), OUTER, rng(), keep_path=True)
    assert x_bar.shape == (3, 5, 2)
    assert path is not None
    assert path.shape == (13, 5, 2)
    assert served.optimise_runs(np.negative, np.tile(X, (5, 1)), OUTER, rng())[1] is None


def test_an_oracle_may_ask_the_same_subject(served):
    quiet = PROBLEM.model_copy(update={"noise": type(PROBLEM.noise)()})
    run = served.optimise(lambda z: served.hypergradient(quiet, z, Call(alpha=0.5)), X, OUTER, rng())
    assert run.path.shape == (13, 2)


def test_a_failing_oracle_ends_the_conversation_not_the_subject(served):
    def oracle(z):
        raise ZeroDivisionError

    for _ in range(3):
        with pytest.raises(Exception, match=r"ZeroDivisionError|optimise raised"):
            served.optimise(oracle, X, OUTER, rng())
    assert served.lower_level(PROBLEM, X)[0].shape == (3,)


def test_problems_are_sent_once_and_forgotten(monkeypatch):
    monkeypatch.setattr("verify.subjects.wire.client.PROBLEMS_KEPT", 2)
    with WireSubject(ECHO) as subject:
        stages = StageCalls(subject)
        asked = []
        ask = subject._talk.ask
        monkeypatch.setattr(subject._talk, "ask", lambda method, *a, **k: asked.append(method) or ask(method, *a, **k))
        problems = [parse_problem(TINY | {"symmetrise": False, "f": {"x": [k, 0]}}) for k in range(3)]
        for problem in (*problems, problems[2], parse_problem(problems[2].to_dict()), problems[0]):
            stages.lower_level(problem, X)
        assert asked.count("problem") == 4
        assert len(subject._talk.sent) == 2


@pytest.mark.parametrize("command", ["", "   ", "'open", "'' x", "no-such-program-anywhere", "/", str(Path(__file__))])
def test_command_lines_that_are_none(command, capsys):
    with pytest.raises(InvalidInputError, match=r"^command: "):
        WireSubject(command)
    # To whoever typed it this is wrong input, not a fault of a subject.
    assert invoke(["verify", "lipschitz-solution", "--subject", f"command:{command}"]) == 2
    assert capsys.readouterr().err.startswith("f2csa: command: ")


def test_the_self_test_says_what_it_sent():
    silent = "import sys, json\nfor l in sys.stdin:\n m = json.loads(l) if l[-2:] == '}\\n' and 'id' in l else {}\n"
    silent += " r = m.get('params', {})\n r = HELLO if m.get('method') == 'initialize' else r\n"
    silent += " m and print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': r}), flush=True)"
    hello = {"protocol": "f2csa-wire/1", "name": "s", "language": "s", "version": "1", "capabilities": ["activation"]}
    command = shlex.join([sys.executable, "-S", "-c", silent.replace("HELLO", repr(hello))])
    found = {line.check: line for line in run_self_test(command, seconds=0.3)}
    assert not found["no request"].ok
    assert (
        found["no request"].line
        == '{"jsonrpc":"2.0"} must be answered with error -32600; it did not answer within 0.3 s'
    )


def test_no_shell_is_involved(tmp_path):
    target = tmp_path / "made"
    with WireSubject(f"{ECHO} ; touch {target}") as subject:
        assert subject.name == "echo (Python)"
    assert not target.exists()


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf")])
def test_limits_are_checked(limit):
    with pytest.raises(InvalidInputError, match="time_limit"):
        load_subject(f"command:{ECHO}", time_limit=limit)


def test_verdicts_are_those_in_process():
    claims = ["bias-bound/T3", "lipschitz-solution/lipschitz-F", "dual-extraction/activation-locality",
              "solution-error/active-rows"]  # fmt: skip
    found = [
        campaign.run(claims, subject=name, profile="smoke", instances=["toy1"]).records()
        for name in ("reference", f"command:{SERVE} reference")
    ]
    texts = ("as-written", "repaired")  # the reference is asked each literal reading, too
    verdicts = [
        [(row["claim"], row["reading"], row["verdict"]) for row in rows if row["reading"] in texts] for rows in found
    ]
    assert verdicts[0] == verdicts[1]
    assert "SUPPORTED" in {verdict for *_, verdict in verdicts[1]}
    assert "--subject 'command:" in found[1][0]["reproduce"]


def test_a_mutant_is_caught_over_the_wire():
    name = f"command:{SERVE} tests.verify.subjects.wire.mutants:ForgetsTheRows"
    claim = "lipschitz-solution"
    report = campaign.run([claim], subject=name, profile="smoke", instances=["toy1"], readings="repaired")
    assert [str(row["verdict"]) for row in report.records() if row["claim"] == claim] == ["REFUTED"]


def test_workers_have_a_process_each_and_leave_none():
    report = campaign.run(["bias-bound"], subject=f"command:{ECHO}", profile="smoke", instances=["toy1"], jobs=2)
    assert not report.faults
    assert report.subject_version == "1"


@pytest.mark.parametrize("command", [ECHO, f"{SERVE} reference"], ids=["echo", "reference"])
def test_self_test_passes(command):
    lines = run_self_test(command)
    assert [line for line in lines if not line.ok] == []
    assert {"handshake", "doubles", "batch", "hypergradient", "shutdown"} <= {line.check for line in lines}
