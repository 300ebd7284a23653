"""An implementation of the paper as written is held against the paper as written."""

from __future__ import annotations

from typing import Any

import pytest

from spec import AS_WRITTEN, REPAIRED, InvalidInputError
from tests.verify.conformance.replays import played_here
from tests.verify.conformance.subjects import RepairedOnly
from verify.conformance.blame.all_stages import explain_all
from verify.conformance.blame.questions import asked_under
from verify.conformance.bugs.bent_subject import BentSubject, by_id
from verify.conformance.bugs.catalogue import find
from verify.conformance.bugs.model import Rules
from verify.conformance.bugs.null_subjects import null_subjects
from verify.conformance.comparison.stage_comparison import Seen, look, sampled_finding
from verify.conformance.further_questions.asking import Asking
from verify.conformance.further_questions.judging_options import ConformOptions
from verify.conformance.further_questions.other_reading import samplings, under
from verify.conformance.further_questions.own_problems import OwnProbes
from verify.conformance.probes.probes import WHOLE, Probe, probes
from verify.conformance.random_stages import sample
from verify.conformance.repro.law_repro import of_law
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls


def some(reading: Any) -> list[Probe]:
    """Every fifth probe of the stages that a reading changes."""
    asked = [probe for probe in probes() if probe.stage in ("penalty_minimiser", "hypergradient")]
    return list(under(reading, asked[::5]))


@pytest.fixture(scope="module")
def as_written() -> list[Probe]:
    return some(AS_WRITTEN)


def findings(subject: Any, asked: list[Probe]) -> dict[str, str]:
    seen = look(StageCalls(subject), only=["penalty_minimiser", "hypergradient"], questions=asked)
    return {found.stage: found.status for found in seen.findings}


def test_the_same_reading_asks_for_the_same() -> None:
    before = {probe.id: probe for probe in probes()}
    for probe in some(REPAIRED):
        assert probe.expected.tolist() == before[probe.id].expected.tolist()
        assert probe.tolerance == pytest.approx(before[probe.id].tolerance)


def test_who_reads_it_so_agrees(as_written: list[Probe]) -> None:
    assert findings(ReferenceSubject(), as_written) == {"penalty_minimiser": "agrees", "hypergradient": "agrees"}
    assert findings(by_id("keeps-dual-term"), as_written)["hypergradient"] == "agrees"


@pytest.mark.parametrize("subject", [RepairedOnly(), by_id("drops-implicit-term"), null_subjects()["zero"]])
def test_who_does_not_deviates(subject: Any, as_written: list[Probe]) -> None:
    assert findings(subject, as_written)["hypergradient"] == "diverges"


WITHOUT_DUAL = "line 6 = the right one without α₁Aᵀλ̃"
DROPPED = {"line_6": {"grad_f": "f_xy @ y + f_x"}}


class RepairedTwice(BentSubject):
    """Line 6 of the repaired text whatever is asked for, without f_xx."""

    name = "repaired-twice"
    edits = DROPPED
    rules = Rules(reading={"dual_term": "cancelled"})


@pytest.mark.parametrize(
    ("subject", "stage", "words"),
    [
        (RepairedOnly(), "hypergradient", WITHOUT_DUAL),
        (by_id("flipped-penalty"), "hypergradient", "line 6 = the right one − 2α₂·Aᵀ(ρ∘h(x,ỹ))"),
        (by_id("at-y-star"), "hypergradient", "ỹ* where ỹ belongs"),
        (RepairedTwice(), "hypergradient", f"{WITHOUT_DUAL} and without f_xx x"),
        (by_id("drops-multiplier"), "penalty_minimiser", "without −α₁Bᵀλ̃"),
        (by_id("h-sign"), "activation", "−h in place of h"),
        (by_id("flipped-multipliers"), "lower_level", "−λ"),
    ],
    ids=lambda given: getattr(given, "name", None),
)
def test_what_is_computed_instead_is_told_beside_the_paper_as_written(subject: Any, stage: Any, words: str) -> None:
    asked = list(under(AS_WRITTEN, (probe for probe in probes() if probe.stage == stage)))
    seen = look(StageCalls(subject), only=[stage], questions=asked)
    with asked_under(AS_WRITTEN):
        (blame,) = explain_all(seen.stages, seen)
        assert blame.stage == stage
        assert words in blame.explanations[0].sentence
        assert blame.held_out > 0
        whole = [a for a in seen.answers if a.probe.stage != "hypergradient" or a.probe.given == WHOLE]
        told = [(answer, blame.explanations[0].answer(answer.probe)) for answer in whole if not answer.excess <= 1]
    assert len(told) > 5
    assert all(t is not None and (abs(t - a.got) <= a.probe.tolerance + 1e-9 * abs(a.got)).all() for a, t in told)


def test_what_is_right_is_blamed_for_nothing_beside_the_paper_as_written() -> None:
    asked = list(under(AS_WRITTEN, (probe for probe in probes() if probe.stage == "hypergradient")))[::4]
    seen = look(StageCalls(ReferenceSubject()), only=["hypergradient"], questions=asked)
    with asked_under(AS_WRITTEN):
        assert explain_all(seen.stages, seen) == ()


def test_shrinking_stays_with_the_reading(as_written: list[Probe]) -> None:
    from verify.conformance.places.places import place_of

    probe = next(probe for probe in as_written if probe.elsewhere is not None and probe.stage == "hypergradient")
    assert probe.elsewhere is not None
    moved = probe.elsewhere(place_of("toy1"))
    assert moved.call.reading == AS_WRITTEN
    assert moved.excess_of(StageCalls(ReferenceSubject())) <= 1


def test_readings_and_claims_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="reading: must be one of as-written, repaired; got other"):
        ConformOptions("mine", reading="other")
    with pytest.raises(InvalidInputError, match="claims: must be left out with the reading as-written"):
        ConformOptions("mine", reading="as-written", claims=["bias-bound/T3"])


def test_who_reads_it_as_repaired_is_told_so(as_written: list[Probe]) -> None:
    asking = Asking(ConformOptions("mine", reading="as-written"), "")
    notes = []
    for subject in (RepairedOnly(), by_id("drops-implicit-term"), ReferenceSubject()):
        seen = look(StageCalls(subject), only=["hypergradient"], questions=as_written)
        notes.append([note for note in asking.notes(OwnProbes.of([]), seen) if "as the repaired reading does" in note])
    assert [len(found) for found in notes] == [1, 0, 0]
    assert notes[0][0].startswith("Its hypergradient answers as the repaired reading does (")


@pytest.mark.parametrize(
    ("subject", "status"),
    [(ReferenceSubject(), "agrees"), (by_id("independent-draws"), "agrees"), (by_id("common-draws"), "diverges"),
     (null_subjects()["noise"], "diverges")],
)  # fmt: skip
def test_noise_has_the_law_of_the_reading(subject: Any, status: str) -> None:
    seen = Seen(StageCalls(subject))
    found = sampled_finding(seen, sample(seen.stages, settings=samplings(AS_WRITTEN)))
    assert found.status == status
    if subject.name == "common-draws":
        made = of_law(seen, "samples", f"load_subject({find('common-draws').source!r})")
        assert made is not None
        assert played_here(made.code).shows is True
        assert played_here(made.code.replace(find("common-draws").source, "reference")).shows is False
