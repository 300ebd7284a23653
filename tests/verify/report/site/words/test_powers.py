"""Powers and indices become HTML's, and nothing else changes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from verify.report.site.words.powers import drawn_powers, set_powers
from verify.report.wording import typeset


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("α⁻²", "α<sup>−2</sup>"),
        ("ε⁻⁸·⁷¹", "ε<sup>−8.71</sup>"),
        ("α₁₂", "α<sub>12</sub>"),
        ("∂ᵣF", "∂<sub>r</sub>F"),
        ('<a title="α²">α²</a>', '<a title="α²">α<sup>2</sup></a>'),
        ("<svg><text>α²</text></svg>α²", "<svg><text>α²</text></svg>α<sup>2</sup>"),
        ("<code>α²</code>", "<code>α²</code>"),
    ],
)
def test_text_is_set_and_all_else_left(before: str, after: str) -> None:
    assert set_powers(Markup(before)) == after


@given(st.text(st.sampled_from("ab α⁻²₁/<>&")).map(lambda text: Markup.escape(text)))
def test_no_letter_is_lost(text: Markup) -> None:
    plain = str.maketrans("⁻²₁", "−21")
    assert re.sub(r"</?su[bp]>", "", str(set_powers(text))).translate(plain) == str(text).translate(plain)


def test_a_drawing_raises_them_too() -> None:
    label = drawn_powers("as written, α⁻²")
    assert re.sub(r"<[^>]*>|\u200b", "", label) == "as written, α−2"
    assert label.count("<tspan") == label.count("</tspan>") == 2
    assert "dy=" in (index := drawn_powers(typeset("claimed N_g⁻¹, a < b")))
    assert re.sub(r"<[^>]*>|\u200b", "", index) == "claimed Ng−1, a &lt; b"
    assert index.count("<tspan") == index.count("</tspan>") == 4
