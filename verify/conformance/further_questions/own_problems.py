"""Problems of the user's own as probes: what is asked at their points, and what must come out, exactly.

Quadratic ones are compared at every stage that is exact or known to many digits, without their noise; others where
their formulas can be followed to many digits (:mod:`verify.conformance.further_questions.smooth_problems`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from spec import REPAIRED, Holder, InvalidInputError, Noise, Problem, Reading, parse_problem
from spec.atlas import find
from spec.blocks.exact_json import loads
from spec.exact import parse_entry
from spec.files import read_text
from verify.conformance.comparison.stage_comparison import Seen
from verify.conformance.further_questions.other_reading import under
from verify.conformance.further_questions.smooth_problems import Where, holder_probes
from verify.conformance.places.places import JudgedPlace, as_quadratic, with_noise
from verify.conformance.probes.probes import (
    FROM_PAIR,
    FROM_RHO,
    FROM_SCRATCH,
    GRADIENT_NORM,
    Probe,
    activation_probe,
    chain_probe,
    lower_level_probe,
    off_truth,
    penalty_probe,
)
from verify.truth.algebra.rationals import Vector
from verify.truth.formulas import as_float

ATLAS = "atlas:"
"""How a problem of the atlas is named; its point comes with it."""
MOST_BYTES = 16 * 1024 * 1024
SMALL = 24
"""Sum of m and p up to which oracle calls that compute stages themselves are compared: exact answers take long."""
LARGEST = 75
"""Sum of m and p beyond which nothing can be compared exactly in reasonable time."""
ALPHAS = (0.1, 0.05)
TRIES = 60
"""Points drawn where none is given and the lower level has no single pair at 0."""
STEP = 0.125
"""How far the second point lies at which the lower level is compared."""


@dataclass(frozen=True)
class OwnProblem:
    """A problem to be judged on, at a point; its own choice of a point where none is given."""

    name: str
    problem: Problem
    x: Vector | None = None

    @classmethod
    def read(cls, source: str | Path, x: Vector | None = None) -> OwnProblem:
        """Read a problem file, in which ``"x"`` may name a point, or ``atlas:NAME``; ``x`` goes before that point.

        Raises:
            InvalidInputError: If it cannot be read or is no problem.
        """
        text = str(source)
        if text.startswith(ATLAS):
            instance = find(text.removeprefix(ATLAS), "--problem")
            return cls(instance.name, instance.problem, tuple(instance.x) if x is None else x)
        path = Path(source)
        data = loads(read_text(path, "--problem", MOST_BYTES), path.name)
        own = data.pop("x", None) if isinstance(data, dict) else None
        if x is None and own is not None:
            if not isinstance(own, list):
                raise InvalidInputError(f"{path.name}.x", "must be a list of numbers", own)
            x = tuple(Fraction(parse_entry(value, f"{path.name}.x[{k}]")) for k, value in enumerate(own))
        return cls(path.stem, parse_problem(data, path.name, path.parent), x)

    def probes(self) -> tuple[tuple[Probe, ...], Where]:
        """What is asked, and where.

        Raises:
            InvalidInputError: If the problem is too large, or its lower level has no single pair at the point.
        """
        if isinstance(self.problem, Holder):
            return holder_probes(self.name, self.problem, self._checked(1) or (Fraction(0),))
        place = self._place()
        left_out: list[str] = []
        quadratic = place.problem
        probes = list(_at_own(place, left_out))
        if quadratic.m + quadratic.p > SMALL:
            left_out.append(f"calls that compute stages themselves (exact answers take long beyond m + p = {SMALL})")
        if self.problem.noise.model != "none":
            left_out.append("its noise")
        return tuple(probes), Where(
            f"x = ({', '.join(f'{float(v):g}' for v in place.x)})", tuple(dict.fromkeys(left_out))
        )

    def _place(self) -> JudgedPlace:
        quadratic = with_noise(as_quadratic(self.problem), Noise())
        if quadratic.m + quadratic.p > LARGEST:
            size = f"m = {quadratic.m}, p = {quadratic.p}"
            raise InvalidInputError(self.name, f"must have m + p <= {LARGEST} to be compared exactly", size)
        given = self._checked(quadratic.n)
        if given is not None:
            place = JudgedPlace(self.name, quadratic, given)
            if not place.has_one_pair:
                rule = "must be a point where the lower level has one pair: it is infeasible, or active rows dependent"
                raise InvalidInputError(f"{self.name}.x", rule, ", ".join(str(value) for value in given))
            return place
        for point in _points(quadratic.n):
            place = JudgedPlace(self.name, quadratic, point)
            if place.has_one_pair:
                return place
        rule = f"has no single lower-level pair at 0 or at any of {TRIES} points drawn; give one with --x"
        raise InvalidInputError(self.name, rule)

    def _checked(self, n: int) -> Vector | None:
        if self.x is not None and len(self.x) != n:
            raise InvalidInputError(f"{self.name}.x", f"must have {n} number(s)", len(self.x))
        return self.x


@dataclass(frozen=True)
class OwnProbes:
    """The probes of all own problems, and how each problem is introduced."""

    probes: tuple[Probe, ...]
    places: tuple[tuple[str, Where, frozenset[int]], ...]

    @classmethod
    def of(cls, problems: Sequence[OwnProblem], reading: Reading = REPAIRED) -> OwnProbes:
        """All that is asked, under a reading; names that two problems share are told apart."""
        all_probes: list[Probe] = []
        places: list[tuple[str, Where, frozenset[int]]] = []
        names: list[str] = []
        for problem in problems:
            count = names.count(problem.name)
            names.append(problem.name)
            own = replace(problem, name=f"{problem.name}-{count + 1}") if count else problem
            probes, where = own.probes()
            probes = probes if reading == REPAIRED else tuple(under(reading, probes))
            all_probes += probes
            places.append((own.name, where, frozenset(id(probe) for probe in probes)))
        return cls(tuple(all_probes), tuple(places))

    def told(self, seen: Seen) -> tuple[str, ...]:
        """What was compared on each problem, a sentence each."""
        return tuple(_told(seen, name, where, ids) for name, where, ids in self.places)


def _told(seen: Seen, name: str, where: Where, ids: frozenset[int]) -> str:
    own = [answer for answer in seen.answers if id(answer.probe) in ids]
    broken = sum(id(probe) in ids for probe, _ in seen.broken)
    counts = Counter(answer.probe.stage for answer in own)
    off = sum(not answer.excess <= 1 for answer in own)
    told = f"{name}, at {where.point}: "
    if own:
        by_stage = ", ".join(f"{stage} {count}" for stage, count in counts.items())
        told += f"{len(own)} answer{'' if len(own) == 1 else 's'} compared ({by_stage}), {off or 'none'} off"
    else:
        told += "nothing was compared, for no stage answered"
    told += f"; {broken} call{'' if broken == 1 else 's'} ended in a fault" if broken else ""
    rest = f"; not judged: {', '.join(where.left_out)}" if where.left_out else ""
    return f"{told}{rest}."


def _points(n: int) -> Iterator[Vector]:
    yield (Fraction(0),) * n
    rng = np.random.default_rng(n)
    for _ in range(TRIES):
        yield tuple(Fraction(int(k), 8) for k in rng.integers(-16, 17, n))


def _at_own(place: JudgedPlace, left_out: list[str]) -> Iterator[Probe]:
    """What is asked at one place; where there is no answer, that is added to what is left out."""
    recipes: list[Callable[[JudgedPlace], Probe]] = [lower_level_probe]
    moved = place.moved(STEP)
    small = place.problem.m + place.problem.p <= SMALL
    yield from _made(recipes, moved, left_out) if moved.has_one_pair else ()
    width, lam_width = place.setting().h_width(), float(place.setting().lam_width)
    h, lam = as_float(place.lower.h), place.lam
    yield activation_probe(f"{place.name}/its-rows", h, lam, width, lam_width)
    ramp = np.linspace(0.25, 0.75, len(h))
    yield activation_probe(f"{place.name}/on-the-ramps", -width * ramp, lam_width * (1 - ramp / 2), width, lam_width)
    for alpha in ALPHAS if small else ALPHAS[:1]:
        recipes.append(partial(penalty_probe, alpha=alpha, tol=GRADIENT_NORM, name="exact-pair"))
        recipes.append(partial(off_truth, alpha=alpha))
    recipes.append(partial(penalty_probe, alpha=0.1, tol=None, name="own-stop"))
    for given, name in ((FROM_RHO, "own-solve"), (FROM_PAIR, "own-weights"), (FROM_SCRATCH, "own-pair")):
        recipes += [partial(chain_probe, alpha=alpha, given=given, name=name) for alpha in (0.05, 0.02) if small]
    yield from _made(recipes, place, left_out)


def _made(recipes: Sequence[Callable[[Any], Probe]], place: JudgedPlace, left_out: list[str]) -> Iterator[Probe]:
    for recipe in recipes:
        try:
            probe = recipe(place)
        except InvalidInputError as error:
            left_out.append(f"calls that have no answer ({error.argument} {error.rule})")
            continue
        if np.isfinite(probe.tolerance).all():
            yield replace(probe, elsewhere=recipe)
