from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import Bound
from verify.evidence.model import ComparisonEvidence, Point, PremiseEvidence, RateEvidence
from verify.verdict import NoEvidenceError, Verdict, combine, decide


def bound(k, tag="upper", toward="zero", variable="alpha"):
    return Bound(quantity="q", exponents={variable: str(k)}, tag=tag, toward=toward)


def rate(low, high, **changes):
    made = {"quantity": "q", "variable": "alpha", "points": (Point(at=0.1, measured=1.0),)}
    return RateEvidence(**(made | {"exponent": (low + high) / 2, "interval": (low, high)} | changes))


@pytest.mark.parametrize(
    ("tag", "toward", "low", "high", "verdict"),
    [
        ("upper", "zero", 0.95, 1.05, "SUPPORTED"),
        ("upper", "zero", 1.95, 2.05, "SUPPORTED"),
        ("upper", "zero", 0.4, 0.6, "REFUTED"),
        ("upper", "zero", 0.5, 1.5, "INCONCLUSIVE"),
        ("lower", "zero", 0.95, 1.05, "SUPPORTED"),
        ("lower", "zero", 1.4, 1.6, "REFUTED"),
        ("lower", "zero", 0.4, 0.6, "SUPPORTED"),
        ("tight", "zero", 0.95, 1.05, "SUPPORTED"),
        ("tight", "zero", 1.95, 2.05, "REFUTED"),
        ("tight", "zero", 0.4, 0.6, "REFUTED"),
        ("equality", "zero", 0.5, 1.05, "INCONCLUSIVE"),
        ("upper", "infinity", 0.95, 1.05, "SUPPORTED"),
        ("upper", "infinity", 1.4, 1.6, "REFUTED"),
        ("upper", "infinity", 0.4, 0.6, "SUPPORTED"),
        ("lower", "infinity", 0.4, 0.6, "REFUTED"),
    ],
)
def test_rates_are_two_sided(tag, toward, low, high, verdict):
    assert decide(bound(1, tag, toward), [rate(low, high)]).verdict == Verdict(verdict)


@given(st.floats(-5, 5), st.floats(0, 3), st.floats(-5, 5))
def test_an_interval_that_contains_the_claim_never_refutes_an_upper_bound(claimed, half, centre):
    found = decide(bound(round(claimed, 3)), [rate(centre - half, centre + half)]).verdict
    if centre - half <= round(claimed, 3) <= centre + half:
        assert found is not Verdict.REFUTED


def test_a_bound_beaten_by_an_order_is_reported_as_loose():
    found = decide(bound(1), [rate(1.99, 2.01)])
    assert found.loose_by == pytest.approx(1)
    assert "loose by" in found.sentence
    assert decide(bound(1), [rate(0.99, 1.01)]).loose_by is None


def test_an_unbounded_interval_is_inconclusive():
    assert decide(bound(1), [rate(-math.inf, math.inf, exponent=math.nan)]).verdict is Verdict.INCONCLUSIVE


def test_exactly_zero_supports_an_upper_bound_and_refutes_a_tight_one():
    zero = rate(math.inf, math.inf, exponent=math.inf)
    assert decide(bound(1), [zero]).verdict is Verdict.SUPPORTED
    assert decide(bound(1, "tight"), [zero]).verdict is Verdict.REFUTED


def test_the_worst_conclusion_decides_and_support_does_not_count():
    good, bad = rate(1, 1), rate(-1, -1)
    assert decide(bound(1), [good, bad]).verdict is Verdict.REFUTED
    assert decide(bound(1), [good, bad.model_copy(update={"role": "support"})]).verdict is Verdict.SUPPORTED


def test_support_is_no_firmer_than_the_weakest_evidence_it_needs():
    certified = rate(1, 1).model_copy(update={"rung": "certified"})
    measured = ComparisonEvidence(quantity="q", measured=1, relation="==", predicted=1, rung="numeric")
    sampled = measured.model_copy(update={"rung": "statistical"})
    assert decide(bound(1), [certified]).rung == "certified"
    assert decide(bound(1), [certified, measured]).rung == "numeric"
    assert decide(bound(1), [measured, certified, sampled]).rung == "statistical"
    shown = sampled.model_copy(update={"role": "support"})
    assert decide(bound(1), [certified, shown]).rung == "certified"
    off = measured.model_copy(update={"measured": 2})
    assert decide(bound(1), [certified, sampled, off]).rung == "numeric"


def test_premises_come_first():
    bad = rate(-1, -1)
    unmet = PremiseEvidence(premise="licq", holds=False, finding="rank 1")
    impossible = PremiseEvidence(premise="bounded", holds=False, satisfiable=False, finding="grows")
    assert decide(bound(1), [unmet, bad]).verdict is Verdict.NOT_APPLICABLE
    assert decide(bound(1), [impossible, bad]).verdict is Verdict.VACUOUS
    met = PremiseEvidence(premise="licq", holds=True, finding="rank 1")
    assert decide(bound(1), [met, bad]).verdict is Verdict.REFUTED


COMPARISONS = [
    ("<=", 1.1, True),
    ("<=", 1.2, False),
    (">=", 0.9, True),
    (">=", 0.8, False),
    ("==", 0.9, True),
    ("==", 1.2, False),
]


@pytest.mark.parametrize(("relation", "measured", "holds"), COMPARISONS)
def test_comparisons(relation, measured, holds):
    item = ComparisonEvidence(quantity="q", measured=measured, relation=relation, predicted=1.0, tolerance=0.11)
    verdict = decide(Bound(quantity="q"), [item]).verdict
    assert verdict is (Verdict.SUPPORTED if holds else Verdict.REFUTED)


@pytest.mark.parametrize(
    "evidence",
    [
        [],
        [rate(1, 1).model_copy(update={"role": "support"})],
        [rate(1, 1, points=(Point(at=0.1, measured=math.nan),))],
        [rate(1, 1, variable="N_g")],
        [ComparisonEvidence(quantity="q", measured=math.nan, relation="<=", predicted=1.0)],
    ],
)
def test_no_usable_evidence_is_a_fault_and_never_a_pass(evidence):
    with pytest.raises(NoEvidenceError):
        decide(bound(1), evidence)


def test_combining_over_instances():
    S, R, U, V, N = (Verdict(v) for v in ("SUPPORTED", "REFUTED", "INCONCLUSIVE", "VACUOUS", "NOT_APPLICABLE"))
    assert combine([S, R, U]) is R
    assert combine([S, U, N]) is U
    assert combine([S, V, N]) is S
    assert combine([V, N]) is V
    assert combine([N]) is N
    assert combine([S, None]) is None
    assert combine([]) is None
    # A statement's parts must each hold; one that could not be asked leaves the whole open.
    assert combine([S, N], parts=True) is N
    assert combine([V, N, S], parts=True) is V
    assert combine([R, N], parts=True) is R
    assert combine([S, S], parts=True) is S


@pytest.mark.parametrize(
    ("tolerance", "rung", "said"),
    [
        (0.0, "numeric", "claimed <= 0."),
        (1e-8, "numeric", "claimed <= 0 up to 1e-08, rounding and solver accuracy."),
        (0.25, "statistical", "claimed <= 0 up to 0.25, sampling error."),
    ],
)
def test_a_tolerance_is_said(tolerance, rung, said):
    item = ComparisonEvidence(
        quantity="q", measured=0.0, relation="<=", predicted=0.0, tolerance=tolerance, rung=rung, wanted=None
    )
    assert said in decide(Bound(quantity="q against 0"), [item]).sentence


def test_exactly_zero_is_told_in_words_and_not_as_an_infinite_power():
    zero = rate(math.inf, math.inf, exponent=math.inf)
    for tag in ("tight", "lower", "equality"):
        found = decide(bound(1, tag), [zero])
        assert found.verdict is Verdict.REFUTED
        assert "is exactly zero here" in found.sentence
        assert "∞" not in found.sentence


@pytest.mark.parametrize(
    ("settled", "said"),
    [(True, "q scales as α^-9.15 (interval [-9.16, -9.14]); claimed O(α⁻⁵)."),
     (False, "q scales as about α^-9, not settled; claimed O(α⁻⁵).")],
)  # fmt: skip
def test_a_sentence_has_no_digits_of_an_exponent_that_has_not_settled(settled, said):
    found = decide(bound(-5), [rate(-9.16, -9.14, exponent=-9.15, settled=settled)])
    assert (found.verdict, found.sentence) == (Verdict.REFUTED, said)
