"""What follows from a statement's formula about its bound: the power of each variable, its tag, what is measured."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec.errors import InvalidInputError
from spec.formulas.display import plain_text
from spec.formulas.tree import Node, exponent_of

GROWING = {"N_g", "radius"}
"""Variables that tend to infinity; all others tend to 0."""
_TAGS = {"O": "upper", "Omega": "lower", "Theta": "tight", "<=": "upper", "<": "upper", ">=": "lower", ">": "lower"}


def bound_of(node: Node) -> dict[str, Any]:
    """The fields of a claim's bound.

    Raises:
        InvalidInputError: If its order is not a product of powers.
    """
    if node.kind != "relation":
        return {"quantity": plain_text(node), "tag": "equality"}
    left, right = node.args
    if node.order is None:
        quantity = f"{plain_text(left)}, against {plain_text(right)}"
        return {"quantity": quantity, "tag": _TAGS.get(node.name, "equality")}
    powers = _powers(right.args[0])
    toward = "infinity" if powers and set(powers) <= GROWING else "zero"
    if not powers:
        powers = {"alpha": Fraction(0)}
    return {"quantity": plain_text(left), "exponents": powers, "tag": _TAGS[right.name], "toward": toward}


def _powers(node: Node) -> dict[str, Fraction]:
    """The power of each variable in a product; a constant has none."""
    if node.kind == "quantity":
        return {node.name: Fraction(1)}
    if node.kind == "number":
        return {}
    if node.kind == "binary" and node.name == "^":
        power = exponent_of(node.args[1])
        return {name: value * power for name, value in _powers(node.args[0]).items()}
    if node.kind == "binary" and node.name in "*/":
        powers = _powers(node.args[0])
        for name, value in _powers(node.args[1]).items():
            powers[name] = powers.get(name, Fraction(0)) + (value if node.name == "*" else -value)
        return {name: value for name, value in powers.items() if value}
    raise InvalidInputError("formula", "must have an order that is a product of powers", plain_text(node))
