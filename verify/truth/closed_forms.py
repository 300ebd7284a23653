r"""Closed forms derived symbolically: one variable at each level, one row, every coefficient a letter.

Around a point x with lower-level solution y* write :math:`g_{yy}=q,\ g_{xy}=c,\ f_{yy}=p,\ f_{xy}=s`, row
:math:`h = ax - by - \beta` and let :math:`f_y, f_x` be the gradient of f at (x, y*), :math:`\lambda` the multiplier.
Nothing here is typed in: y*, its derivative, the penalty minimiser and the bias are solved for and factored.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import sympy as sp

alpha, q, b, rho, width, x = sp.symbols("alpha q b rho epsilon_lambda x", positive=True)
a, c, p, s, f_x, f_y, lam, s_holder = sp.symbols("a c p s f_x f_y lambda s_H", real=True)


@dataclass(frozen=True)
class ScalarForms:
    """Closed forms of the scalar instance with exact stages, as sympy expressions in the letters above.

    Args:
        active: Whether the row is active; then its weight is the letter ``rho``.
        sensitivity: dy*/dx.
        hypergradient: Gradient of F.
        shift: Penalty minimiser minus y*.
        lagrangian: Penalty Lagrangian as a function of the steps ``u`` in x and ``w`` in y from (x, y*), less
            its constant.
        estimator: Gradient of the Lagrangian in x, dual term cancelled.
        bias: Estimator minus gradient of F, dual term cancelled, factored.
        bias_frozen: The same with the dual term frozen.
    """

    active: bool
    sensitivity: sp.Expr
    hypergradient: sp.Expr
    shift: sp.Expr
    lagrangian: sp.Expr
    estimator: sp.Expr
    bias: sp.Expr
    bias_frozen: sp.Expr

    def leading(self, *, frozen: bool = False) -> tuple[int, sp.Expr]:
        """Exponent and coefficient of the bias's first term in alpha, for letters in general position."""
        expression = sp.together(self.bias_frozen if frozen else self.bias)
        numerator, denominator = (sp.Poly(part, alpha) for part in sp.fraction(expression))
        low, base = (min(monomial[0] for monomial in part.monoms()) for part in (numerator, denominator))
        coefficient = numerator.coeff_monomial(alpha**low) / denominator.coeff_monomial(alpha**base)
        return low - base, sp.factor(coefficient)


@lru_cache(maxsize=2)
def scalar_forms(*, active: bool = True) -> ScalarForms:
    """Derive the scalar instance's closed forms.

    Args:
        active: Whether the row binds at y* (then with multiplier ``lambda`` and weight ``rho``).

    Source:
        Eq. (penaltylagrangian), Lemma "Hypergradient Bias Bound". Differs from the paper: exact, no O(.).
    """
    u, w = sp.symbols("u w", real=True)
    # Second-order data around (x, y*); stationarity of the lower level fixes grad_y g = b lambda.
    dual = lam if active else sp.Integer(0)
    f = f_x * u + f_y * w + s * u * w + p * w**2 / 2
    g = b * dual * w + c * u * w + q * w**2 / 2
    h = a * u - b * w
    slope = sp.Symbol("slope")
    if active:
        slope = sp.solve(sp.diff(h.subs(w, slope * u), u), slope)[0]
    else:
        slope = sp.solve(sp.diff(g, w).subs(w, slope * u), slope)[0]
    grad_F = sp.expand(f_x + slope * f_y)
    # The subtracted g(x, y*) is frozen in the lower-level solution, so it contributes its x-gradient at w = 0.
    value = g.subs(w, 0)
    weight = rho if active else sp.Integer(0)
    lagrangian = f + (g + dual * h - value) / alpha**2 + weight * h**2 / (2 * alpha**4)
    shift = sp.factor(sp.solve(sp.diff(lagrangian, w).subs(u, 0), w)[0])
    frozen = sp.diff(lagrangian, u).subs({u: 0, w: shift})
    estimator = frozen - a * dual / alpha**2
    return ScalarForms(
        active=active,
        sensitivity=slope,
        hypergradient=grad_F,
        shift=shift,
        lagrangian=lagrangian,
        estimator=sp.factor(estimator),
        bias=sp.factor(sp.simplify(estimator - grad_F)),
        bias_frozen=sp.factor(sp.simplify(frozen - grad_F)),
    )


def toy1_estimator(*, frozen: bool) -> sp.Expr:
    """The estimator on f = y, g = y**2/2, x - y <= 0 at x = 1, as a function of alpha."""
    forms = scalar_forms()
    letters = {a: 1, b: 1, q: 1, c: 0, p: 0, s: 0, f_x: 0, f_y: 1, lam: 1, rho: 1}
    return sp.factor((forms.hypergradient + (forms.bias_frozen if frozen else forms.bias)).subs(letters))


def weak_activation_bias() -> sp.Expr:
    r"""The bias on f = y, g = (y-x)**2/2, y <= 0 at x > 0 small, where the multiplier x is inside its ramp.

    There :math:`\rho = x/\epsilon_\lambda`; at :math:`x = \alpha^2\epsilon_\lambda` the bias does not tend to 0 with
    alpha: the O(alpha) bound is not uniform in x near a kink of F.
    """
    # y <= 0 reads -b y <= 0 with b = -1; the letters want b > 0, so reflect y: f_y and c change sign.
    letters = {a: 0, b: 1, q: 1, c: 1, p: 0, s: 0, f_x: 0, f_y: -1, lam: x, rho: x / width}
    return sp.factor(scalar_forms().bias.subs(letters))


@lru_cache(maxsize=1)
def holder_bias() -> sp.Expr:
    r"""The bias on f = y, g = y**2/2 + xy + xy (x**2+y**2)**(s/2) at x = 0 as a power of alpha.

    The lower level's Hessian is only Hölder continuous with exponent s at the origin.
    """
    x_, y_ = sp.symbols("x y", real=True)
    g = y_**2 / 2 + x_ * y_ + x_ * y_ * (x_**2 + y_**2) ** (s_holder / 2)
    at_zero = {x_: 0}
    # y*(0) = 0; its slope from differentiating grad_y g = 0, the last term being o(|x| + |y|) times |x|.
    smooth = y_**2 / 2 + x_ * y_
    slope = -sp.diff(smooth, x_, y_) / sp.diff(smooth, y_, 2)
    step = sp.solve(1 + sp.diff(g.subs(at_zero), y_) / alpha**2, y_)[0]
    grad_x_g = sp.diff(g, x_).subs(at_zero).subs(y_, step)
    return sp.powsimp(sp.simplify(sp.expand(grad_x_g / alpha**2 - slope)), force=True)


def evaluate(expression: sp.Expr, letters: dict[sp.Symbol, Fraction | int]) -> Fraction:
    """Exact value of a closed form at rational letters.

    Raises:
        TypeError: If a letter is left without a value.
    """
    at = expression.subs({name: sp.Rational(Fraction(value)) for name, value in letters.items()})
    made = sp.Rational(at)
    return Fraction(int(made.p), int(made.q))
