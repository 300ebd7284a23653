"""The claim about how smooth g must be: broken by no quadratic problem, but by the simplest Hölder exponent."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from spec import Holder
from spec.claims import Bound, ReadingName
from verify.evidence.model import raised
from verify.proofs.refutation.cases import Explanation, Finding, Special

CLAIM = "bias-bound/hessian-lipschitz"


def search(bound: Bound, reading: ReadingName, weight: int) -> Special | None:
    """The Hölder exponent s of smallest denominator for which the bias, of order ``alpha**(2 s)``, exceeds the bound.

    Args:
        bound: What is claimed.
        reading: As written every s is admitted; repaired the Hessian is Lipschitz, so s = 1.
        weight: Largest denominator tried.
    """
    claimed = bound.exponents["alpha"]
    for examined, s in enumerate(_simplest(weight) if reading == "as-written" else [Fraction(1)], 1):
        if 2 * s < claimed:
            return Special(Holder(s=s), (Fraction(0),), _finding(s), _explanation(s, claimed), examined)
    return None


def _simplest(denominator: int) -> Iterator[Fraction]:
    yield Fraction(1)
    for q in range(2, denominator + 1):
        for p in range(q - 1, 0, -1):
            if Fraction(p, q).denominator == q:
                yield Fraction(p, q)


def _finding(s: Fraction) -> Finding:
    return Finding(broken=True, quantity="T₃", exponent=2 * s, coefficient=(Fraction(-1),))


def _explanation(s: Fraction, claimed: Fraction) -> Explanation:
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
    return Explanation(lines, {"∇F": "-1", "T₃": str(bias), "estimate": str(bias - 1)}, {}, given, None, alpha)
