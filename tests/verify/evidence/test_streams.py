"""Samples do not depend on how the work is cut."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from f2csa_ref import OracleCall
from spec import REPAIRED, OracleParameters
from spec.atlas import find
from verify.checks.measuring.estimates.samples import ADDITIVE, MATRIX
from verify.evidence.samples.moments import Moments
from verify.evidence.streams import Sampler, Streams

# The package's name for the function hides the module's.
reference = sys.modules["f2csa_ref.many.hypergradient_runs"]


def draw(rng, count):
    return rng.standard_normal((count, 2))


def test_a_sampler_goes_on_where_it_stopped():
    streams = Streams.of(np.random.default_rng(3))
    once = Sampler(draw, streams, Moments(np.zeros(2)), block=64).reach(640)
    steps = Sampler(draw, streams, Moments(np.zeros(2)), block=64)
    for count in (10, 100, 640):
        steps.reach(count)
    assert steps.moments.state() == once.state()


def test_blocks_have_streams_of_their_own():
    streams = Streams.of(np.random.default_rng(3))
    first, again, other = (streams.block(i).standard_normal(4) for i in (0, 0, 1))
    assert (first == again).all()
    assert not (first == other).any()


@pytest.mark.parametrize("noise", [ADDITIVE, MATRIX])
@pytest.mark.parametrize("pairing", ["common", "independent"])
@pytest.mark.parametrize("N_g", [1, 5])
def test_the_reference_draws_the_same_whatever_its_cache(monkeypatch, noise, pairing, N_g):
    instance = find("two-of-three").with_noise(noise)
    x = np.array([float(v) for v in instance.x])

    def samples():
        return reference.hypergradient_samples(
            instance.problem, x, OracleCall(0.1, REPAIRED.choose(noise_pairing=pairing), OracleParameters(N_g=N_g)),
            rng=np.random.default_rng(0), replications=700,
        )  # fmt: skip

    right = samples()
    monkeypatch.setattr(reference, "CACHED", 128)
    assert (samples() == right).all()


def test_a_batch_too_large_for_the_cache_is_summed_in_fixed_parts(monkeypatch):
    instance = find("toy1").with_noise(ADDITIVE)
    monkeypatch.setattr(reference, "CACHED", 1 << 10)
    many = reference.hypergradient_samples(
        instance.problem, np.ones(1), OracleCall(0.1, parameters=OracleParameters(N_g=5000)),
        rng=np.random.default_rng(0), replications=3,
    )  # fmt: skip
    assert many.shape == (3, 1)
    assert np.ptp(many) < 0.1 * 12 / 5000**0.5
