"""What each line of Algorithm 1 is made of: by how much an answer changes where one term is left out or miswritten.

Every function takes a probe and gives the change of its answer by term; every term is there, zero where a probe cannot
show it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from spec import InvalidInputError, Quadratic, parse_problem
from spec.exact import FloatArray
from verify.conformance.places.places import rounded
from verify.conformance.probes.probes import WHOLE, Probe
from verify.method.summands import summands
from verify.method.terms import term_value
from verify.truth.formulas import as_float
from verify.truth.lower_level import lower_level as exact

Changes = dict[str, FloatArray]
"""Changes of an answer, by the term that is left out or written otherwise."""


def line_3(probe: Probe) -> Changes:
    """The lower level: solved again, exactly, without a term."""
    g, rows = probe.problem.to_dict().get("g", {}), probe.problem.to_dict()["constraints"]
    zeros: Any = np.zeros((probe.problem.p, probe.problem.n), dtype=int).tolist()
    A, b = rows.get("A", zeros), rows.get("b", [0] * probe.problem.p)
    nothing = [0] * probe.problem.p
    no_rows = {"A": zeros, "B": np.zeros_like(probe.problem.arrays.B, dtype=int).tolist(), "b": [1] * len(b)}
    answers = {
        "g_y": _solved_with(probe, {**g, "y": None}, rows),
        "g_xyᵀx": _solved_with(probe, {**g, "xy": None}, rows),
        "g_yy beside its diagonal": _solved_with(probe, {**g, "yy": _diagonal(g["yy"])}, rows),
        "g_xy for g_xyᵀ": _solved_with(probe, {**g, "xy": _turned(g.get("xy"))}, rows),
        "A x": _solved_with(probe, g, {**rows, "A": zeros}),
        "A for Aᵀ": _solved_with(probe, g, {**rows, "A": _turned(A)}),
        "b": _solved_with(probe, g, {**rows, "b": nothing}),
        "rows": _solved_with(probe, g, no_rows),
    }
    whole = probe.expected
    answers["-λ for λ"] = whole * np.where(np.arange(len(whole)) < probe.problem.m, 1.0, -1.0)
    return {name: answer - whole for name, answer in answers.items()}


def _solved_with(probe: Probe, g: dict[str, Any], rows: dict[str, Any]) -> FloatArray:
    """The pair under another g and other rows; infinite where there is none."""
    given = {name: block for name, block in g.items() if block is not None}
    try:
        problem = parse_problem({"kind": "quadratic", "f": probe.problem.to_dict().get("f", {}), "g": given,
                                 "constraints": rows})  # fmt: skip
        assert isinstance(problem, Quadratic)  # by its kind
        pair = exact.solve(problem, rounded(probe.x))
    except InvalidInputError:
        return np.full_like(probe.expected, np.inf)
    return np.concatenate([as_float(pair.y_star), as_float(pair.lam)])


def _diagonal(block: list[list[Any]]) -> list[list[Any]]:
    return [[entry if i == j else 0 for j, entry in enumerate(row)] for i, row in enumerate(block)]


def _turned(block: list[list[Any]] | None) -> list[list[Any]] | None:
    """The transposed block where it has the same shape."""
    square = block is not None and len(block) == len(block[0])
    return [list(column) for column in zip(*block, strict=True)] if square and block is not None else block


def line_4(probe: Probe) -> Changes:
    """The activation."""
    h, width = probe.h / probe.h_width, probe.call.parameters.lam_width
    lam: FloatArray = np.asarray(probe.call.lam) / width
    of_h, of_lam = np.clip(1.0 + h, 0.0, 1.0), np.clip(lam, 0.0, 1.0)

    def smooth(v: FloatArray) -> FloatArray:
        return v * v * (3.0 - 2.0 * v)

    answers = {
        "σ_h": of_lam,
        "σ_λ": of_h,
        "σ_h cut off at 0": np.minimum(1.0 + h, 1.0) * of_lam,
        "σ_h cut off at 1": np.maximum(1.0 + h, 0.0) * of_lam,
        "σ_λ cut off at 0": of_h * np.minimum(lam, 1.0),
        "σ_λ cut off at 1": of_h * np.maximum(lam, 0.0),
        "the smaller for the product": np.minimum(of_h, of_lam),
        "smooth ramps": smooth(of_h) * smooth(of_lam),
        "steps for ramps": (of_h > 0.5) * (of_lam > 0.5) * 1.0,
        "the width of h": np.clip(1.0 + h * probe.h_width, 0.0, 1.0) * of_lam,
        "the width of λ": of_h * np.clip(lam * width, 0.0, 1.0),
    }
    return {name: answer - of_h * of_lam for name, answer in answers.items()}


def line_5(probe: Probe) -> Changes:
    """The penalty minimiser: its equations solved again."""
    a, x, call = probe.problem.arrays, probe.x, probe.call
    lam, rho, n, m = np.asarray(call.lam), np.asarray(call.rho), probe.problem.n, probe.problem.m
    one, two = call.alpha**-2, call.alpha**-4
    given = _given(probe) | {"lam": lam, "rho": rho}
    left, right = dict[str, FloatArray](), dict[str, FloatArray]()
    for part in summands("lagrangian", "gradient"):
        if part.name.endswith(("ỹ", "ỹ)")):
            columns = [term_value(part.formula, given | {"y": unit}) for unit in np.eye(m)]
            left[part.name.replace(" ỹ", "")] = np.column_stack(columns)
        else:
            right[part.name] = -term_value(part.formula, given)
    H, r = (np.asarray(np.sum([*parts.values()], axis=0)) for parts in (left, right))
    unweighted = np.ones_like(rho)
    turned = {"f_xy for f_xyᵀ": (a.f_xy, 1.0), "g_xy for g_xyᵀ": (a.g_xy, one)}
    bare = {"f_yy": a.f_yy, "g_yy": one * a.g_yy}
    answers = {name: _solution(H - part, r) for name, part in left.items()}
    answers |= {name: _solution(H, r - part) for name, part in right.items()}
    for name, (block, weight) in turned.items():
        answers[name] = _solution(H, r - weight * (block - block.T) @ x) if n == m else _solution(H, r)
    for name, block in bare.items():
        answers[f"{name} beside its diagonal"] = _solution(H - block + np.diag(np.diag(block)), r)
    for name, weights in {"ρ": unweighted, "ρ² for ρ": rho**2, "λ̃ for ρ": lam}.items():
        shift = weights - rho
        more, further = two * a.B.T @ (shift[:, None] * a.B), two * a.B.T @ (shift * (a.A @ x - a.b))
        answers[name] = _solution(H + more, r + further)
    return {name: answer - _solution(H, r) for name, answer in answers.items()}


def _given(probe: Probe) -> dict[str, Any]:
    """Names of what line 5 and line 6 are made of, the stages left out."""
    a, alpha = probe.problem.arrays, probe.call.alpha
    blocks = {block.name: getattr(a, block.name) for block in fields(a)}
    return blocks | {"x": probe.x, "alpha_1": alpha**-2, "alpha_2": alpha**-4}


def _solution(H: FloatArray, r: FloatArray) -> FloatArray:
    if np.linalg.matrix_rank(H) < len(H):
        return np.full_like(r, np.inf)
    return np.asarray(np.linalg.solve(H, r), dtype=np.float64)


def line_6(probe: Probe) -> Changes:
    """The estimate, every stage given."""
    a, x, call = probe.problem.arrays, probe.x, probe.call
    y_star, lam, rho, y = (np.asarray(part) for part in (call.y_star, call.lam, call.rho, call.y_penalty))
    one, two, w = call.alpha**-2, call.alpha**-4, y - y_star
    h, nothing = a.A @ x - a.B @ y - a.b, np.zeros_like(x)
    same, n_is_p = probe.problem.n == probe.problem.m, probe.problem.n == probe.problem.p
    idle = np.asarray(a.A @ x - a.B @ y_star - a.b) < -np.abs(w).sum()

    given = _given(probe) | {"y_star": y_star, "rho": rho, "y_penalty": y}

    def pull(rows: FloatArray) -> FloatArray:
        return np.asarray(two * a.A.T @ rows)

    return {
        **{part.name: -term_value(part.formula, given) for part in summands("line_6", "estimate")},
        "f_xx beside its diagonal": (np.diag(np.diag(a.f_xx)) - a.f_xx) @ x,
        "f_xyᵀ for f_xy": (a.f_xy.T - a.f_xy) @ y if same else nothing,
        "g_xyᵀ for g_xy": one * (a.g_xy.T - a.g_xy) @ w if same else nothing,
        "A for Aᵀ": two * (a.A - a.A.T) @ (rho * h) if n_is_p else nothing,
        "ỹ* for ỹ in f": -a.f_xy @ w, "ỹ* for ỹ in h": pull(rho * (a.B @ w)),
        "g_xx x + g_x, not cancelled": one * (a.g_xx @ x + a.g_x), "α₁Aᵀλ̃, not cancelled": one * a.A.T @ lam,
        "ρ": pull((1.0 - rho) * h), "ρ² for ρ": pull((rho**2 - rho) * h), "λ̃ for ρ": pull((lam - rho) * h),
        "inactive rows": -pull(np.where(idle, rho * h, 0.0)),
    }  # fmt: skip


def noise_of_line_6(probe: Probe) -> Changes:
    """The noise of an estimate, its normals given."""
    x, call, noise = probe.x, probe.call, probe.problem.noise
    y, draws = np.asarray(call.y_penalty), call.draws or {}
    matrix, nothing = noise.model == "matrix", np.zeros((call.parameters.N_g, len(x)))
    both, apart = float(np.hypot(np.linalg.norm(x), np.linalg.norm(y))), float(np.linalg.norm(y - call.y_star))
    of_f = noise.scale("f.x") * (both if matrix else 1.0) * draws.get("f_x", nothing)
    of_g = call.alpha**-2 * noise.scale("g.x") * (apart if matrix else 0.0) * draws.get("g_x", nothing)
    rows = of_f + of_g
    return {
        "noise of ∇f": -of_f.mean(axis=0), "noise of the change of ∇g": -of_g.mean(axis=0),
        "‖(x, ỹ)‖": of_f.mean(axis=0) * ((1.0 / both if matrix else 1.0) - 1.0),
        "‖(x, ỹ)‖ for ‖ỹ - ỹ*‖": of_g.mean(axis=0) * (both / apart - 1.0),
        "samples after the first": rows[0] - rows.mean(axis=0), "1/N_g": rows.sum(axis=0) - rows.mean(axis=0),
    }  # fmt: skip


LINES: dict[str, tuple[Callable[[Probe], bool], Callable[[Probe], Changes]]] = {
    "3": (lambda probe: probe.stage == "lower_level", line_3),
    "4": (lambda probe: probe.stage == "activation", line_4),
    "5": (lambda probe: probe.stage == "penalty_minimiser", line_5),
    "6": (lambda probe: probe.given == WHOLE and not probe.needs_draws, line_6),
    "6, noise": (lambda probe: probe.given == WHOLE and probe.needs_draws, noise_of_line_6),
}
"""Lines of Algorithm 1: which probes ask for one alone, and what it is made of."""
