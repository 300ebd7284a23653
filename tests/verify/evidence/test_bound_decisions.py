"""Comparisons that assume no law."""

from __future__ import annotations

import numpy as np
import pytest

from verify.evidence.budget import Share
from verify.evidence.decisions import BoundDecision
from verify.evidence.intervals import sub_gaussian_interval

SHARE = Share(1e-4)
RUNS = 400


def mean(values, predicted):
    return BoundDecision("mean", SHARE, predicted=predicted, wanted=0.2).mean(values, 1.0)


def median(values, predicted, slack=0.0):
    return BoundDecision("median", SHARE, predicted=predicted, wanted=0.2, slack=slack).median(values)


@pytest.mark.parametrize(("compare", "predicted"), [(mean, 0.5), (median, 0.5)])
def test_the_stated_violation_is_refuted_and_the_bound_itself_is_not(compare, predicted):
    rng = np.random.default_rng(0)
    for _ in range(20):
        values = 0.25 + 0.5 * rng.random(RUNS)
        found = compare(values, predicted)
        assert found.holds
        assert not compare(rng.permutation(values), predicted - 1.01 * found.detectable).holds


def test_a_known_slack_is_allowed_for():
    values = np.random.default_rng(1).random(RUNS)
    tight, slack = median(values, 0.5), median(values, 0.5, slack=0.05)
    assert slack.tolerance == pytest.approx(tight.tolerance + 0.05)
    assert slack.detectable == pytest.approx(tight.detectable + 0.1)


def test_too_few_values_promise_nothing():
    assert not median(np.arange(5.0), 10.0).powered


def test_a_sub_gaussian_interval_covers():
    rng = np.random.default_rng(2)
    missed = 0
    for _ in range(200):
        low, high = sub_gaussian_interval(rng.uniform(-1, 1, 50), 1.0, 0.05)
        missed += not low <= 0 <= high
    assert missed == 0
