"""On X = R^n nothing may hold an iterate back: a subject that projects onto a box is seen."""

from __future__ import annotations

from typing import Any

import numpy as np

import f2csa_ref
import verify
from verify.subjects import ReferenceSubject
from verify.verdict import Verdict


class StaysInABox(ReferenceSubject):
    """Projects every iterate onto [0, 1]^n, which Algorithm 2 does not."""

    name = "stays-in-a-box"

    def optimise(self, oracle: Any, x0: Any, parameters: Any, rng: Any) -> Any:
        box = f2csa_ref.box_projection(np.zeros(len(x0)), np.ones(len(x0)))
        return f2csa_ref.outer_loop(oracle, x0, parameters=parameters, rng=rng, keep_path=True, projection=box)


def verdicts(subject: Any, reading: str) -> set[Verdict | None]:
    report = verify.run(["goldstein-convergence/normal-cone"], subject=subject, readings=[reading])
    return {result.verdict for result in report.results}


def test_projecting_changes_both_verdicts() -> None:
    assert verdicts(ReferenceSubject(), "repaired") == {Verdict.SUPPORTED}
    assert verdicts(ReferenceSubject(), "as-written") == {Verdict.REFUTED}
    assert verdicts(StaysInABox(), "repaired") == {Verdict.REFUTED}
    # It stays in X, and is not the algorithm as printed: whether the text holds is not for it to say.
    assert verdicts(StaysInABox(), "as-written") == {Verdict.NOT_APPLICABLE}
