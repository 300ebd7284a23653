"""A finished run on a terminal of any width: a few results with their numbers, more as a table of verdicts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from spec.claims import Claim
from verify.report import prose, wording
from verify.report.model import NAMED, ReportData, Result
from verify.report.outline import StatementOutline, outline

FEW = 20
"""Results up to which each is told with its numbers."""
ALONE = "One choice alone as written"


class Mark(NamedTuple):
    """A word with the character before it, which no line break parts."""

    sign: str
    word: str
    style: str

    @property
    def text(self) -> Text:
        return Text.assemble((f"{self.sign} {self.word}".strip(), self.style))


@dataclass(frozen=True)
class Marks:
    """Marked words in a row, broken between them alone."""

    marks: tuple[Mark, ...]

    def lines(self, width: int) -> list[Text]:
        """As few lines as they fit in."""
        lines: list[Text] = []
        for mark in self.marks:
            if lines and len(lines[-1]) + 2 + len(mark.text) <= width:
                lines[-1] = Text.assemble(lines[-1], "  ", mark.text)
            else:
                lines.append(mark.text)
        return lines

    def respelt(self, spell: Callable[[str], str]) -> Marks:
        """The same in other letters."""
        return Marks(tuple(Mark(spell(mark.sign), spell(mark.word), mark.style) for mark in self.marks))

    @property
    def narrowest(self) -> int:
        """Columns that the longest of them takes."""
        return max((len(mark.text) for mark in self.marks), default=0)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.lines(options.max_width)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        whole = sum(len(mark.text) + 2 for mark in self.marks) - 2
        return Measurement(min(self.narrowest, options.max_width), max(0, min(whole, options.max_width)))


class Row(NamedTuple):
    """A claim or a step: its name, a mark for each named reading, and each choice alone."""

    name: str
    is_step: bool
    named: tuple[Mark, ...]
    alone: Marks


@dataclass(frozen=True)
class Summary:
    """Claims and their steps by readings: a table where it fits, else one statement after the other."""

    rows: tuple[Row, ...]
    headings: tuple[str, ...]
    caption: str

    def respelt(self, spell: Callable[[str], str]) -> Summary:
        """The same in other letters."""
        rows = tuple(
            Row(row.name, row.is_step, Marks(row.named).respelt(spell).marks, row.alone.respelt(spell))
            for row in self.rows
        )
        return Summary(rows, self.headings, spell(self.caption))

    @property
    def table(self) -> Table:
        """Statements by readings."""
        table = Table(box=None, pad_edge=False)
        table.add_column("Claim", no_wrap=True)
        for heading in self.headings:
            table.add_column(heading, no_wrap=True)
        some = any(row.alone.marks for row in self.rows)
        if some:
            table.add_column(ALONE)
        for row in self.rows:
            name = Text(f"  {row.name}") if row.is_step else Text(row.name, style="bold")
            table.add_row(name, *(mark.text for mark in row.named), *([row.alone] if some else ()))
        return table

    @property
    def narrowest(self) -> int:
        """Columns that the table takes at least."""
        columns = [[len(row.name) + 2 * row.is_step for row in self.rows]]
        columns += [
            [len(heading), *(len(row.named[index].text) for row in self.rows)]
            for index, heading in enumerate(self.headings)
        ]
        alone = [row.alone.narrowest for row in self.rows]
        if any(alone):
            columns.append([*alone, len("One choice")])
        return sum(max(widths, default=0) for widths in columns) + len(columns)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.narrowest <= options.max_width:
            yield self.table
        else:
            yield from self._stacked(options.max_width)
        yield from (Text(line) for line in wrap(self.caption, options.max_width, break_on_hyphens=False))

    def _stacked(self, width: int) -> Iterable[Text]:
        for row in self.rows:
            indent = "  " * row.is_step
            yield Text(f"{indent}{row.name}", style="" if row.is_step else "bold")
            quiet = "not in this run"
            said = [
                (heading.lower(), [mark]) for heading, mark in zip(self.headings, row.named, strict=True)
                if mark.word != quiet
            ]  # fmt: skip
            said += [("one choice alone", list(row.alone.marks))] if row.alone.marks else []
            for label, marks in said:
                yield from _hung(f"{indent}  {label}:", marks, width)


def _hung(label: str, marks: Sequence[Mark], width: int) -> Iterable[Text]:
    """A label and marks beside it, or under it where they do not fit."""
    inner = len(label) - len(label.lstrip()) + 2
    beside = Marks(tuple(marks)).lines(max(1, width - len(label) - 1))
    if len(beside) == 1 and len(label) + 1 + len(beside[0]) <= width:
        yield Text.assemble((label, "dim"), " ", beside[0])
        return
    yield Text(label, style="dim")
    yield from (Text(" " * inner).append_text(line) for line in Marks(tuple(marks)).lines(max(1, width - inner)))


def summary_table(report: ReportData, claims: Mapping[str, Claim] | None = None) -> Summary:
    """Claims and their steps by readings; the caption says the same in sentences."""
    arranged = outline(report, claims)
    rows = []
    for claim in arranged.claims:
        # A claim that nothing checks yet takes one line, not one a step.
        for entry in (claim, *(claim.steps if any(step.checked for step in claim.steps) else ())):
            name = entry.id.split("/", 1)[1] if "/" in entry.id else entry.id
            alone = tuple(
                Mark(wording.mark(found.status), found.choice, _style(found.status)) for found in entry.isolated
            )
            rows.append(Row(name, "/" in entry.id, tuple(_mark(entry, reading) for reading in NAMED), Marks(alone)))
    headings = tuple(wording.reading_title(reading) for reading in NAMED)
    return Summary(tuple(rows), headings, " ".join(prose.overview(report, arranged)))


def _mark(entry: StatementOutline, reading: str) -> Mark:
    if reading in entry.named:
        found = entry.named[reading]
        return Mark(wording.mark(found.status), found.word, _style(found.status))
    if entry.missing:
        return Mark(wording.mark(entry.missing), wording.word(entry.missing), _style(entry.missing))
    return Mark("", "not in this run", "dim")


def _style(status: str) -> str:
    return wording.STATUSES[status].style if status in wording.STATUSES else "dim"


class Told(NamedTuple):
    """One result in lines: its verdict and place, its numbers, its sentence."""

    verdict: Mark
    where: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Numbers:
    """Each result with what was claimed, what was measured, and its sentence."""

    results: tuple[Told, ...]
    caption: str

    def respelt(self, spell: Callable[[str], str]) -> Numbers:
        """The same in other letters."""
        return replace(
            self,
            results=tuple(
                Told(Marks((told.verdict,)).respelt(spell).marks[0], spell(told.where), tuple(map(spell, told.lines)))
                for told in self.results
            ),
            caption=spell(self.caption),
        )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        for told in self.results:
            head = Text.assemble(told.verdict.text, "  ", (told.where, "bold"))
            if len(head) <= width:
                yield head
            else:
                yield told.verdict.text
                yield from (Text(line, style="bold") for line in _folded(told.where, width))
            for line in told.lines:
                yield from (Text(part) for part in _folded(line, width))
        yield from (Text(line) for line in wrap(self.caption, width, break_on_hyphens=False))


_INTERVAL = re.compile(r"([\[(][^\s,]+,) ([^\s,]+[\])])")
_HELD = "\u00a0"
"""A space at which no line is broken."""


def _folded(text: str, width: int) -> list[str]:
    """Lines of at most this width, indented; an interval stays on one."""
    held = _INTERVAL.sub(rf"\1{_HELD}\2", text)
    lines = wrap(held, max(width, 12), initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    return [line.replace(_HELD, " ") for line in lines]


def told(report: ReportData, claims: Mapping[str, Claim] | None = None) -> Summary | Numbers:
    """The run as a terminal shows it: with its numbers where it holds at most :data:`FEW` results."""
    if not 0 < len(report.results) <= FEW:
        return summary_table(report, claims)
    caption = " ".join(prose.overview(report, outline(report, claims)))
    return Numbers(tuple(map(_told, report.results)), caption)


def _told(result: Result) -> Told:
    status = wording.status_of(result)
    verdict = Mark(wording.mark(status), wording.word(status), _style(status))
    numbers = numbers_of(result)
    said = result.fault if result.fault is not None else result.sentence
    return Told(verdict, result.where, tuple(line for line in (numbers, said) if line))


def numbers_of(result: Result) -> str:
    """``claimed O(α), measured α^-2 …`` in one line: claim, measured value, interval, and what it rests on."""
    parts = [f"claimed {_signs(result.claimed)}"] if result.claimed else []
    if result.interval is not None and result.measured is not None:
        measured = wording.exponent(result.measured)
        parts.append(f"measured exponent {measured}, interval {wording.interval(result.interval)}")
    elif result.measured is not None:
        parts.append(f"measured {wording.number(result.measured, 6)}")
    if result.rung is not None and parts:
        parts.append(str(result.rung))
    if result.expected is False:
        parts.append("not the verdict on record")
    return "; ".join(parts)


def _signs(claimed: str) -> str:
    for plain, sign in (("<=", "≤"), (">=", "≥"), ("==", "=")):
        claimed = claimed.replace(plain, sign)
    return claimed
