"""A rewritten program is the same program, whose values come by."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from verify.conformance.trace.seen_values import ExchangedPlace, TooLongError, ValueWatch, by_answers, by_turn
from verify.conformance.trace.source_sites import SEEN, Rewriter, SourceSite

SOURCE = '''
import numpy as np
CONSTANT = 2.0 * 3.0
def helper(v):
    return 2.0 * v
def run(x, n=3):
    """Kept."""
    total = np.zeros(2)
    for i in range(n):
        total += helper(x) - 1.0
    first, second = total, x
    second = second[:1] if n else -second
    text = f"{total.sum():.1f}"
    squares = [v * v for v in x]
    try:
        raise KeyError("a")
    except KeyError as error:
        squares.append(str(error))
    return first, second, text, squares, lambda y: y + first
'''


def rewritten(source: str = SOURCE) -> tuple[dict[str, Any], ValueWatch]:
    watch = ValueWatch()
    tree = ast.fix_missing_locations(Rewriter(source, "mine.py", watch.sites).visit(ast.parse(source)))
    space: dict[str, Any] = {SEEN: watch}
    exec(compile(tree, "mine.py", "exec"), space)
    watch.files.add("mine.py")
    return space, watch


def plain() -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(compile(SOURCE, "mine.py", "exec"), space)
    return space


def site(watch: ValueWatch, text: str) -> tuple[int, SourceSite]:
    return next((k, one) for k, one in enumerate(watch.sites) if one.text == text)


def test_a_rewritten_program_answers_as_before() -> None:
    x = np.array([0.1, 0.7])
    ours, theirs = rewritten()[0]["run"](x), plain()["run"](x)
    assert (ours[0] == theirs[0]).all()
    assert (ours[1] == theirs[1]).all()
    assert ours[2:4] == theirs[2:4]
    assert (ours[4](x) == theirs[4](x)).all()


def test_errors_are_raised_on_the_same_lines() -> None:
    space, _ = rewritten("def run(x):\n    y = x + 1\n    return y / 0\n")
    with pytest.raises(ZeroDivisionError) as caught:
        space["run"](1)
    assert caught.traceback[-1].lineno + 1 == 3


def test_values_are_recorded_with_their_turn() -> None:
    space, watch = rewritten()
    x = np.array([1.0, 2.0])
    _, record = watch.record(lambda: space["run"](x))
    k, found = site(watch, "total += helper(x) - 1.0")
    ((_, seen),) = [item for item in record.items() if item[0][0] == k]
    assert [value.tolist() for value in seen.values] == [[1.0, 3.0], [2.0, 6.0], [3.0, 9.0]]
    assert found.line == 10
    assert found.is_whole
    assert seen.when == sorted(seen.when)


def test_a_helper_knows_the_line_that_called_it() -> None:
    space, watch = rewritten()
    _, record = watch.record(lambda: space["run"](np.ones(2)))
    k, _ = site(watch, "2.0 * v")
    assert [caller for number, caller in record if number == k] == [10]


def test_an_exchanged_value_is_used() -> None:
    space, watch = rewritten()
    k, _ = site(watch, "helper(x) - 1.0")
    wants = [np.array([float(i), 0.0]) for i in range(3)]
    run = lambda: space["run"](np.ones(2))  # noqa: E731  # asked twice
    answer = watch.exchanged(run, {k: ExchangedPlace(by_turn(wants))}, most=1000, seconds=5.0)
    assert answer[0].tolist() == [3.0, 0.0]
    assert run()[0].tolist() == [3.0, 3.0]


def test_an_exchange_by_answers_follows_the_oracle() -> None:
    exchange = by_answers([1.0, 2.0], 1)
    assert [exchange(0, clock, 9.0) for clock in (0, 1, 2, 3)] == [9.0, 1.0, 2.0, 9.0]


def test_a_run_that_goes_on_is_ended() -> None:
    space, watch = rewritten("def run(x):\n    while x < 1.0:\n        x = x * 1.0\n    return x\n")
    k, _ = site(watch, "x * 1.0")
    with pytest.raises(TooLongError):
        watch.exchanged(lambda: space["run"](0.5), {k: ExchangedPlace(by_turn([0.5]))}, most=5000, seconds=60.0)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("x", {"is_read": True}),
        ("helper(x)", {"is_own_call": True}),
        ("np.zeros(2)", {"is_own_call": False, "is_whole": True}),
        ("second", {"is_read": True, "is_parameter": False}),
        ("v", {"is_read": True, "is_parameter": True}),
    ],
)
def test_what_a_site_is(text: str, fields: dict[str, bool]) -> None:
    _, found = site(rewritten()[1], text)
    assert {name: getattr(found, name) for name in fields} == fields
