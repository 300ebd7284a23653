"""Labels of drawings are heard, so that they hold no sign that only a typesetter reads."""

from __future__ import annotations

import re

import pytest

from spec.claims import load_claims
from verify.report.figures.spoken_text import heard
from verify.report.wording import typeset


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("variance at N_g = σ²/α²", "variance at N g = σ²/α²"),
        ("L_{H,y} against α, log–log", "L H,y against α, log–log"),
        ("steps to accuracy 1e-06", "steps to accuracy 10⁻⁶"),
        ("off by 2.5e+04", "off by 2.5 × 10⁴"),
        ("X = R^n", "X = R to the n"),
        ("a < b & c", "a < b & c"),
    ],
)
def test_no_raw_sign_is_left(text: str, said: str) -> None:
    assert heard(text) == said


def test_of_every_quantity_on_record_no_raw_sign_is_left() -> None:
    quantities = {
        assertion.bound.quantity
        for claim in load_claims().values() for _, statement in claim.statements()
        for assertion in (statement.as_written, statement.repaired)
    }  # fmt: skip
    assert len(quantities) > 100
    raw = [heard(text) for text in quantities if re.search(r"[_^{}\\]|\de[+-]\d", heard(text))]
    # A set has braces, and a name in code its underscore.
    assert [text for text in raw if not re.search(r"\{[^{}]*:[^{}]*\}|[a-z]{2,}_[a-z]{2,}", text)] == []


def test_a_power_of_ten_is_set_as_one_and_a_command_has_none() -> None:
    assert typeset("accuracy 1e-06, at most 2.9e+36") == "accuracy 10<sup>−6</sup>, at most 2.9 × 10<sup>36</sup>"
    assert typeset("case-1e-06x") == "case-1e-06x"
