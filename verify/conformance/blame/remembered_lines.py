r"""The stages line by line, every value handed through ``use(place, value)``: what a memory puts there is used instead.

``places`` names where a value enters: ``"penalty.ρ"`` is :math:`ρ` where line 6 multiplies the rows by it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.programs import Program, solved
from verify.conformance.bugs.bent_subject import arrays_of
from verify.conformance.probes import Probe
from verify.truth.geometry import ramp

Use = Callable[[str, Any], Any]
"""What is used at a place where a value belongs."""


def as_right(place: str, value: Any) -> Any:  # noqa: ARG001  # every place alike
    """Nothing is remembered."""
    return value


def played(probe: Probe, use: Use) -> Vector | None:
    """A stage's answer to a probe, in the form of ``probe.expected``; ``None`` where it has none.

    Where normals are given it is the noise alone that line 6 makes of them.
    """
    call, q = probe.call, arrays_of(probe.problem)
    if probe.stage == "activation":
        return _weights((probe.h, call.lam, probe.h_width, call.parameters.lam_width), use)
    if q is None:
        return None
    if call.draws is not None:
        return _noise(probe, use)
    try:
        if probe.stage == "lower_level":
            pair = _pair(q, probe.x, use)
            return None if pair is None else np.concatenate(pair)
        if probe.stage == "penalty_minimiser":
            return _minimiser((q, probe.x, call.alpha), (call.y_star, call.lam, call.rho), use)
        return _estimate(probe, q, use)
    except np.linalg.LinAlgError:
        return None


def _pair(q: Any, x: Vector, use: Use) -> tuple[Vector, Vector] | None:
    """Lower level by its active rows; shapes (m,), (p,)."""
    G, B = q.g_yy, q.B
    slope, least = q.g_xy.T @ use("slope.x", x) + q.g_y, q.A @ use("rows.x", x) - q.b
    pair = solved(Program(G, use("active.c", slope), B, use("active.r", least)))
    if pair is None:
        return None
    held = pair[1] > 0
    lam, W = np.zeros(len(least)), B[held]
    free = -np.linalg.solve(G, use("free.c", slope))
    lam[held] = np.linalg.solve(W @ np.linalg.solve(G, W.T), use("held.r", least)[held] - W @ free)
    return free + np.linalg.solve(G, B.T @ lam), lam


def _weights(rows: tuple[Vector, Any, float, float], use: Use) -> Vector | None:
    h, lam, h_width, lam_width = rows
    widths = float(use("ramp.h_width", h_width)), float(use("ramp.lam_width", lam_width))
    return np.asarray(ramp(use("ramp.h", h), np.asarray(use("ramp.λ̃", np.asarray(lam))), *widths))


def _minimiser(where: tuple[Any, Vector, float], given: tuple[Any, Any, Any], use: Use) -> Vector:
    """Minimiser of the penalty Lagrangian, shape (m,), as a step from ỹ*."""
    (q, x, alpha), (y_star, lam, rho) = where, given
    x, y_star = use("solve.x", x), use("solve.ỹ*", y_star)
    lam, rho = use("solve.λ̃", lam), use("solve.ρ", rho)
    a_1, a_2 = alpha**-2, alpha**-4
    H = q.f_yy + a_1 * q.g_yy + a_2 * (q.B.T * rho) @ q.B
    upper = q.f_xy.T @ x + q.f_yy @ y_star + q.f_y
    lower = q.g_xy.T @ x + q.g_yy @ y_star + q.g_y - q.B.T @ lam
    h = q.A @ x - q.B @ y_star - q.b
    return np.asarray(y_star - np.linalg.solve(H, upper + a_1 * lower - a_2 * (q.B.T @ (rho * h))))


def _estimate(probe: Probe, q: Any, use: Use) -> Vector | None:
    call, x = probe.call, probe.x
    y_star, lam, rho, y = call.y_star, call.lam, call.rho, call.y_penalty
    if y_star is None or lam is None:
        pair = _pair(q, x, use)
        if pair is None:
            return None
        y_star, lam = pair[0] if y_star is None else y_star, pair[1] if lam is None else lam
    h_star = q.A @ use("h*.x", x) - q.B @ use("h*.ỹ*", y_star) - q.b
    if rho is None:
        h_width = 2.0 * float(call.parameters.ramp_constant) * max(1.0, float(np.linalg.norm(q.B, 2))) * call.alpha**3
        rho = use("made.ρ", _weights((h_star, lam, h_width, float(call.parameters.lam_width)), use))
    if y is None:
        y = use("made.ỹ", _minimiser((q, x, call.alpha), (y_star, lam, rho), use))
    a_1, a_2 = call.alpha**-2, call.alpha**-4
    f = q.f_xx @ use("f.x", x) + q.f_xy @ use("f.ỹ", y) + q.f_x
    g = q.g_xx @ (use("g.x", x) - use("g*.x", x)) + q.g_xy @ (use("g.ỹ", y) - use("g*.ỹ*", y_star))
    h = use("penalty.h", q.A @ use("penalty.x", x) - q.B @ use("penalty.ỹ", y) - q.b)
    return np.asarray(f + a_1 * g + a_2 * (q.A.T @ (use("penalty.ρ", rho) * h)))


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
