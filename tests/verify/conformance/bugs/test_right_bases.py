"""The classes that mutants change one line of are right before that."""

from __future__ import annotations

import numpy as np
import pytest

from spec import OuterParameters
from spec.exact import Vector
from verify.conformance.bugs.bent_sampling import BentRuns, BentSampling
from verify.conformance.bugs.bent_subject import BentSubject
from verify.conformance.comparison.stage_comparison import look
from verify.method.plain_subject import PlainLoop
from verify.subjects import ReferenceSubject, Subject
from verify.subjects.protocol import StageCalls


@pytest.mark.parametrize(
    "subject", [BentSubject(), BentSampling(), BentRuns(), PlainLoop()], ids=lambda subject: subject.name
)
def test_no_stage_diverges(subject: Subject) -> None:
    seen = look(StageCalls(subject))
    assert seen.first is None, [finding.sentence for finding in seen.findings]
    assert not seen.faults


def test_the_plain_outer_loop_is_the_reference_run_by_run() -> None:
    schedule = OuterParameters(goldstein_radius=0.4, epsilon=0.1, D=0.1, eta=0.3, M=4, K=5)
    starts = np.array([[0.7, -0.2], [0.1, 0.4]])

    def oracle(z: Vector) -> Vector:
        made: Vector = np.sign(z) + z
        return made

    right, right_path = ReferenceSubject().optimise_runs(oracle, starts, schedule, np.random.default_rng(3), True)
    plain, path = PlainLoop().optimise_runs(oracle, starts, schedule, np.random.default_rng(3), True)
    assert np.allclose(right, plain, atol=1e-14)
    assert right_path is not None
    assert np.allclose(right_path, path, atol=1e-14)
