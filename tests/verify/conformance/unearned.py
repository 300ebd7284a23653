"""Subjects that are right where a suite happens to look, and know nothing elsewhere: a table, a size, a grid, a memory.

Each is the reference where it ``knows``, and where it does not a number of the right shape, or a refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from spec import Holder, Quadratic
from spec.atlas import atlas
from verify.checks.measuring.case import PROFILES
from verify.conformance.bugs.null_subjects import Null
from verify.subjects import MissingCapabilityError, ReferenceSubject
from verify.subjects.protocol import sizes
from verify.subjects.stage_table import ROWS, STAGES, Stage

Given = Mapping[str, Any]
WITH_CALL: tuple[Stage, ...] = tuple(stage for stage in STAGES if "call" in ROWS[stage].takes)
OF_PROBLEMS: tuple[Stage, ...] = tuple(stage for stage in STAGES if "problem" in ROWS[stage].takes)
SUITES_OWN = {alpha for profile in PROFILES.values() for alpha in (*profile.alphas, *profile.sample_alphas)} | {
    1.0,
    0.3,
}
"""Every alpha of a sweep, and what else checks name."""
ROUND = SUITES_OWN | {0.2 / 2**k for k in range(40)}
FEW = 300
"""Calls that one of them answers rightly."""


class RightWhere(Null):
    """Right where it knows; elsewhere one number, or a refusal. ``stages`` are those it offers."""

    def __init__(
        self, name: str, knows: Callable[[Stage, Given], bool], *, value: float | None = 0.0,
        stages: tuple[Stage, ...] = STAGES, unaided: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(name, lambda shape, _: np.full(shape, value), unaided=unaided)
        self._knows, self._refuses, self._offered = knows, value is None, stages

    def __getattr__(self, stage: str) -> Any:
        if stage not in self._offered:
            raise AttributeError(stage)
        return super().__getattr__(stage)

    def _answer(self, stage: Stage, *args: Any) -> Any:
        given = dict(zip(ROWS[stage].takes, args, strict=True))
        right = self._knows(stage, given)
        if not right and self._refuses:
            raise MissingCapabilityError("not in the table")
        if not right or (self._unaided and any(v is not None for v in given["call"].stages.values())):
            return super()._answer(stage, *args)
        return getattr(ReferenceSubject(), stage)(*args)


def _largest(given: Given) -> int:
    """The largest size that a stage is told of."""
    if "problem" in given:
        n, m, _ = sizes(given["problem"])
        return max(n, m)
    return int(given["x0"].shape[-1] if "x0" in given else len(given["h"]))


def _rows(given: Given) -> int:
    return sizes(given["problem"])[2] if "problem" in given else _largest(given)


def _published() -> set[str]:
    found = set()
    for instance in atlas().values():
        found.add(_entries(instance.problem))
    return found


def _entries(problem: Any) -> str:
    """A problem without its noise, entry by entry."""
    plain = getattr(problem, "quadratic", problem)
    return str({name: part for name, part in plain.to_dict().items() if name != "noise"})


class _Table:
    """Knows published problems, each by its entries; looked up once a problem."""

    def __init__(self) -> None:
        self.published, self.seen = _published(), dict[int, tuple[Any, bool]]()

    def __call__(self, _: Stage, given: Given) -> bool:
        problem = given["problem"]
        if id(problem) not in self.seen:
            self.seen[id(problem)] = problem, _entries(problem) in self.published
        return self.seen[id(problem)][1]


def _short(problem: Any) -> bool:
    """Whether no entry has more than three digits below the line."""
    plain = getattr(problem, "quadratic", problem)
    if not isinstance(plain, Quadratic):
        return isinstance(plain, Holder)
    blocks = [plain.g.yy, plain.g.xy, plain.g.y, plain.constraints.A, plain.constraints.B, plain.constraints.b]
    return all(Fraction(v).denominator < 1000 for block in blocks for row in block.to_fractions() for v in row)


class _FirstCalls:
    """Knows whatever is asked early enough."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, *_: Any) -> bool:
        self.calls += 1
        return self.calls <= FEW


class _Again:
    """Knows what it was asked before, word for word."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def __call__(self, stage: Stage, given: Given) -> bool:
        known = str([stage, *(_word(name, value) for name, value in given.items())])
        again = known in self.asked
        self.asked.add(known)
        return again


def _word(name: str, value: Any) -> str:
    if name in ("rng", "oracle"):
        return ""
    return _entries(value) if name == "problem" else str(value)


def _published_points() -> set[tuple[float, ...]]:
    return {tuple(float(value) for value in instance.x) for instance in atlas().values()}


def _is_given(given: Given) -> bool:
    return "call" not in given or any(value is not None for value in given["call"].stages.values())


def unearned_subjects() -> dict[str, Callable[[], RightWhere]]:
    """How each is made, by name; one that remembers is made anew for each run."""
    points = _published_points()
    answers: tuple[Stage, ...] = ("hypergradient", "hypergradient_samples")
    return {
        "table-unaided": lambda: RightWhere(
            "table-unaided", _Table(), value=-1000.0, stages=answers, unaided=True
        ),
        "small-sizes": lambda: RightWhere("small-sizes", lambda _, given: _largest(given) < 6),
        "round-alphas": lambda: RightWhere(
            "round-alphas", lambda _, given: given["call"].alpha in ROUND, stages=WITH_CALL
        ),
        "scalars": lambda: RightWhere("scalars", lambda _, given: _largest(given) == 1),
        "one-row": lambda: RightWhere("one-row", lambda _, given: _rows(given) <= 1),
        "published-points": lambda: RightWhere(
            "published-points", lambda _, given: tuple(given["x"]) in points, stages=OF_PROBLEMS
        ),
        "short-entries": lambda: RightWhere(
            "short-entries", lambda _, given: _short(given["problem"]), stages=OF_PROBLEMS
        ),
        "few-calls": lambda: RightWhere("few-calls", _FirstCalls()),
        "second-time": lambda: RightWhere("second-time", _Again()),
        "given-only": lambda: RightWhere("given-only", lambda _, given: _is_given(given)),
        "table": lambda: RightWhere("table", _Table(), value=-1000.0, stages=OF_PROBLEMS),
        "table-refusing": lambda: RightWhere("table-refusing", _Table(), value=None, stages=OF_PROBLEMS),
        "table-unaided-refusing": lambda: RightWhere(
            "table-unaided-refusing", _Table(), value=None, stages=answers, unaided=True
        ),
    }  # fmt: skip
