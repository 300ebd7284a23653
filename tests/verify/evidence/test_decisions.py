"""Decisions state what they would have seen, and see it."""

from __future__ import annotations

import numpy as np
import pytest

from verify.evidence.budget import Share
from verify.evidence.decisions import VarianceDecision
from verify.evidence.samples.moments import Moments
from verify.evidence.streams import Sampler, Streams

SHARE = Share(1e-6)
BLOCK = 256


def gaussian(scale, width, *, shift=0.0, seed=0):
    def draw(rng, count):
        return shift + scale * rng.standard_normal((count, width))

    return Sampler(draw, Streams.of(np.random.default_rng(seed)), Moments(np.zeros(width)), block=BLOCK)


@pytest.mark.parametrize("relation", ["==", "<=", ">="])
def test_a_right_variance_is_supported_with_power(relation):
    decision = VarianceDecision("v", SHARE, level=3.0, width=3, relation=relation, wanted=0.1, block=BLOCK)
    found = decision.run(gaussian(1.0, 3))
    assert found.holds
    assert found.powered
    assert found.samples >= found.samples_needed
    assert found.detectable <= 0.1 * 3.0
    assert found.error_rate == SHARE.error
    assert found.power == pytest.approx(0.999)


@pytest.mark.parametrize(("relation", "factor"), [("==", 1.0), ("==", -1.0), ("<=", 1.0), (">=", -1.0)])
def test_the_stated_smallest_violation_is_refuted(relation, factor):
    decision = VarianceDecision("v", SHARE, level=2.0, width=2, relation=relation, wanted=0.1, block=BLOCK)
    smallest = decision.run(gaussian(1.0, 2)).detectable / 2.0
    wrong = (1 + factor * smallest) ** 0.5
    assert all(not decision.run(gaussian(wrong, 2, seed=s)).holds for s in range(20))


def test_a_gross_violation_is_refuted_at_the_first_look():
    decision = VarianceDecision("v", SHARE, level=1.0, width=1, wanted=0.05, block=BLOCK)
    found = decision.run(gaussian(2.0, 1))
    assert not found.holds
    assert found.samples < found.samples_needed / 8


def test_a_bound_from_above_does_not_mind_less_and_one_from_below_not_more():
    for relation, scale in (("<=", 0.3), (">=", 3.0)):
        decision = VarianceDecision("v", SHARE, level=1.0, width=1, relation=relation, wanted=0.1, block=BLOCK)
        assert decision.run(gaussian(scale, 1)).holds


def test_too_few_samples_never_become_a_pass():
    decision = VarianceDecision("v", SHARE, level=1.0, width=1, wanted=0.01, limit=1000, block=BLOCK)
    found = decision.run(gaussian(1.0, 1))
    assert found.holds
    assert not found.powered
    assert found.samples_needed > 10 * found.samples


def test_no_variance_at_all_is_held_exactly():
    decision = VarianceDecision("v", SHARE, level=0.0, width=2, block=BLOCK)
    assert decision.run(gaussian(0.0, 2)).holds
    assert not decision.run(gaussian(1e-9, 2)).holds
