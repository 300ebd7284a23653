"""A project's settings on the command line: what was given goes before them, and they are of their subject alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from verify.cli.main import invoke
from verify.subjects import Call, ReferenceSubject

HERE = f"{__name__}:"
FAILS, HOLDS = "bias-bound/black-box", "solution-error/gradient-difference"


class Mixed:
    """A wrong hypergradient beside a right penalty minimiser."""

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        return ReferenceSubject().hypergradient(problem, x, call, rng) + 0.3

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float) -> Any:
        return ReferenceSubject().penalty_minimiser(problem, x, call, tol)


SETTINGS = f"""
subject = "{HERE}Mixed"
profile = "smoke"
reading = "repaired"
seed = 7
time-limit = 50.0
"""
EXPECTED = f"{SETTINGS}[expected-failures]\n'{FAILS}' = 'note 12'\n"


@pytest.fixture
def at(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def asked(*arguments: str) -> tuple[int, str, str]:
        code = invoke([*arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return asked


def verified(at: Any, *arguments: str) -> tuple[int, str, Any]:
    # What is off in its stages is not looked into: tests of that are elsewhere.
    code, out, _ = at("verify", FAILS, HOLDS, "--jobs", "1", "--in-process", "--causes", "0", *arguments)
    return code, out, json.loads(Path("report/report.json").read_text())


def test_what_was_not_given_comes_from_the_settings(at: Any) -> None:
    Path("f2csa.toml").write_text(EXPECTED)
    code, out, report = verified(at)
    assert code == 0, out
    assert (report["subject"], report["profile"], report["seed"]) == (f"{HERE}Mixed", "smoke", 7)
    assert {result["reading"] for result in report["results"]} == {"repaired"}
    assert "note: settings of f2csa.toml\n" in out
    assert ", 2 expected failures in " in out.splitlines()[-1]
    assert verified(at, "--seed", "8", "--fresh")[2]["seed"] == 8


def test_another_subject_and_nobody_at_all_have_no_use_for_them(at: Any) -> None:
    Path("pyproject.toml").write_text("[tool.f2csa]" + EXPECTED.replace("[expected", "[tool.f2csa.expected"))
    code, out, report = verified(at, "--subject", "reference", "--profile", "smoke", "--instance", "toy1")
    assert (code, report["subject"]) == (0, "reference")
    assert "expected_failures" not in report or report["expected_failures"] == []
    assert "note: settings of pyproject.toml [tool.f2csa] are another subject's: none of them is used\n" in out
    code, _, report = verified(
        at,
        "--no-settings",
        "--subject",
        f"{HERE}Mixed",
        "--profile",
        "smoke",
        "--reading",
        "repaired",
        "--fresh",
    )
    assert code == 1
    assert report["seed"] != 7


def test_an_effort_goes_with_a_profile_so_that_a_command_repeats_its_result(at: Any) -> None:
    Path("f2csa.toml").write_text(f"effort = 4\n{SETTINGS}")
    _, _, report = verified(at, "--instance", "toy1")
    assert {result.get("effort", 1) for result in report["results"]} == {4}
    command = next(result["reproduce"] for result in report["results"] if result["claim"] == FAILS).split()
    code, _, _ = at(*command[1:], "--jobs", "1", "--in-process", "--causes", "0", "--out", "again")
    assert code == 1
    again = json.loads(Path("again/report.json").read_text())
    (same,) = [result for result in report["results"] if result["claim"] == FAILS]
    assert again["results"] == [same]


def test_lists_in_files_are_of_whoever_is_judged(at: Any) -> None:
    Path("x.txt").write_text(f"# ours\n{FAILS}  # note 12\n")
    Path("s.txt").write_text(f"{HOLDS}|repaired|toy1  # later\n")
    Path("f2csa.toml").write_text(SETTINGS)
    code, out, report = verified(at, "--xfails-file", "x.txt", "--skips-file", "s.txt")
    # Of what holds, one instance was not asked: nothing is supported.
    assert code == 1
    assert ", 2 expected failures, 1 result skipped in " in out.splitlines()[-1]
    assert report["skips"] == [{"id": f"{HOLDS}|repaired|toy1", "reason": "later"}]


def test_an_expected_failure_does_not_stop_a_run(at: Any) -> None:
    Path("f2csa.toml").write_text(EXPECTED)
    assert verified(at, "-x")[0] == 0
    Path("f2csa.toml").write_text(SETTINGS)
    code, out, _ = at("verify", FAILS, HOLDS, "--jobs", "1", "--in-process", "-x", "--fresh")
    assert code == 1
    assert f"stopped at {FAILS}" in out


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("seed = ", (), "f2csa.toml: must be TOML"),
        ("sead = 1", (), "f2csa.toml.sead"),
        ("baseline = 'none.json'", (), "f2csa.toml baseline: must be there: f2csa baseline record writes it"),
        (EXPECTED, ("--xfails-file", "x.txt"), "--xfails-file: must not name what the settings name, too"),
        (SETTINGS, ("--skips-file", "none.txt"), "--skips-file: cannot be read"),
        (SETTINGS + "[skips]\n'smoothness' = 'r'", (), "skips smoothness"),
    ],
)
def test_broken_lists_are_one_line_and_exit_2(at: Any, text: str, arguments: tuple[str, ...], said: str) -> None:
    Path("f2csa.toml").write_text(text)
    Path("x.txt").write_text(f"{FAILS} # again\n")
    code, out, err = at("verify", HOLDS, *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert not Path("report").exists()


def test_the_baseline_of_the_settings_is_compared_and_a_part_beyond_it_is_not_refused(at: Any) -> None:
    Path("f2csa.toml").write_text(EXPECTED)
    assert at("baseline", "record", FAILS, "--jobs", "1", "--in-process")[0] == 1  # nothing of it holds
    Path("f2csa.toml").write_text(f"baseline = 'f2csa-baseline.json'\n{EXPECTED}")
    code, out, _ = verified(at)
    assert code == 0, out
    code, out, _ = at("verify", HOLDS, "--jobs", "1", "--in-process", "--out", "beside")
    assert code == 0
    assert "f2csa-baseline.json holds nothing of this part: not compared with it" in out
    assert at("verify", HOLDS, "--baseline", "f2csa-baseline.json", "--out", "beside")[0] == 2
    code, out, _ = at("baseline", "compare", "f2csa-baseline.json", "--jobs", "1", "--in-process", "--causes", "0")
    assert "0 findings, 0 faults" in out


def test_conform_judges_the_subject_of_the_settings(at: Any) -> None:
    Path("f2csa.toml").write_text(f"subject = '{HERE}Mixed'\n")
    code, out, _ = at("conform", "--self-test", "--in-process")
    assert code == 0
    assert "hypergradient" in out
    assert at("conform", "--no-settings", "--self-test")[0] == 2
    Path("f2csa.toml").write_text("subject = 'command:definitely-not-a-program'\n")
    code, _, err = at("conform")
    assert code == 2
    assert "definitely-not-a-program" in err


def test_the_settings_in_force_are_shown(at: Any) -> None:
    code, out, _ = at("settings")
    assert (code, out.startswith("no settings here")) == (0, True)
    assert json.loads(at("settings", "--json")[1])["subject"] is None
    Path("f2csa.toml").write_text(EXPECTED)
    assert at("settings")[1].splitlines() == [
        "f2csa.toml:", f"  subject: {HERE}Mixed", "  profile: smoke", "  reading: repaired", "  seed: 7",
        "  time-limit: 50.0", "  expected-failures:", f"    {FAILS}: note 12",
    ]  # fmt: skip
    told = json.loads(at("settings", "--json")[1])
    assert (told["source"], told["subject"], told["skips"]) == ("f2csa.toml", f"{HERE}Mixed", {})
    Path("f2csa.toml").write_text("seed = x")
    assert at("settings")[0] == 2
