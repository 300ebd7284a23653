"""Every single edit of the plain implementation: on the trees of its formulas, and formulas of their own."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from functools import lru_cache

from spec.files import Frozen
from verify.method.alike import COUNTS, FAMILIES, KEPT, MATRICES, OWN, ROLLED, Kind
from verify.method.lines import FORMULAS, STAGE_OF, Procedure, Stage

Change = tuple[Kind, ast.AST, str]
"""An edit's kind, the node it replaces, and the text in its place."""


class Edit(Frozen):
    """One formula changed in one place.

    ``before`` is the part that was changed, ``after`` what stands there now, ``formula`` the whole of it; ``words`` say
    what it does where that takes more than the two.
    """

    kind: Kind
    procedure: Procedure
    step: str
    before: str
    after: str
    formula: str
    words: str = ""

    @property
    def stage(self) -> Stage:
        """The stage whose code was changed."""
        return STAGE_OF[self.procedure]

    @property
    def sentence(self) -> str:
        """What was changed, in one line."""
        what = f"`{self.before}` has become `{self.after}`"
        return f"{self.procedure}, {self.step}: {what}" + (f" ({self.words})" if self.words else "")


@lru_cache(maxsize=1)
def all_edits() -> tuple[Edit, ...]:
    """All of them, in a fixed order; two that give one formula are one."""
    edits: dict[tuple[str, str, str], Edit] = {}
    for edit in (*_own(), *_of_trees()):
        edits.setdefault((edit.procedure, edit.step, edit.formula), edit)
    return tuple(edits.values())


def _own() -> Iterator[Edit]:
    for procedure, steps in OWN.items():
        for step, others in steps.items():
            before = FORMULAS[procedure][step]
            for formula, (kind, words) in others.items():
                yield Edit(kind=kind, procedure=procedure, step=step, before=before, after=formula, formula=formula,
                           words=words)  # fmt: skip


def _of_trees() -> Iterator[Edit]:
    for procedure, steps in FORMULAS.items():
        for step, text in steps.items():
            tree = ast.parse(text, mode="eval").body
            right = ast.unparse(tree)
            for kind, node, after in _changes(tree, procedure, step):
                formula = ast.unparse(_replaced(tree, node, after))
                if formula != right:
                    kind_here: Kind = "width" if procedure == "widths" and kind in ("scale", "argument") else kind
                    yield Edit(kind=kind_here, procedure=procedure, step=step, before=ast.unparse(node), after=after,
                               formula=formula)  # fmt: skip


def _replaced(tree: ast.expr, node: ast.AST, after: str) -> ast.expr:
    """A copy of the tree with one of its nodes exchanged."""
    new, whole = ast.parse(after, mode="eval").body, ast.Expression(copy.deepcopy(tree))
    wanted = [*ast.walk(whole.body)][[*ast.walk(tree)].index(node)]
    for parent in ast.walk(whole):
        for name, value in ast.iter_fields(parent):
            if value is wanted:
                setattr(parent, name, new)
            elif isinstance(value, list):
                setattr(parent, name, [new if item is wanted else item for item in value])
    return whole.body


def _changes(tree: ast.expr, procedure: Procedure, step: str) -> Iterator[Change]:
    for node in ast.walk(tree):
        for finder in FINDERS:
            yield from finder(node)
    for term in _terms(tree):
        text = ast.unparse(term)
        yield from (("scale", term, f"{factor} * ({text})") for factor in ("2", "1 / 2"))
    if procedure not in ("lagrangian", "minimised"):
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in KEPT]
        yield from (("stale", node, f"previous('{step}.{node.id}', {node.id})") for node in names)
    yield from _swapped_names(tree)


def _terms(tree: ast.expr) -> Iterator[ast.expr]:
    """What a sum adds up, the whole where it is none."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add | ast.Sub):
        yield from _terms(tree.left)
        yield from _terms(tree.right)
    else:
        yield tree


def _sums(node: ast.AST) -> Iterator[Change]:
    """A term dropped, or with the wrong sign."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        left, right = ast.unparse(node.left), ast.unparse(node.right)
        plus = isinstance(node.op, ast.Add)
        yield "drop", node, left
        yield "drop", node, right if plus else f"-({right})"
        yield "sign", node, f"{left} {'-' if plus else '+'} ({right})"
        if not (isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Add | ast.Sub)):
            yield "sign", node, f"-({left}) {'+' if plus else '-'} ({right})"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield "sign", node, ast.unparse(node.operand)


def _products(node: ast.AST) -> Iterator[Change]:
    """A factor dropped, a division left out or turned round."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield "drop", node, ast.unparse(node.left)
        yield "drop", node, ast.unparse(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        left, right = ast.unparse(node.left), ast.unparse(node.right)
        yield "divisor", node, left
        yield "swap", node, f"({right}) / ({left})"
        yield "divisor", node, f"({left}) * ({right})"
        yield from (("guard", node, f"({left}) / ({right} + {small})") for small in ("1e-4", "1e-6", "1e-8"))


def _powers(node: ast.AST) -> Iterator[Change]:
    """Another power of alpha, another constant."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        base, power = ast.unparse(node.left), ast.literal_eval(node.right)
        yield from (("power", node, f"{base} ** {power + more}") for more in (-1, 1))
        yield "power", node, f"{base} ** {-power}"
        yield "power", node, f"{base} ** {power * 2 if abs(power) < 4 else power // 2}"


def _calls(node: ast.AST) -> Iterator[Change]:
    """Clips, comparisons and norms."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return
    name, arguments = node.func.id, [ast.unparse(argument) for argument in node.args]
    if name == "clip":
        value, low, high = arguments
        for other in (value, f"maximum({value}, {low})", f"minimum({value}, {high})", f"clip({value}, -1, {high})"):
            yield "clip", node, other
        yield "clip", node, f"clip({value}, {low}, 1 / 2)"
    if name == "maximum":
        yield from (("clip", node, argument) for argument in arguments)
        yield "comparison", node, f"minimum({', '.join(arguments)})"
    if name == "norm":
        value = arguments[0]
        other_norms = ("frobenius", "norm_max") if value == "B" else ("norm_1", "norm_max")
        yield from (("norm", node, f"{other}({value})") for other in other_norms)
        yield "norm", node, f"norm({value}) ** 2"
    if len(arguments) == 2 and name in ("solve", "joined"):
        yield "swap", node, f"{name}({arguments[1]}, {arguments[0]})"


def _names(node: ast.AST) -> Iterator[Change]:
    """One name in place of another."""
    if not isinstance(node, ast.Name):
        return
    name = node.id
    for family in FAMILIES:
        if name in family:
            yield from (("argument", node, other) for other in sorted(family - {name}))
    if name in MATRICES:
        yield "transpose", node, f"misread({name})"
    if name in ROLLED:
        yield "shift", node, f"shifted({name})"
        yield "argument", node, f"(0 * {name})"
    if name in ("h", "h_star"):
        yield "clip", node, f"maximum({name}, 0)"
    if name in COUNTS:
        yield from (("shift", node, f"({name} {sign} 1)") for sign in "+-")
        yield "divisor", node, f"{name} ** 0.5"
    if name == "x":
        yield "argument", node, "(0 * x)"
    if name in ("alpha", "eta", "D", "h_width", "lam_width", "eps_lam", "ramp_constant", "sigma_f", "sigma_g"):
        yield "power", node, f"({name} ** 2)"
        yield from (("scale", node, f"({factor} * {name})") for factor in ("2", "1 / 2", "10"))


def _swapped_names(tree: ast.expr) -> Iterator[Change]:
    """Two names of one shape that change places."""
    present = list(dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)))
    for family in FAMILIES:
        both = [name for name in present if name in family]
        for i, one in enumerate(both):
            for other in both[i + 1 :]:
                copied = copy.deepcopy(tree)
                for node in ast.walk(copied):
                    if isinstance(node, ast.Name) and node.id in (one, other):
                        node.id = other if node.id == one else one
                yield "swap", tree, ast.unparse(copied)


FINDERS: tuple[Callable[[ast.AST], Iterator[Change]], ...] = (_sums, _products, _powers, _calls, _names)
"""What may be wrong at one node."""
