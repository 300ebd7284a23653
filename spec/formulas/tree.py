"""The typed tree of a formula: what each part is, what it is made of, and the shape of what comes out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

Shape = tuple[str, ...]
"""``()`` a number, ``("m",)`` a vector, ``("p", "m")`` a matrix; the three below are what they say."""
TRUTH: Shape = ("truth",)
ROWS: Shape = ("rows",)
ORDER: Shape = ("order",)

Kind = Literal[
    "number", "argument", "quantity", "rows", "negative", "transpose", "select", "binary", "function", "relation",
    "logic", "observed",
]  # fmt: skip

ROW_SETS = ("active", "inactive", "strictly_active", "weakly_active")
"""Sets of rows, by the signs of h and the multipliers at the lower-level solution."""
ORDERS = {"O": "<=", "Omega": ">=", "Theta": "=="}
"""Orders, each with the relation that it stands on the right of."""


@dataclass(frozen=True)
class Node:
    """One part of a formula.

    Args:
        kind: What it is.
        name: Which one: a quantity, a function, an operator, a set of rows, the digits of a number.
        args: Its parts.
        shape: What comes out.
    """

    kind: Kind
    name: str
    args: tuple[Node, ...]
    shape: Shape

    @cached_property
    def _hash(self) -> int:
        return hash((self.kind, self.name, self.args, self.shape))

    def __hash__(self) -> int:
        # Found once: a tree's would be that of all within it, each time.
        return self._hash

    def __getstate__(self) -> dict[str, Any]:
        """Without the hash: another process hashes texts otherwise."""
        return {name: value for name, value in vars(self).items() if name != "_hash"}

    def walk(self) -> Iterator[Node]:
        """This part and all within it."""
        left = [self]
        while left:
            part = left.pop()
            yield part
            left += part.args[::-1]

    @property
    def is_order(self) -> bool:
        """Whether it is one of ``O(...)``, ``Omega(...)`` and ``Theta(...)``."""
        return self.shape == ORDER

    @property
    def order(self) -> Node | None:
        """Of a relation with an order on its right, that order."""
        right = self.args[-1] if self.kind == "relation" else None
        return right if right is not None and right.is_order else None


@dataclass(frozen=True)
class Quantity:
    """One named quantity.

    Args:
        name: As formulas write it.
        shape: Of its value.
        says: What it is, in a few words.
        text: How it is shown in plain text.
        latex: How it is shown as a formula.
        arguments: Its arguments with their shapes; none of most.
        choice: The choice of the paper's that its definition hangs on, if it does.
        cases: Its definition, one a value of the choice; none of what a place gives.
        toward: Where it tends when an order is one in it.
    """

    name: str
    shape: Shape
    says: str
    text: str
    latex: str
    arguments: tuple[tuple[str, Shape], ...] = ()
    choice: str = ""
    cases: tuple[tuple[str, Node], ...] = ()
    toward: Literal["zero", "infinity"] = "zero"

    @property
    def local(self) -> dict[str, Shape]:
        """Its arguments by name."""
        return dict(self.arguments)

    def definition(self, choices: dict[str, str]) -> Node:
        """Its formula under a value of each choice."""
        return dict(self.cases)[choices[self.choice] if self.choice else ""]


def exponent_of(node: Node) -> Fraction:
    """The rational number that the right side of ``^`` is."""
    if node.kind == "negative":
        return -exponent_of(node.args[0])
    if node.kind == "binary" and node.name == "/":
        return exponent_of(node.args[0]) / exponent_of(node.args[1])
    return Fraction(node.name)


def shape_words(shape: Shape) -> str:
    """A shape for a message."""
    if shape in (TRUTH, ROWS, ORDER):
        return {TRUTH: "statement", ROWS: "set of rows", ORDER: "order"}[shape]
    return ("number", f"vector {shape[0]}" if shape else "", "matrix " + " x ".join(shape))[min(len(shape), 2)]
