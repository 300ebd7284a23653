"""A stranger's implementation: plain formulas, dense solves, differences as written; it reads the files' data alone."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np


def answer(vector: dict[str, Any]) -> dict[str, Any]:
    """What it computes for one vector."""
    given = {name: np.array(numbers["value"]) for name, numbers in vector.get("given", {}).items()}
    parameters = vector.get("parameters", {})
    if vector["stage"] == "activation":
        return {"rho": ramp(given["h"], given["lam"], parameters["h_width"], parameters["lam_width"])}
    q = {name: np.array(block) for name, block in vector["blocks"].items()}
    x = np.array(vector["x"]["value"])
    if vector["stage"] == "lower_level":
        y, lam = lower_level(q, x)
        return {"y_star": y, "lam": lam, "dual_pull": q["B"].T @ lam}
    alpha_1, alpha_2 = (parameters[name]["value"] for name in ("alpha_1", "alpha_2"))
    if vector["stage"] == "penalty_minimiser":
        return {"y_penalty": minimiser(q, x, alpha_1, alpha_2, given["y_star"], given["lam"], given["rho"])}
    y_star, lam = (given["y_star"], given["lam"]) if "y_star" in given else lower_level(q, x)
    h = q["A"] @ x - q["B"] @ y_star - q["b"]
    rho = given["rho"] if "rho" in given else ramp(h, lam, parameters["h_width"], parameters["lam_width"])
    y = given["y_penalty"] if "y_penalty" in given else minimiser(q, x, alpha_1, alpha_2, y_star, lam, rho)
    terms = {
        "f": q["f_xx"] @ x + q["f_xy"] @ y + q["f_x"],
        "g_difference": alpha_1 * (grad_x_g(q, x, y) - grad_x_g(q, x, y_star)),
        "dual": alpha_1 * q["A"].T @ lam if vector["reading"]["dual_term"] == "frozen" else np.zeros(len(x)),
        "penalty": alpha_2 * q["A"].T @ (rho * (q["A"] @ x - q["B"] @ y - q["b"])),
    }
    if "draws" in vector:
        noise_f, noise_g = noise(vector, x, y, y_star)
        terms["f"] = terms["f"] + noise_f
        terms["g_difference"] = terms["g_difference"] + alpha_1 * noise_g
    total = terms["f"] + terms["g_difference"] + terms["dual"] + terms["penalty"]
    stages = {"y_star": y_star, "lam": lam, "rho": rho, "y_penalty": y, "h": h}
    return stages | {f"terms.{name}": part for name, part in terms.items()} | {"hypergradient": total}


def ramp(h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
    return np.clip(1 + h / h_width, 0, 1) * np.clip(lam / lam_width, 0, 1)


def grad_x_g(q: dict[str, Any], x: Any, y: Any) -> Any:
    return q["g_xx"] @ x + q["g_xy"] @ y + q["g_x"]


def lower_level(q: dict[str, Any], x: Any) -> tuple[Any, Any]:
    """Try every set of rows as equations."""
    G, c, B, r = q["g_yy"], q["g_y"] + q["g_xy"].T @ x, q["B"], q["A"] @ x - q["b"]
    p, m = B.shape
    for count in range(min(p, m) + 1):
        for held in map(list, itertools.combinations(range(p), count)):
            K = np.block([[G, -B[held].T], [B[held], np.zeros((count, count))]])
            if np.linalg.matrix_rank(K) < m + count:
                continue
            z = np.linalg.solve(K, np.concatenate([-c, r[held]]))
            lam = np.zeros(p)
            lam[held] = z[m:]
            if (lam >= -1e-9).all() and (r - B @ z[:m] <= 1e-9).all():
                return z[:m], np.maximum(lam, 0)
    raise ValueError("infeasible")


def minimiser(q: dict[str, Any], x: Any, alpha_1: float, alpha_2: float, y_star: Any, lam: Any, rho: Any) -> Any:
    del y_star  # only its multipliers and weights enter
    H = q["f_yy"] + alpha_1 * q["g_yy"] + alpha_2 * (q["B"].T * rho) @ q["B"]
    pull = alpha_2 * q["B"].T @ (rho * (q["A"] @ x - q["b"]))
    gradient = alpha_1 * (q["g_y"] + q["g_xy"].T @ x - q["B"].T @ lam)
    return np.linalg.solve(H, pull - gradient - q["f_y"] - q["f_xy"].T @ x)


def noise(vector: dict[str, Any], x: Any, y: Any, y_star: Any) -> tuple[Any, Any]:
    """Mean noise of the two gradients in x."""
    from math import erf, sqrt

    model, draws = vector["problem"]["noise"]["model"], {k: np.array(v) for k, v in vector["draws"].items()}
    parameters, common = vector["parameters"], vector["reading"]["noise_pairing"] == "common"
    sigma_f, sigma_g = parameters["sigma_f"]["value"], parameters["sigma_g"]["value"]
    mean = {name: block.mean(axis=0) for name, block in draws.items()}
    length = np.linalg.norm
    noise_f = sigma_f * mean.get("f_x", np.zeros(len(x)))
    noise_g = np.zeros(len(x))
    if model == "matrix":
        noise_f = noise_f * length([*x, *y])
    if sigma_g == 0:
        return noise_f, noise_g
    if model == "jump":
        here, there = draws["g_x"][:, 0], draws["g_x" if common else "g_x_star"][:, 0]
        phi = [(1 + erf(point[0] / sqrt(2))) / 2 for point in (y, y_star)]
        noise_g[0] = sigma_g * (((y[0] > here) - phi[0]).mean() - ((y_star[0] > there) - phi[1]).mean())
    elif model == "matrix" and common:
        noise_g = sigma_g * length(y - y_star) * mean["g_x"]
    elif model == "matrix":
        noise_g = sigma_g * (length([*x, *y]) * mean["g_x"] - length([*x, *y_star]) * mean["g_x_star"])
    elif not common:
        noise_g = sigma_g * (mean["g_x"] - mean["g_x_star"])
    return noise_f, noise_g
