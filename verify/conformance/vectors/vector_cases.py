"""The cases of the quadratic stages, by name; names are permanent: a case is added or withdrawn, never changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from spec import AS_WRITTEN, REPAIRED, Noise, Reading
from verify.conformance import known_answers as known
from verify.conformance.known_answers import Known
from verify.conformance.places import Place, atlas_places, further_places, place_of, rounded
from verify.conformance.sizes import Allowance
from verify.conformance.tolerances import Ramps
from verify.conformance.vectors.writing import LOOSE, Case
from verify.truth.algebra.numbers import dyadic
from verify.truth.algebra.rationals import Vector, column, fractions, select
from verify.truth.noise import draw_shapes
from verify.truth.stages import Setting, evaluate

TENTH, HUNDREDTH, SMALL = Fraction(1, 10), Fraction(1, 100), Fraction(1, 4096)

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


Answered = Callable[[Setting, Allowance], Known]


def _places() -> tuple[Place, ...]:
    return (*atlas_places(), *further_places())


def _case(
    family: str, place: Place, label: str, setting: Callable[[str], Setting], notes: str, flags: tuple[str, ...] = ()
) -> Case:
    """A case at a place; its setting is made from its name when it is needed."""
    answer, name = _FAMILIES[family], f"{place.name}/{label}" if label else place.name
    notes = f"{notes}; {place.purpose[0].lower()}{place.purpose[1:]}" if notes else place.purpose
    return Case(f"{family}/{name}", lambda allowance: answer(setting(name), allowance), _sentence(notes), place,
                flags=flags)  # fmt: skip


_FAMILIES: dict[str, Answered] = {
    "lower-level": known.lower_level, "penalty-minimiser": known.penalty_minimiser,
    "hypergradient": known.hypergradient, "oracle": known.hypergradient,
}  # fmt: skip


def lower_level() -> Iterator[Case]:
    """Every place, and the atlas's problems at two more points."""
    elsewhere = [
        place.at(f"{place.name}-{name}", tuple(factor * value for value in place.x))
        for place in atlas_places()
        for name, factor in (("halved", Fraction(1, 2)), ("mirrored", Fraction(-1)))
        if any(place.x)
    ]
    for place in (*_places(), *elsewhere):
        yield _pair(place)


def _pair(place: Place) -> Case:
    return _case("lower-level", place, "", lambda _: place.setting(), "")


def penalty_minimiser() -> Iterator[Case]:
    """Every place with exact stages; some at smaller alpha, some with displaced stages."""
    exact = "exact stages rounded to doubles"
    for place in _places():
        yield _given("penalty-minimiser", place, "alpha-1-10", exact)
    for name, (label, alpha) in product(_VARIED, (("alpha-1-32", Fraction(1, 32)), ("alpha-1-100", HUNDREDTH))):
        yield _given("penalty-minimiser", place_of(name), label, f"{exact}, a smaller alpha", alpha=alpha)
    for name in _VARIED:
        yield _given("penalty-minimiser", place_of(name), "displaced", _DISPLACED)


def estimates() -> Iterator[Case]:
    """Line 6 from given stages: every place; dual term; smaller alpha; displaced stages; rows on the ramp."""
    whole = "all stages given"
    for place in _places():
        yield _given("hypergradient", place, "alpha-1-10", whole)
    frozen = REPAIRED.choose(dual_term="frozen")
    for name in _MOVING:
        yield _given("hypergradient", place_of(name), "frozen", f"{whole}, the dual term frozen as written",
                     reading=frozen)  # fmt: skip
    for name in _VARIED:
        yield _given("hypergradient", place_of(name), "alpha-1-100", f"{whole}, a smaller alpha", alpha=HUNDREDTH)
        yield _given("hypergradient", place_of(name), "displaced", _DISPLACED)
        yield _given("hypergradient", place_of(name), "as-written", f"{whole}, every choice as written",
                     reading=AS_WRITTEN, flags=("reading-inert",))  # fmt: skip
    for name, (label, reading) in product(_MOVING, (("repaired", REPAIRED), ("as-written", AS_WRITTEN))):
        yield _ramp(place_of(name), label, reading)


def noisy_estimates() -> Iterator[Case]:
    """Line 6 with supplied draws: every noise model, both pairings, one sample and several."""
    scales = {"additive": ("1/10", "1/5"), "matrix": ("1/8", "1/4"), "jump": ("1/10", "1/2")}
    places = ("toy1", "scalar-rational", "two-of-three", "box-rational", "interior", "rows-m4")
    for (model, (sigma_f, sigma_g)), name in product(scales.items(), places):
        noise = Noise.model_validate({"model": model, "sigma_f": sigma_f, "sigma_g": sigma_g})
        for pairing, N_g in product(("common", "independent"), (1, 5)):
            yield _noisy(place_of(name), f"{model}-{pairing}-{N_g}", noise, pairing, N_g)
    for on in ("f.x", "g.x"):
        for model in ("additive", "matrix"):
            noise = Noise.model_validate({"model": model, "sigma_f": "1/2", "sigma_g": "1/2", "on": (on,)})
            label = f"{model}-{on.replace('.', '-')}-alone"
            yield _noisy(place_of("two-of-three"), label, noise, "independent", 3)


def oracle_calls() -> Iterator[Case]:
    """Whole calls: tight at a small alpha, where the stopping rule allows little; loose at the usual one."""

    def oracle(place: Place, label: str, notes: str, alpha: Fraction = SMALL, **choices: str) -> Case:
        reading = REPAIRED.choose(**choices)
        return _case("oracle", place, label, lambda _: place.setting(alpha=alpha, reading=reading), notes)

    for place in _places():
        yield oracle(place, "alpha-1-4096", "nothing given")
    for name in _MOVING:
        yield oracle(place_of(name), "frozen", "nothing given, the dual term frozen as written", dual_term="frozen")
    for name in (*_VARIED, "rows-m6", "box-d3"):
        usual = oracle(place_of(name), "alpha-1-10", "nothing given, the usual alpha", TENTH)
        yield replace(usual, useful=LOOSE)
    for name in ("experiment-1d", "box-rational", "fixed-rows", "interior", "box-d2", "box-d4", "experiment-5d"):
        yield oracle(place_of(name), "distance", "nothing given, stopped by distance", inner_stop="distance")
    for name in ("toy1", "scalar-rational", "two-of-three", "box-rational"):
        noise = Noise.model_validate({"model": "additive", "sigma_f": "1/10", "sigma_g": "1/100"})
        yield _noisy_oracle(place_of(name), noise)


_DISPLACED = "stages displaced by what the premises allow"


def _given(family: str, place: Place, label: str, notes: str, flags: tuple[str, ...] = (), **choices: Any) -> Case:
    """A case whose stages are given; alpha is a tenth where nothing else is chosen."""
    displaced = label == "displaced"

    def setting(name: str) -> Setting:
        of = place.setting(**({"alpha": TENTH} | choices))
        return _with_stages(of, name if displaced else "", y_penalty=family == "hypergradient")

    return _case(family, place, label, setting, notes, (*flags, "inexact-stages") if displaced else flags)


def _ramp(place: Place, label: str, reading: Reading) -> Case:
    def setting(_: str) -> Setting:
        of = place.setting(alpha=TENTH, reading=reading)
        lower = of.lower
        # Into the feasible set, away from each active row by a quarter of its ramp's width.
        step = dyadic(of.h_width()) / 4
        y_star = rounded(a + step * b for a, b in zip(lower.y_star, _inward(of, lower.strictly_active), strict=True))
        share = [Fraction(3, 4) if k % 2 else Fraction(5, 4) for k in range(of.problem.p)]
        lam = rounded(of.lam_width * part if value > 0 else value for value, part in zip(lower.lam, share, strict=True))
        stages = {"y_star": y_star, "lam": lam}
        y_penalty = rounded(evaluate(replace(of, given=stages)).y_penalty)
        return replace(of, given=stages | {"y_penalty": y_penalty})

    notes = f"the weights are left to compute: rows a quarter down the {label} ramp, multipliers around its end"
    return _case("hypergradient", place, f"ramp-{label}", setting, notes, ("inexact-stages",))


def _noisy(place: Place, label: str, noise: Noise, pairing: str, N_g: int) -> Case:
    reading = REPAIRED.choose(noise_pairing=pairing)

    def setting(name: str) -> Setting:
        of = place.setting(alpha=TENTH, reading=reading, N_g=N_g, noise=noise)
        of = _with_stages(of, "", y_penalty=True)
        draws = _draws(f"hypergradient/{name}", of)
        if noise.model == "jump" and "g_x" in draws:
            draws["g_x"] = (_between(of.given["y_star"], of.given["y_penalty"]), *draws["g_x"][1:])
        return replace(of, draws=draws)

    notes = f"{noise.model} noise, {pairing} draws, N_g = {N_g}; normals drawn from the vector's id"
    return _case("hypergradient", place, f"noise-{label}", setting, notes)


def _noisy_oracle(place: Place, noise: Noise) -> Case:
    of = place.setting(alpha=SMALL, N_g=4, noise=noise)
    notes = "nothing given but draws: additive noise, common, N_g = 4"
    return _case("oracle", place, "noise", lambda name: replace(of, draws=_draws(f"oracle/{name}", of)), notes)


def _draws(seed: str, setting: Setting) -> dict[str, tuple[Vector, ...]]:
    """Normals drawn from a name."""
    used = draw_shapes(setting.problem, setting.N_g, setting.reading.noise_pairing)
    # Also what the other pairing would use, so that a wrong pairing gives a number and not an error.
    shapes = used | draw_shapes(setting.problem, setting.N_g, "independent")
    return {block: normals(f"{seed}/{block}", shape) for block, shape in shapes.items()}


def _with_stages(setting: Setting, displaced: str, *, y_penalty: bool) -> Setting:
    """Stages as doubles: exact ones rounded, or displaced by a seed's signs as far as the premises allow."""
    values = evaluate(setting)
    stages = {"y_star": rounded(values.y_star), "lam": rounded(values.lam), "rho": rounded(values.rho)}
    if displaced:
        reach = setting.alpha**3
        stages["y_star"] = _moved(stages["y_star"], reach, f"{displaced}/y_star")
        stages["lam"] = tuple(max(v, Fraction(0)) for v in _moved(stages["lam"], reach, f"{displaced}/lam"))
        stages["rho"] = rounded(Fraction(7, 8) * v for v in stages["rho"])
    setting = replace(setting, given=stages)
    if y_penalty:
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


def _sentence(text: str) -> str:
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


def activation() -> Iterator[Case]:
    """One corner at a time beside a row that is full and one that is off, then whole vectors."""
    for width_name, h_width, lam_width in _WIDTHS:
        for name, h_share, lam_share, notes in _CORNERS:
            h = rounded([Fraction(h_share) * Fraction(h_width), Fraction(0), Fraction(-10)])
            lam = rounded([Fraction(lam_share) * Fraction(lam_width), Fraction(2), Fraction(0)])
            yield _weights(f"{name}/{width_name}", Ramps(h, lam, h_width, lam_width),
                           f"Row 0 {notes}; row 1 is full, row 2 off.")  # fmt: skip
    for p in (1, 2, 5, 10, 20):
        draw = generator(f"activation/random-{p}")
        h, lam = (rounded(Fraction(float(v)).limit_denominator(4096) for v in draw.uniform(*ends, p))
                  for ends in ((-0.3, 0.1), (-0.05, 0.2)))  # fmt: skip
        yield _weights(f"random-{p}", Ramps(h, lam, 0.25, 0.125), f"{p} rows scattered over both ramps.")
    for place in atlas_places():
        setting, lower = place.setting(), place.lower
        ramps = Ramps(rounded(lower.h), rounded(lower.lam), setting.h_width(), float(setting.lam_width))
        case = _weights(place.name, ramps, f"The exact pair of {place.name} at alpha = 1/10.")
        yield replace(case, strata=place.strata)


def _weights(name: str, ramps: Ramps, notes: str) -> Case:
    return Case(f"activation/{name}", lambda allowance: known.activation(ramps, allowance), notes)


FAMILIES = (lower_level, activation, penalty_minimiser, estimates, noisy_estimates, oracle_calls)

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
