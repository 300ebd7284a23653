"""Estimates that never differ although the problem states noise: told by equal answers, with a stated error."""

from __future__ import annotations

import numpy as np

from verify.checks.measuring.estimates.samples import ANOTHER_LAW, SampleSetting
from verify.evidence.model import ComparisonEvidence
from verify.evidence.repeats import answers_needed, different_answers

ALIKE = 64
"""Estimates that are asked for first; where two of them differ no more are."""


class NoNoiseError(Exception):
    """A subject's estimates are all the same where noise is stated; ``evidence`` says so."""

    def __init__(self, evidence: ComparisonEvidence) -> None:
        self.evidence = evidence
        super().__init__(evidence.quantity)


def require_noise(setting: SampleSetting, variance: float) -> None:
    """Ask for a few estimates, drawn for nothing else, of a stated variance, and for more where they are all equal.

    Only for statements that a subject without noise fails: a bound from above it meets. It is a decision of the check
    that calls it, with a share of its own: noise may be a value that few estimates have.

    Raises:
        NoNoiseError: If they are all equal, so that no larger sample needs to be asked for.
    """
    if not variance > 0:
        return
    case = setting.case
    # By name: no other draw of the case moves.
    rng = case.shared_rng(f"silence of {case.claim}")
    rows = setting.draw(rng, ALIKE)
    if len(np.unique(rows, axis=0)) > 1:
        return
    needed = answers_needed(case.share.error)
    rows = np.vstack([rows, setting.draw(rng, max(0, needed - ALIKE))])
    quantity = f"number of different answers among {len(rows)} estimates of variance {variance:.4g} ({ANOTHER_LAW})"
    evidence = different_answers(
        rows, case.share, quantity, alpha=setting.call.alpha, N_g=float(setting.call.parameters.N_g)
    )
    if not evidence.holds:
        raise NoNoiseError(evidence)
