"""Mistakes that are in no catalogue are seen, told honestly and shown; manners that are no mistakes are let be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import verify
from spec import InvalidInputError
from tests.verify.conformance import strangers
from tests.verify.conformance.replays import played_here
from tests.verify.conformance.subjects import OnlyHypergradient
from verify.conformance.bugs.bent_subject import BentSubject, by_id
from verify.conformance.bugs.catalogue import find
from verify.conformance.comparison.stage_comparison import Seen, look
from verify.conformance.letter.diagnosis import diagnose
from verify.conformance.probes.pacing import Clock, Paced, TimeIsUpError
from verify.conformance.repro.replay import Replay
from verify.conformance.repro.repro import reproduce
from verify.subjects import Call
from verify.subjects.protocol import StageCalls

HERE = "tests.verify.conformance.strangers"


def seen_of(subject: Any, stage: Any = "hypergradient") -> Seen:
    return look(StageCalls(subject), only=[stage])


@pytest.mark.parametrize(
    "name", ["DoublePenalty", "HardAndDual", "OneCallLate", "Transposing", "WeaklyOn", "SometimesNothing"]
)
def test_what_is_pasted_shows_it(name: str) -> None:
    seen = seen_of(getattr(strangers, name)())
    made = reproduce(seen, f"load_subject('{HERE}:{name}')", played_here)
    assert made is not None
    assert made.sentence.endswith("A fresh process shows it, too.")
    found = played_here(made.code)
    assert found.shows is True
    got, right = found.last_line.removeprefix("got ").split(" must be ")
    assert got != right
    assert seen.first == (None if name == "SometimesNothing" else "hypergradient")
    assert ("nan" in got) == (name == "SometimesNothing")


def test_an_answer_that_depends_on_earlier_calls_is_shown_with_one_before() -> None:
    made = reproduce(seen_of(strangers.OneCallLate()), f"load_subject('{HERE}:OneCallLate')", played_here)
    assert made is not None
    assert "after another call" in made.sentence
    assert made.code.count("subject.hypergradient(") == 2


def test_what_a_fresh_process_answers_rightly_is_said() -> None:
    made = reproduce(seen_of(strangers.DoublePenalty()), f"load_subject('{HERE}:Additive')", played_here)
    assert made is not None
    assert made.sentence.endswith(
        "A fresh process, asked this alone or after all that was asked before, answers rightly."
    )


@pytest.mark.parametrize("name", ["DoublePenalty", "OneCallLate", "WeaklyOn", "Transposing"])
def test_what_resembles_nothing_is_called_nothing(name: str) -> None:
    (found,) = diagnose(seen_of(getattr(strangers, name)()))
    assert (found.matches, found.partial) == ((), ())
    assert found.sentence.startswith("No catalogued deviation matches. None comes near: ")


def test_two_mistakes_at_once_are_told_one_after_another() -> None:
    found = next(d for d in diagnose(seen_of(strangers.HardAndDual())) if d.stage == "hypergradient")
    assert found.matches == ()
    assert [match.id for match in found.partial] == ["keeps-dual-term"]
    assert "with every stage given it matches `keeps-dual-term`" in found.sentence
    assert "something else is off too" in found.sentence


def test_a_match_is_told_beside_the_size_of_the_deviation() -> None:
    (found,) = diagnose(seen_of(OnlyHypergradient(by_id("keeps-dual-term"))))
    assert "answers differ from that one's by at most" in found.sentence
    assert "from the right ones they differ by up to" in found.sentence


def test_noise_that_is_supported_in_part_is_judged_in_part() -> None:
    (finding,) = seen_of(strangers.Additive(), "samples").findings
    assert finding.status == "agrees"
    assert finding.sentence.endswith(" 2 more it says it does not support (additive noise only).")


def test_a_law_between_two_others_is_neither() -> None:
    seen = seen_of(strangers.TooWide(), "samples")
    assert seen.first == "samples"
    (found,) = diagnose(seen)
    assert found.matches == ()
    assert "None comes near" in found.sentence


def test_a_subject_that_always_draws_is_given_a_generator() -> None:
    found = verify.conform(strangers.Additive(), claims=["bias-bound/T3", "dual-extraction"], estimates=2_000)
    assert found.faults == ()
    assert found.exit_code == 0


def test_what_is_not_supported_is_no_lack_of_time() -> None:
    (finding,) = seen_of(strangers.FirstVariableOnly()).findings
    assert finding.status == "agrees"
    assert "more it says it does not support (one upper variable at most)" in finding.sentence


def test_a_stage_that_refuses_everything_is_not_offered() -> None:
    class Refusing(strangers.Additive):
        def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
            raise verify.MissingCapabilityError("not today")

    assert [(f.stage, f.status) for f in look(StageCalls(Refusing()), only=["hypergradient", "samples"]).findings] == [
        ("hypergradient", "not offered"), ("samples", "not offered"),
    ]  # fmt: skip


def test_an_oracle_asked_at_something_else_is_a_fault() -> None:
    seen = seen_of(strangers.Scalars(), "optimise")
    assert seen.findings[0].status == "fault"
    assert "must be finite and of shape (1,)" in seen.faults[0]


def test_an_oracle_asked_too_often_is_shown() -> None:
    seen = seen_of(strangers.AsksTooOften(), "optimise")
    made = reproduce(seen, f"load_subject('{HERE}:AsksTooOften')", played_here)
    assert made is not None
    assert "T = 60 times" in made.sentence
    assert played_here(made.code) == Replay(True, "got 61 must be 60")


def test_single_calls_have_an_end_too() -> None:
    clock = Clock(60.0)
    paced = Paced(strangers.Additive(), "paced", clock=clock)
    problem, call = find_problem("toy1"), Call(alpha=0.1)
    StageCalls(paced).hypergradient(*problem, call)
    clock.end()
    with pytest.raises(TimeIsUpError):
        StageCalls(paced).hypergradient(*problem, call)


def find_problem(name: str) -> tuple[Any, Any]:
    from verify.conformance.places.places import place_of

    place = place_of(name)
    return place.problem, place.point


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_time_is_a_number(seconds: float) -> None:
    with pytest.raises(InvalidInputError, match="seconds: must be > 0 and finite"):
        verify.conform("reference", seconds=seconds)


def test_a_folder_that_cannot_be_made_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InvalidInputError, match="out: must be a folder that can be made"):
        verify.conform(f"{HERE}:Additive", out=file / "below")


def test_a_result_is_repeated_by_the_name_it_was_given_by() -> None:
    source = find("zero-multipliers").source
    (claim,) = verify.conform(source, claims=["lipschitz-solution"]).claims[:1]
    assert claim.reproduce.endswith(f"--subject {source}")


def test_an_interrupted_run_says_so() -> None:
    found = verify.conform("reference", claims=["bias-bound/T3"]).model_copy(update={"complete": False})
    assert found.exit_code == 3
    assert "interrupted" in str(found).splitlines()[0]


def test_one_failed_result_fails_in_the_singular() -> None:
    found = verify.conform("reference", claims=["bias-bound/T3"])
    (first, *_) = str(found.model_copy(update={"findings": ("bias-bound/T3 on toy1: refuted.",)})).splitlines()
    assert first.endswith("but 1 result of the claims fails.")


class WrongAtSmallWidths(BentSubject):
    """Its weights are halved at widths that no question about weights alone has."""

    name = "wrong-at-small-widths"

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        rho = super().activation(h, lam, h_width, lam_width)
        return 0.5 * rho if h_width < 1.9e-3 else rho


def test_wrong_estimates_follow_from_a_stage_only_where_that_is_found_wrong() -> None:
    seen = look(
        StageCalls(WrongAtSmallWidths()), only=["lower_level", "activation", "penalty_minimiser", "hypergradient"]
    )
    by_stage = {found.stage: found.status for found in seen.findings}
    assert by_stage == {
        "lower_level": "agrees", "activation": "agrees", "penalty_minimiser": "agrees", "hypergradient": "diverges",
    }  # fmt: skip
    assert seen.follow == []


def test_what_follows_from_a_wrong_stage_is_not_blamed_on_the_call() -> None:
    seen = look(StageCalls(by_id("always-active")), only=["activation", "hypergradient"])
    assert [found.status for found in seen.findings] == ["diverges", "agrees"]
    assert seen.follow
    assert "given what those answer, they are right" in seen.findings[1].sentence
