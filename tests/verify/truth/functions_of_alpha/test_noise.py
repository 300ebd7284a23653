from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from spec import InvalidInputError, Noise
from tests.verify.truth.problems import TOY1, quadratic, random_rows, regular_families, regular_instances
from verify.truth.algebra.numbers import PRECISION, Real, ball
from verify.truth.functions_of_alpha.noise import variance, variance_function
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, minimiser
from verify.truth.functions_of_alpha.scenario import Scenario

S = Fraction(1, 10)
ALPHA = Fraction(1, 10)


def noisy(problem, model, sigma_f=S, sigma_g=S, **more):
    return problem.model_copy(update={"noise": Noise(model=model, sigma_f=sigma_f, sigma_g=sigma_g, **more)})


def test_independent_additive_draws_are_amplified_by_alpha_to_the_minus_four():
    problem = noisy(TOY1, "additive")
    assert variance(problem, [1], ALPHA, ([1], [1]), "independent") == S**2 * (1 + 2 * 10**4)
    assert variance(problem, [1], ALPHA, ([1], [1]), "common") == S**2


@pytest.mark.parametrize("model", ["additive", "matrix", "jump", "none"])
@pytest.mark.parametrize("pairing", ["independent", "common"])
def test_the_variance_is_that_of_simulated_samples(model, pairing):
    """20 000 samples written out from the noise models' definitions; 6 standard errors of a variance."""
    problem = noisy(random_rows(2, 3, 2, 4), model, sigma_f=Fraction(1, 2), sigma_g=Fraction(1, 100))
    x, y, star = [1, Fraction(1, 2)], [1, -1, 2], [Fraction(1, 2), -1, 2]
    exact = variance(problem, x, ALPHA, (y, star), pairing)
    rng, N, n, m = np.random.default_rng(5), 20_000, 2, 3
    x_, y_, star_ = (np.array([float(v) for v in part]) for part in (x, y, star))
    half, small = 0.5, 0.01
    if model == "none":
        assert exact == 0
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
    assert abs(squares.mean() - float(ball(exact))) <= 6 * error
    assert isinstance(exact, Fraction) or exact.rel_accuracy_bits() > 200


def at_exact_stages(family, alpha, pairing) -> Real:
    y = minimiser(family, Scenario())(alpha)
    return variance(family.problem, family.x, alpha, (y, family.lower.y_star), pairing)


def exponent(family, pairing) -> int | None:
    small = Fraction(1, 10**6)
    if at_exact_stages(family, small, pairing) == 0:
        return None
    with ctx.workprec(PRECISION):
        ratio = ball(at_exact_stages(family, small / 2, pairing)) / ball(at_exact_stages(family, small, pairing))
    return -round(np.log2(float(ratio)))


AT_THE_ORIGIN = PenaltyFamily.at(quadratic({"y": [1]}, {"yy": [[1]]}, [[1]], [[1]], [1]), [0])
"""Here x = 0 and y* = 0, the row inactive; the penalty minimiser is -alpha**2."""


@settings(max_examples=20)
@example(AT_THE_ORIGIN, "matrix", "independent")
@given(regular_families(), st.sampled_from(["additive", "matrix", "jump"]), st.sampled_from(["independent", "common"]))
def test_the_function_of_alpha_takes_the_values_at_single_alphas_and_has_their_order(family, model, pairing):
    family = PenaltyFamily.at(noisy(family.problem, model), family.x)
    found = exponent(family, pairing)
    if model == "matrix" and not any((*family.x, *family.lower.y_star)):
        # The lengths |(x, y*)| that the draws are scaled by vanish: what is left is of order |y - y*|**2 = O(alpha**4).
        assert found is None or found >= 0
    elif pairing == "independent":
        assert found == -4
    else:
        assert found in ((0,) if model != "jump" else (0, -2))
    if model == "jump":
        return
    function, alpha = variance_function(family, pairing), Fraction(1, 17)
    assert function(alpha) == (at_exact_stages(family, alpha, pairing),)
    assert function.leading().exponent == found


def test_an_oracle_that_is_only_unbiased_and_bounded_keeps_alpha_to_the_minus_two_somewhere():
    jumping = [PenaltyFamily.at(noisy(family.problem, "jump"), family.x) for _, family in regular_instances()]
    assert {exponent(family, "common") for family in jumping} == {0, -2}


def test_a_noise_free_lower_gradient_hides_the_amplification():
    quiet = PenaltyFamily.at(noisy(TOY1, "additive", on=("f.x", "f.y", "g.y")), [1])
    leading = variance_function(quiet, "independent").leading()
    assert (leading.exponent, leading.coefficient) == (0, (S**2,))
    assert variance_function(PenaltyFamily.at(TOY1, [1]), "independent").is_zero


def test_an_error_of_the_lower_level_solution_enters_common_matrix_draws():
    problem = noisy(TOY1, "matrix", sigma_f=0)
    assert variance_function(PenaltyFamily.at(problem, [1]), "common").leading().exponent == 4
    off = [variance(problem, [1], a, ([1], [1 + a]), "common") for a in (ALPHA, ALPHA / 2)]
    assert off[1] / off[0] == 4


def test_alpha_must_be_positive():
    with pytest.raises(InvalidInputError, match="alpha: must be > 0"):
        variance(TOY1, [1], 0, ([1], [1]), "common")
