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
    """``if not call.rho.any()`` in place of ``if call.rho is None``."""

    name = "zeros-are-missing"

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        if call.rho is not None and not np.any(call.rho):
            own = super().hypergradient
            y = call.y_penalty
            call = replace(call, rho=None, y_penalty=None)
            if y is not None:
                h = problem.arrays.A @ x - problem.arrays.B @ call.y_star - problem.arrays.b
                width = call.parameters.h_width(call.reading, call.alpha**3, float(np.linalg.norm(problem.arrays.B, 2)))
                rho = self.activation(h, call.lam, width, call.parameters.lam_width)
                call = replace(call, rho=rho, y_penalty=y)
            return own(problem, x, call, rng)
        return super().hypergradient(problem, x, call, rng)


class PacksInFront(ReferenceSubject):
    name = "packs-in-front"

    def lower_level(self, problem: Any, x: Any) -> Any:
        y, lam = super().lower_level(problem, x)
        return y, np.concatenate([lam[lam > 0], lam[~(lam > 0)]])


class JumpsByTheLast(ReferenceSubject):
    name = "jumps-by-the-last"

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        right = np.array(super().hypergradient(problem, x, call, rng))
        if problem.noise.model != "jump" or call.draws is None or call.y_penalty is None:
            return right
        z = np.asarray(call.draws["g_x"])[:, 0]
        common = call.reading.noise_pairing == "common"
        z_star = z if common else np.asarray(call.draws["g_x_star"])[:, 0]

        def part(y: Any, y_star: Any) -> float:
            return float((y > z).mean() - ndtr(y) - (y_star > z_star).mean() + ndtr(y_star))

        y, y_star = call.y_penalty, call.y_star
        change = part(y[-1], y_star[-1]) - part(y[0], y_star[0])
        right[0] += problem.noise.scale("g.x") * call.alpha**-2 * change
        return right


def letter_of(subject: Any, *stages: Any) -> str:
    calls = StageCalls(subject)
    seen = look(calls, only=stages)
    return "\n".join(one.sentence for one in diagnose(seen, explain_all(calls, seen)))


@pytest.mark.parametrize(
    ("subject", "stage", "words"),
    [
        (PacksInFront(), "lower_level", "the λ of binding rows are returned first, in the rows' order"),
        (ZerosAreMissing(), "hypergradient", "where a given ρ is 0 in every entry, as if none were given"),
    ],
)
def test_each_is_named(subject: Any, stage: Any, words: str) -> None:
    assert words in letter_of(subject, stage)


def test_a_jump_that_another_component_decides_is_named() -> None:
    blame = explain_jumps(StageCalls(JumpsByTheLast()))
    assert blame is not None
    assert "decided by the last component of y" in blame.explanations[0].sentence
    assert explain_jumps(StageCalls(ReferenceSubject())) is None
