"""What one stage call is given, as plain arrays that edits can change one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from spec import Noise
from spec.blocks.quadratic import QuadraticArrays
from spec.exact import Vector
from verify.conformance.bugs.bent_subject import arrays_of
from verify.conformance.probes.probes import Probe
from verify.method.player import compiled
from verify.method.terms import term_value
from verify.truth.geometry import ramp


@dataclass(frozen=True, eq=False)
class Names:
    """Blocks and values of a point by name, as formulas have them; what no formula asks for is not computed."""

    point: CallPoint
    more: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        if name in VALUES:
            return getattr(self.point, VALUES[name])
        if name in BLOCKS:
            return getattr(self.point.q, name)
        return self.more[name]


BLOCKS = frozenset(block.name for block in fields(QuadraticArrays))
VALUES = {name: name for name in ("x", "y", "y_star", "lam", "rho", "alpha", "alpha_1", "alpha_2", "h", "h_star")} | {
    "y_penalty": "y", "keeps_dual": "keeps_dual"
}  # fmt: skip
OF_Y = frozenset(("y", "y_penalty", "h"))
"""Names whose values hang on where a formula is evaluated."""


@dataclass(frozen=True, eq=False)
class CallPoint:
    """Problem, point, stage values and weights of line 6 and of the penalty Lagrangian.

    ``y`` is where both are evaluated, ``y_star`` the lower-level solution as given.
    """

    q: QuadraticArrays
    x: Vector
    y: Vector
    y_star: Vector
    lam: Vector
    rho: Vector
    alpha: float
    alpha_1: float
    alpha_2: float
    N_g: int = 1
    draws: Mapping[str, Vector] | None = None
    noise: Noise = field(default_factory=Noise)
    is_common: bool = True
    keeps_dual: bool = False
    ramp_constant: float = 1.0
    lam_width: float = 1.0
    tol: float = 0.0
    """Gradient norm asked of the penalty minimiser."""

    def activated(self, h: Vector) -> Vector:
        """The right weights of rows with these values."""
        h_width = 2.0 * self.ramp_constant * max(1.0, float(np.linalg.norm(self.q.B, 2))) * self.alpha**3
        return np.asarray(ramp(h, self.lam, h_width, self.lam_width))

    @cached_property
    def mean_noises(self) -> tuple[Vector, Vector]:
        """Noise of the mean gradient of f in x, and of the difference of those of g, as given normals make it."""
        nothing = np.zeros(len(self.x))
        if self.draws is None or self.noise.model == "jump":
            return nothing, nothing
        matrix = self.noise.model == "matrix"
        here, there = (float(np.linalg.norm([*self.x, *y])) if matrix else 1.0 for y in (self.y, self.y_star))
        mean = {name: block.mean(axis=0) for name, block in self.draws.items()}
        of_f = self.noise.scale("f.x") * here * mean.get("f_x", nothing)
        if self.is_common:
            apart = float(np.linalg.norm(self.y - self.y_star)) if matrix else 0.0
            return of_f, self.noise.scale("g.x") * apart * mean.get("g_x", nothing)
        of_g = here * mean.get("g_x", nothing) - there * mean.get("g_x_star", nothing)
        return of_f, self.noise.scale("g.x") * of_g

    @cached_property
    def noise_x(self) -> Vector:
        """Noise of line 6."""
        of_f, of_g = self.mean_noises
        return np.asarray(of_f + self.alpha_1 * of_g)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """(n, m, p)."""
        return len(self.x), len(self.y_star), len(self.lam)

    @cached_property
    def h(self) -> Vector:
        """Row values at ``y``."""
        return self.q.A @ self.x - self.q.B @ self.y - self.q.b

    @cached_property
    def h_star(self) -> Vector:
        """Row values at ``y_star``."""
        return self.q.A @ self.x - self.q.B @ self.y_star - self.q.b

    @cached_property
    def table(self) -> dict[Any, Any]:
        """What was already computed here, by name, or by what computes it."""
        return {}

    @cached_property
    def whatever_y(self) -> dict[str, Any]:
        """Values of formulas that do not name ``y``, the same wherever it is."""
        return {}

    def value(self, formula: str, more: Mapping[str, Any] | None = None) -> Any:
        """A formula's value here, computed once, ``more`` being other functions of it; nobody may write into it."""
        table = self.table
        if formula not in table:
            shared = self.whatever_y if OF_Y.isdisjoint(compiled(formula).co_names) else table
            if formula not in shared:
                shared[formula] = term_value(formula, Names(self, more or {}))
            table[formula] = shared[formula]
        return table[formula]

    def at(self, y: Vector) -> CallPoint:
        """The same evaluated at another y."""
        moved = replace(self, y=y)
        moved.__dict__["whatever_y"] = self.whatever_y
        return moved

    def with_blocks(self, **blocks: Any) -> CallPoint:
        """The same with other blocks of the problem."""
        return replace(self, q=replace(self.q, **{name: np.array(value) for name, value in blocks.items()}))


def point_of(probe: Probe) -> CallPoint | None:
    """The point of a probe on a quadratic problem whose multipliers and weights are given; else ``None``.

    Where no y is given it is ``y_star``.
    """
    call, q = probe.call, arrays_of(probe.problem)
    if q is None or call.y_star is None or call.lam is None or call.rho is None:
        return None
    y = call.y_star if call.y_penalty is None else call.y_penalty
    alpha = call.alpha
    problem = getattr(probe.problem, "quadratic", probe.problem)
    return CallPoint(
        q, probe.x, y, call.y_star, call.lam, call.rho, alpha, alpha**-2, alpha**-4, call.parameters.N_g,
        call.draws, problem.noise, call.reading.noise_pairing == "common", call.reading.dual_term == "frozen",
        float(call.parameters.ramp_constant), float(call.parameters.lam_width),
        alpha if probe.tol is None else probe.tol,
    )  # fmt: skip
