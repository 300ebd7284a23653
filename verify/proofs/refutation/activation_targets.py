"""Claims about weights, multipliers near zero and large alpha, decided on scalar problems by hand algebra."""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq_poly

from spec import OracleParameters
from verify.proofs.refutation.cases import SHOWN_ALPHA, Case, Explanation, Finding, Target
from verify.proofs.refutation.notation import function, power, term, vector
from verify.proofs.refutation.openings import conclusion, numbers, setting, solved
from verify.truth import lower_level
from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.algebra.rationals import blocks, rational
from verify.truth.lower_level import ExactLowerLevel, piece_gradient


def targets() -> list[Target]:
    """All of them."""
    return [
        Target("dual-extraction", _multiplier_at_zero, _explain_multiplier, scalar_only=True),
        Target("dual-extraction/T1", _multiplier_at_zero, _explain_multiplier, scalar_only=True),
        Target("dual-extraction/constraint-difference", _fixed_point, _explain_fixed_point, scalar_only=True),
        Target("dual-extraction/ramp-slope", _slope, _explain_slope, scalar_only=True),
        Target("bias-bound/uniformity", _near_a_kink, _explain_kink, scalar_only=True),
        Target("solution-error/strong-convexity", _curvature, _explain_curvature, scalar_only=True),
    ]


class _Scalars:
    """The numbers of a scalar problem under the paper's letters."""

    def __init__(self, case: Case) -> None:
        rows = blocks(case.problem)
        names = ("f_xx", "f_xy", "f_yy", "f_x", "f_y", "g_xy", "g_yy", "g_y", "A", "B", "b")
        self.of = {name: Fraction(int(v.p), int(v.q)) for name in names for v in [getattr(rows, name)[0, 0]]}
        self.x = case.x[0]

    def __getitem__(self, name: str) -> Fraction:
        return self.of[name]

    def grad_y_f(self, y: Fraction) -> Fraction:
        return self["f_y"] + self["f_xy"] * self.x + self["f_yy"] * y

    def h(self, y: Fraction) -> Fraction:
        return self["A"] * self.x - self["B"] * y - self["b"]


def _power(coefficient: Fraction, exponent: int) -> RationalVector:
    """``coefficient * alpha**exponent``."""
    return RationalVector((fmpq_poly([rational(coefficient)]),), fmpq_poly([1])).times(1, exponent)


def _finding(case: Case, name: str, made: RationalVector, variable: str = "alpha") -> Finding:
    leading = made.leading()
    exponent = None if leading.exponent is None else Fraction(leading.exponent)
    claimed = case.bound.exponents.get(variable)
    broken = exponent is not None and claimed is not None and exponent < claimed
    return Finding(broken, name, exponent, leading.coefficient, made)


def _weakly_active(case: Case) -> ExactLowerLevel | None:
    lower = case.lower
    return lower if lower is not None and lower.weakly_active and lower.licq else None


def _multiplier_at_zero(case: Case) -> Finding | None:
    """λ* = 0 and λ̃ = δ, compared at the fixed y with h(x, y) = 1; as written ε_λ = δ, repaired ε_λ is fixed."""
    if not case.is_scalar or _weakly_active(case) is None:
        return None
    scalars = _Scalars(case)
    width = Fraction(str(OracleParameters().lam_width))
    made = _power(scalars["A"], -4) if case.as_written else _power(scalars["A"] / width, -1)
    if case.reading.dual_term == "frozen":
        made = made + _power(scalars["A"], 1)
    return _finding(case, "‖∇_xL_{λ̃} - ∇_xL_{λ*}‖", made)


def _explain_multiplier(case: Case, finding: Finding) -> Explanation:
    lower = case.lower
    assert lower is not None and finding.function is not None  # both decided before
    scalars = _Scalars(case)
    y = (scalars["A"] * scalars.x - scalars["b"] - 1) / scalars["B"]
    at_shown = finding.function(SHOWN_ALPHA)
    bound = (SHOWN_ALPHA**-2 + SHOWN_ALPHA**-4) * SHOWN_ALPHA**3
    frozen = case.reading.dual_term == "frozen"
    beside = ", and α⁻²Aᵀλ̃ beside it" if frozen else ""
    lines = (
        setting(case),
        solved(lower),
        f"Fix y = {y}, where h(x, y) = 1, and take ε_λ = δ = α³, λ̃ = λ* + δ = α³.",
        f"Then ρ(λ*) = 0 and ρ(λ̃) = 1: the penalty term α⁻⁴Aᵀ(ρ∘h) appears in full{beside}.",
        f"The gradients in x differ by {function(finding.function)}.",
        conclusion(case, finding),
        f"At α = {SHOWN_ALPHA}: {numbers(at_shown)}, against (α₁ + α₂)δ = {numbers([bound])}.",
    )
    given = {"y_star": vector(lower.y_star), "lam": str(SHOWN_ALPHA**3), "rho": "1", "y_penalty": str(y)}
    values = {"difference of the gradients": vector(at_shown), "(α₁ + α₂)δ": str(bound)}
    return Explanation(lines, values, {"dual_term": "frozen"} if frozen else {}, given)


def _fixed_point(case: Case) -> Finding | None:
    """|h(x, y) - h(x, ỹ*)| at the fixed y one unit beyond the row; nothing is said about it repaired."""
    if not case.is_scalar or not case.as_written or case.lower is None:
        return None
    size = 1 - case.lower.h[0]
    return _finding(case, "|h(x, y) - h(x, ỹ*)|", _power(size, 0))


def _explain_fixed_point(case: Case, finding: Finding) -> Explanation:
    lower = case.lower
    assert lower is not None  # decided on it
    scalars = _Scalars(case)
    y = (scalars["A"] * scalars.x - scalars["b"] - 1) / scalars["B"]
    line = f"Fix y = {y}, where h(x, y) = 1; with ỹ* = y*, h(x, ỹ*) = {lower.h[0]}, whatever α."
    return Explanation((setting(case), solved(lower), line, conclusion(case, finding)), {"y": str(y)})


def _slope(case: Case) -> Finding | None:
    """Slope of the ramp of h, in powers of δ, on a row whose multiplier has its full weight."""
    if not case.is_scalar or case.lower is None or not case.lower.strictly_active:
        return None
    slope = abs(_Scalars(case)["B"])
    written = case.reading.ramp_width == "tau-delta"
    # In δ, not in alpha: the claim's own variable.
    made = _power(Fraction(1), -2) if written else _power(1 / (2 * max(Fraction(1), slope)), -1)
    return _finding(case, "|dρ/dh|", made, "inner_tol")


def _explain_slope(case: Case, finding: Finding) -> Explanation:
    lower = case.lower
    assert lower is not None  # decided on it
    inside = lower.y_star[0] + SHOWN_ALPHA**6 / (2 * _Scalars(case)["B"])
    lines = (
        setting(case),
        solved(lower),
        "With τ = δ the ramp rises from 0 to 1 between h = -δ² and h = 0.",
        f"Its slope is {power('δ', int(finding.exponent or 0))}, while O(δ⁻¹) is claimed: no constant works as δ → 0.",
        f"At α = {SHOWN_ALPHA}, δ = α³: half way, at ỹ* = y* + α⁶/(2B), ρ = 1/2 after α⁶/2, a slope of α⁻⁶ = 1000000.",
    )
    return Explanation(lines, {"slope": "1000000"}, {"ramp_width": "tau-delta"}, {"y_star": str(inside)})


def _near_a_kink(case: Case) -> Finding | None:
    """The bias at x + t with t = ε_λ α²/λ', where the multiplier has grown to ε_λ α² and the weight is α²."""
    if not case.is_scalar or not case.as_written or _weakly_active(case) is None:
        return None
    scalars = _Scalars(case)
    growth = _multiplier_growth(scalars)
    if growth == 0:
        return None
    A, B, q = scalars["A"], scalars["B"], scalars["g_yy"]
    width = Fraction(str(OracleParameters().lam_width))
    y = _Scalars.h(scalars, Fraction(0)) / B  # on the row
    # ∇_y f along the row as x moves: affine in t, and t = width/growth * alpha**2.
    slope = (scalars["f_xy"] + scalars["f_yy"] * A / B) * width / growth
    upper = _polynomial(scalars.grad_y_f(y), slope)
    bottom = _polynomial(q + B * B, scalars["f_yy"])
    through = _polynomial(scalars["g_xy"] - A * B, scalars["f_xy"])
    jacobian = fmpq_poly([rational(A / B)])
    made = RationalVector((-(upper * (through + jacobian * bottom)),), bottom).reduced()
    return _finding(case, "the bias at x(α)", made)


def _multiplier_growth(scalars: _Scalars) -> Fraction:
    """dλ/dx while the row is active: B λ = ∇_y g on the row."""
    A, B = scalars["A"], scalars["B"]
    return (scalars["g_xy"] + scalars["g_yy"] * A / B) / B


def _polynomial(constant: Fraction, square: Fraction) -> fmpq_poly:
    return fmpq_poly([rational(constant), 0, rational(square)])


def _explain_kink(case: Case, finding: Finding) -> Explanation:
    lower = case.lower
    assert lower is not None and finding.function is not None  # both decided before
    growth = _multiplier_growth(_Scalars(case))
    width = Fraction(str(OracleParameters().lam_width))
    t = width / growth
    at = case.x[0] + t * SHOWN_ALPHA**2
    y_star = lower_level.solve(case.problem, (at,))
    exact = piece_gradient(blocks(case.problem), (at,), y_star.y_star, y_star.strictly_active)
    at_shown = finding.function(SHOWN_ALPHA)
    start = f"{case.x[0]} + " if case.x[0] else ""
    lines = (
        setting(case),
        solved(lower),
        f"Moving x to x(α) = {start}{term((t,), 2)} makes the row active, and dλ*/dx = {growth} gives λ* = {width}·α².",
        f"With ε_λ = {width} its weight is only ρ = λ*/ε_λ = α², as large as α₁/α₂: the penalty α₂ρ is no stronger "
        "than α₁.",
        f"There ∇_y f + (f_yy + α⁻²g_yy + α⁻⁴ρB²)w = 0 for w = y_pen - y*, and the estimator less ∇F, which is "
        f"(f_xy + α⁻²g_xy - α⁻⁴AρB)w - (A/B)∇_y f, comes to {function(finding.function)}.",
        conclusion(case, finding),
        f"At α = {SHOWN_ALPHA}, x = {at}: ∇F = {vector(exact)} and the bias is {numbers(at_shown)}.",
    )
    values = {"∇F": vector(exact), "bias": vector(at_shown)}
    return Explanation(lines, values, {}, {}, (at,))


def _curvature(case: Case) -> Finding | None:
    """Curvature of the penalty Lagrangian at an alpha the hypothesis admits."""
    if not case.is_scalar or case.family is None:
        return None
    scalars = _Scalars(case)
    if scalars["f_xy"] != 0:
        return None  # then C_f is the norm of a full Hessian
    if not case.as_written:
        # At the largest alpha admitted, alpha_1 g_yy/2 = |f_yy|, where the bound is tightest.
        return Finding(scalars["f_yy"] + abs(scalars["f_yy"]) < 0, "L_yy")
    alpha = _admitted(case)
    return Finding(alpha is not None, "L_yy", None, (_curvature_at(case, alpha),) if alpha else ())


def _admitted(case: Case) -> Fraction | None:
    """The smallest alpha = 2 C_f/mu_g + k with L_yy <= 0, if f is concave in y."""
    scalars = _Scalars(case)
    if scalars["f_yy"] >= 0:
        return None
    alpha = 2 * abs(scalars["f_yy"]) / scalars["g_yy"]
    while _curvature_at(case, alpha) > 0:
        alpha += 1
    return alpha


def _curvature_at(case: Case, alpha: Fraction) -> Fraction:
    scalars = _Scalars(case)
    lower = case.lower
    active = lower is not None and bool(lower.strictly_active)
    return scalars["f_yy"] + scalars["g_yy"] / alpha**2 + (scalars["B"] ** 2 / alpha**4 if active else 0)


def _explain_curvature(case: Case, finding: Finding) -> Explanation:
    lower, alpha = case.lower, _admitted(case)
    assert lower is not None and alpha is not None  # both decided before
    scalars = _Scalars(case)
    C_f, mu_g = abs(scalars["f_yy"]), scalars["g_yy"]
    found = finding.coefficient[0]
    lines = (
        setting(case),
        solved(lower),
        f"C_f = {C_f} and μ_g = {mu_g}, so the hypothesis α ≥ 2C_f/μ_g = {2 * C_f / mu_g} admits α = {alpha}.",
        f"There L_yy = f_yy + α⁻²g_yy + α⁻⁴ρB² = {found} ≤ 0: L is not strongly convex in y, for this α or any larger.",
        "L then has no unique minimiser in y, and a solver must refuse this α, as the command below does.",
    )
    return Explanation(lines, {"L_yy": str(found), "α": str(alpha)}, {"alpha_range": "lower-bound"}, {}, None, alpha)
