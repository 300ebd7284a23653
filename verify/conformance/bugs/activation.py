"""Wrong activation weights."""
# ruff: noqa: ARG002  # a wrong stage keeps the signature of the right one

from __future__ import annotations

from typing import Any

import numpy as np

from verify.conformance.bugs.composed import ComposedSubject
from verify.conformance.bugs.entry import Catch, Mutant


class AlwaysActive(ComposedSubject):
    """Gives every row full weight."""

    name = "always-active"

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        return np.ones_like(h)


class HardActivation(ComposedSubject):
    """Gives a row weight 1 as soon as the ramps give it any."""

    name = "hard-activation"

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        return np.where((h > -h_width) & (lam > 0), 1.0, 0.0)


class SureActivation(ComposedSubject):
    """Gives a row weight 1 only where both ramps have reached 1, else 0."""

    name = "sure-activation"

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        return np.where((h >= 0) & (lam >= lam_width), 1.0, 0.0)


class IgnoresMultipliers(ComposedSubject):
    """Weighs a row by its value alone."""

    name = "ignores-multipliers"

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        return super().activation(h, np.full_like(lam, lam_width), h_width, lam_width)


class IgnoresRowValues(ComposedSubject):
    """Weighs a row by its multiplier alone."""

    name = "ignores-row-values"

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        return super().activation(np.zeros_like(h), lam, h_width, lam_width)


class LateRamp(ComposedSubject):
    """Lets the ramp of h rise above the boundary instead of below."""

    name = "late-ramp"

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        return super().activation(h - h_width, lam, h_width, lam_width)


class OpenRamp(ComposedSubject):
    """Forgets to stop the ramps at 1."""

    name = "open-ramp"

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        return np.maximum(1.0 + h / h_width, 0.0) * np.maximum(lam / lam_width, 0.0)


class SmootherRamp(ComposedSubject):
    """Replaces the linear ramps' product by a cubic of it with the same ends and middle."""

    name = "smoother-ramp"

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        rho = super().activation(h, lam, h_width, lam_width)
        return rho * rho * (3 - 2 * rho)


class ShiftedRows(ComposedSubject):
    """Gives each row its neighbour's weight."""

    name = "shifted-rows"

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        return np.roll(super().activation(h, lam, h_width, lam_width), 1)


LOCALITY = Catch("dual-extraction/activation-locality", "toy1")

MUTANTS = (
    Mutant(
        "always-active", AlwaysActive, "activation", "activation",
        "ρ = 1 on rows that do not bind: α₂ pulls ỹ onto them, an error of order 1 wherever a row is slack.",
        (LOCALITY, Catch("inner-cost/condition-number", "two-of-three")),
    ),
    Mutant(
        "hard-activation", HardActivation, "activation", "activation",
        "ρ jumps from 0 to 1: the estimate is discontinuous in x where a multiplier passes 0, by order 1.",
        (LOCALITY,),
    ),
    Mutant(
        "sure-activation", SureActivation, "activation", "activation",
        "ρ = 0 wherever h falls short of 0 by rounding or λ is below ε_λ: binding rows are lost, an error of order 1.",
        (LOCALITY,),
    ),
    Mutant(
        "ignores-multipliers", IgnoresMultipliers, "activation", "activation",
        "Rows that touch without force get full weight: an error of order 1 at weakly active points.",
        (LOCALITY,),
    ),
    Mutant(
        "ignores-row-values", IgnoresRowValues, "activation", "activation",
        "ρ rests on λ̃ alone: a wrong multiplier of a slack row switches it on, an error of order 1 where λ̃ is noisy.",
        (LOCALITY,),
    ),
    Mutant(
        "late-ramp", LateRamp, "activation", "activation",
        "ρ = 0 on the boundary, where exact solutions lie: every row is lost, an error of order 1.",
        (LOCALITY,),
    ),
    Mutant(
        "open-ramp", OpenRamp, "activation", "activation",
        "ρ grows like λ/ε_λ: binding rows get a weight far above 1 and the condition number with it; the bias stays "
        "of order α².",
        (LOCALITY,),
    ),
    Mutant(
        "smoother-ramp", SmootherRamp, "activation", "activation",
        "Weights between 0 and 1 are off by up to 0.1; near a kink, where ρ is of order α², so is the estimate by "
        "order 1.",
        (LOCALITY,),
    ),
    Mutant(
        "shifted-rows", ShiftedRows, "activation", "activation",
        "Each row has its neighbour's weight: slack rows pull and binding ones let go, an error of order 1.",
        (LOCALITY,),
    ),
)  # fmt: skip
