"""Annotations and SARIF from the commands: explicit wins, JSON stays JSON, no file of others is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from verify.cli.main import invoke

HERE = f"{__name__}:"
ASKED = ("bias-bound/black-box", "--reading", "repaired", "--instance", "toy1", "--profile", "smoke", "--jobs", "1")


class Crashing:
    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        return 1 / 0  # the line


LINE = next(k for k, text in enumerate(Path(__file__).read_text().splitlines(), 1) if text.endswith("# the line"))


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(Path(__file__).parents[4])

    def asked(*arguments: object, subject: str = HERE + "Crashing") -> tuple[int, str, str]:
        code = invoke(
            [
                "verify",
                *ASKED,
                "--causes",
                "0",
                "--out",
                str(tmp_path / "r"),
                "--subject",
                subject,
                *map(str, arguments),
            ]
        )
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return asked


def commands(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("::")]


def test_a_fault_is_annotated_at_its_line(run: Any) -> None:
    code, out, _ = run("--annotations", "github")
    assert code == 3
    (line,) = commands(out)
    assert line.startswith(
        f"::error file=tests/verify/cli/output/test_ci_output.py,line={LINE},title=fault%3A bias-bound/"
    )
    assert "ZeroDivisionError" in line
    assert out.splitlines()[-1].startswith("1 result in ")


def test_in_a_workflow_it_is_automatic_and_an_explicit_option_wins(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert commands(run()[1]) == []
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert len(commands(run()[1])) == 1
    assert commands(run("--annotations", "none")[1]) == []


def test_json_on_standard_output_stays_json(run: Any) -> None:
    _, out, err = run("--annotations", "github", "--json")
    assert json.loads(out)["subject"] == HERE + "Crashing"
    assert len(commands(err)) == 1


def test_what_is_as_expected_is_not_annotated(run: Any, tmp_path: Path) -> None:
    code, out, _ = run("--annotations", "github", "--sarif", tmp_path / "log.sarif", subject="reference")
    assert (code, commands(out)) == (0, [])
    assert json.loads((tmp_path / "log.sarif").read_text())["runs"][0]["results"] == []


def test_the_log_is_written_and_written_again(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "logs" / "f2csa.sarif"
    assert run("--sarif", file)[0] == 3
    first = file.read_bytes()
    (result,) = json.loads(first)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "tests/verify/cli/output/test_ci_output.py"
    assert run("--sarif", file)[0] == 3
    assert file.read_bytes() == first


def test_what_cannot_be_done_is_refused_before_the_run(run: Any, tmp_path: Path) -> None:
    own = tmp_path / "mine.sarif"
    own.write_text('{"runs": []}')
    for arguments, said in (
        (("--annotations", "gitlab"), "--annotations: must be one of github, none"),
        (("--sarif", own), "--sarif"),
        (("--sarif", tmp_path), "--sarif: must be a file, not a folder"),
    ):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert said in err
        assert len(err.splitlines()) == 1
    assert own.read_text() == '{"runs": []}'
    assert not (tmp_path / "r").exists()


def test_conform_names_the_stage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = (
        "conform",
        "bias-bound/T3",
        "--python",
        "verify.conformance.bugs.bent_subject:KeepsDualTerm",
        "--jobs",
        "1",
    )
    code = invoke([*asked, "--out", str(tmp_path / "c"), "--annotations", "github", "--sarif", str(tmp_path / "s")])
    assert code == 1
    first = commands(capsys.readouterr().out)[0]
    assert first.startswith("::error title=finding%3A stage/hypergradient::line 6 = the right one + α₁·Aᵀλ̃ (")
    results = json.loads((tmp_path / "s").read_text())["runs"][0]["results"]
    assert {result["ruleId"] for result in results} >= {"stage/hypergradient", "bias-bound/T3"}
