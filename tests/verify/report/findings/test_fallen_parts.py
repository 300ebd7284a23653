"""A claim that falls with a part of it alone is nowhere printed as if its own assertion were refuted."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from tests.verify.report.site.parsed import html_of
from tests.verify.report.site.story_reports import FELL, HELD, report, result
from verify.campaign.summary import summarise
from verify.report import prose
from verify.report.findings.outline import outline
from verify.report.formats.markdown import render_markdown
from verify.report.report_files import Report
from verify.verdict import Verdict

CLAIM, PART, OTHER = "solution-error", "solution-error/strong-convexity", "solution-error/monotonicity"
VACUOUS = Verdict.VACUOUS


def made(own: dict[str, Verdict], part: Verdict | None = FELL) -> Report:
    """The claim's own verdict on each instance, and that of its part."""
    results = [result(CLAIM, "as-written", verdict, instance=name) for name, verdict in own.items()]
    results += [result(PART, "as-written", part, 0.0)] if part else []
    summary = tuple(summarise(results, [CLAIM], search=lambda _: None))
    return report(results).model_copy(update={"summary": tuple(row for row in summary if row.reading)})


def of_claim(of: Report) -> tuple[str, str]:
    """The part that the claim falls with, and its word."""
    (claim,) = outline(of).claims
    return claim.named["as-written"].part, claim.named["as-written"].word


@pytest.mark.parametrize(
    ("own", "part", "word"),
    [
        ({"toy1": HELD, "toy2": VACUOUS}, PART, "refuted by its part strong-convexity, holds by its own check"),
        ({"toy2": VACUOUS}, PART, "refuted by its part strong-convexity, not by its own check"),
        ({}, PART, "refuted by its part strong-convexity"),
        ({"toy1": HELD, "toy2": FELL}, "", "refuted"),
    ],
)
def test_a_claim_says_whether_it_or_its_part_fails(own: dict[str, Verdict], part: str, word: str) -> None:
    assert of_claim(made(own)) == (part, word)
    (row,) = (row for row in made(own).summary if row.claim == CLAIM)
    assert row.status == FELL
    assert ("Its own check refutes nothing" in row.sentence) == (bool(part) and bool(own))


def test_a_claim_that_stands_names_no_part() -> None:
    assert of_claim(made({"toy1": HELD}, HELD)) == ("", "supported")
    assert of_claim(made({"toy1": HELD}, None)) == ("", "supported")


def test_every_page_says_that_the_part_fails() -> None:
    both = made({"toy1": HELD, "toy2": VACUOUS})
    told = "its own check refutes nothing: supported on 1 of 2 instances, vacuous on 1"
    (claim,) = outline(both).claims
    (remark,) = prose.remarks(claim)
    assert remark == (
        f"As written, it falls with strong-convexity (“The penalty Lagrangian is strongly convex in y”), a part of it; "
        f"{told}."
    )
    markdown = render_markdown(both)
    assert "✗ refuted by its part strong-convexity, holds by its own check |" in markdown
    pages = html_of(both)
    assert "holds by its own check; claimed O(α)" in pages["pages/solution-error.html"]
    assert told in pages["pages/solution-error.html"]
    assert "holds by its own check; " in pages["pages/matrix.html"]
    assert "solution-error itself holds by its own check" in Markup(pages["report.html"]).striptags()
    assert (
        "Its own check refutes nothing: supported on 1 of 2 instances, vacuous on 1." in pages["pages/objections.html"]
    )
