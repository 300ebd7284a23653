"""An answer is kept for the problem it was given for, as long as that lives, and for no other."""

from __future__ import annotations

import gc
import weakref
from fractions import Fraction

import pytest

from spec.atlas import find
from verify.truth.algebra.kept_answers import kept
from verify.truth.lower_level import lower_level


def counting(size):
    asked = []

    @kept(size)
    def answer(problem, x):
        asked.append((problem.n, x))
        if x < 0:
            raise ValueError(x)
        return problem.n + x

    return answer, asked


def copy_of(name):
    return find(name).problem.model_copy()


def test_the_same_question_is_answered_once():
    answer, asked = counting(4)
    problem = copy_of("toy1")
    assert [answer(problem, x) for x in (1, 2, 1, 2)] == [2, 3, 2, 3]
    assert len(asked) == 2


def test_an_equal_problem_is_another_one():
    answer, asked = counting(4)
    first, second = copy_of("toy1"), copy_of("toy1")
    assert first == second
    assert answer(first, 1) == answer(second, 1)
    assert len(asked) == 2


def test_no_more_is_kept_than_said():
    answer, asked = counting(2)
    problem = copy_of("toy1")
    for x in (1, 2, 3, 1):
        answer(problem, x)
    assert len(asked) == 4


def test_what_raises_is_asked_anew():
    answer, asked = counting(4)
    problem = copy_of("toy1")
    for _ in range(2):
        with pytest.raises(ValueError, match="-1"):
            answer(problem, -1)
    assert len(asked) == 2


def test_a_problem_is_not_kept_alive():
    answer, _ = counting(4)
    problem = copy_of("toy1")
    answer(problem, 1)
    seen = weakref.ref(problem)
    del problem
    gc.collect()
    assert seen() is None


def test_the_lower_level_tells_points_apart():
    problem = copy_of("toy1")
    here, there = (lower_level.solve(problem, [x]) for x in (Fraction(1), Fraction(2)))
    assert here.y_star != there.y_star
    assert lower_level.solve(problem, [1.0]) == here
