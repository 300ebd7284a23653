"""``f2csa paper`` writes the annotated paper, or prints how each assertion stands."""

from __future__ import annotations

import json

import pytest

from spec.text.assertions import load_assertions
from tests.verify.cli.test_fuzz_inputs import assert_refused, run
from tests.verify.report.site.paper.test_paper_page import run as report_of


@pytest.fixture
def report(tmp_path):
    file = tmp_path / "report" / "report.json"
    file.parent.mkdir()
    made = report_of({("bias-bound", "as-written"): "REFUTED"})
    file.write_text(made.model_dump_json(by_alias=True), encoding="utf-8")
    return file


def test_a_page_by_itself(report, tmp_path):
    out = tmp_path / "there" / "page.html"
    told = run("paper", "annotate", str(report), "--out", str(out))
    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines()[-1] == str(out)
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert '<a class="u u-bad" href="#a19">' in page
    assert '<link rel="stylesheet"' not in page


def test_no_command_is_that_command(report, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("paper").code == 0
    first = (tmp_path / "paper.html").read_bytes()
    assert run("paper", str(report.parent), "--out", "again.html").code == 0
    assert (tmp_path / "again.html").read_bytes() == first


def test_how_each_stands_as_data(report, tmp_path):
    found = json.loads(run("paper", "annotate", str(report), "--json").out)
    assert [one["number"] for one in found] == [entry.number for entry in load_assertions().assertions]
    bias = found[18]
    assert (bias["as_written"], bias["repaired"], bias["fails"]) == ("REFUTED", "SUPPORTED", True)
    assert bias["statements"] == {"bias-bound": {"as-written": "REFUTED", "repaired": "SUPPORTED"}}
    assert not (tmp_path / "paper.html").exists()


def test_wrong_input_is_one_line(report, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_refused(run("paper", "none.json"))
    assert_refused(run("paper", "lnt"))
    assert_refused(run("paper", "annotate", str(tmp_path)))
    (tmp_path / "other.json").write_text("[]")
    assert_refused(run("paper", "other.json"))
    (tmp_path / "paper.html").write_text("mine")
    assert_refused(run("paper"))
    assert (tmp_path / "paper.html").read_text() == "mine"
