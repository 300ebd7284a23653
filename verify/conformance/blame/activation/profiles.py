"""Weights that no rule explains but that are a product of two profiles: measured, checked off the axes, described."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.activation.ramps import number
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.blame.explanations.holding_out import HeldOutTrial, distance
from verify.conformance.probes.answers import StageAnswer
from verify.conformance.probes.probes import Probe, activation_probe

T = np.array([-0.5, 0.0, 1e-6, 1e-3, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 0.999, 1 - 1e-6, 1.0, 1.5, 2.0, 3.0])
"""Places on a ramp, in its widths from its lower end."""
FULL = 2.0
"""The other ramp's place while one is measured."""
SCALES = ((0.125, 0.25), (0.5, 0.0625), (2.0, 1.0))
"""Widths of both ramps: profiles are measured at the first ones and have to be the same at the others."""
PARTS = 3
"""Calls for each pair of widths."""
_AGREE = 1e-7


@dataclass(frozen=True, eq=False)
class MeasuredProfiles:
    """Weights ``P(h/w) Q(λ/w_λ)`` as measured at certain places; it answers probes whose rows are all at such places.

    ``of_h`` and ``of_lam`` are the weights at the places ``T`` while the other ramp is full.
    """

    of_h: Vector
    of_lam: Vector

    @property
    def full(self) -> float:
        """The weight where both are full."""
        return float(self.of_h[T == FULL][0])

    @property
    def edits(self) -> int:
        """One for each profile that is not the right ramp."""
        right = np.clip(T, 0.0, 1.0)
        return max(1, sum(bool((np.abs(profile - right) > _AGREE).any()) for profile in (self.of_h, self.of_lam)))

    @property
    def sentence(self) -> str:
        """Where each profile is furthest from the right ramp."""
        right, clauses = np.clip(T, 0.0, 1.0), []
        for name, width, profile, start in (("h", "w", self.of_h, 1.0), ("λ", "w_λ", self.of_lam, 0.0)):
            k = int(np.argmax(np.abs(profile - right)))
            if abs(profile[k] - right[k]) > _AGREE:
                at = number(T[k] - start)
                where = f"{name} = 0" if at == "0" else f"{name} = {at}·{width}"
                clauses.append(f"at {where} the weight is {number(float(profile[k]))} where {number(right[k])} belongs")
        told = "your ρ is a product of two profiles, one of h/w and one of λ/w_λ, but not of the right ramps: "
        return told + "; ".join(clauses)

    def answer(self, probe: Probe) -> Vector | None:
        """The product of what was measured; ``None`` where it was not."""
        lam = probe.call.lam
        assert lam is not None  # activation probes have multipliers
        factors = []
        places = 1 + probe.h / probe.h_width, lam / probe.call.parameters.lam_width
        for t, profile in zip(places, (self.of_h, self.of_lam), strict=True):
            at = np.abs(t[:, None] - T[None, :])
            if (at.min(axis=1) > 1e-12).any():
                return None
            factors.append(profile[at.argmin(axis=1)])
        return np.asarray(factors[0] * factors[1] / self.full)


def _grid(name: str, t: Vector, s: Vector, scale: int) -> Probe:
    w, w_lam = SCALES[scale]
    return activation_probe(f"profile-{name}", (t - 1) * w, s * w_lam, w, w_lam)


@dataclass(frozen=True, eq=False)
class Scans:
    """Answers to one call a ramp, the other one full."""

    h: StageAnswer
    lam: StageAnswer


def scan(trial: HeldOutTrial) -> Scans | None:
    """Measure both profiles; ``None`` if the subject does not answer."""
    full = np.full_like(T, FULL)
    measured = trial.ask([_grid("h", T, full, 0), _grid("lam", full, T, 0)])
    return Scans(*measured) if len(measured) == 2 else None


def measured_profile(trial: HeldOutTrial, scans: Scans) -> Blame | None:
    """Ask for the product of both profiles off the axes, at other widths and in another order of rows.

    ``None`` if the weights are no such product, or depend on neither.
    """
    order = np.random.default_rng(len(T))
    profiles = MeasuredProfiles(scans.h.got, scans.lam.got)
    if abs(profiles.full) < _AGREE or not (np.ptp(profiles.of_h) > _AGREE and np.ptp(profiles.of_lam) > _AGREE):
        return None
    held: list[StageAnswer] = []
    for scale in (0, 1, 2):
        for part in range(PARTS):
            t, s = np.meshgrid(T, T)
            rows = order.permutation(t.size)[: t.size // PARTS]
            held += trial.ask([_grid(f"both-{scale}-{part}", t.ravel()[rows], s.ravel()[rows], scale)])
    answers = [scans.h, scans.lam, *held]
    if len(held) < 3 * PARTS or not distance(profiles, answers, trial.limits) <= 1:
        return None
    if all(answer.excess <= 1 for answer in held):
        return None
    return Blame(trial.stage, described=profiles.sentence)
