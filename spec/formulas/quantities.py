"""The named quantities of the method: given by a place, or defined by a formula over what stands above them."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from typing import Any

from spec.errors import InvalidInputError
from spec.files import package_text
from spec.formulas.parser import Reader
from spec.formulas.tree import Quantity, Shape, shape_words
from spec.reading import CHOICES

WHERE = "formulas/quantities.toml"
_KEYS = {"shape", "says", "text", "latex", "of", "choice", "is", "toward"}


@lru_cache(maxsize=1)
def load_quantities() -> dict[str, Quantity]:
    """The table by name, in its order: each definition is over what stands above it, so that no circle can be written.

    Raises:
        InvalidInputError: If the file is malformed, or a definition does not come out in the shape it states.
    """
    return parse_quantities(package_text(WHERE), WHERE)


def parse_quantities(text: str, where: str) -> dict[str, Quantity]:
    """A table from its text; ``where`` names it in messages."""
    try:
        rows = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(where, f"is not valid TOML ({error})") from None
    table: dict[str, Quantity] = {}
    for name, row in rows.items():
        table[name] = _quantity(name, row, table, f"{where}, {name}")
    return table


def _quantity(name: str, row: dict[str, Any], table: dict[str, Quantity], where: str) -> Quantity:
    unknown = sorted(row.keys() - _KEYS)
    if unknown or not isinstance(row.get("shape"), str):
        raise InvalidInputError(where, f"must have a shape and no keys but {', '.join(sorted(_KEYS))}", unknown or row)
    shape = _shape(row["shape"])
    arguments = tuple((word, _shape(text)) for word, text in row.get("of", {}).items())
    choice, formulas, toward = row.get("choice", ""), row.get("is", {}), row.get("toward", "zero")
    if toward not in ("zero", "infinity"):
        raise InvalidInputError(where, "must tend to zero or infinity", toward)
    cases = {"": formulas} if isinstance(formulas, str) else formulas
    if choice:
        values = _values_of(choice, where)
        if set(cases) != set(values):
            raise InvalidInputError(
                where, f"must have one definition for each of {', '.join(values)}", ", ".join(cases)
            )
    definitions = []
    for value, text in cases.items():
        place = f"{where}, {choice} = {value}" if value else where
        node = Reader(table, place, dict(arguments)).read(text)
        if node.shape != shape:
            raise InvalidInputError(place, f"must come out as {shape_words(shape)}", shape_words(node.shape))
        definitions.append((value, node))
    shown = row.get("text", name)
    return Quantity(
        name, shape, row.get("says", ""), shown, row.get("latex", shown), arguments, choice, tuple(definitions), toward
    )


def _values_of(choice: str, where: str) -> tuple[str, ...]:
    known = {one.field: tuple(dict.fromkeys([*one.values, one.repaired])) for one in CHOICES}
    if choice not in known:
        raise InvalidInputError(where, f"must hang on one of {', '.join(known)}", choice)
    return known[choice]


def _shape(text: str) -> Shape:
    return tuple(text.split())
