"""What a report counts on drawn problems, held to how many it was asked about: nothing of it may be left out."""

from __future__ import annotations

from collections.abc import Iterator

from spec.drawn import FAMILIES
from spec.expectations import reason_of
from verify.checks.measuring.case import PROFILES, checks
from verify.checks.measuring.where_asked import can_draw
from verify.report.model import NAMED, ReportData
from verify.report.wording import counted


def miscounted(report: ReportData) -> Iterator[tuple[str, str, str]]:
    """Where the counts on drawn problems are not of as many as were asked about: place, field and the rule it breaks.

    A statement that is asked on the atlas is asked on the draws of every family that it can be asked about, under the
    same named readings. Reports written before the number was part of them say only what they counted.
    """
    count, draws = report.draws_asked, report.draws
    if count < 0:
        yield "draws", "draws_asked", "must be >= 0"
    elif draws is None:
        if count:
            yield "draws", "draws", f"must not be left out: {counted(count, 'problem')} of each family were asked about"
    elif "draws_asked" in report.model_fields_set and draws.each != count:
        yield "draws", "each", f"must be {count}, as many as were asked about; it is {draws.each}"
    else:
        yield from _rows(report, draws.each)


def _rows(report: ReportData, each: int) -> Iterator[tuple[str, str, str]]:
    rows = () if report.draws is None else report.draws.rows
    held = [(row.claim, row.reading, row.family) for row in rows]
    for row, key in zip(rows, held, strict=True):
        where = " ".join(key)
        if held.count(key) > 1:
            yield where, "draws", "must have this row once"
        if (
            min(row.verdicts.values(), default=0) < 0
            or row.problems > each
            or (report.complete and row.problems < each)
        ):
            yield where, "verdicts", f"must add up to {each}, a draw each; they add up to {row.problems}"
    if report.complete:
        yield from ((" ".join(key), "draws", "must have this row") for key in expected_rows(report) if key not in held)


def expected_rows(report: ReportData) -> Iterator[tuple[str, str, str]]:
    """Rows that a run makes over the statements and readings found here."""
    known = checks()
    unasked = [skip for skip in report.skips if not skip.instance]
    on_atlas = [
        result for result in report.results
        if result.claim in known and result.reading in NAMED and not reason_of(unasked, **result.named)
    ]  # fmt: skip
    for claim, reading in dict.fromkeys((result.claim, result.reading) for result in on_atlas):
        yield from ((claim, reading, name) for name, family in FAMILIES.items() if can_draw(known[claim], family))


def unasked(report: ReportData, again: int = 0) -> Iterator[str]:
    """What is to be said of drawn problems that nothing decides again, but for those that were."""
    if report.draws is not None and report.draws.asked:
        sentence = f"{report.draws.asked} results on drawn problems are counted: each can be run again by its name"
        yield f"{sentence}, as {again} were" if again else sentence
    usual = PROFILES[report.profile].draws if report.profile in PROFILES else 0
    if report.draws_asked < usual and report.draws is None:
        yield f"the profile asks about {counted(usual, 'drawn problem')} of each family; this run asked about none"
