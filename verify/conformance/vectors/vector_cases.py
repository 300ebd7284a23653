"""The cases of the quadratic stages, by name; names are permanent: a case is added or withdrawn, never changed."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from spec import AS_WRITTEN, REPAIRED, Noise
from spec.files import Frozen
from verify.conformance.places.places import JudgedPlace, atlas_places, further_places, place_of, rounded
from verify.conformance.places.sizes import Allowance
from verify.conformance.places.tolerances import RampTolerances
from verify.conformance.vectors import known_answers as known
from verify.conformance.vectors.known_answers import KnownAnswers
from verify.conformance.vectors.writing import LOOSE, USEFUL, VectorCase
from verify.truth.algebra.numbers import dyadic
from verify.truth.algebra.rationals import Vector, column, fractions, select
from verify.truth.functions_of_alpha.noise import draw_shapes
from verify.truth.stages import ExactSetting, evaluate

LISTED: dict[str, Any] = tomllib.loads((Path(__file__).parent / "cases.toml").read_text(encoding="utf-8"))
"""Lists of places, rows of cases by family, and the corners of the ramps."""


class VectorRow(Frozen):
    """Cases of a family that differ in their place alone."""

    family: str
    at: str | list[str]
    label: str = ""
    notes: str = ""
    alpha: Fraction = Fraction(1, 10)
    reading: Literal["repaired", "as-written"] = "repaired"
    choose: dict[str, str] = Field(default_factory=dict)
    stages: Literal["exact", "displaced", "ramp", "none"] = "exact"
    noise: Noise | None = None
    N_g: int = 1
    flags: tuple[str, ...] = ()
    loose: bool = False

    @property
    def places(self) -> list[JudgedPlace]:
        """Where they are."""
        if self.at == "all":
            return [*atlas_places(), *further_places()]
        if self.at == "elsewhere":
            return _elsewhere()
        return [place_of(name) for name in (LISTED["places"][self.at] if isinstance(self.at, str) else self.at)]

    def cases(self) -> Iterator[VectorCase]:
        """The cases; a setting is made from its name when it is needed."""
        flags = (*self.flags, "inexact-stages") if self.stages in ("displaced", "ramp") else self.flags
        for place in self.places:
            name = f"{place.name}/{self.label}" if self.label else place.name
            purpose = f"{place.purpose[0].lower()}{place.purpose[1:]}"
            notes = f"{self.notes}; {purpose}" if self.notes else place.purpose
            yield VectorCase(
                f"{self.family}/{name}",
                partial(self.answer, place, name),
                f"{notes[0].upper()}{notes[1:]}.",
                place, flags=flags, useful=LOOSE if self.loose else USEFUL,
            )  # fmt: skip

    def answer(self, place: JudgedPlace, name: str, allowance: Allowance) -> KnownAnswers:
        """The call at a place with its answer."""
        return _ANSWERS[self.family](self.setting(place, name), allowance)

    def setting(self, place: JudgedPlace, name: str) -> ExactSetting:
        """What is given at a place."""
        reading = (REPAIRED if self.reading == "repaired" else AS_WRITTEN).choose(**self.choose)
        of = place.setting(alpha=self.alpha, reading=reading, N_g=self.N_g, noise=self.noise)
        if self.stages == "ramp":
            of = _on_the_ramp(of)
        elif self.stages != "none":
            of = _with_stages(of, name if self.stages == "displaced" else "", y_penalty=self.family == "hypergradient")
        return of if self.noise is None else _with_draws(of, f"{self.family}/{name}")


_ANSWERS: dict[str, Callable[[ExactSetting, Allowance], KnownAnswers]] = {
    "lower-level": known.lower_level, "penalty-minimiser": known.penalty_minimiser,
    "hypergradient": known.hypergradient, "oracle": known.hypergradient,
}  # fmt: skip


def listed(family: str) -> Iterator[VectorCase]:
    """The rows of a family, each at its places."""
    for row in LISTED[family]:
        yield from VectorRow(family=family, **row).cases()


def _elsewhere() -> list[JudgedPlace]:
    """The atlas's problems at two more points."""
    return [
        place.at(f"{place.name}-{name}", tuple(factor * value for value in place.x))
        for place in atlas_places()
        for name, factor in (("halved", Fraction(1, 2)), ("mirrored", Fraction(-1)))
        if any(place.x)
    ]


def _on_the_ramp(of: ExactSetting) -> ExactSetting:
    """Weights left to compute: rows a quarter of the width inside, multipliers around the ramp's end."""
    lower = of.lower
    # Into the feasible set, away from each active row by a quarter of its ramp's width.
    step = dyadic(of.h_width()) / 4
    y_star = rounded(a + step * b for a, b in zip(lower.y_star, _inward(of, lower.strictly_active), strict=True))
    share = [Fraction(3, 4) if k % 2 else Fraction(5, 4) for k in range(of.problem.p)]
    lam = rounded(of.lam_width * part if value > 0 else value for value, part in zip(lower.lam, share, strict=True))
    stages = {"y_star": y_star, "lam": lam}
    y_penalty = rounded(evaluate(replace(of, given=stages)).y_penalty)
    return replace(of, given=stages | {"y_penalty": y_penalty})


def _with_stages(setting: ExactSetting, displaced: str, *, y_penalty: bool) -> ExactSetting:
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


def _with_draws(setting: ExactSetting, seed: str) -> ExactSetting:
    """Normals drawn from a name."""
    used = draw_shapes(setting.problem, setting.N_g, setting.reading.noise_pairing)
    # Also what the other pairing would use, so that a wrong pairing gives a number and not an error.
    shapes = used | draw_shapes(setting.problem, setting.N_g, "independent")
    draws = {block: normals(f"{seed}/{block}", shape) for block, shape in shapes.items()}
    if setting.problem.noise.model == "jump" and "g_x" in draws:
        # A threshold that the first components lie on both sides of.
        between = rounded([(setting.given["y_star"][0] + setting.given["y_penalty"][0]) / 2])
        draws["g_x"] = (between, *draws["g_x"][1:])
    return replace(setting, draws=draws)


def _moved(values: Vector, reach: Fraction, seed: str) -> Vector:
    return rounded(value + reach * sign for value, sign in zip(values, signs(seed, len(values)), strict=True))


def _inward(setting: ExactSetting, active: tuple[int, ...]) -> Vector:
    """The shortest direction in y along which every active row falls by one."""
    if not active:
        return (Fraction(0),) * setting.problem.m
    W = select(setting.rows.B, active)
    weights = (W * W.transpose()).solve(column([Fraction(1)] * len(active)))
    return fractions(W.transpose() * weights)


def activation() -> Iterator[VectorCase]:
    """One corner at a time beside a row that is full and one that is off, then whole vectors."""
    for width_name, (h_width, lam_width) in LISTED["widths"].items():
        for name, (h_share, lam_share, notes) in LISTED["corners"].items():
            h = rounded([Fraction(h_share) * Fraction(h_width), Fraction(0), Fraction(-10)])
            lam = rounded([Fraction(lam_share) * Fraction(lam_width), Fraction(2), Fraction(0)])
            yield _weights(f"{name}/{width_name}", RampTolerances(h, lam, h_width, lam_width),
                           f"Row 0 {notes}; row 1 is full, row 2 off.")  # fmt: skip
    for p in (1, 2, 5, 10, 20):
        draw = generator(f"activation/random-{p}")
        h, lam = (rounded(Fraction(float(v)).limit_denominator(4096) for v in draw.uniform(*ends, p))
                  for ends in ((-0.3, 0.1), (-0.05, 0.2)))  # fmt: skip
        yield _weights(f"random-{p}", RampTolerances(h, lam, 0.25, 0.125), f"{p} rows scattered over both ramps.")
    for place in atlas_places():
        setting, lower = place.setting(), place.lower
        ramps = RampTolerances(rounded(lower.h), rounded(lower.lam), setting.h_width(), float(setting.lam_width))
        case = _weights(place.name, ramps, f"The exact pair of {place.name} at alpha = 1/10.")
        yield replace(case, strata=place.strata)


def _weights(name: str, ramps: RampTolerances, notes: str) -> VectorCase:
    return VectorCase(f"activation/{name}", lambda allowance: known.activation(ramps, allowance), notes)


FAMILIES: tuple[Callable[[], Iterator[VectorCase]], ...] = (
    activation,
    *(partial(listed, family) for family in _ANSWERS),
)


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
