r"""Cases whose lower level is smooth but not quadratic: :math:`g = y^2/2 + xy(1 + |(x,y)|^s)` at x = 0.

There :math:`y^* = 0`, the row is slack, :math:`\tilde y = -\alpha^2`, and
:math:`\nabla_x L = \alpha_1\tilde y(1 + |\tilde y|^s)`: rational where alpha is a fourth power.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from spec import REPAIRED, parse_problem
from verify.conformance.places.sizes import U
from verify.conformance.vectors.model import Parameters, TestVector
from verify.conformance.vectors.writing import expected, number, numbers

_ROUNDING = 64 * U
"""A power, a square root and a handful of products, each to a few roundings."""
_GRADIENT_NORM = 2.0**-40
_ZERO = (Fraction(0),)


def holder() -> Iterator[tuple[str, Callable[[], TestVector]]]:
    """Both exponents of the atlas; each stage."""
    for s in (Fraction(1, 4), Fraction(3, 4)):
        label = f"holder-{s.numerator}-{s.denominator}"
        yield f"lower-level/{label}", partial(_lower_level, f"lower-level/{label}", s)
        for alpha in (Fraction(1, 4), Fraction(1, 16), Fraction(1, 100)):
            name = f"{label}/alpha-{alpha.numerator}-{alpha.denominator}"
            yield f"penalty-minimiser/{name}", partial(_minimiser, f"penalty-minimiser/{name}", s, alpha)
            yield f"hypergradient/{name}", partial(_estimate, f"hypergradient/{name}", s, alpha)


def _vector(id_: str, s: Fraction, **fields: Any) -> TestVector:
    strata = ("A-zero", "hessian-not-lipschitz", "inactive-row", "no-active-row", "strictly-complementary")
    problem = parse_problem({"kind": "holder", "s": s}).to_dict()
    return TestVector(id=id_, strata=strata, problem=problem, x=numbers(_ZERO), **fields)


def _lower_level(id_: str, s: Fraction) -> TestVector:
    pair = expected(_ZERO, [_ROUNDING])
    return _vector(
        id_, s, stage="lower_level", flags=("not-quadratic",),
        notes=f"y* = 0 and no row binds; g is only Hölder-{s} smooth beyond its gradient.",
        expected={"y_star": pair, "lam": pair, "h": expected([Fraction(-100)], [100 * _ROUNDING])},
    )  # fmt: skip


def _minimiser(id_: str, s: Fraction, alpha: Fraction) -> TestVector:
    # The curvature is alpha_1, so a gradient this long is this far from the minimiser.
    limit = _GRADIENT_NORM * float(alpha**2) + _ROUNDING * float(alpha**2)
    return _vector(
        id_, s, stage="penalty_minimiser", notes="The minimiser is -alpha**2.", **_given(alpha, _GRADIENT_NORM),
        expected={"y_penalty": expected([-(alpha**2)], [limit])},
    )  # fmt: skip


def _estimate(id_: str, s: Fraction, alpha: Fraction) -> TestVector:
    nothing, gap = expected(_ZERO, [0.0]), expected([-(1 + _power(alpha, 2 * s))], [2 * _ROUNDING])
    return _vector(
        id_, s, stage="hypergradient", notes="The estimate is -(1 + alpha**(2 s)) where the gradient of F is -1.",
        expected={"terms.f": nothing, "terms.g_difference": gap, "terms.dual": nothing, "terms.penalty": nothing,
                  "hypergradient": gap},
        **_given(alpha),
    )  # fmt: skip


def _given(alpha: Fraction, gradient_norm: float | None = None) -> dict[str, Any]:
    """What the call is given: a minimiser too where none is asked for."""
    stages = {"lam": Fraction(0), "rho": Fraction(0), "y_star": Fraction(0)}
    if gradient_norm is None:
        stages["y_penalty"] = Fraction(float(-(alpha**2)))
    parameters = Parameters(
        N_g=1, alpha_1=number(alpha**-2), alpha_2=number(alpha**-4), inner_tol=number(alpha**3), ramp_constant=1.0,
        h_width=float(2 * alpha**3), lam_width=0.1, gradient_norm=gradient_norm,
    )  # fmt: skip
    return {
        "flags": ("given-exact", "not-quadratic"), "alpha": number(alpha), "reading": REPAIRED,
        "parameters": parameters, "given": {name: numbers([value]) for name, value in sorted(stages.items())},
    }  # fmt: skip


def _power(alpha: Fraction, exponent: Fraction) -> Fraction:
    """A power that is rational here, checked."""
    power = 1 / Fraction(round(float(alpha.denominator) ** float(exponent)))
    assert power**exponent.denominator == alpha**exponent.numerator  # alphas are chosen so
    return power
