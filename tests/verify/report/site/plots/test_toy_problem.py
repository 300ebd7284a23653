"""The toy's formulas: derived, equal to what the reference solver computes, and what the page's script evaluates."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from f2csa_ref import hypergradient
from spec.atlas import find
from spec.reading import REPAIRED
from verify.report.site.plots.toy_figure import AT, toy_figure
from verify.report.site.plots.toy_problem import TOY, toy

ALPHAS = st.fractions(Fraction(1, 1000), Fraction(1, 2), max_denominator=10_000)


@given(ALPHAS)
def test_as_written_is_off_by_the_pull_of_the_row(alpha: Fraction) -> None:
    made = toy()
    assert made.repaired(alpha) == 1 / (1 + alpha**2)
    assert made.as_written(alpha) - made.repaired(alpha) == 1 / alpha**2


def test_what_stands_there_without_scripts_is_the_value_at_the_slider() -> None:
    figure = toy_figure()
    assert figure.shown["alpha"] == "0.1"
    assert float(figure.shown["written"]) == pytest.approx(float(toy().as_written(AT)), rel=1e-5)
    assert float(figure.shown["repaired_error"]) == pytest.approx(1 - float(toy().repaired(AT)), rel=1e-3)


@given(st.floats(0.01, 0.5))
def test_the_scripts_coefficients_give_the_estimates(alpha: float) -> None:
    data = json.loads(toy_figure().data)
    for name, curve in (("written", toy().as_written), ("repaired", toy().repaired)):
        over, under = (sum(c * alpha**k for k, c in enumerate(part)) for part in data[name])
        assert over / under == pytest.approx(float(curve(Fraction(alpha))), rel=1e-9)


def test_the_printed_formulas_are_those() -> None:
    made = toy()
    assert (made.as_written.text, made.repaired.text) == ("(1 + 2α²)/(α²(1 + α²))", "1/(1 + α²)")


@pytest.mark.parametrize(("choice", "name"), [("frozen", "as_written"), ("cancelled", "repaired")])
def test_the_reference_solver_answers_the_same(choice: str, name: str) -> None:
    instance = find(TOY)
    x = np.array([float(value) for value in instance.x])
    made = hypergradient(instance.problem, x, alpha=0.1, reading=REPAIRED.choose(dual_term=choice))
    assert made.hypergradient[0] == pytest.approx(float(getattr(toy(), name)(AT)), rel=1e-9)
