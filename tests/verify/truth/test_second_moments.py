from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from spec import InvalidInputError, Noise
from tests.verify.truth.problems import TOY1, random_rows, regular_families, regular_instances
from verify.truth import second_moments
from verify.truth.penalty_functions import Family, sampled_point
from verify.truth.scenario import Scenario, exact_error

S = Fraction(1, 10)
ALPHA = Fraction(1, 10)


def noisy(problem, model, sigma_f=S, sigma_g=S, **more):
    return problem.model_copy(update={"noise": Noise(model=model, sigma_f=sigma_f, sigma_g=sigma_g, **more)})


def test_independent_additive_draws_are_amplified_by_alpha_to_the_minus_four():
    made = second_moments.variance(noisy(TOY1, "additive"), [1], ALPHA, [1], [1], "independent")
    assert made == (S**2 * (1 + 2 * 10**4),) * 2
    per_gradient = second_moments.variance(noisy(TOY1, "additive"), [1], ALPHA, [1], [1], "common")
    assert per_gradient == (S**2, S**2)


@pytest.mark.parametrize("model", ["additive", "matrix", "jump", "none"])
@pytest.mark.parametrize("pairing", ["independent", "common"])
def test_the_variance_is_that_of_simulated_samples(model, pairing):
    """20 000 samples written out from the noise models' definitions; 6 standard errors of a variance."""
    problem = noisy(random_rows(2, 3, 2, 4), model, sigma_f=Fraction(1, 2), sigma_g=Fraction(1, 100))
    x, y, star = [1, Fraction(1, 2)], [1, -1, 2], [Fraction(1, 2), -1, 2]
    low, high = second_moments.variance(problem, x, ALPHA, y, star, pairing)
    rng, N, n, m = np.random.default_rng(5), 20_000, 2, 3
    x_, y_, star_ = (np.array([float(v) for v in part]) for part in (x, y, star))
    half, small = 0.5, 0.01
    if model == "none":
        assert (low, high) == (0, 0)
        return
    if model == "matrix":
        upper = half * (rng.standard_normal((N, n, n)) @ x_ + rng.standard_normal((N, n, m)) @ y_)
        W_xx, W_xy = small * rng.standard_normal((2, N, n, n)), small * rng.standard_normal((2, N, n, m))
        k = 0 if pairing == "common" else 1
        gap = (W_xx[0] @ x_ + W_xy[0] @ y_) - (W_xx[k] @ x_ + W_xy[k] @ star_)
    else:
        upper = half * rng.standard_normal((N, n))
        z = rng.standard_normal((2, N, n if model == "additive" else 1))
        k = 0 if pairing == "common" else 1
        if model == "additive":
            gap = small * (z[0] - z[k])
        else:
            jump = [small * ((at > draws[:, 0]) - ndtr(at)) for at, draws in ((y_[0], z[0]), (star_[0], z[k]))]
            gap = np.stack([jump[0] - jump[1], np.zeros(N)], axis=1)
    samples = upper + 100 * gap
    squares = ((samples - samples.mean(axis=0)) ** 2).sum(axis=1)
    error = squares.std() / np.sqrt(N)
    assert float(low) - 6 * error <= squares.mean() <= float(high) + 6 * error
    assert high - low <= Fraction(1, 10**20)


@settings(max_examples=20)
@given(regular_families(), st.sampled_from(["additive", "matrix", "jump"]), st.sampled_from(["independent", "common"]))
def test_the_leading_term_is_what_is_left_for_small_alpha(family, model, pairing):
    family = Family.at(noisy(family.problem, model), family.x)
    leading = second_moments.leading_variance(family, Scenario(), pairing)
    alpha = Fraction(1, 10**8)
    y, star = second_moments.stages(family, Scenario())
    measured = second_moments.variance(family.problem, family.x, alpha, y(alpha), star(alpha), pairing)[0]
    assert float(measured / alpha**leading.exponent) == pytest.approx(float(leading.coefficient[0]), rel=1e-6)
    assert leading.exponent == (-4 if pairing == "independent" else leading.exponent)
    assert pairing == "independent" or leading.exponent in ((0,) if model != "jump" else (0, -2))


def test_an_oracle_that_is_only_unbiased_and_bounded_keeps_alpha_to_the_minus_two_somewhere():
    exponents = set()
    for _, family in regular_instances():
        jumping = Family.at(noisy(family.problem, "jump"), family.x)
        exponents.add(second_moments.leading_variance(jumping, Scenario(), "common").exponent)
    assert exponents == {0, -2}


def test_a_noise_free_lower_gradient_hides_the_amplification():
    quiet = noisy(TOY1, "additive", on=("f.x", "f.y", "g.y"))
    leading = second_moments.leading_variance(Family.at(quiet, [1]), Scenario(), "independent")
    assert (leading.exponent, leading.coefficient) == (0, (S**2, S**2))
    silent = second_moments.leading_variance(Family.at(TOY1, [1]), Scenario(), "independent")
    assert silent.exponent is None


def test_an_error_of_the_lower_level_solution_enters_common_matrix_draws():
    family = Family.at(noisy(TOY1, "matrix", sigma_f=0), [1])
    spent = Scenario(y_star_error=(exact_error(1, [1]),))
    assert second_moments.leading_variance(family, Scenario(), "common").exponent == 4
    assert second_moments.leading_variance(family, spent, "common").exponent == -2
    assert sampled_point(family, spent) == sampled_point(family, Scenario())


def test_alpha_must_be_positive():
    with pytest.raises(InvalidInputError, match="alpha: must be > 0"):
        second_moments.variance(TOY1, [1], 0, [1], [1], "common")
