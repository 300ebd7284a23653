"""The inner loops' numbers: trajectories, floors, rates and counts, each out of a run of the checks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spec import load_claims
from spec.claims import find as statement
from tests.verify.checks.asking import case_of, result_of
from verify.checks.measuring.case import checks
from verify.evidence.model import RateEvidence
from verify.verdict import Verdict, decide


def rate_of(result, name=""):
    return next(e for e in result.evidence if isinstance(e, RateEvidence) and name in e.quantity)


@pytest.mark.parametrize("claim", ["inner-cost", "inner-loop-remark"])
def test_every_step_has_a_check(claim):
    for full_id, _ in load_claims()[claim].statements():
        assert full_id in checks(), full_id


def test_trajectories_of_both_signs():
    wrong = result_of("inner-cost/primal-dual-sign", "as-written", "toy1")
    assert str(wrong.verdict) == "REFUTED"
    assert float(wrong.counterexample.values["y after 100 steps of 0.1"].strip("()")) == pytest.approx(-370, abs=1)
    assert float(wrong.counterexample.values["λ after 100 steps of 0.1"].strip("()")) == pytest.approx(610, abs=1)
    assert str(result_of("inner-cost/primal-dual-sign", "repaired", "toy1").verdict) == "SUPPORTED"


def test_the_right_sign_comes_near_in_a_hundred_steps():
    import numpy as np

    from spec import REPAIRED, OracleParameters
    from spec.atlas import find as find_instance
    from verify.subjects import Call, ReferenceSubject

    parameters = OracleParameters(lower_level_steps=100, eta_y=0.1, eta_lam=0.1)
    call = Call(alpha=1.0, reading=REPAIRED.choose(inner_solver="constant-step"), parameters=parameters)
    y, lam = ReferenceSubject().lower_level_runs(
        find_instance("toy1").problem, np.ones(1), call, np.random.default_rng(), 1
    )
    assert y[0, 0] == pytest.approx(1.0023, abs=1e-4)
    assert lam[0, 0] == pytest.approx(1.0058, abs=1e-4)


def test_a_solver_that_the_text_names_is_no_choice():
    # SVRG stands in C2, a constant step in what the floor is about; of what SVRG is run on the text leaves open.
    assert statement("inner-cost/noise-floor").literal_readings == ("as-written",)
    assert statement("inner-cost/svrg").literal_readings == ("as-written", "choose:objective=finite-sum")


@pytest.mark.parametrize("solver", ["constant-step", "averaged"])
def test_the_literal_penalty_solve_is_one_on_an_expectation(solver):
    case = case_of("inner-cost/svrg", "as-written", "toy1")
    found = checks()["inner-cost/svrg"].function(replace(case, reading=case.reading.choose(inner_solver=solver)))
    (rate,) = found.evidence
    assert "on an expectation" in rate.quantity
    assert decide(case.bound, found.evidence).verdict is Verdict.REFUTED


def test_noise_floor_table():
    rate = rate_of(result_of("inner-cost/noise-floor", "repaired", "concave-upper"))
    assert rate.role == "conclusion"
    table = {p.at: (p.measured, p.predicted) for p in rate.points}
    for eta, expected in ((0.2, 0.112), (0.1, 0.0524), (0.05, 0.0258), (0.025, 0.0127)):
        assert table[eta][1] == pytest.approx(eta / (2 - eta), rel=1e-9)
        assert table[eta][0] == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(
    ("claim", "reading", "instance", "exponent", "verdict"),
    [
        ("inner-cost/linear-rate", "as-written", "absolute-moving", 1, "REFUTED"),
        ("inner-cost/linear-rate", "repaired", "absolute-moving", 1, "SUPPORTED"),
        ("inner-cost/noise-floor", "repaired", "concave-upper", 1, "SUPPORTED"),
        ("inner-cost/samples-for-accuracy", "as-written", "concave-upper", -2, "REFUTED"),
        ("inner-cost/samples-for-accuracy", "repaired", "toy1", -2, "SUPPORTED"),
        ("inner-cost/smoothness", "as-written", "toy1", -4, "SUPPORTED"),
        ("inner-cost/batch-size", "as-written", "toy1", -2, "REFUTED"),
        ("inner-cost/batch-size", "repaired", "toy1", 2, "SUPPORTED"),
        ("inner-cost/svrg", "as-written", "toy1", -2, "REFUTED"),
        ("inner-cost/svrg", "repaired", "interior", 0, "SUPPORTED"),
        ("inner-cost/total", "repaired", "toy1", -6, "SUPPORTED"),
        ("inner-cost/shared-sample", "repaired", "toy1", 1, "SUPPORTED"),
        ("inner-loop-remark", "as-written", "interior", -2, "REFUTED"),
        ("inner-loop-remark", "repaired", "interior", -2, "SUPPORTED"),
        ("inner-loop-remark/log-in-epsilon", "repaired", "concave-upper", -6, "SUPPORTED"),
        ("inner-loop-remark/noise-free", "as-written", "interior", 1, "SUPPORTED"),
    ],
)
def test_exponents(claim, reading, instance, exponent, verdict):
    result = result_of(claim, reading, instance)
    assert str(result.verdict) == verdict, result.sentence
    # Counts hold lower orders too, which fade slowly.
    assert rate_of(result).exponent == pytest.approx(exponent, abs=0.3), result.sentence


def test_condition_number_needs_active_rows_that_leave_a_free_direction():
    for instance in ("toy1", "interior"):
        assert str(result_of("inner-cost/condition-number", "repaired", instance).verdict) == "NOT_APPLICABLE"


def test_fresh_draws_at_the_shared_price_are_no_substitute():
    fresh = result_of("inner-cost/shared-sample", "as-written", "toy1")
    assert str(fresh.verdict) == "REFUTED"
    assert rate_of(fresh).interval[1] < 0.9


@pytest.mark.parametrize(
    ("claim", "instance"),
    [("inner-cost/samples-for-accuracy", "toy1"), ("inner-cost/samples-for-accuracy", "concave-upper"),
     ("inner-loop-remark", "interior"), ("inner-cost/noise-floor", "concave-upper")],
)  # fmt: skip
def test_the_subjects_own_runs_decide_the_power(claim, instance):
    result = result_of(claim, "repaired", instance)
    rates = [e for e in result.evidence if isinstance(e, RateEvidence)]
    assert [e.rung for e in rates if e.role == "conclusion"] == ["statistical"]
    assert [e.rung for e in rates if e.role == "support"] == ["numeric"]
    assert rates[0].samples > 1000


def test_the_averaged_solver_passes_the_constant_steps_floor():
    result = result_of("inner-cost/noise-floor", "repaired", "concave-upper")
    (below,) = [e for e in result.evidence if "averaged solver" in getattr(e, "quantity", "")]
    assert below.role == "conclusion"
    assert below.powered
    assert below.measured < below.predicted / 2
