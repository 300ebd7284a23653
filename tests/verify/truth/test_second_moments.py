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
from verify.truth.penalty_functions import Family, minimiser
from verify.truth.scenario import Scenario

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


def at_exact_stages(family, alpha, pairing) -> Fraction:
    y = minimiser(family, Scenario())(alpha)
    return second_moments.variance(family.problem, family.x, alpha, y, family.lower.y_star, pairing)[0]


def exponent(family, pairing) -> int:
    small = Fraction(1, 10**6)
    ratio = at_exact_stages(family, small / 2, pairing) / at_exact_stages(family, small, pairing)
    return -round(np.log2(float(ratio)))


@settings(max_examples=20)
@given(regular_families(), st.sampled_from(["additive", "matrix", "jump"]), st.sampled_from(["independent", "common"]))
def test_the_function_of_alpha_takes_the_values_at_single_alphas_and_has_their_order(family, model, pairing):
    family = Family.at(noisy(family.problem, model), family.x)
    found = exponent(family, pairing)
    assert found == -4 if pairing == "independent" else found in ((0,) if model != "jump" else (0, -2))
    if model == "jump":
        return
    function, alpha = second_moments.variance_function(family, pairing), Fraction(1, 17)
    assert function(alpha) == (at_exact_stages(family, alpha, pairing),)
    assert function.leading().exponent == found


def test_an_oracle_that_is_only_unbiased_and_bounded_keeps_alpha_to_the_minus_two_somewhere():
    jumping = [Family.at(noisy(family.problem, "jump"), family.x) for _, family in regular_instances()]
    assert {exponent(family, "common") for family in jumping} == {0, -2}


def test_a_noise_free_lower_gradient_hides_the_amplification():
    quiet = Family.at(noisy(TOY1, "additive", on=("f.x", "f.y", "g.y")), [1])
    leading = second_moments.variance_function(quiet, "independent").leading()
    assert (leading.exponent, leading.coefficient) == (0, (S**2,))
    assert second_moments.variance_function(Family.at(TOY1, [1]), "independent").is_zero


def test_an_error_of_the_lower_level_solution_enters_common_matrix_draws():
    problem = noisy(TOY1, "matrix", sigma_f=0)
    assert second_moments.variance_function(Family.at(problem, [1]), "common").leading().exponent == 4
    off = [second_moments.variance(problem, [1], a, [1], [1 + a], "common")[0] for a in (ALPHA, ALPHA / 2)]
    assert off[1] / off[0] == 4


def test_alpha_must_be_positive():
    with pytest.raises(InvalidInputError, match="alpha: must be > 0"):
        second_moments.variance(TOY1, [1], 0, [1], [1], "common")
