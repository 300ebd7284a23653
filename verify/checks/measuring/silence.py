"""Estimates that never differ although the problem states noise: told by a few dozen, with no law of samples."""

from __future__ import annotations

import numpy as np

from verify.checks.measuring.samples import ANOTHER_LAW, Setting
from verify.evidence.model import ComparisonEvidence

ALIKE = 64
"""Equal estimates after which there is no noise: normal draws never repeat, fair coins all fall alike once in 10¹⁹."""


class NoNoiseError(Exception):
    """A subject's estimates are all the same where noise is stated; ``evidence`` says so."""

    def __init__(self, evidence: ComparisonEvidence) -> None:
        self.evidence = evidence
        super().__init__(evidence.quantity)


def require_noise(setting: Setting, variance: float) -> None:
    """Ask for a few estimates, drawn for nothing else, of a stated variance.

    Only for statements that a subject without noise fails: a bound from above it meets.

    Raises:
        NoNoiseError: If they are all equal, so that no larger sample needs to be asked for.
    """
    if not variance > 0:
        return
    # By name: no other draw of the case moves.
    rows = setting.draw(setting.case.shared_rng(f"silence of {setting.case.claim}"), ALIKE)
    if len(np.unique(rows, axis=0)) > 1:
        return
    raise NoNoiseError(
        ComparisonEvidence(
            quantity=f"number of different answers among {ALIKE} estimates of variance {variance:.4g} ({ANOTHER_LAW})",
            measured=1.0, relation=">=", predicted=2.0, tolerance=0.0,
            context={"alpha": setting.call.alpha, "N_g": float(setting.call.parameters.N_g)},
        )
    )  # fmt: skip
