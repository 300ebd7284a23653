"""``verify.conform`` and ``f2csa conform``: findings, exit codes, files, and what a stranger gets to read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import verify
from spec import REPAIRED, InvalidInputError, OuterParameters
from tests.verify.conformance.subjects import OnlyHypergradient, RepairedOnly
from verify.campaign.plan import Task, perform
from verify.checks.measuring.case import checks
from verify.cli.exports import schemas
from verify.cli.main import invoke
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.bugs.catalogue import find
from verify.conformance.claim_runs import ASKS_FOR, Paced, UnaffordableError, ignored_choices, needs_pacing
from verify.conformance.judge import write
from verify.conformance.model import Conformance, StageFinding
from verify.subjects import Call, ReferenceSubject
from verify.subjects.protocol import Stages
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
    assert text.startswith("keeps-dual-term deviates, first in hypergradient.")
    assert "It matches `keeps-dual-term`" in text
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
        environment={}, seed=1, subject="zero", profile="conform", stages=(off,), first="optimise", diagnosis=None,
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
    found = verify.conform(OnlyHypergradient(), claims=["bias-bound/T3", "solution-error/active-rows"])
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


def test_what_cannot_be_afforded_stays_open() -> None:
    found = verify.conform(OnlyHypergradient(), claims=["stochastic-oracles/unbiasedness"], seconds=0.05)
    assert found.exit_code == 0
    (claim,) = found.claims
    assert claim.status == "INCONCLUSIVE"
    assert "more than there is time for" in claim.sentence
    samples = next(stage for stage in found.stages if stage.stage == "samples")
    assert samples.status == "undecided"


def test_pacing_shares_the_time_among_what_is_left() -> None:
    paced = Paced(Zero(), "paced", 1e-9)
    paced.estimates.start(1)
    with pytest.raises(UnaffordableError, match=r"10,000 estimates .* more than there is time for"):
        paced.hypergradient_samples(None, np.zeros(1), Call(alpha=0.1), np.random.default_rng(0), 10_000)


def test_every_estimate_is_made_where_there_is_time() -> None:
    found = Paced(Zero(), "paced", 60.0).hypergradient_samples(None, np.zeros(1), Call(alpha=0.1), None, 700)
    assert found.shape == (700, 1)


def test_a_program_without_many_at_once_is_paced_too() -> None:
    class Piped(Zero):
        estimates_singly = True

        def hypergradient_samples(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
            return np.zeros((replications, 1))

    assert needs_pacing(Piped())
    with pytest.raises(UnaffordableError):
        Paced(Piped(), "paced", 1e-9).hypergradient_samples(None, np.zeros(1), Call(alpha=0.1), None, 10_000)


def test_runs_of_algorithm_2_are_paced() -> None:
    class Steps:
        name = "steps"

        def optimise(self, oracle: Any, x0: Any, parameters: Any, rng: Any) -> Any:
            return [oracle(x0) for _ in range(parameters.T)]

    parameters = OuterParameters(goldstein_radius=1.0, epsilon=0.1, D=0.1, eta=0.1, M=10, K=30)
    assert needs_pacing(Steps())
    assert len(Paced(Steps(), "paced", 60.0).optimise(lambda z: z, np.zeros(1), parameters, None)) == 300
    with pytest.raises(UnaffordableError, match="300 steps of Algorithm 2"):
        Paced(Steps(), "paced", 1e-9).optimise(lambda z: z, np.zeros(1), parameters, None)
    assert not needs_pacing(ReferenceSubject())


class Zero:
    """Answers 0, and nothing else."""

    name = "zero"

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        return np.zeros(1)


def test_one_reading_alone_is_enough() -> None:
    assert ignored_choices(Stages(RepairedOnly())) == ("dual_term", "noise_pairing")
    assert ignored_choices(Stages(ReferenceSubject())) == ()
    found = verify.conform(RepairedOnly(), claims=["stochastic-oracles", "dual-extraction/linear-term"], seconds=1.0)
    assert found.exit_code == 0, found.findings
    assert len(found.notes) == 2
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "subject: must be given by one of --python"),
        (["--python", "a:b", "--command", "c"], "subject: must be given by one of --python"),
        (["--python", "no.such:Thing"], "cannot be loaded"),
        (["--python", f"{HERE}:Iterative", "--profile", "fast"], "profile: must be one of"),
        (["--python", f"{HERE}:Iterative", "--jobs", "0"], "jobs: must be >= 1"),
        (["--python", f"{HERE}:Iterative", "--seconds", "0"], "seconds: must be > 0"),
        (["--python", f"{HERE}:Iterative", "no-such-claim"], "claim"),
    ],
)
def test_wrong_input_is_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["conform", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_the_command_writes_and_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = find("zero-multipliers").source, tmp_path / "out"
    code = invoke(["conform", "lipschitz-solution", "--python", source, "--out", str(out), "--jobs", "1"])
    shown = capsys.readouterr().out
    assert code == 1
    assert f"{source} deviates, first in lower_level." in shown
    assert "zero-multipliers" in shown
    assert (out / "conform.json").exists()


def test_the_command_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = invoke(
        ["conform", "bias-bound/T3", "--python", f"{HERE}:OnlyHypergradient", "--json", "--out", str(tmp_path)]
    )
    assert code == 0
    assert json.loads(capsys.readouterr().out)["first"] is None


def test_the_self_test_of_a_python_subject(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["conform", "--python", f"{HERE}:OnlyHypergradient", "--self-test"]) == 0
    assert "hypergradient: hypergradient (3,)" in capsys.readouterr().out
    assert invoke(["conform", "--python", "tests.verify.conformance.test_conform:Crashing", "--self-test"]) == 3
    assert "FAIL  lower_level" in capsys.readouterr().out


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="seconds"):
        verify.conform("reference", seconds=0.0)
