"""What of a sample's shape decisions look at: seen where it is there, not where it is not, however blocks are cut."""

from __future__ import annotations

import json

import numpy as np
import pytest

from verify.campaign.calibration.noise_laws import NOISE_LAWS
from verify.evidence.samples.moments import Moments
from verify.evidence.samples.shapes import ENOUGH, Shape

WIDTH = 2
WIDE = {"t3": 0.15, "1 % contaminated": 0.15, "outliers .01 % × 100": 0.8}
"""How far the mean square of 200,000 numbers may be from 1 where not 0.05: at a kurtosis of 7,500 four times 0.19."""


BELOW = {"heteroscedastic in (x, y)": 0.75}
"""Mean squares of laws that meet the bound of 1 at one point alone."""


def shape_of(law: str, rows: int = 16384, seed: int = 0, block: int = 2048) -> Shape:
    rng, moments = np.random.default_rng(seed), Moments(np.zeros(WIDTH))
    for _ in range(rows // block):
        moments.add(NOISE_LAWS[law](rng, block, WIDTH))
    return moments.shape


@pytest.mark.parametrize("law", list(NOISE_LAWS))
def test_noise_of_every_law_has_mean_zero_and_mean_variance_one_or_what_it_says(law):
    rng = np.random.default_rng(3)
    rows = np.vstack([NOISE_LAWS[law](rng, 100, WIDTH) for _ in range(1000)])
    assert np.abs(rows.mean(axis=0)).max() < 0.05
    assert (rows**2).mean() == pytest.approx(BELOW.get(law, 1.0), abs=WIDE.get(law, 0.05))


@pytest.mark.parametrize("law", ["Laplace", "t5", "t3", "1 % contaminated", "heteroscedastic", "lognormal"])
def test_heavy_tails_and_changing_variances_are_seen(law):
    assert not shape_of(law).is_gaussian


@pytest.mark.parametrize("law", ["Rademacher", "mixture"])
def test_light_tails_are_no_harm(law):
    assert shape_of(law).is_gaussian


def test_gaussian_samples_are_seldom_taken_for_anything_else():
    alarms = 0
    for seed in range(200):
        shape = shape_of("Gauss", 2048, seed, 512)
        skewness, allowed = shape.skewness
        alarms += not (shape.is_gaussian and shape.is_isotropic and skewness <= allowed)
    assert alarms <= 3


@pytest.mark.parametrize("law", ["AR(.3)", "AR(.5)"])
def test_correlated_neighbours_are_seen_with_their_size(law):
    shape = shape_of(law)
    assert shape.is_correlated
    assert shape.correlations[0] == pytest.approx(float(law[3:-1]), abs=0.03)


def test_correlated_components_are_no_correlation_in_time():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((8192, 2)) + rng.standard_normal((8192, 1))
    shape = Shape(2)
    shape.add(rows - rows.mean(axis=0))
    assert not shape.is_isotropic
    assert not shape.is_correlated


def test_the_mean_taken_off_short_blocks_is_no_correlation():
    assert not shape_of("Gauss", 1 << 16, block=64).is_correlated


def test_one_batch_that_makes_the_scatter_is_seen():
    rows = np.random.default_rng(0).standard_normal((4096, 1))
    rows[100] = 60.0
    shape = Shape(1)
    shape.add(rows - rows.mean(axis=0))
    assert shape.largest_share > 0.9
    assert shape_of("Gauss").largest_share < 0.1


def test_what_does_not_scatter_has_no_shape():
    moments = Moments(np.ones(2))
    moments.add(np.ones((512, 2)))
    assert moments.shape.is_silent
    assert moments.shape.is_gaussian


def test_enough_is_looked_at_of_gaussian_samples_and_all_of_others():
    gaussian, other = (shape_of(law, 2 * ENOUGH, block=1 << 14) for law in ("Gauss", "Laplace"))
    assert gaussian.count == ENOUGH
    assert other.count == 2 * ENOUGH


def test_a_state_survives_json():
    shape = shape_of("t5", 2048)
    kept = Shape.resume(json.loads(json.dumps(shape.state())))
    assert kept.state() == shape.state()
