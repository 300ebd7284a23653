"""Which stage calls an implementation is compared on: small problems of every kind, and points where mistakes show."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from spec.atlas import find as find_instance
from spec.exact import Vector
from verify.conformance.places import LAM_WIDTH, Place, exact, moved, place_of, ramp_exactly, square
from verify.conformance.probes import (
    FROM_PAIR,
    FROM_RHO,
    FROM_SCRATCH,
    GRADIENT_NORM,
    NOISES,
    Given,
    Probe,
    activation_probe,
    chain_probe,
    lower_level_probe,
    noisy_probe,
    off_truth,
    penalty_probe,
)
from verify.truth.geometry import quadratic_of

PLACES = (
    "toy1", "toy2", "scalar-rational", "two-of-three", "box-rational", "interior", "absolute-moving", "moving-box",
    "fixed-rows", "random-3x5x4",
)  # fmt: skip


@lru_cache(maxsize=1)
def probes() -> tuple[Probe, ...]:
    """All of them, stage by stage."""
    return tuple(_all())


def _all() -> Iterator[Probe]:
    places = [*(place_of(name) for name in PLACES), square()]
    for place in places:
        yield lower_level_probe(place)
        yield lower_level_probe(moved(place, 0.125))
    yield from _activation()
    for place in places:
        a_width = place.h_width(0.1)
        rho = ramp_exactly(exact(place.h), exact(place.lam), a_width, LAM_WIDTH)
        for alpha in (0.1, 0.05):
            yield penalty_probe(place, alpha, rho, tol=GRADIENT_NORM, name="exact-pair")
        yield penalty_probe(place, 0.1, rho, tol=None, name="own-stop")
        yield penalty_probe(place, 0.1, 0.5 * rho, tol=GRADIENT_NORM, name="off-pair", lam=1.25 * place.lam)
    for place in places:
        for alpha in (0.1, 0.05):
            yield off_truth(place, alpha)
            if place.name in ("two-of-three", "interior") and alpha == 0.1:
                yield from (noisy_probe(place, alpha, noise, 3) for noise in NOISES)
    inner: tuple[tuple[Given, str], ...] = (
        (FROM_RHO, "own-solve"), (FROM_PAIR, "own-weights"), (FROM_SCRATCH, "own-pair"),
    )  # fmt: skip
    for given, name in inner:
        for place in (*places, *_near_kinks()):
            for alpha in (0.05, 0.02):
                yield chain_probe(place, alpha, given, name)
    for place in (place_of("toy1"), place_of("two-of-three")):
        yield from (chain_probe(place, alpha, FROM_PAIR, "inside", _inside(place, alpha)) for alpha in (0.05, 0.02))


def _near_kinks() -> Iterator[Place]:
    """Where a multiplier is 0, or so small that its row's weight is of order alpha**2: weights decide the estimate."""
    for name, x in (
        ("toy2", 2.5e-4), ("toy2", 1e-3), ("swapping-rows", 2.5e-4), ("absolute-moving", 2.5e-4), ("weakly-active", 0),
    ):  # fmt: skip
        problem = quadratic_of(find_instance(name).problem)
        made = Place.at(f"{name}@{x:g}", problem, np.full(problem.n, float(x)))
        if made is not None:
            yield made


def _inside(place: Place, alpha: float) -> Vector:
    """A lower-level point so far inside the active rows that their weights are of order alpha**2."""
    B = place.problem.arrays.B[place.active]
    retreat = np.linalg.pinv(B) @ np.ones(len(B))
    return place.y_star + place.h_width(alpha) * (1 - alpha**2) * retreat


def _activation() -> Iterator[Probe]:
    for name, w, lw in (("narrow", 2e-3, 0.1), ("wide", 0.25, 0.5)):
        # On the ramp of h, on that of the multiplier, on both, beyond either end, and exactly at the ends.
        h = np.array([-w / 2, 0.0, -w / 4, -2 * w, w / 2, 0.0, -w, 0.0])
        lam = np.array([2 * lw, lw / 4, lw / 2, lw, lw, 0.0, lw, -lw])
        yield activation_probe(f"{name}/eight-rows", h, lam, w, lw)
        yield activation_probe(f"{name}/boundary", np.zeros(2), np.array([lw, 3 * lw]), w, lw)
        yield activation_probe(f"{name}/ramp", np.array([-0.9 * w, -0.1 * w]), np.array([0.1 * lw, 0.9 * lw]), w, lw)
        yield activation_probe(f"{name}/one-row", np.array([-0.75 * w]), np.array([0.25 * lw]), w, lw)
