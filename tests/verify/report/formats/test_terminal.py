"""The terminal's faces at any width: no mark is torn from its word, no line is too long, few results have numbers."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from verify.cli.output.spelling import in_ascii, spelt
from verify.report import wording
from verify.report.formats.terminal import FEW, Summary, TerminalNumbers, numbers_of, summary_table, told
from verify.report.model import Result
from verify.report.report_files import Report
from verify.verdict import Verdict

MARKS = {status.mark for status in wording.STATUSES.values()}


def shown(renderable: object, width: int) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(renderable)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


@pytest.mark.parametrize("width", [40, 50, 60, 72, 80, 100, 120, 200])
def test_no_mark_is_torn_from_its_word(report: Report, claims: dict, width: int) -> None:
    lines = shown(summary_table(report, claims), width)
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)
    words = " ".join(lines).split()
    assert MARKS & set(words)
    for line in lines:
        for mark in MARKS & set(line.split()):
            assert not line.endswith(f" {mark}"), line
    assert {"bias-bound", "T1", "refuted", "supported"} <= set(words)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_every_width_says_the_same(report: Report, claims: dict, width: int) -> None:
    table = summary_table(report, claims)
    said = " ".join(shown(table, width))
    for row in table.rows:
        assert row.name in said
        for mark in row.alone.marks:
            assert f"{mark.sign} {mark.word}" in said
    assert " ".join(table.caption.split()[-4:]) in " ".join(said.split())


def test_where_columns_do_not_fit_statements_stand_one_under_another(report: Report, claims: dict) -> None:
    lines = shown(summary_table(report, claims), 30)
    assert "bias-bound" in lines
    assert any(line.lstrip().startswith("as written: ✗ refuted") for line in lines)
    assert not any("Claim" in line for line in lines)
    assert shown(summary_table(report, claims), 120)[0].startswith("Claim")


@pytest.mark.parametrize("width", [30, 60, 120])
def test_spelt_columns_are_columns(report: Report, claims: dict, width: int) -> None:
    lines = shown(in_ascii(summary_table(report, claims)), width)
    assert all(line.isascii() and len(line) <= width for line in lines)
    assert any("FAIL refuted" in line for line in lines)
    assert any("ok supported" in line for line in lines)
    few = shown(in_ascii(told(report.model_copy(update={"results": report.results[:2]}), claims)), width)
    assert all(line.isascii() for line in few)


def test_few_results_have_numbers_and_many_a_table(report: Report, claims: dict) -> None:
    few = report.model_copy(update={"results": report.results[:1] * FEW})
    assert isinstance(told(few, claims), TerminalNumbers)
    many = report.model_copy(update={"results": report.results[:1] * (FEW + 1)})
    assert isinstance(told(many, claims), Summary)
    assert isinstance(told(report.model_copy(update={"results": ()}), claims), Summary)


@pytest.mark.parametrize("width", [40, 80])
def test_a_result_is_told_with_claim_measurement_interval_and_sentence(report: Report, width: int) -> None:
    result = Result(
        claim="bias-bound/T3", reading="repaired", instance="toy1", verdict=Verdict.SUPPORTED, claimed="O(α²)",
        sentence="T₃ is small for all α in (0, 0.25].", measured=2.004, interval=(1.99, 2.01), rung="numeric",
    )  # fmt: skip
    lines = shown(told(report.model_copy(update={"results": (result,)})), width)
    said = " ".join(" ".join(lines).split())
    assert lines[0].startswith("✓ supported")
    assert "bias-bound/T3 [repaired] on toy1" in said
    assert "claimed O(α²); measured exponent 2.00, interval [1.99, 2.01]; numeric" in said
    assert "T₃ is small for all α in (0, 0.25]." in said
    assert max(map(len, lines)) <= width
    assert any("[1.99, 2.01]" in line for line in lines)
    assert any("(0, 0.25]" in line for line in lines)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"claimed": "<= 3.27296", "measured": 1.0884870624, "rung": "numeric"},
         "claimed ≤ 3.27296; measured 1.08849; numeric"),
        ({"claimed": "== 0", "measured": 1.0, "expected": False}, "claimed = 0; measured 1; not the verdict on record"),
        ({"claimed": "O(α)", "measured": float("inf"), "interval": (float("inf"), float("inf"))},
         "claimed O(α); measured exponent ∞, interval [∞, ∞]"),
        ({}, ""),
    ],
)  # fmt: skip
def test_numbers_of_a_result(fields: dict, said: str) -> None:
    result = Result(claim="a", reading="repaired", instance="b", verdict=Verdict.SUPPORTED, sentence="s", **fields)
    assert numbers_of(result) == said
    assert spelt(numbers_of(result)).isascii()


def test_a_fault_says_what_went_wrong(report: Report) -> None:
    broken = Result(claim="a/b", reading="repaired", instance="c", verdict=None, sentence="", fault="it [crashed]")
    lines = shown(told(report.model_copy(update={"results": (broken,)})), 80)
    assert lines[:2] == ["! fault  a/b [repaired] on c", "  it [crashed]"]
