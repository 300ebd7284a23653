"""The reference with its oracle call routed through the object's own stages, so that one wrong stage shows in both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from verify.conformance.bugs.formulas import h_width, rows
from verify.subjects import Call, ReferenceSubject


class ComposedSubject(ReferenceSubject):
    """Right as it stands; a mutant overrides one stage."""

    name = "composed-reference"

    def ramp_width(self, problem: Any, call: Call) -> float:
        """Width of the ramp of h, constraint units."""
        return h_width(problem, call)

    def completed(self, problem: Any, x: Any, call: Call) -> Call:
        """The call with every stage given: what it lacks is computed by this object's own stages."""
        if call.y_star is None or call.lam is None:
            y_star, lam = self.lower_level(problem, x)
            call = replace(call, y_star=y_star if call.y_star is None else call.y_star,
                           lam=lam if call.lam is None else call.lam)  # fmt: skip
        if call.rho is None:
            h = rows(problem, x, call.y_star)  # type: ignore[arg-type]  # set above
            used: Any = call.lam
            rho = self.activation(h, used, self.ramp_width(problem, call), call.parameters.lam_width)
            call = replace(call, rho=rho)
        if call.y_penalty is None:
            call = replace(call, y_penalty=self.penalty_minimiser(problem, x, call, None))
        return call

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        if call.parameters.lower_level == "primal-dual":
            return super().hypergradient(problem, x, call, rng)
        return self.estimate(problem, x, self.completed(problem, x, call), rng)

    def estimate(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        """Line 6 on a completed call."""
        return super().hypergradient(problem, x, call, rng)

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        return super().hypergradient_samples(problem, x, self.completed(problem, x, call), rng, replications)
