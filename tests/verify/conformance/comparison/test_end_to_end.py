"""Algorithm 2 is judged in an optimiser that takes no oracle, from what its iterates show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.verify.conformance.optimisers import optimiser, right
from tests.verify.conformance.replays import played_here
from tests.verify.conformance.subjects import OnlyHypergradient
from verify.conformance.comparison.end_to_end import judge_end_to_end
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.judge import run_self_test
from verify.conformance.repro.repro import reproduce
from verify.subjects.adapters import EndToEnd
from verify.subjects.protocol import StageCalls

HERE = "load_subject('tests.verify.conformance.optimisers:{}')"


@pytest.mark.parametrize("subject", [right, optimiser(no_means=True)])
def test_a_right_one_agrees(subject: Any) -> None:
    found = judge_end_to_end(StageCalls(subject))
    assert found.status == "agrees"
    assert found.compared > 100


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"clip": False}, "step Δ_2"),
        ({"D": 2.0}, "step Δ_2"),
        ({"forgets": True}, "step Δ_3"),
        ({"descent": -1.0}, "step Δ_2"),
        ({"frozen": True}, "step Δ_"),
        ({"without_y": True}, "first on through-y: step Δ_2"),
        ({"beyond": True}, "mean of block 1"),
        ({"s": 0.5}, "distance of s_t from uniform"),
        ({"s": 1.0}, "distance of s_t from uniform"),
        ({"last": True}, "chi squared of the blocks that were output (0, 0, 0, 96 times)"),
        ({"iterate": True}, "the output against the nearest block mean"),
    ],
)
def test_each_wrong_line_is_seen(wrong: dict[str, Any], said: str) -> None:
    found = judge_end_to_end(StageCalls(optimiser(**wrong)))
    assert found.status == "diverges"
    assert said in found.sentence
    assert ", must be " in found.sentence


@pytest.mark.parametrize("still", [True, False])
def test_one_that_knows_nothing_deviates(still: bool) -> None:
    def solve(problem: Any, x0: Any, T: int, rng: Any) -> Any:
        path = np.repeat(x0[None], T + 1, axis=0)
        return {"path": path if still else path + rng.standard_normal(path.shape), "x_out": x0}

    assert judge_end_to_end(StageCalls(EndToEnd(solve))).status == "diverges"


def test_what_is_no_answer_is_a_fault() -> None:
    def crashing(problem: Any, x0: Any) -> Any:
        raise ValueError("no licence")

    for solve, line in ((crashing, "solve raised ValueError: no licence ("), (lambda problem, x0: {}, "solve.path")):
        seen = look(StageCalls(EndToEnd(solve)), only=["optimise"])
        assert seen.findings[0].status == "fault"
        assert line in seen.faults[0] or "solve.x_out" in seen.faults[0]


def test_its_repro_ends_in_what_must_be() -> None:
    seen = look(StageCalls(optimiser(clip=False)), only=["optimise"])
    made = reproduce(seen, HERE.format("never_clips"), played_here)
    assert made is not None
    assert made.sentence.endswith("A fresh process shows it, too.")
    assert " must be in " in played_here(made.code).last_line
    assert played_here(made.code.replace("never_clips", "right")).shows is False


def test_its_author_can_try_it_first() -> None:
    (line,) = [line for line in run_self_test(right) if line[0] == "end_to_end"]
    assert line == ("end_to_end", True, "x_out (1,), x_bar (6, 1), path (31, 1)")
    (line,) = [line for line in run_self_test(EndToEnd(lambda problem, x0: {})) if line[0] == "end_to_end"]
    assert line[:2] == ("end_to_end", False)
    assert all(name != "end_to_end" for name, _, _ in run_self_test(OnlyHypergradient()))
