"""What is tried in the place of what is written, and that the tree is as before afterwards."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import pytest

from verify.conformance.trace.patches.expression_edits import expression_edits
from verify.conformance.trace.patches.source_edits import Function, SourceEdit, Written, attributes_of
from verify.conformance.trace.patches.statement_edits import statement_edits
from verify.conformance.trace.source_sites import SourceText

SOURCE = """
def f(a, x, w, rho, D, cache):
    key = rho.tobytes()
    if key not in cache:
        cache[key] = a.A.T @ x
    total = 0
    keep = total
    for i in range(len(rho)):
        if rho[i] == 0:
            break
        total += a.f_xy[i] @ w - norm(a.B)
    if total > D and any(x >= 0):
        return total
    return solve(x, w) + 1
"""


def function_of(source: str) -> tuple[Function, Written]:
    tree = ast.parse(source)
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    alike = {"x": ["w", "rho"], "w": ["x", "rho"], "rho": ["x", "w"]}
    names = ["x", "w", "rho", "D"]
    return function, Written(SourceText(source), names, names, lambda name: alike.get(name, []), attributes_of(tree))


def edits(source: str) -> Sequence[SourceEdit]:
    function, written = function_of(source)
    return [*expression_edits(function, written), *statement_edits(function, written)]


def test_a_method_is_no_value_that_may_be_meant() -> None:
    read = "def f(x, w):\n    return x.shape, x.tobytes(), w.size, w.tobytes()\n"
    made = {(edit.text, edit.instead) for edit in edits(read)}
    assert not made & {("x.shape", "`x.tobytes`"), ("w.size", "`w.tobytes`")}
    assert made


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("total > D", "`total >= D`"), ("total > D", "`total > D * D`"), ("any(x >= 0)", "`all(x >= 0)`"),
        ("solve(x, w)", "`solve(w, x)`"), ("solve(x, w)", "`solve(rho, w)`"), ("norm(a.B)", "`norm(a.B, 2)`"),
        ("a.A.T @ x", "`a.A @ x`"), ("break", "`continue`"), ("keep = total", "`keep = total.copy()`"),
        ("rho.tobytes()", "`(rho.tobytes(), D)`"), ("solve(x, w) + 1", "`solve(x, w)`"),
        ("range(len(rho))", "`range(len(rho) - 1)`"), ("if total > D and any(x >= 0):", "left out"),
        ("total += a.f_xy[i] @ w - norm(a.B)", "`total = total + (a.f_xy[i] @ w - norm(a.B))`"),
        ("keep = total", "within the loop of line 8, first"), ("total = 0", "after line 7"),
        ("total > D and any(x >= 0)", "`total > D`"), ("a.f_xy[i] @ w - norm(a.B)", "`a.f_xy[i] @ w + norm(a.B)`"),
    ],
)  # fmt: skip
def test_what_may_be_meant_is_tried(text: str, instead: str) -> None:
    assert (text, instead) in {(edit.text, edit.instead) for edit in edits(SOURCE)}


def test_every_edit_makes_another_function_and_leaves_the_tree_as_it_was() -> None:
    function, written = function_of(SOURCE)
    before = ast.unparse(function)
    every = [*expression_edits(function, written), *statement_edits(function, written)]
    assert len(every) > 200
    for edit in every:
        with edit.made():
            assert ast.unparse(function) != before, edit
        assert ast.unparse(function) == before, edit
        assert edit.text not in (edit.instead, edit.instead.strip("`"))
        assert 1.0 <= edit.cost < 2.0


def test_an_edit_of_what_another_one_took_away_is_refused() -> None:
    function, written = function_of(SOURCE)
    made = [*statement_edits(function, written)]
    out = next(edit for edit in made if edit.text == "total = 0" and edit.instead == "left out")
    moved = next(edit for edit in made if edit.text == "total = 0" and edit.instead.startswith("after"))
    with out.made(), pytest.raises(ValueError, match="something else"), moved.made():
        pass


def test_what_is_assigned_around_an_edit_is_known_but_of_a_wrong_name() -> None:
    whole = {edit.instead: edit.around() for edit in edits(SOURCE)}
    assert whole["`solve(w, x)`"] == (14, "solve(x, w) + 1")
    assert whole["`a.A @ x`"] == (0, "")
    assert whole["`total >= D`"] == (0, "")
