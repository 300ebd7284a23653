"""Small runs on the experiment's family at d = 50: whether the methods end at similar losses, and F2CSA steadily."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from f2csa_ref.algorithm_1 import OracleCall
from f2csa_ref.solver.schedules import estimate_constants, schedule
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.evidence.charts import Plot, Series
from verify.experiments.benchmark_problems import Course
from verify.experiments.budgeted_run import Unit
from verify.experiments.compared_methods import (
    ALPHA,
    DSBLO_2,
    F2CSA,
    PRINTED_BETA,
    PRINTED_ETA,
    PRINTED_F2CSA,
    SSIGD,
    Contender,
)  # fmt: skip
from verify.experiments.convergence_words import NAMED, SIMILAR
from verify.experiments.tuning import TUNING_SEED, Budget, Judging, lowest, run_cell, share, tuned
from verify.experiments.work_cells import Bench

DIMENSION, CONDITION, RADIUS = 50, 10.0, 0.1
WORK = Budget(1_500.0)
TUNED_ON, JUDGED_ON = 3, 5
"""Draws of the family that the methods are tuned on, and others that they are judged on."""
LATE = 2 / 3
"""From this share of a run's work on, F counts towards its end."""
LENGTHS = (1.0, 0.316, 0.1)
PRINTED_CALLS = 10**6
"""How long the runs with the printed step sizes may be, which the text does not say."""
PRINTED_REACH, FEWER = 2 * PRINTED_BETA * math.sqrt(PRINTED_CALLS), 40
"""What SSIGD's steps sum to by then, with the slower of the usual laws, and in how many equal ones they are taken."""
ADAPTED, ADAPTED_CALLS = 0.316, 60
"""DS-BLO's first step, for its adaptive rule is not printed, and its calls."""
STEADY_D, STEADY_CALLS = 0.0025, 3000
"""In the text's favour: a loop without friction swings about a minimum by about D²/(2η), here below the noise."""
DERIVED_CALLS = 200
POINTS = 12
"""Moments of a run at which F is drawn, the last its end."""
NOISES = 3.0
"""Standard deviations of the difference of two sampled values that a rise may have."""
ARRIVED = 0.1
"""Of the fall to the lowest F known, no more than this is left where a loss has come down to its final level."""
Record = Mapping[str, Any]


def _course(seed: int, scale: str = "1") -> Course:
    return Course("paper", RADIUS, DIMENSION, CONDITION, seed, upper_scale=int(scale))


def _runs(at: Course, entrants: Sequence[Contender], budget: Budget, seed: int, points: int = 1) -> list[Record]:
    cells = [run_cell(at, entrant, seed, budget, points=points) for entrant in entrants]
    return Bench(None, {}).perform("runs", cells)


def apart(falls: Sequence[float]) -> float:
    """Largest over least fall of F; infinite where a method has not fallen."""
    return max(falls) / min(falls) if min(falls) > 0 else math.inf


@check("convergence-experiment", instances=("experiment-5d",))
def final_losses(case: Case) -> Measurement:
    """How far apart the falls of F of the three methods are, on draws of the family at d = 50."""
    return _as_printed(_course(case.seed, case.sense.upper_scale)) if case.as_written else _tuned_alike(case.seed)


def _as_printed(at: Course) -> Measurement:
    """The three methods with the printed step sizes, each with as many calls as serve it.

    F2CSA arrives with a small D; SSIGD's short steps are taken a few at a time; DS-BLO adapts its own.
    """
    entries = [
        (Contender(PRINTED_F2CSA, STEADY_D, eta=PRINTED_ETA, fast=True), STEADY_CALLS),
        (Contender(SSIGD, PRINTED_REACH / FEWER * at.first_gradient), FEWER),
        (Contender(DSBLO_2, ADAPTED), ADAPTED_CALLS),
    ]
    records = [_runs(at, [entrant], Budget(calls, "calls"), at.seed, POINTS)[0] for entrant, calls in entries]
    values: dict[str, float | str] = {
        f"fall of F, {entrant.name}, first step {entrant.length:.3g}, {record['calls'][-1]:.0f} calls":
            record["loss"][0] - record["loss"][-1]
        for (entrant, _), record in zip(entries, records, strict=True)
    }  # fmt: skip
    quantity = (
        f"largest over least fall of F, matrices of f times {at.upper_scale}, SSIGD given the way of {PRINTED_CALLS:,} "
        f"steps β/√r, taken in {FEWER}"
    )
    note = (
        "Independent Gaussian entries give no lower level at d = 50: the draw is the positive definite one. "
        f"SSIGD's steps β/√r sum to {PRINTED_REACH:g} in {PRINTED_CALLS:,} calls; so do those of the run shown."
    )
    many = f", {PRINTED_CALLS // FEWER:,} printed steps a call"
    names = [entrant.name + many * (entrant.name == SSIGD) for entrant, _ in entries]
    evidence = compare(quantity, apart([_fall(record, 1.0) for record in records]), "<=", 1 + SIMILAR)
    return Measurement((evidence,), values, note, pictures=(_picture(names, records, "calls"),))


def _tuned_alike(seed: int) -> Measurement:
    """Every method tuned on problems kept for it, judged on others: the median over these, so that none decides alone.

    A method without friction swings about its end, so F is the mean over the last third of its work. Trials are scored
    as runs are judged, at the same moments: a step that throws F far up on its way has failed in both.
    """
    courses = [_course(seed + TUNING_SEED + k) for k in range(TUNED_ON)]
    taken, _ = tuned(Bench(None, {}), {"": courses}, {"": NAMED}, WORK, LENGTHS, Judging(points=POINTS, score=_left))
    entrants = [taken["", name].contender(name) for name in NAMED]
    drawn = [_course(seed + k) for k in range(JUDGED_ON)]
    lows = lowest(Bench(None, {}), drawn)
    ratios, remains, runs = [], [], []
    values: dict[str, float | str] = {}
    for at in drawn:
        records = _runs(at, entrants, WORK, at.seed, POINTS)
        runs.append(records)
        falls = [_fall(record, LATE) for record in records]
        low = min(lows[at], *(loss for record in records for loss in record["loss"]))
        first = float(records[0]["loss"][0])
        ratios.append(apart(falls))
        remains.append(max(share(first - fall, first, low) for fall in falls))
        values |= {
            f"fall of F, {entrant.name}, first step {entrant.length:.3g}, draw {at.seed}": fall
            for entrant, fall in zip(entrants, falls, strict=True)
        }
    over = f", median over {JUDGED_ON} draws"
    picture = _picture([entrant.name for entrant in entrants], runs[0], "products")
    return Measurement(
        (
            compare(f"largest over least fall of F on equal work{over}", median(ratios), "<=", 1 + SIMILAR),
            compare(f"largest share left of the way to the lowest F known{over}", median(remains), "<=", ARRIVED),
        ),
        values | {f"largest over least fall, draw {at.seed}": ratio for at, ratio in zip(drawn, ratios, strict=True)},
        pictures=(picture,),
    )  # fmt: skip


def _fall(record: Record, share_of_work: float) -> float:
    """How far F has fallen, by its mean over the last part of the run's work; 0 where the run failed."""
    if record["stopped"]:
        return 0.0
    losses, work = np.array(record["loss"]), np.array(record["products"])
    return float(losses[0] - losses[work >= share_of_work * work[-1]].mean())


def _left(record: Record, low: float) -> float:
    """The share of the way to ``low`` that a trial leaves, by the mean over the last part of its work."""
    if record["stopped"]:
        return math.inf
    first = float(record["loss"][0])
    return share(first - _fall(record, LATE), first, low)


def _picture(names: Sequence[str], records: Sequence[Record], unit: Unit) -> Plot:
    """F along each method's run; the start, at no work, is left out of a logarithmic axis."""
    series = [
        Series(name=name, x=tuple(record[unit][1:]), y=tuple(record["loss"][1:]))
        for name, record in zip(names, records, strict=True)
    ]
    label = {"calls": "oracle calls", "products": "work, products with a matrix of 50²"}[unit]
    return Plot(
        title="F along one run of each method, d = 50", x_label=label, y_label="F(x), units of f",
        series=tuple(series), log_x=True,
    )  # fmt: skip


@check("convergence-experiment/stable", instances=("experiment-5d",))
def steady_fall(case: Case) -> Measurement:
    """The largest rise of F along a run of F2CSA beside the noise of a sampled value, and how far down it comes."""
    at = _course(case.seed, case.sense.upper_scale)
    if case.as_written:
        entrant, calls = Contender(PRINTED_F2CSA, STEADY_D, eta=PRINTED_ETA, fast=True), STEADY_CALLS
    else:
        entrant, calls = derived(at, DERIVED_CALLS)
    (record,) = _runs(at, [entrant], Budget(calls, "calls"), case.seed, points=25)
    losses, low = np.array(record["loss"]), min(*lowest(Bench(None, {}), [at]).values(), *record["loss"])
    rise = float(np.max(losses - np.minimum.accumulate(losses)))
    noise = NOISES * math.sqrt(2) * record["noise"]
    remains = math.inf if record["stopped"] else share(float(losses[-1]), float(losses[0]), low)
    values: dict[str, float | str] = {
        "D": entrant.length, "calls": record["calls"][-1],
        "F at first": float(losses[0]), "F at last": float(losses[-1]),
        "lowest F known": low, "swing D²/(2η)": entrant.length**2 / (2 * entrant.eta) if entrant.eta else math.nan,
    }  # fmt: skip
    return Measurement(
        (
            compare("largest rise of F above the lowest value before it", rise, "<=", noise),
            compare("share of the fall to the lowest F known that is left at the end", remains, "<=", ARRIVED),
        ),
        values,
        f"{NOISES:g} standard deviations of the difference of two sampled values of F are noise.",
    )


def derived(at: Course, calls: int) -> tuple[Contender, int]:
    """F2CSA with D and η of the budget's schedule, and its number of calls."""
    constants = estimate_constants(at.objectives, at.x_0, OracleCall(ALPHA), rng=np.random.default_rng([at.seed, 1]))
    parameters = schedule("budget", constants, goldstein_radius=RADIUS, calls=calls)
    return Contender(F2CSA, parameters.D, eta=parameters.eta, fast=True), parameters.T
