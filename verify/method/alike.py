"""Which names are taken for one another, and mistakes with formulas of their own that no edit of a tree makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from verify.method.lines import Procedure

Kind = Literal[
    "drop", "sign", "scale", "transpose", "swap", "shift", "argument", "power", "stale", "stage", "clip", "comparison",
    "norm", "divisor", "width", "guard", "rule",
]  # fmt: skip
"""What an edit does; ``rule`` puts another rule of the loop, of a ramp or of sampling in place of the right one."""

WEIGHTS: Mapping[Kind, float] = {
    "drop": 12, "sign": 12, "scale": 8, "transpose": 5, "swap": 4, "shift": 4, "argument": 14, "power": 10, "stale": 4,
    "stage": 5, "clip": 5, "comparison": 2, "norm": 3, "divisor": 4, "width": 4, "guard": 1, "rule": 9,
}  # fmt: skip
"""How often programmers make each kind; a kind that a draw asks for is then made somewhere at random."""

FAMILIES: tuple[frozenset[str], ...] = tuple(
    map(
        frozenset,
        (
            {"f_xy", "g_xy"}, {"f_yy", "g_yy"}, {"f_xx", "g_xx"}, {"f_x", "g_x"}, {"f_y", "g_y"},
            {"alpha_1", "alpha_2"}, {"h_width", "lam_width"}, {"sigma_f", "sigma_g"}, {"ramp_h", "ramp_lam"},
            {"rho", "lam", "h", "h_star", "weights"}, {"y", "y_0", "y_star", "y_penalty", "y_free"}, {"b", "r"},
            {"D", "eta"}, {"M", "K"}, {"x", "z", "x_next"}, {"g", "step", "v"}, {"grad_f", "grad_g", "grad_g_star"},
            {"upper", "lower"}, {"z_f", "z_g"}, {"size_f", "size_g"}, {"noise_f", "noise_g"},
        ),
    )
)  # fmt: skip
"""Names of one shape or role."""
MATRICES = frozenset({"A", "B", "f_xx", "f_xy", "f_yy", "g_xx", "g_xy", "g_yy"})
ROLLED = frozenset({"rho", "lam", "h", "h_star", "weights", "y", "y_0", "y_star", "lam_W", "g", "r", "b"})
COUNTS = frozenset({"M", "K", "N_g"})
KEPT = frozenset(
    {"rho", "lam", "y_star", "y_penalty", "y_0", "y", "h_star", "h", "weights", "h_width", "step", "g", "x", "c"}
) | {"r", "noise_f", "noise_g", "z_f"}
"""Values that a program might keep from an earlier call."""

Own = Mapping[Procedure, Mapping[str, Mapping[str, tuple[Kind, str]]]]
OWN: Own = {
    "lower_level": {
        "y_star": {
            "y_free": ("rule", "the lower level is solved without its rows"),
            "y_free + solve(g_yy, B.T @ maximum(solve(B @ solve(g_yy, B.T), r - B @ y_free), 0))": (
                "rule",
                "all rows are held at once, and multipliers below zero are cut off",
            ),
        },
        "lam": {
            "spread(lam_W, active) / maximum(norm(lam_W), 1)": ("rule", "multipliers are normalised"),
            "spread(lam_W, active) * norm(B)": ("rule", "multipliers are those of rows scaled by ‖B‖"),
            "spread(minimum(lam_W, 1), active)": ("clip", "multipliers are cut off at 1"),
        },
    },
    "activation": {
        "ramp_h": {
            "where(h > -h_width, 1, 0)": ("comparison", "the ramp of h is a step at its lower end"),
            "where(h >= 0, 1, 0)": ("comparison", "the ramp of h is a step at the boundary"),
            "clip((h + h_width) / (2 * h_width), 0, 1)": ("width", "the ramp of h is centred at the boundary"),
            "clip(h / h_width, 0, 1)": ("shift", "the ramp of h begins at the boundary"),
            "1 / (1 + exp(-clip(h / h_width, -40, 40)))": ("rule", "the ramp of h is a logistic curve"),
        },
        "ramp_lam": {
            "where(lam > 0, 1, 0)": ("comparison", "the ramp of λ is a step at 0"),
            "where(lam >= lam_width, 1, 0)": ("comparison", "the ramp of λ is a step at its upper end"),
            "clip(1 + lam / lam_width, 0, 1)": ("argument", "the ramp of λ begins a width too early"),
            "clip((lam - lam_width) / lam_width, 0, 1)": ("shift", "the ramp of λ begins a width too late"),
        },
        "rho": {
            "minimum(ramp_h, ramp_lam)": ("comparison", "the smaller ramp is taken in place of the product"),
            "maximum(ramp_h, ramp_lam)": ("comparison", "the larger ramp is taken in place of the product"),
            "(ramp_h + ramp_lam) / 2": ("rule", "the mean of the ramps is taken in place of the product"),
            "sqrt(ramp_h * ramp_lam)": ("power", "the square root of the product is taken"),
            "(ramp_h * ramp_lam) ** 2": ("power", "the square of the product is taken"),
            "(ramp_h * ramp_lam) ** 2 * (3 - 2 * ramp_h * ramp_lam)": ("rule", "the ramps are smoothed by a cubic"),
            "where(ramp_h * ramp_lam > 0, 1, 0)": ("rule", "weights are 0 or 1"),
            "ones(h)": ("rule", "every row has weight 1"),
        },
    },
    "lagrangian": {
        "h": {"maximum(A @ x - B @ y - b, 0)": ("clip", "only violated rows are penalised")},
        "gradient": {
            "upper + alpha_1 * lower - alpha_2 * (B.T @ h)": ("rule", "the penalty has no weights"),
            "upper + alpha_1 * lower": ("drop", "there is no penalty"),
            "alpha_1 * lower - alpha_2 * (B.T @ (rho * h))": ("drop", "the upper level is left out"),
            "upper + alpha_1 * lower - alpha_2 * (B.T @ (rho ** 2 * h))": ("power", "weights count twice"),
        },
    },
    "minimised": {
        "y_penalty": {
            "y_star": ("stage", "the lower level's solution is returned in place of the minimiser"),
            "y_star + 9 / 10 * (y - y_star)": ("rule", "the solve stops a tenth of the way short"),
            "y_star - (y - y_star)": ("sign", "the step from ỹ* is taken backwards"),
            "(y + y_star) / 2": ("rule", "the mean of the minimiser and ỹ* is returned"),
        },
    },
    "oracle": {
        "rho": {
            "activation(-h_star, lam, h_width, lam_width)": ("sign", "the activation is told -h"),
            "activation(h_star, lam, lam_width, h_width)": ("swap", "the activation is told its widths in turn"),
            "activation(maximum(h_star, 0), lam, h_width, lam_width)": ("clip", "the activation is told h⁺"),
            "activation(h_star, maximum(lam, 0), h_width, lam_width) * (lam > 0)": ("rule", "weights need λ > 0"),
            "where(lam > 0, 1.0, 0.0)": ("stage", "rows weigh 1 where their multiplier is positive"),
            "lam": ("stage", "multipliers are used as weights"),
        },
        "y_penalty": {
            "y_star": ("stage", "the penalty solve is skipped"),
            "penalty_minimiser(y_star, 0 * lam, rho, alpha)": ("argument", "the penalty solve is told λ = 0"),
            "penalty_minimiser(y_star, lam, ones(rho), alpha)": ("stage", "the penalty solve is told ρ = 1"),
            "penalty_minimiser(y_star, lam, rho, alpha ** 2)": ("power", "the penalty solve is told α²"),
            "penalty_minimiser(y_star, rho * lam, rho, alpha)": ("argument", "the penalty solve is told ρ∘λ"),
        },
    },
    "line_6": {
        "y": {
            "y_star": ("stage", "line 6 is evaluated at ỹ*"),
            "penalty_minimiser(y_star, lam, rho, alpha)": ("stage", "the ỹ that is given is not used"),
            "(y_penalty + y_star) / 2": ("rule", "line 6 is evaluated half-way between ỹ and ỹ*"),
        },
        "y_0": {
            "lower_level()[0]": ("stage", "the ỹ* that is given is not used"),
            "y_penalty": ("stage", "the difference of gradients is taken between ỹ and itself"),
            "zeros(y_star)": ("argument", "the gradient of g that is taken off is taken at 0"),
        },
        "weights": {
            "lam": ("stage", "line 6 has multipliers for weights"),
            "ones(rho)": ("stage", "line 6 has no weights"),
            "activation(A @ x - B @ y_penalty - b, lam, h_width, lam_width)": ("stage", "weights are computed at ỹ"),
            "activation(A @ x - B @ y_star - b, lam, h_width, lam_width)": ("stage", "the given ρ is not used"),
            "rho ** 2": ("power", "weights count twice"),
            "where(rho > 0, 1.0, 0.0)": ("comparison", "every weight above 0 counts as 1"),
            "where(rho > 1 / 2, 1.0, 0.0)": ("comparison", "weights are rounded to 0 or 1"),
        },
        "h": {
            "maximum(A @ x - B @ y - b, 0)": ("clip", "only violated rows count"),
            "A @ x - B @ y_0 - b": ("argument", "the rows are evaluated at ỹ*"),
        },
        "estimate": {
            "grad_f + alpha_1 * (grad_g - grad_g_star) + alpha_2 * (A.T @ (weights * h)) + alpha_1 * (A.T @ lam)": (
                "argument",
                "the multipliers' own part is added",
            ),
            "grad_f + alpha_1 * (grad_g - grad_g_star - A.T @ lam) + alpha_2 * (A.T @ (weights * h))": (
                "sign",
                "the multipliers' own part is taken off",
            ),
            "grad_f + alpha_1 * (grad_g - grad_g_star) + alpha_2 * (A.T @ (weights * abs(h)))": (
                "rule",
                "rows count with their absolute value",
            ),
            "grad_f + alpha_1 * (grad_g - grad_g_star) + alpha_2 * sum(weights * h) * (A.T @ weights)": (
                "rule",
                "the rows' sum is taken before A is applied",
            ),
        },
    },
    "noise": {
        "z_f": {
            "first('z_f', normals('f_x', N_g))": ("stale", "the first call's normals are used for ever"),
            "normals('f_x', 1)": ("rule", "one sample is drawn, and divided as if there were N_g"),
        },
        "z_g": {"z_f": ("rule", "f and g share their normals")},
        "size_f": {
            "norm(x) if matrix else 1": ("drop", "y is left out of the noise's size"),
            "1": ("rule", "the noise of f has the same size everywhere"),
            "norm(joined(x, y)) ** 2 if matrix else 1": ("power", "the noise's size is squared"),
        },
        "noise_f": {
            "sigma_f * size_f * z_f[0]": ("divisor", "one sample is used in place of the mean"),
            "sigma_f * size_f * z_f.sum(0) / N_g ** 0.5": ("divisor", "the sum is divided by √N_g"),
            "sigma_f ** 2 * size_f * z_f.sum(0) / N_g": ("power", "the variance is used as a standard deviation"),
            "sigma_f * size_f * abs(z_f).sum(0) / N_g": ("sign", "noise is never negative"),
        },
        "noise_g": {"sigma_g * size_g * z_g[0]": ("divisor", "g's noise is one sample's")},
    },
    "step": {
        "s": {
            "0.5": ("rule", "the oracle is asked at the middle of the segment"),
            "1.0": ("rule", "the oracle is asked at the end of the segment"),
            "0.0": ("rule", "the oracle is asked at the start of the segment"),
            "uniform() / 2": ("scale", "only half the segment is asked"),
            "2 * uniform() - 1": ("shift", "s is uniform on [-1, 1]"),
            "maximum(uniform(), uniform())": ("rule", "s is the larger of two uniform numbers"),
        },
        "z": {
            "x_next": ("stage", "the oracle is asked at the new iterate"),
            "x + step + s * step": ("shift", "the oracle is asked one segment too far"),
            "x - s * step": ("sign", "the oracle is asked on the far side of x"),
        },
        "v": {
            "step - eta * g / maximum(norm(g), 1e-300)": ("rule", "the gradient is normalised"),
            "9 / 10 * step - eta * g": ("rule", "the step loses a tenth each time"),
            "9 / 10 * step - 1 / 10 * eta * g": ("rule", "the step is an average of gradients"),
        },
        "step_next": {
            "clip(v, -D, D)": ("clip", "components are clipped one by one"),
            "v": ("clip", "steps are not clipped"),
            "v * (D / maximum(norm(v), 1e-300))": ("clip", "every step has length D"),
            "v * minimum(1, D / maximum(norm(v) ** 2, 1e-300))": ("norm", "the clip divides by the squared length"),
        },
        "total_next": {
            "total + x_next": ("argument", "block means are of the new iterates"),
            "total + x": ("argument", "block means are of the old iterates"),
        },
    },
    "block": {
        "mean": {
            "total / (M - 1)": ("divisor", "blocks are divided by M - 1"),
            "x": ("stage", "the last iterate is taken in place of the block's mean"),
            "(total - z) / (M - 1) if M > 1 else total": ("shift", "the last point of a block is left out"),
        },
        "total_next": {"total": ("stale", "the sum of a block goes on in the next")},
    },
    "output": {
        "k": {
            "0": ("rule", "the first block is output"),
            "K - 1": ("rule", "the last block is output"),
            "index(K - 1) if K > 1 else 0": ("shift", "the last block is never output"),
            "1 + index(K - 1) if K > 1 else 0": ("shift", "the first block is never output"),
            "index(minimum(2, K))": ("swap", "only the first two blocks are drawn from"),
        },
        "x_out": {
            "x": ("stage", "the last iterate is output"),
            "x_bar.sum(0) / K": ("rule", "the mean of all blocks is output"),
            "z": ("argument", "the last queried point is output"),
        },
    },
}
"""By procedure and step: another formula, its kind, and what it does in words."""
