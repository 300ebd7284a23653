"""What a subject answered to stage calls."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from spec.exact import Vector
from verify.conformance.places.places import rounded
from verify.conformance.probes.probes import FROM_PAIR, FROM_RHO, FROM_SCRATCH, WHOLE, Probe
from verify.subjects import SubjectFaultError
from verify.truth.stages import ExactSetting

INSIDE = {
    WHOLE: "with every stage given: line 6 alone",
    FROM_RHO: "given ỹ*, λ̃ and ρ: its own penalty solve and line 6",
    FROM_PAIR: "given ỹ* and λ̃: its own activation, penalty solve and line 6",
    FROM_SCRATCH: "given nothing: its own lower level and all that follows",
    "": "",
}
"""What a call computes by itself, innermost first."""


@dataclass(frozen=True)
class StageAnswer:
    """What came back from one probe."""

    probe: Probe
    got: Vector

    @cached_property
    def excess(self) -> float:
        """Largest difference from the right value, in tolerances."""
        return self.probe.excess(self.got)


@dataclass
class Asked:
    """What came of a stage's probes, in the order of asking; ``broken`` are those that ended in a fault, with it.

    ``refusals`` are the subject's words where it does not support a probe; ``late`` ones were not asked, after an
    interrupt or so many faults.
    """

    answers: list[StageAnswer] = field(default_factory=list)
    broken: list[tuple[Probe, SubjectFaultError]] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    late: int = 0
    ended: bool = False


def setting_of(probe: Probe, alpha: float | None = None) -> ExactSetting:
    """A probe's call in exact numbers, with what it gives; at its own alpha unless another is asked for."""
    call, q = probe.call, probe.call.parameters
    given = {name: rounded(value) for name, value in call.stages.items() if value is not None}
    draws = {name: tuple(rounded(row) for row in rows) for name, rows in (call.draws or {}).items()}
    numbers = {"lam_width": q.lam_width, "ramp_constant": q.ramp_constant}
    exact = {name: Fraction(value) for name, value in numbers.items() if math.isfinite(value)}
    return ExactSetting(
        problem=probe.problem, x=rounded(probe.x), alpha=Fraction(call.alpha if alpha is None else alpha),
        reading=call.reading, N_g=q.N_g, given=given, draws=draws, **exact,
    )  # fmt: skip
