"""Reports edited with care, both files together: what is on record, or follows from the spec, stays as it is."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import verify
from tests import kept
from tests.verify.campaign.recheck import forgeries
from tests.verify.campaign.recheck.forged_frames import FRAMES, PLAIN, as_of
from tests.verify.campaign.recheck.forgeries import CLAIMS, NUMBERS, Forgery, follow_up
from tests.verify.campaign.recheck.tamperings import Data, certified, result
from verify.campaign.recheck.displaced_subject import Displaced
from verify.cli.main import invoke
from verify.report.formats.data_files import data_files
from verify.report.model import ReportData
from verify.report.report_files import render_json

NOTED = {
    "incomplete": "the run was interrupted",
    "change_told": "1 line on what changed beside the verdicts on record: as stated",
    "times": "times are as stated",
}
"""What nothing in a report decides: said, by the name of what was done."""
SAID = {
    "measured_to_support": "dual-accuracy .*verdict must be REFUTED, on record; it is SUPPORTED",
    "sweep_with_its_fit": "black-box .*must be as on record",
    "exchanged_evidence": "black-box .* on toy1: .*must be as on record",
    "counterexample_problem": "counterexample.problem must be that of two-of-three",
    "counterexample_of_scaled_rows": "counterexample.problem must be that of toy1 scaled",
    "closed_form_text": "closed_form.text must be .*as derived from the problem",
    "profile": "verdict must be REFUTED, on record; it is SUPPORTED",
    "seed": "dual-accuracy .*must be as on record",
    "finding_added": "findings must be the 0 against the record shipped here; there are 1",
    "expected_flag": "expected must be True, as the record shipped here has it",
    "versions": "environment: numpy must be a version",
    "sampled_point_by_a_millionth": "per-sample variance, additive noise must be as on record",
    "picture": "pictures must be as on record",
}


@pytest.fixture(scope="module")
def produced() -> Data:
    return dict(json.loads(render_json(kept.run(CLAIMS, profile="smoke"))))


@pytest.fixture
def told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[Data], tuple[int, str]]:
    """The exit code and what is said of a report, written as its two files where these can hold it."""

    def after(data: Data) -> tuple[int, str]:
        if data["seconds"] is None:
            for name, text in data_files(ReportData.model_validate_json(json.dumps(data))).items():
                (tmp_path / name).write_text(text, encoding="utf-8")
        else:
            (tmp_path / "report.json").write_text(json.dumps(data), encoding="utf-8")
        code = invoke(["recheck", str(tmp_path)])
        found = capsys.readouterr()
        return code, found.out + found.err

    return after


def test_what_was_run_is_accepted_with_all_its_numbers(produced: Data, told: Callable[[Data], tuple[int, str]]) -> None:
    code, said = told(produced)
    assert code == 0, said
    assert "are as stated" not in said
    assert follow_up(copy.deepcopy(produced)) == produced


@pytest.mark.parametrize("forgery", [*NUMBERS, *FRAMES, *PLAIN], ids=lambda made: made.__name__)
def test_a_forged_report_is_refused_or_what_nothing_decides_is_said(
    produced: Data, told: Callable[[Data], tuple[int, str]], forgery: Forgery
) -> None:
    data = copy.deepcopy(produced)
    forgery(data)
    code, said = told(data if forgery in PLAIN else follow_up(data))
    if forgery.__name__ in NOTED:
        assert code == 0
        assert re.search(f"not decided again: .*{NOTED[forgery.__name__]}", said)
    else:
        assert code == 1
        refused = [line for line in said.splitlines() if line.startswith("refused: ")]
        assert any(re.search(SAID.get(forgery.__name__, ""), line) for line in refused), said


def test_at_another_seed_what_was_drawn_is_as_stated_and_all_else_is_not(
    produced: Data, told: Callable[[Data], tuple[int, str]]
) -> None:
    data = json.loads(render_json(verify.run(["variance-bound/black-box", "bias-bound/T1"], profile="smoke", seed=7)))
    code, said = told(data)
    assert code == 0, said
    assert "not decided again: the numbers of 3 results are as stated: no record is of them" in said
    drawn, derived = copy.deepcopy(data), copy.deepcopy(data)
    forgeries.sampled_mean(drawn)
    forgeries.predicted_of_a_sweep(derived)
    assert told(follow_up(drawn))[0] == 0
    assert told(follow_up(derived))[0] == 1


# --- Another subject --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def of_another() -> Data:
    claims = ["bias-bound/T1", "bias-bound/T3", "bias-bound/T3-uniform", "dual-extraction/constraint-difference"]
    return dict(json.loads(render_json(verify.run(claims, subject=Displaced(), profile="smoke"))))


def held_against(data: Data) -> Data:
    """A comparison whose two sides the subject does not choose."""
    evidence = result(data, "bias-bound/T3", instance="toy1")["evidence"]
    return next(e for e in evidence if e["kind"] == "comparison" and "from the exact value" in e["quantity"])


def prediction(data: Data) -> None:
    found = held_against(data)
    found["predicted"] = 2 * found["measured"]


def tolerance(data: Data) -> None:
    found = held_against(data)
    found["tolerance"] = 2 * found["measured"]


def problem(data: Data) -> None:
    shown = next(one["counterexample"] for one in data["results"] if one["counterexample"])
    shown["problem"]["g"]["yy"] = [["17"]]


def formula(data: Data) -> None:
    certified(data, "bias-bound/T3", instance="toy1")["closed_form"]["text"] = "α³"


def where_it_was_asked(data: Data) -> None:
    certified(data, "bias-bound/T3", instance="toy1")["held_at"] = []


def predicted_sweep(data: Data) -> None:
    rates = [e for e in result(data, "bias-bound/T3", instance="toy1")["evidence"] if e["kind"] == "rate"]
    for point in next(rate for rate in rates if rate["points"])["points"]:
        point["predicted"] *= 1 + 1e-6


def result_left_out(data: Data) -> None:
    data["results"] = data["results"][1:]


OF_THE_SPEC: tuple[Forgery, ...] = (
    prediction, tolerance, problem, formula, where_it_was_asked, predicted_sweep, result_left_out,
)  # fmt: skip


def test_of_another_subject_its_own_answers_are_as_stated(
    of_another: Data, told: Callable[[Data], tuple[int, str]]
) -> None:
    code, said = told(of_another)
    assert code == 0, said
    assert re.search(r"not decided again: what the subject answered in \d+ results is as stated", said)


@pytest.mark.parametrize("forgery", OF_THE_SPEC, ids=lambda made: made.__name__)
def test_of_another_subject_what_the_spec_decides_is_decided(
    of_another: Data, told: Callable[[Data], tuple[int, str]], forgery: Forgery
) -> None:
    data = copy.deepcopy(of_another)
    forgery(data)
    code, said = told(follow_up(data))
    assert code == 1, said


def test_the_reference_cannot_be_sold_as_another_subject(
    produced: Data, told: Callable[[Data], tuple[int, str]]
) -> None:
    data = copy.deepcopy(produced)
    data["results"] = [one for one in data["results"] if one["about"] == "subject"]
    as_of(data, subject="mine:Solver")
    code, said = told(follow_up(data))
    assert code == 1
    assert "held_at must say where another subject than the reference was asked" in said
