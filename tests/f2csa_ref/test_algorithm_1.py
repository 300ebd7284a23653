from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from f2csa_ref import (
    Draws,
    OracleCall,
    Stages,
    draw_shapes,
    hypergradient,
    hypergradient_samples,
    objectives_of,
    sample_draws,
)
from spec import AS_WRITTEN, REPAIRED, Generated, Holder, InvalidInputError, Noise, OracleParameters

ONE = np.ones(1)
FROZEN = REPAIRED.choose(dual_term="frozen")
SHARED = REPAIRED.choose(inner_solver="shared-sample")


def noisy(problem, model="additive", sigma="1/10", **more):
    return problem.model_copy(update={"noise": Noise(model=model, sigma_f=sigma, sigma_g=sigma, **more)})


@pytest.mark.parametrize(("reading", "value"), [(REPAIRED, 0.990099), (FROZEN, 100.990099), (AS_WRITTEN, 100.990099)])
def test_toy1_under_the_named_readings(toy1, reading, value):
    assert hypergradient(toy1, ONE, alpha=0.1, reading=reading).hypergradient[0] == pytest.approx(value, abs=5e-7)


@pytest.mark.parametrize("alpha", [1e-1, 1e-2, 1e-3, 1e-4])
def test_toy1_keeps_its_digits_as_alpha_falls(toy1, alpha):
    made = hypergradient(toy1, ONE, alpha=alpha, tol=0.0)
    assert made.hypergradient[0] - 1 == pytest.approx(-(alpha**2) / (1 + alpha**2), rel=1e-5, abs=1e-13)


numbers = st.integers(-3, 3)


@settings(max_examples=80)
@given(a=numbers, b=st.integers(1, 3), c=numbers, q=st.integers(1, 4), p=numbers, s=numbers, f_y=numbers,
       x=numbers, lam=st.integers(1, 3), alpha=st.sampled_from([0.1, 0.05, 0.02]))  # fmt: skip
def test_the_scalar_closed_form(make, a, b, c, q, p, s, f_y, x, lam, alpha):
    # y* = 2 with multiplier lam at this x, by choice of the linear terms.
    y = 2
    g_y = b * lam - q * y - c * x
    problem = make(
        {"xy": [[s]], "yy": [[p]], "y": [f_y]},
        {"xy": [[c]], "yy": [[q]], "y": [g_y]},
        {"A": [[a]], "B": [[b]], "b": [a * x - b * y]},
    )
    slope = f_y + s * x + p * y
    grad_F = s * y + slope * a / b
    assume(q > 2 * alpha**2 * abs(p))
    bottom = b * (b**2 + alpha**2 * q + alpha**4 * p)
    bias = -(alpha**2) * slope * (a * q + c * b + alpha**2 * (a * p + b * s)) / bottom
    for reading, extra in ((REPAIRED, 0.0), (FROZEN, a * lam / alpha**2)):
        made = hypergradient(problem, np.array([float(x)]), alpha=alpha, reading=reading, tol=0.0)
        assert made.rho == 1
        assert made.hypergradient[0] == pytest.approx(grad_F + bias + extra, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("alpha", [0.3, 0.1, 0.01])
def test_a_ramp_half_way_up_leaves_half_the_bias_at_toy2(toy2, alpha):
    x = np.array([alpha**2 * 0.1])
    assert hypergradient(toy2, x, alpha=alpha, tol=0.0).hypergradient[0] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("s", ["1/4", "1/2", "1"])
@pytest.mark.parametrize("alpha", [0.1, 0.01])
def test_holder_bias_is_alpha_to_the_two_s(s, alpha):
    made = hypergradient(Holder(s=s), np.zeros(1), alpha=alpha, tol=0.0)
    assert -1 - made.hypergradient[0] == pytest.approx(alpha ** (2 * float(objectives_of(Holder(s=s)).s)), rel=1e-6)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), m=st.integers(1, 5), p=st.integers(1, 5))
def test_a_quadratic_given_as_callables_gives_the_same_estimate(as_callables, seed, m, p):
    problem = Generated(family="random-rows", n=2, m=m, p=p, seed=seed).quadratic
    exact = hypergradient(problem, np.zeros(2), alpha=0.1, tol=1e-6)
    assume(exact.lower_level.licq_margin > 1e-3)
    made = hypergradient(as_callables(problem), np.zeros(2), alpha=0.1, tol=1e-6)
    np.testing.assert_allclose(made.hypergradient, exact.hypergradient, atol=1e-4, rtol=1e-6)


def test_given_stages_are_used_verbatim(random_rows):
    problem = random_rows(2, 4, 3, 1)
    rng = np.random.default_rng(0)
    given_values = Stages(rng.standard_normal(4), rng.random(3), rng.random(3), rng.standard_normal(4))
    made = hypergradient(problem, np.ones(2), alpha=0.3, given=given_values, reading=FROZEN)
    for name in ("y_star", "lam", "rho", "y_penalty"):
        np.testing.assert_array_equal(getattr(made, name), getattr(given_values, name))
    assert made.lower_level is None
    assert made.penalty is None
    q, y, a_1, a_2 = problem.arrays, given_values.y_penalty, 0.3**-2, 0.3**-4
    h = q.A @ np.ones(2) - q.B @ y - q.b
    expected = {
        "f": q.f_xx @ np.ones(2) + q.f_xy @ y + q.f_x,
        "g_difference": a_1 * q.g_xy @ (y - given_values.y_star),
        "dual": a_1 * q.A.T @ given_values.lam,
        "penalty": a_2 * q.A.T @ (given_values.rho * h),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(made.terms[name], value, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(made.hypergradient, sum(expected.values()), rtol=1e-12)


def test_one_given_stage_replaces_the_computed_one_only(random_rows):
    problem = random_rows(2, 4, 3, 1)
    plain = hypergradient(problem, np.zeros(2), alpha=0.1)
    lam = plain.lam + 1.0
    made = hypergradient(problem, np.zeros(2), alpha=0.1, given=Stages(lam=lam))
    np.testing.assert_array_equal(made.y_star, plain.y_star)
    np.testing.assert_array_equal(made.lam, lam)
    assert made.lower_level is not None
    assert not np.array_equal(made.y_penalty, plain.y_penalty)


def test_the_ramp_width_decides_whether_a_slightly_feasible_row_counts(toy1):
    alpha = 0.1
    stages = Stages(y_star=ONE * (1 + alpha**3), lam=ONE)
    wide = hypergradient(toy1, ONE, alpha=alpha, given=stages)
    narrow = hypergradient(toy1, ONE, alpha=alpha, given=stages, reading=REPAIRED.choose(ramp_width="tau-delta"))
    assert (wide.rho, narrow.rho) == (pytest.approx(0.5), 0)


@pytest.mark.parametrize("lower", ["exact", "primal-dual"])
def test_counts_are_the_calls_actually_made(as_callables, random_rows, lower):
    calls: dict[str, int] = {}
    problem = as_callables(random_rows(2, 3, 2, 5), calls)
    parameters = OracleParameters(lower_level=lower, lower_level_steps=200)
    made = hypergradient(problem, np.zeros(2), alpha=0.2, parameters=parameters)
    assert made.counts["grad_x_f"] == calls["grad_x_f"] == 1
    assert made.counts["grad_x_g"] == calls["grad_x_g"] == 2
    assert made.counts["grad_y_f"] == made.penalty.evaluations == calls["grad_y_f"] - 1  # once to size rounding
    assert made.counts["grad_y_g"] == made.penalty.evaluations + made.lower_level.gradient_samples
    if lower == "primal-dual":
        assert made.lower_level.gradient_samples == 200
        assert made.counts["row_products"] == 2 * 200 + 2 + 2 * made.penalty.evaluations + 3


@pytest.mark.parametrize("model", ["additive", "matrix", "jump"])
def test_counts_grow_with_the_samples(toy1, model):
    parameters = OracleParameters(N_g=7)
    made = hypergradient(noisy(toy1, model), ONE, alpha=0.1, parameters=parameters, rng=np.random.default_rng(0))
    assert (made.counts["grad_x_f"], made.counts["grad_x_g"]) == (7, 14)
    assert made.counts["quadratic_programs"] == 1


@pytest.mark.parametrize("model", ["additive", "matrix", "jump"])
@pytest.mark.parametrize("pairing", ["common", "independent"])
def test_supplied_draws_reproduce_and_are_used_row_by_row(random_rows, model, pairing):
    problem = noisy(random_rows(2, 3, 2, 5), model)
    reading = REPAIRED.choose(noise_pairing=pairing)
    parameters = OracleParameters(N_g=3)
    by_rng = hypergradient(problem, np.zeros(2), alpha=0.3, reading=reading, parameters=parameters,
                           rng=np.random.default_rng(4))  # fmt: skip
    draws = sample_draws(objectives_of(problem), 3, pairing, np.random.default_rng(4))
    made = hypergradient(problem, np.zeros(2), alpha=0.3, reading=reading, parameters=parameters, draws=draws)
    np.testing.assert_array_equal(made.hypergradient, by_rng.hypergradient)
    rows = [
        Draws(**{name: getattr(draws, name)[j : j + 1] for name in draw_shapes(objectives_of(problem), 3, pairing)})
        for j in range(3)
    ]
    singles = [hypergradient(problem, np.zeros(2), alpha=0.3, reading=reading, draws=row).hypergradient for row in rows]
    np.testing.assert_allclose(np.mean(singles, axis=0), made.hypergradient, rtol=1e-12)
    np.testing.assert_allclose(sum(made.terms.values()), made.hypergradient)


def test_line_six_noise_is_f_plus_alpha_1_times_g(toy1):
    draws = Draws(f_x=np.full((1, 1), 2.0), g_x=np.full((1, 1), 3.0), g_x_star=np.full((1, 1), -1.0))
    exact = hypergradient(toy1, ONE, alpha=0.1).hypergradient
    for pairing, extra in (("common", 0.2), ("independent", 0.2 + 100 * 0.4)):
        reading = REPAIRED.choose(noise_pairing=pairing)
        made = hypergradient(noisy(toy1), ONE, alpha=0.1, reading=reading, draws=draws)
        assert made.hypergradient - exact == pytest.approx(extra)


@pytest.mark.parametrize(
    ("model", "pairing", "variance"),
    [("additive", "independent", 0.01 * (1 + 2 * 100**2)), ("additive", "common", 0.01),
     ("matrix", "common", 0.01 * (1 + 0.99990099**2 + (100 * 9.90099e-5) ** 2))],  # |(x, y)|² and (alpha_1 w)²
)  # fmt: skip
@pytest.mark.parametrize("N_g", [1, 4])
def test_the_samples_have_the_derived_variance(toy1, model, pairing, variance, N_g):
    reading = REPAIRED.choose(noise_pairing=pairing)
    samples = hypergradient_samples(noisy(toy1, model), ONE, OracleCall(0.1, reading, OracleParameters(N_g=N_g)),
                                    rng=np.random.default_rng(0), replications=40_000)  # fmt: skip
    assert samples.shape == (40_000, 1)
    assert samples.var() == pytest.approx(variance / N_g, rel=0.05)
    assert samples.mean() == pytest.approx(0.990099, abs=5 * np.sqrt(variance / N_g / 40_000))


def test_many_samples_are_averaged_in_chunks(toy1, monkeypatch):
    import importlib

    monkeypatch.setattr(importlib.import_module("f2csa_ref.sampling"), "CHUNK", 64)
    parameters = OracleParameters(N_g=1000)
    made = hypergradient(noisy(toy1), ONE, alpha=0.1, parameters=parameters, rng=np.random.default_rng(0))
    z = np.random.default_rng(0).standard_normal(1000)
    assert made.hypergradient[0] == pytest.approx(0.99009901 + 0.1 * z.mean(), abs=1e-8)
    samples = hypergradient_samples(noisy(toy1), ONE, OracleCall(0.1, parameters=parameters), replications=50,
                                    rng=np.random.default_rng(1))  # fmt: skip
    assert samples.std() == pytest.approx(0.1 / np.sqrt(1000), rel=0.4)


def test_jump_noise_sits_on_the_first_component(random_rows):
    problem = noisy(random_rows(3, 3, 2, 5), "jump", 1, on=("g.x",))
    samples = hypergradient_samples(
        problem, np.zeros(3), OracleCall(0.5), rng=np.random.default_rng(0), replications=2000
    )
    assert samples[:, 0].std() > 0
    assert not np.ptp(samples[:, 1:], axis=0).any()


def test_samples_without_noise_are_the_estimate(toy1):
    samples = hypergradient_samples(toy1, ONE, OracleCall(0.1), replications=3)
    np.testing.assert_array_equal(samples, np.tile(hypergradient(toy1, ONE, alpha=0.1).hypergradient, (3, 1)))


def test_a_noisy_lower_level_moves_the_pair(toy1):
    parameters = OracleParameters(lower_level="primal-dual", lower_level_steps=500)
    made = hypergradient(noisy(toy1), ONE, alpha=0.2, parameters=parameters, rng=np.random.default_rng(0))
    assert made.lower_level.method == "primal-dual"
    assert 0 < abs(made.y_star[0] - 1) < 0.3
    assert any("budget" in note for note in made.notes)


def test_one_shared_sample_serves_the_whole_call(toy1):
    parameters = OracleParameters(lower_level="primal-dual", lower_level_steps=2000, shared_samples=10_000)
    runs = [
        hypergradient(
            noisy(toy1), ONE, alpha=0.1, reading=SHARED, parameters=parameters, rng=np.random.default_rng(seed)
        )
        for seed in range(20)
    ]
    # sigma / sqrt(N) = 1e-3 in f's gradient; the pair solves the sampled problem exactly.
    errors = np.array([run.hypergradient[0] - 0.99009901 for run in runs])
    assert 1e-5 < np.abs(errors).max() < 5e-3
    assert runs[0].counts["grad_x_f"] == 10_000
    assert runs[0].counts["grad_y_g"] == 10_000 * (2000 + runs[0].penalty.evaluations)


def test_a_diverging_lower_level_is_said_and_nothing_is_made_up(toy1):
    parameters = OracleParameters(lower_level="primal-dual", lower_level_steps=100_000)
    made = hypergradient(toy1, ONE, alpha=0.1, reading=AS_WRITTEN, parameters=parameters)
    assert np.isnan(made.hypergradient).all()
    assert np.isnan(made.y_penalty).all()
    assert made.lower_level.status == "diverged"
    assert "diverged" in made.notes[0]
    samples = hypergradient_samples(toy1, ONE, OracleCall(0.1, AS_WRITTEN, parameters), replications=2)
    assert np.isnan(samples).all()


def test_an_early_stop_of_the_penalty_minimiser_is_said(random_rows):
    made = hypergradient(
        random_rows(2, 20, 10, 0), np.zeros(2), alpha=0.01, parameters=OracleParameters(penalty_steps=2)
    )
    assert any("penalty minimiser stopped by budget" in note for note in made.notes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": np.zeros(2)}, r"^x: must have shape \(1,\)"),
        ({"x": np.array([np.inf])}, "^x: must be finite"),
        ({"alpha": -1.0}, "^alpha: must be > 0"),
        ({"given": Stages(y_star=np.zeros(3))}, "^given.y_star: must have shape"),
        ({"given": Stages(rho=np.zeros(3))}, "^given.rho: must have shape"),
        ({"given": Stages(y_penalty=np.full(1, np.nan))}, "^given.y_penalty: must be finite"),
        ({"given": Stages(rho=-ONE)}, "^rho: must be >= 0"),
    ],
)
def test_wrong_input_is_one_clear_line(toy1, arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        hypergradient(toy1, **({"x": ONE, "alpha": 0.1} | arguments))


def test_noise_needs_a_source(toy1):
    with pytest.raises(InvalidInputError, match=r"^rng: must be given"):
        hypergradient(noisy(toy1), ONE, alpha=0.1)
    with pytest.raises(InvalidInputError, match=r"^rng: must be given"):
        hypergradient_samples(noisy(toy1), ONE, OracleCall(0.1), replications=2)
    with pytest.raises(InvalidInputError, match=r"^draws.f_x: must have shape \(1, 1\)"):
        hypergradient(noisy(toy1), ONE, alpha=0.1, draws=Draws())
    with pytest.raises(InvalidInputError, match=r"^replications: must be >= 1"):
        hypergradient_samples(toy1, ONE, OracleCall(0.1), replications=0)
    parameters = OracleParameters(lower_level="primal-dual")
    with pytest.raises(InvalidInputError, match=r"^draws: cannot serve"):
        hypergradient(noisy(toy1), ONE, alpha=0.1, reading=SHARED, parameters=parameters, draws=Draws())
