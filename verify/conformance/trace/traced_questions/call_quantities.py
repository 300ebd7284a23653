"""Every quantity on the way to the answer of one stage call, by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np
from numpy.linalg import LinAlgError

from spec.exact import Vector
from verify.conformance.probes.answers import setting_of
from verify.conformance.probes.probes import Probe
from verify.conformance.trace.named_values import (
    GIVEN,
    GREEK,
    PART,
    SCALED,
    Each,
    Named,
    SignedTerm,
    named_of,
    pairs,
    products,
    scaled_by_alpha,
    slopes,
    sums,
    terms_of,
)
from verify.method.player import Player, Space
from verify.truth.formulas import as_float
from verify.truth.stages import evaluate


def quantities_of(probe: Probe) -> list[Named]:
    """All quantities by name, the plainest of each name and value first."""
    quantities: dict[str, Named] = {}
    with np.errstate(all="ignore"):
        for one in _quantities(probe):
            if one.name not in quantities or (one.terms and not quantities[one.name].terms):
                quantities[one.name] = one
    return sorted(quantities.values(), key=lambda one: one.kind)


def _quantities(probe: Probe) -> Iterator[Named]:
    call = probe.call
    if probe.stage == "activation":
        space = {"h": probe.h, "lam": call.lam, "h_width": probe.h_width, "lam_width": call.parameters.lam_width}
        yield from _ramps(space)
        return
    arrays = probe.problem.arrays
    blocks: Space = {field.name: getattr(arrays, field.name) for field in fields(arrays)}
    yield from _blocks(blocks | {"x": probe.x})
    if probe.stage == "lower_level":
        yield from _lower(blocks | {"x": probe.x}, _two(probe))
        return
    alpha = call.alpha
    values = evaluate(setting_of(probe))
    stages = {name: as_float(getattr(values, name)) for name in ("y_star", "lam", "rho", "y_penalty")}
    space = blocks | {"x": probe.x, "alpha": alpha, "alpha_1": alpha**-2, "alpha_2": alpha**-4} | stages
    yield from _scalars(alpha)
    w = stages["y_penalty"] - stages["y_star"]
    yield Named("w = ỹ − ỹ*", w, PART, frozenset({"+ỹ", "−ỹ*"}))
    for name in ("x", "y_star", "lam", "rho", "y_penalty"):
        given = name == "x" or getattr(call, name) is not None
        yield Named(GREEK.get(name, name), space[name], GIVEN if given else PART)
    if probe.stage == "penalty_minimiser" or call.y_penalty is None:
        yield from _line_5(space, w)
    if probe.stage == "hypergradient":
        yield from _line_6(space, w, probe)
        if call.rho is None:
            yield from _chain(space, probe)
        if call.lam is None:
            yield from _lower(blocks | {"x": probe.x}, (stages["y_star"], stages["lam"]))


def _two(probe: Probe) -> tuple[Vector, Vector]:
    m = probe.problem.m
    return probe.expected[:m], probe.expected[m:]


def _blocks(space: Space) -> Iterator[Named]:
    for name, value in space.items():
        yield Named(name, value, GIVEN)
        if np.ndim(value) == 2:
            yield Named(f"{name}ᵀ", np.ascontiguousarray(value.T), GIVEN)


def _scalars(alpha: float) -> Iterator[Named]:
    for name, value in (("α", alpha), ("α₁ = α⁻²", alpha**-2), ("α₂ = α⁻⁴", alpha**-4)):
        yield Named(name, value, GIVEN)
    for power, name in ((2, "α²"), (4, "α⁴"), (3, "α³")):
        yield Named(name, alpha**power, PART)
    yield Named("(α₁, α₂)", (alpha**-2, alpha**-4), PART)


def _lower(space: Space, pair: tuple[Vector, Vector]) -> Iterator[Named]:
    y, lam = pair
    full = space | {"y_star": y, "lam": lam}
    yield Named("ỹ*", y, PART)
    yield Named("λ̃", lam, PART)
    space = Player().run("lower_level", dict(space))
    space |= {"y_star": y, "lam": lam}
    yield from named_of("lower_level", space)
    yield from pairs({"ỹ*": y, "λ̃": lam})
    every = space | {"W": space["B"], "active": np.ones(len(lam), dtype=bool)}
    yield from named_of("lower_level", every, note=", all rows")
    for name, value in (("B ỹ*", full["B"] @ y), ("Bᵀ λ̃", full["B"].T @ lam), ("g_yy ỹ*", full["g_yy"] @ y)):
        yield Named(name, value, PART)
    yield Named("Bᵀ λ̃ − (g_xyᵀx + g_y)", full["B"].T @ lam - space["c"], PART)
    yield Named("Ax − b − B ỹ*", space["r"] - full["B"] @ y, PART)
    inverse = np.linalg.inv(full["g_yy"])
    dual = full["B"] @ inverse @ full["B"].T
    yield Named("B g_yy⁻¹ Bᵀ", dual, PART)
    yield Named("Ax − b + B g_yy⁻¹(g_xyᵀx + g_y)", space["r"] + full["B"] @ inverse @ space["c"], PART)
    yield Named("g_yy⁻¹", inverse, PART)


def _ramps(space: Space) -> Iterator[Named]:
    space = Player().run("activation", dict(space))
    h, h_width, lam = space["h"], space["h_width"], space["lam"]
    yield Named("h", h, GIVEN)
    yield Named("λ̃", lam, GIVEN)
    yield Named("the ramp's width in h", h_width, GIVEN)
    yield Named("the ramp's width in λ", space["lam_width"], GIVEN)
    yield from named_of("activation", space)
    yield Named("ρ", space["rho"], PART, frozenset({"+σ_h(h)", "+σ_λ(λ̃)"}))
    yield Named("h + width", h + h_width, PART)
    yield Named("−h/width", -h / h_width, SCALED)


def _line_5(space: Space, w: Vector) -> Iterator[Named]:
    m = len(w)
    at = Player().run("lagrangian", dict(space) | {"y": space["y_star"]})
    own = [replace(one, name=_starred(one.name), terms=frozenset(map(_starred, one.terms)))
           for one in named_of("lagrangian", at)]  # fmt: skip
    yield from own
    matrices = [*slopes("lagrangian", "gradient", at, m)]
    yield from matrices
    origin = Player().run("lagrangian", dict(space) | {"y": np.zeros(m)})
    at_zero = named_of("lagrangian", origin, ("gradient", "lower", "upper", "h"), note=" at y = 0")
    yield from (one for one in at_zero if "h" in one.name or one.name.startswith(("the slope", "∇")))
    yield from scaled_by_alpha((*own, *matrices), space["alpha"])
    yield from _weighed_rows(space, "B", at["h"], "h(x, ỹ*)")


def _weighed_rows(space: Space, block: str, h: Vector, told: str) -> Iterator[Named]:
    rho, rows = space["rho"], space[block]
    yield Named(f"{block}, its rows times ρ", rho[:, None] * rows, PART)
    yield Named(f"{block}, its rows times √ρ", np.sqrt(rho)[:, None] * rows, PART)
    yield Named("diag(ρ)", np.diag(rho), PART)
    yield Named("√ρ", np.sqrt(rho), PART)
    for name, weight in (("α₁", space["alpha_1"]), ("α₂", space["alpha_2"])):
        yield Named(f"{name}ρ", weight * rho, PART)
        yield Named(f"{name}(ρ∘{told})", weight * rho * h, PART)
    yield Named(f"outer products of the rows of {block}, times ρ", rho[:, None, None] * _outer(rows), SCALED)


def _outer(rows: Vector) -> Vector:
    return np.asarray(rows[:, :, None] * rows[:, None, :])


def _starred(text: str) -> str:
    return text.replace("ỹ*", "ỹ").replace("ỹ", "ỹ*").replace("h)", "h(x, ỹ*))") if text != "h" else "h(x, ỹ*)"


def _line_6(space: Space, w: Vector, probe: Probe) -> Iterator[Named]:
    values = Player().run("line_6", dict(space))
    values |= {"w": w}
    own = [*named_of("line_6", values, ("grad_f", "grad_g", "grad_g_star", "h", "estimate"))]
    yield from own
    parts = [(1, "A @ x", "A x"), (-1, "B @ y_star", "B ỹ*"), (-1, "b", "b"), (-1, "B @ w", "B w")]
    rows = [SignedTerm(sign, "", ast.parse(text, mode="eval").body, name) for sign, text, name in parts]
    yield from sums(rows, values, title="h(x, ỹ)")
    star = values["h"] + space["B"] @ w
    yield Named("h(x, ỹ*)", star, PART)
    for name, block in (("B ỹ*", space["B"] @ space["y_star"]), ("B w", space["B"] @ w)):
        yield Named(name, block, PART)
    yield Named("A x − B ỹ*", space["A"] @ space["x"] - space["B"] @ space["y_star"], SCALED)
    yield Named("g_xy w", space["g_xy"] @ w, PART, frozenset({"+g_xy ỹ", "−g_xy ỹ*"}))
    yield Named("g_xy ỹ", space["g_xy"] @ space["y_penalty"], PART)
    yield Named("g_xy ỹ*", space["g_xy"] @ space["y_star"], PART)
    yield from scaled_by_alpha([one for one in own if one.terms or one.kind == PART], space["alpha"])
    yield from _weighed_rows(space, "A", values["h"], "h(x, ỹ)")
    yield Named("(x, ỹ) in one", np.concatenate([space["x"], space["y_penalty"]]), PART)
    if probe.needs_draws:
        yield from _noise(values, probe)


def _noise(space: Space, probe: Probe) -> Iterator[Named]:
    noise, draws = probe.problem.noise, probe.call.draws or {}
    matrix = noise.model == "matrix"
    drawn = {name: np.array(draws[name]) for name in ("f_x", "g_x")}
    count = float(probe.call.parameters.N_g)
    length = float(np.linalg.norm(np.concatenate([space["x"], space["y"]]))) if matrix else 1.0
    shift = float(np.linalg.norm(space["w"])) if matrix else 0.0
    yield Named("0", 0.0, PART)
    yield Named("N_g", count, GIVEN)
    parts = {"f": {"σ_f": noise.scale("f.x"), "‖(x, ỹ)‖": length}, "g": {"σ_g": noise.scale("g.x"), "‖w‖": shift}}
    total, both = space["estimate"], {}
    for letter, sizes in parts.items():
        if letter == "g" and not matrix:
            continue
        z = drawn[f"{letter}_x"]
        for name, value in sizes.items():
            yield Named(name, value, GIVEN)
        yield Named(f"z_{letter}", z, GIVEN)
        yield Named(f"the sum of z_{letter}", z.sum(0), PART)
        yield Named(f"the mean of z_{letter}", z.mean(0), PART)
        factors = {**sizes, f"the mean of z_{letter}": z.mean(0)} | ({"α₁": space["alpha_1"]} if letter == "g" else {})
        yield from products(factors)
        yield from products({**sizes, f"the sum of z_{letter}": z.sum(0)}, SCALED)
        whole = np.prod([*sizes.values()]) * z.mean(0) * (space["alpha_1"] if letter == "g" else 1.0)
        both[letter] = whole
        total = total + whole
        yield Named(f"the noise of {letter}", whole, PART)
    yield Named("the estimate + the noise of f", space["estimate"] + both["f"], PART,
                frozenset({"+the estimate", "+f"}))  # fmt: skip
    yield Named("the estimate with its noise", total, PART, frozenset({"+the estimate", *(f"+{k}" for k in both)}))
    yield Named("‖(x, ỹ)‖²", length**2, PART)
    yield Named("‖w‖²", shift**2, PART)
    if matrix:
        yield Named("z_f, then z_g", Each([drawn["f_x"], drawn["g_x"]]), PART)
        yield Named("the mean of z_f, then of z_g", Each([drawn["f_x"].mean(0), drawn["g_x"].mean(0)]), PART)


def _chain(space: Space, probe: Probe) -> Iterator[Named]:
    parameters = probe.call.parameters
    own = dict(space) | {"ramp_constant": parameters.ramp_constant, "eps_lam": parameters.lam_width}
    try:
        own = Player().run("widths", own)
    except LinAlgError:
        return
    yield from named_of("widths", own)
    star = own["A"] @ own["x"] - own["B"] @ own["y_star"] - own["b"]
    ramp = {"h": star, "lam": own["lam"], "h_width": own["h_width"], "lam_width": own["lam_width"]}
    yield from (replace(one, name="h(x, ỹ*)") if one.name == "h" else one for one in _ramps(ramp))
    yield from sums(terms_of("oracle", "h_star"), own, title="h(x, ỹ*)")
    yield Named("‖B‖", float(np.linalg.norm(own["B"], 2)), PART)
