"""The line beside a sampled number: what is assumed, what was checked, how often it errs, what it would have seen."""

from __future__ import annotations

from tests.verify.report.site.parsed import together
from verify.evidence.model import LAWS, ComparisonEvidence, PremiseEvidence, RateEvidence
from verify.report.findings.assumed_laws import ASSUMES, assumed
from verify.report.formats.junit import render_junit
from verify.report.formats.markdown import render_markdown
from verify.verdict import Verdict

VARIANCE = ComparisonEvidence(
    quantity="v", measured=1.01, relation="==", predicted=1.0, tolerance=0.04, rung="statistical", error_rate=1e-9,
    detectable=0.05, wanted=0.05, power=0.999, samples=9, law="variance (chi-square)",
    checked="kurtosis 3.01 ± 0.02, lag 1 correlation -0.001 ± 0.01",
)  # fmt: skip


def test_every_law_is_put_in_words():
    assert set(ASSUMES) == set(LAWS)


def test_law_check_error_and_power_in_one_line():
    assert assumed(VARIANCE) == (
        "Assumes independent Gaussian estimates of equal variance: checked on these samples (kurtosis 3.01 ± 0.02, "
        "lag 1 correlation −0.001 ± 0.01); wrong at most once in 10⁹; would have seen 5 %."
    )


def test_an_exponent_says_orders_and_what_is_not_sampled_says_nothing():
    rate = RateEvidence(
        quantity="q", variable="alpha", points=(), exponent=1.0, interval=(0.9, 1.1), rung="statistical",
        error_rate=1e-6, detectable=0.2, law="exponent (log chi-square)",
    )  # fmt: skip
    assert "would have seen 0.2 of an order." in assumed(rate)
    assert assumed(rate.model_copy(update={"error_rate": None})) == ""
    assert assumed(PremiseEvidence(premise="p", holds=True, finding="f")) == ""


def test_a_broken_assumption_takes_the_place_of_rates():
    assert assumed(VARIANCE.model_copy(update={"broken": "estimates are correlated"})).endswith(
        "; undecided: estimates are correlated."
    )


def test_every_face_of_a_report_shows_the_line(report, claims):
    sampled = report.results[0].model_copy(
        update={"evidence": (VARIANCE,), "verdict": Verdict.SUPPORTED, "fault": None}
    )
    shown = report.model_copy(update={"results": (sampled, *report.results[1:])})
    line = "Assumes independent Gaussian estimates of equal variance"
    for face in (render_junit(shown), render_markdown(shown, claims), together(shown, claims)):
        assert line in face
