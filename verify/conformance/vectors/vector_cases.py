"""The cases of the quadratic stages, by name; names are permanent: a case is added or withdrawn, never changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np

from spec import AS_WRITTEN, REPAIRED, Noise, Reading
from verify.conformance.vector_places import Place, at, atlas_places, further_places, place
from verify.conformance.vectors.building import (
    activation_vector,
    estimate_vector,
    lower_level_vector,
    oracle_vector,
    penalty_vector,
)
from verify.conformance.vectors.decimals import rounded
from verify.conformance.vectors.model import TestVector
from verify.truth.algebra.numbers import dyadic
from verify.truth.algebra.rationals import Vector, column, fractions, select
from verify.truth.noise import draw_shapes
from verify.truth.stages import Setting, evaluate

TENTH, HUNDREDTH, SMALL = Fraction(1, 10), Fraction(1, 100), Fraction(1, 4096)
Case = Callable[[], TestVector]
Named = tuple[str, Case]

_VARIED = (
    "toy1", "scalar-rational", "interior", "experiment-1d", "absolute-moving", "two-of-three", "box-rational",
    "fixed-rows", "moving-box", "random-2x3x4", "ill-conditioned", "thirds",
)  # fmt: skip
"""Places that many variants are tried at."""
_MOVING = (
    "toy1", "scalar-rational", "absolute-moving", "two-of-three", "moving-box", "random-2x3x4", "random-3x5x4",
    "ill-conditioned", "rows-nearly-dependent", "vertex", "five-x-one-y", "one-y-four-rows",
)  # fmt: skip
"""Places whose active rows move with x, so that the dual term shows."""


def lower_level() -> Iterator[Named]:
    """Every place, and the atlas's problems at two more points."""
    for found in (*atlas_places(), *further_places()):
        yield f"lower-level/{found.name}", _lower_level(found)
    for found in atlas_places():
        for name, factor in (("halved", Fraction(1, 2)), ("mirrored", Fraction(-1))):
            if any(found.x):
                there = at(found, name, tuple(factor * value for value in found.x))
                yield (
                    f"lower-level/{there.name}",
                    _lower_level(there),
                )


def penalty_minimiser() -> Iterator[Named]:
    """Every place with exact stages; some at smaller alpha, some with displaced stages."""
    for found in (*atlas_places(), *further_places()):
        yield _penalty(found, "alpha-1-10", TENTH, "exact stages rounded to doubles")
    for name, (label, alpha) in product(_VARIED, (("alpha-1-32", Fraction(1, 32)), ("alpha-1-100", HUNDREDTH))):
        yield _penalty(place(name), label, alpha, "exact stages rounded to doubles, a smaller alpha")
    for name in _VARIED:
        yield _penalty(place(name), "displaced", TENTH, "stages displaced by what the premises allow", displaced=True)


def estimates() -> Iterator[Named]:
    """Line 6 from given stages: every place; dual term; smaller alpha; displaced stages; rows on the ramp."""
    for found in (*atlas_places(), *further_places()):
        yield _estimate(found, "alpha-1-10", TENTH, REPAIRED, "all stages given")
    frozen = REPAIRED.choose(dual_term="frozen")
    for name in _MOVING:
        yield _estimate(place(name), "frozen", TENTH, frozen, "all stages given, the dual term frozen as written")
    for name in _VARIED:
        yield _estimate(place(name), "alpha-1-100", HUNDREDTH, REPAIRED, "all stages given, a smaller alpha")
        yield _estimate(place(name), "displaced", TENTH, REPAIRED, "stages displaced by what the premises allow",
                        displaced=True)  # fmt: skip
        yield _estimate(place(name), "as-written", TENTH, AS_WRITTEN, "all stages given, every choice as written",
                        flags=("reading-inert",))  # fmt: skip
    for name, (label, reading) in product(_MOVING, (("repaired", REPAIRED), ("as-written", AS_WRITTEN))):
        yield _ramp(place(name), label, reading)


def noisy_estimates() -> Iterator[Named]:
    """Line 6 with supplied draws: every noise model, both pairings, one sample and several."""
    scales = {"additive": ("1/10", "1/5"), "matrix": ("1/8", "1/4"), "jump": ("1/10", "1/2")}
    places = ("toy1", "scalar-rational", "two-of-three", "box-rational", "interior", "rows-m4")
    for (model, (sigma_f, sigma_g)), name in product(scales.items(), places):
        noise = Noise.model_validate({"model": model, "sigma_f": sigma_f, "sigma_g": sigma_g})
        for pairing, N_g in product(("common", "independent"), (1, 5)):
            yield _noisy(place(name), f"{model}-{pairing}-{N_g}", noise, pairing, N_g)
    for on in ("f.x", "g.x"):
        for model in ("additive", "matrix"):
            noise = Noise.model_validate({"model": model, "sigma_f": "1/2", "sigma_g": "1/2", "on": (on,)})
            label = f"{model}-{on.replace('.', '-')}-alone"
            yield _noisy(place("two-of-three"), label, noise, "independent", 3)


def oracle_calls() -> Iterator[Named]:
    """Whole calls: tight at a small alpha, where the stopping rule allows little; loose at the usual one."""
    for found in (*atlas_places(), *further_places()):
        yield _oracle(found, "alpha-1-4096", SMALL, REPAIRED, "nothing given")
    for name in _MOVING:
        frozen = REPAIRED.choose(dual_term="frozen")
        yield _oracle(place(name), "frozen", SMALL, frozen, "nothing given, the dual term frozen as written")
    for name in (*_VARIED, "rows-m6", "box-d3"):
        yield _oracle(place(name), "alpha-1-10", TENTH, REPAIRED, "nothing given, the usual alpha", loose=True)
    for name in ("experiment-1d", "box-rational", "fixed-rows", "interior", "box-d2", "box-d4", "experiment-5d"):
        distance = REPAIRED.choose(inner_stop="distance")
        yield _oracle(place(name), "distance", SMALL, distance, "nothing given, stopped by distance")
    for name in ("toy1", "scalar-rational", "two-of-three", "box-rational"):
        noise = Noise.model_validate({"model": "additive", "sigma_f": "1/10", "sigma_g": "1/100"})
        yield _noisy_oracle(place(name), noise)


def _lower_level(found: Place) -> Case:
    return lambda: lower_level_vector(found, _sentence(found.purpose))


def _penalty(found: Place, label: str, alpha: Fraction, notes: str, *, displaced: bool = False) -> Named:
    name = f"{found.name}/{label}"

    def make() -> TestVector:
        setting = _with_stages(found.setting(alpha=alpha), name if displaced else "", ("y_star", "lam", "rho"))
        flags = ("inexact-stages",) if displaced else ()
        return penalty_vector(name, found, setting, _sentence(notes, found), flags)

    return f"penalty-minimiser/{name}", make


def _estimate(
    found: Place,
    label: str,
    alpha: Fraction,
    reading: Reading,
    notes: str,
    *,
    displaced: bool = False,
    flags: tuple[str, ...] = (),
) -> Named:
    name = f"{found.name}/{label}"

    def make() -> TestVector:
        setting = found.setting(alpha=alpha, reading=reading)
        setting = _with_stages(setting, name if displaced else "", ("y_star", "lam", "rho", "y_penalty"))
        extra = ("inexact-stages",) if displaced else ()
        return estimate_vector(name, found, setting, _sentence(notes, found), (*flags, *extra))

    return f"hypergradient/{name}", make


def _ramp(found: Place, label: str, reading: Reading) -> Named:
    name = f"{found.name}/ramp-{label}"

    def make() -> TestVector:
        setting = found.setting(alpha=TENTH, reading=reading)
        lower = setting.lower
        # Into the feasible set, away from each active row by a quarter of its ramp's width.
        inward = _inward(setting, lower.strictly_active)
        step = dyadic(setting.h_width()) / 4
        y_star = rounded(a + step * b for a, b in zip(lower.y_star, inward, strict=True))
        share = [Fraction(3, 4) if k % 2 else Fraction(5, 4) for k in range(setting.problem.p)]
        lam = rounded(
            setting.lam_width * part if value > 0 else value for value, part in zip(lower.lam, share, strict=True)
        )
        stages = {"y_star": y_star, "lam": lam}
        setting = replace(setting, given=stages)
        setting = replace(setting, given=stages | {"y_penalty": rounded(evaluate(setting).y_penalty)})
        notes = f"the weights are left to compute: rows a quarter down the {label} ramp, multipliers around its end"
        return estimate_vector(name, found, setting, _sentence(notes, found), ("inexact-stages",))

    return f"hypergradient/{name}", make


def _noisy(found: Place, label: str, noise: Noise, pairing: str, N_g: int) -> Named:
    name = f"{found.name}/noise-{label}"

    def make() -> TestVector:
        reading = REPAIRED.choose(noise_pairing=pairing)
        setting = found.setting(alpha=TENTH, reading=reading, N_g=N_g, noise=noise)
        setting = _with_stages(setting, "", ("y_star", "lam", "rho", "y_penalty"))
        draws, flags = _draws(f"hypergradient/{name}", setting)
        if noise.model == "jump" and "g_x" in draws:
            draws["g_x"] = (_between(setting.given["y_star"], setting.given["y_penalty"]), *draws["g_x"][1:])
        notes = f"{noise.model} noise, {pairing} draws, N_g = {N_g}; normals drawn from the vector's id"
        return estimate_vector(name, found, replace(setting, draws=draws), _sentence(notes, found), flags)

    return f"hypergradient/{name}", make


def _oracle(found: Place, label: str, alpha: Fraction, reading: Reading, notes: str, *, loose: bool = False) -> Named:
    name = f"{found.name}/{label}"

    def make() -> TestVector:
        setting = found.setting(alpha=alpha, reading=reading)
        return oracle_vector(name, found, setting, _sentence(notes, found), loose=loose)

    return f"oracle/{name}", make


def _noisy_oracle(found: Place, noise: Noise) -> Named:
    name = f"{found.name}/noise"

    def make() -> TestVector:
        setting = found.setting(alpha=SMALL, N_g=4, noise=noise)
        draws, flags = _draws(f"oracle/{name}", setting)
        notes = "nothing given but draws: additive noise, common, N_g = 4"
        return oracle_vector(name, found, replace(setting, draws=draws), _sentence(notes, found), flags)

    return f"oracle/{name}", make


def _draws(seed: str, setting: Setting) -> tuple[dict[str, tuple[Vector, ...]], tuple[str, ...]]:
    """Normals drawn from a name, and the flag that says so where some of them must not be used."""
    used = draw_shapes(setting.problem, setting.N_g, setting.reading.noise_pairing)
    # Also what the other pairing would use, so that a wrong pairing gives a number and not an error.
    shapes = used | draw_shapes(setting.problem, setting.N_g, "independent")
    draws = {block: normals(f"{seed}/{block}", shape) for block, shape in shapes.items()}
    return draws, (("unused-draws",) if shapes != used else ())


def _with_stages(setting: Setting, displaced: str, wanted: tuple[str, ...]) -> Setting:
    """Stages as doubles: exact ones rounded, or displaced by a seed's signs as far as the premises allow."""
    values = evaluate(setting)
    stages = {"y_star": rounded(values.y_star), "lam": rounded(values.lam), "rho": rounded(values.rho)}
    if displaced:
        reach = setting.alpha**3
        stages["y_star"] = _moved(stages["y_star"], reach, f"{displaced}/y_star")
        stages["lam"] = tuple(max(v, Fraction(0)) for v in _moved(stages["lam"], reach, f"{displaced}/lam"))
        stages["rho"] = rounded(Fraction(7, 8) * v for v in stages["rho"])
    setting = replace(setting, given=stages)
    if "y_penalty" in wanted:
        y = rounded(evaluate(setting).y_penalty)
        if displaced:
            y = _moved(y, setting.alpha**3, f"{displaced}/y_penalty")
        setting = replace(setting, given=stages | {"y_penalty": y})
    return setting


def _moved(values: Vector, reach: Fraction, seed: str) -> Vector:
    return rounded(value + reach * sign for value, sign in zip(values, signs(seed, len(values)), strict=True))


def _inward(setting: Setting, active: tuple[int, ...]) -> Vector:
    """The shortest direction in y along which every active row falls by one."""
    if not active:
        return (Fraction(0),) * setting.problem.m
    W = select(setting.rows.B, active)
    weights = (W * W.transpose()).solve(column([Fraction(1)] * len(active)))
    return fractions(W.transpose() * weights)


def _between(a: Vector, b: Vector) -> Vector:
    """A threshold that the first components lie on both sides of."""
    return rounded([(a[0] + b[0]) / 2])


def _sentence(notes: str, found: Place | None = None) -> str:
    text = notes if found is None else f"{notes}; {found.purpose[0].lower()}{found.purpose[1:]}"
    return f"{text[0].upper()}{text[1:]}."


_CORNERS: tuple[tuple[str, float, float, str], ...] = (
    ("boundary-and-full", 0.0, 1.0, "at the boundary with a clear multiplier: weight 1"),
    ("boundary-and-half", 0.0, 0.5, "at the boundary, multiplier half way up its ramp"),
    ("boundary-and-none", 0.0, 0.0, "at the boundary without a multiplier: weakly active, weight 0"),
    ("quarter-and-full", -0.25, 1.0, "a quarter of the width inside"),
    ("quarter-and-half", -0.25, 0.5, "on both ramps: the product, not the smaller"),
    ("half-and-half", -0.5, 0.5, "in the middle of both ramps"),
    ("three-quarters-and-full", -0.75, 1.0, "near the lower end of the ramp"),
    ("width-and-full", -1.0, 1.0, "exactly one width inside: weight 0"),
    ("slack-and-full", -4.0, 1.0, "far inside with a multiplier: weight 0"),
    ("violated-and-full", 0.5, 1.0, "violated: the ramp stays at 1"),
    ("violated-and-half", 2.0, 0.5, "violated, multiplier half way"),
    ("boundary-and-negative", 0.0, -1.0, "a negative multiplier: weight 0"),
    ("boundary-and-huge", 0.0, 1000.0, "a multiplier far above its ramp: weight 1, not more"),
    ("quarter-and-quarter", -0.25, 0.25, "on both ramps"),
    ("slack-and-none", -2.0, 0.0, "inactive: weight 0"),
)
"""Name, h in widths, multiplier in widths, what it shows."""

_WIDTHS: tuple[tuple[str, float, float], ...] = (
    ("equal-widths", 0.125, 0.125),
    ("repaired-tenth", 0.002, 0.1),
    ("as-written-tenth", 1e-06, 0.1),
)


def activation() -> Iterator[tuple[str, Callable[[], TestVector]]]:
    """One corner at a time beside a row that is full and one that is off, then whole vectors."""
    for width_name, h_width, lam_width in _WIDTHS:
        for name, h_share, lam_share, notes in _CORNERS:
            h = rounded([Fraction(h_share) * Fraction(h_width), Fraction(0), Fraction(-10)])
            lam = rounded([Fraction(lam_share) * Fraction(lam_width), Fraction(2), Fraction(0)])
            full = f"{name}/{width_name}"
            text = f"Row 0 {notes}; row 1 is full, row 2 off."
            yield f"activation/{full}", _case(full, h, lam, h_width, lam_width, text, ())
    for p in (1, 2, 5, 10, 20):
        draw = generator(f"activation/random-{p}")
        h = rounded(Fraction(float(v)).limit_denominator(4096) for v in draw.uniform(-0.3, 0.1, p))
        lam = rounded(Fraction(float(v)).limit_denominator(4096) for v in draw.uniform(-0.05, 0.2, p))
        text = f"{p} rows scattered over both ramps."
        yield f"activation/random-{p}", _case(f"random-{p}", h, lam, 0.25, 0.125, text, ())
    for found in atlas_places():
        setting = found.setting()
        h, lam = rounded(setting.lower.h), rounded(setting.lower.lam)
        text = f"The exact pair of {found.name} at alpha = 1/10."
        yield (
            f"activation/{found.name}",
            _case(found.name, h, lam, setting.h_width(), float(setting.lam_width), text, found.strata),
        )


def _case(
    name: str,
    h: tuple[Fraction, ...],
    lam: tuple[Fraction, ...],
    h_width: float,
    lam_width: float,
    notes: str,
    strata: tuple[str, ...],
) -> Callable[[], TestVector]:
    return lambda: activation_vector(name, h, lam, h_width, lam_width, notes, strata)


GRID = 2.0**-10
"""Draws are whole multiples of this: short in decimals, exact in doubles, and no library's last bit shows."""


def generator(name: str) -> np.random.Generator:
    """The generator of a name."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))


def normals(name: str, shape: tuple[int, int]) -> tuple[Vector, ...]:
    """Standard normals on the grid, one row a sample."""
    drawn = np.round(generator(name).standard_normal(shape) / GRID) * GRID
    return tuple(tuple(dyadic(value) for value in row) for row in drawn.tolist())


def signs(name: str, length: int) -> tuple[Fraction, ...]:
    """Random signs."""
    return tuple(Fraction(int(value)) for value in generator(name).choice([-1, 1], size=length))
