"""A badge of a report: how many repaired statements about a solver hold, as a picture and for a shields endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from verify.evidence.model import PROVEN
from verify.report.findings.proven import grade
from verify.report.model import ReportData
from verify.report.rows.summary_row import SummaryRow
from verify.report.wording import counted
from verify.verdict import Verdict

COLOURS = {
    "brightgreen": "#2d7d32", "yellow": "#8a6d00", "red": "#c02c20", "orange": "#b34a00", "lightgrey": "#5f6a72",
}  # fmt: skip
"""Names as shields has them, with shades on which white text keeps a contrast of at least 4.5."""
LABEL_COLOUR = "#3f464c"
HEIGHT, PADDING, SIZE = 20, 7, 11
NARROW, WIDE = frozenset("fijlrt.,:;|!'()[] /"), frozenset("mwMW@%—")


@dataclass(frozen=True)
class Badge:
    """What a badge says in its left and right half; its colour is a name of :data:`COLOURS`."""

    label: str
    message: str
    colour: str

    def endpoint(self) -> dict[str, object]:
        """The same for a shields endpoint."""
        fields = {"schemaVersion": 1, "label": self.label, "message": self.message, "color": self.colour}
        # Shields shows errors in place of the colour then.
        return fields | ({"isError": True} if self.colour in ("red", "orange") else {})

    def svg(self) -> str:
        """The same as a picture that needs nothing else."""
        left, right = (_width(text) + 2 * PADDING for text in (self.label, self.message))
        title = f"{self.label}: {self.message}"
        texts = ((self.label, PADDING, left), (self.message, left + PADDING, right))
        stretched = 'lengthAdjust="spacingAndGlyphs"'
        shown = "".join(
            f'<text x="{x}" y="14" textLength="{width - 2 * PADDING}" {stretched}>{escape(text)}</text>'
            for text, x, width in texts
        )
        return (
            "<!-- f2csa-verify -->"
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}" role="img" '
            f'aria-label={quoteattr(title)} viewBox="0 0 {left + right} {HEIGHT}">'
            f"<title>{escape(title)}</title>"
            # Named by its width: pictures pasted into one page share a clip only where it is the same.
            f'<clipPath id="clip{left + right}"><rect width="{left + right}" height="{HEIGHT}" rx="3"/></clipPath>'
            f'<g clip-path="url(#clip{left + right})"><rect width="{left}" height="{HEIGHT}" fill="{LABEL_COLOUR}"/>'
            f'<rect x="{left}" width="{right}" height="{HEIGHT}" fill="{COLOURS[self.colour]}"/></g>'
            # Its own edge keeps the dark half apart from a dark page.
            f'<rect x=".5" y=".5" width="{left + right - 1}" height="{HEIGHT - 1}" rx="2.5" fill="none" '
            'stroke="#fff" stroke-opacity=".25"/>'
            f'<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="{SIZE}" '
            f'text-rendering="geometricPrecision">{shown}</g></svg>\n'
        )


def badge_of(report: ReportData, label: str = "F2CSA") -> Badge:
    """The badge of a report: its faults first, then its findings, then how many repaired statements hold or are proven.

    Only what is said about a solver counts; where some of it could not be asked, the badge says so and is not green.
    """
    coverage, hold = report.coverage, str(report.coverage)
    if excused := len(report.excused):
        hold += f"; {counted(excused, 'expected failure')}"
    if report.is_of_the_paper and (proved := sum(grade(row.claim) == PROVEN for row in report.summary if _holds(row))):
        hold += f"; {proved} proven"
    refuted = any(row.status in (Verdict.REFUTED, Verdict.VACUOUS) for row in report.summary if _counts(row))
    if not coverage.applicable and not report.findings and not report.faults:
        return Badge(label, "nothing could be asked" if coverage.all else "no repaired claim judged", "lightgrey")
    if not report.complete:
        return Badge(label, f"incomplete run, {hold}", "lightgrey")
    if report.faults:
        return Badge(label, f"{counted(len(report.faults), 'fault')}, {hold}", "orange")
    if refuted:
        return Badge(label, hold, "red")
    if report.findings:
        return Badge(label, f"{counted(len(report.findings), 'finding')}, {hold}", "red")
    return Badge(label, hold, "brightgreen" if coverage.held == coverage.all else "yellow")


def _counts(row: SummaryRow) -> bool:
    return row.reading == "repaired" and row.about == "subject"


def _holds(row: SummaryRow) -> bool:
    return row.reading == "repaired" and row.status == Verdict.SUPPORTED


def _width(text: str) -> int:
    """About what 11 px Verdana takes; the picture stretches the text to exactly this."""
    return round(sum(4.3 if c in NARROW else 10.5 if c in WIDE else 7.6 if c.isupper() else 6.8 for c in text))
