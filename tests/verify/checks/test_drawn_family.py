"""The experiments' family: draws that the theory cannot handle, and readings that its runs cannot tell apart."""

from __future__ import annotations

import pytest

from spec.atlas import find
from verify.campaign.run import run
from verify.checks.experiments.drawn_family import ON, readings_apart
from verify.truth.geometry import quadratic_of

CLAIMS = [f"convergence-experiment/{name}" for name in ("data", "bounded-below", "tests-the-bounds")]


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_literal_sampling_fails_and_the_stated_one_does(claim: str) -> None:
    found = {result.reading: result.verdict for result in run([claim], profile="ci").results}
    assert (found["as-written"], found["repaired"]) == ("REFUTED", "SUPPORTED")


def test_noise_on_the_last_term_too_tells_the_pairings_apart() -> None:
    found = {result.reading: result.verdict for result in run([CLAIMS[-1]], profile="ci").results}
    assert found["choose:noisy_terms=all"] == "SUPPORTED"
    instance = find("experiment-5d")
    dual, pairing = readings_apart(quadratic_of(instance.problem), instance.x, ON["all"])
    assert dual == 0.0
    assert pairing > 0.0


def test_moving_rows_tell_the_dual_terms_apart() -> None:
    instance = find("toy1")
    dual, pairing = readings_apart(quadratic_of(instance.problem), instance.x, ON["matrices"])
    # Frozen keeps alpha^-2 A' lam, lam = 1, at the smallest alpha.
    assert (dual, pairing) == (400.0, 0.0)
