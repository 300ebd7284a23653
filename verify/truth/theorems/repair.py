"""One letter made anew from an equation among a statement's premises, so that another letter may change.

``r`` where ``inner c v + inner nu (B v) = inner r v`` for all v, ``St`` where ``inner (St dx) v`` is a term of it,
``u`` where ``u = alpha * alpha``: all other letters stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from verify.truth.theorems.gallina import GallinaNode, names
from verify.truth.theorems.library import Point
from verify.truth.theorems.posed_problems import basis
from verify.truth.theorems.statement_values import TheoremStatement, Values, compiled

Signature = tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Equation:
    """A premise that gives one letter: itself where it stands alone, as a vector or a map into vectors else.

    ``slots`` are the variables it is applied to, ``across`` the one that it is multiplied with.
    """

    premise: int
    name: str
    difference: GallinaNode
    slots: tuple[str, ...] = ()
    across: str = ""
    others: tuple[str, ...] = ()

    def solved(self, statement: TheoremStatement, values: Values) -> Any:
        """The letter's value; ``ArithmeticError`` where the equation leaves it open."""
        known = statement.known(values)
        for name, tree in lets(statement.tree):
            known[name] = eval(compiled(tree), known)
        if not self.across:
            return eval(compiled(self.difference), known)
        arguments = (*self.slots, self.across)
        difference = GallinaNode("fun", parts=(self.difference,), binders=tuple((name, "") for name in arguments))
        old = values[self.name]
        size = len(old) if isinstance(old, tuple) else len(old(*self._some(known)))

        def at(*given: Any) -> Point:
            entries = []
            for unit in basis(size):
                zero, one = (_held(part, bool(self.slots)) for part in (tuple(0 * a for a in unit), unit))
                rest, whole = (
                    eval(compiled(difference), known | {self.name: letter})(*given, unit) for letter in (zero, one)
                )
                if whole == rest:
                    raise ArithmeticError("no equation for it")
                entries.append(rest / (rest - whole))
            return tuple(entries)

        return at if self.slots else at()

    def _some(self, known: Values) -> list[Any]:
        return [next(iter(known[of.split()[-1]])) if "point" in of else 0 for of in self.others]


def _held(part: Point, applied: bool) -> Any:
    return (lambda *_: part) if applied else part


def lets(tree: GallinaNode) -> Iterator[tuple[str, GallinaNode]]:
    """Names that the statement's spine sets."""
    while tree.kind in ("forall", "implies", "let"):
        if tree.kind == "let":
            yield tree.word, tree.parts[0]
        tree = tree.parts[-1]


def bound(tree: GallinaNode) -> Signature:
    """Letters of the spine with their types."""
    letters: list[tuple[str, str]] = []
    while tree.kind in ("forall", "implies", "let"):
        letters += tree.binders if tree.kind == "forall" else ()
        tree = tree.parts[-1]
    return tuple(letters)


@lru_cache(maxsize=256)
def equations(tree: GallinaNode) -> tuple[Equation, ...]:
    """Every letter that some premise gives."""
    letters, given, at = dict(bound(tree)), [], 0
    while tree.kind in ("forall", "implies", "let"):
        if tree.kind == "implies":
            given += list(_of_premise(at, tree.parts[0], letters))
            at += 1
        tree = tree.parts[-1]
    return tuple(given)


def _of_premise(at: int, premise: GallinaNode, letters: dict[str, str]) -> Iterator[Equation]:
    inner: dict[str, str] = {}
    while premise.kind == "forall":
        inner |= dict(premise.binders)
        premise = premise.parts[0]
    if premise.kind != "relation" or premise.word != "=":
        return
    left, right = premise.parts
    if not inner:
        for side, other in ((left, right), (right, left)):
            if side.kind == "name" and letters.get(side.word) == "R" and side.word not in names(other):
                yield Equation(at, side.word, other)
        return
    difference = GallinaNode("binary", "-", (left, right))
    for product in _products(difference):
        for letter, vector in (product, product[::-1]):
            head, slots = (letter.parts[0], letter.parts[1:]) if letter.kind == "call" else (letter, ())
            words = tuple(slot.word for slot in slots)
            each = len(inner) == len(slots) + 1 and {*words, vector.word} == inner.keys()
            plain = all(part.kind == "name" for part in (*slots, vector))
            if each and plain and head.word in letters and names(difference).count(head.word) == 1:
                yield Equation(at, head.word, difference, words, vector.word, tuple(inner[w] for w in words))


def _products(node: GallinaNode) -> Iterator[tuple[GallinaNode, GallinaNode]]:
    if node.kind == "call" and node.parts[0].word == "inner":
        yield node.parts[1], node.parts[2]
    for part in node.parts:
        yield from _products(part)


def flat(values: Values) -> bool:
    """Whether all spaces are of one dimension at most: there a basis proves bounds too."""
    return all(len(v) <= 1 for name in ("X", "V", "W", "W_prime") for v in values.get(name, ()) if isinstance(v, tuple))
