"""One walk over a formula's tree: its value at a place, over whatever arithmetic the place is in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from spec.formulas import Node, load_quantities, names_within
from spec.formulas.tree import exponent_of
from verify.truth.propositions.arithmetic import Arithmetic, NoValueError, negated

Values = Mapping[str, Any]


@lru_cache(maxsize=256)
def _rests_on(name: str) -> frozenset[str]:
    """What a defined quantity's own formulas name, through all definitions; its arguments are no part of that."""
    cases = load_quantities()[name].cases
    return frozenset().union(*(names_within(node) for _, node in cases))


class _Layered(Mapping[str, Any]):
    """Values over others, which are read only where they are asked for."""

    def __init__(self, above: Values, below: Values) -> None:
        self._above, self._below = above, below

    def __getitem__(self, name: str) -> Any:
        return self._above[name] if name in self._above else self._below[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._below), **dict.fromkeys(self._above)})

    def __len__(self) -> int:
        return len({*self._above, *self._below})


@lru_cache(maxsize=256)
def _choices_of(name: str) -> tuple[str, ...]:
    """The choices that reach a defined quantity: those that it, or one it rests on, is defined by."""
    table = load_quantities()
    return tuple(sorted({choice for one in {name} | _rests_on(name) if (choice := table[one].choice)}))


@dataclass(frozen=True, eq=False)
class Known:
    """Values of defined quantities, kept for all places that differ in nothing that reaches them.

    Args:
        entries: By quantity, the choices that reach it and the identities of its arguments: these, and the value.
        rooted: Identities of what stays as long as this: what is given, and the values kept. Nothing else is a key.
    """

    entries: dict[tuple[Any, ...], tuple[tuple[Any, ...], Any]] = field(default_factory=dict)
    rooted: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Place:
    """Where a formula is asked.

    Args:
        arithmetic: Over what.
        given: What is given there, by the quantity's name.
        rows: The sets of rows.
        choices: The value of every choice.
        known: Values of defined quantities, filled as they are asked for.
        base: The place that this one is, but for some values given.
        changed: The names of these.
        passing: Values of defined quantities at arguments that do not stay.
    """

    arithmetic: Arithmetic
    given: Values
    rows: Mapping[str, Sequence[int]]
    choices: Mapping[str, str]
    known: Known = field(default_factory=Known, repr=False, compare=False)
    base: Place | None = field(default=None, repr=False, compare=False)
    changed: frozenset[str] = frozenset()
    passing: dict[tuple[Any, ...], tuple[tuple[Any, ...], Any]] = field(default_factory=dict, repr=False, compare=False)

    def with_given(self, known: Known | None = None, /, **values: Any) -> Place:
        """The same place with some values given otherwise; what hangs on none of them is as it was found.

        ``known``: what is known of the others, where the values are these very ones.
        """
        layered, known = _Layered(values, self.given), Known() if known is None else known
        return Place(self.arithmetic, layered, self.rows, self.choices, known, self, frozenset(values))

    def value_given(self, name: str) -> Any:
        """What is given by a name.

        Raises:
            KeyError: If nothing is.
        """
        place = self
        while place.base is not None and name not in place.changed:
            place = place.base
        value = place.given[name]
        place.known.rooted.add(id(value))
        return value

    def stays(self, values: Sequence[Any]) -> bool:
        """Whether each of these stays as long as this place: here, or at one that it is based on."""
        return all(id(value) in self.known.rooted for value in values) or (
            bool(values) and self.base is not None and all(self._roots(value) for value in values)
        )

    def _roots(self, value: Any) -> bool:
        return id(value) in self.known.rooted or (self.base is not None and self.base._roots(value))

    def home_of(self, name: str, values: Sequence[Any]) -> Known | None:
        """Where a defined quantity's value at some arguments is kept; nowhere if an argument does not stay."""
        if not self.stays(values):
            return None
        place = self
        while place.base is not None and _rests_on(name).isdisjoint(place.changed) and place.base.stays(values):
            place = place.base
        return place.known


def value_of(node: Node, place: Place, arguments: Values | None = None) -> Any:
    """The value of a formula, or part of one, at a place.

    Raises:
        NoValueError: If it has none there in this arithmetic; one line says why.
    """
    return _Walk(place, arguments or {}).at(node)


@dataclass(frozen=True)
class _Walk:
    place: Place
    arguments: Values

    def at(self, node: Node) -> Any:
        a = self.place.arithmetic
        match node.kind:
            case "number":
                return a.number(Fraction(node.name))
            case "argument":
                return self.arguments[node.name]
            case "quantity":
                return self._quantity(node)
            case "observed":
                return self._given(node.name)
            case "rows":
                return a.number(Fraction(len(self._rows(node.name))))
            case "negative":
                return negated(a, self.at(node.args[0]), node.shape)
            case "transpose":
                return a.transpose(self.at(node.args[0]))
            case "select":
                return a.select(self.at(node.args[0]), self._rows(node.name))
            case "binary":
                return self._binary(node)
            case "relation":
                return self._relation(node)
            case "logic":
                return _joined(node.name, [self.at(part) for part in node.args])
            case "function":
                return self._function(node)

    def _given(self, name: str) -> Any:
        try:
            return self.place.value_given(name)
        except KeyError:
            quantity = load_quantities().get(name)
            raise NoValueError(f"{quantity.text if quantity else name} is not known here") from None

    def _rows(self, name: str) -> Sequence[int]:
        if name not in self.place.rows:
            raise NoValueError("which rows are active has no answer here")
        return self.place.rows[name]

    def _quantity(self, node: Node) -> Any:
        quantity, place = load_quantities()[node.name], self.place
        if not quantity.cases:
            return self._given(node.name)
        values = tuple(self.at(part) for part in node.args)
        key = (node.name, *(place.choices.get(field) for field in _choices_of(node.name)), *map(id, values))
        known = place.home_of(node.name, values)
        memory = place.passing if known is None else known.entries
        if key not in memory:
            definition = quantity.definition(dict(place.choices))
            walk = _Walk(place, dict(zip(quantity.local, values, strict=True)))
            # The arguments are kept beside the value: their identities are in the key.
            memory[key] = values, walk.at(definition)
            if known is not None:
                known.rooted.add(id(memory[key][1]))
        return memory[key][1]

    def _binary(self, node: Node) -> Any:
        a, (left, right) = self.place.arithmetic, node.args
        if node.name == "^":
            return a.power(self.at(left), exponent_of(right))
        u, v = self.at(left), self.at(right)
        if node.name in "+-":
            v = v if node.name == "+" else negated(a, v, right.shape)
            return a.add(u, v) if node.shape else a.plus(u, v)
        if node.name == "@":
            product = a.matmul(a.transpose(u) if len(left.shape) == 1 else u, v)
            if node.shape:
                return a.transpose(product) if len(left.shape) == 1 and len(right.shape) == 2 else product
            return a.entries(product)[0]
        if node.name == "/":
            inverse = a.power(v, Fraction(-1))
            return a.scale(inverse, u) if left.shape else a.times(u, inverse)
        if left.shape and right.shape:
            return a.entrywise(u, v)
        if not node.shape:
            return a.times(u, v)
        return a.scale(u, v) if right.shape else a.scale(v, u)

    def _relation(self, node: Node) -> Any:
        a, (left, right) = self.place.arithmetic, node.args
        if (order := node.order) is not None:
            return a.order(order.name, self.at(left), self.at(order.args[0]))
        u, v = self.at(left), self.at(right)
        if not left.shape:
            return a.compare(node.name, u, v)
        if not right.shape:
            return [a.compare(node.name, entry, v) for entry in a.entries(u)]
        pairs = zip(a.entries(u), a.entries(v), strict=True)
        return _joined("and", [a.compare(node.name, s, t) for s, t in pairs])

    def _function(self, node: Node) -> Any:
        if node.name == "sup":
            return self._farthest(node)
        if node.name == "count":
            return self.at(node.args[0])
        values = [self.at(part) for part in node.args]
        if node.name == "all":
            return _joined("and", values[0])
        return self.place.arithmetic.function(node.name, values, [part.shape for part in node.args])

    def _farthest(self, node: Node) -> Any:
        """The largest norm over an error of length at most 1, of what is affine in that error."""
        inner, over = node.args
        if not (inner.kind == "function" and inner.name == "norm" and len(inner.args[0].shape) == 1):
            raise NoValueError("sup must be of the norm of a vector")
        if over.kind != "quantity" or over.args or load_quantities()[over.name].cases:
            raise NoValueError("sup must be over an error that a place gives")
        place, a = self.place, self.place.arithmetic
        size = len(a.entries(place.given[over.name]))

        still = place.with_given(**{over.name: a.vector([0] * size)})

        def moved(error: list[int]) -> Any:
            there = still.with_given(**{over.name: a.vector(error)}) if any(error) else still
            return _Walk(there, self.arguments).at(inner.args[0])

        def minus(value: Any) -> Any:
            return negated(a, value, ("",))

        fixed = moved([0] * size)
        columns = [a.add(moved([int(i == j) for i in range(size)]), minus(fixed)) for j in range(size)]
        total = fixed
        for column in columns:
            total = a.add(total, a.add(column, column))
        if not columns:
            return a.function("norm", [fixed], [("",)])
        if not a.is_zero(a.add(moved([2] * size), minus(total))):
            raise NoValueError(f"what sup is of is not affine in {load_quantities()[over.name].text} here")
        matrix = columns[0]
        for column in columns[1:]:
            matrix = a.beside(matrix, column)
        return a.farthest(fixed, matrix)


def _joined(name: str, parts: Sequence[bool | None]) -> bool | None:
    """All, or some, of several answers; not known where one that would decide is not."""
    deciding = name != "and"
    if deciding in parts:
        return deciding
    return None if None in parts else not deciding
