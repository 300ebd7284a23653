"""What a subject without a past answers, also to one question on what another is about."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TypeVar

from spec.exact import Vector
from verify.conformance.blame.memory.state_of_runs import Renew
from verify.conformance.blame.memory.state_questions import Question
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls

T = TypeVar("T")


class Alone:
    """What a subject without a past answers: a new copy of it, or the reference where there are none."""

    def __init__(self, renew: Renew | None) -> None:
        self._renew = renew
        self._made: dict[tuple[str, int, int], Vector | None] = {}

    def ask(self, make: Callable[[StageCalls], T]) -> T:
        """Ask a copy that nothing was asked before."""
        with self._renew() if self._renew is not None else nullcontext(StageCalls(ReferenceSubject())) as fresh:
            return make(fresh)

    def with_pair_of(self, question: Question, other: Question) -> Vector | None:
        """The estimate a question gets on the lower-level pair of another; ``None`` where that does not fit."""
        key = ("pair", id(question), id(other))
        if key not in self._made:
            # Two copies: one that has solved for the other question might answer this one with what it keeps.
            pair = self.ask(partial(_pair_of, other=other))
            probe = None if pair is None else question.with_pair_of(other, pair)
            self._made[key] = None if probe is None else self.ask(probe.ask)
        return self._made[key]

    def with_problem_of(self, question: Question, other: Question) -> Vector | None:
        """The answer a question gets on the problem of another; ``None`` where that is of other sizes."""
        key = ("problem", id(question), id(other))
        if key not in self._made:
            self._made[key] = self.ask(partial(_on_problem, question=question, other=other))
        return self._made[key]


def _pair_of(stages: StageCalls, other: Question) -> tuple[Vector, Vector] | None:
    there = other.probe
    if there.problem is None:
        return None
    solver = stages if stages.offers("lower_level") else StageCalls(ReferenceSubject())
    return solver.lower_level(there.problem, there.x)


def _on_problem(stages: StageCalls, question: Question, other: Question) -> Vector | None:
    if other.attributes["sizes"] != question.attributes["sizes"] or other.probe.problem is None:
        return None
    return replace(question.probe, problem=other.probe.problem).ask(stages)
