"""What literal readings of single steps do and do not refute: none of it is told of words the paper does not have."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from spec import CHOICES, load_claims
from spec.claims import find as statement
from tests.verify.checks.asking import case_of
from tests.verify.checks.verdicts_of import REFUTED, SUPPORTED, result, under, verdict
from verify.checks.measuring.case import checks
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls
from verify.verdict import decide

LOCALITY = "dual-extraction/activation-locality"


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        ("as-written", REFUTED),
        ("only:ramp_width", REFUTED),
        # The rows that an ỹ* within δ of y* violates lie inside a ramp Θ(δ) wide.
        ("only:multiplier_width", SUPPORTED),
        ("choose:ramp_width=delta,multiplier_width=fixed", SUPPORTED),
    ],
)
def test_weights_differ_beyond_a_narrow_ramp_alone(reading, expected):
    assert verdict(LOCALITY, reading, "toy1") is expected
    # No row value is asked about that an allowed ỹ* cannot have.
    at = next(e for e in result(LOCALITY, reading, "toy1").evidence if e.kind == "comparison").context
    assert at["h"] <= at["largest h within reach"] == 0.1**3


class NoWeights(ReferenceSubject):
    """Whose rows never count."""

    def activation(self, h, lam, h_width, lam_width):
        return np.zeros_like(h)


@pytest.mark.parametrize("reading", ["choose:ramp_width=delta,multiplier_width=fixed", "repaired"])
def test_a_program_without_weights_earns_no_locality(reading):
    case = replace(case_of(LOCALITY, reading, "toy1"), stages=StageCalls(NoWeights()))
    assert decide(case.bound, checks()[LOCALITY].function(case).evidence).verdict is REFUTED


def test_the_lemma_on_the_variance_falls_with_no_stage_behind_a_bar():
    claim, step = load_claims()["variance-bound"], statement("variance-bound/conditioning")
    # The bar names x, λ̃, ỹ; that it leaves ỹ* random is one of two readings, and not said.
    assert "variance-bound/conditioning" not in claim.parts("as-written")
    assert step.literal_readings == ("as-written", "choose:given=all-stages")
    assert verdict("variance-bound/conditioning", "as-written", "toy1") is REFUTED
    assert verdict("variance-bound/conditioning", "choose:given=all-stages", "toy1") is SUPPORTED
    assert verdict("variance-bound/conditioning", "keep:given=named", "toy1") is REFUTED


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        ("as-written", REFUTED),
        # ε_λ fixed, a multiplier that leaves 0 by δ moves its row's weight by δ/ε_λ alone.
        ("only:dual_term", SUPPORTED),
        ("choose:dual_term=map,multiplier_width=fixed", SUPPORTED),
        ("choose:dual_term=cancelled,multiplier_width=fixed", SUPPORTED),
        # The repaired text asks for strict complementarity, which is not met here.
        ("keep:multiplier_width=shrinking", REFUTED),
    ],
)
def test_a_multiplier_at_zero_breaks_the_second_term_where_its_ramp_shrinks(reading, expected):
    assert verdict("bias-bound/T2", reading, "weakly-active") is expected


def test_the_second_term_with_a_fixed_ramp_is_of_first_order():
    evidence = result("bias-bound/T2", "only:dual_term", "weakly-active").evidence
    (rate,) = [item for item in evidence if item.kind == "rate"]
    assert {p.at: p.measured for p in rate.points}[0.0125] == pytest.approx(0.122, rel=0.01)
    bound = statement("bias-bound/T2").as_written.bound.model_copy(update={"exponents": {"alpha": Fraction(3, 2)}})
    assert under("bias-bound/T2", "only:dual_term", "weakly-active", bound) is REFUTED


def test_a_literal_value_rests_on_a_passage_about_what_it_is_read_into():
    passages = {(c.field, one.value): one.passage for c in CHOICES for one in c.literal}
    # Line 5 bounds ỹ and the lemmas λ̃ and ỹ; of ỹ* the theorem alone names an accuracy without a mean.
    assert "line 5" not in passages["accuracy", "sure"]
    assert "lemmas" not in passages["accuracy", "sure"]
    assert "Accuracy of Stochastic Hypergradient" in passages["accuracy", "sure"]
    # Problems are called constrained for their rows in the paragraph after that on penalty methods.
    assert "Bilevel Optimization with Linear Constraints" in passages["constrained_by", "rows"]
    # A remark's words are no reading of a lemma whose proof sums both inner solves, nor of the theorem on the total.
    asked = [
        full for claim in load_claims().values() for full, one in claim.statements() if "inner_workload" in one.choices
    ]
    assert asked == ["inner-loop-remark/penalty-solve"]
