"""Complete estimates: right programs of every manner are within what is allowed, and zero, tables and bugs are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spec import parse_problem
from spec.atlas import find as find_instance
from spec.claims import find as find_claim
from tests.verify.conformance.subjects import Independent, IndependentlyHard, Iterative, RepairedOnly
from verify.checks.measuring.case import Case, find_profile
from verify.checks.measuring.identity.fresh_places import fresh_places
from verify.checks.measuring.identity.unaided_answers import unaided
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.bugs.null_subjects import null_subjects
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls

CLAIM = "bias-bound/black-box"
SEEDS = range(6)


def case_of(subject, instance, reading="repaired"):
    statement = find_claim(CLAIM)
    chosen, sense = statement.interpreted(reading)
    return Case(
        claim=CLAIM, bound=statement.repaired.bound, reading_name=reading, reading=chosen, sense=sense,
        instance=instance, stages=StageCalls(subject), profile=find_profile("smoke"), rng=np.random.default_rng(0),
    )  # fmt: skip


def off(subject, seed, reading="repaired"):
    """The largest distance over the drawn places, in units of what is allowed; every one of them tells."""
    seen = []
    for place in fresh_places(seed):
        item = unaided(case_of(subject, place.instance, reading), np.random.default_rng(seed))
        assert item is not None
        seen.append(item.measured)
    return max(seen)


class Stopping:
    """Solves exactly but for an error of the accuracy it states, in every stage of its own."""

    name = "stopping"

    def __init__(self, accuracy):
        self.accuracy = accuracy

    def hypergradient(self, problem, x, call, rng):
        right = ReferenceSubject()
        y, lam = right.lower_level(problem, x)
        y, lam = (part * (1 + self.accuracy * np.cos(np.arange(len(part)))) for part in (y, lam))
        return right.hypergradient(problem, x, replace(call, y_star=y, lam=lam), rng)


class Cutting(Independent):
    """Half weights: a ramp cut where its pair is off by what is allowed."""

    name = "cutting"

    def weights(self, h, lam, a, call):
        return np.where(lam > 0.05, 0.5, 0.0)


@pytest.mark.parametrize(
    "subject",
    [ReferenceSubject(), Iterative(), Independent(), IndependentlyHard(), RepairedOnly(), Cutting(),
     Stopping(1e-8), Stopping(1e-6), Stopping(1e-4)],
    ids=lambda subject: f"{subject.name}-{getattr(subject, 'accuracy', '')}",
)  # fmt: skip
def test_right_programs_are_within_what_is_allowed(subject):
    for seed in SEEDS:
        assert off(subject, seed) <= 1.0


@pytest.mark.parametrize("subject", [ReferenceSubject(), Iterative()])
def test_as_written_its_own_estimate_serves_as_well(subject):
    assert off(subject, 1, "as-written") <= 1.0


@pytest.mark.parametrize("name", ["zero", "constant", "noise"])
@pytest.mark.parametrize("reading", ["repaired", "as-written"])
def test_who_knows_nothing_is_beyond_it(name, reading):
    assert min(off(null_subjects()[name], seed, reading) for seed in SEEDS) > 1.0


@pytest.mark.parametrize("bug", ["keeps-dual-term", "drops-implicit-term"])
def test_a_known_mistake_is_beyond_it(bug):
    assert off(by_id(bug), 2) > 1.0


def test_no_statement_about_oneself_makes_an_answer_of_zero():
    class Coarse(Stopping):
        def hypergradient(self, problem, x, call, rng):
            return np.zeros(len(x))

    assert off(Coarse(1e-3), 2) > 1.0


def test_nothing_is_told_where_every_answer_would_do():
    # F = -x/1000: a call may be off by more than its slope.
    rows = {"A": [[0]], "B": [[1]], "b": [9]}
    blocks = {"f": {"y": ["1/1000"]}, "g": {"xy": [[1]], "yy": [[1]]}, "constraints": rows}
    flat = parse_problem({"kind": "quadratic", **blocks})
    loose = case_of(ReferenceSubject(), replace(find_instance("toy1"), problem=flat))
    assert unaided(loose, np.random.default_rng(0)) is None
