"""Kinds of places: how each makes its letters from a draft, and what a draft of it looks like."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from spec.atlas import find
from verify.truth.geometry import quadratic_of
from verify.truth.theorems import (
    count_places,
    moving_places,
    residual_places,
    sequences,
    slope_places,
    step_places,
    theorem_variables,
    toy_places,
)
from verify.truth.theorems.posed_problems import Draft, Scene, from_draft
from verify.truth.theorems.statement_values import Values

SIZES = ((1, 1, 0, 0), (1, 1, 1, 0), (1, 2, 1, 0), (1, 2, 1, 1), (2, 2, 2, 0), (1, 2, 2, 0), (2, 3, 2, 1))
"""n, m, active and inactive rows of drafted problems."""


@dataclass(frozen=True)
class Kind:
    """``values`` of a draft, and the shape of each of its entries: 0 a number, k a vector, (k, l) a matrix."""

    values: Callable[[Draft], Values]
    shape: Callable[[random.Random], dict[str, Any]]

    def draft(self, rng: random.Random) -> Draft:
        """A random draft of small rationals."""
        spread = rng.choice((1, 1, 4))
        return {name: _filled(shape, lambda: entry(rng, spread)) for name, shape in self.shape(rng).items()}


def entry(rng: random.Random, spread: int = 1) -> fmpq:
    """A small rational, never 0 by chance alone."""
    value = fmpq(rng.choice((-1, 1)) * rng.randint(1, 24), 12)
    return rng.choice((value, value, value, fmpq(0), value / spread, value * spread))


def _filled(shape: Any, value: Callable[[], fmpq]) -> Any:
    if shape == 0:
        return value()
    if isinstance(shape, int):
        return tuple(value() for _ in range(shape if shape > 0 else 0))
    return tuple(tuple(value() for _ in range(shape[1])) for _ in range(shape[0]))


def _of_scene(letters_of: Callable[[Scene], Values], *more: str) -> Kind:
    def shape(rng: random.Random) -> dict[str, Any]:
        n, m, k, j = rng.choice(SIZES)
        none = -1
        shapes: dict[str, Any] = {
            "L": (m, m), "t": 0, "Phi": (m, m), "R": (n, m), "S": (n, m), "A": (k, n), "B": (k, m), "c": m, "fx": n,
            "x": n, "y_star": m, "lam": k or none, "alpha": 0, "rho": k or none,
            "A_more": (j, n), "B_more": (j, m), "slack": j or none,
        }  # fmt: skip
        sizes = {
            "rho_inactive": j or none,
            "left": m,
            "dl": (k + j) or 1,
            "y_star_off": m,
            "off_x": n,
            "off_y": m,
            "dx": n,
            "direction": m,
            "share": (k + j) or 1,
            "eps": 1,
        }
        return shapes | {name: sizes[name] for name in more}

    return Kind(
        lambda draft: letters_of(of_atlas(draft, more) if "atlas" in draft else from_draft(tamed(draft))), shape
    )


def of_atlas(draft: Draft, more: tuple[str, ...]) -> Scene:
    """An atlas instance; what is spent there follows from its sizes and a seed."""
    instance = find(draft["atlas"])
    problem, rng = quadratic_of(instance.problem), random.Random(draft["atlas"])
    scene = Scene(problem, instance.x, draft["alpha"], {})
    sizes = {"left": problem.m, "dl": problem.p, "y_star_off": problem.m, "dx": problem.n, "direction": problem.m}
    sizes |= {"rho_inactive": len(scene.lower.inactive), "share": problem.p, "eps": 1}
    spent = {
        name: tuple(fmpq(rng.randint(1, 9), 10) for _ in range(size)) for name, size in sizes.items() if name in more
    }
    rho = tuple(fmpq(rng.randint(5, 10), 10) for _ in scene.active)
    return Scene(problem, instance.x, draft["alpha"], spent | {"rho": rho})


def tamed(draft: Draft) -> Draft:
    """Weights brought into [0, 1], alpha away from 0."""
    changed = dict(draft)
    for name in ("rho", "rho_inactive"):
        if name in changed:
            changed[name] = tuple(min(fmpq(1), abs(value)) for value in changed[name])
    alpha = abs(changed["alpha"])
    return changed | {
        "alpha": max(alpha if alpha < 1 else 1 / (1 + alpha), fmpq(1, 200)),
        "t": abs(changed["t"]) + fmpq(1, 50),
    }


def _flat(values: Callable[[Draft], Values], shape: dict[str, Any]) -> Kind:
    return Kind(values, lambda _: shape)


def _sequence(values: Callable[[Draft], Values]) -> Kind:
    def shape(rng: random.Random) -> dict[str, Any]:
        d, count = rng.choice(((1, 1), (1, 2), (2, 3)))
        rows = dict.fromkeys(("grad", "bias", "noise"), (count, d))
        return rows | {"D": 0, "eta": 0, "start": d, "fraction": 0, "x": d, "w": d, "parts": count}

    return Kind(values, shape)


def _planes(values: Callable[[Draft], Values], *vectors: str) -> Kind:
    """On a line or in a plane."""

    def shape(rng: random.Random) -> dict[str, Any]:
        size = rng.choice((1, 2))
        return dict.fromkeys(vectors, size) | {"Y": (size, size)}

    return Kind(values, shape)


def _rows(values: Callable[[Draft], Values]) -> Kind:
    """Up to three rows."""

    def shape(rng: random.Random) -> dict[str, Any]:
        count = rng.choice((1, 2, 3))
        return {"alpha": 0, "eps": 0, "drho": count, "h": count, "row": (count, 2)}

    return Kind(values, shape)


def _numbers(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, 0)


ORDERS = _numbers("alpha", "eps", "mu", "Cl", "LB", "nc", "Cw", "Cf", "part")
CHANCES = _numbers("D", "eta", "M", "K", "size", "bias", "slope", "mixed", "start", "F", "tied")
MOVING = ("dl", "share", "eps")
RAMPS = _numbers("w", "eps", "z", "z_prime", "h", "h_prime", "lam", "lam_prime")


def one(scene: Scene) -> Values:
    """Weights one: the premise of section 6c."""
    return theorem_variables.of_multipliers(
        Scene(scene.problem, scene.x, scene.alpha, scene.spent | {"rho": (fmpq(1),) * len(scene.active)})
    )


def across(scene: Scene) -> Values:
    """A direction of y that no row sees: rows are given no weight in it."""
    values = theorem_variables.of_curvature(scene)
    return values | {"P": lambda w: tuple(fmpq(0) * a for a in w)} if any(values["B"](values["v"])) else values


KINDS: dict[str, Kind] = {
    "point": _of_scene(theorem_variables.at_point, "left"),
    "smooth point": _of_scene(theorem_variables.at_point, "left", "off_x", "off_y"),
    "inactive weights": _of_scene(theorem_variables.with_inactive, "left", "rho_inactive"),
    "minimiser": _of_scene(theorem_variables.at_minimiser),
    "adjoint": _of_scene(theorem_variables.of_adjoint, "left"),
    "all errors": _of_scene(theorem_variables.in_total, "left", "dl", "y_star_off"),
    "all errors, smooth": _of_scene(theorem_variables.in_total, "left", "dl", "y_star_off", "off_x", "off_y"),
    "one multiplier": _of_scene(step_places.one_multiplier),
    "one row": _of_scene(step_places.one_row, "left", "y_star_off"),
    "linear part": _of_scene(step_places.linear_part, "dl"),
    "value part": _of_scene(step_places.value_part, "y_star_off"),
    "errors apart": _of_scene(step_places.errors_apart, "left", "dl", "y_star_off"),
    "change of gradient": _of_scene(step_places.change_of_gradient, "left"),
    "multipliers": _of_scene(theorem_variables.of_multipliers, "dl"),
    "multipliers, weights one": _of_scene(one, "dl"),
    "multipliers, any rows": _of_scene(lambda scene: theorem_variables.of_multipliers(scene, all_rows=True), "dl"),
    "T2": _of_scene(theorem_variables.of_change, "dl"),
    "T2, any rows": _of_scene(lambda scene: theorem_variables.of_change(scene, all_rows=True), "dl"),
    "direction": _of_scene(theorem_variables.in_direction, "dx"),
    "penalty system": _of_scene(theorem_variables.of_penalty_system, "left"),
    "curvature": _of_scene(theorem_variables.of_curvature, "direction"),
    "across rows": _of_scene(across, "direction"),
    "blend": _of_scene(theorem_variables.of_blend, "dx"),
    "as written": _of_scene(theorem_variables.as_written, "left"),
    "moving weights": _of_scene(moving_places.moving_weights, *MOVING),
    "moving weights, active rows": _of_scene(moving_places.moving_active, *MOVING),
    "moving weights, any y": _of_scene(moving_places.free_point, *MOVING, "left"),
    "moving weights, second minimiser": _of_scene(moving_places.second_minimiser, *MOVING),
    "moving weights, estimate": _of_scene(moving_places.first_estimate, *MOVING),
    "existence": _of_scene(moving_places.of_existence, "direction"),
    "blend's weight": _of_scene(moving_places.of_blend_weight, "dx"),
    "vectors": _flat(sequences.vectors, {"v": 2, "w": 2, "ef": 2, "u": 0, "distance": 0}),
    "orthogonal": _flat(sequences.orthogonal_listed, _numbers("a", "b", "d", "s", "count", "u")),
    "run": _sequence(sequences.run_block),
    "run, query points": _sequence(sequences.run_with_parts),
    "run, reference": _sequence(sequences.run_reference),
    "chances": _flat(sequences.chances, CHANCES),
    "climb and fall": _flat(sequences.climb_and_fall, _numbers("radius", "beta", "M", "K")),
    "horizon": _flat(sequences.horizon, _numbers("M", "K", "radius", "slope", "bias", "slack", "start", "mixed", "F")),
    "parameters": _flat(sequences.parameters, _numbers("G", "radius", "eps", "C0", "beta", "part", "more_M", "more_K")),
    "toy1": _flat(toy_places.toy1, _numbers("alpha")),
    "toy1, frozen": _flat(toy_places.toy1_frozen, _numbers("alpha")),
    "toy1, moved": _flat(toy_places.toy1_moved, _numbers("alpha")),
    "row scaling": _flat(toy_places.row_scaling, _numbers("alpha")),
    "kink": _flat(toy_places.kink, _numbers("alpha", "w")),
    "switching": _flat(toy_places.switching, _numbers("alpha", "w")),
    "switching lower level": _flat(toy_places.lower_level_pair, _numbers("x", "y1", "y2")),
    "ramp": _flat(toy_places.ramp, _numbers("b", "delta", "more", "part")),
    "unbounded, frozen": _flat(toy_places.unbounded_frozen, _numbers("a", "K", "alpha")),
    "unbounded, pairing": _flat(toy_places.unbounded_pairing, _numbers("sf", "sg", "alpha")),
    "printed range": _flat(toy_places.printed_range, _numbers("Cf", "mu", "up")),
    "threshold": _flat(toy_places.numbers, _numbers("Cf", "mu", "u")),
    "vanishing moment": _flat(toy_places.vanishing_moment, _numbers("L", "beta")),
    "computed weights": _flat(
        moving_places.computed_weights, _numbers("width", "eps", "reach", "h0", "lam1", "lam2", "off")
    ),
    "orders": _flat(moving_places.orders, ORDERS),
    "orders of a gradient": _flat(moving_places.gradient_orders, ORDERS),
    "far from a kink": _flat(moving_places.far, _numbers("u", "t", "eps", "W")),
    "kink at a distance": _flat(moving_places.kink_at, {"x": 2, "dl": 2, "t": 0}),
    "near a centre": _flat(step_places.near_centre, {"centre": 2, "off": 2, "distance": 0, "more": 0}),
    "linear function": _flat(step_places.linear_function, {"grad": 2, "z": 2}),
    "value function": _planes(step_places.value_function, "p", "q", "x", "x_prime"),
    "two blocks": _flat(step_places.two_blocks, {"A": (2, 2), "B": (2, 2), "x": 2, "y": 2}),
    "unit alpha": _flat(step_places.unit_alpha, _numbers("alpha")),
    "repaired range": _flat(step_places.repaired_range, _numbers("alpha", "Cf", "more")),
    "remainder": _flat(step_places.holder, _numbers("alpha", "C", "H", "part")),
    "product": _flat(step_places.product, _numbers("drho", "dh", "x", "a", "b")),
    "ramps": _flat(step_places.ramps, RAMPS),
    "inside row": _flat(step_places.inside_row, RAMPS),
    "half ramp": _flat(step_places.half_ramp, RAMPS),
    "moved weights": _rows(step_places.moved_weights),
    "two parts": _flat(step_places.two_parts, {"alpha": 0, "line": 2, "moved": 2}),
    "three errors": _flat(step_places.three_errors, _numbers("a", "b", "c", "d")),
    "batches": _flat(step_places.batches, _numbers("alpha", "s", "N", "more", "part", "L")),
    "batch ends": _flat(step_places.batch_ends, _numbers("alpha", "N", "off")),
    "at zero": _flat(step_places.at_zero, {"D": 0, "v": 2}),
    "clipped": _flat(step_places.clipped, {"D": 0, "v": 2}),
    "call counts": _flat(step_places.call_counts, _numbers("G", "radius", "fraction", "more", "M", "K")),
    "block": _flat(step_places.block, _numbers("D", "G", "M", "less")),
    "residual": _of_scene(residual_places.residual, "left"),
    "residual, smooth": _of_scene(residual_places.residual, "left", "off_x", "off_y"),
    "from the minimiser": _of_scene(residual_places.from_minimiser, "left"),
    "from the minimiser, smooth": _of_scene(residual_places.from_minimiser, "left", "off_x", "off_y"),
    "stopped": _of_scene(residual_places.stopped, "left"),
    "condition": _of_scene(residual_places.condition, "direction", "left"),
    "condition, across rows": _of_scene(residual_places.across_rows, "direction", "left"),
    "condition, no weights": _of_scene(residual_places.unweighted, "direction", "left"),
    "same solution": _of_scene(residual_places.same_solution),
    "weak rows": _of_scene(residual_places.weak_rows, "left", "rho_inactive", "eps"),
    "three points": _flat(count_places.vectors, {"g": 2, "step": 2, "w": 2, "eta": 0}),
    "cleared ramp": _flat(count_places.cleared, RAMPS),
    "noise at right angles": _flat(count_places.noise, _numbers("M", "s", "size", "apart")),
    "block counts": _flat(count_places.block_counts, _numbers("C0", "radius", "K", "share")),
    "step sizes": _flat(count_places.eta, _numbers("G", "eps", "radius", "more")),
    "calls": _flat(count_places.calls, _numbers("T", "radius", "eps", "p", "b", "less", "more") | {"each": 4}),
    "whole cost": _flat(count_places.whole_cost, _numbers("radius", "eps", "a", "c", "T", "kappa", "more")),
    "batch costs": _flat(count_places.batch_costs, _numbers("alpha", "s", "share", "T", "t")),
    "condition orders": _flat(count_places.condition_orders, _numbers("u", "mu", "Cf", "Cg", "b", "beta")),
    "two estimates": _flat(count_places.two_estimates, {"alpha": 0, "g": 2, "off1": 2, "off2": 2}),
    "attained": _flat(count_places.attained, _numbers("alpha", "ly", "K", "off")),
    "query points of a block": _flat(
        count_places.block, _numbers("D", "M", "p", "s", "kind", "turn") | {"x": 2, "step": 2}
    ),
    "hard activation": _flat(slope_places.hard_activation, _numbers("alpha", "rho")),
    "accuracy in the mean": _flat(slope_places.mean_accuracy, _numbers("alpha")),
    "multiplier along a line": _flat(
        slope_places.multiplier,
        {"u": 0} | dict.fromkeys(("dl", "drho", "h", "dl_slope", "drho_slope", "h_slope"), 2),
    ),
    "split": _of_scene(slope_places.split, "left", "y_star_off", "share"),
    "parent": _of_scene(slope_places.parent, "left"),
    "least batch": _flat(slope_places.batch, _numbers("alpha", "s")),
    "whole radius": _flat(slope_places.radius, _numbers("M", "radius")),
    "momentum": _flat(slope_places.momentum, {"eta": 0, "g": (3, 2)}),
    "against a bias": _flat(slope_places.against, {"D": 0, "bias": 2}),
    "descent": _flat(slope_places.descent, {"F": 0, "gains": 3}),
    "below a root": _flat(slope_places.below_root, _numbers("C")),
    "instance, moved": _flat(slope_places.moved_instance, _numbers("alpha", "t")),
    "instance, residual": _flat(slope_places.residual_instance, _numbers("alpha", "e")),
}  # fmt: skip
