"""The paper's assertions beside a run: in reading order, each with the statements that judge it and their verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from spec.text.assertions import PaperAssertion, load_assertions
from verify.report import wording
from verify.report.findings.outline import Outline, StatementOutline
from verify.report.model import NAMED

KINDS = {"said": "", "implied": "Taken for granted.", "silent": "Not said.", "consequence": "Ours, not the paper’s."}
"""How an assertion stands to the words; nothing where they say it."""


def decided(entry: PaperAssertion) -> str:
    """How it is decided, in a few words: granted, an open choice under each value, or why nothing can."""
    if entry.granted:
        leaves = f", which leaves {entry.leaves_open} open; these are judged under each of its values"
        return f"a {entry.granted}{leaves if entry.leaves_open else ', on which these build'}"
    if entry.reason:
        return f"left open: {entry.reason}"
    return ", ".join(entry.decided_by)


@dataclass(frozen=True)
class Outcome:
    """One named reading of a statement: its status, and the words for it."""

    status: str
    word: str

    @property
    def marked(self) -> str:
        """With the character in front."""
        return f"{wording.mark(self.status)} {self.word}".strip()


@dataclass(frozen=True)
class JudgedBy:
    """A statement that judges an assertion: its outcome as written and repaired; one for both where they agree.

    Beside what is granted, or whose words it does not say, a statement has no outcome.
    """

    statement: StatementOutline
    outcomes: tuple[Outcome, ...]

    @property
    def words(self) -> str:
        """``✗ refuted, repaired ✓ supported``; as written alone where nothing was repaired."""
        return ", repaired ".join(outcome.marked for outcome in self.outcomes)


@dataclass(frozen=True)
class JudgedAssertion:
    """One assertion with what the run says of it; what is granted has no outcome beside it."""

    entry: PaperAssertion
    judged_by: tuple[JudgedBy, ...]

    @property
    def note(self) -> str:
        """What has to be said beside it: granted, with a choice left open, why it is open, or how it is not said."""
        entry = self.entry
        if entry.granted or entry.reason:
            words = decided(entry)
            return words[:1].upper() + words[1:] + ("." if entry.granted else "")
        return KINDS[entry.kind]


def judged_assertions(arranged: Outline) -> list[tuple[str, list[JudgedAssertion]]]:
    """By section, in order: the assertions of which this run has a statement."""
    known = {entry.id: entry for entry in arranged.statements}
    assertions = [JudgedAssertion(entry, tuple(_judged(entry, known))) for entry in load_assertions().assertions]
    shown = (item for item in assertions if item.judged_by)
    return [(section, list(items)) for section, items in groupby(shown, key=lambda item: item.entry.section)]


def _judged(entry: PaperAssertion, known: dict[str, StatementOutline]) -> Iterator[JudgedBy]:
    for full in entry.covered_by:
        if full in known:
            yield JudgedBy(known[full], () if entry.granted or full in entry.beside else _outcomes(known[full]))


def _outcomes(statement: StatementOutline) -> tuple[Outcome, ...]:
    readings = (statement.named[name].own for name in NAMED if name in statement.named)
    outcomes = [Outcome(reading.shown, reading.word) for reading in readings if reading.status]
    if not outcomes and statement.missing:
        outcomes = [Outcome(statement.missing, wording.word(statement.missing))]
    return tuple(outcomes[:1] if len(set(outcomes)) == 1 else outcomes)
