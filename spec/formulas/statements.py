"""Statements and premises as formulas over the shipped quantities, and what they hang on."""

from __future__ import annotations

from functools import lru_cache

from spec.formulas.parser import Reader
from spec.formulas.quantities import load_quantities
from spec.formulas.tree import TRUTH, Node, shape_words


@lru_cache(maxsize=1024)
def parse_formula(text: str, where: str = "formula") -> Node:
    """One statement or premise: true or false at a place.

    Args:
        text: The formula.
        where: The file and key it stands under, for messages.

    Raises:
        InvalidInputError: If it is no formula, names what is unknown, or joins shapes that do not fit.
    """
    reader = Reader(load_quantities(), where)
    node = reader.read(text)
    if node.shape != TRUTH:
        raise reader.refused("must be a statement", shape_words(node.shape))
    return node


@lru_cache(maxsize=4096)
def names_within(node: Node) -> frozenset[str]:
    """Every quantity named, those that definitions name included."""
    table, names = load_quantities(), set[str]()

    def gather(part: Node) -> None:
        for inner in part.walk():
            if inner.kind == "quantity" and inner.name not in names:
                names.add(inner.name)
                for _, case in table[inner.name].cases:
                    gather(case)

    gather(node)
    return frozenset(names)


def words_observed(node: Node) -> tuple[str, ...]:
    """What checks bring to a formula, in the order in which it first names it; with any, no place alone decides it."""
    return tuple(dict.fromkeys(part.name for part in node.walk() if part.kind == "observed"))


@lru_cache(maxsize=4096)
def choices_within(node: Node) -> tuple[str, ...]:
    """Every choice of the paper's that some quantity in it is defined by, in the order of the table."""
    names = names_within(node)
    return tuple(dict.fromkeys(q.choice for q in load_quantities().values() if q.choice and q.name in names))
