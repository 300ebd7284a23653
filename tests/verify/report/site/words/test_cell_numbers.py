"""What a cell shows: the number of the deciding result, its mark, its rung, and what was claimed."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.claims import Assertion, Bound
from tests.verify.report.conftest import make_report, sweep
from verify.evidence.model import RUNGS, CertifiedBound, ComparisonEvidence, RateEvidence
from verify.report import wording
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.model import Result
from verify.report.report_files import Report
from verify.report.signs import SHADES, STATUSES
from verify.report.site.frame import SiteFrame
from verify.report.site.words import cell_numbers as numbers
from verify.report.site.words.number_signs import ABOVE, MEANS
from verify.verdict import Verdict


@pytest.fixture(scope="module")
def site(report: Report, claims: dict) -> SiteFrame:
    return SiteFrame.of(report, claims)


def found(site: SiteFrame, full: str, reading: str) -> numbers.CellNumber:
    return site.number(site.statements[full].named[reading])


def test_the_number_is_the_power_and_what_was_claimed_stands_in_both_cells(site: SiteFrame) -> None:
    written, repaired = (found(site, "bias-bound", reading) for reading in ("as-written", "repaired"))
    assert (written.mark, written.text, written.rung, written.claimed) == ("✗", "α⁻²", "numeric", "O(α)")
    assert (repaired.mark, repaired.text, repaired.rung, repaired.claimed) == ("∎", "α²", "symbolic", "O(α)")
    assert written.html == "α<sup>−2</sup>"
    assert (written.tone, repaired.tone) == ("bad", "good")
    assert written.is_order
    assert "refuted: " in written.value.striptags()
    assert (written.instance, written.quantity) == ("toy1", "norm of the bias")


def test_a_compared_value_stands_beside_what_was_predicted(site: SiteFrame) -> None:
    number = found(site, "variance-bound", "as-written")
    assert (number.text, number.claimed, number.rung) == ("199.4", "≤ 0.01 ± 1.2", "statistical")
    assert not number.is_order
    assert number.sign == number.where == ""


def test_a_fault_and_what_is_not_applicable_have_words_and_no_number(site: SiteFrame) -> None:
    assert found(site, "solution-error", "as-written").text == "fault"
    assert found(site, "solution-error", "repaired").text == "not applicable"
    assert found(site, "bias-bound/T3", "as-written").text == "vacuous"
    unchecked = site.cell(site.statements["goldstein-convergence"], "repaired")
    assert unchecked is not None
    assert (unchecked.mark, unchecked.text) == ("·", "not checked")


def test_an_exact_zero_is_said_to_be_one(site: SiteFrame) -> None:
    number = found(site, "bias-bound/T3", "repaired")
    assert (number.text, number.detail) == ("0", "exactly zero at every α")


def test_a_claim_that_falls_with_a_part_shows_the_parts_number(claims: dict) -> None:
    report = make_report()
    part = next(r for r in report.results if (r.claim, r.reading) == ("bias-bound/T1", "as-written"))
    rows = tuple(
        row.model_copy(update={"reproduce": part.reproduce, "deciding": part.instance})
        if (row.claim, row.reading) == ("bias-bound", "as-written") else row
        for row in report.summary
    )  # fmt: skip
    number = found(SiteFrame.of(report.model_copy(update={"summary": rows}), claims), "bias-bound", "as-written")
    assert (number.part, number.text) == ("bias-bound/T1", "α⁻¹")


@pytest.mark.parametrize(
    ("exponent", "interval", "text", "shown"),
    [
        (-2.0, (-2.0, -2.0), "α⁻²", ""),
        (0.9997, (0.9991, 1.0004), "α", ""),
        (-0.0, (-0.004, 0.004), "α⁰", ""),
        (-0.0, (-0.01, 0.01), "α⁰", "[−0.01, 0.01]"),
        (0.5, (0.5, 0.5), "α¹ᐟ²", ""),
        (-1.5, (-1.5, -1.5), "α⁻³ᐟ²", ""),
        (-4.02, (-4.19, -3.77), "α⁻⁴·⁰²", "[−4.19, −3.77]"),
        (-6.0, (-6.3, -5.7), "α⁻⁶", "[−6.30, −5.70]"),
        (1.38, (1.376, 1.384), "α¹·³⁸", ""),
        (1.38, (1.37, 1.385), "α¹·³⁸", "[1.37, 1.39]"),
        (math.inf, (math.inf, math.inf), "0", ""),
    ],
)
def test_powers(exponent: float, interval: tuple[float, float], text: str, shown: str) -> None:
    assert numbers.order("alpha", exponent, interval)[::2] == (text, shown)


@given(st.floats(-60, 60), st.floats(0, 3))
def test_a_power_never_shows_a_zero_with_a_sign_or_raw_signs(exponent: float, width: float) -> None:
    text, html, _ = numbers.order("alpha", exponent, (exponent - width / 2, exponent + width / 2))
    assert "^" not in text + html
    assert "-" not in text + html
    assert not re.search(r"−0(\.0+)?$|⁻⁰(·⁰+)?$", html.striptags())
    assert text.startswith("α")


@given(st.floats(-1e6, 1e6), st.floats(1e-12, 1e3), st.booleans())
def test_what_is_refuted_never_looks_equal(predicted: float, off: float, below: bool) -> None:
    measured = predicted - off if below else predicted + off
    comparison = ComparisonEvidence(quantity="q", measured=measured, relation="==", predicted=predicted)
    shown = numbers.apart(comparison)
    if not comparison.holds and off > 1e-9 * max(1.0, abs(predicted)):
        assert shown[0] != shown[1]


def test_what_is_proven_beyond_the_power_is_told_with_its_end() -> None:
    bound = CertifiedBound(
        side="upper", exponent=1, constant=2.11871, end=0.25, tightness=1.0, certificates=(), worst_case=True
    )
    lower = bound.model_copy(update={"side": "lower", "constant": 0.5})
    rate = sweep(2.0).model_copy(update={"coefficient": 2.0, "exponent": 1.0, "bounds": (lower, bound)})
    result = Result(claim="c", reading="repaired", instance="i", verdict=Verdict.SUPPORTED, sentence="",
                    measured=1.0, interval=(1.0, 1.0), rung="certified", evidence=(rate,))  # fmt: skip
    said = "2 α to leading order; at most 2.119 α for all α in (0, 1/4]"
    assert numbers.measured(result).detail == said
    refuted = result.model_copy(update={"verdict": Verdict.REFUTED})
    assert numbers.measured(refuted).detail.endswith("at least 0.5 α for all α in (0, 1/4]")


def judged(rate: RateEvidence, rung: str, interval: tuple[float, float]) -> numbers.CellNumber:
    return numbers.measured(
        Result(claim="c", reading="repaired", instance="i", verdict=Verdict.SUPPORTED, sentence="",
               measured=rate.exponent, interval=interval, rung=rung, evidence=(rate,))
    )  # fmt: skip


@pytest.mark.parametrize("rung", ["numeric", "statistical"])
def test_a_fitted_exponent_looks_unlike_an_exact_one(rung: str) -> None:
    fitted = judged(sweep(-4.02, rung=rung), rung, (-4.19, -3.77))
    exact = judged(sweep(-4.0, rung="certified", coefficient=1.0), rung, (-4.0, -4.0))
    assert (fitted.sign, fitted.interval, exact.sign, exact.interval) == ("≈", "[−4.19, −3.77]", "=", "")
    assert f"≈ α−4.02 [−4.19, −3.77] {rung}" in fitted.value.striptags()
    assert f"= α−4 {rung}" in exact.value.striptags()
    assert (fitted.said.striptags(), exact.said.striptags()) == ("≈ α−4.02", "α−4")


def test_what_was_read_in_a_source_is_not_fitted_and_a_zero_has_no_power() -> None:
    assert judged(sweep(-3.0, rung="cited"), "cited", (-3.0, -3.0)).sign == "="
    zero = RateEvidence(quantity="q", variable="alpha", points=(), exponent=math.inf, interval=(math.inf, math.inf))
    assert judged(zero, "numeric", (math.inf, math.inf)).sign == ""


@pytest.mark.parametrize(
    ("measured", "relation", "predicted", "text", "where"),
    [
        (2.8838349e36, "==", 0.0, "2.9 × 10³⁶", "at steps = 254"),
        (1.82493e13, "<=", 64.0, "1.8 × 10¹³", "at steps = 254"),
        (4.26742e-16, "<=", 1.0, "4.3 × 10⁻¹⁶", ""),
        (1.2345678e6, "<=", 1.2345e6, "1.235 × 10⁶", ""),
        (0.155, "==", 1.0, "0.155", ""),
    ],
)
def test_a_value_of_an_extreme_size_has_few_digits_and_says_where_it_arose(
    measured: float, relation: str, predicted: float, text: str, where: str
) -> None:
    compared = ComparisonEvidence.model_validate(
        {"quantity": "q", "measured": measured, "relation": relation, "predicted": predicted, "context": {"steps": 254}}
    )
    verdict = Verdict.SUPPORTED if compared.holds else Verdict.REFUTED
    shown = numbers.measured(Result(claim="c", reading="repaired", instance="i", verdict=verdict, sentence="",
                                    measured=measured, rung="numeric", evidence=(compared,)))  # fmt: skip
    assert (shown.text, shown.where) == (text, where)


def reading(exponent: str, *, tag: str = "upper", toward: str = "zero", variable: str = "alpha") -> ReadingOutline:
    bound = Bound(quantity="q", exponents={variable: exponent}, tag=tag, toward=toward)
    return ReadingOutline("c", "repaired", "SUPPORTED", "", Assertion(text="t", bound=bound), (), {})


@pytest.mark.parametrize(
    ("written", "repaired", "said"),
    [
        (reading("1"), reading("1"), ""),
        (reading("1"), reading("-1"), "claim weakened to O(α⁻¹)"),
        (reading("1"), reading("2"), "claim strengthened to O(α²)"),
        (reading("1", toward="infinity"), reading("2", toward="infinity"), "claim weakened to O(α²)"),
        (reading("1", tag="lower"), reading("2", tag="lower"), "claim weakened to Ω(α²)"),
        (reading("1"), reading("1", tag="tight"), "claim restated as Θ(α)"),
        (reading("1"), reading("1", variable="epsilon"), "claim restated as O(ε)"),
        (None, reading("1"), ""),
    ],
)
def test_a_claim_made_weaker_is_said_to_be(written: ReadingOutline | None, repaired: ReadingOutline, said: str) -> None:
    assert numbers.restated(written, repaired) == said


def test_every_status_and_every_rung_has_its_sign() -> None:
    assert not {*STATUSES} & {*SHADES}
    assert set(MEANS) == set(RUNGS)
    assert {*MEANS, *ABOVE} == {*wording.RUNGS}
    rows = [*STATUSES.values(), *SHADES.values()]
    assert len({row.mark for row in rows}) == len({row.drawing for row in rows}) == len(rows)


def test_a_fit_that_has_not_settled_has_neither_digits_nor_an_interval() -> None:
    loose = sweep(-9.15).model_copy(update={"settled": False, "interval": (-9.17, -9.13), "variable": "epsilon"})
    drifting = Result(
        claim="sfo-complexity", reading="as-written", instance="toy1", verdict=Verdict.REFUTED, sentence="",
        measured=-9.15, interval=(-9.17, -9.13), rung="numeric", evidence=(loose,),
    )  # fmt: skip
    shown = numbers.measured(drifting)
    assert (shown.text, shown.sign, shown.interval) == ("ε⁻⁹", "about", "not settled")
    assert shown.value.striptags() == "refuted: about ε−9, not settled numeric"
    assert wording.rate(loose) == "exponent about −9 in ε, not settled"
    settled = loose.model_copy(update={"settled": True})
    assert "[−9.17, −9.13]" in numbers.measured(drifting.model_copy(update={"evidence": (settled,)})).value


@pytest.mark.parametrize(("exponent", "said"), [(-9.15, -9), (-8.75, -9), (-8.71, -9), (-6.46, -6.5), (0.502, 0.5)])
def test_an_exponent_that_has_not_settled_is_told_by_the_number_beside_it(exponent: float, said: float) -> None:
    assert wording.rough(exponent) == said


def test_a_derived_order_stands_before_a_fit() -> None:
    shown = replace(numbers.measured(Result(
        claim="c", reading="repaired", instance="toy1", verdict=Verdict.SUPPORTED, sentence="", measured=-5.83,
        interval=(-5.94, -5.73), rung="numeric",
        evidence=(sweep(-5.83).model_copy(update={"interval": (-5.94, -5.73)}),),
    )), firm="O(α⁻⁶)", firm_by="derived")  # fmt: skip
    assert shown.value.striptags() == "holds: O(α⁻⁶) derived measured ≈ α−5.83 [−5.94, −5.73] numeric"
    assert shown.told.striptags() == "O(α⁻⁶) (derived; measured ≈ α−5.83 [−5.94, −5.73])"


def test_the_number_is_of_the_data_and_not_of_the_sentence(claims: dict) -> None:
    report = make_report()
    lied = [result.model_copy(update={"sentence": "The bias falls like α^9.00."}) for result in report.results]
    shown = SiteFrame.of(report.model_copy(update={"results": tuple(lied)}), claims)
    assert found(shown, "bias-bound", "as-written").text == "α⁻²"
    changed = [
        result.model_copy(update={"measured": -3.0, "interval": (-3.0, -3.0),
                                  "evidence": (RateEvidence.model_validate(sweep(-3.0).model_dump()),)})
        if (result.claim, result.reading) == ("bias-bound", "as-written") else result
        for result in report.results
    ]  # fmt: skip
    shown = SiteFrame.of(report.model_copy(update={"results": tuple(changed)}), claims)
    assert found(shown, "bias-bound", "as-written").text == "α⁻³"
