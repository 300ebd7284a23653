"""One table of signs for every output: of each status its word, its character, its drawing, and its colours.

A terminal, Markdown and a notebook have the character, an HTML page the drawing of it; a badge has the words alone.
"""

from __future__ import annotations

from typing import NamedTuple

from verify.verdict import Verdict

FAULT = "FAULT"
NOT_CHECKED = "NOT_CHECKED"
LEFT_OPEN = "LEFT_OPEN"
MIXED = "MIXED"
"""Of a text that holds under some of its literal readings; counted apart, no status of a result."""
PROVEN = "PROVEN"
"""Of a repaired statement that holds in the run and for every problem by a theorem; counted with what holds."""


class Status(NamedTuple):
    """How a status is shown: in words, by a character where there is room for no drawing, and in what colour."""

    word: str
    meaning: str
    mark: str
    style: str = "dim"
    """On a terminal."""
    tone: str = ""
    """In a notebook, which brings its own light or dark: a mid-tone that can be read on both."""
    look: str = "none"
    """Its class in the style sheet."""
    drawing: str = ""
    """The character as a drawing of ten by ten."""


def _stroke(d: str, width: float = 1.7, more: str = "") -> str:
    return f'<path d="{d}" fill="none" stroke="currentColor" stroke-width="{width}"{more}/>'


_CROSS = _stroke("M1.4 1.4 8.6 8.6M8.6 1.4 1.4 8.6", 2)
_TICK = _stroke("M.9 5.6 3.8 8.6 9.1 1.4", 1.9)
_TOMBSTONE = '<path d="M1.6.6h6.8v8.8H1.6Z" fill="currentColor"/>'
_QUESTION = _stroke("M2.4 3.1C2.4.2 7.6.2 7.6 3.1 7.6 4.9 5 4.8 5 6.8", 1.6) + (
    '<circle cx="5" cy="9.1" r=".95" fill="currentColor"/>'
)
_CROSSED = (
    '<circle cx="5" cy="5" r="3.8" fill="none" stroke="currentColor" stroke-width="1.3"/>'
    '<path d="M1.2 8.8 8.8 1.2" stroke="currentColor" stroke-width="1.3"/>'
)
_HALF = _stroke("M5 .7 9.3 5 5 9.3.7 5Z", 1.3) + '<path d="M5 0V10L0 5Z" fill="currentColor"/>'
_DOTS = _stroke("M1 5h8", 1.6, ' stroke-dasharray="1.6 1.6"')
_DOT = '<circle cx="5" cy="5" r="1.3" fill="currentColor"/>'
_DASH = _stroke("M1.5 5h7", 1.4)
_ALARM = '<path d="M5 .4 9.8 9.4H.2Z" fill="currentColor"/>'

STATUSES: dict[str, Status] = {
    Verdict.SUPPORTED: Status(
        "supported", "The measurements agree with the claim, within the stated uncertainty.",
        "✓", "cyan", "#1b8297", "good", _TICK),
    Verdict.REFUTED: Status(
        "refuted", "The measurements contradict the claim; a counterexample is shown.",
        "✗", "bold red", "#d0512a", "bad", _CROSS),
    Verdict.INCONCLUSIVE: Status(
        "inconclusive",
        "The measurements cannot tell: too few samples, not yet asymptotic, or below the floor of floating point.",
        "?", "yellow", "#94791a", "open", _QUESTION),
    Verdict.VACUOUS: Status(
        "vacuous", "No problem can meet the hypotheses, so the claim says nothing.",
        "∅", "magenta", "#9168bd", "void", _CROSSED),
    Verdict.NOT_APPLICABLE: Status(
        "not applicable", "The question does not arise for this subject or instance.", "–", drawing=_DASH),
    FAULT: Status(
        "fault", "The subject or the run failed. There is no verdict, and this never counts as one.",
        "!", "bold white on red", "#d0307a", "bad", _ALARM),
    NOT_CHECKED: Status(
        "not checked yet", "The claim is on record, but no check has been written for it.", "·", drawing=_DOT),
    LEFT_OPEN: Status(
        "left open", "Nothing that was computed or looked up can decide it; the reason is given.", "⋯", drawing=_DOTS),
}  # fmt: skip
"""Every status a report can show; the order is that of the legend."""

SHADES: dict[str, Status] = {
    MIXED: Status(
        "holds in some readings", "The words leave a choice open; under some of its values it fails.",
        "⬖", "yellow", "#d0512a", "half", _HALF),
    PROVEN: Status(
        "proven", "It holds in this run, and a machine-checked theorem proves it for every problem that meets its "
        "premises.", "∎", "bold cyan", "#1b8297", "good", _TOMBSTONE),
}  # fmt: skip
"""What a status may be shown as where more is known; no result has one of these."""


def look(status: str) -> Status:
    """The row of a status or shade; of an unknown one, that of what does not apply."""
    return STATUSES.get(status) or SHADES.get(status) or STATUSES[Verdict.NOT_APPLICABLE]
