"""A history shows what moved and nothing else, from files in order or from the commits of one."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from jsonschema import Draft202012Validator

from tests.verify.report.site.browser import CHROMIUM, DESK, PHONE, Visit, visit
from verify.campaign.baseline.history import history_of, read_commits
from verify.campaign.baseline.history_page import history_page
from verify.campaign.baseline.model import Baseline
from verify.campaign.baseline.storage import dumps
from verify.cli.implementations.exports import schemas
from verify.cli.main import invoke


def baseline(verdict="SUPPORTED", constant=1.0, exponent=2.0):
    sweep = {
        "quantity": "T₃", "variable": "alpha", "rung": "numeric", "exponent": exponent,
        "interval": [exponent, exponent], "at": [0.1, 0.05], "measured": [4 * constant, constant],
        "uncertainty": [0.0, 0.0], "points": 2,
    }  # fmt: skip
    entry = {"claim": "bias-bound/T3", "reading": "repaired", "instance": "toy1", "verdict": verdict, "sweeps": [sweep]}
    still = {"claim": "solution-error", "reading": "repaired", "instance": "toy1", "verdict": "SUPPORTED"}
    return Baseline.model_validate({"subject": "mine", "seed": 0, "profile": "smoke", "results": [entry, still]})


RUN = [("a", baseline()), ("b", baseline(constant=1.5)), ("c", baseline("REFUTED", 1.5, 1.0))]


def test_what_moved_is_shown_with_every_value():
    found = history_of(RUN)
    (line,) = found.moved
    assert (line.claim, len(found.lines)) == ("bias-bound/T3", 2)
    assert [str(verdict) for verdict in line.verdicts] == ["SUPPORTED", "SUPPORTED", "REFUTED"]
    assert {course.what: course.values for course in line.courses} == {
        "exponent": (2.0, 2.0, 1.0), "constant": (1.0, 1.5, 1.5),
    }  # fmt: skip
    assert [len(record.worse) for record in found.records] == [0, 1, 1]


def test_records_that_are_equal_move_nothing():
    found = history_of([("a", baseline()), ("b", baseline())])
    assert found.moved == ()
    assert "0 results of 2 moved over 2 records" in history_page(found)


def test_a_result_that_a_record_lacks_has_no_value_there():
    short = baseline().model_copy(update={"results": baseline().results[1:]})
    found = history_of([("a", short), ("b", baseline())])
    assert [each.claim for each in found.lines] == ["solution-error", "bias-bound/T3"]
    line = found.lines[1]
    assert line.verdicts[0] is None
    assert [course.values[0] for course in line.courses] == [None, None]


def test_the_page_has_a_line_a_number_and_the_same_bytes_twice():
    page = history_page(history_of(RUN))
    assert page == history_page(history_of(RUN))
    assert page.count("<polyline") == 2
    assert "<td>holds → refuted</td>" in page
    marks = page[page.index("What moved") : page.index("<td>holds → refuted</td>")]
    assert re.findall(r'<span class="(good|bad)"><svg class="m"', marks) == ["good", "good", "bad"]


def test_a_record_without_a_result_has_no_mark_and_says_so():
    short = baseline().model_copy(update={"results": baseline().results[1:]})
    page = history_page(history_of([("a", short), ("b", baseline())]))
    assert "<td>not there → " in page
    assert page.count('aria-hidden="true">·</span>') == 1


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_on_a_phone_nothing_is_cut_and_axe_finds_nothing(tmp_path):
    (tmp_path / "history.html").write_text(history_page(history_of(RUN)), encoding="utf-8")
    seen, console = visit(tmp_path, [Visit("history.html", PHONE, True), Visit("history.html", DESK)], tmp_path)
    assert [page.width for page in seen] == [PHONE, DESK]
    assert [(page.over, page.beyond, page.axe) for page in seen if page.over > 0 or page.axe] == []
    assert console == []


def test_names_cannot_write_into_the_page():
    assert "<script>" not in history_page(history_of([("<script>", baseline()), *RUN]))


@pytest.fixture
def committed(tmp_path):
    """A file with three versions in a repository of its own."""

    def git(*arguments):
        who = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", str(tmp_path), *who, *arguments], check=True, capture_output=True)

    git("init")
    file = tmp_path / "f2csa-baseline.json"
    for name, made in RUN:
        file.write_text(dumps(made), encoding="utf-8")
        git("add", file.name)
        git("commit", "-m", name)
    return file


def test_the_commits_of_a_file_are_its_history(committed, capsys):
    assert [made for _, made in read_commits(committed)] == [made for _, made in RUN]
    assert invoke(["history", str(committed), "--commits", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["records"]) == 3
    Draft202012Validator(schemas()["history"]).validate(found)


def test_files_are_read_in_the_order_given_and_the_table_names_the_reading(tmp_path, capsys):
    for name, made in RUN:
        (tmp_path / f"{name}.json").write_text(dumps(made), encoding="utf-8")
    page = tmp_path / "history.html"
    assert invoke(["history", str(tmp_path), "--out", str(page)]) == 0
    out = capsys.readouterr().out
    assert "bias-bound/T3 [repaired] on toy1" in out
    assert "1 result of 2 moved over 3 records." in out
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert invoke(["history", str(tmp_path / "c.json"), str(tmp_path / "a.json"), "--json"]) == 0
    assert [r["name"] for r in json.loads(capsys.readouterr().out)["records"]] == ["c.json", "a.json"]


@pytest.mark.parametrize("more", [["--commits"], []])
def test_what_is_no_history_is_refused_on_one_line(tmp_path, capsys, more):
    assert invoke(["history", str(tmp_path / "none.json"), *more]) == 2
    assert capsys.readouterr().err.count("\n") == 1
