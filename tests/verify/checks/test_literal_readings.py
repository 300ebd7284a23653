"""What literal readings of single steps do and do not refute: none of it is told of words the paper does not have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.verify.checks.asking import case_of
from tests.verify.checks.verdicts_of import REFUTED, SUPPORTED, result, verdict
from verify.checks.measuring.case import checks
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import Stages
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
    at = result(LOCALITY, reading, "toy1").evidence[0].context
    assert at["h"] <= at["largest h within reach"] == 0.1**3


class NoWeights(ReferenceSubject):
    """Whose rows never count."""

    def activation(self, h, lam, h_width, lam_width):
        return np.zeros_like(h)


@pytest.mark.parametrize("reading", ["choose:ramp_width=delta,multiplier_width=fixed", "repaired"])
def test_a_program_without_weights_earns_no_locality(reading):
    case = replace(case_of(LOCALITY, reading, "toy1"), stages=Stages(NoWeights()))
    assert decide(case.bound, checks()[LOCALITY].function(case).evidence).verdict is REFUTED
