"""The smallest problem on which a stage still diverges: fewer variables and rows, then smaller and rounder numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from spec import InvalidInputError, Quadratic, parse_problem
from spec.exact import Vector
from verify.conformance.places.places import JudgedPlace, rounded
from verify.conformance.probes.probes import Probe, activation_probe
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls

AXES = {
    "f.xx": "nn", "f.xy": "nm", "f.yy": "mm", "f.x": "n", "f.y": "m", "g.xx": "nn", "g.xy": "nm", "g.yy": "mm",
    "g.x": "n", "g.y": "m", "constraints.A": "pn", "constraints.B": "pm", "constraints.b": "p", "x": "n",
}  # fmt: skip
"""Shapes of the blocks, in the order in which they are emptied."""
SYMMETRIC = ("f.xx", "f.yy", "g.xx", "g.yy")
CLEARLY = 10.0
"""Tolerances by which a smaller instance must still diverge: a repro should not hang by a thread."""
TRIES = 400
"""Smaller instances that are asked about at most."""
BEFORE = 0.125
"""How far the call before lies, for subjects whose answers depend on it."""
Build = Callable[[JudgedPlace], Probe]


@dataclass(frozen=True)
class ShrunkInstance:
    """A problem at a point as exact blocks by name, see :data:`AXES`; arrays of fractions."""

    blocks: dict[str, Any]

    @classmethod
    def of(cls, problem: Quadratic, x: Vector) -> ShrunkInstance:
        """Read the blocks."""
        blocks: dict[str, Any] = {"x": np.array(rounded(x), dtype=object)}
        for name in AXES:
            if name != "x":
                form, block = name.split(".")
                rows = np.array(getattr(getattr(problem, form), block).to_fractions(), dtype=object)
                blocks[name] = rows[0] if len(AXES[name]) == 1 else rows
        return cls({name: blocks[name] for name in AXES})

    @property
    def place(self) -> JudgedPlace | None:
        """The problem with its exact pair; ``None`` where it is none."""
        data: dict[str, Any] = {"kind": "quadratic"}
        for name, block in self.blocks.items():
            if name != "x":
                form, part = name.split(".")
                data.setdefault(form, {})[part] = np.vectorize(str, otypes=[object])(block).tolist()
        try:
            problem = parse_problem(data)
        except InvalidInputError:
            return None
        if not isinstance(problem, Quadratic):
            return None
        place = JudgedPlace("smallest", problem, tuple(self.blocks["x"]))
        return place if place.has_one_pair else None

    def smaller(self) -> Iterator[ShrunkInstance]:
        """Neighbours that are simpler, the boldest first."""
        for axis, size in zip("pmn", (*self.blocks["constraints.B"].shape, len(self.blocks["x"])), strict=True):
            for k in range(size) if size > 1 else ():
                yield self._without(axis, k)
        for name, block in self.blocks.items():
            if name not in ("g.yy", "x") and block.any():
                yield self._with(name, block * 0)
        for name, block in self.blocks.items():
            for at, value in np.ndenumerate(block):
                if name in SYMMETRIC and at[1] < at[0]:
                    continue
                for simpler in _simpler(value):
                    changed = block.copy()
                    changed[at] = simpler
                    if name in SYMMETRIC:
                        changed[at[::-1]] = simpler
                    yield self._with(name, changed)

    def _with(self, name: str, block: Any) -> ShrunkInstance:
        return ShrunkInstance({**self.blocks, name: block})

    def _without(self, axis: str, gone: int) -> ShrunkInstance:
        blocks = dict(self.blocks)
        for name, axes in AXES.items():
            for position, own in enumerate(axes):
                if own == axis:
                    blocks[name] = np.delete(blocks[name], gone, axis=position)
        return ShrunkInstance(blocks)


def _simpler(value: Fraction) -> list[Fraction]:
    """Simpler numbers in place of one: 0, 1 or -1, then nearby integers and halves."""
    if value in (0, 1):
        return [Fraction(0)] if value else []
    sign = 1 if value > 0 else -1
    wanted = [Fraction(0), Fraction(sign), Fraction(round(value)), Fraction(round(2 * value), 2)]
    return [v for v in dict.fromkeys(wanted) if v != value and _weight(v) < _weight(value)]


def _weight(value: Fraction) -> int:
    return abs(value.numerator) + 2 * (value.denominator - 1) + (value < 0)


@dataclass(frozen=True)
class Smallest:
    """The smallest probe that still diverges, its answer, and a probe to ask first where the answer depends on one."""

    probe: Probe
    got: Vector
    before: Probe | None = None


def shrink(stages: StageCalls, probe: Probe, got: Vector, *, tries: int = TRIES) -> Smallest:
    """Make a diverging probe smaller as long as it diverges, in so many tries."""
    if probe.stage == "activation":
        return _fewest_rows(stages, probe, got)
    build = probe.elsewhere
    if build is None or not isinstance(probe.problem, Quadratic):
        return Smallest(probe, got)
    instance, best = ShrunkInstance.of(probe.problem, probe.x), Smallest(probe, got)
    remembers = _remembers(stages, instance, build)
    if remembers:
        shrunk = _diverging(stages, instance, build, remembers)
        if shrunk is None:
            return best
        best = shrunk
    candidates = instance.smaller()
    for _ in range(tries):
        candidate = next(candidates, None)
        if candidate is None:
            break
        shrunk = _diverging(stages, candidate, build, remembers)
        if shrunk is not None:
            best, candidates = shrunk, candidate.smaller()
    return best


def _remembers(stages: StageCalls, instance: ShrunkInstance, build: Build) -> bool:
    """Whether the same question, put to a new copy of the problem twice, is answered rightly after all."""
    place = instance.place
    if place is None:
        return False
    probe = build(place)
    try:
        probe.ask(stages)
        return probe.excess_of(stages) <= 1
    except (SubjectFaultError, MissingCapabilityError):
        return False


def _diverging(stages: StageCalls, instance: ShrunkInstance, build: Build, remembers: bool) -> Smallest | None:
    place = instance.place
    if place is None:
        return None
    before = place.moved(-BEFORE)
    if remembers and not before.has_one_pair:
        return None
    try:
        probe, first = build(place), build(before) if remembers else None
        if not np.isfinite(probe.tolerance).all():
            return None
        if first is not None:
            first.ask(stages)
        got = probe.ask(stages)
    except (SubjectFaultError, MissingCapabilityError, ValueError, ArithmeticError, np.linalg.LinAlgError):
        return None
    return Smallest(probe, got, first) if probe.excess(got) > CLEARLY else None


def _fewest_rows(stages: StageCalls, probe: Probe, got: Vector) -> Smallest:
    lam: Any = probe.call.lam
    w, lw = probe.h_width, probe.call.parameters.lam_width
    for rows in (list(rows) for count in (1, 2) for rows in combinations(range(len(lam)), count)):
        # In units of the widths, so that the numbers are round.
        few = activation_probe("smallest", probe.h[rows] / w, lam[rows] / lw, 1.0, 1.0)
        try:
            answer = few.ask(stages)
        except (SubjectFaultError, MissingCapabilityError):
            continue
        if few.excess(answer) > CLEARLY:
            return Smallest(few, answer)
    return Smallest(probe, got)
