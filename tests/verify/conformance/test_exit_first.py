"""``f2csa conform`` that ends at the first deviation, or prints findings and faults alone."""

from __future__ import annotations

from typing import Any

import verify
from tests.verify.conformance.subjects import OnlyEstimates
from verify.cli.main import invoke
from verify.conformance.bugs.bent_subject import by_id

BENT = "verify.conformance.bugs.bent_subject"


def test_the_first_stage_that_deviates_is_the_last_where_that_is_asked_for() -> None:
    found = verify.conform(by_id("hard-activation"), claims=["bias-bound/T3"], exitfirst=True)
    assert (found.first, found.exit_code, found.complete) == ("activation", 1, False)
    assert [match.id for match in found.diagnosis.matches] == ["hard-activation"]
    assert found.claims == ()
    assert "Stopped at a stage, as -x asks: no claim after that is judged." in str(found)


def test_the_first_claim_that_fails_is_the_last_where_that_is_asked_for() -> None:
    class Drifts(OnlyEstimates):
        """Right in every comparison of stages, and wrong from the first claim on."""

        asked = 0

        def hypergradient(self, *given: Any) -> Any:
            answer = super().hypergradient(*given)
            return answer + 1.0 if Drifts.judging else answer

        judging = False

    def begins(*_: object) -> None:
        Drifts.judging = True

    claims = ["bias-bound/T3", "bias-bound/T1"]
    all_of_them = verify.conform(Drifts(), claims=claims, progress=begins)
    Drifts.judging = False
    found = verify.conform(Drifts(), claims=claims, progress=begins, exitfirst=True)
    assert all_of_them.complete
    assert not found.complete
    assert found.exit_code == 1
    assert len(found.report.results) < len(all_of_them.report.results)
    assert found.report.results[-1].where == found.exited
    assert f"Stopped at {found.exited}, as -x asks" in str(found)


def test_what_conforms_runs_to_its_end_whether_or_not_it_may_stop() -> None:
    found = verify.conform(OnlyEstimates(), claims=["bias-bound/T3"], exitfirst=True)
    assert (found.exit_code, found.complete, found.exited) == (0, True, "")


def test_quietly_findings_faults_and_one_line_that_sums_up_are_printed(tmp_path, capsys) -> None:
    asked = ["conform", "--python", f"{BENT}:HardActivation", "bias-bound/T3", "--out", str(tmp_path / "c")]
    assert invoke([*asked, "-q", "-x"]) == 1
    *findings, verdict, closing = capsys.readouterr().out.splitlines()
    assert findings
    assert all(line.startswith("finding: ") for line in findings)
    assert "deviates in activation" in verdict
    assert verdict.endswith("no claim after that is judged.")
    assert "; everything: " in closing


def test_quietly_a_self_test_prints_what_fails_alone(capsys) -> None:
    assert invoke(["conform", "--python", "verify.subjects.reference:ReferenceSubject", "--self-test", "-q"]) == 0
    assert capsys.readouterr().out == ""
    assert invoke(["conform", "--python", f"{BENT}:KeepsDualTerm", "--self-test", "-x"]) == 2
    assert "--exitfirst: must not go with --self-test" in capsys.readouterr().err
