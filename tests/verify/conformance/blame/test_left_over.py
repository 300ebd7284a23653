"""A letter says of each explanation whether it is all that is wrong, and how much is left where it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from verify.conformance.blame.all_stages import explain_all
from verify.conformance.blame.left_over import left_over
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.letter.diagnosis import diagnose
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls


class KeepsTheTerm(ReferenceSubject):
    """α₁Aᵀλ̃ stays in the estimate; with ``more``, half a sine is added besides where it solves line 5 itself."""

    name = "keeps-the-term"

    def __init__(self, more: float = 0.0) -> None:
        self.more = more

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        right = super().hypergradient(problem, x, call, rng)
        if problem.kind == "holder":
            return right
        lam = self.lower_level(problem, x)[1] if call.lam is None else call.lam
        own = self.more * np.sin(1 + x) if call.y_penalty is None else 0.0
        return right + problem.arrays.A.T @ lam / call.alpha**2 + own


@pytest.mark.parametrize(("more", "said"), [(0.0, "It gives all "), (500.0, "This is not all: ")], ids=["one", "two"])
def test_what_an_explanation_leaves_is_told(more: float, said: str) -> None:
    seen = look(StageCalls(KeepsTheTerm(more)), only=["hypergradient"])
    blames = explain_all(seen.stages, seen)
    (found,) = [one for one in diagnose(seen, blames) if one.stage == "hypergradient"]
    assert "α₁·Aᵀλ̃" in found.sentence
    assert found.rest.startswith(said)
    assert left_over(seen, [], "hypergradient") == ""
    if more:
        left = float(found.rest.split("up to ")[1].split()[0])
        assert 0.5 * more < left < 1.5 * more
