"""The action for GitHub: what its file says, and what its steps do, run as the runner runs them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.copies import script
from tests.meta import plain_yaml

ROOT = Path(__file__).parents[2]
ACTION = plain_yaml.read((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"]}
BASH = shutil.which("bash")
SOLVER = """\
import verify


class Right(verify.subjects.ReferenceSubject):
    name = "right"


class Crashing:
    def hypergradient(self, problem, x, call, rng):
        return 1 / 0
"""
needs_bash = pytest.mark.skipif(BASH is None, reason="the action's steps are for bash, which is not here")


def test_it_has_the_form_of_a_composite_action() -> None:
    assert set(ACTION) == {"name", "description", "inputs", "outputs", "runs"}
    assert set(ACTION["runs"]) == {"using", "steps"}
    assert ACTION["runs"]["using"] == "composite"
    for name, told in ACTION["inputs"].items():
        assert set(told) in ({"description", "default"}, {"description", "required"}), name
    for step in STEPS.values():
        assert ("uses" in step) != ("run" in step)
        assert set(step) <= {"name", "if", "uses", "with", "id", "shell", "working-directory", "env", "run"}
        if "run" in step:
            assert step["shell"] == "bash"
        else:
            # A release of an action, no branch of it.
            assert re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"])


def test_every_input_is_used_and_no_script_holds_one() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    used = set(re.findall(r"inputs\.([\w-]+)", text))
    assert used == set(ACTION["inputs"])
    for step in STEPS.values():
        # What a stranger's branch or title holds would be run.
        assert "${{" not in step.get("run", "")
        for name, value in step.get("env", {}).items():
            assert re.fullmatch(r"\$\{\{ inputs\.[\w-]+ \}\}", value), name
            assert f"${name}" in step["run"] or f"${{{name}" in step["run"], name
    assert "upload" not in text


@dataclass
class Done:
    code: int
    out: str
    err: str
    outputs: str
    summary: str


@dataclass
class Job:
    """A working directory, and the runner's files."""

    here: Path
    tools: Path

    def tool(self, name: str, text: str) -> None:
        file = self.tools / name
        file.write_text(text)
        file.chmod(0o755)

    def step(self, name: str, **inputs: str) -> Done:
        step = STEPS[name]
        given = {key: told.get("default", "") for key, told in ACTION["inputs"].items()} | {
            key.replace("_", "-"): value for key, value in inputs.items()
        }
        told = {key: given[re.findall(r"inputs\.([\w-]+)", value)[0]] for key, value in step["env"].items()}
        output, summary = self.tools / "output", self.tools / "summary"
        for file in (output, summary):
            file.write_text("")
        script = self.tools / "script.sh"
        script.write_text(step["run"])
        files = {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_ACTIONS": "true"}
        places = {"GITHUB_WORKSPACE": str(self.here), "GITHUB_ACTION_PATH": "/the action", "PYTHONPATH": str(ROOT)}
        paths = {"PATH": f"{self.tools}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(
            [str(BASH), "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            cwd=self.here, env=os.environ | files | places | paths | told, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr, output.read_text(), summary.read_text())


@pytest.fixture
def job(tmp_path: Path, copied: list[str]) -> Job:
    made = Job(tmp_path / "a checkout", tmp_path / "tools")
    made.here.mkdir()
    made.tools.mkdir()
    made.tool("f2csa", script(copied, "-m verify"))
    (made.here / "solver.py").write_text(SOLVER)
    return made


QUICK = {"claims": "bias-bound/black-box", "arguments": "--instance toy1 --jobs 1", "profile": "smoke"}


@needs_bash
def test_a_fault_is_annotated_summed_up_and_the_exit_code(job: Job) -> None:
    done = job.step("Judge", subject="solver:Crashing", sarif="f2csa.sarif", **QUICK)
    assert (done.code, done.outputs) == (3, "exit-code=3\nreport=report\n"), done.err
    assert "::error file=solver.py,line=10,title=fault%3A bias-bound/black-box [repaired] on toy1::" in done.out
    assert done.summary == (job.here / "report" / "report.md").read_text(encoding="utf-8")
    assert "## Faults" in done.summary
    assert (job.here / "f2csa.sarif").is_file()


@needs_bash
def test_a_baseline_is_compared_and_what_moved_is_written(job: Job) -> None:
    first = job.step("Judge", subject="solver:Right", **QUICK)
    assert (first.code, first.outputs) == (0, "exit-code=0\nreport=report\n"), first.err
    assert "::error" not in first.out
    (job.here / "old.json").write_bytes((job.here / "report" / "report.json").read_bytes())
    (job.here / "report" / "evidence.json").replace(job.here / "evidence.json")
    again = job.step("Judge", subject="solver:Right", baseline="old.json", comment="moved.md", **QUICK)
    assert again.code == 0, again.err
    assert "nothing moved" in (job.here / "moved.md").read_text(encoding="utf-8")


@needs_bash
def test_conform_takes_a_program_by_its_command_line(job: Job) -> None:
    job.tool("f2csa", '#!/bin/sh\nfor word in "$@"; do echo "<$word>"; done\nexit 1\n')
    done = job.step("Judge", judge="conform", subject="command:node 'my subject.mjs'", out="a folder")
    assert (done.code, done.outputs, done.summary) == (1, "exit-code=1\nreport=\n", "")
    assert done.out.splitlines() == [
        "<conform>", "<--annotations>", "<github>", "<--out=a folder>", "<--command=node 'my subject.mjs'>", "<-->",
    ]  # fmt: skip
    asked = job.step("Judge", judge="conform", subject="solver:Right", claims="a b", arguments="--seed 1").out
    assert asked.splitlines()[4:] == ["<--python=solver:Right>", "<--seed>", "<1>", "<-->", "<a>", "<b>"]


@needs_bash
@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"judge": "prove"}, "judge must be verify or conform"),
        ({"judge": "conform", "baseline": "b.json"}, "baseline must go with judge: verify"),
        ({"comment": "c.md"}, "comment must go with a baseline"),
    ],
)
def test_wrong_inputs_are_refused_with_one_line(job: Job, inputs: dict[str, str], said: str) -> None:
    done = job.step("Judge", subject="solver:Right", **inputs)
    assert (done.code, done.out, done.outputs) == (2, f"::error title=F2CSA claims::{said}\n", "exit-code=2\n")


@needs_bash
@pytest.mark.parametrize("judge", ["verify", "conform"])
def test_nobody_is_judged_where_nobody_is_named(job: Job, judge: str) -> None:
    (job.here / "pyproject.toml").write_text("[tool.f2csa]\nseed = 1\n")
    done = job.step("Judge", judge=judge)
    said = "subject must be given, or stand in f2csa.toml or [tool.f2csa] of pyproject.toml"
    assert (done.code, done.out, done.outputs) == (2, f"::error title=F2CSA claims::{said}\n", "exit-code=2\n")


@needs_bash
def test_the_subject_of_the_settings_is_judged_whatever_else_is_asked(job: Job) -> None:
    (job.here / "f2csa.toml").write_text('subject = "solver:Crashing"\n')
    asked = {"claims": "bias-bound/black-box", "profile": "smoke"}
    done = job.step("Judge", arguments="--no-settings --instance toy1 --jobs 1", **asked)
    assert (done.code, done.outputs) == (3, "exit-code=3\nreport=report\n")


@needs_bash
def test_a_second_part_is_summed_up_and_compared_by_itself(job: Job) -> None:
    more = {"subject": "solver:Right", "arguments": "--instance toy1 --jobs 1", "profile": "smoke"}
    both = "bias-bound/black-box solution-error/gradient-difference"
    assert job.step("Judge", claims=both, **more).code == 0
    (job.here / "old.json").write_bytes((job.here / "report" / "report.json").read_bytes())
    (job.here / "evidence.json").write_bytes((job.here / "report" / "evidence.json").read_bytes())
    part = {"claims": "bias-bound/black-box", "baseline": "old.json", "comment": "moved.md"}
    done = job.step("Judge", **(more | part))
    assert (done.code, done.outputs) == (0, "exit-code=0\nreport=report/part\n"), done.err
    assert done.summary == (job.here / "report" / "part" / "report.md").read_text(encoding="utf-8")
    assert "nothing moved" in (job.here / "moved.md").read_text(encoding="utf-8")


@needs_bash
def test_the_settings_name_the_subject_its_reading_and_its_known_failures(job: Job) -> None:
    known = '[expected-failures]\n"bias-bound/black-box" = "crashes"\n'
    (job.here / "f2csa.toml").write_text(f'subject = "solver:Right"\nreading = "repaired"\nprofile = "smoke"\n{known}')
    done = job.step("Judge", claims="bias-bound/black-box", arguments="--jobs 1")
    assert (done.code, done.outputs) == (1, "exit-code=1\nreport=report\n"), done.err
    assert "bias-bound/black-box [repaired] is expected to fail (crashes), but holds on 2 instances" in done.out


@needs_bash
def test_after_wrong_input_the_report_of_another_run_is_no_summary(job: Job) -> None:
    (job.here / "report").mkdir()
    (job.here / "report" / "report.md").write_text("<!-- f2csa-verify -->\nof another run")
    done = job.step("Judge", subject="solver:Right", claims="no-such-claim")
    assert (done.code, done.outputs, done.summary) == (2, "exit-code=2\nreport=\n", "")


@needs_bash
@pytest.mark.parametrize(
    ("inputs", "installed"),
    [
        ({}, ["/the action"]),
        ({"version": "0.1.0"}, ["f2csa-verify==0.1.0"]),
        ({"install": ". torch"}, ["/the action", ".", "torch"]),
    ],
)
def test_the_checkout_or_a_version_is_installed(job: Job, inputs: dict[str, str], installed: list[str]) -> None:
    job.tool("python", '#!/bin/sh\nfor word in "$@"; do echo "<$word>"; done\n')
    done = job.step("Install", **inputs)
    assert done.code == 0, done.err
    words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", *installed]
    assert done.out.splitlines() == [f"<{word}>" for word in words]


@pytest.mark.parametrize(
    "text", ["a: [1]\n", "a:\n   b: c\n", "a: b\na: c\n", "a: b: c\n", "a: &x b\n", "a:\n", "- a\n"]
)
def test_the_reader_refuses_what_is_not_plain(text: str) -> None:
    with pytest.raises(ValueError, match="line"):
        plain_yaml.read(text)
