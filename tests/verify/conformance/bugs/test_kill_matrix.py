"""Every mutant is killed by the results it is declared to change, and the published matrix is the computed one."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.campaign import run as campaign
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.plan import Task, perform
from verify.conformance.bugs.__main__ import killed_by, page
from verify.conformance.bugs.catalogue import CATALOGUE
from verify.conformance.bugs.kill_matrix import (
    KillCell,
    cells,
    changed_verdicts,
    dumps,
    judged,
    recorded,
)
from verify.conformance.bugs.model import Bug, Catch
from verify.subjects import ReferenceSubject

PAIRS = [(mutant, catch) for mutant in CATALOGUE for catch in mutant.caught_by]
REFUTED = (
    "fixed-internal-seed", "echoes-far-away", "mirrored", "shuffled-opposites", "shared-by-a-call",
    "one-component-only", "correlated-components", "loses-one", "loses-one-of-two", "noisier-alone", "never-averages",
    "stops-early", "quiet-small-steps",
)  # fmt: skip
"""Only their randomness gives them away: an open verdict would catch them too, and say nothing."""
JUDGED = sorted({(catch.claim, catch.reading, catch.instance) for _, catch in PAIRS})


def survives(mutant: Bug, catch: Catch) -> bool:
    """Whether a mutant gets past a claim that must catch it."""
    return not changed_verdicts(KillCell(mutant, catch.claim, catch.reading), [catch.instance])


@pytest.mark.parametrize(("mutant", "catch"), PAIRS, ids=[f"{m.id}-{c.claim}-{c.instance}" for m, c in PAIRS])
def test_what_must_catch_a_mutant_catches_it(mutant: Bug, catch: Catch) -> None:
    if mutant.id not in REFUTED:
        assert not survives(mutant, catch)
    else:
        assert judged(KillCell(mutant, catch.claim, catch.reading), catch.instance) == "REFUTED"
        assert shipped_record()[f"{catch.claim}|{catch.reading}|{catch.instance}"] == "SUPPORTED"


@pytest.mark.parametrize(("claim", "reading", "instance"), JUDGED)
def test_the_reference_passes_where_mutants_are_caught(claim: str, reading: str, instance: str) -> None:
    task = Task(claim, reading, instance, "reference", "ci", campaign.DEFAULT_SEED)
    result = perform(task, ReferenceSubject())
    assert str(result.verdict) == shipped_record()[f"{claim}|{reading}|{instance}"], result.sentence


def test_no_mutant_of_the_published_matrix_survives() -> None:
    assert [mutant.id for mutant in CATALOGUE if not killed_by(recorded(), mutant)] == []


def test_the_published_matrix_holds_every_mutant_and_every_declared_catch() -> None:
    assert list(recorded()) == [mutant.id for mutant in CATALOGUE]
    for mutant, catch in PAIRS:
        key = KillCell(mutant, catch.claim, catch.reading).key
        assert catch.instance in recorded()[mutant.id][key], (mutant.id, key)


@pytest.mark.parametrize("mutant", CATALOGUE, ids=[mutant.id for mutant in CATALOGUE])
def test_the_published_matrix_judges_what_a_mutant_can_change(mutant: Bug) -> None:
    assert list(recorded()[mutant.id]) == [cell.key for cell in cells(mutant)]


def test_the_page_is_what_the_matrix_says() -> None:
    path = Path(__file__).parents[4] / "docs" / "mutants.md"
    assert path.read_text(encoding="utf-8") == page(recorded())


def test_rules_that_change_nothing_change_no_verdict() -> None:
    right = Bug(id="right", stage="hypergradient", type="sign", does="Nothing.", effect="None.")
    assert survives(right, Catch("bias-bound/T3", "toy1"))
    assert changed_verdicts(KillCell(right, "bias-bound/T3", "as-written"), ["toy1"]) == []


def test_a_matrix_is_kept_as_it_is() -> None:
    import json

    assert json.loads(dumps(recorded())) == recorded()
