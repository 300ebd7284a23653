"""Moments of a stream: the same as at once, however it is cut."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.evidence.samples.moments import Moments


@given(st.integers(0, 2**32), st.lists(st.integers(0, 9), min_size=1, max_size=6))
def test_blocks_add_up_to_the_whole(seed, cuts):
    rng = np.random.default_rng(seed)
    sample = rng.normal(3, 2, size=(sum(cuts) + 2, 3))
    moments, first = Moments(np.full(3, 2.5)), 0
    for size in [*cuts, 2]:
        moments.add(sample[first : first + size])
        first += size
    assert moments.count == len(sample)
    assert moments.mean + 2.5 == pytest.approx(sample.mean(axis=0))
    assert moments.variances == pytest.approx(sample.var(axis=0, ddof=1))
    assert moments.variance == pytest.approx(sample.var(axis=0, ddof=1).sum())
    assert moments.mean_square == pytest.approx(((sample - 2.5) ** 2).sum(axis=1).mean())


def test_equal_samples_have_exactly_no_variance():
    moments = Moments(np.array([0.1, 1e9]))
    for _ in range(3):
        moments.add(np.tile([0.3, 1e9 + 1 / 3], (1000, 1)))
    assert moments.variance == 0.0


def test_a_stream_goes_on_from_its_state():
    rng = np.random.default_rng(1)
    one, two = rng.normal(size=(50, 2)), rng.normal(size=(70, 2))
    whole = Moments(np.zeros(2))
    whole.add(one)
    kept = Moments.resume(json.loads(json.dumps(whole.state())))
    whole.add(two)
    kept.add(two)
    assert kept.state() == whole.state()


def test_an_empty_block_changes_nothing():
    moments = Moments(np.zeros(1))
    moments.add(np.zeros((0, 1)))
    assert moments.count == 0
