"""The error allowed to the pair is spent by laws with the stated moment; what they leave is what is really added."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verify.checks.asking import case_of
from verify.checks.hypergradient_accuracy import INSTANCES, PAIR_ALPHAS
from verify.checks.measuring.pair_laws import PAIR_LAWS, allowed, part_of_pair
from verify.checks.measuring.premises import regular_truth
from verify.evidence.model import PremiseEvidence
from verify.verdict import Verdict, decide

CLAIM = "hypergradient-accuracy"
STOP = "choose:inner_stop=gradient,accuracy="
alphas = st.fractions(Fraction(1, 100), Fraction(1, 2))


def attacked(reading: str, instance: str) -> Verdict:
    case = case_of(CLAIM, reading, instance)
    return decide(case.bound, part_of_pair(case, regular_truth(case.instance), PAIR_ALPHAS)).verdict


@given(alphas, st.fractions(Fraction(1, 10**6), Fraction(2)), st.sampled_from(sorted(PAIR_LAWS)))
def test_a_law_keeps_its_moment_and_spends_it(alpha: Fraction, length: Fraction, accuracy: str) -> None:
    delta, rare = float(alpha**3), allowed(accuracy, alpha, length**2)
    moment = {"mean": rare * length, "sure": length * (rare > 0), "mean-square": (rare * length**2) ** 0.5}[accuracy]
    assert 0 <= rare <= 1
    assert float(moment) <= delta * (1 + 1e-12)
    assert accuracy == "sure" or rare == 1 or float(moment) >= delta * (1 - 1e-12)


@pytest.mark.parametrize("instance", INSTANCES)
def test_the_stop_and_the_second_moment_alone_repair_nothing(instance: str) -> None:
    # An error of the pair that just switches a row off has a length of the order of δ, and so is not rare.
    assert attacked(STOP + "mean-square", instance) is Verdict.REFUTED
    assert attacked("repaired", instance) is Verdict.SUPPORTED


@pytest.mark.parametrize("instance", INSTANCES)
def test_a_sure_error_costs_nothing_and_a_mean_costs_all(instance: str) -> None:
    assert attacked(STOP + "sure", instance) is Verdict.SUPPORTED
    assert attacked("as-written", instance) is Verdict.REFUTED


@pytest.mark.parametrize(
    ("reading", "premise", "moment"),
    [("as-written", "mean-accuracy", "the mean of the pair's error is at most 1 α³"),
     (STOP + "sure", "mean-accuracy", "the mean of the pair's error is at most 1 α³"),
     ("repaired", "second-moment-accuracy", "the mean square of the pair's error is at most 1 α⁶"),
     ("keep:accuracy=mean", "", "")],
)  # fmt: skip
def test_the_hypothesis_on_the_pair_is_what_the_laws_come_to(reading: str, premise: str, moment: str) -> None:
    case = case_of(CLAIM, reading, "toy1")
    evidence = part_of_pair(case, regular_truth(case.instance), PAIR_ALPHAS)
    about = [(e.premise, e.holds, e.finding) for e in evidence if isinstance(e, PremiseEvidence)]
    assert [(name, holds) for name, holds, _ in about] == ([(premise, True)] if premise else [])
    assert all(finding.startswith(moment) for *_, finding in about)


def test_laws_that_spend_more_than_is_promised_break_the_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.checks.measuring.pair_laws.allowed", lambda accuracy, alpha, squared: 0.5)
    case = case_of(CLAIM, "as-written", "toy1")
    about = [e for e in part_of_pair(case, regular_truth(case.instance), PAIR_ALPHAS) if isinstance(e, PremiseEvidence)]
    assert [e.holds for e in about] == [False]
