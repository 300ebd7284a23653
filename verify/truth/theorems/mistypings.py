"""Every way to mistype a statement: constants, signs, powers of alpha, premises left out, relations turned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from verify.truth.theorems.gallina import GallinaNode

_TURNED = {"<=": ">=", "<": ">", "=": "<>", "<>": "="}
_ALPHAS = {"alpha", "u"}
_ZERO = GallinaNode("numeral", "0")


@dataclass(frozen=True)
class Mistyping:
    """A statement with one mistake; ``premise`` is the premise it sits in, ``None`` for the conclusion."""

    name: str
    tree: GallinaNode
    premise: int | None


def mistypings(tree: GallinaNode) -> list[Mistyping]:
    """All of them, named by kind and place; names are unique."""
    by_name: dict[str, Mistyping] = {}
    for change, changed, premise in _spine(tree, [0]):
        where = "conclusion" if premise is None else f"premise {premise}"
        name, count = f"{where}: {change}", 1
        while name in by_name:
            count += 1
            name = f"{where}: {change} ({count})"
        by_name[name] = Mistyping(name, changed, premise)
    return list(by_name.values())


def _spine(node: GallinaNode, seen: list[int]) -> Iterator[tuple[str, GallinaNode, int | None]]:
    """Along quantifiers, implications and conjunctions; ``seen`` counts premises as they are evaluated."""
    parts = node.parts
    match node.kind:
        case "implies":
            premise = seen[0]
            seen[0] += 1
            yield "left out", parts[1], premise
            for change, changed in () if _is_sign(parts[0]) else _inside(parts[0], "premise"):
                yield change, replace(node, parts=(changed, parts[1])), premise
            for change, changed, at in _spine(parts[1], seen):
                yield change, replace(node, parts=(parts[0], changed)), at
        case "let":
            for change, changed in _inside(parts[0], "value"):
                yield f"{change} in {node.word}", replace(node, parts=(changed, parts[1])), None
            for change, changed, at in _spine(parts[1], seen):
                yield change, replace(node, parts=(parts[0], changed)), at
        case "forall" | "exists" | "and":
            for k, part in enumerate(parts):
                for change, changed, at in _spine(part, seen):
                    yield change, replace(node, parts=(*parts[:k], changed, *parts[k + 1 :])), at
        case "relation":
            yield f"{node.word} turned", replace(node, word=_TURNED[node.word]), None
            for k, part in enumerate(parts):
                terms = () if _is_one(part) and _ZERO in parts else _terms(part)  # its sign alone counts
                for change, changed in (*terms, *_inside(part, "side")):
                    yield change, replace(node, parts=(*parts[:k], changed, *parts[k + 1 :])), None
        case _:
            for change, changed in _inside(node, "side"):
                yield change, changed, None


def _is_sign(premise: GallinaNode) -> bool:
    """Whether a premise asks for a sign alone, which no positive factor changes."""
    return premise.kind == "relation" and [part.kind for part in premise.parts] == ["numeral", "name"]


def _is_one(node: GallinaNode) -> bool:
    """Whether a side has one term."""
    return not (node.kind == "binary" and node.word in "+-")


def _terms(node: GallinaNode) -> Iterator[tuple[str, GallinaNode]]:
    """Each summand of a side doubled and halved: constants that are one and so not written."""
    if node.kind == "binary" and node.word in "+-":
        for k, part in enumerate(node.parts):
            for change, changed in _terms(part):
                yield change, replace(node, parts=(changed, node.parts[1]) if k == 0 else (node.parts[0], changed))
    elif node != _ZERO:
        yield f"{text(node)} doubled", GallinaNode("binary", "*", (GallinaNode("numeral", "2"), node))
        yield f"{text(node)} halved", GallinaNode("binary", "/", (node, GallinaNode("numeral", "2")))


def _inside(node: GallinaNode, at: str) -> Iterator[tuple[str, GallinaNode]]:
    if node.kind == "numeral":
        if node.word != "0":
            yield f"{node.word} doubled", replace(node, word=str(2 * int(node.word)))
            yield f"{node.word} halved", replace(node, word=f"{node.word}/2")
        elif at == "side":
            yield "0 is 1", replace(node, word="1")
    elif node.kind == "forall" and _ALPHAS & {name for name, _ in node.binders}:
        return  # another alpha than the paper's
    elif node.kind == "name" and node.word in _ALPHAS:
        alpha = node if node.word == "alpha" else GallinaNode("call", parts=(GallinaNode("name", "sqrt"), node))
        yield f"{node.word} times alpha", GallinaNode("binary", "*", (node, alpha))
        yield f"{node.word} over alpha", GallinaNode("binary", "/", (node, alpha))
    elif node.kind == "binary" and node.word in "+-":
        yield f"{text(node)} turned", replace(node, word="-" if node.word == "+" else "+")
    elif node.kind == "unary" and node.word == "-":
        yield f"{text(node)} positive", node.parts[0]
    for k, part in enumerate(node.parts):
        for change, changed in _inside(part, at):
            yield change, replace(node, parts=(*node.parts[:k], changed, *node.parts[k + 1 :]))


def text(node: GallinaNode) -> str:
    """The node as text, to name it."""
    parts = [text(part) for part in node.parts]
    match node.kind:
        case "binary" | "relation":
            return f"({parts[0]} {node.word} {parts[1]})"
        case "unary":
            return f"{node.word}{parts[0]}"
        case "call":
            return f"{parts[0]}({', '.join(parts[1:])})"
        case "fun" | "forall" | "exists":
            return f"{node.kind} {' '.join(name for name, _ in node.binders)}, {parts[0]}"
    return node.word or " ".join(parts)
