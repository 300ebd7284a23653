"""What a statement says at a place: its premises decided, both sides of its conclusion computed.

A place gives every variable of the statement a value. Numbers are rationals, or balls where a square root is none;
vectors are tuples, linear maps functions. An inner quantifier runs over samples of its type: a basis and more, which
proves what is linear. What a theorem says there is, the place has to show: it names the witness.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import product
from types import CodeType
from typing import Any, TypeAlias

from flint import arb, ctx

from spec import InvalidInputError
from verify.truth.theorems.gallina import GallinaNode, names
from verify.truth.theorems.library import LIBRARY, same

Values: TypeAlias = dict[str, Any]
_SAMPLED = ("V", "W", "X", "W_prime", "mode", "reals", "naturals", "outcomes", "E", "solvable")
MOST_DECIDED = 400
PRECISION = 160
"""Bits of the balls; two sides closer than they tell apart count as equal."""


@dataclass(frozen=True)
class Leaf:
    """One relation of a conclusion, its sides computed."""

    sign: str
    left: Any
    right: Any
    plain: bool = False
    """Whether a side is a numeral: a range, not the theorem's bound."""

    @property
    def holds(self) -> bool:
        """Whether the relation holds; balls that overlap are equal."""
        return related(self.sign, self.left, self.right)

    @property
    def ratio(self) -> float | None:
        """Value over bound, both of an inequality, where the bound is positive."""
        if self.sign not in ("<=", "<") or isinstance(self.right, tuple) or not self.right > 0:
            return None
        return float(arb(self.left) / arb(self.right))


@dataclass(frozen=True)
class StatementOutcome:
    """What came of a statement at a place: ``missed`` are the premises that fail, counted from 0."""

    missed: tuple[int, ...] = ()
    leaves: tuple[Leaf, ...] = ()
    error: str = ""

    @property
    def true(self) -> bool:
        """Whether the conclusion, computed, holds."""
        return not self.error and bool(self.leaves) and all(leaf.holds for leaf in self.leaves)

    @property
    def ratio(self) -> float | None:
        """Value over bound of its last inequality, what comes before it being a witness's own."""
        return next((leaf.ratio for leaf in reversed(self.leaves) if not leaf.plain and leaf.ratio is not None), None)

    def ratio_of(self, leaf: int | None) -> float | None:
        """Value over bound of one relation of the conclusion; of the theorem's bound where none is named."""
        if leaf is None:
            return self.ratio
        return self.leaves[leaf].ratio if leaf < len(self.leaves) else None


@dataclass(frozen=True, eq=False)
class TheoremStatement:
    """A statement ready to be evaluated."""

    tree: GallinaNode
    definitions: Mapping[str, GallinaNode] = field(default_factory=dict)

    def at(self, values: Values, missed: tuple[int, ...] | None = None) -> StatementOutcome:
        """Evaluate every premise and the conclusion; the conclusion alone where the premises missed are known."""
        before, ctx.prec = ctx.prec, PRECISION
        try:
            known, count = self.known(values), _Count(missed)
            try:
                leaves = tuple(_walk(self._spine, known, count))
            except (ArithmeticError, LookupError, TypeError) as error:  # TypeError: a vector is no number to halve
                return StatementOutcome(tuple(sorted(count.missed)), error=type(error).__name__)
            return StatementOutcome(tuple(sorted(count.missed)), leaves)
        finally:
            ctx.prec = before

    def known(self, values: Values) -> Values:
        """Every word: the library's, the definitions, and the letters of a place."""
        return self._defined | values | {"given": frozenset(values)}

    @cached_property
    def _spine(self) -> _Step:
        return _Step.of(self.tree)

    @cached_property
    def _defined(self) -> Values:
        known = dict(LIBRARY)
        for name, tree in self.definitions.items():
            known[name] = eval(compiled(tree), known)
        return known


class _Count:
    """Premises met so far, and those that failed."""

    def __init__(self, missed: tuple[int, ...] | None) -> None:
        self.premises, self.decided = 0, missed is not None
        self.missed: set[int] = set(missed or ())

    def meet(self, premise: _Premise, known: Values) -> None:
        """Decide one premise; what cannot be computed does not hold."""
        if self.decided:
            return
        index, self.premises = self.premises, self.premises + 1
        if not premise.holds(known):
            self.missed.add(index)


class _Premise:
    """A premise with what was decided of it: its letters, themselves, and whether it holds for them."""

    def __init__(self, node: GallinaNode) -> None:
        self.code, self.names = compiled(node), (*dict.fromkeys(names(node)), *_SAMPLED)
        self.decided: dict[tuple[int, ...], tuple[bool, list[Any]]] = {}

    def holds(self, known: Values) -> bool:
        letters = [known.get(name) for name in self.names]
        key = tuple(map(id, letters))
        if key not in self.decided:
            if len(self.decided) > MOST_DECIDED:
                self.decided.clear()
            try:
                holds = bool(eval(self.code, known))
            except (ArithmeticError, LookupError):
                holds = False
            self.decided[key] = holds, letters  # kept, so that no other value takes its id
        return self.decided[key][0]


@lru_cache(maxsize=4096)
def _premise(node: GallinaNode) -> _Premise:
    return _Premise(node)


@dataclass(frozen=True)
class _Step:
    """A node of the conclusion's skeleton with the code of what it evaluates."""

    node: GallinaNode
    codes: tuple[CodeType, ...] = ()
    rest: tuple[_Step, ...] = ()
    premise: _Premise | None = None

    @classmethod
    def of(cls, node: GallinaNode) -> _Step:
        parts = node.parts
        match node.kind:
            case "relation":
                return cls(node, tuple(map(compiled, parts)))
            case "call" if parts[0].word == "derivable_pt_lim":
                quotient = GallinaNode("call", parts=(GallinaNode("name", "slope"), parts[1], parts[2]))
                return cls.of(GallinaNode("relation", "=", (quotient, parts[3])))
            case "implies":
                return cls(node, (), (cls.of(parts[1]),), _premise(parts[0]))
            case "let":
                return cls(node, (compiled(parts[0]),), (cls.of(parts[1]),))
            case "iff":
                return cls(node, tuple(map(compiled, parts)))
            case "forall" | "exists" | "and":
                return cls(node, rest=tuple(map(cls.of, parts)))
        return cls(node, (compiled(node),))


def _walk(step: _Step, known: Values, count: _Count) -> list[Leaf]:
    node = step.node
    match node.kind:
        case "relation":
            left, right = (eval(code, known) for code in step.codes)
            plain = any(part.kind == "numeral" for part in node.parts)
            return [Leaf(node.word, left, right, plain)]
        case "iff":
            left, right = (eval(code, known) for code in step.codes)
            return [Leaf("=", int(left), int(right))]
        case "implies":
            assert step.premise is not None
            count.meet(step.premise, known)
            return _walk(step.rest[0], known, count)
        case "let":
            return _walk(step.rest[0], known | {node.word: eval(step.codes[0], known)}, count)
        case "and":
            return [leaf for part in step.rest for leaf in _walk(part, known, count)]
        case "forall" | "exists":
            leaves, start = [], count.premises
            for values in _choices(node, known):
                count.premises = start
                leaves += _walk(step.rest[0], known | values, count)
            return leaves
    return [Leaf("=", int(bool(eval(step.codes[0], known))), 1)]


def _choices(node: GallinaNode, known: Values) -> Iterator[Values]:
    """What the variables are: as the place has them, shown by it (``witness``), or samples."""
    names = [name for name, _ in node.binders]
    if node.kind == "exists":
        shown = known["witness"](known)
        yield {name: shown[name] for name in names}
        return
    ranges = [[known[name]] if name in known["given"] else samples(kind, known) for name, kind in node.binders]
    for chosen in product(*ranges):
        yield dict(zip(names, chosen, strict=True))


def samples(kind: str, known: Values) -> list[Any]:
    """Samples of a type, as the place has them."""
    if kind == "space" or kind.endswith("expectation"):
        return [None]
    of = {"R": "reals", "nat": "naturals"}.get(kind) or ("outcomes" if "Omega" in kind else kind.split()[-1])
    of = "W" if "coords" in kind else of
    return list(known[of.replace("'", "_prime")])


def related(sign: str, left: Any, right: Any) -> bool:
    """Whether two values stand in a relation; equal is what balls cannot tell apart."""
    match sign:
        case "=":
            return same(left, right)
        case "<>":
            return not same(left, right)
        case "<=":
            return not left > right
        case "<":
            return bool(left < right)
        case ">=":
            return not left < right
        case ">":
            return bool(left > right)
    raise InvalidInputError("sign", "must be a relation", sign)


@lru_cache(maxsize=4096)
def compiled(node: GallinaNode) -> CodeType:
    """The code of an expression or a relation."""
    return compile(_source(node), "<statement>", "eval")


def _source(node: GallinaNode) -> str:
    parts = [_source(part) for part in node.parts]
    match node.kind:
        case "numeral":
            up, _, down = node.word.partition("/")
            return f"divided({up}, {down})" if down else up
        case "name":
            return node.word
        case "binary":
            return f"divided({parts[0]}, {parts[1]})" if node.word == "/" else f"({parts[0]} {node.word} {parts[1]})"
        case "unary":
            return f"divided(1, {parts[0]})" if node.word == "/" else f"(-{parts[0]})"
        case "call":
            return f"{parts[0]}({', '.join(parts[1:])})"
        case "fun":
            return f"(lambda {', '.join(name for name, _ in node.binders)}: {parts[0]})"
        case "let":
            return f"(lambda {node.word}: {parts[1]})({parts[0]})"
        case "relation":
            return f"related({node.word!r}, {parts[0]}, {parts[1]})"
        case "and":
            return f"({parts[0]} and {parts[1]})"
        case "or":
            return f"({parts[0]} or {parts[1]})"
        case "implies":
            return f"(not {parts[0]} or {parts[1]})"
        case "iff":
            return f"({parts[0]} == {parts[1]})"
        case "forall":
            names = ", ".join(name for name, _ in node.binders)
            ranges = "".join(f"samples({kind!r}, globals()), " for _, kind in node.binders)
            return f"every(lambda {names}: {parts[0]}, {ranges})"
        case "exists":
            return "solvable"  # a linear system, of which the place knows whether it can be
    raise InvalidInputError("statement", "must not quantify here", node.kind)


LIBRARY |= {"related": related, "samples": samples}
