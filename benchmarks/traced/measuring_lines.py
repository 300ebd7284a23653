"""Slips as source files, and the line that is named for each."""

from __future__ import annotations

import importlib
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from verify.conformance.trace.seen_values import ValueWatch
from verify.conformance.trace.traced_questions.traced_calls import TracedQuestion, questions_of
from verify.conformance.trace.traced_questions.traced_runs import loop_questions
from verify.conformance.trace.tracing import TRACED, search
from verify.conformance.trace.user_modules import forget, rewriting
from verify.conformance.trace.value_replacement import Replacement
from verify.evidence.model import FrozenData
from verify.subjects import MissingCapabilityError
from verify.subjects.protocol import offers

HERE = Path(__file__).parent
PROGRAMS = ("inline", "staged", "small_functions", "row_loops", "whole_arrays", "factored")
"""Styles: one function a stage; a class a stage; many helpers; loops with +=; whole arrays; frozen dataclasses."""
NEAR = 2
"""Lines off that are counted apart from wrong ones."""
REPEATS = 5
"""Of the questions to a right program, whose shortest time counts."""

Verdict = Literal["on the line", "one of two", "near", "wrong", "nothing"]


@dataclass(frozen=True)
class Slip:
    """One mistake, or two at once.

    Args:
        kind: The list it stands in; the last lists were written after the rules of the search were settled.
        program: The style.
        edits: What stands there, once, and what is put there.
    """

    kind: str
    program: str
    edits: tuple[tuple[str, str], ...]

    @property
    def source(self) -> str:
        """The wrong program."""
        text = source_of(self.program)
        for old, new in self.edits:
            text = text.replace(old, new)
        return text

    @property
    def lines(self) -> tuple[int, ...]:
        """Where it is."""
        text = source_of(self.program)
        return tuple(text[: text.index(old)].count("\n") + 1 for old, _ in self.edits)

    @property
    def new(self) -> str:
        """What is put there."""
        return " and ".join(new or f"(without) {old.strip()}" for old, new in self.edits)


class MeasuredSlip(FrozenData):
    """What was named for a slip.

    Args:
        kind: The list it stands in.
        program: The style.
        new: What was put there.
        lines: Where.
        named: The lines that were named, inner stages first.
        sentences: What was said of them.
        verdict: ``wrong`` where a named line is no true one; ``near`` is at most two lines off.
        seconds: All of the search.
    """

    kind: str
    program: str
    new: str
    lines: tuple[int, ...]
    named: tuple[int, ...]
    sentences: tuple[str, ...]
    verdict: Verdict
    seconds: float

    def __str__(self) -> str:
        return f"{self.program}:{list(self.lines)} {self.verdict} {list(self.named)} {self.seconds:.1f} s | {self.new}"


class MeasuredProgram(FrozenData):
    """A right program.

    Args:
        program: The style.
        named: Lines that were named, which must be none.
        cost: Processor time of its questions when its source is rewritten, over that when it is not.
    """

    program: str
    named: tuple[int, ...]
    cost: float


def slips() -> list[Slip]:
    """All of them, as written down."""
    kinds = tomllib.loads((HERE / "slips.toml").read_text(encoding="utf-8"))
    return [
        Slip(kind, row[0], tuple(zip(row[1::2], row[2::2], strict=True)))
        for kind, rows in kinds.items()
        for row in rows
    ]


def measured_slip(slip: Slip) -> MeasuredSlip:
    """Look for its line."""
    started = time.perf_counter()
    found = _named(slip.source)
    named = tuple(dict.fromkeys(line for line, _ in found))
    return MeasuredSlip(
        kind=slip.kind, program=slip.program, new=slip.new, lines=slip.lines, named=named,
        sentences=tuple(dict.fromkeys(sentence for _, sentence in found)), verdict=verdict_of(slip.lines, named),
        seconds=round(time.perf_counter() - started, 1),
    )  # fmt: skip


def verdict_of(lines: tuple[int, ...], named: tuple[int, ...]) -> Verdict:
    """What the named lines are worth where these are the true ones."""
    if not named:
        return "nothing"
    if any(min(abs(one - line) for line in lines) > NEAR for one in named):
        return "wrong"
    if set(named) - set(lines):
        return "near"
    return "on the line" if set(named) == set(lines) else "one of two"


def measured_program(program: str) -> MeasuredProgram:
    """A right program: lines that are named, and what rewriting costs."""
    named = tuple(line for line, _ in _named(source_of(program)))
    with _on_path(HERE / "programs"):
        questions = _questions()
        watch = ValueWatch()
        with rewriting(watch):
            rewritten = _module(program).Subject
        plain = _module(program).Subject
        times = [_time(kind, watch, questions) for kind in (rewritten, plain)]
    return MeasuredProgram(program=program, named=named, cost=round(times[0] / times[1], 2))


def _time(kind: Any, watch: ValueWatch, questions: list[TracedQuestion]) -> float:
    asked = [q for q in questions if offers(kind, "hypergradient" if q.stage == "samples" else q.stage)]
    spent = []
    for _ in range(REPEATS):
        replacement = Replacement(kind, watch, time.monotonic() + 1e6)
        start = time.process_time()
        for question in asked:
            try:
                replacement.excess(question)
            except MissingCapabilityError:
                continue
        spent.append(time.process_time() - start)
    return min(spent)


def _questions() -> list[TracedQuestion]:
    made = [q for stage in TRACED if stage != "optimise" for q in questions_of(stage, (), lambda probe: probe)]
    return [*made, *loop_questions()]


def _named(source: str) -> list[tuple[int, str]]:
    """The lines that are named in a program."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "traced_program.py").write_text(source, encoding="utf-8")
        with _on_path(Path(folder)):
            wrong = _wrong_stages(_module("traced_program").Subject)
            found = search("traced_program:Subject", dict.fromkeys(wrong, ()), 0.0)
    return [(line.line, line.sentence) for line in found.lines]


def _wrong_stages(kind: Any) -> list[str]:
    """The stages that the judge would find wrong, by the same questions; all are looked at where it finds none."""
    replacement = Replacement(kind, ValueWatch(), time.monotonic() + 1e6)
    wrong: dict[str, None] = {}
    for question in _questions():
        try:
            offered = offers(kind, "hypergradient" if question.stage == "samples" else question.stage)
            if offered and question.stage not in wrong and replacement.excess(question) > 1:
                wrong[question.stage] = None
        except MissingCapabilityError:
            continue
    return list(wrong) or list(TRACED)


@contextmanager
def _on_path(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _module(name: str) -> Any:
    forget([name])
    importlib.invalidate_caches()
    return importlib.import_module(name)


def source_of(program: str) -> str:
    """The right program."""
    return (HERE / "programs" / f"{program}.py").read_text(encoding="utf-8")
