"""What is kept for a session is what a run finds, is of these sources, and serves no test that patches anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import kept
from verify.campaign.plan import Task, perform
from verify.report.model import Result
from verify.subjects import ReferenceSubject

TASK = Task("bias-bound/T3", "repaired", "toy1", "reference", "smoke", 12345)


@pytest.fixture
def performed(tmp_path: Path) -> Callable[[], int]:
    """How often a result was computed, in a session of its own where nothing is kept yet."""
    count = 0

    def counted(task: Task, subject: ReferenceSubject) -> Result:
        nonlocal count
        count += 1
        return perform(task, subject)

    patch = pytest.MonkeyPatch()
    patch.setenv(kept.FOLDER, str(tmp_path))
    patch.setattr(kept, "_own", {})
    patch.setattr(kept, "perform", counted)
    yield lambda: count
    patch.undo()


def plain(result: Result) -> str:
    return result.model_copy(update={"seconds": None}).model_dump_json()


def test_a_result_is_made_once_and_is_what_a_run_finds(performed: Callable[[], int]) -> None:
    first = kept.result_of(TASK)
    assert kept.result_of(TASK) is first
    kept._own.clear()  # as another worker has it
    again = kept.result_of(TASK)
    assert (performed(), again) == (1, first)
    assert plain(again) == plain(perform(TASK, ReferenceSubject()))


def test_what_other_sources_found_is_not_served(performed: Callable[[], int]) -> None:
    kept.result_of(TASK)
    kept._own.clear()
    patch = pytest.MonkeyPatch()
    with patch.context() as changed:
        changed.setattr(kept, "_sources", lambda: "others")
        kept.result_of(TASK)
    assert performed() == 2


def test_another_question_is_another_result(performed: Callable[[], int]) -> None:
    kept.result_of(TASK)
    kept.result_of(Task("bias-bound/T3", "as-written", "toy1", "reference", "smoke", 12345))
    assert performed() == 2


def test_who_patches_is_served_nothing(performed: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> None:
    kept.result_of(TASK)
    kept.result_of(TASK)
    assert performed() == 2


def test_a_run_takes_what_is_kept(performed: Callable[[], int]) -> None:
    asked = {"instances": ["toy1"], "readings": ["repaired"], "profile": "smoke", "seed": 12345}
    one, two = kept.run(["bias-bound/T3"], **asked), kept.run(["bias-bound/T3"], **asked)
    assert performed() == 1
    assert one.results == two.results
