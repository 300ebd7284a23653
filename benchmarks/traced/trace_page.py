"""The record of what was measured, and the tables of ``docs/trace.md``, which are made from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from benchmarks.traced.measuring_lines import PROGRAMS, MeasuredProgram, MeasuredSlip, Verdict
from verify.evidence.model import FrozenData

RECORD = Path(__file__).parent / "record.json"
PAGE = Path(__file__).parents[2] / "docs" / "trace.md"
BEGIN, END = "<!-- measured: python -m benchmarks.traced --record -->\n", "<!-- end of what was measured -->\n"
STYLES = dict(zip(PROGRAMS, (
    "one function a stage", "a class a stage", "many small functions", "loops over rows, `+=`", "whole arrays",
    "frozen dataclasses, scipy",
), strict=True))  # fmt: skip


class Record(FrozenData):
    """Everything that was measured."""

    slips: tuple[MeasuredSlip, ...]
    programs: tuple[MeasuredProgram, ...]


def read() -> Record:
    """What is on record."""
    return Record.model_validate_json(RECORD.read_text(encoding="utf-8"))


def write(record: Record) -> None:
    """Write the record, and the page's tables from it."""
    RECORD.write_text(record.model_dump_json(indent=1) + "\n", encoding="utf-8")
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(head + BEGIN + tables(record) + END + rest.partition(END)[2], encoding="utf-8")


def tables(record: Record) -> str:
    """In Markdown: styles by what was named, right programs, and the blind slips that were not named on their line."""
    words: Sequence[Verdict] = get_args(Verdict)
    blind = [one for one in record.slips if one.kind == "blind"]
    lines = ["| style | " + " | ".join(words) + " | right program: lines named | its questions cost |"]
    lines.append("|---|" + "---|" * (len(words) + 2))
    by_program = {one.program: one for one in record.programs}
    for program, right in by_program.items():
        counts = Counter(one.verdict for one in blind if one.program == program)
        cells = [
            STYLES[program],
            *(str(counts[word]) for word in words),
            str(len(right.named)),
            f"{right.cost:.1f} times",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    counts = Counter(one.verdict for one in blind)
    lines.append("| all | " + " | ".join(str(counts[word]) for word in words) + " | | |")
    slowest = max((one.seconds for one in record.slips), default=0.0)
    mean = sum(one.seconds for one in record.slips) / max(len(record.slips), 1)
    lines += [
        "",
        f"A search took {mean:.1f} s on average and {slowest:.1f} s at most, its process and import included.",
        "",
    ]
    others = [one for one in blind if one.verdict != "on the line"]
    if others:
        lines += ["| not on the line | at | named |", "|---|---|---|"]
        for one in others:
            lines.append(f"| `{_cell(one.new)}` | {one.program}:{', '.join(map(str, one.lines))} | {_place(one)} |")
    return "\n".join([*lines, ""])


def _place(one: MeasuredSlip) -> str:
    if not one.named:
        return "nothing"
    return f"{one.verdict}: {', '.join(map(str, one.named))}, {'; '.join(map(_cell, one.sentences))}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
