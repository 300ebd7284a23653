"""Orders in print: what a bound claims, and where an exact one holds."""

from __future__ import annotations

from spec.claims import Bound
from verify.evidence.model import CertifiedBound, RateEvidence, raised
from verify.evidence.undecided import symbol


def claimed_order(bound: Bound) -> str:
    """The order a bound claims, in all its variables: ``O(α)``, ``O(ε⁻³·δ⁻¹)``; empty for a plain comparison."""
    powers = [power(variable, float(exponent)) for variable, exponent in bound.exponents.items()]
    return _related(bound, "·".join(powers)) if powers else ""


def claimed_in(bound: Bound, variable: str) -> str:
    """The order a bound claims in one variable."""
    return _related(bound, power(variable, float(bound.exponents[variable])))


def _related(bound: Bound, printed: str) -> str:
    relation = {"upper": "O", "lower": "Ω", "tight": "Θ", "equality": "="}[bound.tag]
    return printed if relation == "=" else f"{relation}({printed})"


def times(constant: float, variable: str, exponent: float) -> str:
    """A constant times a power: ``3·α²``."""
    return f"{constant:.6g}" if exponent == 0 else f"{constant:.6g}·{power(variable, exponent)}"


def power(variable: str, exponent: float) -> str:
    """A power in print: α², N_g⁻¹, α^0.5, or 1."""
    name = symbol(variable)
    return raised(name, exponent) if exponent == int(exponent) else f"{name}^{exponent:g}"


def by_formulas(rate: RateEvidence) -> str:
    """Of a program that is not the reference, what is exact is the formulas."""
    return "By the formulas " if rate.held_at else ""


def where_held(rate: RateEvidence) -> str:
    """Where such a program was asked, and no further."""
    if not rate.held_at:
        return ""
    ends = f"{symbol(rate.variable)} from {max(rate.held_at):.3g} to {min(rate.held_at):.3g}"
    return f"; the program gives their values, up to rounding, at the {len(rate.held_at)} {ends} at which it was asked"


def whose(bound: CertifiedBound) -> str:
    """Which errors a proven bound is about."""
    if len(bound.certificates) > 1:
        return " and every allowed error"
    return "" if bound.worst_case or bound.side == "lower" else " with the errors spent here"
