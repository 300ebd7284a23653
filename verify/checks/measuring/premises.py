"""What checks start from: instances, premises met or failed, the exact solution, and calls that are given it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from spec import Holder, Noise, OracleParameters
from spec.atlas import Instance, find, is_file
from spec.exact import Vector
from verify.checks.measuring.case import Case
from verify.evidence.model import CONSTRUCTED, Point, PremiseEvidence
from verify.subjects.protocol import Call
from verify.truth.enclosures.pair import Truth, from_rationals, geometry_at_truth
from verify.truth.geometry import Geometry, quadratic_of, ramp, spectral_norm
from verify.truth.lower_level import lower_level as exact_lower_level
from verify.truth.lower_level.complementarity import InfeasibleLowerLevelError
from verify.truth.propositions.arithmetic import NoValueError

REGULAR = (
    "toy1", "two-of-three", "box-rational", "scalar-rational", "absolute-moving", "toy2", "kink", "crossing-kinks",
    "absolute-fixed", "fixed-rows", "interior", "experiment-1d", "experiment-5d", "random-2x3x4", "random-3x5x4",
    "random-4x6x6", "ill-conditioned", "rows-nearly-dependent", "moving-box", "random-10x12x6",
)  # fmt: skip
DEGENERATE = ("weakly-active", "licq-fails", "infeasible")
SHOWN_ALPHA = 0.1
"""The alpha at which single values are shown beside the sweep."""


def additive(sigma: str) -> Noise:
    """Additive noise of one scale on both levels, spelled exactly."""
    return Noise(model="additive", sigma_f=sigma, sigma_g=sigma)  # type: ignore[arg-type]  # exact spellings are parsed


class PremiseUnmetError(Exception):
    """A premise of the claim fails on this instance; ``finding`` has the numbers."""

    def __init__(self, premise: str, finding: str) -> None:
        self.evidence = PremiseEvidence(premise=premise, holds=False, finding=finding)
        super().__init__(premise, finding)


def feasible(instance: Instance) -> exact_lower_level.ExactLowerLevel:
    """The exact lower level at the instance's point.

    Raises:
        NoValueError: If no y satisfies the rows there, so that y* has no value.
    """
    try:
        return exact_lower_level.solve(quadratic_of(instance.problem), instance.x)
    except InfeasibleLowerLevelError as error:
        raise NoValueError(f"y* has no value here: {error.rule}") from None


def regular_truth(instance: Instance) -> Truth:
    """The truth where the lower level has a solution with multipliers of its own; at a kink of F without ∇F.

    Raises:
        NoValueError: If no y satisfies the rows.
        PremiseUnmetError: If active rows are dependent.
    """
    lower = feasible(instance)
    if not lower.licq:
        raise PremiseUnmetError("licq", f"{len(lower.active)} rows are active, their rank is {lower.licq_rank}")
    return from_rationals(quadratic_of(instance.problem), instance.x, lower)


BY_CONSTRUCTION = {
    "dual-accuracy": f"{CONSTRUCTED}: λ̃ is chosen at distance α³, the most the premise allows",
    "lower-level-accuracy": f"{CONSTRUCTED}: ỹ* is chosen at distance α³, the most the premise allows",
    "wide-ramp": f"{CONSTRUCTED}: a pair that is off has the weights of a ramp 2‖B‖α² wide",
    "penalty-accuracy": f"{CONSTRUCTED}: ỹ is chosen at the edge of what the stopping rule allows",
    "fixed-ramp": f"{CONSTRUCTED}: ε_λ is the same at every α",
    "oracles": f"{CONSTRUCTED}: the noise models are unbiased with the stated variance",
    "independent-samples": f"{CONSTRUCTED}: every sample has draws of its own",
    "noise": f"{CONSTRUCTED}: every gradient call that is made or counted is noisy, with the variance stated",
}
"""Premises that the checks themselves establish by what they choose, spending them in full."""


CLEAR_MULTIPLIER = OracleParameters().lam_width
"""An active multiplier above this is off the multiplier's ramp, as the repaired premise asks."""


def premises_met(instance: Instance) -> dict[str, PremiseEvidence]:
    """The common premises that an instance meets, by id, each with its exact numbers.

    Only what holds is listed: where a premise fails, the check that needs it says so and decides nothing.
    """
    # A file's name may stand for another problem tomorrow.
    return _premises_met(instance) if is_file(instance.name) else _known_premises_met(instance.name)


@lru_cache(maxsize=256)
def _known_premises_met(name: str) -> dict[str, PremiseEvidence]:
    return _premises_met(find(name))


def _premises_met(instance: Instance) -> dict[str, PremiseEvidence]:
    if isinstance(instance.problem, Holder):
        return {} if any(instance.x) else _met_by_a_smooth_problem(instance.problem)
    try:
        lower = feasible(instance)
    except NoValueError:
        return {}
    a = quadratic_of(instance.problem).arrays
    smallest = min((lower.lam[i] for i in lower.active), default=None)
    rows = f"‖A‖ = {spectral_norm(a.A):.3g}, ‖B‖ = {spectral_norm(a.B):.3g}"
    mu_g, C_f = float(np.linalg.eigvalsh(a.g_yy)[0]), spectral_norm(a.f_yy)
    clear = smallest is None or smallest > CLEAR_MULTIPLIER
    least = "no row is active" if smallest is None else f"smallest multiplier of an active row {float(smallest):.3g}"
    curved = f"μ ≥ α⁻²μ_g/2 with μ_g = {mu_g:.3g} for α ≤ √(μ_g/(2C_f)), C_f = {C_f:.3g}"
    findings = {
        "feasible": "the exact solver found the lower-level point",
        "licq": f"{len(lower.active)} active rows of rank {lower.licq_rank}" if lower.licq else "",
        "strict-complementarity": least if clear else "",
        "affine-rows": rows,
        "bounded-jacobian": rows,
        "strong-convexity": f"μ_g = {mu_g:.3g}" if mu_g > 0 else "",
        "hessian-lipschitz": "the second derivatives are constant",
        "lipschitz-hessian": "the second derivatives are constant",
        "lipschitz-partial-gradient": "∇ₓL is affine in y and in λ, ρ held: it has both constants at every α",
        "penalty-strong-convexity": curved if mu_g > 0 else "",
        **BY_CONSTRUCTION,
    }
    return _held(findings)


def _met_by_a_smooth_problem(problem: Holder) -> dict[str, PremiseEvidence]:
    """At x = 0, where y* is: how far g_yy goes from 1 is derived where the problem is defined."""
    slack, rows = "no row is active", "‖A‖ = 0, ‖B‖ = 1"
    return _held({
        "licq": slack,
        "strict-complementarity": slack,
        "affine-rows": rows,
        "bounded-jacobian": rows,
        "strong-convexity": f"1/2 ≤ g_yy ≤ 3/2 at every (x, y), s = {problem.s}",
        "penalty-strong-convexity": "μ ≥ α⁻²/2 for every α, f being linear",
        "lipschitz-partial-gradient": "∇g is Lipschitz everywhere, f is linear and no row moves with x",
        **dict.fromkeys(("dual-accuracy", "lower-level-accuracy", "penalty-accuracy"), "every stage is given exactly"),
    })  # fmt: skip


def _held(findings: dict[str, str]) -> dict[str, PremiseEvidence]:
    return {name: PremiseEvidence(premise=name, holds=True, finding=text) for name, text in findings.items() if text}


def h_width(case: Case, alpha: float, call: Call) -> float:
    """Ramp width of this case's reading, constraint units."""
    B = quadratic_of(case.instance.problem).arrays.B
    return call.parameters.h_width(case.reading, alpha**3, spectral_norm(B))


def at_truth(case: Case, truth: Truth, alpha: float) -> tuple[Geometry, Call]:
    """The geometry on the exact pair and a call that is given that pair."""
    call = case.call(alpha, y_star=truth.y_star, lam=truth.lam)
    width, lam_width = h_width(case, alpha, call), call.parameters.lam_width
    return geometry_at_truth(case.instance, truth, alpha, width, lam_width), call


def estimate(case: Case, call: Call, y: Vector) -> Vector:
    """The subject's noise-free estimate with its inner solutions given."""
    return case.stages.hypergradient(case.instance.problem, case.x, replace(call, y_penalty=y))


def shrinks(case: Case) -> bool:
    """Whether the width ε_λ of the multiplier's ramp may shrink with δ."""
    return case.sense.multiplier_width == "shrinking"


def with_maps_frozen(case: Case) -> Case:
    """The same case for a difference in λ̃: where ỹ* is a map of x, what its derivative adds is the same on both sides.

    Raises:
        PremiseUnmetError: Where λ̃ is a map of x too: how far it is from λ* says nothing of how it moves.
    """
    if case.reading.dual_term == "both-maps":
        finding = "it bounds λ̃(x) - λ*(x) and not its derivative in x, which ∇_xL holds times α₁h"
        raise PremiseUnmetError("dual-accuracy", finding)
    return replace(case, reading=case.reading.choose(dual_term="frozen")) if keeps_dual_term(case) else case


def keeps_dual_term(case: Case) -> bool:
    """Whether this reading keeps the dual term in the estimator, whole or in part."""
    return case.reading.dual_term != "cancelled"


def sweep_point(alpha: float, error: Vector, rounding: float, predicted: float | None) -> Point:
    """One point of a sweep from an error vector."""
    return Point(at=alpha, measured=float(np.linalg.norm(error)), uncertainty=rounding, predicted=predicted)


def sweep_ends(points: list[Point]) -> dict[str, float | str]:
    """The sweep's ends, to show with a counterexample."""
    chosen = [p for p in points if p.uncertainty <= 0.02 * p.measured] or points
    first, last = chosen[0], chosen[-1]
    return {f"value at alpha = {first.at:g}": first.measured, f"value at alpha = {last.at:g}": last.measured}


def shown_vector(vector: Vector, digits: int = 9) -> str:
    """A vector for a sentence."""
    return "(" + ", ".join(f"{value:.{digits}g}" for value in vector) + ")"


def weighted(case: Case, truth: Truth, alpha: float) -> Geometry:
    """The penalty geometry under the exact weights at the truth."""
    geometry, call = at_truth(case, truth, alpha)
    h = np.where(truth.active > 0, 0.0, geometry.h)
    return replace(geometry, rho=ramp(h, truth.lam, h_width(case, alpha, call), call.parameters.lam_width))


def activated(case: Case, truth: Truth, alpha: float) -> Geometry:
    """The penalty geometry under the weights the subject's own activation gives."""
    geometry, call = at_truth(case, truth, alpha)
    h = np.where(truth.active > 0, 0.0, geometry.h)
    return replace(
        geometry, rho=case.stages.activation(h, truth.lam, h_width(case, alpha, call), call.parameters.lam_width)
    )
