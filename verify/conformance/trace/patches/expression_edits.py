"""What may stand in the place of an expression, and in that of a key."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from verify.conformance.trace.patches.source_edits import (
    COMPUTED,
    Function,
    SourceEdit,
    Write,
    Written,
    source_edit,
    text_with,
)

Change = tuple[ast.expr, float]
"""What may stand in an expression's place, and how unlikely that is."""
TWINS = (
    ("any", "all"), ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("fmin", "fmax"), ("sum", "mean"),
    ("sum", "cumsum"), ("zeros", "ones"), ("zeros_like", "ones_like"), ("append", "extend"), ("floor", "ceil"),
    ("sum", "prod"), ("dot", "outer"), ("hstack", "vstack"), ("repeat", "tile"), ("random", "standard_normal"),
    ("asarray", "sqrt"), ("array", "sqrt"), ("abs", "square"), ("copy", "sqrt"),
)  # fmt: skip
"""Functions that are taken for each other."""
COMPARED: Mapping[type[ast.cmpop], Sequence[tuple[type[ast.cmpop], float]]] = {
    ast.Lt: ((ast.LtE, 1.0), (ast.Gt, 1.2)), ast.LtE: ((ast.Lt, 1.0), (ast.GtE, 1.2)),
    ast.Gt: ((ast.GtE, 1.0), (ast.Lt, 1.2)), ast.GtE: ((ast.Gt, 1.0), (ast.LtE, 1.2)),
    ast.Eq: ((ast.NotEq, 1.2),), ast.NotEq: ((ast.Eq, 1.2),), ast.Is: ((ast.IsNot, 1.2),), ast.IsNot: ((ast.Is, 1.2),),
    ast.In: ((ast.NotIn, 1.2),), ast.NotIn: ((ast.In, 1.2),),
}  # fmt: skip
READ = (ast.Name, ast.Attribute)
SHORT = 9
"""Characters of what says little by itself: it is shown with what it stands in."""
SIMPLE = (ast.expr, ast.Assign, ast.AugAssign, ast.Return, ast.Expr)
"""What is shown whole."""
PARTS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp)
MOST_PARTS = 8
"""Of an expression, that are tried in its place."""
LONGEST = 100
"""Of what is shown."""


def expression_edits(function: Function, written: Written) -> Iterator[SourceEdit]:
    """Changes of one expression, and of what something is looked up by."""
    parents: dict[ast.AST, ast.AST] = {
        child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)
    }
    for parent, field, node in _expressions(function):
        for new, cost in _instead(parent, node, written):
            write: Write = (*field, new)
            edit = source_edit(function, node.lineno, partial(_shown, node, write, parents, written), cost, write)
            # Of what is read by a wrong name all around may be right, but for that.
            is_misread = isinstance(node, READ) and isinstance(new, READ)
            yield edit if is_misread else replace(edit, around=partial(_whole, node, parents, written))
    looked_up = (
        node.left for node in ast.walk(function)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn)
    )  # fmt: skip
    keys = {one.id for one in looked_up if isinstance(one, ast.Name)}
    for one in ast.walk(function):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and one.targets[0].id in keys:
            yield from _of_key(function, one, written)


def _whole(node: ast.AST, parents: Mapping[ast.AST, ast.AST], written: Written) -> tuple[int, str]:
    """Line and text of what is assigned or returned around an expression."""
    while isinstance(parents[node], ast.expr):
        node = parents[node]
    around = parents[node]
    if isinstance(around, ast.Assign | ast.AnnAssign | ast.Return) and isinstance(node, ast.expr):
        return (node.lineno, written.text(node)) if node is around.value else (0, "")
    return 0, ""


def _shown(node: ast.expr, write: Write, parents: Mapping[ast.AST, ast.AST], written: Written) -> tuple[str, str]:
    """What stands there and what would, with what it stands in where it is short."""
    whole: ast.AST = node
    while len(written.text(whole)) < SHORT and isinstance(parents[whole], SIMPLE):
        whole = parents[whole]
    instead = ast.unparse(write[2]) if whole is node else text_with(whole, write)
    if whole is not node and max(len(written.text(whole)), len(instead)) > LONGEST:
        whole, instead = node, ast.unparse(write[2])
    return written.text(whole), f"`{instead}`"


def _of_key(function: Function, node: ast.Assign, written: Written) -> Iterator[SourceEdit]:
    """What is looked up by too little, by one name more."""
    for name in written.names:
        other: ast.expr = ast.Name(name, ast.Load())
        for part in (other, ast.Call(ast.Attribute(other, "tobytes", ast.Load()), [], [])):
            new = ast.Tuple([node.value, part], ast.Load())
            shown = partial(_key_shown, node.value, new, written)
            yield source_edit(function, node.lineno, shown, 1.2, (node, "value", new))


def _key_shown(value: ast.expr, new: ast.expr, written: Written) -> tuple[str, str]:
    return written.text(value), f"`{ast.unparse(new)}`"


def _expressions(function: Function) -> Iterator[tuple[ast.AST, tuple[Any, str | int], ast.expr]]:
    """Every expression that is evaluated in a call, its parent and where it stands there."""
    ahead: list[ast.AST] = [*function.body]
    while ahead:
        parent = ahead.pop()
        for name, value in ast.iter_fields(parent):
            if name in ("annotation", "returns", "decorator_list", "type_comment"):
                continue
            for key, part in enumerate(value) if isinstance(value, list) else [(-1, value)]:
                if not isinstance(part, ast.AST):
                    continue
                ahead.append(part)
                if isinstance(part, ast.expr) and isinstance(getattr(part, "ctx", ast.Load()), ast.Load):
                    yield parent, ((value, key) if key >= 0 else (parent, name)), part


def _instead(parent: ast.AST, node: ast.expr, written: Written) -> Iterator[Change]:
    """What may stand in the place of an expression."""
    if isinstance(parent, ast.Expr) and isinstance(node, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.Name):
        if not (isinstance(parent, ast.Call) and parent.func is node):
            yield from ((ast.Name(name, ast.Load()), 1.2) for name in written.alike(node.id))
        yield from _of_value(parent, node)
    elif isinstance(node, ast.Attribute):
        if isinstance(parent, ast.Call) and parent.func is node:
            return
        if node.attr == "T":
            yield node.value, 1.1
        else:
            others = written.attributes.get(ast.unparse(node.value), ())
            yield from ((ast.Attribute(node.value, name, ast.Load()), 1.2) for name in others if name != node.attr)
            yield from _of_value(parent, node)
    elif isinstance(node, ast.Compare):
        for k, op in enumerate(node.ops):
            for other, cost in COMPARED.get(type(op), ()):
                ops = [*node.ops[:k], other(), *node.ops[k + 1 :]]
                yield ast.Compare(node.left, ops, node.comparators), cost
        yield node.left, 1.4
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values), 1.1
        yield from ((_joined(node, k), 1.3) for k in range(len(node.values)))
    elif isinstance(node, ast.UnaryOp):
        yield node.operand, 1.2
    elif isinstance(node, ast.BinOp):
        yield from _of_operation(node, written)
    elif isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, ast.Constant):
        yield from _of_constant(parent, node)
    elif isinstance(node, ast.IfExp):
        yield from ((node.body, 1.3), (node.orelse, 1.3), (ast.IfExp(node.test, node.orelse, node.body), 1.3))
    if isinstance(node, ast.BinOp | ast.Call | ast.IfExp):
        yield from _parts(node)
    if isinstance(parent, ast.If | ast.While | ast.IfExp) and node is parent.test:
        yield ast.UnaryOp(ast.Not(), node), 1.3
    if isinstance(parent, ast.Return | ast.Assign | ast.AugAssign) and not isinstance(node, ast.Constant | ast.Tuple):
        yield ast.UnaryOp(ast.USub(), node), 1.4
        yield from _lacking(node, written)
    elif isinstance(parent, ast.List | ast.Tuple) and not isinstance(node, ast.Constant | ast.List | ast.Tuple):
        yield ast.UnaryOp(ast.USub(), node), 1.4


def _parts(node: ast.expr) -> Iterator[Change]:
    """Of all that is computed a part alone, further within than an operand or an argument."""
    near = {id(node), *(id(one) for one in ast.iter_child_nodes(node))}
    parts = (
        one for one in ast.walk(node)
        if isinstance(one, PARTS) and id(one) not in near and isinstance(getattr(one, "ctx", ast.Load()), ast.Load)
    )  # fmt: skip
    yield from ((one, 1.35) for one in islice(parts, MOST_PARTS))


def _lacking(node: ast.expr, written: Written) -> Iterator[Change]:
    """What is all of a value and lacks a term or a factor."""
    for name in written.numeric:
        other = ast.Name(name, ast.Load())
        yield from ((ast.BinOp(node, op, other), 1.6) for op in (ast.Add(), ast.Sub(), ast.Mult(), ast.Div()))


def _of_value(parent: ast.AST, node: ast.Name | ast.Attribute) -> Iterator[Change]:
    """What is read: a copy of it, its transpose, its square."""
    is_kept = isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "append"
    if is_kept or isinstance(parent, ast.Assign | ast.Return | ast.Dict | ast.keyword):
        yield ast.Call(ast.Attribute(node, "copy", ast.Load()), [], []), 1.15
    if isinstance(parent, ast.BinOp | ast.Call):
        yield ast.Attribute(node, "T", ast.Load()), 1.3
    if isinstance(parent, ast.Compare):
        yield ast.BinOp(node, ast.Mult(), node), 1.3


def _joined(node: ast.BoolOp, without: int) -> ast.expr:
    values = [value for k, value in enumerate(node.values) if k != without]
    return values[0] if len(values) == 1 else ast.BoolOp(node.op, values)


def _of_operation(node: ast.BinOp, written: Written) -> Iterator[Change]:
    if isinstance(node.op, ast.Mod | ast.FloorDiv):
        twin = ast.FloorDiv() if isinstance(node.op, ast.Mod) else ast.Mod()
        right = node.right.id if isinstance(node.right, ast.Name) else ""
        yield ast.BinOp(node.left, twin, node.right), 1.1
        yield from ((ast.BinOp(node.left, twin, ast.Name(name, ast.Load())), 1.3) for name in written.alike(right))
    other = COMPUTED.get(type(node.op))
    if other is not None:
        yield ast.BinOp(node.left, other(), node.right), 1.2
    if isinstance(node.op, ast.MatMult | ast.Sub | ast.Div):
        yield ast.BinOp(node.right, node.op, node.left), 1.15 if isinstance(node.op, ast.Sub) else 1.3
    if isinstance(node.op, ast.Mult):
        yield ast.BinOp(node.left, ast.MatMult(), node.right), 1.4
    yield from ((node.left, 1.3), (node.right, 1.3))


def _of_call(node: ast.Call) -> Iterator[Change]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    for pair in TWINS:
        if name in pair:
            twin = pair[1 - pair.index(name)]
            called: ast.expr = (
                ast.Attribute(node.func.value, twin, ast.Load()) if isinstance(node.func, ast.Attribute)
                else ast.Name(twin, ast.Load())
            )  # fmt: skip
            yield ast.Call(called, node.args, node.keywords), 1.1
    args = node.args
    for k in range(len(args) - 1):
        if ast.dump(args[k]) == ast.dump(args[k + 1]):
            continue
        yield ast.Call(node.func, [*args[:k], args[k + 1], args[k], *args[k + 2 :]], node.keywords), 1.2
    if name in ("min", "max", "minimum", "maximum") and len(args) == 2:
        yield ast.BinOp(args[0], ast.Mult(), args[1]), 1.4
    if name == "norm" and len(args) + len(node.keywords) == 1:
        yield ast.Call(node.func, [*args, ast.Constant(2)], []), 1.2
    if args and not isinstance(args[0], ast.Starred):
        yield args[0], 1.3
    if isinstance(node.func, ast.Attribute) and not args:
        yield node.func.value, 1.3
    if node.keywords:
        yield ast.Call(node.func, args, node.keywords[:-1]), 1.4
    elif len(args) > 1:
        yield ast.Call(node.func, args[:-1], []), 1.4
    if name == "range":
        for sign in (ast.Add(), ast.Sub()):
            yield ast.Call(node.func, [*args[:-1], ast.BinOp(args[-1], sign, ast.Constant(1))], []), 1.3


def _of_constant(parent: ast.AST, node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value), 1.2
    elif isinstance(value, int):
        # Plus or minus 0 is an operand left out.
        is_term = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add | ast.Sub)
        yield from ((ast.Constant(value + step), 1.2) for step in (1, -1) if value + step or not is_term)
        if isinstance(parent, ast.Call | ast.List | ast.BinOp | ast.Assign):
            yield ast.Constant(float(value)), 1.3
    elif isinstance(value, float):
        others = (0.5 * value, 2.0 * value, 0.1 * value, 10.0 * value, -value, 1.0 - value)
        yield from ((ast.Constant(other), 1.5) for other in others if other != value)
