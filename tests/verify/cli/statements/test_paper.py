"""``f2csa paper``: findings, extract and corrections on the command line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verify
from spec.files import parse_toml
from spec.text.argument import load_argument, quoted_places
from spec.text.assertions import load_assertions
from spec.text.extract import Extract, load_extract
from tests.verify.cli.test_fuzz_inputs import assert_refused, run
from verify.proofs.paper.linting import MISSING_FILE, RULES

ROWS = load_assertions().assertions
GOOD = "\\section{x}\\label{a} see \\ref{a}\n"
BAD = "\\section{x}\\label{a}\n\nsee \\ref{b} and $(\\delta,\\epsilon)$-Goldstein, $(\\epsilon,\\delta)$-Goldstein\n"


@pytest.fixture
def source(tmp_path):
    def write(text):
        file = tmp_path / "paper.tex"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(file)

    return write


def test_nothing_found_is_exit_code_zero(source):
    outcome = run("paper", "lint", source(GOOD))
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == "0 findings in 2 lines\n"


def test_findings_have_place_rule_reason_and_passages(source):
    file = source(BAD)
    outcome = run("paper", "lint", file)
    assert outcome.code == 1
    assert f"{file}:1: label-unused: nothing refers to the label a" in outcome.out
    assert f"{file}:3: label-missing: nothing has the label b" in outcome.out
    assert "pair-order" in outcome.out
    assert outcome.out.endswith("3 findings in 4 lines\n")
    found = json.loads(run("paper", "lint", file, "--json").out)
    assert [one["rule"] for one in found] == ["label-unused", "label-missing", "pair-order"]
    assert found[2]["there"]["line"] == 3


def test_a_source_of_other_words_is_told_place_by_place(source):
    file = source(GOOD)
    outcome = run("paper", "check", file)
    assert outcome.code == 1
    assert f"{file}:202-202: Algorithm 1, line 3: not the words on record; assertions 81, 82 and 83" in outcome.out
    assert f"{file}:337-337: {ROWS[138].place}: not the words on record; assertion 139\n" in outcome.out
    places = quoted_places(load_argument())
    assert outcome.out.endswith(f"0 of {places} quoted places are as on record\n")
    assert places > sum(row.quote is not None for row in ROWS) > 300
    told = json.loads(run("paper", "check", file, "--json").out)
    assert {"lines": [202, 202], "what": "Algorithm 1, line 3", "numbers": [81, 82, 83]} in told
    assert_refused(run("paper", "check", "no-such-file.tex"))


def test_one_rule_alone(source):
    outcome = run("paper", "lint", source(BAD), "--rule", "pair-order")
    assert outcome.code == 1
    assert outcome.out.endswith("1 finding in 4 lines\n")
    assert_refused(run("paper", "lint", source(BAD), "--rule", "no-such-rule"))


def test_files_are_looked_for_beside_the_source(source, tmp_path):
    file = source(GOOD + "\\includegraphics{plot}")
    assert run("paper", "lint", file, "--rule", MISSING_FILE).code == 1
    (tmp_path / "plot.png").touch()
    assert run("paper", "lint", file, "--rule", MISSING_FILE).code == 0


@pytest.mark.parametrize("command", ["lint", "extract", "corrections"])
@pytest.mark.parametrize(
    "text", [b"", b"words", b"\xff\xfe\\section{x}", b"\\section{x", b"\\section{x}\0", b"\\begin{a}"]
)
def test_what_is_no_source_is_refused_in_one_line(source, command, text):
    assert_refused(run("paper", command, source(text)))


@pytest.mark.parametrize("command", ["lint", "extract", "corrections"])
def test_a_missing_source_and_a_folder_are_refused(tmp_path, command):
    assert_refused(run("paper", command, str(tmp_path / "none.tex")))
    assert_refused(run("paper", command, str(tmp_path)))


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: (GOOD + text).encode("utf-8", "replace")))
def test_any_bytes_are_judged_or_refused(tmp_path_factory, content):
    file = tmp_path_factory.getbasetemp() / "any.tex"
    file.write_bytes(content)
    outcome = run("paper", "lint", str(file))
    if outcome.code == 2:
        assert_refused(outcome)
    else:
        assert outcome.code in (0, 1)
        assert outcome.err == ""


def test_an_extract_that_is_not_the_one_on_record_is_told(source, tmp_path):
    outcome = run("paper", "extract", source(BAD), "--out", str(tmp_path / "made.toml"))
    assert outcome.code == 1
    assert "another source: sha256" in outcome.out
    assert "not on record: line 1, label a" in outcome.out
    assert f"on record alone: {len(load_extract().passages) - 5} more" in outcome.out
    made = parse_toml(Extract, (tmp_path / "made.toml").read_text(encoding="utf-8"), "made")
    assert [passage.kind for passage in made.passages] == ["label", "reference", "pair", "pair"]
    data = json.loads(run("paper", "extract", source(BAD), "--json").out)
    assert data["sha256"] == made.sha256
    assert data["differences"]


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_corrections_without_a_report_are_refused_in_one_line(tmp_path, monkeypatch, more):
    monkeypatch.chdir(tmp_path)
    for where in (("--report", str(tmp_path / "none")), ("--report", str(tmp_path)), ()):
        outcome = run("paper", "corrections", *where, *more)
        assert_refused(outcome)
        assert "--report: must be a report.json, or a folder with one" in outcome.err


def test_corrections_may_be_asked_for_as_an_option(tmp_path):
    verify.run(["consistency/pair-order"], readings=["as-written", "repaired"], profile="smoke").write(tmp_path)
    arguments = ("--report", str(tmp_path), "--json")
    outcome = run("paper", "--corrections", *arguments)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == run("paper", "corrections", *arguments).out
    assert run("paper", "--corrections", "--help").out == run("paper", "corrections", "--help").out
    assert_refused(run("paper", "lint", "--corrections"))
    assert_refused(run("paper", "--correction"))
    assert_refused(run("baseline", "--corrections"))
    assert "--corrections" in run("paper", "--help").out


def test_corrections_are_tied_to_a_report(source, tmp_path):
    report = verify.run(["consistency/pair-order"], readings=["as-written", "repaired"], profile="smoke")
    report.write(tmp_path / "run")
    file = source("\\begin{lemma}\\label{lemma:bias_bound} $x$ \\end{lemma}")
    outcome = run("paper", "corrections", file, "--report", str(tmp_path / "run"))
    assert outcome.code == 0
    assert "## consistency/pair-order" in outcome.out
    assert "bias-bound/T3 (label at line 1)" in outcome.out
    same = run("paper", "corrections", file, "--report", str(tmp_path / "run" / "report.json"))
    assert same.out == outcome.out
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    assert_refused(run("paper", "corrections", "--report", str(broken)))


def test_the_page_lists_every_rule():
    from pathlib import Path

    page = (Path(__file__).parents[4] / "docs" / "paper.md").read_text(encoding="utf-8")
    assert all(f"`{rule}`" in page for rule in (*RULES, MISSING_FILE))
