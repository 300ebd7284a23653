"""Statements left out, exchanged, or moved into a loop and out of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial

from verify.conformance.trace.patches.source_edits import COMPUTED, Function, SourceEdit, Write, Written, source_edit

JUMPS = (ast.Return, ast.Continue, ast.Break, ast.Raise)
LOOPS = (ast.For, ast.While)


def statement_edits(function: Function, written: Written) -> Iterator[SourceEdit]:
    """Changes of a function's statements."""
    for body in _bodies(function):
        yield from _of_statements(function, body, written)


def _bodies(function: Function) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                yield body


def _of_statements(function: Function, body: list[ast.stmt], written: Written) -> Iterator[SourceEdit]:
    """Statements left out, exchanged with the next, or moved into a loop or condition and out of it."""

    def shown(node: ast.stmt, instead: str | ast.stmt) -> tuple[str, str]:
        return _header(node) or written.text(node), instead if isinstance(instead, str) else f"`{ast.unparse(instead)}`"

    def edit(node: ast.stmt, instead: str | ast.stmt, cost: float, *writes: Write) -> SourceEdit:
        return source_edit(function, node.lineno, partial(shown, node, instead), cost, *writes)

    for i, node in enumerate(body):
        rest, after = body[:i], body[i + 1 :]
        if isinstance(node, ast.Break | ast.Continue):
            other = ast.Continue() if isinstance(node, ast.Break) else ast.Break()
            yield edit(node, other, 1.0, (body, i, other))
            yield edit(node, "left out", 1.2, (body, i, ast.Pass()))
            continue
        if isinstance(node, ast.Return | ast.Pass | ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef):
            continue
        leaves = isinstance(node, ast.If) and isinstance(node.body[-1], JUMPS) and not node.orelse
        out = "left out, with its other branches" if isinstance(node, ast.If) and node.orelse else "left out"
        yield edit(node, out, 1.1 if leaves else 1.5, (body, i, ast.Pass()))
        if isinstance(node, ast.If):
            yield edit(node, "done always", 1.3, (body, "", [*rest, *node.body, *after]))
        if isinstance(node, ast.AugAssign):
            yield from _of_increment(edit, body, i, node)
        elif isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Name | ast.Subscript):
            added = ast.AugAssign(deepcopy(target), ast.Add(), node.value)
            yield edit(node, added, 1.4, (body, i, added))
        if after and not isinstance(after[0], JUMPS):
            header, last = _header(after[0]), after[0].end_lineno
            where = f"after all of `{header}`" if header else f"after line {last}"
            yield edit(node, where, 1.15, (body, "", [*rest, after[0], node, *after[1:]]))
        if isinstance(node, LOOPS):
            yield from _of_loop(edit, body, i, node)


def _header(node: ast.stmt) -> str:
    """The first line of what has statements within; empty of anything else."""
    if isinstance(node, ast.If | ast.While):
        return f"{'if' if isinstance(node, ast.If) else 'while'} {ast.unparse(node.test)}:"
    if isinstance(node, ast.For):
        return f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}:"
    return ""


def _of_increment(
    edit: Callable[..., SourceEdit], body: list[ast.stmt], i: int, node: ast.AugAssign
) -> Iterator[SourceEdit]:
    plain = ast.Assign([node.target], node.value, lineno=node.lineno)
    yield edit(node, plain, 1.3, (body, i, plain))
    other = COMPUTED.get(type(node.op))
    if other is not None:
        changed = ast.AugAssign(node.target, other(), node.value)
        yield edit(node, changed, 1.2, (body, i, changed))
    if isinstance(node.target, ast.Name):
        # What is changed in place is changed for all who hold it.
        own = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        fresh = ast.Assign([node.target], own, lineno=node.lineno)
        yield edit(node, fresh, 1.3, (body, i, fresh))


def _of_loop(
    edit: Callable[..., SourceEdit], body: list[ast.stmt], i: int, node: ast.For | ast.While
) -> Iterator[SourceEdit]:
    """What stands beside a loop moved into it, what begins or ends its round moved out."""
    inside, rest, after = node.body, body[:i], body[i + 1 :]
    loop = f"the loop of line {node.lineno}"
    if rest and not isinstance(rest[-1], JUMPS):
        writes = (body, "", [*rest[:-1], node, *after]), (inside, "", [rest[-1], *inside])
        yield edit(rest[-1], f"within {loop}, first", 1.25, *writes)
    if after and not isinstance(after[0], JUMPS):
        writes = (body, "", [*rest, node, *after[1:]]), (inside, "", [*inside, after[0]])
        yield edit(after[0], f"within {loop}, last", 1.25, *writes)
    if len(inside) > 1:
        writes = (body, "", [*rest, node, inside[-1], *after]), (inside, "", inside[:-1])
        yield edit(inside[-1], f"after {loop}", 1.25, *writes)
        writes = (body, "", [*rest, inside[0], node, *after]), (inside, "", inside[1:])
        yield edit(inside[0], f"before {loop}", 1.3, *writes)
