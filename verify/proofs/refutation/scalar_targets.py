"""Claims decided by hand algebra on scalar problems: about weights, zero multipliers, large alpha, a smooth g."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from flint import fmpq_poly

from spec import REPAIRED, Holder, OracleParameters
from spec.claims import Bound
from spec.formulas.powers import raised
from verify.proofs.notation import decimals, function, term, vector
from verify.proofs.refutation.model import SHOWN_ALPHA, Break, RefutationCase, RefutationTarget, conclusion, opening
from verify.proofs.refutation.penalty_targets import MAPS
from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.algebra.rationals import blocks, fraction, rational
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.lower_level import piece_gradient

HOLDER = "bias-bound/hessian-lipschitz"
"""The claim broken by no quadratic problem, but by the simplest Hölder exponent."""
LAM_WIDTH = Fraction(str(OracleParameters().lam_width))


class _Scalars(NamedTuple):
    """The numbers of a scalar problem under the paper's letters."""

    x: Fraction
    A: Fraction
    B: Fraction
    b: Fraction
    f_xy: Fraction
    f_yy: Fraction
    f_y: Fraction
    g_xy: Fraction
    g_yy: Fraction

    @classmethod
    def of(cls, case: RefutationCase) -> _Scalars:
        rows = blocks(case.problem)
        return cls(case.x[0], *(fraction(getattr(rows, name)[0, 0]) for name in cls._fields[1:]))

    def y_beyond(self, h: int) -> Fraction:
        """The y at which the row has this value."""
        return (self.A * self.x - self.b - h) / self.B


def _monomial(coefficient: Fraction, exponent: int) -> RationalVector:
    """``coefficient * alpha**exponent``."""
    return RationalVector((fmpq_poly([rational(coefficient)]),), fmpq_poly([1])).times(1, exponent)


def _multiplier_at_zero(case: RefutationCase) -> Break | None:
    """λ* = 0 and λ̃ = δ, compared at the fixed y with h(x, y) = 1; ε_λ = δ, or fixed."""
    lower, s, frozen = case.lower, _Scalars.of(case), case.reading.dual_term == "frozen"
    if lower is None or not (lower.weakly_active and lower.licq):
        return None
    shrinking = case.sense.multiplier_width == "shrinking"
    difference = _monomial(s.A, -4) if shrinking else _monomial(s.A / LAM_WIDTH, -1)
    if frozen:
        difference = difference + _monomial(s.A, 1)
    leading = difference.leading()
    if not case.is_broken_by(leading):
        return None
    name, y, at_shown = "‖∇_xL_{λ̃} - ∇_xL_{λ*}‖", s.y_beyond(1), difference(SHOWN_ALPHA)
    bound = (SHOWN_ALPHA**-2 + SHOWN_ALPHA**-4) * SHOWN_ALPHA**3
    beside = ", and α⁻²Aᵀλ̃ beside it" if frozen else ""
    lines = (
        *opening(case, lower),
        f"Fix y = {y}, where h(x, y) = 1, and take ε_λ = δ = α³, λ̃ = λ* + δ = α³.",
        f"Then ρ(λ*) = 0 and ρ(λ̃) = 1: the penalty term α⁻⁴Aᵀ(ρ∘h) appears in full{beside}.",
        f"The gradients in x differ by {function(difference)}.",
        conclusion(case, name, leading),
        f"At α = {SHOWN_ALPHA}: {decimals(at_shown)}, against (α₁ + α₂)δ = {decimals((bound,))}.",
    )
    given = {"y_star": vector(lower.y_star), "lam": str(SHOWN_ALPHA**3), "rho": "1", "y_penalty": str(y)}
    values = {"difference of the gradients": vector(at_shown), "(α₁ + α₂)δ": str(bound)}
    choices = {"dual_term": "frozen"} if frozen else {}
    return Break.led_by(name, leading, lines, values=values, choices=choices, given=given)


def _fixed_point(case: RefutationCase) -> Break | None:
    """|h(x, y) - h(x, ỹ*)| at the fixed y one unit beyond the row; nothing is said about it repaired."""
    lower, name = case.lower, "|h(x, y) - h(x, ỹ*)|"
    if not case.as_written or lower is None:
        return None
    leading = _monomial(1 - lower.h[0], 0).leading()
    if not case.is_broken_by(leading):
        return None
    y = _Scalars.of(case).y_beyond(1)
    line = f"Fix y = {y}, where h(x, y) = 1; with ỹ* = y*, h(x, ỹ*) = {lower.h[0]}, whatever α."
    lines = (*opening(case, lower), line, conclusion(case, name, leading))
    return Break.led_by(name, leading, lines, values={"y": str(y)})


def _slope(case: RefutationCase) -> Break | None:
    """Slope of the ramp of h, in powers of δ, on a row whose multiplier has its full weight."""
    lower, B = case.lower, _Scalars.of(case).B
    if lower is None or not lower.strictly_active:
        return None
    written = case.reading.ramp_width == "tau-delta"
    # In δ, not in alpha: the claim's own variable.
    leading = (_monomial(Fraction(1), -2) if written else _monomial(1 / (2 * max(Fraction(1), abs(B))), -1)).leading()
    if not case.is_broken_by(leading, "inner_tol"):
        return None
    order = raised("δ", leading.exponent or 0)
    lines = (
        *opening(case, lower),
        "With τ = δ the ramp rises from 0 to 1 between h = -δ² and h = 0.",
        f"Its slope is {order}, while O(δ⁻¹) is claimed: no constant works as δ → 0.",
        f"At α = {SHOWN_ALPHA}, δ = α³: half way, at ỹ* = y* + α⁶/(2B), ρ = 1/2 after α⁶/2, a slope of α⁻⁶ = 1000000.",
    )
    choices, given = {"ramp_width": "tau-delta"}, {"y_star": str(lower.y_star[0] + SHOWN_ALPHA**6 / (2 * B))}
    return Break.led_by("|dρ/dh|", leading, lines, values={"slope": "1000000"}, choices=choices, given=given)


def _near_a_kink(case: RefutationCase) -> Break | None:
    """The bias at x + t with t = ε_λ α²/λ', where the multiplier has grown to ε_λ α² and the weight is α²."""
    lower, s = case.lower, _Scalars.of(case)
    if not case.as_written or lower is None or not (lower.weakly_active and lower.licq):
        return None
    # dλ/dx while the row is active: B λ = ∇_y g on the row.
    growth = (s.g_xy + s.g_yy * s.A / s.B) / s.B
    if growth == 0:
        return None
    t = LAM_WIDTH / growth  # of alpha**2
    # ∇_y f along the row is affine in t.
    of_f = _in_square(s.f_y + s.f_xy * s.x + s.f_yy * s.y_beyond(0), (s.f_xy + s.f_yy * s.A / s.B) * t)
    curvature = _in_square(s.g_yy + s.B * s.B, s.f_yy)
    through = _in_square(s.g_xy - s.A * s.B, s.f_xy)
    jacobian = fmpq_poly([rational(s.A / s.B)])
    # Of the derivative of α₁(λᵀh - g(x, y*)) a map of x leaves nothing of α₁Aλ*, and Dλ*ᵀh is of order α².
    dual, words = fmpq_poly([0]), ""
    if case.reading.dual_term == "frozen":
        dual, words = fmpq_poly([rational(s.A * LAM_WIDTH)]) * curvature, " + α⁻²Aλ*"
    elif case.reading.dual_term == "both-maps":
        dual, words = fmpq_poly([rational(growth * s.B)]) * of_f, " - α⁻²(dλ*/dx)Bw"
    bias = RationalVector((dual - of_f * (through + jacobian * curvature),), curvature).reduced()
    leading, name = bias.leading(), "the bias at x(α)"
    if not case.is_broken_by(leading):
        return None
    at, at_shown = s.x + t * SHOWN_ALPHA**2, bias(SHOWN_ALPHA)
    there = lower_level.solve(case.problem, (at,))
    exact = piece_gradient(blocks(case.problem), (at,), there.y_star, there.strictly_active)
    start = f"{s.x} + " if s.x else ""
    lines = (
        *opening(case, lower),
        f"Moving x to x(α) = {start}{term((t,), 2)} makes the row active, and dλ*/dx = {growth} gives "
        f"λ* = {LAM_WIDTH}·α².",
        f"With ε_λ = {LAM_WIDTH} its weight is only ρ = λ*/ε_λ = α², as large as α₁/α₂: the penalty α₂ρ is no "
        "stronger than α₁.",
        f"There ∇_y f + (f_yy + α⁻²g_yy + α⁻⁴ρB²)w = 0 for w = y_pen - y*, and the estimator less ∇F, which is "
        f"(f_xy + α⁻²g_xy - α⁻⁴AρB)w - (A/B)∇_y f{words}, comes to {function(bias)}.",
        conclusion(case, name, leading),
        f"At α = {SHOWN_ALPHA}, x = {at}: ∇F = {vector(exact)} and the bias is {decimals(at_shown)}.",
    )
    choices = case.reading.differences(REPAIRED)
    return Break.led_by(
        name, leading, lines, values={"∇F": vector(exact), "bias": vector(at_shown)}, choices=choices, x=(at,)
    )


def _in_square(constant: Fraction, square: Fraction) -> fmpq_poly:
    return fmpq_poly([rational(constant), 0, rational(square)])


def _curvature(case: RefutationCase) -> Break | None:
    """Curvature of the penalty Lagrangian at the smallest alpha = 2 C_f/mu_g + k where it is lost.

    At the largest alpha that an upper bound admits, alpha_1 g_yy/2 = |f_yy|, it is at least |f_yy|.
    """
    lower, s = case.lower, _Scalars.of(case)
    # With f_xy, C_f is the norm of a full Hessian.
    bounded_below = case.reading.alpha_range == "lower-bound"
    if not bounded_below or case.family is None or lower is None or s.f_xy != 0 or s.f_yy >= 0:
        return None

    def L_yy(alpha: Fraction) -> Fraction:  # noqa: N802  # the paper's letter
        return s.f_yy + s.g_yy / alpha**2 + (s.B**2 / alpha**4 if lower.strictly_active else 0)

    alpha = smallest = 2 * -s.f_yy / s.g_yy
    while (curvature := L_yy(alpha)) > 0:
        alpha += 1
    lines = (
        *opening(case, lower),
        f"C_f = {-s.f_yy} and μ_g = {s.g_yy}, so the hypothesis α ≥ 2C_f/μ_g = {smallest} admits α = {alpha}.",
        f"There L_yy = f_yy + α⁻²g_yy + α⁻⁴ρB² = {curvature} ≤ 0: L is not strongly convex in y, for this α or any "
        "larger.",
        "L then has no unique minimiser in y, and a solver must refuse this α, as the command below does.",
    )
    values = {"L_yy": str(curvature), "α": str(alpha)}
    return Break("L_yy", None, (curvature,), lines, values, {"alpha_range": "lower-bound"}, alpha=alpha)


TARGETS = tuple(
    RefutationTarget(claim, decide, scalar_only=True, beyond=MAPS if claim == "dual-extraction" else {})
    for claim, decide in {
        "dual-extraction": _multiplier_at_zero,
        "dual-extraction/T1": _multiplier_at_zero,
        "dual-extraction/constraint-difference": _fixed_point,
        "dual-extraction/ramp-slope": _slope,
        "bias-bound/uniformity": _near_a_kink,
        "solution-error/strong-convexity": _curvature,
    }.items()
)
"""All but the one about how smooth g must be."""


def break_of_smoothness(bound: Bound, weight: int, *, as_written: bool) -> tuple[Holder, Break, int] | None:
    """The Hölder exponent s of smallest denominator for which the bias, of order ``alpha**(2 s)``, exceeds the bound.

    Denominators up to the weight are tried, as written; repaired the Hessian is Lipschitz, so s = 1.
    """
    claimed = bound.exponents["alpha"]
    for examined, s in enumerate(_simplest(weight) if as_written else [Fraction(1)], 1):
        if 2 * s < claimed:
            return Holder(s=s), _holder_break(s, claimed), examined
    return None


def _simplest(denominator: int) -> Iterator[Fraction]:
    yield Fraction(1)
    for q in range(2, denominator + 1):
        for p in range(q - 1, 0, -1):
            if Fraction(p, q).denominator == q:
                yield Fraction(p, q)


def _holder_break(s: Fraction, claimed: Fraction) -> Break:
    # A power of 1/2 whose bias is a power of 1/2 as well.
    alpha = Fraction(1, 2**s.denominator)
    bias = -((alpha**2) ** s.numerator) if s.denominator == 1 else -Fraction(1, 2 ** (2 * s.numerator))
    lines = (
        f"f = y, g = ½y² + xy + xy(x² + y²)^(s/2) with s = {s}, with -y - 100 ≤ 0, at x = 0.",
        "∇g is Lipschitz, ∇²g only Hölder continuous of exponent s. At x = 0, y* = 0 and λ* = 0; ∇F = -1.",
        "∇_yL(0, y) = 1 + α⁻²y = 0 has the solution y_pen = -α².",
        "∇_x g(0, y) = y + y|y|^s, so the estimator is α⁻²(y_pen + y_pen|y_pen|^s) = -1 - α^(2s).",
        f"T₃ is -α^({2 * s}), while O({raised('α', int(claimed))}) is claimed: no constant works as α → 0.",
        f"At α = {alpha}: T₃ = {bias}.",
    )
    given = {"y_star": "0", "lam": "0", "y_penalty": str(-(alpha**2))}
    values = {"∇F": "-1", "T₃": str(bias), "estimate": str(bias - 1)}
    return Break("T₃", 2 * s, (Fraction(-1),), lines, values, {}, given, None, alpha)
