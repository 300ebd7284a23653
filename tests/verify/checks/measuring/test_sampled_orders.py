"""Orders read off samples: early looks neither refute nor support for good what later ones say otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spec.claims import find
from verify.campaign.calibration.comparisons import bare_case
from verify.checks.measuring import samples
from verify.checks.measuring.samples import RATE_BLOCK, sampled_rates
from verify.evidence.budget import Share
from verify.evidence.moments import Moments
from verify.evidence.streams import Sampler, Streams
from verify.verdict import Verdict, decide

BOUND = find("variance-bound").repaired.bound
BATCHES = (1, 2, 4, 16, 64)


def order(law, *, level=0, seed=0):
    """The verdict on variances law(N), claimed 1/N, and the looks that it took."""
    case = replace(bare_case(seed, 0, 0, 0), bound=BOUND, level=level)

    def stream(N):
        def draw(rng, count):
            return law(N) ** 0.5 * rng.standard_normal((count, 2))

        return Sampler(draw, Streams((seed, N)), Moments(np.zeros(2)), RATE_BLOCK)

    settings = [({"N_g": float(N)}, stream(N), 0.0) for N in BATCHES]
    share = Share(1e-9, level=level)
    rate = sampled_rates(case, settings, quantity="variance", deciding="N_g", share=share)["N_g"]
    return decide(BOUND, [rate]), settings[0][1].look


def test_a_power_is_supported_and_with_more_effort_by_more_samples():
    found, look = order(lambda N: 1 / N)
    assert (found.verdict, look) == (Verdict.SUPPORTED, 1)
    found, look = order(lambda N: 1 / N, level=2)
    assert (found.verdict, look) == (Verdict.SUPPORTED, 3)


@pytest.mark.parametrize("seed", range(3))
def test_a_power_a_twentieth_off_is_no_support(seed):
    found, _ = order(lambda N: N**-0.95, seed=seed)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "outside the interval" in found.sentence


def test_a_floor_is_not_supported_by_an_effort_that_can_see_it():
    assert order(lambda N: 1 / N + 0.001, level=3)[0].verdict is not Verdict.SUPPORTED


def test_what_is_refuted_once_is_asked_again(monkeypatch):
    found, look = order(lambda N: N**-0.5)
    assert (found.verdict, look) == (Verdict.REFUTED, 2)
    verdicts = iter([Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.REFUTED, Verdict.SUPPORTED])
    monkeypatch.setattr(samples, "decide", lambda *_: replace(found, verdict=next(verdicts)))
    _, look = order(lambda N: 1 / N)
    assert look == 4
