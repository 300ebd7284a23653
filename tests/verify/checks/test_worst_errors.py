"""What is called the worst is the worst: over every row, over the whole ball of multipliers, at exactly equal sides."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.verify.checks.asking import case_of, result_of
from verify.campaign.plan import DEFAULT_SEED, Task, perform
from verify.checks.measuring.case import checks
from verify.evidence.model import ComparisonEvidence, RateEvidence
from verify.subjects import ReferenceSubject
from verify.verdict import Verdict, decide


def rates(claim, reading, instance):
    evidence = checks()[claim].function(case_of(claim, reading, instance)).evidence
    return [item for item in evidence if isinstance(item, RateEvidence)]


@pytest.mark.parametrize("seed", [502, 19, 21, 45, 14, 48])
@pytest.mark.parametrize("claim", ["dual-extraction", "dual-extraction/T1"])
def test_a_weight_that_switches_on_is_found_whatever_row_it_is_on(claim, seed):
    instance = f"drawn:weakly-active:{seed}"
    as_written = result_of(claim, "as-written", instance)
    assert as_written.verdict is Verdict.REFUTED, as_written.sentence
    assert rates(claim, "as-written", instance)[0].exponent == pytest.approx(-4, abs=1e-3)
    assert result_of(claim, "repaired", instance).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize("seed", [502, 45])
def test_the_constant_of_a_fixed_point_grows_beyond_whatever_row_bends(seed):
    instance = f"drawn:weakly-active:{seed}"
    assert result_of("dual-extraction/fixed-point", "as-written", instance).verdict is Verdict.REFUTED
    assert result_of("dual-extraction/fixed-point", "repaired", instance).verdict is Verdict.SUPPORTED


# Two of these values are those of an independent evaluation of the formulas, exactly, over the whole ball.
@pytest.mark.parametrize(
    ("claim", "reading", "instance", "at_alpha_02"),
    [
        ("solution-error", "repaired", "box-rational", 0.010878566),
        ("dual-extraction/linear-term", "repaired", "random-3x5x4", 0.856056295),
        ("dual-extraction/linear-term", "as-written", "random-3x5x4", 1.069783947),
    ],
)
def test_the_worst_error_of_the_multipliers_is_that_of_the_whole_ball(claim, reading, instance, at_alpha_02):
    point = rates(claim, reading, instance)[0].points[0]
    assert point.at == 0.2
    assert point.measured == pytest.approx(at_alpha_02, rel=1e-7)


def test_the_worst_term_is_the_exact_spectral_norm():
    from spec.atlas import find
    from verify.truth.algebra.rationals import blocks
    from verify.truth.algebra.reals import spectral_norm
    from verify.truth.geometry import quadratic_of

    B = blocks(quadratic_of(find("random-3x5x4").problem)).B
    exact = float(spectral_norm(B)) / 5  # α₁δ = α
    assert rates("dual-extraction/linear-term", "repaired", "random-3x5x4")[0].points[0].measured == pytest.approx(
        exact, rel=1e-12
    )


REFUTED_BEFORE = ["rows:7", "rows:40", "rows:58", "rows:505", "box:2", "box:7", "box:10"]
"""Where a fixed tolerance of 1e-4 was smaller than the rounding of two equal sides of size 1e-13."""


@pytest.mark.parametrize("name", REFUTED_BEFORE)
def test_two_equal_sides_are_equal_and_no_refutation(name):
    task = Task("solution-error/monotonicity", "repaired", f"drawn:{name}", "reference", "smoke", DEFAULT_SEED)
    result = perform(task, ReferenceSubject())
    assert result.verdict is Verdict.SUPPORTED, result.sentence
    compared = [item for item in result.evidence if isinstance(item, ComparisonEvidence)]
    exact, own = (item for item in compared if "‖difference of the gradients‖" in item.quantity)
    assert (exact.measured, exact.tolerance) == (1.0, 0.0)
    assert abs(own.measured - 1) <= own.tolerance < 1e-7


class TooFar:
    """Answers minimisers whose distance from a point of its own is 1 + 1e-6 times what it should be."""

    def __init__(self):
        self.right, self.first = ReferenceSubject(), None

    def penalty_minimiser(self, problem, x, call, tol):
        y = self.right.penalty_minimiser(problem, x, call, tol)
        self.first = y if self.first is None else self.first
        return self.first + (1 + 1e-6) * (y - self.first)


def test_a_millionth_beyond_the_bound_is_seen():
    task = Task("solution-error/monotonicity", "repaired", "toy1", "reference", "smoke", DEFAULT_SEED)
    assert perform(task, TooFar()).verdict is Verdict.REFUTED


def test_a_stronger_bound_fails_where_both_sides_are_equal():
    from verify.checks import solution_error

    case = case_of("solution-error/monotonicity", "repaired", "toy1")
    exact = solution_error.monotonicity(case).evidence[0]
    assert decide(case.bound, [exact]).verdict is Verdict.SUPPORTED
    assert not exact.model_copy(update={"predicted": float(np.nextafter(1.0, 0.0))}).holds


def test_columns_by_power_are_what_a_unit_error_adds():
    from verify.checks.measuring.gradient_change import exact_leading
    from verify.checks.measuring.premises import feasible

    case = case_of("dual-extraction", "as-written", "weakly-active")
    assert exact_leading(case, feasible(case.instance))[0] == -4
    case = case_of("dual-extraction", "repaired", "toy1")
    power, size = exact_leading(case, feasible(case.instance))
    assert (power, Fraction(size).limit_denominator(10**6)) == (1, 1)
