"""Formulas as terms of Coq over the library's spaces: a vector is a point, a matrix a map with its transpose.

X is the space of x, V that of y; a vector with an entry for each row is a function of the row's number. What depends on
alpha or on the stages' errors takes them as arguments, so that a sentence can say in which order they are chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from spec.errors import InvalidInputError
from spec.formulas import Node, load_quantities, plain_text
from spec.formulas.tree import ROW_SETS, TRUTH, Quantity, Shape, exponent_of, shape_words

FREE = ("alpha", "e_ys", "e_lam", "e_y")
"""What sentences quantify over, in this order; all else that a place gives is fixed before."""
_SPACES = {"n": "X", "m": "V", "p": "(coords p)", "n+m": "(both X V)"} | {s: f"(among p {s})" for s in ROW_SETS}
_ROWS = {
    "active": "at_zero {h}", "inactive": "off active", "strictly_active": "positive_too active lam_star",
    "weakly_active": "fun i => andb (active i) (off strictly_active i)",
}  # fmt: skip
_ROWS_OVER = {"inactive": ("active",), "strictly_active": ("active",), "weakly_active": ("active", "strictly_active")}
_EXTREMES = {"norm": "spectral", "eig_min": "least", "eig_max": "greatest", "solve": "solve"}
_NUMBERS = {"sqrt": "sqrt", "abs": "Rabs", "min": "Rmin", "max": "Rmax"}


def space(shape: Shape) -> str:
    """The space that values of a shape lie in."""
    if not shape:
        return "R"
    if len(shape) == 1 and shape[0] in _SPACES:
        return _SPACES[shape[0]]
    raise no_term(shape_words(shape))


def no_term(what: str) -> InvalidInputError:
    """One line on what has no term yet."""
    return InvalidInputError("goal", "must be of what has a term in Coq", what)


@dataclass
class Terms:
    """Prints terms, and keeps what they name.

    Args:
        choices: The value of every choice.
        definitions: Definitions needed, by name, in an order in which each stands behind those it is over.
        given: Quantities of the place that are named, with their shapes.
        opaque: Names that no sentence defines, with the predicate that says what they are, and their types.
    """

    choices: Mapping[str, str]
    definitions: dict[str, str] = field(default_factory=dict)
    given: dict[str, Shape] = field(default_factory=dict)
    opaque: dict[str, tuple[str, str]] = field(default_factory=dict)
    named: dict[Node, set[str]] = field(default_factory=dict, repr=False, compare=False)
    """All quantities that formulas name, in their definitions, too."""

    def free_in(self, node: Node) -> tuple[str, ...]:
        """What of :data:`FREE` a formula depends on."""
        return tuple(name for name in FREE if name in self._names(node))

    def _names(self, node: Node) -> set[str]:
        if node in self.named:
            return self.named[node]
        names = self.named[node] = set[str]()
        for part in node.walk():
            if part.kind == "quantity" and part.name not in names:
                names.add(part.name)
                quantity = load_quantities()[part.name]
                if quantity.cases:
                    names |= self._names(quantity.definition(dict(self.choices)))
        return names

    def term(self, node: Node) -> str:
        """A number or a vector."""
        match node.kind:
            case "number":
                value = Fraction(node.name)
                return str(value.numerator) if value.denominator == 1 else f"({value.numerator} / {value.denominator})"
            case "argument":
                return node.name
            case "quantity":
                return self._quantity(node)
            case "negative":
                inner = self.term(node.args[0])
                return self._scaled("(-1)", inner, node.shape) if node.shape else f"(- {inner})"
            case "select":
                return self.term(node.args[0])
            case "rows":
                return self.rows(node.name)
            case "binary":
                return self._binary(node)
            case "function":
                return self._function(node)
        raise no_term(plain_text(node))

    def _quantity(self, node: Node) -> str:
        quantity = load_quantities()[node.name]
        if quantity.name == "ones":
            return "(@ones p)"
        if not quantity.cases:
            if quantity.name == "p":
                return "(INR p)"
            if quantity.name in ("n", "m"):
                raise no_term(f"{quantity.name}, the dimension of a space that may have any")
            if quantity.name not in FREE:
                self.given.setdefault(quantity.name, quantity.shape)
            return quantity.name
        self._define(quantity)
        body = quantity.definition(dict(self.choices))
        words = [*self.free_in(body), *(self.term(part) for part in node.args)]
        return f"({' '.join([quantity.name, *words])})" if words else quantity.name

    def _define(self, quantity: Quantity) -> None:
        if quantity.name in self.definitions:
            return
        node = quantity.definition(dict(self.choices))
        arguments = [*((name, load_quantities()[name].shape) for name in self.free_in(node)), *quantity.arguments]
        if len(quantity.shape) == 2:
            arguments.append(("point", quantity.shape[1:]))
            body = self.applied(node, "point")
        else:
            body = self.term(node)
        words = "".join(f" ({name} : {space(shape)})" for name, shape in arguments)
        self.definitions[quantity.name] = f"Definition {quantity.name}{words} : {space(quantity.shape[:1])} := {body}."

    def rows(self, name: str) -> str:
        """A set of rows, as it is at (x, y*)."""
        for other in _ROWS_OVER.get(name, ()):
            self.rows(other)
        if name not in self.definitions:
            if name == "strictly_active":
                self.given.setdefault("lam_star", ("p",))
            if name == "active":
                self._define(load_quantities()["h"])
                self.given.setdefault("y_star", ("m",))
            self.definitions[name] = f"Definition {name} : nat -> bool := {_ROWS[name].format(h='(h y_star)')}."
        return name

    def _sum(self, name: str, a: str, b: str, shape: Shape) -> str:
        return f"(@{'add' if name == '+' else 'sub'} {space(shape)} {a} {b})"

    def _scaled(self, by: str, what: str, shape: Shape) -> str:
        return f"(@scale {space(shape)} {by} {what})"

    def _binary(self, node: Node) -> str:
        a, b = node.args
        if node.name == "^":
            power, base = exponent_of(b), self.term(a)
            root = base if power.denominator == 1 else f"(sqrt {base})"
            size = f"({root} ^ {abs(power.numerator)})"
            return f"(/ {size})" if power < 0 else size
        if node.name == "@":
            if len(a.shape) == 1 and len(b.shape) == 1:
                return f"(@inner {space(a.shape)} {self.term(a)} {self.term(b)})"
            if len(b.shape) == 1:
                return self.applied(a, self.term(b))
            if len(a.shape) == 1:
                return self.applied(transposed(b), self.term(a))
        if len(node.shape) < 2:
            if node.name in "+-":
                both = self.term(a), self.term(b)
                return self._sum(node.name, *both, node.shape) if node.shape else f"({both[0]} {node.name} {both[1]})"
            if not node.shape:
                return f"({self.term(a)} {node.name} {self.term(b)})"
            if node.name == "/":
                return self._scaled(f"(/ {self.term(b)})", self.term(a), node.shape)
            if a.shape == b.shape == ("p",):
                return f"(@weigh p {self.term(a)} {self.term(b)})"
            if not a.shape or not b.shape:
                by, what = (b, a) if a.shape else (a, b)
                return self._scaled(self.term(by), self.term(what), node.shape)
        raise no_term(plain_text(node))

    def _function(self, node: Node) -> str:
        args = node.args
        if node.name == "norm" and len(args[0].shape) == 1:
            return f"(@norm {space(args[0].shape)} {self.term(args[0])})"
        if node.name in ("norm", "eig_min", "eig_max"):
            return f"({self._extreme(node.name, args[0].shape)} {self.map(args[0])})"
        if node.name == "solve" and len(args[1].shape) == 1:
            return f"({self._extreme('solve', args[0].shape)} {self.map(args[0])} {self.term(args[1])})"
        if node.name == "clip" and node.shape == ("p",):
            return f"(@cut p {self.term(args[0])})"
        if node.name in _NUMBERS and not any(part.shape for part in args):
            words = [self.term(part) for part in args]
            while len(words) > 2:
                words = [*words[:-2], f"({_NUMBERS[node.name]} {words[-2]} {words[-1]})"]
            return f"({' '.join([_NUMBERS[node.name], *words])})"
        if node.name == "above" and len(node.shape) == 1:
            return f"({self.term(args[0])}, {self.term(args[1])})"
        raise no_term(plain_text(node))

    def _extreme(self, name: str, shape: Shape) -> str:
        """The function that gives a norm, an eigenvalue or a solution, one for each pair of spaces."""
        word = _EXTREMES[name]
        full = "_".join([word, *(part.replace("+", "") for part in shape)])
        target, source = space(shape[:1]), space(shape[1:])
        out = {"solve": f"{source} -> {source}"}.get(word, "R")
        self.opaque[full] = f"(point {source} -> point {target}) -> {out}", f"is_{word} {full}"
        return full

    def map(self, node: Node) -> str:
        """A matrix as a function."""
        if node.kind == "quantity" and not load_quantities()[node.name].cases:
            return f"(times {self._quantity(node)})"
        return f"(fun point => {self.applied(node, 'point')})"

    def applied(self, node: Node, point: str) -> str:
        """A matrix times a vector."""
        of = space(node.shape[:1]) if len(node.shape) == 2 else ""
        match node.kind, node.name:
            case "quantity", _:
                term = self._quantity(node)
                return f"({term[1:-1]} {point})" if term.startswith("(") else f"({term} {point})"
            case "argument", _:
                return f"({node.name} {point})"
            case "negative", _:
                return f"(@scale {of} (-1) {self.applied(node.args[0], point)})"
            case "transpose", _ if node.args[0].kind == "quantity" and not load_quantities()[node.args[0].name].cases:
                return f"(back {self._quantity(node.args[0])} {point})"
            case "transpose", _ if (inner := transposed(node.args[0])).kind != "transpose":
                return self.applied(inner, point)
            case "transpose", _ if node.args[0].kind == "select":
                rows, inner = self.rows(node.args[0].name), transposed(node.args[0].args[0])
                return self.applied(inner, f"(@within p {rows} {point})")
            case "select", name:
                self.rows(name)
                return self.applied(node.args[0], point)
            case "binary", ("+" | "-"):
                parts = [self.applied(part, point) for part in node.args]
                return self._sum(node.name, parts[0], parts[1], node.shape[:1])
            case "binary", "@":
                return self.applied(node.args[0], self.applied(node.args[1], point))
            case "binary", ("*" | "/"):
                by, what = (node.args[1], node.args[0]) if node.args[0].shape else node.args
                number = f"(/ {self.term(by)})" if node.name == "/" else self.term(by)
                return self._scaled(number, self.applied(what, point), node.shape[:1])
            case "function", "diag":
                return f"(@weigh p {self.term(node.args[0])} {point})"
            case "function", "beside":
                a, b = node.args
                parts = [self.applied(a, f"(fst {point})"), self.applied(b, f"(snd {point})")]
                return f"(@add {of} {parts[0]} {parts[1]})"
            case "function", "above":
                return f"({self.applied(node.args[0], point)}, {self.applied(node.args[1], point)})"
        raise no_term(plain_text(node))

    def proposition(self, node: Node) -> str:
        """A statement without orders and suprema."""
        if node.kind == "logic":
            sign = r" /\ " if node.name == "and" else r" \/ "
            return "(" + sign.join(self.proposition(part) for part in node.args) + ")"
        if node.kind == "function" and node.name == "all":
            relation = node.args[0]
            left, right = relation.args
            sign = {"==": "="}.get(relation.name, relation.name)
            rows = "(fun _ => true)" if left.shape[0] == "p" else self.rows(left.shape[0])
            if left.shape[0] not in ("p", *ROW_SETS):
                raise no_term(plain_text(node))
            return f"each p {rows} {self.term(left)} (fun entry => entry {sign} {self.term(right)})"
        if node.kind != "relation" or node.shape != TRUTH or node.order is not None:
            raise no_term(plain_text(node))
        a, b = node.args
        if a.kind == "function" and a.name == "rank" and node.name == "==" and b.name == "count":
            chosen = a.args[0]
            if chosen.kind == "select" and chosen.args[0].kind == "quantity" and b.args[0].name == chosen.name:
                return f"independent {self.rows(chosen.name)} {self._quantity(chosen.args[0])}"
        if len(a.shape) == 2 and node.name == "==":
            return f"(forall point, @same {space(a.shape[:1])} {self.applied(a, 'point')} {self.applied(b, 'point')})"
        if len(a.shape) == 1 and node.name == "==":
            return f"@same {space(a.shape)} {self.term(a)} {self.term(b)}"
        if a.shape:
            raise no_term(plain_text(node))
        return f"{self.term(a)} {'=' if node.name == '==' else node.name} {self.term(b)}"


def transposed(node: Node) -> Node:
    """The transpose, taken to the parts of a product, a sum or a block."""
    shape = node.shape[::-1]
    if node.kind == "transpose":
        return node.args[0]
    if node.kind == "negative" or (node.kind == "binary" and node.name in "+-"):
        return Node(node.kind, node.name, tuple(map(transposed, node.args)), shape)
    if node.kind == "binary" and node.name == "@":
        return Node("binary", "@", (transposed(node.args[1]), transposed(node.args[0])), shape)
    if node.kind == "binary":
        return Node("binary", node.name, tuple(transposed(p) if p.shape else p for p in node.args), shape)
    if node.kind == "function" and node.name == "diag":
        return node
    if node.kind == "function" and node.name in ("beside", "above"):
        other = "above" if node.name == "beside" else "beside"
        return Node("function", other, tuple(map(transposed, node.args)), shape)
    return Node("transpose", "T", (node,), shape)
