"""Random stages by laws of two points: what holds on every run, what on average, and that each check can fail."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.verify.checks.asking import found, stronger, verdict
from verify.checks import stage_laws
from verify.checks.measuring.finite_laws import LawOutcome, variance
from verify.verdict import NoEvidenceError, Verdict

HELD_AS_WRITTEN = ("hypergradient-accuracy/mean-squared-identity", "hypergradient-accuracy/jensen")
NOT_AS_WRITTEN = (
    "variance-bound/conditioning", "variance-bound/final-samples", "bias-bound/in-expectation",
    "bias-bound/deterministic", "hypergradient-accuracy/sure-or-mean", "hypergradient-accuracy/hypotheses",
)  # fmt: skip


@pytest.mark.parametrize("claim", HELD_AS_WRITTEN + NOT_AS_WRITTEN)
def test_repaired_it_is_supported_everywhere(claim):
    assert set(found(claim).values()) == {Verdict.SUPPORTED}


@pytest.mark.parametrize("claim", NOT_AS_WRITTEN)
def test_as_written_it_is_refuted_everywhere(claim):
    assert set(found(claim, "as-written").values()) == {Verdict.REFUTED}


@pytest.mark.parametrize("claim", HELD_AS_WRITTEN)
def test_as_written_it_is_supported(claim):
    assert verdict(claim, "as-written") is Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("claim", "variable", "by"),
    [
        ("variance-bound/conditioning", "N_g", "-1/2"),
        ("bias-bound/in-expectation", "alpha", "1/2"),
        ("hypergradient-accuracy/sure-or-mean", "alpha", "1/2"),
        ("hypergradient-accuracy/hypotheses", "alpha", "5/2"),
    ],
)
def test_half_an_order_more_is_refuted(claim, variable, by):
    assert verdict(claim, bound=stronger(claim, variable, by)) is Verdict.REFUTED


def test_it_is_the_spread_of_the_lower_level_solution_that_no_batch_removes(monkeypatch):
    made = stage_laws._off_surely
    monkeypatch.setattr(stage_laws, "_off_surely", lambda oracle: [LawOutcome(Fraction(1), made(oracle)[0].value)])
    assert verdict("variance-bound/conditioning", "as-written") is Verdict.SUPPORTED
    monkeypatch.setattr(stage_laws, "SIGMA", 2 * stage_laws.SIGMA)
    monkeypatch.setattr(stage_laws, "_sampled", lambda stages, N_g: stages)
    with pytest.raises(NoEvidenceError, match="not what its two parts add up to"):
        verdict("variance-bound/conditioning")


def one_sided(size, count):
    return [LawOutcome(Fraction(1), (Fraction(1),) * size)]


@pytest.mark.parametrize("claim", ["variance-bound/final-samples", "bias-bound/deterministic"])
def test_noise_with_a_mean_is_refuted(monkeypatch, claim):
    monkeypatch.setattr(stage_laws, "signs", one_sided)
    assert verdict(claim) is Verdict.REFUTED


def test_a_likelier_rare_error_is_refuted(monkeypatch):
    made = stage_laws._rare
    for claim in ("bias-bound/in-expectation", "hypergradient-accuracy/sure-or-mean"):
        monkeypatch.setattr(stage_laws, "_rare", lambda oracle, p, **how: made(oracle, 10 * p, **how))
        assert verdict(claim, instances=["toy1"]) is Verdict.SUPPORTED
        alpha_squared = lambda oracle, p, **how: made(oracle, oracle.setting.alpha**2, **how)  # noqa: E731
        monkeypatch.setattr(stage_laws, "_rare", alpha_squared)
        assert verdict(claim, instances=["toy1"]) is Verdict.REFUTED


def test_the_ramp_of_sure_errors_is_too_narrow_for_errors_in_the_mean(monkeypatch):
    at = stage_laws.ExactOracle.at
    monkeypatch.setattr(stage_laws.ExactOracle, "at", lambda instance, alpha, ramp_constant=1: at(instance, alpha))
    assert verdict("bias-bound/in-expectation", instances=["toy1"]) is Verdict.REFUTED


def test_a_wrong_identity_is_refuted(monkeypatch):
    monkeypatch.setattr(stage_laws, "variance", lambda law: variance(law) / 2)
    assert verdict("hypergradient-accuracy/mean-squared-identity") is Verdict.REFUTED


def test_a_noise_with_a_mean_leaves_a_cross_term(monkeypatch):
    monkeypatch.setattr(stage_laws, "mean", lambda law: law[0].value)
    assert verdict("hypergradient-accuracy/jensen") is Verdict.REFUTED


@pytest.mark.parametrize("factor", [Fraction(1, 2), Fraction(2)])
def test_the_factor_two_is_that_of_a_noise_as_large_as_the_bias(monkeypatch, factor):
    """Noise smaller or larger than the bias asks for a smaller factor: that 2 is the least depends on the laws."""
    two_sided = stage_laws.two_sided
    monkeypatch.setattr(stage_laws, "two_sided", lambda b: two_sided(tuple(factor * v for v in b)))
    assert verdict("hypergradient-accuracy/jensen", "as-written") is Verdict.REFUTED
    assert verdict("hypergradient-accuracy/jensen") is Verdict.SUPPORTED


def test_in_expectation_a_one_sided_noise_needs_another_factor(monkeypatch):
    monkeypatch.setattr(stage_laws, "two_sided", lambda b: [LawOutcome(Fraction(1), b)])
    assert verdict("hypergradient-accuracy/jensen", "as-written") is Verdict.SUPPORTED
    assert verdict("hypergradient-accuracy/jensen") is Verdict.REFUTED


def test_a_larger_sum_breaks_the_inequality(monkeypatch):
    plus = stage_laws.plus
    monkeypatch.setattr(stage_laws, "plus", lambda a, b, factor=1: plus(a, b, factor * 3))
    assert verdict("hypergradient-accuracy/jensen", "as-written") is Verdict.REFUTED


def test_the_order_of_the_curvature_is_that_of_the_rows():
    assert found("bias-bound/mu-order", "as-written") == {
        "two-of-three": Verdict.SUPPORTED, "toy1": Verdict.REFUTED, "moving-box": Verdict.SUPPORTED,
    }  # fmt: skip
    assert verdict("bias-bound/mu-order") is Verdict.SUPPORTED
    assert verdict("bias-bound/mu-order", bound=stronger("bias-bound/mu-order", "alpha", "-1/2")) is Verdict.REFUTED
