"""Whatever an implementation does when asked: a fault of its own, and the other results as if it were not there."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import verify
from spec import InvalidInputError
from tests import kept
from verify.cli.main import invoke
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import Call, MissingCapabilityError


class Subject:
    """An implementation with one stage, called as ``stage(problem, x, call, rng)``."""

    name = "under-test"

    def __init__(self, hypergradient: Any) -> None:
        self.hypergradient = hypergradient


def raising(error: BaseException) -> Callable[..., Any]:
    def stage(*_: Any) -> Any:
        raise error

    return stage


def returning(value: Any) -> Callable[..., Any]:
    return lambda *_: value


def endless(*_: Any) -> Any:
    return endless()


class Unprintable(Exception):  # noqa: N818  # what it is matters more than what it is called
    def __str__(self) -> str:
        raise ZeroDivisionError


class NoArray:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no array after all")


class OwnExit(BaseException):
    pass


FAULTY: dict[str, Any] = {
    "raises": raising(ZeroDivisionError("1 / 0")),
    "raises several lines": raising(ValueError("one\ntwo\r\nthree" * 100)),
    "raises what cannot be shown": raising(Unprintable()),
    "raises bytes that are no text": raising(ValueError("\udcff")),
    "runs out of memory": raising(MemoryError()),
    "recurses": endless,
    "raises its own way out": raising(OwnExit()),
    "exits": raising(SystemExit(0)),
    "stops a generator": raising(GeneratorExit()),
    "returns nothing": returning(None),
    "returns NaN": returning(np.array([np.nan])),
    "returns infinity": returning([float("inf")]),
    "returns too much": returning(np.zeros(10**6)),
    "returns a virtual giant": returning(np.broadcast_to(0.0, (10**6, 10**6))),
    "returns a scalar": returning(1.0),
    "returns a string": returning("1.0"),
    "returns strings": returning(["1.0"]),
    "returns truth values": returning([True]),
    "returns complex numbers": returning(np.array([1 + 1j])),
    "returns a huge integer": returning([10**400]),
    "returns objects": returning([object()]),
    "returns ragged lists": returning([[1.0], [1.0, 2.0]]),
    "returns a generator": returning(x for x in (1.0,)),
    "returns no array": returning(NoArray()),
}


@pytest.mark.parametrize("case", FAULTY)
def test_a_faulty_subject_gets_faults_and_never_a_verdict(case: str, tmp_path: Path) -> None:
    report = verify.run(
        ["bias-bound/T3", "bias-bound/L-H-y"], subject=Subject(FAULTY[case]), instances=["toy1"], profile="smoke"
    )
    asked = [result for result in report.results if str(result.verdict) != "NOT_APPLICABLE"]
    assert "bias-bound/T3" in {result.claim for result in asked}
    for result in asked:
        assert result.verdict is None
        assert result.fault
        assert len(result.fault.splitlines()) == 1
        assert len(result.fault) < 400
    assert report.exit_code == 3
    assert "no verdict" in " ".join(str(report).split())
    assert all(path.stat().st_size for path in report.write(tmp_path))


def test_a_keyboard_interrupt_is_the_users_and_ends_the_run() -> None:
    subject = Subject(raising(KeyboardInterrupt()))
    report = verify.run(["bias-bound/T3"], subject=subject, instances=["toy1"], profile="smoke")
    assert report.results == ()
    assert not report.complete
    assert report.exit_code == 3


def verdicts(report: verify.Report, claim: str) -> list[str]:
    """Of both texts: of the reference each literal reading is asked, too."""
    both = [result for result in report.results if result.reading in ("as-written", "repaired")]
    return [str(result.verdict) for result in both if result.claim == claim]


@pytest.mark.parametrize("value", [3, None, "hypergradient"])
def test_a_stage_that_cannot_be_called_is_not_offered(value: Any) -> None:
    class Partial(ReferenceSubject):
        hypergradient = value

    report = verify.run(["bias-bound/T3", "bias-bound/L-H-y"], subject=Partial(), instances=["toy1"], profile="smoke")
    assert verdicts(report, "bias-bound/T3") == ["NOT_APPLICABLE"] * 2


def test_a_stage_may_decline_a_reading() -> None:
    subject = Subject(raising(MissingCapabilityError("repaired only")))
    report = verify.run(["bias-bound/T3", "bias-bound/L-H-y"], subject=subject, instances=["toy1"], profile="smoke")
    assert verdicts(report, "bias-bound/T3") == ["NOT_APPLICABLE"] * 2
    assert "repaired only" in report.results[0].sentence


def test_one_faulty_stage_leaves_the_other_checks_alone() -> None:
    class Partial(ReferenceSubject):
        hypergradient = raising(ValueError("broken"))  # type: ignore[assignment]  # takes and refuses anything

    claims, local = ["dual-extraction"], "dual-extraction/activation-locality"
    report = verify.run(claims, subject=Partial(), instances=["toy1"], profile="smoke")
    sound = kept.run(claims, instances=["toy1"], profile="smoke")
    assert verdicts(report, local) == verdicts(sound, local)
    assert verdicts(report, "dual-extraction") == ["None"] * 2


def overwriting(problem: Any, x: Any, call: Call, *_: Any) -> Any:
    """Tread on everything that was handed over."""
    for array in (x, call.y_star, call.lam, call.rho, call.y_penalty, *vars(problem.arrays).values()):
        with contextlib.suppress(ValueError, TypeError):
            array[...] = 7.0
    return np.array([1.0])


def test_a_subject_cannot_change_what_it_is_given() -> None:
    claims = [
        "dual-extraction/active-rows",
        "bias-bound/T1",
        "bias-bound/T3",
        "bias-bound/black-box",
        "bias-bound/ramp",
    ]

    def measured() -> list[tuple[str, float | None]]:
        report = verify.run(claims, instances=["toy1"], profile="smoke")
        return [(str(result.verdict), result.measured) for result in report.results]

    before = measured()
    trampled = verify.run(claims, subject=Subject(overwriting), instances=["toy1"], profile="smoke")
    honest = verify.run(claims, subject=Subject(returning([1.0])), instances=["toy1"], profile="smoke")
    assert measured() == before
    assert [(r.verdict, r.measured) for r in trampled.results] == [(r.verdict, r.measured) for r in honest.results]


@pytest.mark.parametrize("name", [3, None, "", b"x", "absent"])
def test_a_subject_needs_no_name(name: Any) -> None:
    class Nameless:
        __slots__ = ()

        def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
            return np.ones_like(x)

    if name != "absent":
        Nameless.name = name  # type: ignore[attr-defined]  # given or not: that is what is tested
    subject: Any = Nameless()
    report = verify.run(["dual-extraction"], subject=subject, instances=["toy1"], profile="smoke")
    assert report.subject == "Nameless"
    assert verdicts(report, "dual-extraction")[0] != "None"


@pytest.mark.parametrize("subject", [None, 3, object(), [], {}], ids=["None", "number", "object", "list", "dict"])
def test_an_object_without_stages_is_no_subject(subject: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^subject: must offer one of the stages lower_level, "):
        verify.run(["dual-extraction"], subject=subject, instances=["toy1"], profile="smoke")


SUBJECTS = {
    "exits_when_imported": "raise SystemExit(0)",
    "fails_when_imported": "1 / 0",
    "wrong_syntax": "def",
    "fails_when_made": "class S:\n    def __init__(self):\n        raise SystemExit(0)\n",
    "needs_arguments": "class S:\n    def __init__(self, a):\n        pass\n",
    "offers_nothing": "class S:\n    hypergradient = 3\n",
    "denies_everything": "class S:\n    def __getattr__(self, name):\n        raise ValueError(name)\n",
}


@pytest.mark.parametrize("module", SUBJECTS)
def test_a_subject_that_is_there_and_cannot_be_loaded_is_at_fault(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{module}.py").write_text(SUBJECTS[module])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        code = invoke(["verify", "bias-bound/T3", "--instance", "toy1", "--subject", f"{module}:S", "--causes", "0"])
    # What has no stage is none: that is wrong input.
    assert code == (2 if module == "offers_nothing" else 3)
    assert err.getvalue().startswith("f2csa: subject: ")
    assert err.getvalue().count("\n") == 1
