"""Formulas set ahead are those of the claims, and what setting them now gives."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from verify.report.formulary import asked, formulary
from verify.report.typeset import FormulaSheet, set_formula

KEYS = list(asked())


def test_every_formula_of_the_claims_is_there_and_no_other() -> None:
    # Made anew by ``python -m verify.report.formulary``.
    assert list(formulary()) == KEYS


@pytest.mark.parametrize("at", np.linspace(0, len(KEYS) - 1, 12).astype(int).tolist())
def test_it_is_what_setting_gives(at: int) -> None:
    latex, inline = KEYS[at]
    kept, made = formulary()[latex, inline], set_formula(latex, inline)
    assert kept is not None
    assert made is not None
    assert [glyph[0] for glyph in kept.glyphs] == [glyph[0] for glyph in made.glyphs]
    for name in ("left", "top", "width", "height"):
        assert getattr(kept, name) == pytest.approx(getattr(made, name), abs=1e-5)
    ahead = FormulaSheet(ready={(latex, inline): kept}).render(latex, inline=inline)
    assert ahead == FormulaSheet(ready={(latex, inline): rounded(made)}).render(latex, inline=inline)


def rounded(made):
    glyphs = tuple((outline, *(round(v, 5) for v in where)) for outline, *where in made.glyphs)
    box = {name: round(getattr(made, name), 5) for name in ("left", "top", "width", "height")}
    return dataclasses.replace(made, glyphs=glyphs, **box)
