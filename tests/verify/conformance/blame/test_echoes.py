"""Noise that follows from a wrong line 6 is not told besides; noise that is wrong by itself is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from verify.conformance.blame.all_stages import explain_all
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.letter.diagnosis import diagnose
from verify.method.lines import FORMULAS, edited
from verify.method.plain_subject import PlainMethod
from verify.subjects.protocol import StageCalls

SIGN = {"line_6": {"estimate": "grad_f - alpha_1 * (grad_g - grad_g_star) + alpha_2 * (A.T @ (weights * h))"}}
NO_F = {"line_6": {"estimate": "alpha_1 * (grad_g - grad_g_star) + alpha_2 * (A.T @ (weights * h))"}}
CUBED = {"line_6": {"alpha_1": "alpha ** -3"}}
NO_SCALE = {"noise": {"noise_g": "size_g * z_g.sum(0) / N_g"}}
ELSEWHERE = {"line_6": {"y": "y_star"}}
LARGEST = {"noise": {"size_g": "norm_max(y - y_0)"}}
OTHER_WEIGHT = {"noise": {"answer": "estimate + noise_f + alpha_2 * noise_g"}}


def told(*changes: Mapping[str, Mapping[str, str]], uses_draws: bool = True) -> dict[str, list[str]]:
    """Sentences by stage of a subject with some of its formulas changed."""
    formulas: Any = {key: dict(steps) for key, steps in FORMULAS.items()}
    for change in changes:
        for procedure, steps in change.items():
            formulas[procedure] |= steps
    subject = PlainMethod(formulas)
    subject.uses_draws = uses_draws
    stages = StageCalls(subject)
    with np.errstate(all="ignore"):
        blames = explain_all(stages, look(stages))
    return {blame.stage: [e.sentence for e in blame.explanations] for blame in blames}


def test_estimates_that_are_off_by_their_noise_are_not_told_again() -> None:
    changed = {"noise": {"noise_f": "sigma_f * size_f * z_f.sum(0) / N_g ** 0.5"}}
    stages = StageCalls(PlainMethod(edited(changed)))  # type: ignore[arg-type]  # by procedure
    seen = look(stages)
    off = [found.stage for found in seen.findings if found.status == "diverges"]
    assert off == ["hypergradient", "samples"]
    found = diagnose(seen, explain_all(stages, seen))
    assert [one.stage for one in found] == ["samples"]
    assert "√N_g" in found[0].sentence


@pytest.mark.parametrize(
    ("line", "noise", "uses_draws"),
    [(SIGN, NO_SCALE, True), (SIGN, LARGEST, True), (NO_F, OTHER_WEIGHT, True), (SIGN, NO_SCALE, False)],
)  # fmt: skip
def test_noise_that_is_wrong_by_itself_is_told_beside_line_6(line: Any, noise: Any, uses_draws: bool) -> None:
    alone = told(noise, uses_draws=uses_draws)["samples"]
    both = told(line, noise, uses_draws=uses_draws)
    assert alone
    assert both["samples"] == alone
    # Noise may choose between words for one formula, not the formula.
    formulas = [found["hypergradient"][0].partition(", that is")[0] for found in (both, told(line))]
    assert formulas[0] == formulas[1] != ""


@pytest.mark.parametrize(
    ("line", "words"), [(CUBED, "α⁻³ where α₁ belongs"), (ELSEWHERE, "ỹ* where ỹ belongs")]
)  # fmt: skip
def test_noise_that_follows_from_line_6_is_not_told(line: Any, words: str) -> None:
    found = told(line)
    assert [*found] == ["hypergradient"]
    assert words in found["hypergradient"][0]
