"""A small change of one function's syntax tree, and what its file has that may be meant instead."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

from spec.blocks.quadratic import QuadraticArrays
from verify.conformance.trace.source_sites import SourceText
from verify.subjects.protocol import GIVEN

Function = ast.FunctionDef
Write = tuple[Any, str | int, Any]
COMPUTED: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip
"""Operators that are taken for each other."""


SIBLINGS = (
    frozenset(block.name for block in fields(QuadraticArrays)), frozenset(GIVEN), frozenset({"sigma_f", "sigma_g"}),
)  # fmt: skip
"""Names that are read from one object: where one is, each of the others may be meant."""


Shown = Callable[[], tuple[str, str]]


@dataclass(frozen=True)
class SourceEdit:
    """One change of a function.

    Args:
        function: The function.
        line: Where the change is.
        shown: Makes what stands there, and what would stand there or should become of it.
        cost: The smaller the likelier.
        writes: What is set: the list or node, its field, and the value; a list's whole content where no field is named.
        before: What stands there, for each of them.
        around: Makes line and text of all that is assigned or returned there, where it is within such a thing.
    """

    function: Function
    line: int
    shown: Shown
    cost: float
    writes: tuple[Write, ...]
    before: tuple[Any, ...]
    around: Callable[[], tuple[int, str]] = lambda: (0, "")

    @property
    def text(self) -> str:
        """What stands there."""
        return self.shown()[0]

    @property
    def instead(self) -> str:
        """What would stand there, or what should become of it."""
        return self.shown()[1]

    @contextmanager
    def made(self) -> Iterator[None]:
        """The tree with it, while that lasts; a ``ValueError`` where another change left something else there."""
        if not all(_is_there(write, value) for write, value in zip(self.writes, self.before, strict=True)):
            raise ValueError("something else stands there")
        for at, key, value in self.writes:
            _set(at, key, value)
        try:
            yield
        finally:
            for (at, key, _), value in zip(reversed(self.writes), reversed(self.before), strict=True):
                _set(at, key, value)


def source_edit(function: Function, line: int, shown: Shown, cost: float, *writes: Write) -> SourceEdit:
    """An edit of the tree as it is now."""
    return SourceEdit(function, line, shown, cost, writes, tuple(_get(at, key) for at, key, _ in writes))


def text_with(node: ast.AST, write: Write) -> str:
    """A node as it would be written with a change."""
    at, key, value = write
    before = _get(at, key)
    _set(at, key, value)
    try:
        return ast.unparse(node)
    finally:
        _set(at, key, before)


def _is_there(write: Write, value: Any) -> bool:
    at, key, _ = write
    if isinstance(key, int) and key >= len(at):
        return False
    now = _get(at, key)
    if not isinstance(value, list):
        return now is value
    return len(now) == len(value) and all(a is b for a, b in zip(now, value, strict=True))


def _get(at: Any, key: str | int) -> Any:
    if key == "":
        return [*at]
    return at[key] if isinstance(key, int) else getattr(at, key)


def _set(at: Any, key: str | int, value: Any) -> None:
    if key == "":
        at[:] = value
    elif isinstance(key, int):
        at[key] = value
    else:
        setattr(at, key, value)


@dataclass(frozen=True)
class Written:
    """What a file has that may be meant: names alike in a function, attributes of an object, other texts.

    Args:
        source: The file's text.
        names: What the function's names are.
        numeric: Those that hold numbers, or arrays of them.
        alike: Of one of them, the others that hold the same kind of thing where it runs.
        attributes: By an object as written, what is read of it.
    """

    source: SourceText
    names: Sequence[str]
    numeric: Sequence[str]
    alike: Callable[[str], Sequence[str]]
    attributes: Mapping[str, Sequence[str]]

    def text(self, node: ast.AST) -> str:
        """A node as written, on one line."""
        return self.source.of(node) or ast.unparse(node)


def attributes_of(tree: ast.AST) -> dict[str, list[str]]:
    """By an object as written, what is read of it in a file, and not called: a method is no value."""
    attributes: dict[str, dict[str, None]] = {}
    methods = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and id(node) not in methods:
            attributes.setdefault(ast.unparse(node.value), {})[node.attr] = None
    for names in attributes.values():
        for siblings in SIBLINGS:
            if siblings & names.keys():
                names.update(dict.fromkeys(sorted(siblings)))
    return {base: [*names] for base, names in attributes.items()}
