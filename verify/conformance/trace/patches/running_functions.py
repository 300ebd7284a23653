"""Which of a user's functions run for a question, on which lines, and what their names hold; and how one is changed."""

from __future__ import annotations

import ast
import gc
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import decode_source
from itertools import chain
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

from verify.conformance.trace.patches.expression_edits import expression_edits
from verify.conformance.trace.patches.source_edits import Function, SourceEdit, Written, attributes_of
from verify.conformance.trace.patches.statement_edits import statement_edits
from verify.conformance.trace.source_sites import SourceText


@dataclass
class RunLines:
    """Lines that ran, by file, the kinds of what names held, by file and function, and how long it took."""

    lines: dict[str, set[int]] = field(default_factory=dict)
    held: dict[tuple[str, str], dict[str, set[Any]]] = field(default_factory=dict)
    seconds: float = 0.0

    @classmethod
    def joined(cls, several: Sequence[RunLines]) -> RunLines:
        """All of several runs."""
        whole = cls(seconds=sum(one.seconds for one in several))
        for one in several:
            for path, lines in one.lines.items():
                whole.lines.setdefault(path, set()).update(lines)
            for key, kinds in one.held.items():
                for name, kind in kinds.items():
                    whole.held.setdefault(key, {}).setdefault(name, set()).update(kind)
        return whole

    @contextmanager
    def watching(self, files: set[str]) -> Iterator[None]:
        """Of every call in these files while it lasts."""

        def local(frame: FrameType, event: str, _argument: Any) -> Any:
            if event == "line":
                self.lines.setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno)
            elif event == "return":
                kinds = self.held.setdefault((frame.f_code.co_filename, frame.f_code.co_qualname), {})
                for name, value in frame.f_locals.items():
                    kinds.setdefault(name, set()).add(_kind(value))
            return local

        def called(frame: FrameType, _event: str, _argument: Any) -> Any:
            return local if frame.f_code.co_filename in files else None

        before, started = sys.gettrace(), time.monotonic()
        sys.settrace(called)
        try:
            yield
        finally:
            sys.settrace(before)
            self.seconds = time.monotonic() - started


def _kind(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.kind, value.shape
    if isinstance(value, float | int) and not isinstance(value, bool):
        return "number"
    return (type(value).__name__, len(value)) if isinstance(value, list | tuple) else type(value).__name__


def _is_numeric(kind: Any) -> bool:
    return bool(kind == "number" or (isinstance(kind, tuple) and kind[0] == "f"))


CodeKey = tuple[str, int]
Codes = dict[CodeKey, CodeType]
"""Code by qualified name and first line: several functions may have one name."""


@dataclass(frozen=True)
class RunningFunction:
    """A function of the user's: its tree, what encloses it, and the objects that run it."""

    path: str
    name: str
    node: Function
    within: tuple[ast.ClassDef, ...]
    is_postponed: bool
    objects: dict[CodeKey, list[FunctionType]]
    written: Written

    def edits(self, lines: set[int]) -> Iterator[SourceEdit]:
        """Changes on lines that ran."""
        for edit in chain(expression_edits(self.node, self.written), statement_edits(self.node, self.written)):
            if edit.line in lines:
                yield edit

    def calls(self, name: str) -> bool:
        """Whether something of this name is called in it."""
        called = (node.func for node in ast.walk(self.node) if isinstance(node, ast.Call))
        return any(name == (one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "")) for one in called)

    @contextmanager
    def changed(self, edit: SourceEdit) -> Iterator[None]:
        """All its objects run the changed source while it lasts. Raises where that is no source."""
        with edit.made(), swapped(self.objects, self.compiled()):
            yield

    def compiled(self) -> Codes:
        """The code of it and of what is defined in it, as its tree is now; of two on one line none."""
        decorators, self.node.decorator_list = self.node.decorator_list, []
        body: list[ast.stmt] = [self.node]
        for around in reversed(self.within):
            body = [ast.ClassDef(around.name, [], [], body, [])]
        if self.is_postponed:
            body.insert(0, ast.ImportFrom("__future__", [ast.alias("annotations")], 0))
        try:
            tree = ast.fix_missing_locations(ast.Module(body, []))
            whole = compile(tree, self.path, "exec", dont_inherit=True)
        finally:
            self.node.decorator_list = decorators
        codes: dict[CodeKey, list[CodeType]] = {}
        for code in _within(whole):
            if code.co_qualname == self.name and decorators:
                codes.setdefault((self.name, min(one.lineno for one in decorators)), []).append(code)
            elif code.co_qualname == self.name or code.co_qualname.startswith(f"{self.name}."):
                codes.setdefault(key_of(code), []).append(code)
        return {key: several[0] for key, several in codes.items() if len(several) == 1}


def key_of(code: CodeType) -> CodeKey:
    """What tells a function's code from others of its file."""
    return code.co_qualname, code.co_firstlineno


def functions_in(files: Collection[str]) -> dict[str, dict[CodeKey, list[FunctionType]]]:
    """The functions that there are of these files, each with its objects."""
    objects: dict[str, dict[CodeKey, list[FunctionType]]] = {}
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename in files:
            objects.setdefault(one.__code__.co_filename, {}).setdefault(key_of(one.__code__), []).append(one)
    return objects


@contextmanager
def swapped(objects: Mapping[CodeKey, Sequence[FunctionType]], codes: Codes) -> Iterator[None]:
    """Functions run other code while it lasts."""
    before: list[tuple[FunctionType, CodeType]] = []
    for key, code in codes.items():
        for running in objects.get(key, ()):
            if running.__code__.co_freevars == code.co_freevars:
                before.append((running, running.__code__))
                running.__code__ = code
    try:
        yield
    finally:
        for running, code in before:
            running.__code__ = code


def _within(code: CodeType) -> Iterator[CodeType]:
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield part
            yield from _within(part)


def running_functions(files: set[str], ran: RunLines) -> list[RunningFunction]:
    """The functions of these files of which a line ran, with the objects that there are of each."""
    objects = functions_in(files)
    functions: list[RunningFunction] = []
    for path in sorted(files & ran.lines.keys()):
        data = Path(path).read_bytes()
        tree, source = ast.parse(data), SourceText(decode_source(data))
        attributes = attributes_of(tree)
        is_postponed = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
        for within, node in _functions(tree, ()):
            name = ".".join([*(one.name for one in within), node.name])
            if ran.lines[path] & {*range(node.lineno, (node.end_lineno or node.lineno) + 1)}:
                written = _written(source, ran, (path, name), attributes)
                functions.append(
                    RunningFunction(path, name, node, within, is_postponed, objects.get(path, {}), written)
                )
    return functions


def _functions(
    tree: ast.Module | ast.ClassDef, within: tuple[ast.ClassDef, ...]
) -> Iterator[tuple[tuple[ast.ClassDef, ...], Function]]:
    for node in _statements(tree.body):
        if isinstance(node, ast.FunctionDef):
            yield within, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, (*within, node))


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, and those within conditions and the like."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from _statements(one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt))
            yield from _statements(one for handler in getattr(node, "handlers", ()) for one in handler.body)


def _written(source: SourceText, ran: RunLines, function: tuple[str, str], attributes: dict[str, list[str]]) -> Written:
    held: dict[str, set[Any]] = {}
    path, name = function
    for (file, one), kinds in ran.held.items():
        if file == path and (one == name or one.startswith(f"{name}.")):
            for local, kind in kinds.items():
                held.setdefault(local, set()).update(kind)

    def alike(local: str) -> list[str]:
        return [other for other in held if other != local and held[other] & held.get(local, set())]

    numeric = [local for local, kinds in held.items() if all(map(_is_numeric, kinds))]
    return Written(source, [*held], numeric, alike, attributes)
