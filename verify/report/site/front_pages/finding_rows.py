"""The table of findings: of each what is measured as written and repaired, and a small plot of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from verify.report import wording
from verify.report.findings.outline import StatementOutline
from verify.report.findings.proven import standing_of
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.site.causes.failure_causes import Cause, CauseFinding, change, findings
from verify.report.site.frame import SiteFrame
from verify.report.site.plots.rate_figure import compared, rate_figure, spark
from verify.report.site.words.cell_numbers import CellNumber, spelt
from verify.verdict import Verdict


@dataclass(frozen=True)
class FindingCell:
    """A number, what was claimed of it, and one remark."""

    number: CellNumber
    claimed: Markup
    remark: Markup


@dataclass(frozen=True)
class FindingRow:
    """One finding; ``href`` leads to its cause's page, or to the statement.

    What the list of causes has drawn is not drawn again: ``drawing`` leads there.
    """

    finding: CauseFinding
    href: str
    written: FindingCell | None
    repaired: FindingCell | None
    drawing: Markup


def finding_rows(site: SiteFrame, causes: Sequence[Cause]) -> list[FindingRow]:
    """One for each finding of which something was run; what fails comes first."""
    known = {cause.text.statement: cause for cause in causes}
    rows = [row for finding in findings() if (row := _row(site, finding, known)) is not None]
    return sorted(rows, key=lambda row: not (row.written and row.written.number.tone == "bad"))


def _row(site: SiteFrame, finding: CauseFinding, causes: Mapping[str, Cause]) -> FindingRow | None:
    entry, mended = (site.statements.get(name) for name in (finding.written, finding.repaired or finding.written))
    written = entry.named.get("as-written") if entry else None
    repaired = mended.named.get("repaired") if mended else None
    if written is None and repaired is None:
        return None
    picture = rate_figure(written, repaired) if written else None
    small = spark(picture) if picture else compared(written, repaired) if written else None
    cause = causes.get(finding.written)
    if cause is not None and picture:  # drawn there
        small = Markup('<a href="#cause-{}">plot {} above</a>').format(cause.number, cause.number)
    page = site.to_file(cause.file) if cause is not None else ""
    href = page or site.href(finding.written) or site.href(finding.repaired)
    return FindingRow(
        finding, href, _written(site, entry, written, mended) if entry and written else None,
        _repaired(site, entry, mended, repaired) if mended and repaired else None, small or Markup(""),
    )  # fmt: skip


def _written(
    site: SiteFrame, entry: StatementOutline, reading: ReadingOutline, mended: StatementOutline | None
) -> FindingCell:
    number = site.number(reading)
    parts = (
        _quantity(number), _detail(number), _part(site, number), _readings(entry), _refuted(site, entry.id),
        _whole(site, mended, entry.id),
    )  # fmt: skip
    return FindingCell(number, _claimed(number), Markup("<br>").join(part for part in parts if part))


def _quantity(number: CellNumber) -> Markup:
    """Of a plain value, what it is a value of."""
    return wording.typeset(number.quantity) if number.quantity and not number.is_order else Markup("")


def _refuted(site: SiteFrame, full_id: str) -> Markup:
    """Where the literal text is refuted by a theorem: by which."""
    standing = standing_of(full_id, "as-written")
    if standing is None or not site.report.is_of_the_paper:
        return Markup("")
    names = wording.listing(standing.row.by)
    return Markup('<span title="{}">refuted by a theorem, too</span>').format(names)


def _proved(entry: StatementOutline, number: CellNumber) -> Markup:
    """Of what theorems prove: for every problem, or what they leave out; and on how many instances it was measured."""
    standing = standing_of(entry.id) if number.grade else None
    if standing is None:
        return Markup("")
    on = entry.named["repaired"].instances.get(str(Verdict.SUPPORTED), 0)
    measured = f"measured on {wording.counted(on, 'instance')}"
    if standing.lacks:
        return Markup('<span title="Not in the theorems: {}">{}</span>').format("; ".join(standing.lacks), measured)
    more = f" ({'; '.join(standing.gaps)})" if standing.gaps else ""
    return wording.typeset(f"proven for every problem{more}; {measured}")


def _part(site: SiteFrame, number: CellNumber) -> Markup:
    """Where a part decides: which one, as the number is of what that is about."""
    return Markup("by its part {}").format(site.link(number.part)) if number.part else Markup("")


def _whole(site: SiteFrame, claim: StatementOutline | None, part: str) -> Markup:
    """Of the part that a claim falls with: that the claim's own assertion is not what fails."""
    written = claim.named.get("as-written") if claim is not None else None
    if claim is None or written is None or written.part != part or not written.by_itself:
        return Markup("")
    return Markup("{} itself {}").format(site.link(claim.id), written.by_itself)


def _claimed(number: CellNumber, lead: str = "claimed") -> Markup:
    return Markup("{} {}").format(lead, number.claimed_html) if number.claimed else Markup("")


def _detail(number: CellNumber) -> Markup:
    """The bound proven with an exponent, the last of what is known beyond it; of an extreme value, where it arose."""
    if number.where:
        return wording.typeset(number.where)
    told = number.detail.split("; ")[-1]
    return wording.typeset(told) if told.startswith(("at least", "at most", "exactly")) else Markup("")


def _readings(entry: StatementOutline) -> Markup:
    """Of words that allow several readings: in how many it holds, and which one stands here."""
    literal = entry.literal
    if literal is None or literal.parts or len(literal.literal) < 2:
        return Markup("")
    count, first = len(literal.literal), literal.literal[0]
    if literal.holding:
        return wording.typeset(f"with {first.words}; holds in {literal.holding} of {count} readings of the words")
    told = [one for one in literal.literal if one.fails and one.measured]
    best = min(told, key=lambda one: one.off, default=first)
    if len(told) == count and best.off < max(one.off for one in told):
        own = "" if best.claimed == first.claimed else f", claimed {spelt(best.claimed)}"
        other = f"with {best.words} still" if best.words != first.words else "in its mildest reading still"
        return wording.typeset(f"with {first.words}; {other} {best.measured}{own}")
    return Markup("")


def _repaired(
    site: SiteFrame, entry: StatementOutline | None, mended: StatementOutline, reading: ReadingOutline
) -> FindingCell:
    number = site.number(reading)
    ours = mended.statement.repaired.bound if mended.statement else None
    theirs = entry.statement.as_written.bound if entry and entry.statement else None
    lead = change(ours, theirs) if ours and theirs and ours.exponents and theirs.exponents else "claimed"
    told = _claimed(number, lead)
    if number.fitted and number.firm == number.claimed:  # the claim is what the number says
        told = Markup("{}").format("as claimed" if lead == "claimed" else f"{lead} this")
    by = entry.literal.repaired_by.partition("; it then")[0] if entry and entry is mended and entry.literal else ""
    by = f"with {by.removeprefix('at most ')}" if by and not by.startswith("it holds") else ""
    parts = (
        _proved(mended, number), _quantity(number), _detail(number), wording.typeset(by),
        _itself(site, entry) if entry and entry is not mended else Markup(""),
    )  # fmt: skip
    return FindingCell(number, told, Markup("<br>").join(part for part in parts if part))


def _itself(site: SiteFrame, entry: StatementOutline) -> Markup:
    """Where another statement shows the repair: what the finding's own one gives repaired, if it claims less there."""
    repaired, statement = entry.named.get("repaired"), entry.statement
    if repaired is None or statement is None or not statement.repaired.bound.exponents:
        return Markup("")
    lead = change(statement.repaired.bound, statement.as_written.bound)
    number = site.number(repaired)
    claimed = Markup("this") if number.fitted and number.firm == number.claimed else number.claimed_html
    return Markup("else {}, {} {}").format(number.said, lead, claimed) if "weakened" in lead else Markup("")
