"""What bends cost: the bound holds for the decision in use, and crossings beyond the sweep stay hidden."""

from __future__ import annotations

import numpy as np
import pytest

from verify.campaign.calibration import sweeps
from verify.campaign.calibration.drift_price import CLAIMED, TRUE, least, nearest, price
from verify.evidence.budget import Share


def test_refuting_beside_bends_costs_more_than_beside_powers_and_no_less_than_the_bound():
    found = price(8, Share(1e-6), 12)
    assert found.straight < found.bent
    assert 0.8 * found.least < found.bent < 2 * found.least


def test_the_nearest_law_that_meets_the_claim_is_nearer_than_a_power():
    logs = np.log([0.2 / 2**k for k in range(5)])
    line = abs(CLAIMED - TRUE) * float(np.linalg.norm(logs - logs.mean()))
    assert 0 < nearest(logs) < line / 5


def test_a_rarer_error_and_a_shorter_sweep_cost_more():
    ats = [0.2 / 2**k for k in range(6)]
    assert least(ats, Share(1e-9)) > least(ats, Share(1e-3))
    assert least(ats[:4], Share(1e-3)) > least(ats, Share(1e-3))


def test_no_crossing_is_refuted_wherever_it_lies(monkeypatch):
    monkeypatch.setattr(sweeps, "CROSSINGS", (0.1, 0.003, 0.001))
    for name, shares in sweeps.crossings(4, seed=0, share=Share(1e-2)):
        assert shares == pytest.approx((0.0,) * sweeps.LOOKS), name
