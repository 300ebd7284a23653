"""How often a number that did not change is called a drift: at most twice the probability stated for its interval."""

from __future__ import annotations

import numpy as np

from verify.campaign.baseline.drift import DriftRules, level_drifts, sweep_drifts
from verify.campaign.baseline.model import Level, Sweep
from verify.evidence.samples.laws import chi2_lower, chi2_upper

ERROR, DOF, RUNS = 0.1, 200.0, 400
VALUES = (0.1, 0.05, 0.025, 0.0125)
RULES = DriftRules(same_seed=False, same_profile=True)


def sweep(rng: np.random.Generator, scale: float = 1.0) -> Sweep:
    """Sampled variances 1 at each value, with jointly valid intervals."""
    values = scale * rng.chisquare(DOF, len(VALUES)) / DOF
    each = ERROR / len(VALUES) / 2
    wide = max(DOF / chi2_lower(DOF, each) - 1, 1 - DOF / chi2_upper(DOF, each))
    return Sweep(
        quantity="variance", variable="alpha", rung="statistical", exponent=0.0, interval=(-1.0, 1.0), at=VALUES,
        measured=tuple(values), uncertainty=tuple(wide * values), points=len(VALUES), error_rate=ERROR,
    )  # fmt: skip


def one_sided(rng: np.random.Generator, scale: float = 1.0) -> Level:
    """A sampled variance 1/2 under the bound 1."""
    tolerance = chi2_upper(DOF, ERROR) / DOF - 1
    return Level(
        quantity="variance", rung="statistical", measured=scale * 0.5 * rng.chisquare(DOF) / DOF, relation="<=",
        predicted=1.0, tolerance=tolerance, error_rate=ERROR,
    )  # fmt: skip


def alarms(make, compare, scale: float) -> float:
    rng = np.random.default_rng(7)
    found = [any(d.moved for d in compare(make(rng), make(rng, scale), RULES)) for _ in range(RUNS)]
    return sum(found) / RUNS


def test_unchanged_numbers_are_called_a_drift_no_oftener_than_stated() -> None:
    assert alarms(sweep, sweep_drifts, 1.0) <= 2 * ERROR
    assert alarms(one_sided, level_drifts, 1.0) <= 2 * ERROR


def test_drifts_beyond_both_intervals_are_seen() -> None:
    assert alarms(sweep, sweep_drifts, 1.8) >= 0.95
    assert alarms(one_sided, level_drifts, 1.8) >= 0.85
