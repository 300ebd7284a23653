"""Statements as the proof kernel prints them, read into trees.

The part of Gallina that statements of real algebra use: quantifiers, implications, relations, arithmetic, application,
``fun`` and ``let``. A tree is a :class:`GallinaNode`; what stands in it is decided by its ``kind``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from spec import InvalidInputError

_TOKEN = re.compile(r"\s*(<->|->|=>|:=|/\\|\\/|<=|>=|<>|%nat|[A-Za-z_][\w.']*|\d+|[-+*/()=<>,:])")
_RELATIONS = {"<=", "<", "=", "<>", ">=", ">"}
Binder: TypeAlias = tuple[str, str]
"""A variable and its type."""


@dataclass(frozen=True)
class GallinaNode:
    """One node: ``word`` is a name, a numeral or an operator, ``binders`` those of a quantifier or a function."""

    kind: str
    word: str = ""
    parts: tuple[GallinaNode, ...] = ()
    binders: tuple[Binder, ...] = ()


def parse(text: str) -> GallinaNode:
    """Read a statement; refused where it is no such text."""
    reader = _Reader(_tokens(text))
    tree = reader.expression()
    if reader.rest:
        raise InvalidInputError("statement", "must end where its sentence ends", " ".join(reader.rest[:6]))
    return tree


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise InvalidInputError("statement", "must be made of known signs", text[at : at + 20])
        tokens.append(match[1])
        at = match.end()
    return tokens


class _Reader:
    """Recursive descent, loosest sign first."""

    def __init__(self, rest: list[str]) -> None:
        self.rest = rest

    def next(self) -> str:
        return self.rest[0] if self.rest else ""

    def take(self, expected: str = "") -> str:
        if not self.rest or (expected and self.rest[0] != expected):
            raise InvalidInputError("statement", f"must have {expected or 'more'} here", " ".join(self.rest[:6]))
        return self.rest.pop(0)

    def expression(self) -> GallinaNode:
        word = self.next()
        if word in ("forall", "exists", "fun"):
            self.take()
            binders = self.binders()
            self.take("=>" if word == "fun" else ",")
            return GallinaNode(word, parts=(self.expression(),), binders=binders)
        if word == "let":
            self.take()
            name = plain(self.take())
            self.take(":=")
            value = self.expression()
            self.take("in")
            return GallinaNode("let", name, (value, self.expression()))
        left = self.equivalence()
        if self.next() == "->":
            self.take()
            return GallinaNode("implies", parts=(left, self.expression()))
        return left

    def binders(self) -> tuple[Binder, ...]:
        binders: list[Binder] = []
        while self.next() not in (",", "=>"):
            grouped = self.next() == "("
            if grouped:
                self.take()
            names = []
            while self.next() != ":":
                names.append(self.take())
            self.take()
            kind: list[str] = []
            depth = 0
            while depth or self.next() not in ((")",) if grouped else (",", "=>")):
                kind.append(self.take())
                depth += {"(": 1, ")": -1}.get(kind[-1], 0)
            if grouped:
                self.take(")")
            binders += [(plain(name), " ".join(word.rsplit(".", maxsplit=1)[-1] for word in kind)) for name in names]
        return tuple(binders)

    def equivalence(self) -> GallinaNode:
        left = self.disjunction()
        if self.next() != "<->":
            return left
        self.take()
        return GallinaNode("iff", parts=(left, self.disjunction()))

    def disjunction(self) -> GallinaNode:
        left = self.conjunction()
        if self.next() != "\\/":
            return left
        self.take()
        return GallinaNode("or", parts=(left, self.disjunction()))

    def conjunction(self) -> GallinaNode:
        left = self.relation()
        if self.next() != "/\\":
            return left
        self.take()
        return GallinaNode("and", parts=(left, self.conjunction()))

    def relation(self) -> GallinaNode:
        sides, signs = [self.sum()], []
        while self.next() in _RELATIONS:
            signs.append(self.take())
            sides.append(self.sum())
        if not signs:
            return sides[0]
        tree = GallinaNode("relation", signs[-1], (sides[-2], sides[-1]))
        for k in range(len(signs) - 2, -1, -1):
            tree = GallinaNode("and", parts=(GallinaNode("relation", signs[k], (sides[k], sides[k + 1])), tree))
        return tree

    def sum(self) -> GallinaNode:
        left = self.product()
        while self.next() in ("+", "-"):
            left = GallinaNode("binary", self.take(), (left, self.product()))
        return left

    def product(self) -> GallinaNode:
        left = self.unary()
        while self.next() in ("*", "/"):
            left = GallinaNode("binary", self.take(), (left, self.unary()))
        return left

    def unary(self) -> GallinaNode:
        if self.next() in ("-", "/"):
            return GallinaNode("unary", self.take(), (self.unary(),))
        head = self.atom()
        arguments = []
        while re.match(r"[\w(]", self.next()) and self.next() not in ("in", "forall", "exists", "fun", "let"):
            arguments.append(self.atom())
        return GallinaNode("call", parts=(head, *arguments)) if arguments else head

    def atom(self) -> GallinaNode:
        word = self.take()
        if word == "(":
            tree = self.expression()
            self.take(")")
        elif word.isdigit():
            tree = GallinaNode("numeral", word)
        else:
            tree = GallinaNode("name", plain(word))
        if self.next() == "%nat":
            self.take()
        return tree


def plain(name: str) -> str:
    """A name without its module, its primes spelt out."""
    return name.rsplit(".", maxsplit=1)[-1].replace("'", "_prime")


def names(node: GallinaNode) -> list[str]:
    """Every name in a tree, as often as it stands there."""
    own = [node.word] if node.kind == "name" else []
    return own + [name for part in node.parts for name in names(part)]
