"""The sentence of a goal, printed from a statement's formula and premises: one section of Coq, without its proof.

A sentence is never written by hand: what the claim file says is what Coq is asked to believe.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from pydantic import Field

from spec.errors import InvalidInputError
from spec.files import Frozen
from spec.formulas import Node, load_quantities, parse_formula, plain_text
from spec.reading import CHOICES
from verify.proofs.kernel.goal_terms import FREE, Terms, no_term, space

MEANINGS = "goal_meanings.toml"
REPAIRED_CHOICES = {choice.field: choice.repaired for choice in CHOICES}
THEOREM = "statement"
"""What the theorem of each goal is called, in the file that is named by the statement."""


class Meaning(Frozen):
    """What is known of a quantity that a place gives.

    Args:
        says: In words.
        facts: As formulas.
    """

    says: str = Field(min_length=1)
    facts: tuple[str, ...] = Field(min_length=1)


@dataclass(frozen=True)
class Sentence:
    """A goal's text without its proof.

    Args:
        opening: Variables, definitions and premises, and the sentence itself as a definition.
        theorem: What opens the theorem.
        facts: What is said of given quantities, in words, by name.
        opaque: What is said of functions that no sentence defines, in words, by name.
    """

    opening: str
    theorem: str
    facts: Mapping[str, str]
    opaque: Mapping[str, str]


@lru_cache(maxsize=1)
def load_meanings() -> tuple[dict[str, Meaning], dict[str, str]]:
    """What given quantities and opaque functions stand for.

    Raises:
        InvalidInputError: If the file is malformed or names a quantity that there is none of.
    """
    text = (resources.files("verify.proofs.kernel") / MEANINGS).read_text(encoding="utf-8")
    table = tomllib.loads(text)
    meanings = {name: Meaning.model_validate(row) for name, row in table["given"].items()}
    for name in meanings.keys() - load_quantities().keys():
        raise InvalidInputError(MEANINGS, "must name quantities that there are", name)
    return meanings, table["opaque"]


def print_sentence(formula: Node, premises: Sequence[tuple[str, Node]]) -> Sentence:
    """A goal's sentence.

    Args:
        formula: What is stated.
        premises: Under what, by name.

    Raises:
        InvalidInputError: If a part of them has no term.
    """
    terms = Terms(REPAIRED_CHOICES)
    over = [(name, node) for name, node in premises if terms.free_in(node)]
    fixed = [(name, node) for name, node in premises if not terms.free_in(node)]
    sentence = _quantified(terms, formula, over)
    hypotheses = [f"Hypothesis {_word(name)} : {_stated(terms, node)}." for name, node in fixed]
    facts = _facts(terms)
    known = [f"Hypothesis {name} : {text}." for name, text in facts.items()]
    opaque = [f"Hypothesis {name}_is : {says}." for name, (_, says) in terms.opaque.items()]
    lines = [
        "Section goal.",
        "Variables X V : space.",
        "Variable p : nat.",
        *(f"Variable {name} : {kind}." for name, (kind, _) in terms.opaque.items()),
        *(f"Variable {name} : {_kind(shape)}." for name, shape in terms.given.items()),
        *terms.definitions.values(),
        *opaque,
        *known,
        *hypotheses,
        f"(* {_comment(plain_text(formula))} *)",
        f"Definition sentence : Prop :=\n  {sentence}.",
    ]
    meanings, words = load_meanings()
    named = [name for name in (*FREE, *terms.given) if name in meanings]
    return Sentence(
        "\n".join(lines),
        f"Theorem {THEOREM} : sentence.",
        {name: meanings[name].says for name in named},
        {name: words[name.split("_")[0]] for name in terms.opaque},
    )


def _kind(shape: tuple[str, ...]) -> str:
    if len(shape) == 2:
        return f"matrix {space(shape[1:])} {space(shape[:1])}"
    return space(shape)


def _facts(terms: Terms) -> dict[str, str]:
    """Facts of all given quantities that are named, and of those that facts name."""
    meanings, facts = load_meanings()[0], dict[str, str]()
    done: set[str] = set()
    while todo := [name for name in terms.given if name in meanings and name not in done]:
        for name in todo:
            done.add(name)
            for number, text in enumerate(meanings[name].facts):
                stated = terms.proposition(parse_formula(text))
                if stated not in facts.values():
                    facts[f"{name}_known_{number}"] = stated
    return facts


def _stated(terms: Terms, node: Node) -> str:
    """A premise, which may hold an order of its own."""
    return terms.proposition(node) if node.kind != "logic" or node.name != "and" else _conjunction(terms, node)


def _conjunction(terms: Terms, node: Node) -> str:
    return "(" + r" /\ ".join(_stated(terms, part) for part in node.args) + ")"


def _quantified(terms: Terms, formula: Node, premises: Sequence[tuple[str, Node]]) -> str:
    """The whole sentence: alpha, then the errors, then what depends on them."""
    if formula.kind == "logic" and formula.name == "and":
        return r" /\ ".join(f"({_quantified(terms, part, premises)})" for part in formula.args)
    parts = [formula, *(node for _, node in premises)]
    if formula.kind == "relation" and formula.order is not None:
        return _order(terms, formula, premises)
    left, stripped = _without_sup(formula)
    free = _free(terms, [left, *parts[1:]], stripped)
    stated = terms.proposition(left)
    inner = "".join(f"({_stated(terms, node)}) ->\n    " for _, node in premises)
    alpha = "forall alpha, 0 < alpha ->\n    " if "alpha" in free else ""
    return f"{alpha}{_errors(free)}{inner}{stated}"


def _order(terms: Terms, formula: Node, premises: Sequence[tuple[str, Node]]) -> str:
    order = formula.order
    if order is None or terms.free_in(order.args[0]) not in ((), ("alpha",)):
        raise no_term(plain_text(formula))
    left, stripped = _peeled(formula.args[0])
    if stripped and order.name != "O":
        raise no_term(plain_text(formula))
    free = _free(terms, [left, *(node for _, node in premises)], stripped)
    value, size = terms.term(left), terms.term(order.args[0])
    upper, lower = f"{value} <= C * {size}", f"c * {size} <= {value}"
    constants, signs, stated = {
        "O": ("C", "", upper),
        "Omega": ("c", r"0 < c /\ ", lower),
        "Theta": ("c C", r"0 < c /\ ", rf"{lower} /\ {upper}"),
    }[order.name]
    inner = "".join(f"({_stated(terms, node)}) ->\n    " for _, node in premises)
    head = rf"exists {constants} alpha_0, {signs}0 < alpha_0 /\ forall alpha, 0 < alpha <= alpha_0 ->"
    return f"{head}\n    {_errors(free)}{inner}{stated}"


def _free(terms: Terms, nodes: Iterable[Node], stripped: Iterable[str]) -> list[str]:
    names = {name for node in nodes for name in terms.free_in(node)} | set(stripped)
    return [name for name in FREE if name in names]


def _errors(free: Iterable[str]) -> str:
    shapes = {name: load_quantities()[name].shape for name in free if name != "alpha"}
    return "".join(
        f"forall {name} : {space(shape)}, @norm {space(shape)} {name} <= 1 ->\n    " for name, shape in shapes.items()
    )


def _without_sup(formula: Node) -> tuple[Node, list[str]]:
    """``sup(left, e) <= right`` as ``left <= right`` for every e."""
    if formula.kind != "relation" or formula.name not in ("<=", "<"):
        return formula, []
    left, stripped = _peeled(formula.args[0])
    if set(stripped) & set(_named(formula.args[1])):
        raise no_term(plain_text(formula))
    return Node("relation", formula.name, (left, formula.args[1]), formula.shape), stripped


def _named(node: Node) -> list[str]:
    return [part.name for part in node.walk() if part.kind == "quantity"]


def _peeled(node: Node) -> tuple[Node, list[str]]:
    stripped = []
    while node.kind == "function" and node.name == "sup":
        stripped.append(node.args[1].name)
        node = node.args[0]
    if any(name not in FREE[1:] for name in stripped):
        raise no_term(f"sup over {', '.join(stripped)}")
    return node, stripped


def _word(name: str) -> str:
    return "premise_" + "".join(letter if letter.isalnum() else "_" for letter in name)


def _comment(text: str) -> str:
    """For a comment, which the text must neither end nor nest."""
    return text.replace("*)", "* )").replace("(*", "( *").replace('"', "'")
