"""Questions that differ in one thing at a time, so that what a stage remembers shows: problem, point, alpha, stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from spec import Quadratic, parse_problem
from spec.blocks.quadratic import QuadraticArrays
from spec.exact import Vector
from verify.conformance.blame.questions import drawn_place
from verify.conformance.places.places import JudgedPlace, place_of
from verify.conformance.probes.probes import (
    FROM_PAIR,
    FROM_SCRATCH,
    GRADIENT_NORM,
    Probe,
    activation_probe,
    chain_probe,
    lower_level_probe,
    penalty_probe,
)
from verify.method.lines import Stage

ATTRIBUTES = ("problem", "x", "alpha", "stages", "sizes", "rows")
"""What a memory may tell questions apart by."""


@dataclass(frozen=True, eq=False)
class Question:
    """A probe with what it differs in from others."""

    probe: Probe

    @cached_property
    def attributes(self) -> Mapping[str, Any]:
        """Its values of :data:`ATTRIBUTES`, each comparable."""
        probe, call = self.probe, self.probe.call
        if probe.stage == "activation":
            return {"h": probe.h.tobytes(), "lam": _bytes(call.lam), "sizes": (len(probe.h),),
                    "widths": (probe.h_width, call.parameters.lam_width)}  # fmt: skip
        sizes = (probe.problem.n, probe.problem.m, probe.problem.p)
        values: dict[str, Any] = {"problem": str(probe.problem.to_dict()), "x": probe.x.tobytes(), "sizes": sizes}
        if probe.stage == "lower_level":
            values["rows"] = _rows(probe.problem.arrays)
        else:
            values |= {"alpha": call.alpha, "stages": tuple(_bytes(call.stages[name]) for name in sorted(call.stages))}
        return values

    def part(self, name: str) -> Any:
        """One of its attributes, or its x as a memory may have shortened it; ``None`` of what it does not have."""
        if name not in self._parts:
            self._parts[name] = _shortened(self.probe.x, name) if name in SHORTENED else self.attributes.get(name)
        return self._parts[name]

    @cached_property
    def _parts(self) -> dict[str, Any]:
        return {}

    @cached_property
    def told(self) -> Mapping[str, Any]:
        """The same with what more may decide which value is kept: the blocks of a Hessian, and those of the rows."""
        q = getattr(self.probe.problem, "arrays", None)
        if q is None:
            return self.attributes
        return {**self.attributes, "matrices": tuple(map(_bytes, (q.f_yy, q.g_yy, q.B))), "rows": _rows(q)}

    def with_pair_of(self, other: Question, pair: tuple[Vector, Vector] | None) -> Probe | None:
        """The same estimate on the pair of another question; ``None`` where that does not fit."""
        probe = self.probe
        if probe.stage != "hypergradient" or probe.call.lam is not None or pair is None:
            return None
        if other.attributes["sizes"] != self.attributes["sizes"]:
            return None
        return replace(probe, call=replace(probe.call, y_star=pair[0], lam=pair[1]))


def _bytes(values: Any) -> bytes:
    return b"" if values is None else np.asarray(values, dtype=np.float64).tobytes()


def _rows(q: QuadraticArrays) -> tuple[bytes, ...]:
    return tuple(map(_bytes, (q.A, q.B, q.b)))


LINEAR = (("f", "x"), ("g", "y"), ("f", "y"))


def tilted_place(place: JudgedPlace, by: Fraction, blocks: Sequence[tuple[str, str]] = LINEAR) -> JudgedPlace:
    """A problem of the same sizes with other entries of some vectors: no call before has seen it."""
    data = place.problem.to_dict()
    for form, block in blocks:
        part = dict(data.get(form, {}))
        old = getattr(getattr(place.problem, form), block).to_fractions()
        rows = old[0] if old and isinstance(old[0], list | tuple) else old
        part[block] = [str(Fraction(value) + by) for value in rows]
        data = {**data, form: part}
    problem = parse_problem(data)
    assert isinstance(problem, Quadratic)  # by its kind
    return JudgedPlace(f"{place.name}~{by}", problem, place.x)


def _places() -> dict[str, JudgedPlace]:
    """A problem at two points, another of its sizes at the first one, and one of other sizes."""
    near = tilted_place(place_of("two-of-three"), Fraction(1, 4))
    return {"here": near.moved(0.015625), "there": near.moved(0.140625),
            "other": tilted_place(place_of("two-of-three"), Fraction(-1, 2)).moved(0.015625),
            "small": tilted_place(place_of("toy1"), Fraction(1, 4))}  # fmt: skip


DECIMALS = range(9)
"""How many decimals of x a memory may tell questions apart by."""
NEARBY = (*(Fraction(3, 10**k) for k in range(1, 9)), Fraction(55, 10**9))
"""By how much x is moved; the last tells single precision from seven decimals."""


def _shortened(x: Vector, how: str) -> tuple[float, ...]:
    """A question's x as a memory may have it: ``round 2``, ``trunc 3``."""
    kind, _, count = how.partition(" ")
    if kind == "single":
        return tuple(x.astype(np.float32).tolist())
    scaled = x * 10.0 ** int(count)
    return tuple((np.round(scaled) if kind == "round" else np.floor(scaled)).tolist())


SHORTENED: dict[str, str] = (
    {f"round {k}": f"x rounded to {k} decimals" for k in DECIMALS}
    | {f"trunc {k}": f"x cut off after {k} decimals" for k in DECIMALS}
    | {"single": "x in single precision"}
)
"""Ways to shorten x, in words."""


@lru_cache(maxsize=4)
def near_questions(stage: Stage) -> tuple[Question, ...]:
    """Of one stage, points close to each other on one problem, and another problem at the first of them."""
    if stage not in ("lower_level", "hypergradient"):
        return ()
    places = _places()
    near = [places["here"].moved(float(by)) for by in NEARBY]
    some = [place for place in (places["here"], places["other"], *near) if place.has_one_pair]
    if stage == "lower_level":
        return tuple(Question(lower_level_probe(place)) for place in some)
    probes = [chain_probe(place, 0.05, FROM_SCRATCH, "state") for place in some]
    return tuple(Question(probe) for probe in (*probes, chain_probe(places["here"], 0.02, FROM_SCRATCH, "state")))


FAR = (Fraction(0), Fraction(2), Fraction(-3), Fraction(1), Fraction(-1, 2))
"""By how much x is moved so that other rows bind."""


@lru_cache(maxsize=4)
def far_questions(stage: Stage) -> tuple[Question, ...]:
    """Of one stage, problems that differ in everything, in g_y or in b, each at points where other rows bind."""
    if stage not in ("lower_level", "hypergradient"):
        return ()
    first, *drawn = [drawn_place(*which) for which in ((825, (2, 3, 4)), (883, (2, 3, 4)), (823, (2, 2, 2)))]
    tilted = [tilted_place(first, Fraction(1, 4), blocks) for blocks in (LINEAR, [("constraints", "b")])]
    places = [place for one in (first, *drawn, *tilted) for by in FAR if (place := one.moved(float(by))).has_one_pair]
    if stage == "lower_level":
        return tuple(Question(lower_level_probe(place)) for place in places)
    return tuple(Question(chain_probe(place, 0.25, FROM_SCRATCH, "state")) for place in places)


@lru_cache(maxsize=8)
def questions(stage: Stage, *, is_there: bool = True) -> tuple[Question, ...]:
    """Of one stage, those that a memory mixes up next to each other; with the other problem at an x of its own, too."""
    return tuple(Question(probe) for probe in _of(stage, is_there))


def _of(stage: Stage, is_there: bool) -> Iterator[Probe]:
    if stage == "activation":
        for name, h, lam, w, lw in (
            ("a", (-0.03, -0.01), (0.02, 0.07), 0.1, 0.1), ("b", (-0.06, -0.02), (0.02, 0.07), 0.1, 0.1),
            ("c", (-0.03, -0.01), (0.05, 0.03), 0.1, 0.1), ("d", (-0.03, -0.01), (0.02, 0.07), 0.2, 0.1),
            ("e", (-0.03,), (0.04,), 0.1, 0.3),
        ):  # fmt: skip
            yield activation_probe(f"state-{name}", np.array(h), np.array(lam), w, lw)
        return
    places = {name: place for name, place in _places().items() if place.has_one_pair}
    if is_there:
        # A problem that is taken for another shows apart from an answer that is where x is another, too.
        places["other there"] = places["other"].moved(0.25)
    if stage == "lower_level":
        yield from map(lower_level_probe, places.values())
        # Rows alone are others: a memory that looks at them and not at g is told from one that looks at x.
        yield lower_level_probe(tilted_place(places["here"], Fraction(-1, 8), [("constraints", "b")]))
    elif stage == "penalty_minimiser":
        for place in places.values():
            yield penalty_probe(place, 0.1, tol=GRADIENT_NORM, name="state")
        here = places["here"]
        yield penalty_probe(here, 0.05, tol=GRADIENT_NORM, name="state")
        yield penalty_probe(here, 0.1, tol=GRADIENT_NORM, name="state-off", off_pair=True)
    elif stage == "hypergradient":
        for place in places.values():
            yield chain_probe(place, 0.05, FROM_SCRATCH, "state")
        here = places["here"]
        yield chain_probe(here, 0.02, FROM_SCRATCH, "state")
        yield chain_probe(here, 0.05, FROM_PAIR, "state-pair", here.y_star + 0.25)
        yield chain_probe(places["there"], 0.02, FROM_SCRATCH, "state")
