"""Exact evidence decides about a subject only where the subject agrees with the formulas."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import verify
from spec import Bound
from spec.atlas import find
from verify.checks.measuring.premises import regular_truth
from verify.conformance.bugs.bent_subject import DropsImplicitTerm, FlippedPenalty, KeepsDualTerm
from verify.evidence.model import ComparisonEvidence, Point, RateEvidence
from verify.subjects import Call, ReferenceSubject
from verify.truth.enclosures.pair import geometry_at_truth
from verify.verdict import RungDisagreementError, Verdict, decide


@pytest.mark.parametrize("mutant", [KeepsDualTerm, DropsImplicitTerm, FlippedPenalty])
def test_exact_evidence_only_supports_where_the_subject_deviates(mutant):
    report = verify.run(["bias-bound/T3"], subject=mutant(), readings=["repaired"], instances=["toy1"])
    (result,) = report.results
    exact = [e for e in result.evidence if isinstance(e, RateEvidence) and e.rung == "certified"]
    assert [e.role for e in exact] == ["support"]
    assert result.verdict is Verdict.REFUTED
    assert result.rung == "numeric"


def test_a_reference_that_leaves_its_formulas_is_a_fault(monkeypatch):
    right = ReferenceSubject.hypergradient

    def wrong(self, problem, x, call: Call, rng):
        return right(self, problem, x, call, rng) * (1 + 1e-6)

    monkeypatch.setattr(ReferenceSubject, "hypergradient", wrong)
    report = verify.run(["bias-bound/T3"], readings=["repaired"], instances=["toy1"])
    (result,) = report.results
    assert result.verdict is None
    assert "roundings" in result.fault


def test_a_subject_wrong_at_some_alphas_only_gets_no_exact_support():
    class EverySecond(ReferenceSubject):
        name = "every-second"

        def hypergradient(self, problem, x, call: Call, rng):
            odd = round(np.log2(0.2 / call.alpha)) % 2 == 1
            return super().hypergradient(problem, x, call, rng) * (1.05 if odd else 1.0)

    report = verify.run(["bias-bound/T3"], subject=EverySecond(), readings=["repaired"], instances=["toy1"])
    (result,) = report.results
    assert result.verdict is not Verdict.SUPPORTED
    assert result.rung != "certified"


def test_proven_bounds_for_every_error_hold_for_random_ones():
    report = verify.run(
        ["bias-bound/T1", "bias-bound/T2"], readings=["repaired"], instances=["two-of-three", "fixed-rows"]
    )
    rng = np.random.default_rng(3)
    for result in report.results:
        (exact,) = [e for e in result.evidence if isinstance(e, RateEvidence) and e.rung == "certified"]
        (bound,) = exact.bounds
        assert bound.worst_case
        instance = find(result.instance)
        truth = regular_truth(instance)
        for alpha in (0.25, 0.1, 0.01):
            g = geometry_at_truth(instance, truth, alpha, 2 * alpha**3, 0.1)
            for _ in range(20):
                drawn = rng.standard_normal(len(g.y_star if "T1" in result.claim else g.lam))
                drawn /= np.linalg.norm(drawn)
                if "T1" in result.claim:
                    moved = g.E @ np.linalg.solve(g.H, alpha * drawn)
                else:
                    moved = g.lam_to_estimate(dual_term="cancelled") @ (alpha**3 * drawn)
                assert np.linalg.norm(moved) <= bound.constant * alpha**bound.exponent


def test_the_tightness_of_combined_certificates_is_the_constant_over_the_largest_effect_met():
    report = verify.run(["bias-bound/L-H-y"], readings=["repaired", "as-written"], instances=["experiment-5d"])
    # Where the constant is assumed, nothing is measured.
    judged = [r for r in report.results if r.verdict is not Verdict.VACUOUS]
    by_reading = {r.reading: next(e for e in r.evidence if getattr(e, "bounds", ())) for r in judged}
    (every,) = by_reading["repaired"].bounds
    instance = find("experiment-5d")
    truth = regular_truth(instance)
    alphas = np.linspace(0.01, 0.25, 49)
    geometries = [geometry_at_truth(instance, truth, alpha, 2 * alpha**3, 0.1) for alpha in alphas]
    best = max(np.linalg.norm(g.E, 2) * g.alpha**-every.exponent for g in geometries)
    assert every.tightness == pytest.approx(every.constant / best, rel=1e-3)
    assert every.tightness == pytest.approx(2.0931, rel=1e-4)
    assert every.worst_case
    # From below one error was spent, and the bound is about that one.
    assert not any(bound.worst_case for bound in by_reading["as-written"].bounds if bound.side == "lower")


def rate(exponent, rung, **changes):
    made = {"quantity": "q", "variable": "alpha", "points": (Point(at=0.1, measured=1.0),), "exponent": exponent,
            "interval": (exponent, exponent), "rung": rung}  # fmt: skip
    return RateEvidence(**(made | changes))


def test_contradicting_rungs_are_a_fault_and_agreeing_ones_quote_the_stronger():
    bound = Bound(quantity="q", exponents={"alpha": "1"})
    with pytest.raises(RungDisagreementError):
        decide(bound, [rate(2.0, "certified"), rate(-1.0, "numeric")])
    with pytest.raises(RungDisagreementError):
        decide(bound, [rate(-1.0, "certified"), rate(2.0, "numeric")])
    # A sweep that has not come near its order where doubles end contradicts nothing.
    unsettled = rate(-1.0, "numeric", settled=False)
    decision = decide(bound, [rate(2.0, "certified"), unsettled])
    assert decision.verdict is Verdict.SUPPORTED
    assert decision.sentence.endswith(" What was measured has not settled.")
    agreed = decide(bound, [rate(2.0, "certified", coefficient=3.0), rate(2.0, "numeric")])
    assert (agreed.verdict, agreed.rung) == (Verdict.SUPPORTED, "certified")
    undecided = rate(1.0, "numeric", interval=(-9.0, 9.0))
    assert decide(bound, [rate(2.0, "symbolic"), undecided]).verdict is Verdict.SUPPORTED


def test_a_failing_comparison_still_counts_beside_an_exact_rate():
    wrong = ComparisonEvidence(quantity="q", measured=2.0, relation="<=", predicted=1.0)
    assert (
        decide(Bound(quantity="q", exponents={"alpha": "1"}), [rate(2.0, "certified"), wrong]).verdict
        is Verdict.REFUTED
    )


def test_a_subject_asked_at_no_alpha_agrees_with_nothing(monkeypatch):
    monkeypatch.setattr("verify.checks.measuring.exact.LARGEST_END", Fraction(1, 10**9))
    report = verify.run(["bias-bound/T3"], readings=["repaired"], instances=["toy1"])
    (result,) = report.results
    assert result.verdict is None
    assert "no alpha of the sweep" in result.fault
    assert report.exit_code == 3
