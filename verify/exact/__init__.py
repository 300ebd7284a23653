"""Ground truth by exact algebra: derived here from the formulas, never taken from the reference solver.

Rationals decide small problems, balls enclose larger ones, functions of alpha are exact rational functions, and
bounds for all alpha in an interval come with certificates that a checker without this code verifies.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.exact.certificate import Certificate
    from verify.exact.certification import NoCertificateError, certify, largest_alpha
    from verify.exact.checker import RejectedCertificateError, check
    from verify.exact.complementarity import InfeasibleLowerLevelError
    from verify.exact.conditioning import penalty_conditioning
    from verify.exact.convexity import AlphaHypotheses, alpha_hypotheses
    from verify.exact.ground_truth import GroundTruth, solve_any
    from verify.exact.kinks import directional_derivative
    from verify.exact.lower_level import (
        DegenerateLowerLevelError,
        ExactLowerLevel,
        Sensitivity,
        hypergradient,
        pieces,
        sensitivity,
        solve,
    )
    from verify.exact.penalty import as_float, derivative_in_y, estimator, hessian_in_y, minimiser
    from verify.exact.penalty_functions import Family
    from verify.exact.proof_steps import error
    from verify.exact.rational_functions import Leading, RationalVector
    from verify.exact.scenario import Error, Scenario, exact_error
    from verify.exact.second_moments import leading_variance, variance
    from verify.exact.series import (
        LeadingMatrix,
        leading_derivative_in_gradient,
        leading_derivative_in_lam,
        leading_derivative_in_y,
        leading_derivative_in_y_star,
        leading_terms,
        t3_coefficient,
        worst_direction,
        worst_scenario,
    )

_HOMES = {
    "certificate": ("Certificate",),
    "certification": ("NoCertificateError", "certify", "largest_alpha"),
    "checker": ("RejectedCertificateError", "check"),
    "complementarity": ("InfeasibleLowerLevelError",),
    "conditioning": ("penalty_conditioning",),
    "convexity": ("AlphaHypotheses", "alpha_hypotheses"),
    "ground_truth": ("GroundTruth", "solve_any"),
    "kinks": ("directional_derivative",),
    "lower_level": (
        "DegenerateLowerLevelError",
        "ExactLowerLevel",
        "Sensitivity",
        "hypergradient",
        "pieces",
        "sensitivity",
        "solve",
    ),
    "penalty": ("as_float", "derivative_in_y", "estimator", "hessian_in_y", "minimiser"),
    "penalty_functions": ("Family",),
    "proof_steps": ("error",),
    "rational_functions": ("Leading", "RationalVector"),
    "scenario": ("Error", "Scenario", "exact_error"),
    "second_moments": ("leading_variance", "variance"),
    "series": (
        "LeadingMatrix",
        "leading_derivative_in_gradient",
        "leading_derivative_in_lam",
        "leading_derivative_in_y",
        "leading_derivative_in_y_star",
        "leading_terms",
        "t3_coefficient",
        "worst_direction",
        "worst_scenario",
    ),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AlphaHypotheses",
    "Certificate",
    "DegenerateLowerLevelError",
    "Error",
    "ExactLowerLevel",
    "Family",
    "GroundTruth",
    "InfeasibleLowerLevelError",
    "Leading",
    "LeadingMatrix",
    "NoCertificateError",
    "RationalVector",
    "RejectedCertificateError",
    "Scenario",
    "Sensitivity",
    "alpha_hypotheses",
    "as_float",
    "certify",
    "check",
    "derivative_in_y",
    "directional_derivative",
    "error",
    "estimator",
    "exact_error",
    "hessian_in_y",
    "hypergradient",
    "largest_alpha",
    "leading_derivative_in_gradient",
    "leading_derivative_in_lam",
    "leading_derivative_in_y",
    "leading_derivative_in_y_star",
    "leading_terms",
    "leading_variance",
    "minimiser",
    "penalty_conditioning",
    "pieces",
    "sensitivity",
    "solve",
    "solve_any",
    "t3_coefficient",
    "variance",
    "worst_direction",
    "worst_scenario",
]


def __getattr__(name: str) -> Any:
    # Imported on first use: the checker must load without the algebra libraries, closed forms without delay.
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"verify.exact.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
