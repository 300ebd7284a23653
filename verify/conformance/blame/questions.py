"""Further probes for explanations: small random problems whose blocks are all non-zero, or all but chosen ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, wraps
from itertools import count
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np

from spec import REPAIRED, Noise, Quadratic, Reading, parse_problem
from spec.exact import Vector
from verify.conformance.places.places import JudgedPlace, rounded
from verify.conformance.places.posed_places import thin
from verify.conformance.places.sizes import ANY_PROGRAM
from verify.conformance.probes.probes import (
    FROM_PAIR,
    FROM_RHO,
    FROM_SCRATCH,
    Given,
    Probe,
    probe_of,
    widths_probe,
)
from verify.conformance.vectors import known_answers as known
from verify.truth.formulas import as_float
from verify.truth.stages import ExactSetting

Part = Literal["all", "f", "g", "penalty"]
"""Which parts of the formula a problem leaves non-zero."""
PARTS: tuple[Part, ...] = ("f", "g", "penalty")
STEP = 8
"""Entries are integers over this: exact doubles, and so are their products."""
SHAPES = ((2, 3, 2), (3, 2, 4), (1, 2, 3), (2, 2, 2), (3, 1, 2), (2, 3, 3), (1, 1, 1), (3, 3, 1))
"""Sizes n, m, p in turn."""
TALL = ((3, 2, 2), (2, 2, 3), (3, 3, 2), (2, 1, 2))
"""Sizes with n >= m: from an estimate the y can be told at which it was made."""
ALPHAS = (0.5, 0.25, 0.375, 0.75, 0.3, 0.6)
"""Values of alpha in turn: of size 1, so that no term hides behind another."""
WIDTH_ALPHAS = (0.05, 0.02, 0.03, 0.04)
"""Values of alpha at which widths decide about an estimate."""
RAMPS: tuple[Literal["h", "lam"], ...] = ("h", "lam")
DEPTHS = (1.0, 0.3, 0.1, 1.0, 3.0, 0.02, 1e-3, 30.0, 3e-4, 0.5, 1e3, 1.0)
"""How far inside the rows lower-level points are given, in widths of the ramp: on ramps of other widths too."""
NEXT = 10_000
"""Distance of seeds that are tried one after another."""
FLAT = 16
"""By what rows are divided where they are to be small."""
HELD_OUT = 10
"""Probes that are asked only after an explanation was found."""
SOLVED_TO = 1e-9
"""Gradient norm asked of the penalty minimiser."""


P = ParamSpec("P")
T = TypeVar("T")
_READING: ContextVar[Reading] = ContextVar("reading", default=REPAIRED)


def reading_asked() -> Reading:
    """What the questions of now are held against."""
    return _READING.get()


@contextmanager
def asked_under(reading: Reading) -> Iterator[None]:
    """Questions about line 6 and the penalty minimiser ask for another reading's answers from here on."""
    token = _READING.set(reading)
    try:
        yield
    finally:
        _READING.reset(token)


def kept_by_reading(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keeps so many results of a function of the reading that is asked under, and of its arguments."""

    def keep(make: Callable[P, T]) -> Callable[P, T]:
        cache = lru_cache(maxsize=most)(lambda _, *args, **choices: make(*args, **choices))

        @wraps(make)
        def made(*args: P.args, **choices: P.kwargs) -> T:
            result: T = cache(_READING.get(), *args, **choices)  # type: ignore[arg-type]  # numbers and words
            return result

        return made

    return keep


@dataclass(frozen=True)
class DrawnQuestions:
    """Small random rationals from a seed, no entry 0."""

    rng: np.random.Generator

    def numbers(self, *shape: int, top: int = 2 * STEP) -> Vector:
        """Entries of either sign."""
        size = self.rng.integers(1, top + 1, shape) * self.rng.choice([-1, 1], shape)
        return np.asarray(size / STEP)

    def symmetric(self, size: int, diagonal: float, top: int) -> Vector:
        """Strictly diagonally dominant for a large enough diagonal."""
        upper = np.triu(self.numbers(size, size, top=top), 1)
        return upper + upper.T + np.diag(diagonal + self.rng.integers(1, STEP, size) / STEP)


def drawn_place(seed: int, shape: tuple[int, int, int], part: Part = "all", *, is_flat: bool = False) -> JudgedPlace:
    """A random problem with a point where some rows are active and some multipliers positive.

    Flat, its rows are so small that ‖B‖ < 1.
    """
    rng = np.random.default_rng([seed, *shape])
    (n, m, p), draw = shape, DrawnQuestions(rng)
    f: dict[str, Any] = {
        "xx": draw.symmetric(n, 0.5, 1), "xy": draw.numbers(n, m, top=4), "yy": draw.symmetric(m, 0.5, 1),
        "x": draw.numbers(n), "y": draw.numbers(m),
    }  # fmt: skip
    g: dict[str, Any] = {
        "xx": draw.symmetric(n, 1.0, 2), "xy": draw.numbers(n, m, top=8), "yy": draw.symmetric(m, 3.0, 4),
        "x": draw.numbers(n), "y": draw.numbers(m),
    }  # fmt: skip
    A, B, x = draw.numbers(p, n), draw.numbers(p, m), draw.numbers(n)
    if p > 1:
        # Rows of the upper sizes are independent of each other up to m.
        B[: min(p, m)] += 2 * np.eye(min(p, m), m)
    if part in ("g", "penalty"):
        f = {"x": np.zeros(n)}
    if part in ("f", "penalty"):
        g = {"yy": g["yy"], "y": g["y"]}
    if part in ("f", "g"):
        A = np.zeros((p, n))
    if is_flat:
        A, B = A / FLAT, B / FLAT
    b = _rows_through(A, B, x, (g, rng))
    rows = {"A": A, "B": B, "b": b}
    data = {"kind": "quadratic", "f": _spelt(f), "g": _spelt(g), "constraints": _spelt(rows)}
    problem = parse_problem(data)
    assert isinstance(problem, Quadratic)  # by its kind
    return JudgedPlace(f"drawn-{part}-{seed}", problem, rounded(x))


def _rows_through(A: Vector, B: Vector, x: Vector, drawn: tuple[dict[str, Any], np.random.Generator]) -> Vector:
    """The b for which the first rows cut off the free minimum, by up to one, and the others leave it."""
    g, rng = drawn
    slope = g["y"] + (g["xy"].T @ x if "xy" in g else 0.0)
    free = -np.linalg.solve(g["yy"], slope)
    p, m = B.shape
    active = max(1, min(p - 1, m - 1)) if p > 1 else 1
    scale = float(min(1.0, np.abs(B).max()))
    gap = np.array([(1 if i < active else -1) * rng.integers(2, STEP) / STEP for i in range(p)])
    return np.asarray(np.round((A @ x - B @ free - gap * scale) * STEP / scale) * scale / STEP)


def _spelt(blocks: dict[str, Any]) -> dict[str, Any]:
    return {name: [[str(Fraction(v)) for v in row] if np.ndim(row) else str(Fraction(row)) for row in value]
            for name, value in blocks.items()}  # fmt: skip


def _stages(rng: np.random.Generator, shape: tuple[int, int, int], *, with_y: bool) -> dict[str, Any]:
    """Stage values that are all of size 1 and unrelated; weights in (0, 1], at times 0."""
    _, m, p = shape
    draw = DrawnQuestions(rng)
    rho = rng.integers(1, 2 * STEP + 1, p) / (2 * STEP)
    if p > 2:
        rho[int(rng.integers(p))] = float(rng.integers(2))
    stages = {"y_star": rounded(draw.numbers(m)), "lam": rounded(np.abs(draw.numbers(p))), "rho": rounded(rho)}
    if with_y:
        stages["y_penalty"] = rounded(draw.numbers(m))
    return stages


def _choices(seed: int, alpha: float | None) -> dict[str, Any]:
    """The reading, and alpha and the number of samples in turn."""
    alpha = ALPHAS[seed % len(ALPHAS)] if alpha is None else alpha
    return {"reading": _READING.get(), "alpha": Fraction(alpha), "N_g": (1, 3, 2)[seed % 3]}


@kept_by_reading(512)
def line_6_question(seed: int, part: Part = "all", alpha: float | None = None) -> Probe:
    """Line 6 with every stage given."""
    shape = SHAPES[seed % len(SHAPES)]
    place = drawn_place(seed, shape, part)
    rng = np.random.default_rng([seed, 6])
    setting = place.setting(given=_stages(rng, shape, with_y=True), **_choices(seed, alpha))
    return probe_of(f"hypergradient/{place.name}", known.hypergradient(setting, ANY_PROGRAM))


@kept_by_reading(64)
def noisy_question(seed: int) -> Probe:
    """Line 6 under noise, every stage and every normal given; f and g have noise of different sizes."""
    shape = SHAPES[seed % len(SHAPES)]
    place, rng = drawn_place(seed, shape), np.random.default_rng([seed, 7])
    choices = _choices(seed, None)
    size = (choices["N_g"], shape[0])
    names = ("f_x", "g_x", *(["g_x_star"] if choices["reading"].noise_pairing == "independent" else []))
    draws = {name: tuple(rounded(row) for row in np.round(rng.standard_normal(size), 3)) for name in names}
    noise = Noise(model="matrix", sigma_f="1/2", sigma_g="3/4")  # type: ignore[arg-type]  # exact spellings are parsed
    setting = place.setting(given=_stages(rng, shape, with_y=True), noise=noise, draws=draws, **choices)
    return probe_of(f"hypergradient/{place.name}/noisy", known.hypergradient(setting, ANY_PROGRAM))


@kept_by_reading(512)
def minimiser_question(seed: int, part: Part = "all", alpha: float | None = None) -> Probe:
    """The penalty minimiser from given stages; ``f`` and ``g`` have no weight on any row, ``g`` no f either."""
    shape = SHAPES[seed % len(SHAPES)]
    place = drawn_place(seed, shape, "g" if part in ("g", "penalty") else "all")
    rng = np.random.default_rng([seed, 5])
    given = _stages(rng, shape, with_y=False)
    if part in ("f", "g"):
        given["rho"] = rounded(np.zeros(shape[2]))
    setting: ExactSetting = place.setting(given=given, **_choices(seed, alpha))
    return probe_of(f"penalty/{place.name}", known.penalty_minimiser(setting, ANY_PROGRAM, SOLVED_TO), tol=SOLVED_TO)


@lru_cache(maxsize=512)
def chain_question(seed: int, given: Given, alpha: float = 0.25) -> Probe:
    """An oracle call that computes its later stages itself, on a problem with n >= m."""
    place = solvable_place(seed, is_flat=given != FROM_RHO and seed % 3 == 0)
    if given == FROM_RHO:
        shape = (place.problem.n, place.problem.m, place.problem.p)
        stages = _stages(np.random.default_rng([seed, 4]), shape, with_y=False)
        setting = place.setting(alpha=Fraction(alpha), given=stages)
        return probe_of(f"hypergradient/{place.name}/rho", known.hypergradient(setting, ANY_PROGRAM))
    assert given in (FROM_PAIR, FROM_SCRATCH)
    setting = place.setting(
        alpha=Fraction(alpha), ramp_constant=Fraction(1 + seed % 3, 2), lam_width=Fraction(1 + seed % 4, 4)
    )
    if given == FROM_PAIR:
        # Rows and multipliers on their ramps, where the widths show.
        rng = np.random.default_rng([seed, 3])
        B, p = place.problem.arrays.B, place.problem.p
        depth = setting.h_width() * DEPTHS[seed % len(DEPTHS)] * rng.uniform(0.1, 0.9, p)
        pair = {"y_star": rounded(place.y_star + np.linalg.pinv(B) @ (place_rows(place) + depth)),
                "lam": rounded(np.minimum(np.abs(place.lam), 1.0) + rng.uniform(0.05, 0.5, p))}  # fmt: skip
        setting = replace(setting, given=pair)
    return probe_of(f"hypergradient/{place.name}/{given}", known.hypergradient(setting, ANY_PROGRAM))


@lru_cache(maxsize=8)
def width_questions(seed: int) -> tuple[Probe, ...]:
    """Calls that weigh rows themselves at widths that no default has, on rows of two sizes, weights of order alpha²."""
    place, alpha = solvable_place(seed, is_flat=False), WIDTH_ALPHAS[seed % len(WIDTH_ALPHAS)]
    return tuple(widths_probe(at, alpha, ramp) for at in (place, thin(place)) for ramp in RAMPS)


def solvable_place(seed: int, *, is_flat: bool) -> JudgedPlace:
    """The first drawn place with n >= m whose lower level has one pair."""
    tried = (drawn_place(seed + k * NEXT, TALL[seed % len(TALL)], is_flat=is_flat) for k in count())
    return next(place for place in tried if place.has_one_pair)


def place_rows(place: JudgedPlace) -> Vector:
    """Row values at the lower-level solution."""
    return as_float(place.lower.h)
