"""What a report needs beside its results, made while they are found: the same bytes, whether it was or not."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from verify import run
from verify.campaign import ahead
from verify.campaign.ahead import Ahead
from verify.campaign.store.kept_results import Request
from verify.campaign.store.stored_report import Searches
from verify.report.model import Result
from verify.report.report_files import rendered
from verify.report.site import preparing
from verify.verdict import Verdict


def request(subject: str = "reference") -> Request:
    return Request(
        claims=(), subject=subject, subject_version="", profile="smoke", seed=0, effort=1, environment={}, code=""
    )


def refuted(claim: str, reading: str = "as-written") -> Result:
    return Result(claim=claim, reading=reading, instance="toy1", verdict=Verdict.REFUTED, sentence="s", quantity="q")


class Recorded(Searches):
    """Says who searched for what."""

    def __init__(self) -> None:
        super().__init__(None, "")
        self.by: dict[str, str] = {}
        self.done = threading.Semaphore(0)

    def __call__(self, full_id: str) -> Any:
        self.by[full_id] = threading.current_thread().name
        self.done.release()
        return None


def test_what_is_refuted_as_written_is_searched_for_beside() -> None:
    search = Recorded()
    with Ahead(request(), search, worthwhile=True) as made:
        made.of(refuted("bias-bound/T3"))
        made.of(refuted("bias-bound/T1", "repaired"))
        assert search.done.acquire(timeout=60)
    assert list(search.by) == ["bias-bound/T3"]
    assert search.by["bias-bound/T3"] != threading.current_thread().name


@pytest.mark.parametrize(("subject", "worthwhile"), [("reference", False), ("my:Subject", True)])
def test_nothing_is_searched_for_in_vain(subject: str, worthwhile: bool) -> None:
    search = Recorded()
    with Ahead(request(subject), search, worthwhile=worthwhile) as made:
        made.of(refuted("bias-bound/T3"))
    assert not search.by


def test_what_fails_ahead_fails_where_it_is_needed_and_nowhere_else() -> None:
    class Fails(Recorded):
        def __call__(self, full_id: str) -> Any:
            super().__call__(full_id)
            raise ArithmeticError("no such thing")

    search = Fails()
    with Ahead(request(), search, worthwhile=True) as made:
        made.of(refuted("bias-bound/T3"))
        assert search.done.acquire(timeout=60)
    with pytest.raises(ArithmeticError):
        search("bias-bound/T3")


def test_a_run_ends_without_waiting_for_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go = threading.Event(), threading.Event()
    taken: list[int] = []

    def steps() -> Any:
        def first() -> None:
            begun.set()
            go.wait(60)

        yield first
        yield lambda: taken.append(1)

    monkeypatch.setattr(preparing, "preparations", steps)
    with Ahead(request(), Recorded(), worthwhile=True):
        assert begun.wait(60)
        threading.Timer(0.05, go.set).start()
    assert not taken


def test_the_report_is_the_same_whether_or_not_it_was_made_ahead(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = ["bias-bound/T3", "solution-error/active-rows", "dual-extraction/T1"]
    alone = rendered(run(asked, profile="smoke", instances=["toy1"]))
    monkeypatch.setattr(ahead, "FEW", 1)
    monkeypatch.setattr("verify.campaign.run.FEW", 1)
    beside = rendered(run(asked, profile="smoke", instances=["toy1"], jobs=2, store=tmp_path / "s.sqlite"))
    assert alone.keys() == beside.keys()
    assert [name for name in alone if name != "times.json" and alone[name] != beside[name]] == []
