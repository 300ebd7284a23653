"""Formulas are read by a closed grammar; what is none is refused in one line that names the place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import InvalidInputError
from spec.formulas import choices_within, load_quantities, names_within, parse_formula
from spec.formulas.tree import ROW_SETS

WHERE = "claims/a.toml, as_written.formula"
REFUSED = {
    "norm(T4) <= 1": "unknown quantity",
    "norm(grad_fx) <= 1": "unknown quantity",
    "norm(T3)": "must be a statement",
    "norm(T3) <=": "is no formula",
    "norm(T3) <= O(alpha": "is no formula",
    "__import__('os')": "uses what the language has not",
    "alpha.real <= 1": "uses what the language has not",
    "(lambda: 1)() <= 1": "uses what the language has not",
    "[alpha] <= 1": "uses what the language has not",
    "0 <= alpha <= 1": "uses what the language has not",
    "True <= 1": "uses what the language has not",
    "'a' <= 1": "uses what the language has not",
    "1j <= 1": "uses what the language has not",
    "eval(alpha) <= 1": "calls an unknown function",
    "x <= y_any": "compares shapes",
    "x[active] <= 1": "takes rows",
    "norm(A @ y_any) <= 1": "applies @ to shapes",
    "A + B <= A + B": "applies + to shapes",
    "x ^ 2 <= 1": "applies ^ to shapes",
    "alpha ^ 99 <= 1": "applies ^ to shapes",
    "alpha ^ alpha <= 1": "applies ^ to shapes",
    "alpha ^ (1/3) <= 1": "applies ^ to shapes",
    "alpha ^ (1/0) <= 1": "applies ^ to shapes",
    "alpha >= O(1)": "must hold a number <= O",
    "x <= O(1)": "must hold a number <= O",
    "rho <= 1": "needs arguments (ys, lam)",
    "norm(rho(y_star)) <= 1": "rho must have (ys: vector m, lam: vector p)",
    "norm(h(x)) <= 1": "h must have (y: vector m)",
    "eig_min(A) <= 1": "eig_min cannot take; got matrix p x n",
    "norm() <= 1": "norm cannot take; got nothing",
    "solve(A, x) <= 1": "solve cannot take",
    "all(alpha <= 1)": "all cannot take; got statement",
    "alpha <= 1 and alpha": "must join statements",
    "active <= 1": "compares shapes",
    "1e999999999 <= alpha": "must have numbers of at most",
    "9" * 80 + " <= alpha": "must have numbers of at most",
    "0x10 <= alpha": "must have decimal numbers",
    "\0 <= 1": "is no formula",
    "(" * 250 + "1" + ")" * 250 + " <= 1": "is no formula",
    "-" * 1900 + "1 <= 1": "is no formula",
    "1" + " + 1" * 600 + " <= alpha": "letters",
    "": "is no formula",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:24] or "nothing")
def test_what_is_no_formula_is_refused_in_one_line_that_names_the_place(text: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        parse_formula(text, WHERE)
    message = str(refused.value)
    assert REFUSED[text] in message
    assert message.startswith(WHERE)
    assert "\n" not in message


def test_a_near_name_is_named() -> None:
    with pytest.raises(InvalidInputError, match="did you mean lam_star"):
        parse_formula("norm(lam_stat) <= 1")


@given(st.text(max_size=60))
def test_no_text_ends_in_anything_but_a_tree_or_one_line(text: str) -> None:
    try:
        node = parse_formula(text)
    except InvalidInputError as refused:
        assert "\n" not in str(refused)
    else:
        assert node.shape == ("truth",)


SIGNS = ("norm", "sup", "(", ")", "@", "*", "+", "<=", "^", "2", ".T", ",")
words = st.sampled_from([*load_quantities(), *ROW_SETS, *SIGNS])


@given(st.lists(words, max_size=14))
def test_no_words_of_the_language_end_in_anything_else_either(tokens: list[str]) -> None:
    try:
        parse_formula(" ".join(tokens))
    except InvalidInputError as refused:
        assert "\n" not in str(refused)


def test_decimals_are_what_is_written() -> None:
    node = parse_formula("alpha <= 0.1")
    assert node.args[1].name == "1/10"


def test_a_power_binds_tighter_than_a_product() -> None:
    node = parse_formula("2 * alpha^2 <= 1").args[0]
    assert node.name == "*"
    assert node.args[1].name == "^"


def test_what_a_formula_hangs_on_is_found_through_definitions() -> None:
    node = parse_formula("norm(T1) <= O(alpha)")
    assert choices_within(node) == ("ramp_width", "multiplier_width", "inner_stop", "dual_term", "weights")
    assert {"e_y", "e_lam", "lam_star", "g_yy"} <= names_within(node)
    assert choices_within(parse_formula("norm(A) <= 1")) == ()
