"""``f2csa experiment kinks``: paths that cross kinks, end on them or start there; who ends at a Goldstein point.

Here the smoothing of the paper should pay. In at most four dimensions the distance of 0 from ∂_δF is bracketed by
proof, so that "ends at a Goldstein point" is certified, and so is its contrary. Every method runs at its best
implementation, with its own numbers tuned, and with the same numbers as its plain page, whose answers are the same but
for their last digits and cost more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from verify.experiments.benchmark_problems import Course
from verify.experiments.compared_methods import (
    ALPHA,
    DESCENT,
    DSBLO,
    DSBLO_2,
    F2CSA,
    LITERAL,
    PARENT,
    PIGD,
    SSIGD,
    ZEROTH,
)  # fmt: skip
from verify.experiments.kinks_words import PAGE, described, from_when
from verify.experiments.method_runs import MethodRuns, with_common_lows
from verify.experiments.model import Experiment, Row, Size
from verify.experiments.tuning import TUNING_SEED, WHOLE, Budget, Judging, lowest, run_cell, trials, tuned
from verify.experiments.work_cells import Bench

RADIUS = 0.05
TARGET = 0.1
"""An end is a Goldstein point where dist(0, ∂_δF) ≤ this, units of F per unit of x."""
METHODS = (F2CSA, SSIGD, DSBLO, DSBLO_2, PIGD, PARENT, ZEROTH, DESCENT)
PLACES: dict[str, Course] = {
    "one kink": Course("kink", RADIUS, start=(0.9,)),
    "start on a kink": Course("absolute-fixed", RADIUS, start=(0.0, 0.8)),
    "crossing kinks": Course("crossing-kinks", RADIUS, start=(1.3, -0.4)),
    "moving rows": Course("absolute-moving", RADIUS, start=(0.9, -0.7)),
    "steep and flat": Course("ridges", RADIUS, 2, 30.0),
    "many ridges": Course("ridges", RADIUS, 3, 3.0),
    "moving box": Course("coupled", RADIUS, 3, 10.0),
}
"""The problems by name; the drawn ones take a new draw for each seed."""
QUICK = ("start on a kink", "crossing kinks", "many ridges")
LENGTHS: dict[Size, tuple[float, ...]] = {"quick": WHOLE[1:5], "whole": WHOLE[1:6]}
CALLS: dict[Size, int] = {"quick": 150, "whole": 300}
SEEDS: dict[Size, int] = {"quick": 2, "whole": 5}
TUNING_SEEDS: dict[Size, tuple[int, int]] = {"quick": (2, 2), "whole": (2, 3)}
"""Problems for tuning, of those that are not drawn and of those that are: draws differ more than starts."""
ROUNDS: dict[Size, int] = {"quick": 1, "whole": 4}
"""Single trials that follow those of a method's own numbers, past an end of what was tried or between."""
POINTS: dict[Size, int] = {"quick": 8, "whole": 16}
"""Moments of a run at which the distance is followed, and at its start."""
TUNING_POINTS = 4
"""Moments of a trial run at which the distance is followed, from a sixteenth of its calls on."""
MOVED = 0.2
"""How far each coordinate of the start of a problem that is not drawn is moved for tuning, at most."""
FAILED = 3.0
"""Score of a trial run that fails, above all others."""


def run(bench: Bench, size: Size, seed: int) -> Experiment:
    """All cells, then what they show."""
    names = QUICK if size == "quick" else tuple(PLACES)
    methods = {name: _methods(name) for name in names}
    budget, judging = Budget(CALLS[size], "calls"), replace(JUDGED, rounds=ROUNDS[size])
    for_tuning = {
        name: [kept_for_tuning(name, seed + TUNING_SEED + k) for k in range(TUNING_SEEDS[size][PLACES[name].d > 0])]
        for name in names
    }
    taken, tried = tuned(bench, for_tuning, methods, budget, LENGTHS[size], judging)
    judged = {name: [_drawn(name, seed + k) for k in range(SEEDS[size])] for name in names}
    entrants = [
        (name, taken[name, method].contender(method, fast=beside != PAGE), beside)
        for name in names
        for method in methods[name]
        for beside in ("", PAGE)
    ]
    cells = [
        run_cell(at, entrant, seed + k, budget, points=POINTS[size], distances=POINTS[size] + 1)
        for name, entrant, _ in entrants
        for k, at in enumerate(judged[name])
    ]
    lows = lowest(bench, list(dict.fromkeys(at for group in judged.values() for at in group)))
    records = iter(bench.perform("runs", cells))
    runs = []
    for name, entrant, beside in entrants:
        own_records = [next(records) for _ in judged[name]]
        known = [min(lows[at], *record["loss"]) for at, record in zip(judged[name], own_records, strict=True)]
        runs.append(MethodRuns(name, entrant, own_records, known, float("nan"), taken[name, entrant.name], beside))
    return described(with_common_lows(runs), tried, _setting(size), (size, seed))


def _methods(name: str) -> tuple[str, ...]:
    """All; the formulas as written too where rows move, for elsewhere they are the same."""
    moving = PLACES[name].family in ("absolute-moving", "ridges", "coupled")
    return (*METHODS, LITERAL) if moving else METHODS


def _drawn(name: str, seed: int) -> Course:
    at = PLACES[name]
    return replace(at, seed=seed) if at.d else at


def kept_for_tuning(name: str, seed: int) -> Course:
    """Another draw of the problem, or where it is not drawn another start; a coordinate that is 0, at a kink, stays."""
    at = _drawn(name, seed)
    if at.d:
        return at
    by = np.random.default_rng([seed, 4]).uniform(-MOVED, MOVED, len(at.start))
    return replace(at, start=tuple(round(x + u, 3) if x else 0.0 for x, u in zip(at.start, by.tolist(), strict=True)))


def score(record: Mapping[str, Any], _low: float) -> float:
    """From 0 to 1 the part of the calls after which all bounds followed are at the target; above where the last is not.

    What is away is from 1 to 2, by its distance.
    """
    if record["stopped"] or not record["at"]:
        return FAILED
    last, certified = record["upper"][-1], record["certified"][-1] == 1
    if last <= TARGET and certified:
        return from_when(record, TARGET) / float(record["calls"][-1])
    return 1.0 + float(last / (1 + last))


JUDGED = Judging(
    fast=True, points=TUNING_POINTS, distances=TUNING_POINTS + 1, score=score,
    label="part of the calls until at the target, above 1 away from it",
)  # fmt: skip


def _setting(size: Size) -> Row:
    return {
        "calls of each method's oracle": CALLS[size], "noise seeds and draws": SEEDS[size],
        "Goldstein radius": RADIUS, "target of the distance": TARGET, "alpha at first": ALPHA,
        "first-step lengths tried": f"{LENGTHS[size][-1]:.3g} to {LENGTHS[size][0]:.3g}, two a decade",
        "trials of its numbers a method": trials(LENGTHS[size], ROUNDS[size]),
        "problems for tuning, not drawn and drawn": " and ".join(map(str, TUNING_SEEDS[size])),
        "tuned on": "other draws, or other starts of what is not drawn, by the distance and when it is at the target",
        "noise": "Gaussian on the quadratic terms, 0.01",
    }  # fmt: skip
