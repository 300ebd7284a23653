from __future__ import annotations

import os
import pickle
from dataclasses import replace

import pytest

from spec import InvalidInputError
from verify.campaign.executors import chunks
from verify.campaign.executors.chunks import Chunk, House, introduced, performed
from verify.campaign.plan import perform, plan
from verify.checks.measuring.case import find_profile
from verify.subjects import ReferenceSubject

TASKS = tuple(plan(["bias-bound/T3"], ["repaired"], [], find_profile("smoke"), "reference", 0))
HERE = House.here()
TEXT = """
from verify.subjects import ReferenceSubject
import os, pathlib
class Subject(ReferenceSubject):
    version = "7"
    pid = pathlib.Path(__file__).with_suffix(".pid").write_text(str(os.getpid()))
"""


def bare(results):
    return [result.model_copy(update={"seconds": None}) for result in results]


def test_a_chunk_is_plain_data_and_its_results_are_those_of_its_tasks():
    chunk = pickle.loads(pickle.dumps(Chunk(TASKS, "reference", None, 1e9, HERE)))
    done = pickle.loads(pickle.dumps(performed(chunk)))
    assert bare(done.results) == bare(perform(task, ReferenceSubject()) for task in TASKS)
    assert len(done.results) == len(TASKS) > 1
    assert done.spent > 0


def test_it_comes_back_when_its_time_is_over_with_one_result_at_least():
    assert len(performed(Chunk(TASKS, "reference", None, 0.0, HERE)).results) == 1
    assert len(performed(Chunk(TASKS, "reference", None, None, HERE)).results) == len(TASKS)


@pytest.mark.parametrize(
    ("house", "says"),
    [
        (replace(HERE, code="another"), "other code"),
        (replace(HERE, versions=(*HERE.versions[:-1], (HERE.versions[-1][0], "0.0"))), HERE.versions[-1][0]),
    ],
)
def test_workers_of_other_code_or_versions_are_refused(house, says):
    for asked in (
        lambda: introduced("reference", None, house),
        lambda: performed(Chunk(TASKS, "reference", None, None, house)),
    ):
        with pytest.raises(InvalidInputError, match=says) as refused:
            asked()
        assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


def test_a_foreign_subject_has_a_process_of_its_own_that_ends_with_the_chunk(tmp_path, monkeypatch):
    (tmp_path / "sevenfold.py").write_text(TEXT)
    monkeypatch.syspath_prepend(str(tmp_path))
    tasks = tuple(replace(task, subject="sevenfold:Subject") for task in TASKS[:1])
    version, offers = introduced("sevenfold:Subject", None, HERE)
    assert version == "7"
    done = performed(Chunk(tasks, "sevenfold:Subject", None, None, HERE, offers))
    assert [str(result.verdict) for result in done.results] == ["SUPPORTED"]
    pid = int((tmp_path / "sevenfold.pid").read_text())
    assert pid != os.getpid()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_subject_that_offers_other_stages_than_it_was_introduced_with_is_refused(tmp_path, monkeypatch):
    (tmp_path / "wavers.py").write_text(TEXT)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InvalidInputError, match="in one process and activation in another"):
        performed(Chunk(TASKS[:1], "wavers:Subject", None, None, HERE, "activation"))


def test_a_subject_that_took_long_to_load_is_asked_for_longer(monkeypatch):
    monkeypatch.setattr(chunks, "_loaded", lambda *_: (ReferenceSubject(), 100.0))
    done = performed(Chunk(TASKS, "reference", None, 0.0, HERE))
    assert len(done.results) == len(TASKS)
    assert done.seconds == chunks.LOADS * 100.0
