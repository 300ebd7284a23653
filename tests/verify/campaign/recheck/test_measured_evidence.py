"""What evidence says of its errors is held against what one decision may spend."""

from __future__ import annotations

import pytest

from verify.campaign.recheck.measured_evidence import error_spent
from verify.evidence.budget import POWER, Share
from verify.evidence.model import ComparisonEvidence

SHARE = Share(1e-9)


def stated(law: str, power: float) -> ComparisonEvidence:
    return ComparisonEvidence.model_validate({
        "kind": "comparison", "quantity": "q", "measured": 1.0, "relation": "<=", "predicted": 1.0, "tolerance": 0.1,
        "rung": "statistical", "error_rate": SHARE.error, "power": power, "law": law, "samples": 100,
    })  # fmt: skip


@pytest.mark.parametrize(
    ("law", "power"),
    [("variance (chi-square)", POWER), ("variance (bets)", 1 - SHARE.unseen), ("mean (bets)", 1 - SHARE.unseen),
     ("variances along directions (bets)", 1 - SHARE.part(25).unseen)],
)  # fmt: skip
def test_a_power_that_was_promised_is_accepted(law: str, power: float) -> None:
    assert list(error_spent(stated(law, power), SHARE)) == []


@pytest.mark.parametrize(
    ("law", "power"),
    [("variance (chi-square)", 0.9999), ("variance (chi-square)", 1 - SHARE.unseen), ("mean (bets)", POWER - 1e-3),
     ("variance (bets)", 1 - 0.7 * SHARE.unseen), ("variance (bets)", 1.0), ("variance (bets)", 1 - 2 * SHARE.unseen)],
)  # fmt: skip
def test_a_power_that_nobody_promised_is_refused(law: str, power: float) -> None:
    assert [name for name, _ in error_spent(stated(law, power), SHARE)] == ["power"]
