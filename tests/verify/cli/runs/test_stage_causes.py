"""What is off in a subject's stages is looked for and told after a finding, for a stated time."""

from __future__ import annotations

import re

import pytest

from verify.cli.main import invoke
from verify.cli.runs.stage_causes import causes, letter_of_stages
from verify.report.findings.found_issues import SourceLine, SourceTree, issues_of
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


def test_the_line_that_makes_a_stage_wrong_is_told_with_its_cause(tmp_path, monkeypatch, capsys):
    source = (
        "from verify.subjects import ReferenceSubject\n\n\nclass Solver:\n"
        "    def activation(self, problem, *given):\n"
        "        weights = ReferenceSubject().activation(problem, *given)\n"
        "        return weights * weights\n"
    )
    (tmp_path / "my_weights.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    letter = letter_of_stages("my_weights:Solver", 0, 60.0, None, trace=True)
    line = next(line for line in letter.causes() if line.startswith("activation, my_weights.py:7: "))
    assert line.startswith("activation, my_weights.py:7: `weights * weights` should be `weights` (wrong on ")
    assert "all right with this put right" in line
    assert "f2csa: looking for the line: activation (1 of 1)" in capsys.readouterr().err
    report = Report(environment={}, seed=0, profile="smoke", subject="my_weights:Solver", results=(), summary=())
    issues = issues_of(report.with_letter(letter), SourceTree(tmp_path, tmp_path))
    assert [issue.place for issue in issues if issue.rule == "stage/activation"] == [SourceLine("my_weights.py", 7)]


WRONG = ("--subject", "verify.conformance.bugs.bent_subject:KeepsDualTerm")


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ((), "must go with a Python subject, package.module:Attribute; got reference"),
        (
            ("--subject", "command:./mine"),
            "must go with a Python subject, package.module:Attribute; got command:./mine",
        ),
        ((*WRONG, "--causes", "0"), "must not go with --causes 0: causes are not looked for then"),
        ((*WRONG, "--quiet"), "must not go with --quiet: causes are not looked for then"),
        ((*WRONG, "--shard", "1/2"), "must not go with --shard: causes are not looked for then"),
    ],
)
def test_no_line_is_looked_for_where_causes_are_not(run, given, rule):
    code, out, err = run("--trace", *given)
    assert (code, out) == (2, "")
    assert err == f"f2csa: --trace: {rule}\n"
