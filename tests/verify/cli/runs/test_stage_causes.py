"""What is off in a subject's stages is looked for and told after a finding, for a stated time."""

from __future__ import annotations

import re

import pytest

from verify.cli.main import invoke
from verify.cli.runs.stage_causes import causes
from verify.report.report_files import Report
from verify.report.rows.letter import Letter, StageTold, WrongTold


@pytest.fixture
def run(tmp_path, capsys):
    def asked(*arguments):
        code = invoke(
            ["verify", "bias-bound/T3", "--profile", "smoke", "--jobs", "1", "--out", str(tmp_path / "r"), *arguments]
        )
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return asked


def test_a_finding_on_another_subject_says_what_is_off_in_its_stages(run, tmp_path):
    wrong = ("--subject", "verify.conformance.bugs.bent_subject:KeepsDualTerm", "--instance", "toy1")
    code, out, err = run(*wrong, "--reading", "repaired", "--causes", "120")
    assert code == 1
    found = [line for line in out.splitlines() if line.startswith("cause: ")]
    assert re.match(r"cause: hypergradient, ∇F off by up to \S+: line 6 = the right one \+ α₁·Aᵀλ̃ \(", found[0])
    assert found[1].startswith("cause: hypergradient, keeps-dual-term: ")
    assert "f2csa: looking for what is off in each stage, for 120 s at most\n" in err
    assert "keeps-dual-term" in (tmp_path / "r" / "report.html").read_text()
    code, out, _ = run(*wrong, "--reading", "repaired", "--causes", "0")
    assert (code, "cause: " in out) == (1, False)


@pytest.mark.parametrize("seconds", ["-1", "nan", "inf"])
def test_a_time_for_causes_is_one(run, seconds):
    code, out, err = run("--causes", seconds)
    assert (code, out) == (2, "")
    assert err.startswith("f2csa: --causes: must be >= 0 and finite")


def test_what_was_looked_at_in_vain_is_said():
    report = Report(environment={}, seed=0, profile="smoke", subject="mine:S", results=(), summary=())
    assert causes(report) == []
    assert causes(report.with_letter(Letter(stages=()))) == ["no stage was compared"]
    right = StageTold(stage="activation", status="agrees", sentence="9 answers agree.", compared=9)
    assert causes(report.with_letter(Letter(stages=(right,)))) == ["no stage is off by itself where it was asked"]
    off = StageTold(stage="activation", status="diverges", sentence="2 of 9 answers are off.", compared=9)
    part = WrongTold(stage="lower_level", sentence="s.", effect="", rest="This is not all: 1 of 89.")
    assert causes(report.with_letter(Letter(stages=(off,), wrong=(part,), is_whole=False))) == [
        "lower_level: s. This is not all: 1 of 89.",
        "activation: 2 of 9 answers are off.",
        "not all was asked before that ended",
    ]
