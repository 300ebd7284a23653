"""Contraction factors, gradient draws, batch sizes and solvers: decided exactly, and how each can fail."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import REPAIRED
from spec.atlas import find
from spec.claims import find as statement
from tests.verify.checks.asking import found, stronger, verdict
from verify.checks.inner_cost import contraction, counting, solvers
from verify.checks.inner_cost.contraction import best_factor, factor
from verify.checks.measuring.case import Case, checks, find_profile
from verify.checks.measuring.finite_laws import ExactOracle
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls
from verify.truth.iterations import LinearIteration, best_radius
from verify.verdict import Verdict

NOT_AS_WRITTEN = (
    "inner-cost/best-factor", "inner-cost/dual-rate", "inner-cost/solver-named", "inner-cost/sure-or-mean",
    "inner-cost/what-n-g-counts", "inner-cost/batch-integer", "inner-cost/alpha-accurate",
)  # fmt: skip
AS_WRITTEN = ("inner-cost/dual-step", "inner-cost/final-arithmetic")


@pytest.mark.parametrize("claim", NOT_AS_WRITTEN + AS_WRITTEN)
def test_repaired_it_is_supported_everywhere(claim):
    assert set(found(claim).values()) == {Verdict.SUPPORTED}


@pytest.mark.parametrize("claim", NOT_AS_WRITTEN)
def test_as_written_it_is_refuted_everywhere(claim):
    assert set(found(claim, "as-written").values()) == {Verdict.REFUTED}


@pytest.mark.parametrize("claim", AS_WRITTEN)
def test_as_written_it_is_supported(claim):
    assert verdict(claim, "as-written") is Verdict.SUPPORTED


@given(st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=60))
def test_the_best_factor_is_proven_for_every_smallest_singular_value(s):
    assert best_factor(s) == (1 - s) / (1 + s)


@given(
    st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=30),
    st.fractions(min_value=Fraction(1, 30), max_value=3, max_denominator=30),
    st.fractions(min_value=Fraction(1, 30), max_value=9, max_denominator=30),
)
def test_no_step_sizes_do_better(s, eta, tau):
    assert factor(eta * tau, 1 - eta, (s, Fraction(1))) >= float((1 - s) / (1 + s)) - 1e-9


def test_a_search_over_step_sizes_finds_the_same():
    for s in (0.5, 0.1, 0.03):
        assert best_radius(np.eye(2), np.diag([1.0, s]))[0] == pytest.approx((1 - s) / (1 + s), abs=1e-6)


def test_a_factor_is_that_of_the_iteration():
    iteration = LinearIteration(np.eye(2), np.diag([1.0, 0.25]), 0.5, 0.75, 0.0, np.ones(4))
    ours = factor(Fraction(3, 8), Fraction(1, 2), (Fraction(1, 4), Fraction(1)))
    assert ours == pytest.approx(iteration.radius)


def test_a_factor_that_is_not_the_best_is_refuted(monkeypatch):
    monkeypatch.setattr(contraction, "best_factor", lambda s: (1 - s) / (1 + 2 * s))
    assert verdict("inner-cost/best-factor") is Verdict.REFUTED
    monkeypatch.setattr(contraction, "best_factor", lambda _: None)
    assert verdict("inner-cost/best-factor") is Verdict.REFUTED


def test_other_orders_of_the_dual_rate_are_refuted():
    for by in ("1/2", "-1/2"):
        assert (
            verdict("inner-cost/dual-rate", bound=stronger("inner-cost/dual-rate", "sigma_min_B", by))
            is Verdict.REFUTED
        )


def test_a_call_without_one_of_its_gradients_is_seen(monkeypatch):
    g_x = counting.Counted.g_x
    monkeypatch.setattr(counting.Counted, "g_x", lambda self, y: self.a.g_xy @ y)
    assert verdict("inner-cost/what-n-g-counts") is Verdict.REFUTED
    monkeypatch.setattr(counting.Counted, "g_x", lambda self, y: 0 * g_x(self, y))
    assert verdict("inner-cost/what-n-g-counts") is Verdict.REFUTED


def test_draws_of_the_average_are_three_a_sample_whatever_the_batch():
    oracle = ExactOracle.at(find("toy1"), Fraction(1, 4))
    assert [counting.play(oracle, steps=2, batch=N).average for N in (1, 4, 9)] == [3, 12, 27]


def test_half_an_order_more_is_refuted():
    assert (
        verdict("inner-cost/alpha-accurate", bound=stronger("inner-cost/alpha-accurate", "alpha", "1/2"))
        is Verdict.REFUTED
    )


def test_louder_steps_miss_the_mean_square_too(monkeypatch):
    monkeypatch.setattr(solvers, "NOISE", Fraction(3))
    assert verdict("inner-cost/sure-or-mean") is Verdict.REFUTED


def test_an_epoch_too_short_to_pass_the_minimiser_has_no_bad_path(monkeypatch):
    assert max(abs(error) for error in solvers.epoch(Fraction(1))) > 1
    monkeypatch.setattr(solvers, "ETA", Fraction(1, 200))
    assert max(abs(error) for error in solvers.epoch(Fraction(1))) < 1


def test_sgd_in_place_of_svrg_is_refuted(monkeypatch):
    monkeypatch.setattr(solvers, "svrg_step", lambda y, _anchor, offset: y - solvers.ETA * (y - offset))
    assert verdict("inner-cost/solver-named") is Verdict.REFUTED


def test_sgd_rests_at_the_solution_where_no_row_binds():
    # Only its noise on a finite sum is left to tell the two solvers apart.
    case = Case(
        claim="inner-cost/solver-named", bound=statement("inner-cost/solver-named").as_written.bound,
        reading_name="as-written", reading=REPAIRED, instance=find("interior"), stages=StageCalls(ReferenceSubject()),
        profile=find_profile("ci"), rng=np.random.default_rng(1),
    )  # fmt: skip
    off, still = checks()[case.claim].function(case).evidence
    assert (off.holds, still.holds) == (True, False)
