"""The exact solution an instance's measurements are held against, and the premises it meets or fails."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from spec import Holder, InvalidInputError, OracleParameters
from spec.atlas import Instance, find
from verify.evidence.model import PremiseEvidence
from verify.truth import lower_level as exact_lower_level
from verify.truth.geometry import quadratic_of, spectral_norm
from verify.truth.pair import Truth, from_rationals


class PremiseUnmetError(Exception):
    """A premise of the claim fails on this instance, with the numbers.

    Args:
        evidence: What failed and how that was seen.
    """

    def __init__(self, evidence: PremiseEvidence) -> None:
        self.evidence = evidence
        super().__init__(evidence.finding)


def regular_truth(instance: Instance) -> Truth:
    """The truth at a point where the lower level is feasible, LICQ holds and every active row has a multiplier.

    Raises:
        PremiseUnmetError: Naming the premise that fails and the rows that break it.
    """
    problem = quadratic_of(instance.problem)
    try:
        lower = exact_lower_level.solve(problem, instance.x)
    except InvalidInputError as error:
        raise PremiseUnmetError(unmet("feasible", str(error))) from None
    if not lower.licq:
        finding = f"{len(lower.active)} rows are active, their rank is {lower.licq_rank}"
        raise PremiseUnmetError(unmet("licq", finding))
    if not lower.strict_complementarity:
        finding = f"row {lower.weakly_active[0]} is active with multiplier exactly 0, so F may have a kink here"
        raise PremiseUnmetError(unmet("strict-complementarity", finding))
    return from_rationals(problem, instance.x, lower)


BY_CONSTRUCTION = {
    "dual-accuracy": "met by construction: λ̃ is chosen at distance α³, the most the premise allows",
    "lower-level-accuracy": "met by construction: ỹ* is chosen at distance α³, the most the premise allows",
    "penalty-accuracy": "met by construction: ỹ is chosen at the edge of what the stopping rule allows",
    "fixed-ramp": "met by construction: ε_λ is the same at every α",
    "oracles": "met by construction: the noise models are unbiased with the stated variance",
    "independent-samples": "met by construction: every sample has draws of its own",
}
"""Premises that the checks themselves establish by what they choose, spending them in full."""


CLEAR_MULTIPLIER = OracleParameters().lam_width
"""An active multiplier above this is off the multiplier's ramp, as the repaired premise asks."""


@lru_cache(maxsize=256)
def premises_met(name: str) -> dict[str, PremiseEvidence]:
    """The common premises that an atlas instance meets, by id, each with its exact numbers.

    Only what holds is listed: where a premise fails, the check that needs it says so and decides nothing.
    """
    instance = find(name)
    if isinstance(instance.problem, Holder):
        return {}
    problem = quadratic_of(instance.problem)
    try:
        lower = exact_lower_level.solve(problem, instance.x)
    except InvalidInputError:
        return {}
    a = problem.arrays
    smallest = min((lower.lam[i] for i in lower.active), default=None)
    rows = f"‖A‖ = {spectral_norm(a.A):.3g}, ‖B‖ = {spectral_norm(a.B):.3g}"
    mu_g, C_f = float(np.linalg.eigvalsh(a.g_yy)[0]), spectral_norm(a.f_yy)
    found = {
        "feasible": (True, "the exact solver found the lower-level point"),
        "licq": (lower.licq, f"{len(lower.active)} active rows of rank {lower.licq_rank}"),
        "strict-complementarity": (
            smallest is None or smallest > CLEAR_MULTIPLIER,
            "no row is active" if smallest is None else f"smallest multiplier of an active row {float(smallest):.3g}",
        ),
        "affine-rows": (True, rows),
        "bounded-jacobian": (True, rows),
        "strong-convexity": (mu_g > 0, f"μ_g = {mu_g:.3g}"),
        "hessian-lipschitz": (True, "the second derivatives are constant"),
        "penalty-strong-convexity": (
            mu_g > 0,
            f"μ ≥ α⁻²μ_g/2 with μ_g = {mu_g:.3g} for α ≤ √(μ_g/(2C_f))"
            + (f", C_f = {C_f:.3g}" if C_f else ", C_f = 0"),
        ),
        **{premise: (True, finding) for premise, finding in BY_CONSTRUCTION.items()},
    }
    return {
        premise: PremiseEvidence(premise=premise, holds=True, finding=finding)
        for premise, (holds, finding) in found.items()
        if holds
    }


def unmet(premise: str, finding: str) -> PremiseEvidence:
    """Evidence that a premise fails here though other instances meet it."""
    return PremiseEvidence(premise=premise, holds=False, finding=finding)
