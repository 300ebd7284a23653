"""The method written out plainly: every stage as named formulas, one line each, on which edits act.

A formula is an expression over the problem's blocks (``A``, ``f_xy``, ...), the stage's arguments, the names of the
steps before it and the functions of :mod:`verify.method.player`. It is written the way a programmer would write it, not
the way that loses the fewest digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Stage = Literal["lower_level", "activation", "penalty_minimiser", "hypergradient", "samples", "runs", "optimise"]
"""Where a mistake first shows; ``samples`` is ``hypergradient`` under noise, ``runs`` the noisy inner solvers."""

Procedure = Literal["lower_level", "activation", "lagrangian", "minimised", "widths", "oracle", "line_6", "noise",
                    "step", "block", "output"]  # fmt: skip
"""Steps that run together: ``lagrangian`` at every trial point, ``step`` at every step of Algorithm 2."""

STAGE_OF: dict[Procedure, Stage] = {
    "lower_level": "lower_level", "activation": "activation", "lagrangian": "penalty_minimiser",
    "minimised": "penalty_minimiser", "widths": "hypergradient", "oracle": "hypergradient", "line_6": "hypergradient",
    "noise": "samples", "step": "optimise", "block": "optimise", "output": "optimise",
}  # fmt: skip
"""The stage whose code a procedure is."""

Formulas = Mapping[Procedure, Mapping[str, str]]

FORMULAS: Formulas = {
    "lower_level": {
        "c": "g_xy.T @ x + g_y",
        "r": "A @ x - b",
        "y_free": "-solve(g_yy, c)",
        "active": "binding(g_yy, c, B, r)",
        "W": "B[active]",
        "lam_W": "solve(W @ solve(g_yy, W.T), r[active] - W @ y_free)",
        "y_star": "y_free + solve(g_yy, W.T @ lam_W)",
        "lam": "spread(lam_W, active)",
    },
    "activation": {
        "ramp_h": "clip(1 + h / h_width, 0, 1)",
        "ramp_lam": "clip(lam / lam_width, 0, 1)",
        "rho": "ramp_h * ramp_lam",
    },
    "lagrangian": {
        "alpha_1": "alpha ** -2",
        "alpha_2": "alpha ** -4",
        "upper": "f_xy.T @ x + f_yy @ y + f_y",
        "lower": "g_xy.T @ x + g_yy @ y + g_y - B.T @ lam",
        "h": "A @ x - B @ y - b",
        "gradient": "upper + alpha_1 * lower - alpha_2 * (B.T @ (rho * h))",
    },
    "minimised": {"y_penalty": "y"},
    "widths": {
        "h_width": "2 * ramp_constant * maximum(1, norm(B)) * alpha ** 3",
        "lam_width": "eps_lam",
    },
    "oracle": {
        "h_star": "A @ x - B @ y_star - b",
        "rho": "activation(h_star, lam, h_width, lam_width)",
        "y_penalty": "penalty_minimiser(y_star, lam, rho, alpha)",
    },
    "line_6": {
        "alpha_1": "alpha ** -2",
        "alpha_2": "alpha ** -4",
        "y": "y_penalty",
        "y_0": "y_star",
        "weights": "rho",
        "grad_f": "f_xx @ x + f_xy @ y + f_x",
        "grad_g": "g_xx @ x + g_xy @ y + g_x",
        "grad_g_star": "g_xx @ x + g_xy @ y_0 + g_x",
        "h": "A @ x - B @ y - b",
        "estimate": "grad_f + alpha_1 * (grad_g - grad_g_star) + alpha_2 * (A.T @ (weights * h))",
    },
    "noise": {
        "z_f": "normals('f_x', N_g)",
        "z_g": "normals('g_x', N_g) if matrix else 0 * z_f",
        "size_f": "norm(joined(x, y)) if matrix else 1",
        "size_g": "norm(y - y_0)",
        "noise_f": "sigma_f * size_f * z_f.sum(0) / N_g",
        "noise_g": "sigma_g * size_g * z_g.sum(0) / N_g",
        "answer": "estimate + noise_f + alpha_1 * noise_g",
    },
    "step": {
        "s": "uniform()",
        "z": "x + s * step",
        "x_next": "x + step",
        "g": "oracle(z)",
        "v": "step - eta * g",
        "step_next": "v * (D / maximum(norm(v), D))",
        "total_next": "total + z",
    },
    "block": {"mean": "total / M", "total_next": "0 * total"},
    "output": {"k": "index(K)", "x_out": "x_bar[k]"},
}
"""Every step by procedure, in order."""


def edited(edits: Formulas) -> Formulas:
    """The method with some of its formulas exchanged."""
    return {procedure: {**steps, **edits.get(procedure, {})} for procedure, steps in FORMULAS.items()}
