"""Answers about a problem, kept as long as it lives: several statements ask the very same of one instance."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")


def kept(size: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep a function's answers, at most ``size`` of one problem.

    The problem is the first argument, told apart by identity: to hash it would hash every exact entry. The others must
    be hashable, and nobody may change an answer. What raises is asked anew.
    """

    def keeping(function: Callable[P, T]) -> Callable[P, T]:
        known: dict[int, tuple[weakref.ref[Any], dict[tuple[Hashable, ...], T]]] = {}

        @wraps(function)
        def answer(*args: P.args, **kwargs: P.kwargs) -> T:
            problem, rest = args[0], cast("tuple[Hashable, ...]", (*args[1:], *kwargs.items()))
            key = id(problem)
            if key not in known or known[key][0]() is not problem:
                known[key] = weakref.ref(problem, lambda _: known.pop(key, None)), {}
            answers = known[key][1]
            if rest not in answers:
                value = function(*args, **kwargs)
                if len(answers) >= size:
                    answers.clear()
                answers[rest] = value
            return answers[rest]

        return answer

    return keeping
