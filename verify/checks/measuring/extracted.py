"""What the extract of the paper's source says of the constants and variables in its statements."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spec.text.extract import Extract, Passage

_CONSTANT = re.compile(r"[Cc]_|L_\{?[A-Z]|M_|σ$|μ_|κ_")
"""Names that the paper gives to constants: all else in a statement varies, or is a function."""
STATEMENTS = ("lemma", "theorem")


def constants_of(extract: Extract, labels: tuple[str, ...]) -> dict[str, str]:
    """By name, the constants that stand in these statements: where the source gives each a size; empty if nowhere.

    A size is a formula, an order, a quantity that the constant bounds or is the Lipschitz constant of, or an assumption
    on the problem that it belongs to. That a lemma uses it, or lists what it depends on, is none.
    """
    names = [
        name for passage in extract.of("label") if passage.name in labels
        for name in passage.symbols if _CONSTANT.match(name)
    ]  # fmt: skip
    return {name: next(_sizes(extract, name), "") for name in names}


def _sizes(extract: Extract, name: str) -> Iterator[str]:
    for passage in extract.passages:
        own = passage.kind in ("definition", "order", "bound") and passage.name == name
        of_other = passage.kind == "constant" and passage.says == name
        assumed = passage.kind == "label" and passage.says == "assumption" and name in passage.symbols
        if own or of_other or assumed:
            yield f"line {passage.line}"


def orders_with(extract: Extract, variables: tuple[str, ...]) -> tuple[list[Passage], int]:
    """Orders that lemmas, theorems and their proofs state in one of these variables; and how many they state in all."""
    stated = [passage for passage in extract.of("order") if _is_theory(extract, passage.place)]
    return [passage for passage in stated if any(name in passage.powers for name in variables)], len(stated)


def _is_theory(extract: Extract, place: str) -> bool:
    labels = {passage.name for passage in extract.of("label") if passage.says in STATEMENTS}
    return place.removeprefix("proof of ") in labels or place.startswith(STATEMENTS)
