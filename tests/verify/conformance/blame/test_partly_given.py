"""A lower level that an explanation gives but for a few answers is told with what is left; of which less, is not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest

from tests.verify.conformance.blame.one_stage import Solving, lower
from tests.verify.conformance.blame.test_lower_blame import penalised
from tests.verify.conformance.blame.test_lower_slips import stabilised
from verify.conformance.blame.all_stages import explain_all
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.blame.explanations.holding_out import HeldOutTrial
from verify.conformance.blame.left_over import left_over
from verify.conformance.blame.lower_level.lower import LowerProgram
from verify.conformance.blame.lower_level.lower_places import LOWER_MEASURING, drawn_problems
from verify.conformance.blame.lower_level.partly_given import partly_given
from verify.conformance.comparison.stage_comparison import Seen, look
from verify.conformance.letter.diagnosis import diagnose
from verify.subjects.protocol import StageCalls

TOLD = "the rows are a penalty ½·1e+06·‖max(h, 0)‖² in place of constraints"


def where(is_other: Callable[[Any, Any], bool], other: Any) -> Any:
    """Rows that are not quite held, and another answer where something is so."""
    return lambda a, x: other(a, x) if is_other(a, x) else stabilised(a, x)


def cut(a: Any, x: Any) -> Any:
    """Multipliers by a rule of nobody."""
    y, lam = lower(a, x)
    return y, lam * (1 + 0.01 * np.sin(7 * lam)) + 1e-4


def seen_of(pair: Any) -> Seen:
    return look(StageCalls(Solving(pair)), only=["lower_level"])


def partly(pair: Any) -> tuple[Seen, Blame | None]:
    """What is told of most answers, after those that explanations are found on."""
    seen = seen_of(pair)
    answers = seen.of("lower_level")
    trial = HeldOutTrial("lower_level", seen.stages, [*answers], [*drawn_problems()], lambda probe: probe.tolerance)
    trial.ask(trial.pool[:LOWER_MEASURING])
    return seen, partly_given(trial, answers, 0.0)


def test_a_few_judged_answers_that_are_otherwise_are_told_beside_the_rest() -> None:
    seen = seen_of(where(lambda a, x: len(a.b) > 4, cut))
    (found,) = diagnose(seen, explain_all(seen.stages, seen))
    assert TOLD in found.sentence and found.held_out >= 6
    off = [a for a in seen.of("lower_level") if not a.excess <= 1]
    other = [a for a in off if len(a.probe.problem.arrays.b) > 4]
    assert 0 < len(other) <= len(off) / 4
    assert found.rest.startswith(f"This is not all: {len(other)} of the {len(off)} answers that are off ")
    left = float(found.rest.split("up to ")[1].split()[0])
    assert left == pytest.approx(max(np.abs(a.got - a.probe.expected).max() for a in other), rel=0.1)


def test_what_is_left_of_answers_asked_for_besides_is_told() -> None:
    seen, blame = partly(where(lambda a, x: len(a.b) == 3 and len(x) == 2 and x[0] > 1.2, cut))
    assert blame is not None and TOLD in blame.explanations[0].sentence
    assert 0 < len(blame.left) <= blame.agrees / 3
    rest = left_over(seen, [blame], "lower_level")
    assert "This is not all: " in rest and f"{len(blame.left)} answer" in rest
    assert "not as it says of what was asked for besides, off what it says by up to " in rest


def test_right_answers_that_should_be_off_are_told() -> None:
    seen = seen_of(lambda a, x: lower(a, x) if len(a.b) == 1 else penalised(1e4)(a, x))
    blame = Blame("lower_level", [LowerProgram(form="penalty", number=1e4)])
    assert " answers are right where it says otherwise, by up to " in left_over(seen, [blame], "lower_level")


def test_an_explanation_of_less_than_most_is_not_told() -> None:
    assert partly(where(lambda a, x: x[0] > 0.3, cut))[1] is None


def test_an_explanation_that_later_answers_refute_is_not_told() -> None:
    asked = count()
    assert partly(where(lambda a, x: len(a.b) > 4 or next(asked) > 44, cut))[1] is None
