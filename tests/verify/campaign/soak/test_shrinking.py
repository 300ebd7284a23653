"""A problem on which something goes wrong, made small: whatever shows it stays, all else goes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from spec.atlas import Instance, find, hold_instance
from verify.campaign.plan import Task, perform
from verify.campaign.soak.instance_text import instance_text
from verify.campaign.soak.shrinking import shrunk, way_of
from verify.report.model import Result
from verify.subjects import load_subject
from verify.truth.geometry import quadratic_of
from verify.truth.strata import strata_of
from verify.verdict import Verdict

CLAIM = "bias-bound/T3"


@pytest.fixture(scope="module")
def plain() -> Result:
    return perform(Task(CLAIM, "repaired", "drawn:rows:0", "reference", "smoke", 0), load_subject("reference"))


def smallest(plain: Result, name: str, wrong: Callable[[Instance], bool]) -> Instance:
    """The smallest problem like a draw for which this is true."""
    refuted = plain.model_copy(update={"verdict": Verdict.REFUTED})

    def judge(task: Task) -> Result:
        instance = hold_instance(task.instance, task.posed) if task.posed else find(task.instance)
        return refuted if wrong(instance) else plain

    found = shrunk(Task(CLAIM, "repaired", name, "mine", "smoke", 0), judge)
    assert found is not None
    assert wrong(found[0])
    assert found[1] == refuted
    return found[0]


def sizes(instance: Instance) -> tuple[int, int, int]:
    q = quadratic_of(instance.problem)
    return q.n, q.m, q.p


@pytest.mark.parametrize("seed", [2, 5])
def test_what_has_nothing_to_do_with_it_goes(plain: Result, seed: int) -> None:
    found = smallest(plain, f"drawn:rows:{seed}", lambda instance: "strictly-complementary" in strata_of(instance))
    assert sizes(found) == (1, 1, 1)
    assert found.x == (0,)


def test_what_it_needs_stays(plain: Result) -> None:
    def stiff(instance: Instance) -> bool:
        return bool(np.linalg.cond(quadratic_of(instance.problem).arrays.g_yy) > 1000)

    found = smallest(plain, "drawn:ill-conditioned:2", stiff)
    assert sizes(found) == (1, 2, 1)


def test_rows_that_nobody_satisfies_stay_that(plain: Result) -> None:
    found = smallest(plain, "drawn:infeasible:0", lambda instance: "infeasible" in strata_of(instance))
    # 0 <= -1.
    assert sizes(found) == (1, 1, 1)


def test_what_does_not_show_again_is_no_finding(plain: Result) -> None:
    task = Task(CLAIM, "repaired", "drawn:rows:0", "mine", "smoke", 0)
    assert shrunk(task, lambda _: plain) is None


def test_faults_are_the_same_by_their_words(plain: Result) -> None:
    said = ["it fell over at 1.5 [2, 3]", "it fell over at -1e-3 [4]", "it fell down at 1.5"]
    ways = [way_of(plain.model_copy(update={"verdict": None, "fault": text})) for text in said]
    assert ways[0] == ways[1] != ways[2]


@pytest.mark.parametrize("name", ["toy1", "box-rational", "experiment-5d", "infeasible", "scalar-rational"])
def test_an_instance_survives_its_file(name: str) -> None:
    given = find(name)
    text = instance_text(given, 'Says "why".', "one\x1b line\nand another")
    again = hold_instance("again.toml", text)
    assert (again.x, again.purpose) == (given.x, 'Says "why".')
    assert quadratic_of(again.problem) == quadratic_of(given.problem)
