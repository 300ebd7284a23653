"""What is said of a rate that is left undecided: true, never the number that was drawn, and no -0.00."""

from __future__ import annotations

import math

import pytest

from spec import Bound
from verify.evidence.model import Point, RateEvidence
from verify.evidence.rates.rates import fit_rate
from verify.evidence.rates.undecided import number, shown_interval
from verify.verdict import Verdict, decide


def bound(exponent, tag="tight"):
    return Bound(quantity="q", tag=tag, exponents={"alpha": str(exponent)})


def sampled(low, high, exponent, **changes):
    points = tuple(Point(at=a, measured=a) for a in (0.4, 0.2, 0.1))
    made = {"quantity": "q", "variable": "alpha", "points": points, "exponent": exponent, "interval": (low, high),
            "rung": "statistical", "function_class": "powers", "samples": 33_798, "samples_needed": 33_798}  # fmt: skip
    return RateEvidence(**(made | changes))


def test_as_many_samples_as_were_drawn_never_decide_more():
    found = decide(bound(-2), [sampled(-2.105, -1.96, -2.03)])
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "about 36,295 samples" not in found.sentence
    assert "samples instead of 33,798 would decide" in found.sentence
    assert "about 33,798" not in found.sentence
    on_the_edge = decide(bound(-2), [sampled(-2.2, -2.0, -2.1)])
    assert "more samples than 33,798 by orders would decide" in on_the_edge.sentence


@pytest.mark.parametrize(("law", "way"), [(lambda a: a + 1e4 * a**2, "smaller"), (lambda a: a + 1e-5, "smaller")])
def test_a_sweep_that_bends_is_said_to(law, way):
    ats = [0.2 / 2**k for k in range(8)]
    rate = fit_rate([Point(at=a, measured=law(a)) for a in ats], quantity="q", variable="alpha")
    found = decide(bound(1), [rate])
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "the sweep still bends: local exponents" in found.sentence
    assert f"a {way} α would tell" in found.sentence
    assert "∞" not in found.sentence


def test_beyond_the_floor_more_digits_would_tell():
    ats = [0.2 / 2**k for k in range(6)]
    points = [Point(at=a, measured=a, uncertainty=(0.019 if k < 5 else 1) * a) for k, a in enumerate(ats)]
    rate = fit_rate(points, quantity="q", variable="alpha")
    assert "more exact values from α = 0.00625 on" in decide(bound(1), [rate]).sentence


def test_a_hidden_bend_is_said_with_where_it_may_lead():
    for refutes in (True, False):
        rate = sampled(0.97, 1.03, 1.0, limit=(0.4, 2.4), limit_missed=(0.4, 1.7))
        found = decide(bound(2 if refutes else 1), [rate])
        assert found.verdict is Verdict.INCONCLUSIVE
        assert f"a bend to a limit in [0.40, {'2.40' if refutes else '1.70'}]" in found.sentence
        assert "samples instead of 33,798, or a smaller α, would tell" in found.sentence
    assert decide(bound(3), [sampled(0.97, 1.03, 1.0, limit=(0.4, 2.4))]).verdict is Verdict.REFUTED


def test_numbers_in_print():
    assert [number(value) for value in (-0.001, 0.0, -0.01, math.inf)] == ["0.00", "0.00", "-0.01", "∞"]
    assert shown_interval(-math.inf, 1.95) == "at most 1.95 in the limit"
    assert shown_interval(-0.001, math.inf) == "at least 0.00 in the limit"


def test_a_claim_outside_the_interval_by_little_is_neither_refuted_nor_supported():
    # N^-0.95 is no 1/N, and a/(1 + log 1/a) no a: a tenth of an order off is what refutes, not what passes.
    near = decide(bound(1, "upper"), [sampled(0.92, 0.98, 0.95, limit=(0.9, 1.0), limit_missed=(0.9, 1.0))])
    assert near.verdict is Verdict.INCONCLUSIVE
    assert "the claim lies outside the interval, by less than the 0.1 of an order that would refute it" in near.sentence
    over = decide(bound(1, "upper"), [sampled(0.92, 1.01, 0.97, limit=(0.9, 1.0), limit_missed=(0.9, 1.0))])
    assert over.verdict is Verdict.SUPPORTED
    edge = decide(bound(1, "upper"), [sampled(0.85, 0.98, 0.92, limit=(0.9, 1.0))])
    assert "straddles" in edge.sentence
