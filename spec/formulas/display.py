"""A formula as people read it: one line of text, or LaTeX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from spec.formulas.powers import superscript
from spec.formulas.quantities import load_quantities
from spec.formulas.tree import Node, Quantity

_BINDING = {"or": 0, "and": 1, "relation": 2, "+": 3, "-": 3, "*": 4, "/": 4, "@": 4, "negative": 5, "^": 6}
_ATOM = 9


@dataclass(frozen=True)
class _Style:
    """The signs of one way of writing."""

    relations: dict[str, str]
    rows: dict[str, str]
    orders: dict[str, str]
    joined: dict[str, str]
    entrywise: str
    beside: str
    norm: str
    root: str
    ceiling: str
    floor: str
    bracket: str
    shown: Callable[[Quantity], str]


_TEXT = _Style(
    relations={"<=": " ≤ ", ">=": " ≥ ", "==": " = ", "<": " < ", ">": " > "},
    rows={"active": "I", "inactive": "Iᶜ", "strictly_active": "I⁺", "weakly_active": "I⁰"},
    orders={"O": "O", "Omega": "Ω", "Theta": "Θ"},
    joined={"and": " and ", "or": " or "},
    entrywise=" ⊙ ", beside=" ", norm="‖{}‖", root="√({})", ceiling="⌈{}⌉", floor="⌊{}⌋",
    bracket="({})",
    shown=lambda quantity: quantity.text,
)  # fmt: skip
_LATEX = _Style(
    relations={"<=": r"\le ", ">=": r"\ge ", "==": "=", "<": "<", ">": ">"},
    rows={"active": "I", "inactive": "I^{c}", "strictly_active": "I^{+}", "weakly_active": "I^{0}"},
    orders={"O": "O", "Omega": r"\Omega", "Theta": r"\Theta"},
    joined={"and": r"\ \wedge\ ", "or": r"\ \vee\ "},
    entrywise=r"\odot ", beside=r"\,", norm=r"\lVert {}\rVert", root=r"\sqrt{{{}}}", ceiling=r"\lceil {}\rceil",
    floor=r"\lfloor {}\rfloor",
    bracket=r"\left({}\right)", shown=lambda quantity: quantity.latex,
)  # fmt: skip


def plain_text(node: Node) -> str:
    """The formula in one line of Unicode."""
    return _Printer(_TEXT, tex=False).shown(node)


def latex(node: Node) -> str:
    """The formula for display."""
    return _Printer(_LATEX, tex=True).shown(node)


@dataclass(frozen=True)
class _Printer:
    style: _Style
    tex: bool

    def shown(self, node: Node, outer: int = 0) -> str:
        level = _BINDING.get(node.name if node.kind in ("binary", "logic") else node.kind, _ATOM)
        if self.tex and node.kind == "binary" and node.name == "/":
            level = _ATOM
        text = self._bare(node, level)
        return self.style.bracket.format(text) if level < outer else text

    def _bare(self, node: Node, level: int) -> str:
        style, args = self.style, node.args
        match node.kind:
            case "number":
                value = Fraction(node.name)
                if self.tex and value.denominator > 1:
                    return rf"\tfrac{{{value.numerator}}}{{{value.denominator}}}"
                return node.name
            case "argument":
                return node.name
            case "observed":
                return rf"\text{{{node.name}}}" if self.tex else node.name
            case "rows":
                return style.rows[node.name]
            case "quantity":
                name = style.shown(load_quantities()[node.name])
                return f"{name}({', '.join(map(self.shown, args))})" if args else name
            case "negative":
                return "-" + self.shown(args[0], level)
            case "transpose":
                shown = self.shown(args[0], _ATOM)
                # TeX takes one raised sign: y* is a group of its own.
                raised = self.tex and "^" in shown
                return (f"{{{shown}}}" if raised else shown) + (r"^{\top}" if self.tex else "ᵀ")
            case "select":
                rows = style.rows[node.name]
                return self.shown(args[0], _ATOM) + (f"_{{{rows}}}" if self.tex else f"_{rows}")
            case "binary":
                return self._binary(node, level)
            case "relation":
                return self._relation(node)
            case "logic":
                return style.joined[node.name].join(self.shown(part, level) for part in args)
            case "function":
                return self._function(node)

    def _binary(self, node: Node, level: int) -> str:
        a, b = node.args
        if node.name == "^":
            power = self.shown(b)
            base = self.shown(a, 7)
            return f"{base}^{{{power}}}" if self.tex else base + superscript(power)
        if node.name == "/" and self.tex:
            return rf"\frac{{{self.shown(a)}}}{{{self.shown(b)}}}"
        signs = {"+": " + ", "-": " - ", "/": "/", "@": self.style.beside}
        entrywise = node.name == "*" and bool(a.shape) and bool(b.shape)
        sign = signs.get(node.name, self.style.entrywise if entrywise else self.style.beside)
        # A product of matrices and one entry by entry do not associate.
        closed = node.name in "-/" or (node.name == "@" and b.name == "*")
        return self.shown(a, level) + sign + self.shown(b, level + closed)

    def _relation(self, node: Node) -> str:
        a, b = node.args
        if b.is_order:
            return f"{self.shown(a)} = {self.style.orders[b.name]}({self.shown(b.args[0])})"
        return self.shown(a, 3) + self.style.relations[node.name] + self.shown(b, 3)

    def _function(self, node: Node) -> str:
        style, args = self.style, [self.shown(part) for part in node.args]
        match node.name:
            case "norm":
                return style.norm.format(args[0])
            case "row_squares":
                return style.norm.format(f"{args[0]}_i") + ("^{2}" if self.tex else "²")
            case "abs" | "count":
                return f"|{args[0]}|"
            case "sqrt":
                return style.root.format(args[0])
            case "ceil":
                return style.ceiling.format(args[0])
            case "floor":
                return style.floor.format(args[0])
            case "positive":
                return style.bracket.format(args[0]) + ("_{+}" if self.tex else "₊")
            case "eig_min" | "eig_max":
                end = node.name[4:]
                return rf"\lambda_{{\{end}}}({args[0]})" if self.tex else f"λ_{end}({args[0]})"
            case "sup":
                unit = style.norm.format(args[1])
                return rf"\sup_{{{unit}\le1}}{args[0]}" if self.tex else f"sup({unit} ≤ 1) {args[0]}"
            case "solve":
                return (
                    self.shown(node.args[0], _ATOM) + ("^{-1}" if self.tex else "⁻¹") + self.shown(node.args[1], _ATOM)
                )
            case "beside":
                return f"[{args[0]}, {args[1]}]"
            case "above":
                return f"({args[0]}; {args[1]})"
            case "all":
                return args[0]
        return (rf"\operatorname{{{node.name}}}" if self.tex else node.name) + f"({', '.join(args)})"
