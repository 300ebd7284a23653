"""The time for asking ends whoever is asking: here, in worker processes, and before the first question."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import verify
from verify.conformance.judge import write
from verify.conformance.probes import probes
from verify.conformance.probes.pacing import Clock, TimeIsUpError
from verify.subjects import ReferenceSubject


class Dawdler(ReferenceSubject):
    """Takes its time over every estimate."""

    name = "dawdler"

    def hypergradient_samples(self, problem, x, call, rng, replications):
        time.sleep(60)
        return super().hypergradient_samples(problem, x, call, rng, replications)


def test_workers_are_not_waited_for_beyond_the_time() -> None:
    looks: list[int] = []

    def watch() -> None:
        looks.append(len(looks))
        if len(looks) == 3:
            raise TimeIsUpError

    report = verify.run(
        ["variance-bound/f-noise-only"], subject=f"{__name__}:Dawdler", readings=["repaired"], jobs=2, watch=watch,
    )  # fmt: skip
    assert not report.complete
    assert not report.results
    assert len(looks) == 3


def test_a_watch_that_says_nothing_changes_nothing() -> None:
    def watch() -> None:
        Clock(100.0).check()

    report = verify.run(
        ["bias-bound/T3"], readings=["repaired"], instances=["toy1"], profile="smoke", jobs=2, watch=watch
    )
    assert report.complete
    assert [str(result.verdict) for result in report.results] == ["SUPPORTED"]
    with pytest.raises(TimeIsUpError):
        Clock(-1.0).check()


def test_an_interrupt_before_the_first_question_leaves_a_partial_letter(monkeypatch, tmp_path: Path) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(probes, "vector_probes", interrupted)
    found = verify.conform("reference", claims=["bias-bound/T3"], out=tmp_path)
    assert not found.complete
    assert found.exit_code == 3
    assert {stage.status for stage in found.stages} <= {"undecided", "not offered"}
    assert {path.name for path in tmp_path.iterdir()} >= {"conform.json", "report.json", "report.html"}
    before = (tmp_path / "conform.json").read_bytes()

    def torn(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    # A second interrupt, while the files are written, leaves those before.
    monkeypatch.setattr(Path, "replace", torn)
    with pytest.raises(KeyboardInterrupt):
        write(found.model_copy(update={"seed": 1}), tmp_path)
    assert (tmp_path / "conform.json").read_bytes() == before
