"""Inner solvers whose oracles have noise of another law: right ones are not refuted, and what is open is named."""

from __future__ import annotations

import numpy as np

from tests.verify.own_results import own_results
from verify.campaign.calibration.noise_laws import NOISE_LAWS
from verify.subjects import ReferenceSubject


class OtherNormals(np.random.Generator):
    """A generator whose standard normals are of another law of mean zero and variance one."""

    law = staticmethod(NOISE_LAWS["Gauss"])

    def standard_normal(self, size=None, dtype=np.float64, out=None):
        shape = out.shape if out is not None else np.empty(size or ()).shape
        made = self.law(np.random.Generator(self.bit_generator), int(np.prod(shape)), 1).reshape(shape)
        if out is None:
            return made.astype(dtype)
        out[...] = made
        return out


class NoisySolver(ReferenceSubject):
    """The reference, its lower level's noise of another law."""

    def __init__(self, law):
        self.law = law

    def lower_level_runs(self, problem, x, call, rng, replications):
        other = OtherNormals(rng.bit_generator)
        other.law = self.law
        return super().lower_level_runs(problem, x, call, other, replications)


def judged(law, claim="inner-cost/samples-for-accuracy", instance="concave-upper"):
    (result,) = own_results(claim, NoisySolver(law), instances=[instance], profile="smoke")
    assert result.fault is None, result.fault
    return result


def test_a_solver_with_heavy_tailed_noise_is_not_refuted_and_what_keeps_it_open_is_named():
    found = judged(NOISE_LAWS["t3"])
    assert str(found.verdict) in ("SUPPORTED", "INCONCLUSIVE")
    named = {item.law: item.checked for item in found.evidence if item.kind != "premise"}
    assert "kurtosis" in str(named["exponent (scatter of squares)"])


def test_one_whose_noise_is_too_small_is_still_refuted():
    assert str(judged(lambda rng, k, n: 0.7 * NOISE_LAWS["t5"](rng, k, n)).verdict) == "REFUTED"
