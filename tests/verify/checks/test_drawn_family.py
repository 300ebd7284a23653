"""The experiments' family: draws that the theory cannot handle, and readings that its runs cannot tell apart."""

from __future__ import annotations

from fractions import Fraction

import pytest

from spec import Noise
from spec.atlas import find
from verify.campaign.run import run
from verify.checks.drawn_family import readings_apart
from verify.truth.geometry import quadratic_of

CLAIMS = [f"convergence-experiment/{name}" for name in ("data", "bounded-below", "tests-the-bounds")]


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_literal_sampling_fails_and_the_stated_one_does(claim: str) -> None:
    found = {result.reading: result.verdict for result in run([claim], profile="ci").results}
    assert found == {"as-written": "REFUTED", "repaired": "SUPPORTED"}


def test_moving_rows_tell_the_dual_terms_apart() -> None:
    instance = find("toy1")
    dual, pairing = readings_apart(quadratic_of(instance.problem), instance.x)
    # Frozen keeps alpha^-2 A' lam, lam = 1, at the smallest alpha.
    assert (dual, pairing) == (400.0, 0.0)


def test_noise_in_the_gradient_in_x_tells_the_pairings_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere = Noise(model="matrix", sigma_f=Fraction(1, 100), sigma_g=Fraction(1, 100))
    monkeypatch.setattr("verify.checks.drawn_family.NOISE", everywhere)
    instance = find("experiment-5d")
    dual, pairing = readings_apart(quadratic_of(instance.problem), instance.x)
    assert dual == 0.0
    assert pairing > 0.0
