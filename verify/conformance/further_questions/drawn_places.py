"""Places drawn from a run's seed: what a subject knows of the built-in ones is worth nothing there."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

from spec import parse_problem
from verify.conformance.places.places import JudgedPlace, as_quadratic, place_of
from verify.conformance.probes import probes
from verify.conformance.probes.probes import FROM_RHO, FROM_SCRATCH, Probe
from verify.truth.coordinates import in_other_coordinates

MOVED = ("two-of-three", "absolute-moving", "every-term-oblong")
"""Built-in places put into other coordinates."""
RANDOM = 2
"""Random problems with rows."""
TRIES = 40
"""Random problems that are drawn to find one with a single lower-level pair and no multiplier near 0."""
LEAST = 0.05
"""Least multiplier of a strictly active row, and least distance of the others: weights are far from their ramps."""


@lru_cache(maxsize=4)
def drawn_probes(seed: int) -> tuple[Probe, ...]:
    """Calls of every stage at places drawn from a seed, as many for every seed."""
    return tuple(_all(seed))


def _all(seed: int) -> Iterator[Probe]:
    places = tuple(drawn_places(seed))
    for place in places:
        yield probes.at(place, probes.lower_level_probe)
    rng = np.random.default_rng([seed, 31])
    for k in range(2):
        widths = rng.uniform(0.01, 0.5, 2)
        h, lam = rng.uniform(-1.5, 0.5, 6) * widths[0], rng.uniform(-0.2, 1.5, 6) * widths[1]
        yield probes.activation_probe(f"drawn-{k + 1}", h, lam, *map(float, widths))
    for place in places:
        alpha = float(rng.uniform(0.04, 0.12))
        recipe = partial(probes.penalty_probe, alpha=alpha, tol=probes.GRADIENT_NORM, name="off-pair", off_pair=True)
        yield probes.at(place, recipe)
        yield probes.at(place, partial(probes.off_truth, alpha=alpha))
        for given, name in ((FROM_RHO, "own-solve"), (FROM_SCRATCH, "own-pair")):
            yield probes.at(place, partial(probes.chain_probe, alpha=alpha, given=given, name=name))


def drawn_places(seed: int) -> Iterator[JudgedPlace]:
    """Random problems, and built-in ones in other coordinates."""
    rng = np.random.default_rng([seed, 29])
    for k in range(RANDOM):
        yield _random(f"drawn-{k + 1}", rng)
    for name in MOVED:
        place = place_of(name)
        image, x = in_other_coordinates(place.problem, place.x, rng)
        yield JudgedPlace(f"{name}-elsewhere", image, x, f"{name} in coordinates drawn for this run")


def _random(name: str, rng: np.random.Generator) -> JudgedPlace:
    for _ in range(TRIES):
        n, m = int(rng.integers(1, 4)), int(rng.integers(2, 5))
        p, seed = int(rng.integers(2, m + 2)), int(rng.integers(2**31))
        drawn = parse_problem({"kind": "generated", "family": "random-rows", "n": n, "m": m, "p": p, "seed": seed})
        x = tuple(Fraction(int(k), 8) for k in rng.integers(-8, 9, n))
        place = JudgedPlace(name, as_quadratic(drawn), x, f"random integers, n = {n}, m = {m}, p = {p}")
        if _is_plain(place):
            return place
    return JudgedPlace(name, place.problem, (Fraction(0),) * n, place.purpose)


def _is_plain(place: JudgedPlace) -> bool:
    if not place.has_one_pair or place.lower.weakly_active:
        return False
    h = place.problem.arrays.A @ place.point - place.problem.arrays.B @ place.y_star - place.problem.arrays.b
    active = list(place.lower.strictly_active)
    idle = np.delete(h, active)
    return bool(np.all(place.lam[active] > LEAST) and np.all(idle < -LEAST) and len(active) > 0)
