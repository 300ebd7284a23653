"""The total cost as a formula, and hypotheses it and the lemmas do not list: decided exactly, and how each can fail."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.verify.checks.asking import found, stronger, verdict
from tests.verify.own_results import own_results
from verify.checks import larger_alpha
from verify.checks.assumptions import inputs, missing_hypotheses
from verify.checks.assumptions.missing_hypotheses import LEDGER, OF_THE_TOTAL, Missing
from verify.subjects import ReferenceSubject
from verify.verdict import Verdict

CLAIMS = (
    "sfo-complexity/noise-proportional", "sfo-complexity/noise-free-limit", "sfo-complexity/noise-free-accelerated",
    "sfo-complexity/hypotheses", "sfo-complexity/larger-alpha-width", "stochastic-oracles/inputs",
    "stochastic-oracles/assumptions-complete",
)  # fmt: skip


@pytest.mark.parametrize("claim", CLAIMS)
def test_refuted_as_written_and_supported_repaired(claim):
    assert set(found(claim, "as-written").values()) == {Verdict.REFUTED}
    assert set(found(claim).values()) == {Verdict.SUPPORTED}


@pytest.mark.parametrize(
    ("claim", "variable", "by"),
    [
        ("sfo-complexity/noise-proportional", "sigma", "1/2"),
        ("sfo-complexity/noise-free-limit", "epsilon", "1/2"),
        ("sfo-complexity/noise-free-accelerated", "epsilon", "1/2"),
        ("sfo-complexity/larger-alpha-width", "goldstein_radius", "1/2"),
    ],
)
def test_half_an_order_more_is_refuted(claim, variable, by):
    assert verdict(claim, bound=stronger(claim, variable, by)) is Verdict.REFUTED


@pytest.mark.parametrize("make", [*LEDGER, *OF_THE_TOTAL])
def test_every_problem_has_what_is_listed_and_an_excess_that_grows(make):
    one = make()
    assert one.listed, one.name
    assert one.breaks, one.name
    assert one.needed == (not one.presupposed)
    assert len(one.excess) != 1


def test_where_what_is_listed_says_nothing_no_problem_is_counted(monkeypatch):
    (silent,) = [one for one in (make() for make in LEDGER) if one.presupposed]
    assert "y*(x)" in silent.presupposed
    monkeypatch.setattr(missing_hypotheses, "LEDGER", (lambda: silent,))
    assert verdict("stochastic-oracles/assumptions-complete", "as-written") is Verdict.SUPPORTED


def test_no_hypothesis_is_named_twice():
    assert len({make().name for make in LEDGER}) == len(LEDGER)
    assert len({make().name for make in OF_THE_TOTAL}) == len(OF_THE_TOTAL)


@pytest.mark.parametrize(
    "idle",
    [
        Missing("an excess that stays", True, (Fraction(2), Fraction(2), Fraction(2))),
        Missing("an excess that vanishes", True, (Fraction(0), Fraction(0))),
        Missing("a problem outside the list", False, (Fraction(1), Fraction(4), Fraction(16))),
    ],
)
def test_a_hypothesis_that_no_problem_asks_for_is_refuted(monkeypatch, idle):
    assert not idle.needed
    monkeypatch.setattr(missing_hypotheses, "LEDGER", (*LEDGER, lambda: idle))
    monkeypatch.setattr(missing_hypotheses, "OF_THE_TOTAL", (*OF_THE_TOTAL, lambda: idle))
    assert verdict("stochastic-oracles/assumptions-complete") is Verdict.REFUTED
    assert verdict("sfo-complexity/hypotheses") is Verdict.REFUTED


def test_with_no_such_problem_the_list_would_do(monkeypatch):
    monkeypatch.setattr(missing_hypotheses, "LEDGER", ())
    assert verdict("stochastic-oracles/assumptions-complete", "as-written") is Verdict.SUPPORTED


def test_an_input_without_effect_is_refuted(monkeypatch):
    prescribed = inputs.prescribed
    monkeypatch.setattr(inputs, "prescribed", lambda bounds: prescribed(bounds | {"L_F": Fraction(1)}))
    assert verdict("stochastic-oracles/inputs") is Verdict.REFUTED


def test_a_width_above_the_radius_is_refuted(monkeypatch):
    monkeypatch.setattr(larger_alpha, "BEYOND", Fraction(2))
    assert verdict("sfo-complexity/larger-alpha-width") is Verdict.SUPPORTED
    assert verdict("sfo-complexity/larger-alpha-width", "as-written") is Verdict.REFUTED


class CountsSamples(ReferenceSubject):
    """The reference, which counts each sample of a shared batch once, however often it passes over it."""

    def hypergradient_runs(self, problem, x, call, rng, replications):
        estimates, calls = super().hypergradient_runs(problem, x, call, rng, replications)
        shared = call.reading.inner_solver == "shared-sample"
        return estimates, call.parameters.shared_samples if shared else calls


@pytest.mark.parametrize(("subject", "verdict_"), [
    (ReferenceSubject(), Verdict.SUPPORTED), (CountsSamples(), Verdict.REFUTED),
])  # fmt: skip
def test_a_shared_sample_is_counted_as_often_as_it_is_used(subject, verdict_):
    (result,) = own_results("sfo-complexity/shared-sample", subject, readings=["repaired"])
    assert result.verdict == verdict_, result.sentence
    (counted,) = [one for one in result.evidence if str(getattr(one, "quantity", "")).startswith("fewest gradients")]
    assert (counted.measured >= 1) == (verdict_ == Verdict.SUPPORTED)
