"""The commands that record, compare and show."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from verify.cli.implementations.exports import schemas
from verify.cli.main import invoke
from verify.subjects import Call, ReferenceSubject

HERE = f"{__name__}:"
QUICK = ("bias-bound/black-box", "--reading", "repaired", "--instance", "toy1", "--profile", "smoke", "--jobs", "1")


class Plain:
    """A stranger's hypergradient."""

    version = "1"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        return ReferenceSubject().hypergradient(problem, x, call, rng)


class Drifted(Plain):
    """The same with a bias ten per cent larger from outside: of the same order, so no verdict changes."""

    version = "2"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        own = call if call.y_star is not None else replace(call, alpha=call.alpha * 1.1)
        return super().hypergradient(problem, x, own, rng)


class Crashing(Plain):
    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        raise RuntimeError("no")


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = invoke([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "baseline.json"
    code, out, err = run(capsys, "baseline", "record", *QUICK, "--subject", HERE + "Plain", "--out", path)
    assert (code, err) == (0, "")
    assert "1 result of" in out
    return path


def test_the_same_again_is_no_finding(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "baseline", "compare", recorded, "--jobs", "1")
    assert code == 0
    assert "1 result and" in out
    assert "0 findings, 0 faults" in out
    other_seed = run(capsys, "baseline", "compare", recorded, "--jobs", "1", "--seed", "5")
    assert other_seed[0] == 0


def test_a_constant_ten_per_cent_off_is_found(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("baseline", "compare", recorded, "--jobs", "1", "--causes", "0", "--subject", HERE + "Drifted")
    code, out, _ = run(capsys, *arguments)
    assert code == 1
    assert "‖ĝ - ∇F‖/(1 + L_λ) at alpha = " in out
    assert "off by 9.5 %, allowed 0.011 %" in out
    code, out, _ = run(capsys, *arguments, "--json")
    found = json.loads(out)
    Draft202012Validator(schemas()["baseline-comparison"]).validate(found)
    assert any(change["kind"] == "constant" and change["worse"] for change in found["changes"])


def test_verify_takes_the_baseline_and_reports_the_drift(
    recorded: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ("verify", *QUICK, "--causes", "0", "--baseline", recorded, "--out", tmp_path / "r")
    code, out, _ = run(capsys, *arguments, "--subject", HERE + "Plain")
    assert code == 0, out
    code, out, _ = run(capsys, *arguments, "--subject", HERE + "Drifted")
    assert code == 1
    assert "off by 9.5 %" in out
    assert "## Findings" in (tmp_path / "r" / "report.md").read_text()
    assert "agrees with the verdicts on record" in (tmp_path / "r" / "junit.xml").read_text()
    # The report itself can be recorded, and compared.
    code, out, _ = run(capsys, "baseline", "compare", recorded, "--with", tmp_path / "r" / "report.json")
    assert code == 1
    new = tmp_path / "new.json"
    assert run(capsys, "baseline", "record", "--from", tmp_path / "r", "--out", new)[0] == 0
    assert json.loads(new.read_text())["subject_version"] == "2"
    code, out, _ = run(capsys, "baseline", "compare", new, "--with", tmp_path / "r", "--out", tmp_path / "again")
    assert code == 0
    assert (tmp_path / "again" / "report.md").is_file()
    # Without its evidence a report has no numbers: none to record, none to compare.
    (tmp_path / "r" / "evidence.json").unlink()
    for refused in (
        ("record", "--from", tmp_path / "r", "--out", tmp_path / "x"),
        ("compare", new, "--with", tmp_path / "r"),
    ):
        code, out, err = run(capsys, "baseline", *refused)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "must have its evidence.json beside it" in err
    assert run(capsys, *arguments, "--subject", HERE + "Plain", "--baseline", tmp_path / "r" / "report.json")[0] == 0


def test_faults_are_not_recorded_and_no_findings(
    recorded: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    crashing = ("--subject", HERE + "Crashing")
    code, out, _ = run(capsys, "baseline", "record", *QUICK, *crashing, "--out", tmp_path / "c.json")
    assert code == 3
    assert "nothing was recorded" in out
    assert not (tmp_path / "c.json").exists()
    code, out, _ = run(capsys, "baseline", "compare", recorded, "--jobs", "1", *crashing)
    assert code == 3
    assert "0 findings, 1 fault" in out


def test_wrong_input_is_one_line(recorded: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    foreign = tmp_path / "notes.json"
    foreign.write_text('{"mine": 1}')
    for arguments in (
        ("compare", tmp_path / "missing.json"),
        ("compare", foreign),
        ("compare", recorded, "--with", foreign),
        ("compare", recorded, "--with", tmp_path, "--seed", "1"),
        ("compare", recorded, "solution-error"),
        ("compare", recorded, "--profile", "fast"),
        ("compare", recorded, "--subject", "nowhere:Thing"),
        ("record", *QUICK, "--out", foreign),
        ("record", *QUICK, "--out", tmp_path),
        ("record", "--from", tmp_path / "missing.json", "--out", tmp_path / "x.json"),
        ("record", "--from", recorded, "--out", tmp_path / "x.json"),
        ("record", "--from", tmp_path, "--seed", "3", "--out", tmp_path / "x.json"),
        ("record", "nothing", "--out", tmp_path / "x.json"),
    ):
        code, out, err = run(capsys, "baseline", *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1), (arguments, out, err)
        assert err.startswith("f2csa: ")
    assert foreign.read_text() == '{"mine": 1}'
    assert not (tmp_path / "x.json").exists()


def test_a_badge_of_a_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(capsys, "verify", *QUICK, "--out", tmp_path / "r")[0] == 0
    code, out, _ = run(capsys, "badge", tmp_path / "r")
    assert code == 0
    assert out.startswith("F2CSA: 1 of 1 statements about a solver hold\n")
    assert json.loads((tmp_path / "r" / "badge.json").read_text())["color"] == "brightgreen"
    assert run(capsys, "badge", tmp_path / "r" / "report.json", "--out", tmp_path / "b", "--label", "mine")[0] == 0
    assert "<title>mine: 1 of 1" in (tmp_path / "b" / "badge.svg").read_text()
    code, out, err = run(capsys, "badge", tmp_path / "nowhere")
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_nothing_in_common_is_wrong_input_and_no_success(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "verify", *QUICK, "--out", tmp_path / "report")[0] == 0
    other = tmp_path / "other.json"
    other.write_text('{"bias-bound/T1|repaired|toy2": "SUPPORTED"}')
    code, out, err = run(capsys, "baseline", "compare", other, "--with", tmp_path / "report")
    assert (code, out) == (2, "")
    assert "FILE: must have at least one result in common with the run" in err
    code, out, err = run(capsys, "verify", *QUICK, "--out", tmp_path / "report", "--baseline", other)
    assert (code, out) == (2, "")
    assert "--baseline: must hold a result of what is to be run" in err


class Zero:
    """Knows nothing."""

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        return 0.0 * x


def test_a_subject_for_which_nothing_holds_is_no_success(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = run(capsys, "baseline", "record", *QUICK, "--subject", HERE + "Zero", "--out", tmp_path / "z.json")
    assert code == 1
    assert "no repaired statement about a solver holds" in out
    assert run(capsys, "verify", *QUICK, "--causes", "0", "--subject", HERE + "Zero", "--out", tmp_path / "z")[0] == 1
    code, out, _ = run(capsys, "badge", tmp_path / "z")
    assert code == 1
    assert "F2CSA: 0 of 1 statements about a solver hold" in out
    # Not even against its own record.
    code, out, _ = run(capsys, "baseline", "compare", tmp_path / "z.json", "--causes", "0")
    assert code == 1
    assert "0 findings" in out
    assert "no repaired statement about a solver holds" in out


def test_the_refutations_of_a_text_are_no_credit_to_who_computes_something_else(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    literal = ("bias-bound/T3", "--instance", "toy1", "--reading", "as-written", "--jobs", "1")
    code, out, _ = run(capsys, "verify", *literal, "--subject", HERE + "Zero", "--out", tmp_path / "z")
    assert code == 3
    assert "NOT_APPLICABLE, on record REFUTED. Premise “stages-as-asked” is not met" in out


def test_what_moved_is_written_as_a_comment(recorded: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    comment = tmp_path / "moved.md"
    arguments = ("baseline", "compare", recorded, "--jobs", "1", "--comment", comment)
    assert run(capsys, *arguments)[0] == 0
    assert "**F2CSA claims: nothing moved** (1 result and " in comment.read_text()
    code, out, _ = run(capsys, *arguments, "--subject", HERE + "Drifted", "--annotations", "github")
    assert code == 1
    assert out.startswith("::error title=finding%3A bias-bound/black-box [repaired] on toy1::")
    assert "off by 9.5 %, allowed 0.011 %" in comment.read_text()
    # What is off in its stages is looked for, and told with what moved.
    (cause,) = [line for line in out.splitlines() if line.startswith("cause: ")]
    assert cause.startswith("cause: hypergradient, ∇F off by up to 0.0")
    assert "What is off in its stages:\n\n- " in comment.read_text()
    comment.write_text("my own words")
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("f2csa: --comment: must not hold a moved.md that f2csa did not write")
    assert comment.read_text() == "my own words"


def pool() -> ThreadPoolExecutor:
    ASKED.append("pool")
    return ThreadPoolExecutor(1)


ASKED: list[str] = []


def test_an_executor_records_and_compares(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there, mine = tmp_path / "there.json", ("--subject", HERE + "Plain", "--executor", HERE + "pool")
    ASKED.clear()
    assert run(capsys, "baseline", "record", *QUICK, *mine, "--out", there)[0] == 0
    assert there.read_bytes() == recorded.read_bytes()
    code, out, _ = run(capsys, "baseline", "compare", recorded, "--executor", HERE + "pool")
    assert (code, out.splitlines()[-1]) == (0, "1 result and 2 numbers compared: 0 findings, 0 faults")
    drifted = ("--causes", "0", "--subject", HERE + "Drifted", "--executor", HERE + "pool")
    assert run(capsys, "baseline", "compare", recorded, *drifted)[0] == 1
    assert ASKED == ["pool"] * 3


@pytest.mark.parametrize(("verb", "option"), [("record", "--from"), ("compare", "--with")])
def test_nothing_is_run_elsewhere_of_a_report(
    recorded: Path, capsys: pytest.CaptureFixture[str], verb: str, option: str
) -> None:
    given = [recorded] if verb == "compare" else []
    code, _, err = run(capsys, "baseline", verb, *given, option, "report.json", "--executor", HERE + "pool")
    assert (code, err) == (
        2,
        f"f2csa: --executor: must not be given together with {option}: that report was run already\n",
    )
