"""Each mutant is named, by all of its stages and by its oracle call alone; right implementations are left in peace."""

from __future__ import annotations

import pytest

from tests.verify.conformance.subjects import (
    Independent,
    IndependentlyHard,
    IndependentlySingle,
    IndependentlyWeak,
    Iterative,
    OnlyHypergradient,
    OwnGenerator,
)
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.bugs.catalogue import CATALOGUE, find
from verify.conformance.bugs.model import Bug
from verify.conformance.comparison.stage_comparison import Seen, look
from verify.conformance.letter.diagnosis import diagnose, suspect
from verify.conformance.letter.sentences import by_laws
from verify.method.lines import Stage
from verify.subjects import ReferenceSubject, Subject
from verify.subjects.protocol import StageCalls

RIGHT_AS_REPAIRED = ("common-draws",)
"""Wrong as written only: under the repaired reading this is what is asked for, so nothing is to be named."""
BY_CLAIMS = ("shares-nothing",)
"""Solvers whose laws the protocol leaves open: named once their claims fail."""
UNSEEN = ("echoes-far-away", "loses-one", "noisier-alone", "stops-early", "quiet-small-steps")
"""Beyond what is asked: calls of a thousand estimates, batches of sixteen, single calls, more steps, smaller ones."""
NEVER_TWICE_ALIKE = ("shared-by-a-call",)
"""Another law in every run: it is seen, and like nothing."""
TWINS = ("mirrored", "shuffled-opposites")
"""They differ in an order that samples drawn in blocks do not keep."""
SAMPLED_ALONE = ("independent-draws", "ignores-batch", "reseeds-every-call")
"""Sampled one call at a time; the others take as long and show the same. (Copies show only among many at once.)"""
OWN_STAGE = ("rows-as-equations", "smaller-ramp")
"""The oracle calls that leave this to the subject do not show it; its own stage does."""
DETERMINISTIC: tuple[Stage, ...] = ("lower_level", "activation", "penalty_minimiser", "hypergradient")
NAMED = [m for m in CATALOGUE if m.id not in (*RIGHT_AS_REPAIRED, *BY_CLAIMS, *UNSEEN, *NEVER_TWICE_ALIKE)]
ALONE = [m for m in NAMED if (m.stage in DETERMINISTIC and m.id not in OWN_STAGE) or m.id in SAMPLED_ALONE]


def seen_of(subject: Subject, stage: Stage) -> Seen:
    return look(StageCalls(subject), only=DETERMINISTIC if stage in DETERMINISTIC else [stage])


@pytest.mark.parametrize("mutant", NAMED, ids=[m.id for m in NAMED])
def test_a_mutant_diverges_first_where_it_is_wrong_and_is_named(mutant: Bug) -> None:
    seen = seen_of(by_id(mutant.id), mutant.stage)
    found = next(one for one in diagnose(seen) if one.stage == mutant.stage)
    assert seen.first == mutant.stage
    assert sorted(match.id for match in found.matches) == sorted(TWINS if mutant.id in TWINS else [mutant.id])
    assert f"`{mutant.id}`" in found.sentence


@pytest.mark.parametrize("mutant", ALONE, ids=[m.id for m in ALONE])
def test_a_mutant_is_named_by_its_oracle_call_alone(mutant: Bug) -> None:
    stage: Stage = "samples" if mutant.stage == "samples" else "hypergradient"
    (found,) = diagnose(look(StageCalls(OnlyHypergradient(by_id(mutant.id))), only=[stage]))
    assert mutant.id in [match.id for match in found.matches]


def test_inner_work_is_named_innermost_first() -> None:
    seen = look(StageCalls(OnlyHypergradient(by_id("late-ramp"))), only=["hypergradient"])
    assert "its own activation" in seen.findings[0].sentence


@pytest.mark.parametrize("id_", BY_CLAIMS)
def test_solvers_with_an_open_law_are_named_once_their_claims_fail(id_: str) -> None:
    seen = seen_of(by_id(id_), "runs")
    assert seen.first is None
    found = suspect(seen)
    assert found is not None
    assert [match.id for match in found.matches] == [id_]


@pytest.mark.parametrize("id_", RIGHT_AS_REPAIRED)
def test_what_is_right_under_the_repaired_reading_is_not_a_deviation(id_: str) -> None:
    assert seen_of(by_id(id_), "samples").first is None


@pytest.mark.parametrize(
    "subject", [ReferenceSubject(), Iterative(), OwnGenerator(), Independent()], ids=lambda s: s.name
)
def test_a_right_implementation_has_no_deviation(subject: Subject) -> None:
    seen = look(StageCalls(subject))
    assert [finding.sentence for finding in seen.findings if finding.status == "diverges"] == []
    assert diagnose(seen) == ()
    assert suspect(seen) is None
    assert not seen.faults


@pytest.mark.parametrize(
    ("subject", "id_"),
    [
        (IndependentlyWeak(), "weak-penalties"),
        (IndependentlySingle(), "single-precision"),
        (IndependentlyHard(), "hard-activation"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_mistake_is_named_in_code_that_shares_nothing_with_the_catalogue(subject: Subject, id_: str) -> None:
    (found,) = diagnose(look(StageCalls(subject), only=["hypergradient"]))
    assert [match.id for match in found.matches] == [id_]


@pytest.mark.parametrize("id_", UNSEEN)
def test_what_is_beyond_the_questions_is_given_no_other_name(id_: str) -> None:
    seen = seen_of(by_id(id_), find(id_).stage)
    assert seen.first is None
    assert suspect(seen) is None


@pytest.mark.parametrize("id_", NEVER_TWICE_ALIKE)
def test_what_is_never_twice_alike_is_seen_and_given_no_name(id_: str) -> None:
    (found,) = diagnose(seen_of(by_id(id_), "samples"))
    assert found.matches == ()


class HalfWrong(ReferenceSubject):
    """A mistake that is in no catalogue."""

    name = "half-wrong"

    def activation(self, h, lam, h_width, lam_width):  # type: ignore[no-untyped-def]  # as a stranger would write it
        return 0.7 * super().activation(h, lam, h_width, lam_width)


def test_an_unknown_mistake_matches_nothing() -> None:
    (found,) = diagnose(seen_of(HalfWrong(), "activation"))
    assert found.matches == ()
    assert found.sentence.startswith("No catalogued deviation matches. None comes near: ")
    assert "differ from the right ones by up to 0.3" in found.sentence
    assert all(match.distance > 1 for match in found.nearest)


def test_what_chance_has_no_part_in_is_counted_in_no_multiples_of_chance() -> None:
    assert "from the right ones by 7.5 times what" in by_laws((), (), 12, 7.5)
    assert "from the right ones by more than 100,000 times what chance allows" in by_laws((), (), 12, 1e9)
