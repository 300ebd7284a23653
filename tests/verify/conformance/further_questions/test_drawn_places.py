"""Places drawn from the seed: the same for the same seed, right for the reference, and unknown to a table."""

from __future__ import annotations

import numpy as np
import pytest

from verify.conformance.further_questions.asking import Asking
from verify.conformance.further_questions.drawn_places import drawn_places, drawn_probes
from verify.conformance.further_questions.judging_options import ConformOptions
from verify.conformance.further_questions.own_problems import OwnProbes
from verify.conformance.places.places import atlas_places, every_term_places, further_places
from verify.conformance.probes.probes import probes
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls

NONE = OwnProbes.of(())


class Table(ReferenceSubject):
    """Knows every published problem and every built-in one by its numbers, and answers zeros to any other."""

    name = "table"

    def __init__(self):
        super().__init__()
        places = (*atlas_places(), *further_places(), *every_term_places())
        self._known = {_key(place.problem) for place in places}
        self._known |= {_key(probe.problem) for probe in probes() if probe.problem is not None}

    def hypergradient(self, problem, x, call, rng):
        right = super().hypergradient(problem, x, call, rng)
        return right if _key(problem) in self._known else np.zeros_like(right)

    def lower_level(self, problem, x):
        y, lam = super().lower_level(problem, x)
        return (y, lam) if _key(problem) in self._known else (0 * y, 0 * lam)


def _key(problem):
    arrays = getattr(problem, "quadratic", problem).arrays
    return arrays.g_yy.tobytes() + arrays.B.tobytes() + arrays.A.tobytes()


@pytest.mark.parametrize("seed", [0, 7])
def test_they_are_the_seeds_and_the_reference_is_right_there(seed):
    first, again = drawn_probes(seed), drawn_probes.__wrapped__(seed)
    assert [(p.id, p.expected.tolist()) for p in first] == [(p.id, p.expected.tolist()) for p in again]
    other = drawn_probes(seed + 1)
    assert len(other) == len(first)
    assert {p.expected.tobytes() for p in first}.isdisjoint(p.expected.tobytes() for p in other)
    stages = StageCalls(ReferenceSubject())
    assert max(probe.excess_of(stages) for probe in first) < 1


def test_each_of_them_has_one_pair_and_rows_that_bind():
    for seed in range(20):
        for place in drawn_places(seed):
            assert place.has_one_pair
            assert place.lower.strictly_active


def test_a_table_of_everything_published_deviates():
    seen = Asking(ConformOptions("mine", seed=3), "").look(StageCalls(Table()), NONE, ())
    status = {finding.stage: finding for finding in seen.findings}
    assert status["hypergradient"].status == "diverges"
    assert status["lower_level"].status == "diverges"
    assert "elsewhere" in status["lower_level"].sentence or "drawn" in status["lower_level"].sentence
    assert status["activation"].status == "agrees"
