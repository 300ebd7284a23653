r"""The method's lines played with every value handed through ``use(place, value)``: what a memory puts there is used.

``places`` name a line and a value in it: ``"estimate.weights"`` is :math:`ρ` where line 6 multiplies the rows by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from spec import InvalidInputError
from spec.exact import Vector
from verify.conformance.bugs.bent_subject import arrays_of, lagrangian
from verify.conformance.probes.probes import Probe
from verify.method.player import Player, Space

Use = Callable[[str, Any], Any]
"""What is used at a place where a value belongs."""


def as_right(place: str, value: Any) -> Any:  # noqa: ARG001  # every place alike
    """Nothing is remembered."""
    return value


@dataclass(frozen=True)
class _Watched:
    """The names of a line, each handed through."""

    line: str
    space: Space
    use: Use

    def __getitem__(self, name: str) -> Any:
        return self.use(f"{self.line}.{name}", self.space[name])


class RememberingLines(Player):
    """The method's lines with a memory."""

    def __init__(self, use: Use) -> None:
        super().__init__()
        self.use = use

    def read(self, line: str, space: Space) -> Any:
        return _Watched(line, space, self.use)


def played(probe: Probe, use: Use) -> Vector | None:
    """A stage's answer to a probe, in the form of ``probe.expected``; ``None`` where it has none.

    Where normals are given it is the noise alone that line 6 makes of them.
    """
    call, q, player = probe.call, arrays_of(probe.problem), RememberingLines(use)
    if probe.stage == "activation":
        widths = {"h_width": probe.h_width, "lam_width": call.parameters.lam_width}
        return np.asarray(player.run("activation", {"h": probe.h, "lam": call.lam} | widths)["rho"])
    if q is None:
        return None
    if call.draws is not None:
        return _noise(probe, use)
    space = {block.name: getattr(q, block.name) for block in fields(q)} | {"x": probe.x, "alpha": call.alpha}
    try:
        if probe.stage == "lower_level":
            pair = player.run("lower_level", space)
            return np.concatenate([pair["y_star"], pair["lam"]])
        if probe.stage == "penalty_minimiser":
            return _minimiser(probe, use, call.stages)
        return _estimate(probe, player, space)
    except (np.linalg.LinAlgError, InvalidInputError):
        return None


def _minimiser(probe: Probe, use: Use, stages: Any) -> Vector:
    """Minimiser of the penalty Lagrangian by Newton's steps from ỹ*, shape (m,)."""
    told = {name: use(f"solve.{name}", stages[name]) for name in ("y_star", "lam", "rho")}
    call = replace(probe.call, **told)
    q: Any = arrays_of(probe.problem)
    y = np.asarray(lagrangian(q, use("solve.x", probe.x), call).minimiser())
    H = np.asarray(q.f_yy + call.alpha**-2 * q.g_yy + call.alpha**-4 * (q.B.T * call.rho) @ q.B)
    starts = {"factor": (NEWTON_STEPS, np.asarray(call.y_star)), "from_zero": (REFINEMENTS, np.zeros(len(y)))}
    for place, (counts, start) in starts.items():
        for steps in counts:
            factored = use(f"{place}{steps}.H", H)
            if factored is not H:
                # Each step leaves of the way what a step with another matrix leaves.
                left = np.linalg.matrix_power(np.eye(len(y)) - np.linalg.solve(factored, H), steps)
                y = y + left @ (start - y)
    for most in FALLING_STEPS:
        factored = use(f"falling{most}.H", H)
        if factored is not H:
            y = _while_falling(most, (factored, H), np.asarray(call.y_star), y)
    return y


def _while_falling(most: int, matrices: tuple[Vector, Vector], start: Vector, y: Vector) -> Vector:
    """Where steps with a matrix that is kept end: after so many, or where the gradient gets no smaller."""
    stale, H = matrices
    way = start - y
    for _ in range(most):
        further = way - np.linalg.solve(stale, H @ way)
        if not np.linalg.norm(H @ further) < np.linalg.norm(H @ way):
            break
        way = further
    return np.asarray(y + way)


NEWTON_STEPS = (1, 2, 3, 4, 5, 10)
"""How many steps may be made with a matrix that is kept."""
REFINEMENTS = (1, 2, 3)
"""The same from 0, where the first is the solve and the others refine it."""
FALLING_STEPS = (4, 5, 6, 7, 8, 10, 20, 50, 100)
"""How many at most, as long as each makes the gradient smaller."""


def _estimate(probe: Probe, player: RememberingLines, space: Space) -> Vector:
    call, use = probe.call, player.use
    given = {name: value for name, value in call.stages.items() if value is not None}
    if "y_star" not in given or "lam" not in given:
        pair = player.run("lower_level", dict(space))
        given = {"y_star": pair["y_star"], "lam": pair["lam"]} | given
    if "rho" not in given:
        more = {"ramp_constant": float(call.parameters.ramp_constant), "eps_lam": float(call.parameters.lam_width)}
        widths = Player().run("widths", space | more)
        widths["h"] = player.line("oracle", "h_star", space | given)
        given["rho"] = use("made.rho", player.run("activation", widths | {"lam": given["lam"]})["rho"])
    if "y_penalty" not in given:
        minimiser = use("made.y", _minimiser(probe, use, given))
        given["y_penalty"] = minimiser if call.stages.get("y_star") is not None else use("made.y,alone", minimiser)
    return np.asarray(player.line("line_6", "estimate", space | given))


def _noise(probe: Probe, use: Use) -> Vector:
    """Noise of line 6 with every stage given, shape (n,)."""
    call, noise = probe.call, probe.problem.noise
    draws, y, y_star = call.draws or {}, call.y_penalty, call.y_star
    sigma_f, sigma_g, size = noise.scale("f.x"), noise.scale("g.x"), 1.0
    # A program may form sizes under either noise, or only where they count.
    x_f, y_f = use("size_f.x,always", probe.x), use("size_f.ỹ,always", y)
    y_g, y_star_g = use("size_g.ỹ,always", y), use("size_g.ỹ*,always", y_star)
    of_g = np.zeros(len(probe.x))
    if noise.model == "matrix":
        size = float(np.linalg.norm([*use("size_f.x", x_f), *use("size_f.ỹ", y_f)]))
        apart = float(np.linalg.norm(use("size_g.ỹ", y_g) - use("size_g.ỹ*", y_star_g)))
        of_g = sigma_g * apart * use("z_g", np.asarray(draws["g_x"])).mean(axis=0)
        of_g = use("noise_g,matrix", of_g)
    of_f = use("noise_f", sigma_f * size * use("z_f", np.asarray(draws["f_x"])).mean(axis=0))
    return np.asarray(of_f + call.alpha**-2 * use("noise_g", of_g))
