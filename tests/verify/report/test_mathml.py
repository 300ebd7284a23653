"""Formulas are set from shared glyphs; what cannot be set is shown as it is."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from verify.report.typeset import FormulaSheet, spoken


def test_a_formula_refers_only_to_glyphs_on_the_sheet() -> None:
    sheet = FormulaSheet()
    made = sheet.render(r"\lVert \tilde{y} - y^*_{\tilde\lambda,\alpha} \rVert \le \frac{\alpha^3}{2}\ \text{a b}")
    used = set(re.findall(r'href="#(\w+)"', made))
    kept = set(re.findall(r'id="(\w+)"', sheet.glyphs()))
    assert used == kept
    ElementTree.fromstring(made)
    ElementTree.fromstring(sheet.glyphs())


def test_formulas_share_their_glyphs() -> None:
    sheet = FormulaSheet()
    sheet.render("x + y")
    before = sheet.glyphs()
    sheet.render("y + x + y")
    assert sheet.glyphs() == before


def test_a_formula_takes_the_colour_of_the_text() -> None:
    assert "fill=" not in FormulaSheet().render(r"\sqrt{\frac{a}{b}}")


def test_alternative_text_is_the_latex_and_is_escaped() -> None:
    made = FormulaSheet().render(r'a < b \text{ "quoted"}')
    assert 'aria-label="a &lt; b \\text{ &#34;quoted&#34;}"' in made


@pytest.mark.parametrize("latex", [r"\frac{a", r"\begin{nonsense} x", "}{", "{" * 50])
def test_what_cannot_be_set_is_shown_as_code_or_set_anyway(latex: str) -> None:
    assert FormulaSheet().render(latex).startswith(("<code>", "<svg"))


def test_nothing_gives_nothing() -> None:
    assert FormulaSheet().render("") == ""


def test_spoken_replaces_layout_commands_but_not_their_namesakes() -> None:
    assert spoken(r"\left\lVert x\right\rVert \le \lambda \leftarrow") == r"‖ x‖ ≤ \lambda \leftarrow"


def test_nabla_keeps_its_subscript_close() -> None:
    sheet = FormulaSheet()
    places = [float(at) for at in re.findall(r"(?:x=\"|translate\()([\d.]+)", sheet.render(r"\nabla_y L"))]
    assert 8 < places[0] < 9.5
