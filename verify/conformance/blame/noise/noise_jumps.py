"""What is wrong with jump noise that is made of given thresholds, beside the right one, which has mean 0."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from spec.exact import Vector
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.blame.noise.noise_draws import RIVALS, ask_call
from verify.conformance.blame.noise.noise_terms import SAME, NoisyCall, allowance
from verify.conformance.probes.probes import Probe
from verify.method.terms import JUMPS, term_value
from verify.subjects import MissingCapabilityError
from verify.subjects.protocol import StageCalls

FIRST = range(680, 690)
"""Seeds of the calls in which a formula is looked for."""
LATER = range(690, 698)
"""Seeds of those that are held out."""
RIGHT_JUMP = "α₁·σ_g(1[ỹ₁ > z] − Φ(ỹ₁) − 1[ỹ*₁ > z] + Φ(ỹ*₁))"
"""What belongs in the first component, as a mean over N_g samples."""


@dataclass(frozen=True)
class JumpFormula:
    """Jump noise of g as a subject seems to make it: one of the formulas in words."""

    words: str

    @property
    def sentence(self) -> str:
        """What it adds and what must be added."""
        return f"under jump noise line 6 adds {self.words} where {RIGHT_JUMP} belongs in its first component"

    @property
    def edits(self) -> int:
        """One change."""
        return 1

    def answer(self, probe: Probe) -> Vector | None:
        """The right estimate with this noise in place of the right one; none of calls without given thresholds."""
        call = probe.call
        if probe.stage != "hypergradient" or call.draws is None or call.y_penalty is None or call.y_star is None:
            return None
        if probe.problem.noise.model != "jump":
            return None
        return np.asarray(probe.expected + jump_noise(self.words, probe) - jump_noise("", probe))


def jump_noise(words: str, probe: Probe) -> Vector:
    """What is added to an estimate by one of the formulas, shape (n,); the right one has no words."""
    call, sigma_g = probe.call, probe.problem.noise.scale("g.x")
    draws, y, y_star = call.draws or {}, np.asarray(call.y_penalty), np.asarray(call.y_star)
    if "g_x" not in draws:
        return np.zeros(len(probe.x))
    z = np.asarray(draws["g_x"])[:, 0]
    z_star = z if call.reading.noise_pairing == "common" else np.asarray(draws["g_x_star"])[:, 0]
    names = {
        "here": y[0] > z, "there": y_star[0] > z_star, "Phi": ndtr(y[0]), "Phi_star": ndtr(y_star[0]),
        "half": ndtr(np.sqrt(2) * y[0]), "half_star": ndtr(np.sqrt(2) * y_star[0]),
        "by": lambda v, v_star: (v > z).mean() - ndtr(v) - (v_star > z_star).mean() + ndtr(v_star), "y": y,
        "y_star": y_star, "first": 1.0 * (np.arange(len(probe.x)) == 0), "alpha_1": call.alpha**-2, "N": len(z),
    }  # fmt: skip
    return np.asarray(sigma_g * term_value(JUMPS[words], names))


def explain_jumps(stages: StageCalls) -> Blame | None:
    """What a subject makes of given thresholds, where it is wrong; ``None`` where it is right or makes nothing of them.

    Without explanations where no formula gives it.
    """
    if not stages.use_draws:
        return None
    with suppress(MissingCapabilityError):
        rows = [ask_call(stages, seed, "jump") for seed in FIRST]
        if _gives("", rows):
            return None
        effect = max(float(np.abs(got - jump_noise("", at.probe)).max()) for at, got in rows)
        fitting = [words for words in JUMPS if words and _gives(words, rows)]
        later = [ask_call(stages, seed, "jump") for seed in LATER] if fitting else []
        rivals = [JumpFormula(words) for words in fitting if _gives(words, later)][:RIVALS]
        return Blame("samples", rivals, len(rows) + len(later), len(later), 0.0, effect)
    return None


def _gives(words: str, rows: Sequence[tuple[NoisyCall, Vector]]) -> bool:
    return all(
        (np.abs(jump_noise(words, at.probe) - got) <= 10 * allowance(at) + SAME * float(np.abs(got).max())).all()
        for at, got in rows
    )
