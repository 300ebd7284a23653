"""The code of both algorithms, line for line: read from the modules that run, never copied.

A comment ``# Line 4.`` or ``# Lines 9 to 12.`` begins what belongs to these lines of the algorithm, up to the next such
comment or the end of its function. What stands in a function of its own is named in :data:`WHOLE`.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from textwrap import dedent
from types import ModuleType

from f2csa_ref import algorithm_1, algorithm_2

_MARK = re.compile(r"\s*# Lines? (\d+)(?: to (\d+))?\.")
MODULES: Mapping[int, ModuleType] = {1: algorithm_1, 2: algorithm_2}
WHOLE: Mapping[int, Mapping[int, tuple[str, str]]] = {
    1: {1: ("oracle", "head")},
    2: {
        1: ("outer_loop", "head"), 2: ("OuterState.start", "body"), 3: ("outer_loop", "loop"),
        4: ("segment_points", "body"), 13: ("finished", "body"),
    },
}  # fmt: skip
"""By algorithm and line: the function that holds it, and whether it is its head, its body or its loop."""


@dataclass(frozen=True)
class CodeOfLine:
    """The code of one line of an algorithm, or of several: where it stands, and its text without the indentation."""

    lines: tuple[int, int]
    file: str
    first: int
    text: str

    @property
    def last(self) -> int:
        """Its last line in the file."""
        return self.first + self.text.count("\n")

    @property
    def count(self) -> int:
        """How many lines of the algorithm it serves."""
        return self.lines[1] - self.lines[0] + 1


@lru_cache(maxsize=2)
def code_of(algorithm: int) -> Mapping[int, CodeOfLine]:
    """The code of an algorithm by the first of the lines that it serves."""
    module = MODULES[algorithm]
    source = inspect.getsource(module)
    text, tree = source.splitlines(), ast.parse(source)
    functions = dict(_functions(tree))
    cuts = [
        _cut(module, text, (line, line), _stretch(functions[name], part)) for line, (name, part) in
        WHOLE[algorithm].items()
    ]  # fmt: skip
    cuts += [_cut(module, text, lines, stretch) for lines, stretch in _marked(text, functions.values())]
    return {one.lines[0]: one for one in sorted(cuts, key=lambda one: one.lines)}


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{f.name}", f) for f in node.body if isinstance(f, ast.FunctionDef))


def _stretch(function: ast.FunctionDef, part: str) -> tuple[int, int]:
    """First and last line of a function's head, its body without the docstring, or its loop up to the first step."""
    documented = ast.get_docstring(function) is not None
    if part == "head":
        return function.lineno, function.body[0].lineno - 1
    if part == "loop":
        outer = next(node for node in function.body if isinstance(node, ast.For))
        inner = outer.body[0]
        return outer.lineno, (inner.body[0] if isinstance(inner, ast.For) else inner).end_lineno or outer.lineno
    body = function.body[documented:]
    return body[0].lineno, body[-1].end_lineno or body[-1].lineno


def _marked(
    text: Sequence[str], functions: Iterable[ast.FunctionDef]
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """The lines of the algorithm that each comment names, and the stretch of the file that follows it."""
    for function in functions:
        end = function.end_lineno or function.lineno
        marks = [(at, match) for at in range(function.lineno, end + 1) if (match := _MARK.match(text[at - 1]))]
        for k, (at, match) in enumerate(marks):
            first, last = int(match[1]), int(match[2] or match[1])
            yield (first, last), (at, marks[k + 1][0] - 1 if k + 1 < len(marks) else end)


def _cut(module: ModuleType, text: Sequence[str], lines: tuple[int, int], stretch: tuple[int, int]) -> CodeOfLine:
    shown = dedent("\n".join(text[stretch[0] - 1 : stretch[1]])).rstrip()
    return CodeOfLine(lines, module.__name__.replace(".", "/") + ".py", stretch[0], shown)
