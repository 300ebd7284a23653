"""What is found is confirmed by questions that are answered, each time in a program as new."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from verify.conformance.trace.patches.clean_copy import CleanCopy

KEPT: list[int] = []


def answers() -> Sequence[float]:
    return (0.0,)


def refuses() -> Sequence[float]:
    raise NotImplementedError


def once() -> Sequence[float]:
    KEPT.append(1)
    return (2.0 * (len(KEPT) - 1),)


def ends() -> Sequence[float]:
    raise SystemExit(0)


def test_only_questions_that_are_answered_rightly_confirm() -> None:
    copy = CleanCopy((answers, refuses, once, ends), {__file__})
    assert copy.is_right({}, [0])
    assert not copy.is_right({}, [1])
    assert not copy.is_right({}, [0, 1])
    assert not copy.is_right({}, [3])


def test_each_request_is_played_as_if_it_were_the_first() -> None:
    copy = CleanCopy((answers, refuses, once), {__file__})
    assert [copy.is_right({}, [2]) for _ in range(2)] == [True, True]
    assert not copy.is_right({}, [2, 2])
    assert not KEPT


def test_code_is_exchanged_where_a_request_says_so() -> None:
    own: dict[str, Any] = {}
    right, wrong = (compile(f"def square(v):\n    return {body}", "own.py", "exec") for body in ("v * v", "9 * v"))
    exec(right, own)
    copy = CleanCopy((lambda: (own["square"](2.0) - 4.0,),), {"own.py"})
    codes = {"own.py": {("square", 1): wrong.co_consts[0]}}
    assert not copy.is_right(codes, [0])
    assert copy.is_right({}, [0])
