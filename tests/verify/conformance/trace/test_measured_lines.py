"""A sample of the slips is found on its line; the record and the page are those of the slips that there are."""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path

import pytest

from benchmarks.traced.measuring_lines import PROGRAMS, Slip, slips, source_of
from benchmarks.traced.trace_page import BEGIN, END, PAGE, read, tables
from verify.conformance.trace.line_search import find_line
from verify.conformance.trace.line_words import traced_lines
from verify.conformance.trace.seen_values import ValueWatch
from verify.conformance.trace.traced_questions.traced_calls import questions_of
from verify.conformance.trace.traced_questions.traced_runs import loop_questions
from verify.conformance.trace.user_modules import forget, rewriting
from verify.conformance.trace.value_replacement import Replacement

SAMPLE = {
    "inline": ("return near * pushing", "activation"),
    "staged": ("return self.alpha**-2 * self.data.g_xy @ self.shift", "hypergradient"),
    "small_functions": ("return np.add.reduce(z) / z.shape[0]", "samples"),
    "row_loops": ("slope += first * inner", "penalty_minimiser"),
    "factored": ("violation = self.rho * self.at.rows()", "penalty_minimiser"),
    "whole_arrays": ('linear = np.einsum("ij,i->j", data.g_xy, x) + data.g_y', "lower_level"),
}
"""One slip a style and a stage."""


def chosen(program: str) -> Slip:
    return next(slip for slip in slips() if slip.program == program and slip.edits[0][0] == SAMPLE[program][0])


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_slip_of_each_style_is_on_the_line(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    slip = chosen(program)
    name = f"traced_sample_{program}"
    (tmp_path / f"{name}.py").write_text(slip.source, "utf-8")
    watch = ValueWatch()
    before = set(sys.modules)
    with rewriting(watch):
        made = importlib.import_module(name).Subject
    stage = SAMPLE[program][1]
    questions = [*loop_questions()] if stage == "optimise" else questions_of(stage, (), lambda probe: probe)
    found = find_line(Replacement(made, watch, time.monotonic() + 60.0), stage, questions)
    forget([other for other in set(sys.modules) - before if other == name])
    assert found is not None
    assert [line.line for line in traced_lines(found)] == [*slip.lines]


def test_the_record_is_of_the_slips_there_are() -> None:
    record = read()
    assert [(one.kind, one.program, one.new, one.lines) for one in record.slips] == [
        (slip.kind, slip.program, slip.new, slip.lines) for slip in slips() if slip.kind == "blind"
    ]
    assert [one.program for one in record.programs] == list(PROGRAMS)
    assert len(record.slips) >= 30


def test_the_page_is_made_of_the_record() -> None:
    measured = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    assert measured == tables(read())


def test_right_programs_get_no_line() -> None:
    assert [one.named for one in read().programs] == [()] * len(PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_slip_changes_one_place_and_a_pair_two(program: str) -> None:
    text = source_of(program)
    edits = {edit: slip for slip in slips() if slip.program == program for edit in slip.edits}
    assert [old for old, _ in edits if text.count(old) != 1] == []
    assert [new for old, new in edits if new == old] == []
    assert {len(slip.edits) for slip in edits.values() if slip.kind.startswith("pairs")} <= {2}
