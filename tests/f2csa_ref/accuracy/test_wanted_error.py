"""Calls that keep to a wanted error: true, not safe by orders, lost with a larger alpha, honest where they cannot."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.error_bounds import FIRST, SECOND, Case, cases
from f2csa_ref import Accuracy, Assumed, OracleCall, hypergradient, hypergradient_within, objectives_of
from f2csa_ref.accuracy.alpha_search import ROUNDED
from f2csa_ref.accuracy.wanted_error import MOST_SAMPLES
from f2csa_ref.algorithm_1 import checked_oracle
from f2csa_ref.certificate.confidence import noise_radius
from f2csa_ref.penalty import PenaltyLagrangian, penalty_parameters
from spec import REPAIRED, InvalidInputError, Noise, OracleParameters, parse_problem
from spec.atlas import find
from tests.f2csa_ref.certificate.test_certificate_premises import WORD, smooth

ONE = np.ones(1)
ERRORS = (1e-1, 1e-2, 1e-4)


@pytest.fixture(scope="module")
def made():
    """Random calls, each error wanted with both kinds of certificate: case, error wanted, answer."""
    return [
        (case, error, assumed, hypergradient_within(case.problem, case.x, Accuracy(error, assumed)))
        for case in cases(40, seed=11)
        for error in ERRORS
        for assumed in (SECOND, FIRST)
    ]


def again(case, answer, **changes):
    """The same call with something chosen otherwise, certified."""
    call = OracleCall(**({"alpha": answer.alpha, "tol": answer.tol, "certify": SECOND} | changes))
    return checked_oracle(objectives_of(case.problem), case.x, call, None)


@pytest.mark.parametrize("error", ERRORS)
def test_true_error_bound_and_wanted_error_are_in_order(made, error):
    found = [(case, answer) for case, wanted, _, answer in made if wanted == error]
    for case, answer in found:
        assert answer.met, answer.why_not
        assert case.error(answer.estimate) <= answer.bound <= error
    ratios = [answer.bound / error for _, answer in found]
    assert 0.1 <= np.median(ratios) <= 1
    assert np.mean([answer.attempts for _, answer in found]) <= 2


def test_ten_times_the_alpha_is_too_much(made):
    """Where alpha was not at its end already."""
    lost = []
    for case, error, _, answer in made:
        if answer.alpha < 0.05:
            larger = again(case, answer, alpha=10 * answer.alpha)
            lost.append(case.error(larger) > error)
            assert larger.certificate.bound >= case.error(larger)
    assert len(lost) >= 50
    assert np.mean(lost) >= 0.7


def test_the_readings_own_stop_is_too_early(made):
    lost = [case.error(again(case, answer, tol=None)) > error for case, error, _, answer in made if error < 1e-3]
    assert np.mean(lost) >= 0.3


def test_it_is_what_the_page_computes(made):
    for case, _, _, answer in made[:12]:
        lower = answer.estimate.lower_level
        page = again(case, answer)
        np.testing.assert_allclose(answer.estimate.hypergradient, page.hypergradient, rtol=1e-9, atol=1e-12)
        assert lower is not None
        assert answer.counts["lower_level_solves"] == 1


@pytest.mark.parametrize("name", ["weakly-active", "two-of-three"])
def test_near_a_kink_the_distance_of_the_pieces_is_kept_instead(name):
    instance = find(name)
    answer = hypergradient_within(instance.problem, np.array([float(v) for v in instance.x]), 1e-3)
    if name == "two-of-three":
        assert answer.met
        return
    assert not answer.met
    assert answer.bound == math.inf
    assert "F may have a kink here" in answer.why_not
    assert answer.certificate.hull.distance <= 1e-3


def test_beside_a_kink_alpha_falls_until_the_weight_says_which_piece(toy2):
    """The weight of the row is x / 0.1, and of the wrong piece alpha² / (alpha² + weight)."""
    for x in (1e-3, 1e-6):
        answer = hypergradient_within(toy2, x * ONE, 1e-2)
        assert answer.met
        assert abs(answer.estimate.hypergradient[0]) <= answer.bound <= 1e-2
        assert answer.alpha <= math.sqrt(0.011 * x / 0.1)


def test_rounding_is_said_and_what_was_reached_is_near_the_best():
    said = 0
    for case in cases(8, seed=4):
        answer = hypergradient_within(case.problem, case.x, 1e-13)
        if answer.met:
            continue
        said += answer.why_not == ROUNDED
        assert case.error(answer.estimate) <= answer.bound
        alphas = np.geomspace(1e-5, 1e-2, 7)
        least = min(again(case, answer, alpha=alpha, tol=0.0).certificate.bound for alpha in alphas)
        assert answer.bound <= 20 * least
    assert said >= 3


@pytest.mark.parametrize("hessians", [True, False])
def test_smooth_problems_need_to_be_told_their_constants(hessians):
    q, x = smooth(hessians), np.array([2.5])
    answer = hypergradient_within(q, x, 1e-3)
    assert not answer.met
    assert answer.why_not == "holder must be given for a g that is not known to be quadratic"
    assert np.isfinite(answer.estimate.hypergradient).all()
    told = Assumed(**WORD, **({} if hessians else {"L_y": 1.0}))
    answer = hypergradient_within(q, x, Accuracy(1e-3, told))
    assert answer.met
    assert abs(answer.estimate.hypergradient[0] - (_lower(q) + 1)) <= answer.bound <= 1e-3


def _lower(q):
    """y_1, where y_1 + tanh y_1 = -0.3."""
    y = -0.15
    for _ in range(50):
        y -= (y + math.tanh(y) + 0.3) / (2 - math.tanh(y) ** 2)
    return y


def test_hoelder_problems_take_the_alpha_of_their_exponent():
    for s, power in (("1/2", 1.0), ("1", 2.0)):
        problem = parse_problem({"kind": "holder", "s": s})
        alphas = []
        for error in (1e-2, 1e-4):
            answer = hypergradient_within(problem, np.zeros(1), error)
            assert answer.met
            assert abs(answer.estimate.hypergradient[0] + 1) <= answer.bound <= error
            alphas.append(answer.alpha)
        assert math.log(alphas[0] / alphas[1]) == pytest.approx(math.log(100) / power, rel=0.1)


def test_no_alpha_helps_where_the_reading_keeps_the_dual_term(toy1):
    answer = hypergradient_within(toy1, ONE, 1e-2, reading=REPAIRED.choose(dual_term="frozen"))
    assert not answer.met
    assert answer.why_not == "the reading keeps the dual term in the estimate"
    assert abs(answer.estimate.hypergradient[0] - 1) <= answer.bound


def test_outside_the_ball_of_hoelder_constants_there_is_none():
    answer = hypergradient_within(parse_problem({"kind": "holder", "s": "1/2"}), ONE, 1e-2)
    assert "3 s r^s" in answer.why_not


@pytest.mark.parametrize("model", ["additive", "matrix", "jump"])
def test_noise_takes_as_many_samples_as_fit(model):
    error, within, tried = 0.1, 0, 0
    for seed, case in enumerate(cases(12, seed=7)):
        noise = Noise(model=model, sigma_f="1/10", sigma_g="1/10")
        problem = case.problem.model_copy(update={"noise": noise})
        answer = hypergradient_within(problem, case.x, error, rng=np.random.default_rng(seed))
        if not answer.met:
            continue
        assert answer.bound <= error
        one, q = answer.estimate, objectives_of(problem)
        L = PenaltyLagrangian(q, case.x, penalty_parameters(answer.alpha), one.y_star, one.lam, one.rho)
        if answer.N_g > 1:
            fewer = noise_radius(L, one.shift, "common", answer.N_g - 1, 0.95).radius
            assert answer.bound - one.certificate.noise.radius + fewer > error
        tried += 1
        within += Case(problem, case.x, OracleCall(0.1), case.truth, plain=True).error(one) <= error
    assert tried >= 10
    assert within >= 0.75 * tried  # 95 % each, given the stages


def test_noise_that_grows_as_alpha_falls_may_take_too_many(toy1):
    noisy = toy1.model_copy(update={"noise": Noise(model="additive", sigma_f=0, sigma_g=1)})
    reading = REPAIRED.choose(noise_pairing="independent")
    answer = hypergradient_within(noisy, ONE, 1e-2, reading=reading, rng=np.random.default_rng(0))
    assert not answer.met
    assert answer.N_g == MOST_SAMPLES
    assert answer.why_not == "more than 1,000,000 samples would be needed"
    assert answer.bound > 1e-2


@pytest.mark.parametrize("error", [1e-150, 1e150])
def test_errors_at_the_ends_of_doubles_are_no_fault(toy1, error):
    noisy = toy1.model_copy(update={"noise": Noise(model="additive", sigma_f=1, sigma_g=0)})
    answer = hypergradient_within(noisy, ONE, error, rng=np.random.default_rng(0))
    assert answer.met == (error > 1)
    assert answer.N_g == (1 if error > 1 else MOST_SAMPLES)


def test_an_iteration_for_the_lower_level_gets_more_steps(toy1):
    few = OracleParameters(lower_level="primal-dual", lower_level_steps=5)
    answer = hypergradient_within(toy1, ONE, 1e-3, parameters=few)
    assert answer.met
    assert answer.counts["lower_level_solves"] > 1
    assert abs(answer.estimate.hypergradient[0] - 1) <= answer.bound <= 1e-3


def test_costs_are_counted(toy1):
    answer = hypergradient_within(toy1, ONE, 1e-4)
    assert answer.counts["grad_x_f"] == answer.attempts == answer.certificate_counts["factorisations"]
    plain = hypergradient(toy1, ONE, alpha=answer.alpha)
    assert answer.counts["grad_y_f"] >= plain.counts["grad_y_f"]


@pytest.mark.parametrize("error", [0.0, -1.0, math.inf, math.nan])
def test_an_error_must_be_one(toy1, error):
    with pytest.raises(InvalidInputError, match=r"^error: must be > 0 and finite"):
        hypergradient_within(toy1, ONE, error)


def test_a_shared_sample_is_refused(toy1):
    noisy = toy1.model_copy(update={"noise": Noise(model="additive", sigma_f=1, sigma_g=0)})
    parameters = OracleParameters(lower_level="primal-dual")
    with pytest.raises(InvalidInputError, match=r"^error: cannot be certified with a shared sample"):
        hypergradient_within(noisy, ONE, 0.1, reading=REPAIRED.choose(inner_solver="shared-sample"),
                             parameters=parameters, rng=np.random.default_rng(0))  # fmt: skip
    with pytest.raises(InvalidInputError, match=r"^rng: must be given"):
        hypergradient_within(noisy, ONE, 0.1)


def test_the_variance_that_follows_holds():
    noise = Noise(model="additive", sigma_f="1/10", sigma_g="1/10")
    for case in cases(4, seed=7):
        problem = case.problem.model_copy(update={"noise": noise})
        accuracy = Accuracy(0.1)
        answer = hypergradient_within(problem, case.x, accuracy, rng=np.random.default_rng(0))
        # Additive noise, common draws: that of f alone, 1/10 a component.
        assert problem.n * 0.1**2 / answer.N_g <= accuracy.variance(problem.n)
    assert replace(accuracy, assumed=Assumed(level=0.5)).variance(50) > accuracy.error**2
