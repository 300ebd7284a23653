"""Orders read off samples: early looks neither refute nor support for good what later ones say otherwise."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from spec.claims import find
from verify.campaign.calibration.comparisons import bare_case
from verify.checks.measuring.estimates import samples
from verify.checks.measuring.estimates.samples import RATE_BLOCK, SampledFormula, sampled_rates
from verify.checks.variance_bound import OF_AVERAGES
from verify.evidence.budget import Share
from verify.evidence.samples.moments import Moments
from verify.evidence.streams import Sampler, Streams
from verify.verdict import Verdict, decide

BOUND = find("variance-bound").repaired.bound
BATCHES = (1, 2, 4, 16, 64)
HOW = {"formula": SampledFormula({"N_g": -1.0}, OF_AVERAGES)}
"""As the statement asks."""


def order(law, *, level=0, seed=0):
    """The verdict on variances law(N), claimed 1/N, and the looks that it took."""
    case = replace(bare_case(seed, 0, 0, 0), bound=BOUND, level=level)

    def stream(N):
        def draw(rng, count):
            return law(N) ** 0.5 * rng.standard_normal((count, 2))

        return Sampler(draw, Streams((seed, N)), Moments(np.zeros(2)), RATE_BLOCK)

    settings = [({"N_g": float(N)}, stream(N), 1 / N) for N in BATCHES]
    share = Share(1e-9, level=level)
    rate = sampled_rates(case, settings, quantity="variance", deciding="N_g", looks=(RATE_BLOCK, share), **HOW)["N_g"]
    return decide(BOUND, [rate]), settings[0][1].look


def test_what_has_its_formulas_values_is_decided_by_it_and_with_more_effort_by_more_samples():
    found, look = order(lambda N: 1 / N)
    assert (found.verdict, look) == (Verdict.SUPPORTED, 3)
    assert "is of order N_g⁻¹ by its formula, exactly; samples have its values" in found.sentence
    found, look = order(lambda N: 1 / N, level=3)
    assert (found.verdict, look) == (Verdict.SUPPORTED, 4)
    assert order(lambda N: 3 / N)[0].verdict is Verdict.SUPPORTED


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("law", [lambda N: N**-0.95, lambda N: 1 / N + 0.001])
def test_what_leaves_the_formula_is_never_supported_for_looking_like_its_order(law, level):
    for seed in range(3):
        found, _ = order(law, seed=seed, level=level)
        assert found.verdict is not Verdict.SUPPORTED
        assert "of order N_g^-1" in found.sentence or found.verdict is Verdict.REFUTED


def test_what_is_of_another_order_is_refuted_within_a_class_that_was_tested_and_named():
    found, look = order(lambda N: 1 / N + 0.05)
    assert (found.verdict, look) == (Verdict.REFUTED, 5)
    assert "sums of N_g⁻¹ to the powers 0 to 2 with coefficients ≥ 0, tested to 5%" in found.sentence
    # A plain power is no function of the class and of none that is like it: no pole and no zero makes it N⁻¹.
    other, _ = order(lambda N: N**-0.5)
    assert other.verdict is Verdict.REFUTED
    assert "whole powers with one pole or zero" in other.sentence
    waves, _ = order(lambda N: (2 + math.sin(math.log(N))) / N)
    assert waves.verdict is Verdict.INCONCLUSIVE
    assert "is no function of the class" in waves.sentence
    near, _ = order(lambda N: 1 / N / (1 + 300 / N))
    assert near.verdict is not Verdict.REFUTED


def test_what_is_refuted_once_is_asked_again(monkeypatch):
    found, _ = order(lambda N: 1 / N + 0.05)
    verdicts = iter([Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.REFUTED, Verdict.SUPPORTED])
    monkeypatch.setattr(samples, "decide", lambda *_: replace(found, verdict=next(verdicts)))
    _, look = order(lambda N: 2 / N + 1.0)
    assert look == 4
