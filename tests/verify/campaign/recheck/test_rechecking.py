"""A report as produced is accepted; one in which anything that follows from something else was changed is refused."""

from __future__ import annotations

import copy
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import verify
from spec.claims import find as find_claim
from tests import kept
from tests.verify.campaign.recheck.tamperings import FIELDS, OF_ALL_PARTS, OF_CLAIMS, TAMPERINGS, Data, result, verdict
from verify.campaign.plan import plan
from verify.campaign.recheck.expected_evidence import RECORD, inventory, recorded
from verify.campaign.recheck.rechecking import recheck, share_of
from verify.campaign.summary import summarise
from verify.checks.measuring.case import PROFILES, find_profile
from verify.cli.main import invoke
from verify.report.model import NAMED, ReportData, Result
from verify.report.report_files import Report, render_json
from verify.verdict import Verdict

CLAIMS = ["bias-bound/T1", "bias-bound/T2", "bias-bound/T3", "solution-error", "dual-extraction/active-rows",
          "variance-bound/per-sample"]  # fmt: skip


@pytest.fixture(scope="module")
def produced() -> Data:
    report = kept.run(CLAIMS, instances=["toy1", "two-of-three"], profile="smoke")
    return json.loads(render_json(report))


STATEMENTS = ("bias-bound/T1", "bias-bound/T2", "bias-bound/T3", "variance-bound/per-sample")


@pytest.fixture(scope="module")
def few(produced) -> Data:
    """The same run's results of a few statements: what is changed in one is refused there as among all."""
    return produced | {
        part: [row for row in produced[part] if row["claim"] in STATEMENTS] for part in ("results", "summary")
    }


@pytest.fixture(scope="module")
def whole() -> Data:
    """A run of one claim with all its steps."""
    run = kept.run(["bias-bound"], readings=["repaired"], instances=["two-of-three"], profile="smoke")
    return json.loads(render_json(run))


@pytest.fixture
def told(capsys, tmp_path) -> Callable[[Data], tuple[int, str]]:
    def recheck(data: Data) -> tuple[int, str]:
        (tmp_path / "report.json").write_text(json.dumps(data))
        code = invoke(["recheck", str(tmp_path)])
        found = capsys.readouterr()
        return code, found.out + found.err

    return recheck


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("subject", ["reference", "solver:Mine"])
def test_a_whole_run_of_each_profile_misses_nothing(profile, subject):
    made = plan([], NAMED, [], find_profile(profile), subject, 0)
    results = [
        Result(**task.named, verdict=Verdict.INCONCLUSIVE, sentence="", about=find_claim(task.claim).about)
        for task in made
    ]
    summary = tuple(summarise(results, (), subject, lambda _: None))
    report = ReportData(
        environment={}, seed=0, profile=profile, subject=subject, results=tuple(results), summary=summary
    )
    assert not [str(line) for line in recheck(report).refusals if line.field == "results"]
    kept = [result for result in results if result.key != made[len(made) // 2].key]
    gone = [line for line in recheck(report.model_copy(update={"results": tuple(kept)})).refusals
            if line.field == "results"]  # fmt: skip
    assert [line.where for line in gone] == [made[len(made) // 2].where]
    cut = [line for line in recheck(report.model_copy(update={"complete": False})).refusals if line.field == "complete"]
    assert [str(line) for line in cut] == ["report: complete must be true: every result of the run is in it"]


def test_a_report_is_accepted_as_produced_and_says_what_could_not_be_decided_again(produced, few, told):
    assert told(few)[0] == 0
    code, said = told(produced)
    assert code == 0, said
    assert re.search(r"\d+\d verdicts decided again, \d+\d certificates checked: all follow", said)
    assert re.search(r"not decided again: the numbers of \d+ results are as stated: no record is of them", said)
    assert "a partial run" in said


@pytest.mark.parametrize("tampering", TAMPERINGS, ids=lambda made: made.__name__)
def test_a_report_that_was_changed_is_refused_with_a_line_that_names_what(request, told, tampering):
    made = "whole" if tampering in OF_ALL_PARTS else "produced" if tampering in OF_CLAIMS else "few"
    data = copy.deepcopy(request.getfixturevalue(made))
    tampering(data)
    code, said = told(data)
    assert code == 1
    refused = [line for line in said.splitlines() if line.startswith("refused: ")]
    assert refused
    assert any(re.search(FIELDS.get(tampering.__name__, ""), line) for line in refused), said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "REPORT"),
        ("[]", "must be a report.json"),
        ('{"schema": "f2csa-report/3"}', "must be a report.json"),
        ('{"schema": "f2csa-report/1"}', "REPORT"),
        ('{"schema": "f2csa-report/2"}', "REPORT"),
        ('{"problem": 1}', "must be a report.json"),
    ],
)
def test_what_is_no_report_is_wrong_input_said_in_one_line(tmp_path, capsys, text, message):
    (tmp_path / "report.json").write_text(text)
    assert invoke(["recheck", str(tmp_path)]) == 2
    assert message in (said := capsys.readouterr().err)
    assert said.count("\n") == 1


def test_a_missing_file_another_version_and_a_report_without_verdict_are_wrong_input(few, told, tmp_path, capsys):
    assert invoke(["recheck", str(tmp_path / "none.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    code, said = told(few | {"environment": {"f2csa-verify": "9.9"}})
    assert (code, said.count("\n")) == (2, 1)
    assert "must be of version" in said
    assert told(few | {"results": [], "summary": []})[0] == 2


def test_refusals_are_told_to_machines_too(few, tmp_path, capsys):
    data = copy.deepcopy(few)
    verdict(data)
    (tmp_path / "report.json").write_text(json.dumps(data))
    assert invoke(["recheck", str(tmp_path / "report.json"), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["refused"][0] | {"rule": ""} == {
        "where": "bias-bound/T3 [as-written] on two-of-three", "field": "verdict", "rule": "",
    }  # fmt: skip


class NoRamp:
    """A subject that offers one stage."""

    name = "one-stage"

    def hypergradient(self, problem, x, call, rng):
        return [0.0] * len(x)


def test_a_missing_stage_is_believed_only_where_no_other_result_needed_it(told):
    run = verify.run(
        ["bias-bound/T3", "solution-error/active-rows"], subject=NoRamp(), instances=["toy1"], profile="smoke"
    )
    data = json.loads(render_json(run))
    code, said = told(data)
    assert code == 0, said
    assert "the subject lacks a stage" in said
    hidden = result(data, "bias-bound/T3", instance="toy1")
    sentence = "Not applicable: the subject offers no hypergradient."
    hidden |= {"verdict": "NOT_APPLICABLE", "evidence": [], "sentence": sentence, "counterexample": None}
    code, said = told(data)
    assert code == 1
    assert "the subject offers it elsewhere" in said


def test_of_another_subject_no_exact_rate_decides_where_it_left_the_formulas(told):
    run = verify.run(["bias-bound/T3"], subject=NoRamp(), instances=["toy1"], readings=["repaired"], profile="smoke")
    data = json.loads(render_json(run))
    found = result(data, "bias-bound/T3", instance="toy1")
    assert found["verdict"] == "REFUTED"
    for item in found["evidence"]:
        item |= {"conclusion": {"role": "support"}, "support": {"role": "conclusion"}}.get(item.get("role"), {})
    code, said = told(data)
    assert code == 1
    assert "T₃: role must be support: the subject does not agree with the exact values" in said


def test_the_evidence_on_record_is_that_of_the_checks(produced):
    """``python -m verify.campaign.recheck REPORT`` records it anew."""
    report = ReportData.model_validate_json(json.dumps(produced))
    made = inventory(report.results, share_of(1))
    kinds, held = made["kinds"], 0
    for statement, groups in made["results"].items():  # type: ignore[attr-defined]
        for chosen, instances in groups:
            for name in instances:
                # Beyond the profile's own instances each literal reading is asked, of which nothing is on record.
                if (kept := recorded().get(f"{statement}|{name}")) is not None:
                    assert kept == tuple(kinds[k] for k in chosen)  # type: ignore[index]
                    held += 1
    assert held > len(report.results) / 2
    assert RECORD.is_file()


def test_a_ramp_that_shrinks_leaves_a_multiplier_its_whole_weight(told):
    run = kept.run(["bias-bound/T2"], instances=["experiment-5d"], readings=["as-written"], profile="ci")
    data = json.loads(render_json(run))
    found = result(data, "bias-bound/T2", "as-written", "experiment-5d")
    assert any(item.get("bounds") for item in found["evidence"])
    code, said = told(data)
    assert code == 0, said


def test_proofs_are_rechecked_without_the_libraries_they_were_made_with():
    code = (
        "import sys, verify.campaign.recheck.proven_bounds; "
        "print([name for name in ('flint', 'sympy', 'daqp', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def files(tmp_path, produced: Data) -> tuple[Path, Path]:
    made = Report.model_validate_json(json.dumps(produced))
    made.write(tmp_path / "r")
    return tmp_path / "r" / "report.json", tmp_path / "r" / "evidence.json"


def test_a_report_is_decided_again_with_the_evidence_beside_it(produced, tmp_path, capsys):
    report, evidence = files(tmp_path, produced)
    assert invoke(["recheck", str(report)]) == 0
    assert re.search(r"\d\d certificates checked: all follow", capsys.readouterr().out)
    text = evidence.read_text()
    for other, said in (
        (text.replace('"holds":true', '"holds":false', 1), "must lie beside the evidence.json it was written with"),
        (None, "must have its evidence.json beside it, to decide its verdicts again"),
    ):
        evidence.unlink()
        if other is not None:
            evidence.write_text(other)
        for where in (report, report.parent):
            assert invoke(["recheck", str(where)]) == 2
            found = capsys.readouterr()
            assert (found.out, found.err.count("\n")) == ("", 1)
            assert said in found.err


def test_evidence_that_was_changed_along_with_its_digest_is_refused_for_what_it_says(few, tmp_path, capsys):
    report, evidence = files(tmp_path, few)
    held = json.loads(evidence.read_text())
    rate = next(item for one in held["results"] for item in one["evidence"] if item.get("bounds"))
    rate["bounds"][0]["constant"] /= 2
    evidence.write_text(json.dumps(held))
    data = json.loads(report.read_text())
    data["evidence_file"]["sha256"] = hashlib.sha256(evidence.read_bytes()).hexdigest()
    report.write_text(json.dumps(data))
    assert invoke(["recheck", str(report)]) == 1
    assert "refused: " in capsys.readouterr().out


NUMBERS = ("title", "stages", "printed", "repaired", "decided_by", "claimed", "quantity", "measured", "interval",
           "loose_by", "rung")  # fmt: skip


def test_a_report_of_the_first_schema_is_decided_again_as_ever(few, told):
    old = copy.deepcopy(few) | {"schema": "f2csa-report/1"}
    del old["evidence_file"]
    for row in old["results"]:
        del row["quantity"]
    for row in old["summary"]:
        for name in NUMBERS:
            del row[name]
    code, said = told(old)
    assert code == 0, said
    # In one of this schema they must be there, and follow.
    code, said = told(old | {"schema": "f2csa-report/2"})
    assert code == 1
    assert "quantity must be" in said
    assert re.search(r"refused: summary of \S+ \S+: title must follow from the results", said)


def test_the_numbers_of_a_summary_row_must_follow(few, told):
    for name, value in (("measured", 17.0), ("rung", "cited"), ("title", "x"), ("interval", [0, 1])):
        data = copy.deepcopy(few)
        row = next(row for row in data["summary"] if row["measured"] is not None)
        row[name] = value
        code, said = told(data)
        assert code == 1
        assert f"{name} must follow from the results" in said
