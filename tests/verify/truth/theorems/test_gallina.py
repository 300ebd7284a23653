"""Statements are read as the kernel means them, and mean what they say."""

from __future__ import annotations

import pytest
from flint import fmpq

from spec import InvalidInputError
from verify.truth.theorems.gallina import parse
from verify.truth.theorems.mistypings import mistypings
from verify.truth.theorems.statement_values import TheoremStatement


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("- Cf + mu / u * 2", fmpq(0)),
        ("1 - 2 - 3", fmpq(-4)),
        ("/ 2 * 4", fmpq(2)),
        ("Rabs (- 2) * sqrt (9 / 4)", fmpq(3)),
        ("(fun x : R => x * x) 3", fmpq(9)),
    ],
)
def test_arithmetic(text: str, value: fmpq) -> None:
    (leaf,) = (
        TheoremStatement(parse(f"forall r : R, r = {text}"))
        .at({"r": value, "Cf": fmpq(1), "mu": fmpq(1), "u": fmpq(2)})
        .leaves
    )
    assert leaf.holds


def test_premises_are_counted_and_the_conclusion_computed_all_the_same() -> None:
    outcome = TheoremStatement(parse("forall a b : R, 0 < a -> a < b -> a * a <= b")).at({"a": fmpq(-2), "b": fmpq(-3)})
    assert outcome.missed == (0, 1)
    assert not outcome.true


def test_an_equivalence_is_not_an_implication() -> None:
    statement = TheoremStatement(parse("forall a b : R, 0 < a -> 0 < b <-> a < b"))
    assert not statement.at({"a": fmpq(2), "b": fmpq(1)}).true


def test_a_derivative_is_that_of_a_polynomial_of_degree_four_at_most() -> None:
    of = TheoremStatement(parse("forall a : R, derivable_pt_lim (fun x : R => x * x * x * x + a) 3 108"))
    assert of.at({"a": fmpq(1)}).true
    fifth = TheoremStatement(parse("forall a : R, derivable_pt_lim (fun x : R => x * x * x * x * x) 0 0"))
    assert fifth.at({"a": fmpq(1)}).error


@pytest.mark.parametrize("text", ["/ 0 = 0", "1 / (1 - 1) = 0", "sqrt (- 4) = 0", "Rabs (sqrt 2 * sqrt 2 - 2) <= 0"])
def test_total_functions_are_the_kernels(text: str) -> None:
    assert TheoremStatement(parse(f"forall r : R, {text}")).at({"r": fmpq(0)}).true


def test_a_ball_around_nothing_divides_nothing() -> None:
    assert TheoremStatement(parse("forall r : R, 1 / (sqrt 2 * sqrt 2 - 2) <= r")).at({"r": fmpq(0)}).error


@pytest.mark.parametrize("text", ["forall a : R, a <", "a $ b", "a = b )"])
def test_what_is_no_statement_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parse(text)


def test_mistypings_change_each_sign_once() -> None:
    names = [wrong.name for wrong in mistypings(parse("forall a u : R, 0 < a -> a <= u * (2 * a - 1)"))]
    assert "premise 0: left out" in names
    assert "conclusion: u times alpha" in names
    assert "conclusion: ((2 * a) - 1) turned" in names
    assert "conclusion: 2 doubled" in names
    assert len(names) == len(set(names))


def test_what_is_compared_with_nothing_has_no_factor() -> None:
    names = [wrong.name for wrong in mistypings(parse("forall a b : R, 0 <= a * b"))]
    assert names == ["conclusion: <= turned", "conclusion: 0 is 1"]
