"""The variances that statements name, held to the exact ones of line 6's noise."""

from __future__ import annotations

from fractions import Fraction

import pytest

from spec.atlas import find
from spec.formulas import load_quantities
from spec.formulas.parser import Reader
from verify.checks.measuring.estimates.samples import ADDITIVE, F_ONLY, G_ONLY, MATRIX
from verify.truth.algebra.numbers import double
from verify.truth.functions_of_alpha.noise import variance
from verify.truth.geometry import quadratic_of
from verify.truth.propositions.sites import Site
from verify.truth.propositions.valuation import value_of

TENTH = Fraction(1, 10)
MINIMISER = "y_min(y_star, lam_star)"
PARTS = {
    ("f.x", "f.y", "g.x", "g.y"): f"sample_variance(y_star, {MINIMISER})",
    F_ONLY: f"n * sigma_f^2 * noise_size({MINIMISER})",
    G_ONLY: f"g_variance(y_star, {MINIMISER})",
}


@pytest.mark.parametrize("pairing", ["independent", "common"])
@pytest.mark.parametrize("noise", [ADDITIVE, MATRIX], ids=lambda noise: noise.model)
@pytest.mark.parametrize("name", ["toy1", "two-of-three"])
def test_variances_are_those_of_the_noise(name, noise, pairing):
    instance = find(name)
    problem, x = quadratic_of(instance.problem), tuple(map(Fraction, instance.x))
    place = Site(problem, x, noise=noise).at(TENTH, {"noise_pairing": pairing})

    def entries(text: str) -> tuple[Fraction, ...]:
        found = value_of(Reader(load_quantities(), "quantity").read(text), place).entries()
        return tuple(Fraction(int(v.p), int(v.q)) for v in found)

    stages = entries(MINIMISER), entries("y_star")
    for on, text in PARTS.items():
        noisy = problem.model_copy(update={"noise": noise.model_copy(update={"on": on})})
        found = float(value_of(Reader(load_quantities(), "quantity").read(text), place))
        assert found == pytest.approx(double(variance(noisy, x, TENTH, stages, pairing)), rel=1e-12)
