"""Single stage calls put to a subject: what is asked, what must come out, and how far it may be off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from spec import OracleParameters
from spec.exact import Vector
from verify.conformance.known_answers import Known, doubles_of
from verify.conformance.places import Place, doubles
from verify.conformance.tolerances import Ramps
from verify.conformance.vectors.model import StageName
from verify.subjects import Call
from verify.subjects.protocol import Stages

Given = Literal["all", "y_star, lam, rho", "y_star, lam", "nothing", ""]
WHOLE: Given = "all"
FROM_RHO: Given = "y_star, lam, rho"
FROM_PAIR: Given = "y_star, lam"
FROM_SCRATCH: Given = "nothing"


@dataclass(frozen=True, eq=False)
class Probe:
    """One stage call.

    Args:
        id: Permanent name.
        expected: What must come out, all blocks one after another.
        tolerance: Largest accepted difference, entry by entry.
        problem: The problem; none for the activation, which has row values ``h`` and their ramp's width instead.
        tol: Gradient norm asked of the penalty minimiser.
        scale: Sizes of what is added up, entry by entry: rounding is relative to them.
        published: Whether it is one of the test vectors.
        elsewhere: Makes the same kind of probe at another place; none for those that belong where they are.
    """

    id: str
    stage: StageName
    expected: Vector
    tolerance: Vector
    problem: Any = None
    x: Vector = field(default_factory=lambda: np.zeros(0))
    call: Call = field(default_factory=lambda: Call(alpha=0.1))
    tol: float | None = None
    h: Vector = field(default_factory=lambda: np.zeros(0))
    h_width: float = 1.0
    scale: Vector | None = None
    published: bool = False
    elsewhere: Callable[[Place], Probe] | None = None

    def blocks(self, stages: Stages) -> dict[str, Vector]:
        """The subject's answer, block by block.

        Raises:
            SubjectFaultError: If the stage crashes or its answer is none.
            MissingCapabilityError: If it is not offered.
        """
        problem, x, call = self.problem, self.x, self.call
        if self.stage == "activation":
            lam: Any = call.lam
            return {"rho": stages.activation(self.h, lam, self.h_width, call.parameters.lam_width)}
        if self.stage == "lower_level":
            return dict(zip(("y_star", "lam"), stages.lower_level(problem, x), strict=True))
        if self.stage == "lower_level_runs":
            # Without noise nothing is drawn; the generator is there because the stage is called with one.
            y, lam = stages.lower_level_runs(problem, x, call, np.random.default_rng(0), 1)
            return {"y_star": y[0], "lam": lam[0]}
        if self.stage == "penalty_minimiser":
            return {"y_penalty": stages.penalty_minimiser(problem, x, call, self.tol)}
        return {"hypergradient": stages.hypergradient(problem, x, call, np.random.default_rng(0))}

    def ask(self, stages: Stages) -> Vector:
        """The subject's answer in the form of :attr:`expected`; raises as :meth:`blocks` does."""
        return np.concatenate([*self.blocks(stages).values()])

    def excess(self, got: Vector) -> float:
        """Largest difference in tolerances; beyond 1 it is a divergence."""
        with np.errstate(invalid="ignore"):
            return float(np.max(np.abs(got - self.expected) / self.tolerance, initial=0.0))

    def excess_of(self, stages: Stages) -> float:
        """How far a subject is off."""
        return self.excess(self.ask(stages))

    @property
    def needs_draws(self) -> bool:
        """Whether it makes sense only for a subject that takes its normals from the call."""
        return self.call.draws is not None

    @property
    def given(self) -> Given:
        """For the oracle call, which stages are given."""
        if self.stage != "hypergradient":
            return ""
        if self.call.rho is not None:
            return FROM_RHO if self.call.y_penalty is None else WHOLE
        return FROM_SCRATCH if self.call.lam is None else FROM_PAIR


def probe_of(id_: str, known: Known, *, tol: float | None = None, published: bool = False) -> Probe:
    """A known answer as a question."""
    asked = known.asked
    expected = np.concatenate([doubles_of(known.values[name]) for name in known.outputs])
    tolerance = np.concatenate([known.limits[name] for name in known.outputs])
    if isinstance(asked, Ramps):
        call = Call(alpha=0.1, lam=doubles(asked.lam), parameters=OracleParameters(lam_width=asked.lam_width))
        return Probe(id_, known.stage, expected, tolerance, call=call, h=doubles(asked.h), h_width=asked.h_width,
                     published=published)  # fmt: skip
    parameters = OracleParameters(N_g=asked.N_g, lam_width=float(asked.lam_width),
                                  ramp_constant=float(asked.ramp_constant))  # fmt: skip
    draws = {name: np.array([doubles(row) for row in rows]) for name, rows in asked.draws.items()}
    stages: dict[str, Any] = {name: doubles(values) for name, values in asked.given.items()}
    call = Call(alpha=float(asked.alpha), reading=asked.reading, parameters=parameters, draws=draws or None, **stages)
    return Probe(id_, known.stage, expected, tolerance, asked.problem, doubles(asked.x), call, tol, scale=known.scale,
                 published=published)  # fmt: skip
