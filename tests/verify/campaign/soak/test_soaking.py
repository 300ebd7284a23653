"""A soak finds what goes wrong on one family alone, shrinks it, and writes a problem and a command that repeat it."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spec.atlas import read_instance
from spec.drawn import FAMILIES
from verify import run
from verify.campaign.run_options import RunOptions
from verify.campaign.soak.model import FILE, SoakReport
from verify.campaign.soak.shrinking import SECONDS
from verify.campaign.soak.soaking import Soak
from verify.checks.measuring.case import checks
from verify.checks.measuring.where_asked import can_draw
from verify.cli.main import invoke
from verify.report.findings.drawn_problems import CLEAN
from verify.truth.strata import strata_of

CLAIM = "solution-error/gradient-difference"
FAMILY = "weakly-active"
SUBJECT = """
import numpy as np
from verify.subjects.reference import ReferenceSubject


class Subject(ReferenceSubject):
    def hypergradient(self, problem, x, call, rng):
        wrong = np.linalg.cond(problem.arrays.g_yy) > 1000
        return super().hypergradient(problem, x, call, rng) + (0.1 if wrong else 0.0)
"""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A check that fails where a row is weakly active, and the names of the problems it was asked about."""
    found, names = checks()[CLAIM], []

    @functools.wraps(found.function)
    def fails(case: Any) -> Any:
        names.append(case.instance.name)
        if FAMILY in strata_of(case.instance):
            raise ZeroDivisionError(f"planted at {case.instance.x}")
        return found.function(case)

    monkeypatch.setitem(checks(), CLAIM, replace(found, function=fails))
    return names


def options(**how: Any) -> RunOptions:
    return RunOptions([CLAIM], readings=["repaired"], profile="smoke", **how)


def soaked(out: Path, draws: int, shrinking: float = SECONDS) -> SoakReport:
    return Soak(out, options(draws=draws), shrinking=shrinking).carried_out()[0]


def test_a_fault_planted_in_one_family_is_found_and_shrunk(
    tmp_path: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = soaked(Path("out"), draws=2)
    (finding,) = found.findings
    families = [name for name, family in FAMILIES.items() if can_draw(checks()[CLAIM], family)]
    assert found.verdicts.keys() == set(families)
    assert found.verdicts[FAMILY] == {"FAULT": 2}
    assert all("FAULT" not in counts for family, counts in found.verdicts.items() if family != FAMILY)
    assert (finding.outcome, finding.families, finding.first) == ("FAULT", {FAMILY: 2}, f"drawn:{FAMILY}:0")
    assert (finding.n, finding.m, finding.p) == (1, 1, 1)
    assert found.exit_code == 3
    assert SoakReport.model_validate_json((tmp_path / "out" / FILE).read_text()) == found
    small = read_instance(finding.instance)
    assert FAMILY in strata_of(small)
    (again,) = run([CLAIM], instances=[finding.instance], readings=["repaired"], profile="smoke").results
    assert again.fault is not None
    assert "planted" in again.fault
    assert again.reproduce == finding.command
    assert finding.command in (tmp_path / finding.instance).read_text()
    assert not (tmp_path / ".hypothesis").exists()


def test_a_second_soak_goes_on_where_the_first_was(tmp_path: Path, asked: list[str]) -> None:
    soaked(tmp_path, draws=1, shrinking=0.0)
    first = {name for name in asked if name.startswith("drawn:")}
    asked.clear()
    both = soaked(tmp_path, draws=2, shrinking=0.0)
    again = [name for name in asked if name.startswith("drawn:") and FAMILY not in name]
    assert all(name.endswith(":0") for name in first)
    assert again
    assert all(name.endswith(":1") for name in again)
    assert all(sum(counts.values()) == 2 for counts in both.verdicts.values())
    # Without a moment to look for a smaller one it is the draw itself that is written.
    assert both.findings[0].instance


def test_it_ends_by_the_clock_with_what_is_done(tmp_path: Path, asked: list[str]) -> None:
    report, interrupted = Soak(tmp_path, options(), seconds=0.001).carried_out()
    assert not interrupted
    assert not report.complete
    assert 0 < report.results < sum(can_draw(checks()[CLAIM], family) for family in FAMILIES.values())


def test_a_time_too_short_for_one_problem_of_each_family_is_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["soak", "bias-bound/T3", "--jobs", "1", "--quiet", "--out", str(tmp_path)]
    assert invoke([*asked, "--for", "0.001s"]) == 3
    assert "before one problem of each family was asked about: no success" in capsys.readouterr().err
    assert invoke([*asked, "--draws", "1"]) == 0


def test_its_store_makes_a_report_of_drawn_problems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = soaked(tmp_path / "soak", draws=2)
    assert invoke(["report", str(tmp_path / "soak"), "--out", str(tmp_path / "report")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"{CLEAN}. Instead of the atlas, 2 problems of each of" in said
    assert f"{drawn.results} results on drawn problems; report:" in said
    text = (tmp_path / "report" / "report.md").read_text()
    assert "No check was run" not in text
    assert f"Repaired, of {drawn.results:,} results on them" in text


def test_its_store_is_no_success_of_who_was_compared_with_nothing(tmp_path: Path) -> None:
    report = run([CLAIM], readings=["repaired"], profile="smoke", draws=1, atlas=False)
    assert (report.only_drawn, report.exit_code) == (True, 0)
    assert report.draws is not None
    rows = tuple(row.model_copy(update={"verdicts": {"NOT_APPLICABLE": 1}}) for row in report.draws.rows)
    assert report.model_copy(update={"draws": report.draws.model_copy(update={"rows": rows})}).exit_code == 3
    assert report.model_copy(update={"draws": None}).exit_code == 3


def test_an_interrupt_is_no_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_done: int, _total: int, _what: str) -> None:
        raise KeyboardInterrupt

    report, interrupted = Soak(tmp_path, options(draws=1, progress=stop)).carried_out()
    assert interrupted
    assert report.results == 1


@pytest.fixture
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "badly_conditioned.py").write_text(SUBJECT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path


def test_the_command_of_a_finding_repeats_it_as_it_stands(
    in_a_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["bias-bound/T3", "--reading", "repaired", "--draws", "1", "--profile", "smoke", "--jobs", "1"]
    code = invoke(["soak", *asked, "--subject", "badly_conditioned:Subject", "--quiet", "--shrinking", "0"])
    assert code == 1
    said = capsys.readouterr().out
    assert "refuted: bias-bound/T3 [repaired] on 1 draw, first drawn:ill-conditioned:0" in said
    assert ": soak/findings/bias-bound.T3-repaired-refuted.toml" in said
    (command,) = {line.strip() for line in said.splitlines() if line.startswith("  f2csa ")}
    assert invoke([*shlex.split(command)[1:], "--quiet"]) == 1
    assert "finding: bias-bound/T3 [repaired] on soak/findings/" in capsys.readouterr().out
