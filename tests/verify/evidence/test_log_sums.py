"""Logarithms of sums are scipy's, digit for digit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from verify.evidence.log_sums import log_sum


@pytest.mark.parametrize("size", [1, 2, 9, 17, 200])
@pytest.mark.parametrize("spread", [0.0, 1e-9, 1.0, 30.0, 1e3])
def test_a_sum_is_scipy_s_to_the_last_digit(size: int, spread: float) -> None:
    for seed in range(40):
        logs = spread * np.random.default_rng([seed, size]).standard_normal(size) - 7.0
        logs[:: 3 + seed] = logs[0]
        assert log_sum(logs) == float(logsumexp(logs))


def test_what_is_infinite_stays_so() -> None:
    assert log_sum(np.array([1.0, np.inf])) == np.inf
    assert log_sum(np.array([-np.inf, -np.inf])) == -np.inf
    assert log_sum(np.array([2.0, -np.inf])) == 2.0
    assert np.isnan(log_sum(np.array([1.0, np.nan])))
