"""Zeros taken for nothing given, multipliers packed in front, jumps of another component: each told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from verify.conformance.blame.all_stages import explain_all
from verify.conformance.blame.noise.noise_jumps import explain_jumps
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.letter.diagnosis import diagnose
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls


class ZerosAreMissing(ReferenceSubject):
    """``if not call.rho.any()`` in place of ``if call.rho is None``, or the same of another stage."""

    def __init__(self, stage: str) -> None:
        self.name = stage

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        value = getattr(call, self.name)
        if value is not None and not np.any(value):
            call = replace(call, **{self.name: self._own(problem, x, call)})
        return super().hypergradient(problem, x, call, rng)

    def _own(self, problem: Any, x: Any, call: Any) -> Any:
        if self.name == "y_penalty":
            return self.penalty_minimiser(problem, x, replace(call, y_penalty=None), 1e-12)
        if self.name != "rho":
            return self.lower_level(problem, x)[self.name == "lam"]
        a = problem.arrays
        width = call.parameters.h_width(call.reading, call.alpha**3, float(np.linalg.norm(a.B, 2)))
        return self.activation(a.A @ x - a.B @ call.y_star - a.b, call.lam, width, call.parameters.lam_width)


class Packs(ReferenceSubject):
    name = "packs"

    def __init__(self, behind: bool) -> None:
        self.behind = behind

    def lower_level(self, problem: Any, x: Any) -> Any:
        y, lam = super().lower_level(problem, x)
        held, zeros = lam[lam > 0], lam[~(lam > 0)]
        return y, np.concatenate([zeros, held] if self.behind else [held, zeros])


class JumpsOtherwise(ReferenceSubject):
    """Jump noise that another number than the first component of y decides, or that is in another component."""

    name = "jumps-otherwise"

    def __init__(self, decides: Any, place: int = 0) -> None:
        self.decides, self.place = decides, place

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        right = np.array(super().hypergradient(problem, x, call, rng))
        if problem.noise.model != "jump" or call.draws is None or call.y_penalty is None:
            return right
        z = np.asarray(call.draws["g_x"])[:, 0]
        common = call.reading.noise_pairing == "common"
        z_star = z if common else np.asarray(call.draws["g_x_star"])[:, 0]

        def part(y: Any, y_star: Any) -> float:
            return float((y > z).mean() - ndtr(y) - (y_star > z_star).mean() + ndtr(y_star))

        scale = problem.noise.scale("g.x") * call.alpha**-2
        right[0] -= scale * part(call.y_penalty[0], call.y_star[0])
        right[self.place] += scale * part(self.decides(call.y_penalty), self.decides(call.y_star))
        return right


def letter_of(subject: Any, *stages: Any) -> str:
    calls = StageCalls(subject)
    seen = look(calls, only=stages)
    return "\n".join(one.sentence for one in diagnose(seen, explain_all(calls, seen)))


@pytest.mark.parametrize(
    ("subject", "stage", "words"),
    [
        (Packs(behind=False), "lower_level", "the λ of binding rows are returned first, in the rows' order"),
        (Packs(behind=True), "lower_level", "zeros are returned first, and the λ of binding rows after them"),
        (ZerosAreMissing("rho"), "hypergradient", "where a given ρ is 0 in every entry, as if none were given"),
        (ZerosAreMissing("y_penalty"), "hypergradient", "where a given ỹ is 0 in every entry, as if none were given"),
        (ZerosAreMissing("y_star"), "hypergradient", "where a given ỹ* is 0 in every entry, as if none were given"),
        (ZerosAreMissing("lam"), "hypergradient", "where a given λ̃ is 0 in every entry, as if none were given"),
    ],
    ids=lambda value: value.name if hasattr(value, "name") else "",
)
def test_each_is_named(subject: Any, stage: Any, words: str) -> None:
    assert words in letter_of(subject, stage)


@pytest.mark.parametrize(
    ("decides", "place", "words"),
    [
        (lambda y: y[-1], 0, "decided by the last component of y"),
        (np.sum, 0, "decided by the sum of y's components"),
        (np.linalg.norm, 0, "decided by y's length"),
        (lambda y: y[0], -1, "the same in the last component, not in the first"),
    ],
)
def test_a_jump_that_is_decided_otherwise_is_named(decides: Any, place: int, words: str) -> None:
    blame = explain_jumps(StageCalls(JumpsOtherwise(decides, place)))
    assert blame is not None
    assert words in blame.explanations[0].sentence


def test_right_jumps_are_none_of_these() -> None:
    assert explain_jumps(StageCalls(ReferenceSubject())) is None
