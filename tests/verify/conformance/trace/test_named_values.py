"""The quantities are those of the method: each sum is the sum of its terms, and the whole leads to the answer."""

from __future__ import annotations

import numpy as np
import pytest

from verify.conformance.blame.noise.noise_draws import drawn_call
from verify.conformance.blame.questions import chain_question, line_6_question, minimiser_question
from verify.conformance.probes.probes import FROM_SCRATCH
from verify.conformance.trace.named_values import terms_of
from verify.conformance.trace.traced_questions.call_quantities import quantities_of
from verify.conformance.trace.traced_questions.traced_calls import questions_of


def test_sums_are_written_out_to_products() -> None:
    assert [(term.sign, term.weight, term.text) for term in terms_of("line_6", "estimate")] == [
        (1, "", "f_xx x"), (1, "", "f_xy ỹ"), (1, "", "f_x"), (1, "alpha_1", "g_xy w"), (1, "alpha_2", "Aᵀ (ρ∘h)"),
    ]  # fmt: skip


def test_line_6_adds_up_to_the_answer() -> None:
    probe = line_6_question(1)
    named = {one.name: one for one in quantities_of(probe)}
    assert probe.excess(named["the estimate of line 6"].value) <= 1
    rest = "f_xx x + f_xy ỹ + f_x + α₁g_xy w"
    assert np.allclose(named[rest].value + named["α₂Aᵀ (ρ∘h)"].value, probe.expected)
    assert named[rest].terms < named["the estimate of line 6"].terms


def test_line_5_leads_to_the_minimiser() -> None:
    probe = minimiser_question(1)
    named = {one.name: one.value for one in quantities_of(probe)}
    hessian = named["f_yy + α₁g_yy + α₂Bᵀ  diag(ρ) B"]
    assert np.allclose(np.linalg.solve(hessian, -named["the slope of line 5"]), named["w = ỹ − ỹ*"])


def test_given_normals_add_up_to_the_answer() -> None:
    probe = drawn_call(603, "matrix")
    named = {one.name: one.value for one in quantities_of(probe)}
    assert probe.excess(named["the estimate with its noise"]) <= 1


def test_a_chain_has_the_quantities_of_all_its_stages() -> None:
    names = {one.name for one in quantities_of(chain_question(1, FROM_SCRATCH))}
    assert {"g_xyᵀx + g_y", "σ_h(h)", "the slope of line 5", "the estimate of line 6"} <= names


@pytest.mark.parametrize("stage", ["lower_level", "activation", "penalty_minimiser", "hypergradient", "samples"])
def test_names_are_the_same_from_question_to_question(stage: str) -> None:
    kinds: dict[str, list[set[str]]] = {}
    for question in questions_of(stage, (), lambda probe: probe):
        if not question.is_further:
            kinds.setdefault(question.kind, []).append({one.name for one in question.named(None)})
    for names in kinds.values():
        assert len(set.intersection(*names)) >= 0.95 * max(map(len, names))
