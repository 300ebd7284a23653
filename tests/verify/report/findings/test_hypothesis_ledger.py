"""Which hypotheses are needed follows from verdicts alone, and those on record show what the lemmas lack."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from spec.claims import load_claims
from verify.campaign.baseline.storage import shipped_record
from verify.report.findings.hypothesis_ledger import ledgers
from verify.report.formats.markdown import render_markdown
from verify.report.model import ReportData
from verify.report.rows.summary_row import SummaryRow
from verify.report.site import reference_pages
from verify.report.site.frame import SiteFrame
from verify.truth.propositions.needs import needs_of
from verify.verdict import combine


def rows(**statuses):
    """Summary rows of the ramp's hypothesis and of the statement that goes without it."""
    made = [SummaryRow(claim="bias-bound", reading="repaired", status="SUPPORTED", sentence="")]
    for reading, status in statuses.items():
        made.append(SummaryRow(claim="bias-bound/uniformity", reading=reading, status=status, sentence=""))
    return made


def need(found, premise="strict-complementarity"):
    (ledger,) = found
    return next(h for h in ledger.hypotheses if h.premise.id == premise)


@pytest.mark.parametrize(
    ("written", "repaired", "said"),
    [
        ("REFUTED", "SUPPORTED", "needed"),
        ("SUPPORTED", "SUPPORTED", "not needed here"),
        ("REFUTED", "REFUTED", "open"),
        ("INCONCLUSIVE", "SUPPORTED", "open"),
    ],
)
def test_need_follows_from_the_verdicts(written, repaired, said):
    found = list(ledgers(rows(**{"as-written": written, "repaired": repaired})))
    assert need(found).need == said
    assert not need(found).listed
    assert (need(found) in found[0].missing) == (said == "needed")


def test_what_was_not_run_is_not_judged_by_verdicts():
    only = [SummaryRow(claim="goldstein-convergence", reading="repaired", status="SUPPORTED", sentence="")]
    assert list(ledgers(only)) == []


def test_a_choice_alone_shows_what_goes_without_it():
    statuses = {"as-written": "REFUTED", "repaired": "SUPPORTED", "only:multiplier_width": "SUPPORTED"}
    made = [SummaryRow(claim="dual-extraction", reading=r, status=s, sentence="") for r, s in statuses.items()]
    assert need(list(ledgers(made)), "fixed-ramp").need == "not needed here"


def test_the_record_shows_what_the_paper_leaves_out():
    kept = {}
    for key, verdict in shipped_record().items():
        claim, reading, _ = key.split("|")
        kept.setdefault((claim, reading), []).append(verdict)
    summary = [SummaryRow(claim=c, reading=r, status=combine(v), sentence="") for (c, r), v in kept.items()]
    missing = {(ledger.claim, h.premise.id) for ledger in ledgers(summary) for h in ledger.missing}
    assert missing >= {
        ("bias-bound", "strict-complementarity"),
        ("bias-bound", "hessian-lipschitz"),
        ("bias-bound", "feasible"),
        ("dual-extraction", "fixed-ramp"),
        ("variance-bound", "mean-square-smooth"),
        ("hypergradient-accuracy", "second-moment-accuracy"),
        ("goldstein-convergence", "unconstrained"),
    }
    # A hypothesis that nothing shows to be needed is not called so: no verdict, and no problem found without it.
    for ledger in ledgers(summary):
        for hypothesis in ledger.hypotheses:
            if hypothesis.need == "needed":
                assert hypothesis.premise.shown_by or hypothesis.dropped
            elif hypothesis.need != "not judged" and not hypothesis.premise.shown_by:
                assert needs_of(hypothesis.claim.split("/")[0], hypothesis.premise.id)


def test_what_the_text_is_granted_is_not_listed_and_the_pages_say_why():
    only = [SummaryRow(claim="solution-error", reading="repaired", status="SUPPORTED", sentence="")]
    (ledger,) = ledgers(only)
    known = {one.premise.id: one for one in ledger.hypotheses}
    assert known["alpha-range"].standing == "yes"
    assert known["feasible"].standing == "no"
    granted = known["some-row-active"]
    assert (granted.standing, granted.listed) == ("no, granted", False)
    assert granted.granted == "an error of the multiplier on no row moves nothing"
    report = ReportData(
        environment={}, seed=1, profile="smoke", subject="reference", results=(), summary=tuple(only)
    )  # fmt: skip
    row = next(line for line in render_markdown(report).splitlines() if "Some row is active at" in line)
    assert "| no, granted: an error of the multiplier on no row moves nothing |" in row
    (page,) = (
        str(one.body) for one in reference_pages.pages(SiteFrame.of(report)) if "Listed by the paper" in one.body
    )
    assert "no, granted<small>an error of the multiplier on no row moves nothing</small>" in page
    assert "needed: without it solution-error/active-rows fails on interior" in Markup(page).striptags()


def test_what_shows_a_need_has_both_readings():
    known = {full: statement for claim in load_claims().values() for full, statement in claim.statements()}
    for full, statement in known.items():
        for premise in statement.premises:
            if premise.without:
                assert premise.without in known[premise.shown_by].choices, full
