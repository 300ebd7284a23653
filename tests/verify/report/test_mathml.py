"""Formulas are MathML; what cannot be set is shown as it is."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from spec import load_claims
from verify.report.mathml import formula, spoken


def test_every_formula_of_the_claims_is_set_and_well_formed() -> None:
    wanted = [text.latex for claim in load_claims().values() for _, each in claim.statements()
              for text in (each, each.as_written, each.repaired, *each.premises) if text.latex]  # fmt: skip
    assert len(wanted) > 700
    for latex in wanted:
        made = formula(latex)
        assert made.startswith("<math "), latex
        ElementTree.fromstring(made)


def test_a_displayed_formula_takes_the_focus_and_one_in_a_line_does_not() -> None:
    assert 'tabindex="0"' in formula(r"\frac{a}{b}")
    assert "tabindex" not in formula("a", inline=True)
    assert 'display="inline"' in formula("a", inline=True)


@pytest.mark.parametrize(
    "latex", [r'a \text{ "<script>alert(1)</script>" }', r"\text{<b>}", r"\mathrm{<img src=x onerror=y>}", "a & <i>"]
)
def test_what_is_no_formula_stays_text(latex: str) -> None:
    made = formula(latex)
    assert not re.search(r"<(script|b|i|img)\b", made)
    ElementTree.fromstring(made)


@pytest.mark.parametrize("latex", [r"\frac{a", r"\begin{nonsense} x", "}{", "{" * 50])
def test_what_cannot_be_set_is_shown_as_code_or_set_anyway(latex: str) -> None:
    assert formula(latex).startswith(("<code>", "<math "))


def test_nothing_gives_nothing() -> None:
    assert formula("") == ""


def test_spoken_replaces_layout_commands_but_not_their_namesakes() -> None:
    assert spoken(r"\left\lVert x\right\rVert \le \lambda \leftarrow") == r"‖ x‖ ≤ \lambda \leftarrow"


def test_nabla_is_a_letter_and_norm_bars_keep_their_size() -> None:
    made = formula(r"\|\nabla_y L\|")
    assert '<mi mathvariant="normal">∇</mi>' in made
    assert made.count('stretchy="false"') >= 2
