"""The table of quantities: what it says of each is true, and a broken table is refused in one line."""

from __future__ import annotations

import pytest

from spec import InvalidInputError
from spec.formulas import load_quantities
from spec.formulas.quantities import parse_quantities
from spec.reading import CHOICES

BROKEN = {
    "a = { shape = '' }\na = { shape = '' }": "is not valid TOML",
    "a = { says = 'no shape' }": "must have a shape",
    "a = { shape = '', form = '1' }": "must have a shape and no keys but",
    "a = { shape = '', is = 'b' }": "names an unknown quantity",
    "a = { shape = '', is = 'b' }\nb = { shape = '' }": "names an unknown quantity",
    "a = { shape = '', toward = 'one' }": "must tend to zero or infinity; got one",
    "a = { shape = 'n', is = '1' }": "must come out as vector n; got number",
    "a = { shape = '', choice = 'dual', is = { x = '1' } }": "must hang on one of",
    "a = { shape = '', choice = 'ramp_width', is = { delta = '1' } }": "must have one definition for each of tau-delta",
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_table_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        parse_quantities(text, "table.toml")
    assert BROKEN[text] in str(refused.value)
    assert str(refused.value).startswith("table.toml")


def test_every_quantity_says_what_it_is() -> None:
    assert [name for name, quantity in load_quantities().items() if not quantity.says] == []


def test_each_choice_that_defines_one_has_all_its_values() -> None:
    values = {choice.field: {*choice.values, choice.repaired} for choice in CHOICES}
    for quantity in load_quantities().values():
        if quantity.choice:
            assert {value for value, _ in quantity.cases} == values[quantity.choice]


def test_definitions_stand_on_what_is_above_them() -> None:
    above: set[str] = set()
    for name, quantity in load_quantities().items():
        named = {part.name for _, node in quantity.cases for part in node.walk() if part.kind == "quantity"}
        assert named <= above, name
        above.add(name)
