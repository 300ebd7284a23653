"""A user's source rewritten so that the value of every expression comes by: same objects, same order, same errors.

An expression ``e`` becomes ``__seen__(k, e)``, as pytest rewrites asserts; nothing else of a program changes.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SEEN = "__seen__"
"""What the values come by, as the rewritten source calls it."""
LOOKED_AT = (ast.BinOp, ast.UnaryOp, ast.Call, ast.Attribute, ast.Subscript, ast.Name, ast.IfExp, ast.Tuple)
LIBRARIES = ("np.", "numpy.", "linalg.", "la.", "scipy.", "sp.", "torch.", "math.")
"""What calls of functions that are not the user's begin with, as written."""


class SourceText:
    """A source whose lines are told apart once, for the texts of all its nodes."""

    def __init__(self, source: str) -> None:
        self.lines = [line.encode() for line in re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", source)]

    def of(self, node: ast.AST) -> str:
        """A node as written, on one line; empty where it stands nowhere."""
        first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        if first is None or last is None:
            return ""
        lines = self.lines[first - 1 : last]
        start, end = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]  # as of all that have lines
        lines[-1] = lines[-1][:end]
        lines[0] = lines[0][start:]
        return " ".join(b"".join(lines).decode(errors="replace").split())


@dataclass(frozen=True)
class SourceSite:
    """One expression of the source.

    Args:
        file: The file's name.
        line: Where the expression begins.
        text: The expression as written.
        is_read: A name or attribute, or an element of one: what is read, not computed.
        is_parameter: A name that its function was handed: wrong, it is its caller's.
        is_call: A call, of whatever function.
        is_own_call: A call of a function of the user's, or of what may be one.
        is_argument: An argument of a call of the user's own function: it is read there.
        is_added: It is a term of a sum, without a minus sign: its sign counts.
        is_subtracted: It stands after a minus sign: its own sign is a convention.
        is_whole: All of what is returned or assigned.
        first: Number of the first expression within it; those up to its own are its parts.
        function: Name of the function it is in.
        called: Of an argument, the name of the function that it is handed to; empty for anything else.
        next_loop: Line of the next loop of its function; 0 without one.
    """

    file: str
    line: int
    text: str
    is_read: bool
    is_parameter: bool
    is_call: bool
    is_own_call: bool
    is_argument: bool
    is_added: bool
    is_subtracted: bool
    is_whole: bool
    first: int
    function: str
    called: str
    next_loop: int


class Rewriter(ast.NodeTransformer):
    """Rewrites one module; new sites are appended to ``sites``, whose index is an expression's number."""

    def __init__(self, source: str, file: str, sites: list[SourceSite]) -> None:
        self.written, self.file, self.sites = SourceText(source), file, sites
        self.depth = 0
        self.parameters: frozenset[str] = frozenset()
        self.loops: list[int] = []
        self.whole: list[ast.AST] = []
        self.roles: dict[ast.AST, str] = {}
        self.called: dict[ast.AST, str] = {}
        self.function = ""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Bodies are looked at; decorators, defaults and annotations run once, on import."""
        before, self.loops = self.loops, sorted(p.lineno for p in ast.walk(node) if isinstance(p, ast.For | ast.While))
        within, self.function = self.function, node.name
        outer, self.parameters = self.parameters, _parameters(node.args)
        self.depth += 1
        node.body = _statements(self, node.body)
        self.depth -= 1
        self.loops, self.parameters, self.function = before, outer, within
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """The body; it is all of what is returned."""
        self.depth += 1
        self.whole.append(node.body)
        node.body = self.visit(node.body)
        self.depth -= 1
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """The value alone."""
        if node.value is not None:
            self.whole.append(node.value)
            node.value = self.visit(node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Targets and value."""
        self._mark(node.value)
        return self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """What is returned."""
        if node.value is not None:
            self._mark(node.value)
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        """``t += u``: what it comes to is looked at, too."""
        text, first = self._text(node), len(self.sites)
        if isinstance(node.op, ast.Sub):
            self.roles[node.value] = "subtracted"
        node.value = self.visit(node.value)
        if not isinstance(node.target, ast.Name) or not self.depth:
            return node
        name = node.target.id
        site = SourceSite(
            self.file, node.lineno, text, is_read=False, is_parameter=False, is_call=False, is_own_call=False,
            is_argument=False, is_added=False, is_subtracted=False, is_whole=True, first=first,
            function=self.function, called="", next_loop=self._next_loop(node),
        )  # fmt: skip
        seen = ast.Assign([ast.Name(name, ast.Store())], self._seen(site, ast.Name(name, ast.Load())))
        return [node, ast.copy_location(seen, node)]

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """Text is none of its business."""
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """The object of a method, and arguments; the function itself is looked up as before."""
        called = node.func
        text = ast.unparse(called)
        if isinstance(called, ast.Attribute):
            called.value = self.visit(called.value)
        own = not text.startswith(LIBRARIES)
        for place in [*node.args, *(keyword.value for keyword in node.keywords)]:
            if own:
                self.roles[place] = "argument"
                self.called[place] = text.rpartition(".")[2]
        node.args = [self.visit(part) for part in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Both sides."""
        if isinstance(node.op, ast.Sub | ast.Add):
            self.roles[node.left] = "added"
            self.roles[node.right] = "subtracted" if isinstance(node.op, ast.Sub) else "added"
        return self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """What is negated; a number stays as it is."""
        if isinstance(node.operand, ast.Constant):
            return node
        if isinstance(node.op, ast.USub):
            self.roles[node.operand] = "subtracted"
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """The object alone: an index is no quantity."""
        node.value = self.visit(node.value)
        return node

    def visit(self, node: ast.AST) -> Any:
        """Rewrite a node, and wrap it where its value can come by."""
        loads = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        if isinstance(node, ast.Attribute | ast.Subscript) and not loads:
            return node  # what is written into must stay the object it is
        if not isinstance(node, LOOKED_AT) or not self.depth or not loads:
            return super().visit(node)
        role = self.roles.get(node, "")
        site = SourceSite(
            self.file, node.lineno, self._text(node), is_read=_is_read(node), is_parameter=self._is_parameter(node),
            is_call=isinstance(node, ast.Call), is_own_call=_is_own_call(node), is_argument=role == "argument",
            is_added=role == "added",
            is_subtracted=role == "subtracted", is_whole=any(node is part for part in self.whole),
            first=len(self.sites), function=self.function, called=self.called.get(node, ""),
            next_loop=self._next_loop(node),
        )  # fmt: skip
        rewritten = super().visit(node)
        if isinstance(rewritten, ast.UnaryOp) and isinstance(rewritten.operand, ast.Constant):
            return rewritten
        return ast.copy_location(self._seen(site, rewritten), node)

    def _seen(self, site: SourceSite, value: ast.expr) -> ast.Call:
        self.sites.append(site)
        return ast.Call(ast.Name(SEEN, ast.Load()), [ast.Constant(len(self.sites) - 1), value], [])

    def _mark(self, value: ast.expr) -> None:
        self.whole.append(value)
        if isinstance(value, ast.Tuple):
            self.whole += value.elts
        elif isinstance(value, ast.IfExp):
            self._mark(value.body)
            self._mark(value.orelse)

    def _text(self, node: ast.AST) -> str:
        return self.written.of(node)

    def _is_parameter(self, node: ast.AST) -> bool:
        while isinstance(node, ast.Subscript):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.parameters

    def _next_loop(self, node: ast.AST) -> int:
        return next((line for line in self.loops if line > getattr(node, "lineno", 0)), 0)


def _statements(rewriter: Rewriter, body: Sequence[ast.stmt]) -> list[ast.stmt]:
    statements: list[ast.stmt] = []
    for part in body:
        new = rewriter.visit(part)
        statements += new if isinstance(new, list) else [new]
    return statements


def _parameters(given: ast.arguments) -> frozenset[str]:
    several = [one for one in (given.vararg, given.kwarg) if one is not None]
    return frozenset(one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, *several))


def _is_own_call(node: ast.AST) -> bool:
    """Whether a name that Python does not define is called, or a method of the object itself."""
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    if isinstance(called, ast.Call):
        return True
    if isinstance(called, ast.Name):
        return not hasattr(builtins, called.id)
    return isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "self"


def _is_read(node: ast.AST) -> bool:
    while isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name | ast.Attribute)
