"""What a certificate is told: noise, Hölder constants and norms of smooth problems, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize

from f2csa_ref import Assumed, OracleCall, SmoothObjectives, Stages, hypergradient, objectives_of
from f2csa_ref.algorithm_1 import checked_oracle
from spec import REPAIRED, InvalidInputError, OracleParameters, parse_problem
from spec.atlas import find
from verify.truth.lower_level.lower_level import hypergradient as exact_gradient

ONE = np.ones(1)

NOISES = [("additive", "common"), ("additive", "independent"), ("matrix", "common"), ("matrix", "independent"),
          ("jump", "common"), ("jump", "independent")]  # fmt: skip


@pytest.mark.parametrize(("model", "pairing"), NOISES)
@pytest.mark.parametrize("N_g", [1, 5])
def test_noise_stays_within_its_radius_as_often_as_said(make, model, pairing, N_g):
    noise = {"model": model, "sigma_f": "1/10", "sigma_g": "1/10"}
    problem = make({"y": [1, 0], "xy": [[1, 0], [0, 1]]}, {"yy": [[1, 0], [0, 2]], "y": [1, -1]},
                   {"A": [[1, 0]], "B": [[1, 0]], "b": [100]}, noise=noise)  # fmt: skip
    reading, parameters = REPAIRED.choose(noise_pairing=pairing), OracleParameters(N_g=N_g)
    call = OracleCall(0.3, reading, parameters, certify=Assumed(level=0.8))
    x, rng, q = np.array([0.3, -0.2]), np.random.default_rng(1), objectives_of(problem)
    quiet = checked_oracle(objectives_of(problem.model_copy(update={"noise": type(problem.noise)()})), x, call, None)
    first = checked_oracle(q, x, call, rng)
    radius = first.certificate.noise
    assert first.certificate.bound == pytest.approx(quiet.certificate.bound + radius.radius)
    assert radius.law == ("chebyshev" if model == "jump" else "gaussian")
    away = [
        np.linalg.norm(checked_oracle(q, x, replace(call, certify=None), rng).hypergradient - quiet.hypergradient)
        for _ in range(400)
    ]
    inside = np.mean(np.array(away) <= radius.radius)
    if radius.law == "gaussian":
        assert abs(inside - 0.8) <= 0.08  # four standard deviations
        assert np.mean(np.array(away) <= radius.radius / 2) < 0.7
    else:
        assert inside >= 0.8
        assert np.sqrt(np.mean(np.square(away)) / 0.2) == pytest.approx(radius.radius, rel=0.15)


def test_a_given_variance_takes_chebyshev(toy1):
    certificate = hypergradient(toy1, ONE, alpha=0.1, certify=Assumed(level=0.75, variance=4.0)).certificate
    assert certificate.noise.law == "chebyshev"
    assert certificate.noise.radius == pytest.approx(4.0)
    assert "variance" in certificate.stated


@pytest.mark.parametrize("s", ["1/4", "1/2", "1"])
@pytest.mark.parametrize("alpha", [0.1, 0.02])
def test_a_hoelder_constant_bounds_the_remainder(s, alpha):
    problem = parse_problem({"kind": "holder", "s": s})
    answer = hypergradient(problem, np.zeros(1), alpha=alpha, tol=0, certify=True)
    c, error = answer.certificate, abs(answer.hypergradient[0] + 1)
    assert error == pytest.approx(alpha ** (2 * float(Fraction(s))), rel=1e-6)
    assert error <= c.bound <= 1.5 * error
    assert c.bound - c.terms["remainder"] / 2 < error


@pytest.mark.parametrize("x", [0.03, -0.05])
def test_hoelder_off_the_origin(x):
    problem = parse_problem({"kind": "holder", "s": "1/2"})
    q = objectives_of(problem)
    at = np.array([x])

    def slope(y):
        return q.grad_y_g(at, np.array([y]))[0]

    y = scipy.optimize.brentq(slope, -1, 1, xtol=1e-15)
    step = 1e-6
    moved = [scipy.optimize.brentq(lambda v, t=t: q.grad_y_g(np.array([t]), np.array([v]))[0], -1, 1, xtol=1e-15)
             for t in (x - step, x + step)]  # fmt: skip
    truth = (moved[1] - moved[0]) / (2 * step)
    assert abs(slope(y)) < 1e-12
    for alpha in (0.1, 0.03):
        answer = hypergradient(problem, at, alpha=alpha, certify=True)
        assert abs(answer.hypergradient[0] - truth) <= answer.certificate.bound + 1e-8
    assert "3 s r^s" in hypergradient(problem, 2 * ONE, alpha=0.1, certify=True).certificate.why_not


def smooth(hessians):
    """f = y_0 + y_1 x, g = |y|²/2 + sum log cosh y - x y_0, one row y_0 >= x - 1/2 (binds where x is large)."""
    spread = {
        "hess_yy_g": lambda x, y: np.diag(2 - np.tanh(y) ** 2),
        "hess_xy_g": lambda x, y: np.array([[-1.0, 0.0]]),
    }
    return SmoothObjectives(
        grad_x_f=lambda x, y: y[1:], grad_y_f=lambda x, y: np.array([1.0, x[0]]),
        grad_x_g=lambda x, y: -y[:1], grad_y_g=lambda x, y: y + np.tanh(y) - np.array([x[0], -0.3]),
        A=ONE[:, None], B=np.array([[1.0, 0.0]]), b=ONE / 2, mu_g=1.0, C_g=2.0, C_f=0.0, **(spread if hessians else {}),
    )  # fmt: skip


WORD = {"f_xy": 1.0, "holder": (0.77, 1.0)}  # d/dy of 1 - tanh² is at most 4 / (3 sqrt 3)
MAPS = {"L_y": 1.0}


@pytest.mark.parametrize("x", [2.5, 0.2])
@pytest.mark.parametrize("hessians", [True, False])
def test_smooth_problems_with_a_lipschitz_hessian(x, hessians):
    q = smooth(hessians)
    free = scipy.optimize.brentq(lambda v: v + math.tanh(v) - x, -5, 5, xtol=1e-15)
    y_1 = scipy.optimize.brentq(lambda v: v + math.tanh(v) + 0.3, -5, 5, xtol=1e-15)
    truth = y_1 + (1.0 if x > 1.5 else 1 / (2 - math.tanh(free) ** 2))
    assert (free < x - 0.5) == (x > 1.5)
    assumed = Assumed(**WORD, **({} if hessians else MAPS))
    star = np.array([x - 0.5 if x > 1.5 else free, y_1])
    for given_star in (None, star + 1e-5, star - 1e-5):
        answer = hypergradient(q, np.array([x]), alpha=0.05, given=Stages(y_star=given_star), certify=assumed)
        c, error = answer.certificate, abs(answer.hypergradient[0] - truth)
        assert c.applies
        assert error <= c.bound <= 20 * error + 1e-3
        assert {"mu_g", "C_g", "C_f", "f_xy", "holder"} <= set(c.stated)
        assert c.standing == "on your word"
    assert (
        hypergradient(q, np.array([x]), alpha=0.05, certify=replace(assumed, f_xy=None)).certificate.standing
        == "estimated, and on your word"
    )


def test_quadratics_as_callables_get_a_bound_from_stated_norms(as_callables, random_rows):
    problem, x = random_rows(2, 4, 3, 1), np.array([0.01, -0.02])
    calls = {}
    q, a = as_callables(problem, calls), problem.arrays
    assumed = Assumed(f_xy=float(np.linalg.norm(a.f_xy, 2)), g_xy=float(np.linalg.norm(a.g_xy, 2)), holder=(0, 1))
    before = hypergradient(q, x, alpha=0.05)
    plain = dict(calls)
    answer = hypergradient(q, x, alpha=0.05, certify=assumed)
    np.testing.assert_array_equal(answer.hypergradient, before.hypergradient)
    truth = np.array([float(v) for v in exact_gradient(problem, x.tolist())])
    assert np.linalg.norm(answer.hypergradient - truth) <= answer.certificate.bound
    spent = {name: calls[name] - 2 * plain[name] for name in plain}
    assert {name: spent[name] for name in answer.certificate.counts} == answer.certificate.counts
    assert sum(spent.values()) <= sum(plain.values())
    assert answer.counts == before.counts


@pytest.mark.parametrize(
    ("assumed", "message"),
    [
        ({"L_y": -1.0}, "certify.L_y: must be >= 0"),
        ({"holder": (1.0, 2.0)}, "certify.holder: must be H >= 0"),
        ({"level": 1.0}, "certify.level: must be in"),
        ({"variance": -1.0}, "certify.variance: must be >= 0"),
    ],
)
def test_wrong_assumptions_are_one_clear_line(assumed, message):
    with pytest.raises(InvalidInputError, match=message):
        Assumed(**assumed)


def test_missing_constants_are_asked_for(as_callables, toy1):
    for assumed, name in ((Assumed(), "holder"), (Assumed(holder=(0, 1)), "g_xy")):
        with pytest.raises(InvalidInputError, match=f"^certify.{name}: must be given"):
            hypergradient(as_callables(toy1), ONE, alpha=0.1, certify=assumed)


def test_a_shared_sample_and_a_diverging_lower_level_have_no_certificate(make):
    noisy = make({"y": [1]}, {"yy": [[1]]}, {"A": [[1]], "B": [[1]]}, noise={"model": "additive", "sigma_f": 1})
    parameters = OracleParameters(lower_level="primal-dual", lower_level_steps=50)
    shared = REPAIRED.choose(inner_solver="shared-sample")
    with pytest.raises(InvalidInputError, match=r"^certify: must be off"):
        hypergradient(noisy, ONE, alpha=0.1, reading=shared, parameters=parameters, rng=np.random.default_rng(0),
                      certify=True)  # fmt: skip


def certified(name, certify, given=None):
    instance = find(name)
    x = np.array([float(value) for value in instance.x])
    return hypergradient(instance.problem, x, alpha=0.05, given=given or Stages(), certify=certify).certificate


def test_what_leaves_rows_undecided_is_said() -> None:
    twice = certified("licq-fails", True)
    assert "weakly active or linearly dependent on other active rows" in twice.why_not
    rough = certified("toy1", Assumed(second_derivatives=False), Stages(y_star=np.array([0.3]), lam=ONE))
    assert "the pair is too far from the solution to tell active rows" in rough.why_not
    assert "row 0" in rough.why_not


def test_a_bound_on_the_callers_word_says_so() -> None:
    assert certified("two-of-three", Assumed(second_derivatives=False, L_y=9.0)).standing == "on your word"
    assert certified("two-of-three", Assumed(second_derivatives=False)).standing == "up to rounding"
