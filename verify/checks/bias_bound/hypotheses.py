"""Whether the hypotheses that the bias lemma collects can be met while alpha tends to zero."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.premises import regular_truth
from verify.truth.functions_of_alpha.penalty_functions import convex_up_to
from verify.truth.geometry import quadratic_of, spectral_norm

GRID = 2**20
"""Edges are rounded down to multiples of 1/GRID, so that what is proven is not stronger than asked."""


@check("bias-bound/alpha-to-zero", instances=("concave-upper", "experiment-1d", "box-rational", "toy1"))
def smallest_admitted(case: Case) -> Measurement:
    """The smallest alpha that the hypotheses admit, with the curvature they promise proven for every one admitted."""
    truth = regular_truth(case.instance)
    problem = quadratic_of(case.instance.problem)
    a = problem.arrays
    mu_g = float(np.linalg.eigvalsh(a.g_yy)[0])
    C_f = spectral_norm(np.block([[a.f_xx, a.f_xy], [a.f_xy.T, a.f_yy]]))
    values: dict[str, float | str] = {"C_f": C_f, "mu_g": mu_g}
    name = "smallest alpha that all hypotheses admit"
    if case.reading.alpha_range == "lower-bound":
        note = "Every admitted alpha is at least 2C_f/μ_g, while the lemma lets alpha tend to zero."
        return Measurement((compare(name, 2 * C_f / mu_g, "==", 0.0),), values, note)
    edge = float(np.sqrt(mu_g / (2 * C_f))) if C_f > 0 else 1.0
    end, modulus = (Fraction(int(value * GRID * (1 - 1e-6)), GRID) for value in (edge, mu_g / 2))
    rho = tuple(Fraction(int(i in truth.strictly_active)) for i in range(problem.p))
    proven = convex_up_to(problem, rho, end, modulus)
    # Where the curvature fails for some alpha of the range, the range is no evidence for any below its end.
    admitted = compare(name, 0.0 if proven else float(end), "==", 0.0, rung="certified")
    return Measurement((admitted,), values | {"largest alpha admitted": edge})
