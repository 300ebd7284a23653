"""No vector of the unit ball is mapped further than the one that is said to be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.truth.bent_maps import longest, value


def bent_map(rng, entries, bent):
    up = rng.standard_normal((3, entries))
    down = up.copy()
    down[:, :bent] = rng.standard_normal((3, bent)) * rng.integers(0, 2, bent)
    return up, down


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(0, 3))
def test_nothing_on_the_sphere_is_mapped_further(seed, entries, bent):
    rng = np.random.default_rng(seed)
    up, down = bent_map(rng, entries, min(bent, entries))
    at = longest(up, down)
    assert np.linalg.norm(at) == pytest.approx(1)
    drawn = rng.standard_normal((2000, entries))
    drawn /= np.linalg.norm(drawn, axis=1)[:, None]
    sizes = np.linalg.norm(np.maximum(drawn, 0) @ up.T + np.minimum(drawn, 0) @ down.T, axis=1)
    assert sizes.max() <= np.linalg.norm(value(up, down, at)) * (1 + 1e-9)


@given(st.integers(0, 2**32))
def test_a_linear_map_has_its_spectral_norm(seed):
    up, _ = bent_map(np.random.default_rng(seed), 4, 0)
    assert np.linalg.norm(up @ longest(up, up)) == pytest.approx(np.linalg.norm(up, 2))


def test_the_top_singular_vector_is_no_answer_where_its_signs_are_not_allowed():
    up = np.array([[1.0, -1.0], [0.0, 0.1]])
    down = 0 * up
    # Upwards alone counts: (1, -1) would be worth √2, and is not to be had.
    assert longest(up, down).tolist() == pytest.approx([0, 1])
    assert np.linalg.norm(value(up, down, longest(up, down))) == pytest.approx(np.hypot(1, 0.1))


def test_many_entries_that_bend_still_have_the_longest_of_one_sign():
    up, down = np.eye(6), np.zeros((6, 6))
    assert np.linalg.norm(value(up, down, longest(up, down))) == pytest.approx(1)
