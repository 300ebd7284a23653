"""A finished run on a terminal of any width: a few results with their numbers, more as a table of verdicts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from spec.claims import Claim
from verify.report import prose, wording
from verify.report.findings.outline import StatementOutline, outline
from verify.report.findings.proven import proven_ids
from verify.report.model import NAMED, ReportData, Result
from verify.report.signs import PROVEN, look

FEW = 20
"""Results up to which each is told with its numbers."""
ALONE = "One choice alone as written"
UNDER = "  alone as written"


class TerminalMark(NamedTuple):
    """A word with the character before it, which no line break parts."""

    sign: str
    word: str
    style: str

    @property
    def text(self) -> Text:
        return Text.assemble((f"{self.sign} {self.word}".strip(), self.style))


@dataclass(frozen=True)
class Folded:
    """A mark in a column: its words fold under one another, the character stays with the first."""

    mark: TerminalMark

    def lines(self, width: int) -> list[Text]:
        """As few lines as they fit in."""
        indent = " " * (len(self.mark.sign) + 1) if self.mark.sign else ""
        words = wrap(self.mark.word, max(1, width - len(indent)), break_long_words=False, break_on_hyphens=False)
        first = self.mark._replace(word=words[0]) if words else self.mark
        return [first.text, *(Text(f"{indent}{line}", style=self.mark.style) for line in words[1:])]

    @property
    def narrowest(self) -> int:
        """Columns that it takes at least."""
        return max(len(line) for line in self.lines(1))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.lines(options.max_width)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        widest = options.max_width
        return Measurement(min(self.narrowest, widest), min(len(self.mark.text), widest))


@dataclass(frozen=True)
class Marks:
    """Marked words in a row, broken between them alone."""

    marks: tuple[TerminalMark, ...]

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
        return Marks(tuple(TerminalMark(spell(mark.sign), spell(mark.word), mark.style) for mark in self.marks))

    @property
    def narrowest(self) -> int:
        """Columns that the longest of them takes."""
        return max((len(mark.text) for mark in self.marks), default=0)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.lines(options.max_width)

    @property
    def whole(self) -> int:
        """Columns that all of them take on one line."""
        return max(0, sum(len(mark.text) + 2 for mark in self.marks) - 2)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(min(self.narrowest, options.max_width), min(self.whole, options.max_width))


class TerminalRow(NamedTuple):
    """A claim or a step: its name, a mark for each named reading, and each choice alone."""

    name: str
    is_step: bool
    named: tuple[TerminalMark, ...]
    alone: Marks


class Layout(NamedTuple):
    """Whether choices alone have a column beside the readings, and the columns between columns."""

    beside: bool
    gap: int


LAYOUTS = (Layout(True, 2), Layout(True, 1), Layout(False, 2), Layout(False, 1))
"""In the order in which they are tried."""


@dataclass(frozen=True)
class Summary:
    """Claims and their steps by readings: a table where it fits, else one statement after the other."""

    rows: tuple[TerminalRow, ...]
    headings: tuple[str, ...]
    caption: str

    def respelt(self, spell: Callable[[str], str]) -> Summary:
        """The same in other letters."""
        rows = tuple(
            TerminalRow(row.name, row.is_step, Marks(row.named).respelt(spell).marks, row.alone.respelt(spell))
            for row in self.rows
        )
        return Summary(rows, self.headings, spell(self.caption))

    @property
    def table(self) -> Table:
        """Statements by readings, and by each choice alone, as wide as it likes."""
        return self._table(Layout(True, 2), self._widths(10_000, Layout(True, 2)))

    def _widths(self, width: int, layout: Layout) -> list[int]:
        """How wide each column is for the table to fit; none where it cannot."""
        names = [len(row.name) + 2 * row.is_step for row in self.rows]
        columns = [(max(names, default=0), max(names, default=0))]
        for index, heading in enumerate(self.headings):
            cells = [Folded(row.named[index]) for row in self.rows]
            least = [len(word) for word in heading.split()] + [cell.narrowest for cell in cells]
            columns.append((max(least), max([len(heading), *(len(cell.mark.text) for cell in cells)])))
        alone = [row.alone for row in self.rows if row.alone.marks]
        if alone and layout.beside:
            least = [*map(len, ALONE.split()), *(marks.narrowest for marks in alone)]
            columns.append((max(least), max([len(ALONE), *(marks.whole for marks in alone)])))
        elif alone:
            columns[0] = (max(columns[0][0], len(UNDER) + 2),) * 2
            least_alone = max(marks.narrowest for marks in alone)
            columns[1] = (max(columns[1][0], least_alone), max(columns[1][1], least_alone))
        widths = [least for least, _ in columns]
        spare = width - sum(widths) - layout.gap * (len(widths) - 1)
        if spare < 0:
            return []
        # What is left goes round, so that no column folds for the sake of another.
        while spare and (short := [at for at, (_, most) in enumerate(columns) if widths[at] < most]):
            for at in short[:spare]:
                widths[at] += 1
            spare -= len(short[:spare])
        return widths

    def _table(self, layout: Layout, widths: Sequence[int]) -> Table:
        """Choices alone have a column of their own, or a row under their statement."""
        table = Table(box=None, pad_edge=False, padding=(0, layout.gap, 0, 0))
        headings = ("Claim", *self.headings, ALONE)
        for heading, width in zip(headings, widths, strict=False):
            table.add_column(heading, width=width)
        for row in self.rows:
            name = Text(f"  {row.name}") if row.is_step else Text(row.name, style="bold")
            table.add_row(name, *map(Folded, row.named), *([row.alone] if len(widths) == len(headings) else ()))
            if row.alone.marks and not layout.beside:
                table.add_row(Text(f"{'  ' * row.is_step}{UNDER}", style="dim"), row.alone)
        return table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        fitting = ((layout, widths) for layout in LAYOUTS if (widths := self._widths(width, layout)))
        layout, widths = next(fitting, (None, []))
        if layout is None:
            yield from self._stacked(width)
        else:
            yield self._table(layout, widths)
        yield from (Text(line) for line in wrap(self.caption, width, break_on_hyphens=False))

    def _stacked(self, width: int) -> Iterable[Text]:
        for row in self.rows:
            indent = "  " * row.is_step
            yield Text(f"{indent}{row.name}", style="" if row.is_step else "bold")
            quiet = "not in this run"
            labelled_marks = [
                (heading.lower(), [mark]) for heading, mark in zip(self.headings, row.named, strict=True)
                if mark.word != quiet
            ]  # fmt: skip
            labelled_marks += [("one choice alone", list(row.alone.marks))] if row.alone.marks else []
            for label, marks in labelled_marks:
                yield from _hung(f"{indent}  {label}:", marks, width)


def _hung(label: str, marks: Sequence[TerminalMark], width: int) -> Iterable[Text]:
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
    whole = proven_ids(report, arranged)
    rows = []
    for claim in arranged.claims:
        # A claim that nothing checks yet takes one line, not one a step.
        for entry in (claim, *(claim.steps if any(step.checked for step in claim.steps) else ())):
            name = entry.id.split("/", 1)[1] if "/" in entry.id else entry.id
            alone = tuple(
                TerminalMark(wording.mark(reading.status), reading.choice, _style(reading.status))
                for reading in entry.isolated
            )
            rows.append(
                TerminalRow(
                    name, "/" in entry.id, tuple(_mark(entry, reading, whole) for reading in NAMED), Marks(alone)
                )
            )
    headings = tuple(wording.reading_title(reading) for reading in NAMED)
    return Summary(tuple(rows), headings, " ".join(prose.overview(report, arranged)))


def _mark(entry: StatementOutline, reading: str, whole: Collection[str]) -> TerminalMark:
    if reading in entry.named:
        outcome = entry.named[reading]
        if reading == "repaired" and entry.id in whole:
            shown = look(PROVEN)
            return TerminalMark(shown.mark, f"{outcome.word}, {shown.word}", shown.style)
        return TerminalMark(wording.mark(outcome.status), outcome.word, _style(outcome.status))
    if entry.missing:
        return TerminalMark(wording.mark(entry.missing), wording.word(entry.missing), _style(entry.missing))
    return TerminalMark("", "not in this run", "dim")


def _style(status: str) -> str:
    return wording.STATUSES[status].style if status in wording.STATUSES else "dim"


class Told(NamedTuple):
    """One result in lines: its verdict and place, its numbers, its sentence."""

    verdict: TerminalMark
    where: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class TerminalNumbers:
    """Each result with what was claimed, what was measured, and its sentence."""

    results: tuple[Told, ...]
    caption: str

    def respelt(self, spell: Callable[[str], str]) -> TerminalNumbers:
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


def told(report: ReportData, claims: Mapping[str, Claim] | None = None) -> Summary | TerminalNumbers:
    """The run as a terminal shows it: with its numbers where it holds at most :data:`FEW` results."""
    if not 0 < len(report.results) <= FEW:
        return summary_table(report, claims)
    caption = " ".join(prose.overview(report, outline(report, claims)))
    return TerminalNumbers(tuple(_told(result, report.excuse(result)) for result in report.results), caption)


def _told(result: Result, excuse: str = "") -> Told:
    status = wording.status_of(result)
    verdict = TerminalMark(wording.mark(status), wording.word(status), _style(status))
    numbers = numbers_of(result, excuse)
    sentence = result.fault if result.fault is not None else result.sentence
    return Told(verdict, result.where, tuple(line for line in (numbers, sentence) if line))


def numbers_of(result: Result, excuse: str = "") -> str:
    """``claimed O(α), measured α^-2 …`` in one line: claim, measured value, interval, and what it rests on.

    ``excuse`` is why a refutation is expected, where it is.
    """
    parts = [f"claimed {_signs(result.claimed)}"] if result.claimed else []
    if result.interval is not None and result.measured is not None:
        measured = wording.exponent(result.measured)
        parts.append(f"measured exponent {measured}, interval {wording.interval(result.interval)}")
    elif result.measured is not None:
        parts.append(f"measured {wording.number(result.measured, 6)}")
    if result.rung is not None and parts:
        parts.append(str(result.rung))
    if excuse:
        parts.append(f"expected to fail: {excuse}")
    elif result.expected is False:
        parts.append("not the verdict on record")
    return "; ".join(parts)


def _signs(claimed: str) -> str:
    for plain, sign in (("<=", "≤"), (">=", "≥"), ("==", "=")):
        claimed = claimed.replace(plain, sign)
    return claimed
