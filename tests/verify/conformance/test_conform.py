"""``verify.conform`` and ``f2csa conform``: findings, exit codes, files, and what a stranger gets to read."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any, ClassVar

import jsonschema
import numpy as np
import pytest

import verify
from spec import REPAIRED, InvalidInputError, OuterParameters
from tests.verify.conformance.subjects import OnlyEstimates, OnlyHypergradient, RepairedOnly
from verify.campaign.plan import Task, perform
from verify.checks.measuring.case import checks
from verify.cli.implementations.exports import schemas
from verify.cli.main import invoke
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.bugs.catalogue import find
from verify.conformance.claims.claim_runs import ASKS_FOR, JudgedClaims, ignored_choices, run_claims
from verify.conformance.found import StageFinding, Stopped
from verify.conformance.further_questions.judging_options import ConformOptions
from verify.conformance.judge import write
from verify.conformance.model import Conformance
from verify.conformance.probes.pacing import Clock, Paced, Timed, TimeIsUpError, UnaffordableError, needs_pacing
from verify.subjects import Call, ReferenceSubject
from verify.subjects.protocol import StageCalls
from verify.verdict import Verdict

HERE = "tests.verify.conformance.subjects"


def test_a_wrong_implementation_is_told_what_is_wrong(tmp_path: Path) -> None:
    found = verify.conform(by_id("keeps-dual-term"), claims=["bias-bound/T3"], out=tmp_path)
    assert found.exit_code == 1
    assert not found.conforms
    assert found.first == "hypergradient"
    assert found.diagnosis is not None
    assert [match.id for match in found.diagnosis.matches] == ["keeps-dual-term"]
    assert any(line.startswith("bias-bound/T3 on toy1: refuted") for line in found.findings)
    text = str(found)
    assert text.startswith("keeps-dual-term deviates in hypergradient.")
    assert "What it is, ∇F off by up to 1.3e+04: line 6 = the right one + α₁·Aᵀλ̃ (" in text
    assert "\n  keeps-dual-term (paper-as-written): " in text
    assert "parse_problem" in text
    assert (
        "\nWhere the error comes from: At α = 1/50, x = (1, 0.5) on `two-of-three` your answer is 1.3e+04 off" in text
    )
    assert re.search(r"\n  the formula itself +1\.3e\+04 +\+100 %  α⁻²\n", text)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"conform.json", "report.json", "report.html", "report.md", "junit.xml"} <= names
    data = json.loads((tmp_path / "conform.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, schemas()["conformance"])
    assert Conformance.model_validate(data).findings == found.findings
    assert Conformance.model_validate(data).error_split == found.error_split


def test_infinities_are_written_as_strings(tmp_path: Path) -> None:
    """A run of Algorithm 2 that answers 0 is infinitely many tolerances off."""
    off = StageFinding(stage="optimise", status="diverges", sentence="", compared=1, diverging=1, worst=np.inf)
    found = Conformance(
        environment={}, seed=1, subject="zero", profile="conform", stages=(off,), first="optimise",
        reproduction=None, claims=(), findings=(), faults=(), seconds=0.0,
    )  # fmt: skip
    write(found, tmp_path)
    data = json.loads((tmp_path / "conform.json").read_text(encoding="utf-8"))
    assert data["stages"][0]["worst"] == "Infinity"
    jsonschema.validate(data, schemas()["conformance"])
    assert Conformance.model_validate(data) == found


def test_a_right_implementation_conforms() -> None:
    found = verify.conform("reference", claims=["bias-bound/T3", "solution-error/active-rows"])
    assert (found.exit_code, found.first, found.diagnosis, found.reproduction) == (0, None, None, None)
    assert str(found).startswith("reference: no deviation.")
    assert "\nIts error: At α = 1/50" in str(found)
    assert "Where the error comes from" not in str(found)


def test_missing_stages_are_not_applicable_with_the_reason() -> None:
    found = verify.conform(OnlyEstimates(), claims=["bias-bound/T3", "solution-error/active-rows"])
    assert found.exit_code == 0
    missing = {stage.stage for stage in found.stages if stage.status == "not offered"}
    assert missing == {"lower_level", "activation", "penalty_minimiser", "runs", "optimise"}
    by_claim = {claim.claim: claim for claim in found.claims}
    assert by_claim["solution-error/active-rows"].status == "NOT_APPLICABLE"
    assert "offers no penalty_minimiser" in by_claim["solution-error/active-rows"].sentence


class Crashing(ReferenceSubject):
    name = "crashing"

    def lower_level(self, problem: Any, x: Any) -> Any:
        raise RuntimeError("no licence")


def test_a_fault_is_neither_a_finding_nor_a_pass() -> None:
    found = verify.conform(Crashing(), claims=["bias-bound/T3"])
    assert found.exit_code == 3
    assert found.findings == ()
    assert "no licence" in found.faults[0]
    assert {stage.stage: stage.status for stage in found.stages}["lower_level"] == "fault"


def test_what_cannot_be_afforded_stays_open_whatever_the_time() -> None:
    found = verify.conform(OnlyHypergradient(), claims=["stochastic-oracles/unbiasedness"], estimates=50)
    assert found.exit_code == 0
    assert found.complete
    (claim,) = found.claims
    assert claim.status == "INCONCLUSIVE"
    assert "more than their share" in claim.sentence
    assert "see --estimates" in str(found)
    assert next(stage for stage in found.stages if stage.stage == "samples").status == "agrees"


def test_time_ends_the_asking_and_nothing_else() -> None:
    found = verify.conform(OnlyHypergradient(), claims=["bias-bound/T3"], seconds=1e-6)
    assert found.exit_code == 3
    assert not found.complete
    assert found.claims == ()
    assert {stage.status for stage in found.stages} <= {"undecided", "not offered"}
    assert "Stopped after 1e-06 s: " in str(found)
    assert "results were not asked for; a larger --seconds" in str(found)


def test_what_stands_when_it_is_interrupted_is_told() -> None:
    class Leaves(OnlyHypergradient):
        left = 40

        def hypergradient(self, *asked: Any) -> Any:
            Leaves.left -= 1
            if Leaves.left < 0:
                raise KeyboardInterrupt
            return super().hypergradient(*asked)

    found = verify.conform(Leaves(), claims=["bias-bound/T3"])
    stage = next(stage for stage in found.stages if stage.stage == "hypergradient")
    assert (stage.status, stage.compared, found.complete, found.stopped) == ("undecided", 40, False, None)
    assert "was interrupted" in str(found)


def test_a_slow_subject_gets_the_same_verdicts() -> None:
    class Slow(OnlyHypergradient):
        def hypergradient(self, *asked: Any) -> Any:
            time.sleep(0.0003)
            return super().hypergradient(*asked)

    claims = ["variance-bound/f-noise-only", "bias-bound/T1"]
    made = [
        run_claims(JudgedClaims(subject, ConformOptions(subject, claims=claims, estimates=3_000), Clock(60.0)), ())
        for subject in (OnlyHypergradient(), Slow())
    ]
    fast, slow = ([(result.key, result.verdict, result.sentence) for result in report.results] for report in made)
    assert fast == slow
    assert any("more than their share" in sentence for _, _, sentence in fast)


def test_a_run_that_stops_says_how_long_all_would_take() -> None:
    stopped = Stopped(after=60, asked=30, planned=90, enough=312.0)
    left, enough = str(stopped).split("; ")
    assert left == " Stopped after 60 s: 60 of 90 results were not asked for"
    assert enough == "--seconds 310 should do."


def test_pacing_shares_the_counts_among_what_is_left() -> None:
    paced = Paced(Zero(), "paced", 20_000)
    paced.estimates.start(4)
    with pytest.raises(UnaffordableError, match=r"10,000 estimates are more than their share, 5,000 of the 20,000 "):
        paced.hypergradient_samples(None, np.zeros(1), Call(alpha=0.1), np.random.default_rng(0), 10_000)


def test_every_estimate_is_made_where_it_may() -> None:
    class Noisy(Zero):
        asked = 0

        def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any = None) -> Any:
            Noisy.asked += 1
            return np.array([float(Noisy.asked)])

    found = Paced(Noisy(), "paced").hypergradient_samples(None, np.zeros(1), Call(alpha=0.1), None, 700)
    assert found.shape == (700, 1)
    assert Noisy.asked == 700


def test_no_answer_is_taken_for_asked_that_was_not() -> None:
    class SilentAtFirst(Zero):
        asked = 0

        def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any = None) -> Any:
            SilentAtFirst.asked += 1
            return np.array([float(SilentAtFirst.asked > 600)])

    found = Paced(SilentAtFirst(), "paced").hypergradient_samples(None, np.zeros(1), Call(alpha=0.1), None, 700)
    assert SilentAtFirst.asked == 700
    assert found.sum() == 100


def test_many_at_once_are_asked_for_in_batches() -> None:
    class Many(Zero):
        sizes: ClassVar[list[int]] = []

        def hypergradient_samples(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
            Many.sizes.append(replications)
            return rng.standard_normal((replications, 1))

    timed = Timed(Many(), "timed", Clock(60.0))
    found = timed.hypergradient_samples(None, np.zeros(1), Call(alpha=0.1), np.random.default_rng(0), 200_000)
    assert found.shape == (200_000, 1)
    assert Many.sizes == [65_536, 65_536, 65_536, 3_392]
    clock = Clock(60.0)
    clock.end()
    with pytest.raises(TimeIsUpError):
        Timed(Many(), "timed", clock).hypergradient_samples(None, np.zeros(1), Call(alpha=0.1), None, 8)


def test_a_program_without_many_at_once_is_paced_too() -> None:
    class Piped(Zero):
        estimates_singly = True

        def hypergradient_samples(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
            return np.zeros((replications, 1))

    assert needs_pacing(Piped())
    with pytest.raises(UnaffordableError):
        Paced(Piped(), "paced", 10).hypergradient_samples(None, np.zeros(1), Call(alpha=0.1), None, 10_000)


def test_runs_of_algorithm_2_are_paced() -> None:
    class Steps:
        name = "steps"

        def optimise(self, oracle: Any, x0: Any, parameters: Any, rng: Any) -> Any:
            return [oracle(x0) for _ in range(parameters.T)]

    parameters = OuterParameters(goldstein_radius=1.0, epsilon=0.1, D=0.1, eta=0.1, M=10, K=30)
    assert needs_pacing(Steps())
    assert len(Paced(Steps(), "paced").optimise(lambda z: z, np.zeros(1), parameters, None)) == 300
    with pytest.raises(UnaffordableError, match="300 steps of Algorithm 2 are more than their share, 290 of the 290"):
        Paced(Steps(), "paced", 29).optimise(lambda z: z, np.zeros(1), parameters, None)
    assert not needs_pacing(ReferenceSubject())


class Zero:
    """Answers 0, and nothing else."""

    name = "zero"

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        return np.zeros(1)


def test_one_reading_alone_is_enough() -> None:
    assert ignored_choices(StageCalls(RepairedOnly())) == ("dual_term", "noise_pairing")
    assert ignored_choices(StageCalls(ReferenceSubject())) == ()
    found = verify.conform(
        RepairedOnly(), claims=["stochastic-oracles", "dual-extraction/linear-term"], estimates=2_000
    )
    assert found.exit_code == 0, found.findings
    (note,) = found.notes
    assert "call.reading.dual_term and call.reading.noise_pairing" in note
    assert {claim.status for claim in found.claims} <= {"NOT_APPLICABLE", "INCONCLUSIVE", "SUPPORTED"}


class Spy(ReferenceSubject):
    """Remembers for which choices ``hypergradient`` was asked that are not the repaired ones."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        self.asked |= set(call.reading.differences(REPAIRED))
        return super().hypergradient(problem, x, call, rng)

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        self.asked |= set(call.reading.differences(REPAIRED))
        return super().hypergradient_samples(problem, x, call, rng, replications)


@pytest.mark.parametrize("claim", [name for name, check in checks().items() if "hypergradient" in check.needs])
def test_checks_that_ask_for_other_choices_are_known(claim: str) -> None:
    spy = Spy()
    result = perform(Task(claim, "repaired", checks()[claim].instances[0], "spy", "smoke", 1), spy)
    assert result.verdict not in (None, Verdict.REFUTED)
    assert spy.asked == {choice for choice, claims in ASKS_FOR.items() if claim in claims}


NOBODY = ["--command", "no-such-program"]
"""Refused before anything is started, in this very process."""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "subject: must be given by one of --python"),
        (["--python", "a:b", "--command", "c"], "subject: must be given by one of --python"),
        (["--python", "no.such:Thing"], "cannot be loaded"),
        ([*NOBODY, "--profile", "fast"], "profile: must be one of"),
        ([*NOBODY, "--jobs", "0"], "jobs: must be >= 1"),
        ([*NOBODY, "--seconds", "0"], "seconds: must be > 0"),
        ([*NOBODY, "--time-limit", "-1"], "time_limit: must be > 0"),
        ([*NOBODY, "--self-test", "--time-limit", "nan"], "time_limit: must be > 0"),
        ([*NOBODY, "no-such-claim"], "claim"),
    ],
)
def test_wrong_input_is_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["conform", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_the_command_writes_and_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = find("zero-multipliers").source, tmp_path / "out"
    code = invoke(["conform", "bias-bound/T3", "--python", source, "--out", str(out), "--jobs", "1"])
    shown = capsys.readouterr().out
    assert code == 1
    assert f"{source} deviates in lower_level." in shown
    assert "zero-multipliers" in shown
    assert (out / "conform.json").exists()


def test_the_command_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [
        "conform",
        "bias-bound/T3",
        "--python",
        f"{HERE}:OnlyEstimates",
        "--in-process",
        "--json",
        "--jobs",
        "1",
    ]
    code = invoke([*asked, "--out", str(tmp_path)])
    assert code == 0
    assert json.loads(capsys.readouterr().out)["first"] is None


def test_the_self_test_of_a_python_subject(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["conform", "--python", f"{HERE}:OnlyHypergradient", "--self-test"]) == 0
    out = capsys.readouterr().out
    assert "ok    hypergradient: hypergradient (3,)" in out
    assert "-     lower_level: not offered" in out
    assert invoke(["conform", "--python", "tests.verify.conformance.test_conform:Crashing", "--self-test"]) == 3
    assert "FAIL  lower_level" in capsys.readouterr().out
    # What says that it supports nothing has answered nothing.
    assert invoke(["conform", "--python", f"{HERE}:Unable", "--self-test"]) == 3
    assert "ok  " not in capsys.readouterr().out


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="seconds"):
        verify.conform("reference", seconds=0.0)
    with pytest.raises(InvalidInputError, match="estimates: must be >= 0"):
        verify.conform("reference", estimates=-1)
    with pytest.raises(InvalidInputError, match="time_limit: must be > 0"):
        verify.conform("reference", time_limit=-1.0)
