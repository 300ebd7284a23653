"""``f2csa experiment convergence``: loss and stationarity at d = 50, on equal work and in equal time.

Every method gets the same problems, start, noise seeds, lower-level solver and budget, and two numbers tuned by one
protocol. The coupled variant, whose box moves with x, is ours: where A = 0 the formulas as written and repaired agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from verify.experiments.bench import Bench, Cell
from verify.experiments.budgeted_run import TIMED_CALLS
from verify.experiments.contenders import (
    ALPHA,
    DSBLO,
    DSBLO_2,
    F2CSA,
    LITERAL,
    PARENT,
    PIGD,
    PRINTED_BETA,
    PRINTED_ETA,
    PRINTED_F2CSA,
    PRINTED_SSIGD,
    SSIGD,
    ZEROTH,
    Contender,
)  # fmt: skip
from verify.experiments.convergence_words import described
from verify.experiments.courses import Course
from verify.experiments.method_runs import MethodRuns, with_common_lows
from verify.experiments.model import Experiment, Row, Size
from verify.experiments.tuning import LENGTHS, TUNING_SEED, Budget, Judging, Tuned, lowest, run_cell, trials, tuned

D, RADIUS = 50, 0.1
BUDGET: dict[Size, Budget] = {"quick": Budget(1_300.0), "whole": Budget(6_500.0)}
SEEDS: dict[Size, int] = {"quick": 2, "whole": 5}
TUNING_SEEDS: dict[Size, int] = {"quick": 3, "whole": 3}
CONDITIONS: dict[Size, tuple[float, ...]] = {"quick": (10.0,), "whole": (10.0, 100.0, 1000.0)}
COUPLED = "moving box"
POINTS = 24
DISTANCES: dict[Size, int] = {"quick": 4, "whole": 6}
"""Moments at which stationarity is followed, of the first seed; of the others at the end alone."""
ALPHAS: dict[Size, tuple[float, ...]] = {"quick": (), "whole": (0.2, 0.05)}
"""Further α, at which F2CSA and its formulas as written are run on the coupled variant."""


def run(bench: Bench, size: Size, seed: int) -> Experiment:
    """All cells, then what they show."""
    variants = {_named(condition): ("paper", condition) for condition in CONDITIONS[size]}
    variants[COUPLED] = ("coupled", CONDITIONS[size][0])
    methods = {variant: _methods(variant, size) for variant in variants}

    def courses(variant: str, first: int, count: int) -> list[Course]:
        family, condition = variants[variant]
        return [Course(family, RADIUS, D, condition, first + k) for k in range(count)]

    for_tuning = {variant: courses(variant, seed + TUNING_SEED, TUNING_SEEDS[size]) for variant in variants}
    taken, tried = tuned(bench, for_tuning, methods, BUDGET[size], LENGTHS[size], Judging())
    judged = {variant: courses(variant, seed, SEEDS[size]) for variant in variants}
    entrants = [
        (variant, entrant) for variant in variants for entrant in _entrants(variant, taken, methods[variant], size)
    ]
    lows = lowest(bench, [at for group in judged.values() for at in group])
    cells = [
        run_cell(at, entrant, seed + k, BUDGET[size], points=POINTS, distances=DISTANCES[size] if k == 0 else 1)
        for variant, entrant in entrants
        for k, at in enumerate(judged[variant])
    ]
    records = iter(bench.perform("runs", cells))
    timed = bench.perform(
        "seconds of a call",
        [
            Cell("budgeted_run:seconds_of_a_call",
                 {"course": judged[variant][0].plain, "contender": asdict(entrant), "seed": seed})
            for variant, entrant in entrants
        ],
        timed=True,
    )  # fmt: skip
    runs = []
    for (variant, entrant), seconds in zip(entrants, timed, strict=True):
        group = judged[variant]
        found = [next(records) for _ in group]
        known = [min(lows[at], *record["loss"]) for at, record in zip(group, found, strict=True)]
        choice = taken.get((variant, entrant.name)) if entrant.alpha == ALPHA else None
        runs.append(MethodRuns(variant, entrant, found, known, float(seconds), choice))
    return described(with_common_lows(runs), tried, _setting(size), size, seed)


def _named(condition: float) -> str:
    return f"condition {condition:g}"


def _methods(variant: str, size: Size) -> list[str]:
    names = [F2CSA, SSIGD, DSBLO, DSBLO_2, PIGD, PARENT]
    return [*names, *([ZEROTH] if size == "whole" else []), *([LITERAL] if variant == COUPLED else [])]


def _entrants(
    variant: str, taken: Mapping[tuple[str, str], Tuned], names: Sequence[str], size: Size
) -> Iterator[Contender]:
    """Every method with its pair; on the paper's family the printed step sizes; on the coupled one further α."""
    for name in names:
        yield taken[variant, name].contender(name)
    if variant != COUPLED:
        yield Contender(PRINTED_F2CSA, taken[variant, F2CSA].length, eta=PRINTED_ETA)
        yield Contender(PRINTED_SSIGD, taken[variant, SSIGD].length, beta=PRINTED_BETA)
        return
    for alpha in ALPHAS[size]:
        for name in (F2CSA, LITERAL):
            yield taken[variant, name].contender(name, alpha=alpha)


def _setting(size: Size) -> Row:
    return {
        "dimension": D, "budget, products with a 50 x 50 block": BUDGET[size].size,
        "problems and noise seeds": SEEDS[size],
        "problems for tuning": TUNING_SEEDS[size], "Goldstein radius": RADIUS, "alpha": ALPHA,
        "first-step lengths tried": f"{LENGTHS[size][-1]:.3g} to {LENGTHS[size][0]:.3g}, two a decade",
        "pairs of length and further number tried a method": trials(LENGTHS[size]),
        "tuned on": "other draws of the problem, by the share of the fall left",
        "start": "the origin", "noise": "Gaussian on the quadratic terms, 0.01", "threads": 1,
        "calls timed": TIMED_CALLS,
    }  # fmt: skip
