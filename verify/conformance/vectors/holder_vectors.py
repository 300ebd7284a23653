r"""Cases whose lower level is smooth but not quadratic: :math:`g = y^2/2 + xy(1 + |(x,y)|^s)` at x = 0.

There :math:`y^* = 0`, the row is slack, :math:`\tilde y = -\alpha^2`, and
:math:`\nabla_x L = \alpha_1\tilde y(1 + |\tilde y|^s)`: rational where alpha is a fourth power.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from spec import REPAIRED, Holder, parse_problem
from verify.conformance.sizes import U
from verify.conformance.vectors.decimals import expected, number, numbers
from verify.conformance.vectors.model import Expected, Parameters, TestVector

_STRATA = ("A-zero", "hessian-not-lipschitz", "inactive-row", "no-active-row", "strictly-complementary")
_ROUNDING = 64 * U
"""A power, a square root and a handful of products, each to a few roundings."""
_WIDTH = Fraction(0.1)


def holder() -> Iterator[tuple[str, Callable[[], TestVector]]]:
    """Both exponents of the atlas; each stage."""
    for s in (Fraction(1, 4), Fraction(3, 4)):
        label = f"holder-{s.numerator}-{s.denominator}"
        yield f"lower-level/{label}", _lower_level(label, s)
        for alpha in (Fraction(1, 4), Fraction(1, 16), Fraction(1, 100)):
            name = f"{label}/alpha-{alpha.numerator}-{alpha.denominator}"
            yield f"penalty-minimiser/{name}", _minimiser(name, s, alpha)
            yield f"hypergradient/{name}", _estimate(name, s, alpha)


def _problem(s: Fraction) -> Holder:
    made = parse_problem({"kind": "holder", "s": s})
    assert isinstance(made, Holder)  # by its kind
    return made


def _lower_level(label: str, s: Fraction) -> Callable[[], TestVector]:
    tiny = (Fraction(0),)
    return lambda: TestVector(
        id=f"lower-level/{label}",
        stage="lower_level",
        strata=_STRATA,
        flags=("not-quadratic",),
        notes=f"y* = 0 and no row binds; g is only Hölder-{s} smooth beyond its gradient.",
        problem=_problem(s).to_dict(),
        x=numbers(tiny),
        expected={
            "y_star": expected(tiny, [_ROUNDING]),
            "lam": expected(tiny, [_ROUNDING]),
            "h": expected([Fraction(-100)], [100 * _ROUNDING]),
        },
    )


def _minimiser(name: str, s: Fraction, alpha: Fraction) -> Callable[[], TestVector]:
    def make() -> TestVector:
        gradient_norm = 2.0**-40
        y = -(alpha**2)
        # The curvature is alpha_1, so a gradient this long is this far from the minimiser.
        limit = gradient_norm * float(alpha**2) + _ROUNDING * float(alpha**2)
        return _vector(
            f"penalty-minimiser/{name}", "penalty_minimiser", s, alpha, {"y_penalty": expected([y], [limit])},
            ("y_star", "lam", "rho"), "The minimiser is -alpha**2.", gradient_norm,
        )  # fmt: skip

    return make


def _estimate(name: str, s: Fraction, alpha: Fraction) -> Callable[[], TestVector]:
    def make() -> TestVector:
        y = -(alpha**2)
        power = _power(alpha, 2 * s)
        zero = [Fraction(0)]
        gap = [alpha**-2 * y * (1 + power)]
        blocks = {
            "terms.f": expected(zero, [0.0]),
            "terms.g_difference": expected(gap, [2 * _ROUNDING]),
            "terms.dual": expected(zero, [0.0]),
            "terms.penalty": expected(zero, [0.0]),
            "hypergradient": expected(gap, [2 * _ROUNDING]),
        }
        notes = "The estimate is -(1 + alpha**(2 s)) where the gradient of F is -1."
        return _vector(
            f"hypergradient/{name}", "hypergradient", s, alpha, blocks, ("y_star", "lam", "rho", "y_penalty"), notes,
            None,
        )  # fmt: skip

    return make


def _vector(
    id_: str,
    stage: str,
    s: Fraction,
    alpha: Fraction,
    blocks: dict[str, Expected],
    given: tuple[str, ...],
    notes: str,
    gradient_norm: float | None,
) -> TestVector:
    stages = {"y_star": Fraction(0), "lam": Fraction(0), "rho": Fraction(0), "y_penalty": -(alpha**2)}
    rounded = {name: (Fraction(float(stages[name])),) for name in given}
    return TestVector.model_validate(
        {
            "id": id_,
            "stage": stage,
            "strata": _STRATA,
            "flags": ("given-exact", "not-quadratic"),
            "notes": notes,
            "problem": _problem(s).to_dict(),
            "x": numbers([Fraction(0)]),
            "alpha": number(alpha),
            "reading": REPAIRED,
            "parameters": Parameters(
                N_g=1,
                alpha_1=number(alpha**-2),
                alpha_2=number(alpha**-4),
                inner_tol=number(alpha**3),
                ramp_constant=1.0,
                h_width=float(2 * alpha**3),
                lam_width=float(_WIDTH),
                gradient_norm=gradient_norm,
            ),
            "given": {name: numbers(values) for name, values in sorted(rounded.items())},
            "expected": blocks,
        }
    )


def _power(alpha: Fraction, exponent: Fraction) -> Fraction:
    """A power that is rational here, checked."""
    root = Fraction(round(float(alpha.denominator) ** float(exponent)))
    made = 1 / root
    assert made**exponent.denominator == alpha**exponent.numerator  # alphas are chosen so
    return made
