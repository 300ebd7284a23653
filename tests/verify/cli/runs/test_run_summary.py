"""How a run of the command ends: numbers, quiet, the first finding, the record it writes, its last line."""

from __future__ import annotations

import json
import re
import threading

import pytest

from verify.cli.main import invoke
from verify.cli.output import console
from verify.cli.output.console import ProgressLines, progress_bar
from verify.cli.runs.run_summary import Ending, FirstBad, words_of
from verify.cli.runs.unchanged_run import closing_line
from verify.report.model import Result
from verify.report.report_files import Report
from verify.verdict import Verdict

T3 = ("verify", "bias-bound/T3", "--profile", "smoke", "--jobs", "1")
KEYS = [
    f"bias-bound/T3|{reading}|{name}" for reading in ("as-written", "repaired") for name in ("toy1", "two-of-three")
]
KEYS.append("bias-bound/T3|choose:dual_term=both-maps,weights=map|toy1")
"""Both texts, and what is asked last."""


@pytest.fixture
def run(tmp_path, capsys):
    def asked(*arguments):
        code = invoke([*T3, "--out", str(tmp_path / "r"), *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return asked


@pytest.fixture
def baseline(tmp_path):
    def written(**verdicts):
        known = dict(zip(KEYS, ("REFUTED", "REFUTED", "SUPPORTED", "SUPPORTED", "SUPPORTED"), strict=True))
        file = tmp_path / "old.json"
        file.write_text(json.dumps(known | {KEYS[int(k[1:])]: v for k, v in verdicts.items()}))
        return str(file)

    return written


def result(verdict=Verdict.SUPPORTED, **more):
    fields = {"claim": "bias-bound/T3", "reading": "repaired", "instance": "toy1", "verdict": verdict, "sentence": "s"}
    return Result(**(fields | more))


def test_few_results_are_told_with_their_numbers(run):
    code, out, _ = run("--instance", "toy1")
    assert code == 0
    assert "✗ refuted  bias-bound/T3 [as-written] on toy1" in out
    assert "claimed O(α); measured exponent −2.00, interval [−2.00, −2.00]; certified" in out
    assert "✓ supported  bias-bound/T3 [repaired] on toy1" in out


def test_the_last_line_says_how_many_how_long_and_where(run, tmp_path):
    *_, last = run()[1].splitlines()
    page = re.escape(str(tmp_path / "r" / "report.html"))
    assert re.fullmatch(rf"15 results in \d+(\.\d)? s; report: {page}", last)
    again = run()[1].splitlines()
    assert again[-2] == "15 of 15 results were kept from earlier runs"
    code = invoke(["report", str(tmp_path / "r")])
    assert code == 0


@pytest.mark.parametrize(
    ("count", "seconds", "line"),
    [(1912, 55.36, "1,912 results in 55 s"), (1, 0.26, "1 result in 0.3 s"), (4, None, "4 results")],
)
def test_a_report_of_a_store_took_no_time(count, seconds, line, tmp_path):
    report = Report(
        environment={}, seed=0, profile="smoke", subject="reference", results=(result(),) * count, summary=()
    )
    counted = words_of(report, Ending((), tmp_path), quiet=True).counted
    assert closing_line(counted, None, seconds) == line


def test_quiet_leaves_the_findings_and_the_last_line(run, baseline):
    code, out, err = run("--quiet")
    assert (code, err) == (0, "")
    (line,) = out.splitlines()
    assert line.startswith("15 results in ")
    code, out, _ = run("-q", "--baseline", baseline(_2="REFUTED"))
    finding, last = out.splitlines()
    assert code == 1
    assert finding.startswith("finding: bias-bound/T3 [repaired] on toy1: SUPPORTED, on record REFUTED")
    assert last.startswith("15 results in ")


def test_exitfirst_stops_at_the_first_finding_and_keeps_what_is_done(run, baseline, tmp_path):
    code, out, _ = run("-x", "--baseline", baseline(_1="SUPPORTED"))
    assert code == 1
    assert "stopped at bias-bound/T3 [as-written] on two-of-three: REFUTED; the report is partial" in out
    report = json.loads((tmp_path / "r" / "report.json").read_text())
    assert [row["instance"] for row in report["results"]] == ["toy1", "two-of-three"]
    assert report["complete"] is False
    # What is kept is judged before anything is run.
    assert "stopped at" in run("-x", "--baseline", baseline(_1="SUPPORTED"))[1]
    code, out, _ = run()
    assert code == 0
    assert "2 of 15 results were kept" in out
    assert json.loads((tmp_path / "r" / "report.json").read_text())["complete"] is True
    # The last one ends nothing; a run without a finding is whole.
    assert run("-x")[0] == 0
    code, out, _ = run("-x", "--fresh", "--baseline", baseline(_4="REFUTED"))
    assert code == 1
    assert "stopped at" not in out


@pytest.mark.parametrize(
    ("found", "record", "ends"),
    [
        (result(), {}, False),
        (result(None, fault="it crashed"), {}, True),
        (result(Verdict.REFUTED), {}, True),
        (result(Verdict.REFUTED, reading="as-written"), {}, False),
        (result(Verdict.REFUTED), {"bias-bound/T3|repaired|toy1": "REFUTED"}, False),
        (result(Verdict.INCONCLUSIVE), {"bias-bound/T3|repaired|toy1": "SUPPORTED"}, True),
    ],
)
def test_what_ends_a_run_at_first(found, record, ends):
    first = FirstBad(record)
    assert first(found) is ends
    assert first.result is (found if ends else None)


def test_the_record_is_written_and_nothing_else_is_lost(run, tmp_path):
    file = tmp_path / "record.json"
    assert run("--record-to", str(file))[0] == 0
    recorded = json.loads(file.read_text())
    assert recorded["schema"] == "f2csa-baseline/1"
    assert len(recorded["results"]) == 15
    code, _, err = run("--record", str(file))
    assert code == 0
    assert err == "f2csa: --record writes its file; --record-to is its new name\n"
    file.write_text("mine")
    code, out, err = run("--record-to", str(file))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("f2csa: --record-to: must not be a file that holds something else")
    assert file.read_text() == "mine"
    assert run("--record-to", str(file), "--force")[0] == 0
    assert json.loads(file.read_text())["schema"] == "f2csa-baseline/1"


@pytest.mark.parametrize("wrong", [("--force",), ("--record", "a", "--record-to", "b")])
def test_options_of_the_record_that_say_nothing_are_refused(run, wrong):
    code, out, err = run(*wrong)
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_progress_is_a_line_now_and_then(capsys):
    class Twice(threading.Event):
        waits = 0

        def wait(self, timeout=None):
            self.waits += 1
            return self.waits > 2

    lines = ProgressLines(lambda: 0.0)
    lines.say(Twice())
    assert capsys.readouterr().err == "f2csa: 0 s: starting\n" * 2


def test_lines_end_with_the_run_and_quiet_has_none(monkeypatch):
    before = threading.active_count()
    with progress_bar() as told:
        assert isinstance(told, ProgressLines)
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    monkeypatch.setattr(console, "progress_lines", None)
    with progress_bar(quiet=True) as told:
        told(1, 2, "x")
