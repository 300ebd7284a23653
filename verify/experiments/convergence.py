"""``f2csa experiment convergence``: loss and stationarity at d = 50, on equal work and in equal time.

Every method runs at its best implementation, and beside it as its plain page; it gets the same problems, start, noise
seeds and budget, and as many trials for its numbers, its own among them (α, N_g and the inner residual of F2CSA).
The coupled variant, whose box moves with x, is ours: where A = 0 the formulas as written and repaired agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from verify.experiments.benchmark_problems import Course
from verify.experiments.budgeted_run import TIMED_CALLS
from verify.experiments.compared_methods import (
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
from verify.experiments.method_runs import MethodRuns, with_common_lows
from verify.experiments.model import Experiment, Row, Size
from verify.experiments.tuning import LENGTHS, TUNING_SEED, Budget, Judging, Tuned, lowest, run_cell, trials, tuned
from verify.experiments.work_cells import Bench, Cell

D, RADIUS = 50, 0.1
BUDGET: dict[Size, Budget] = {"quick": Budget(1_300.0), "whole": Budget(6_500.0)}
SEEDS: dict[Size, int] = {"quick": 2, "whole": 5}
TUNING_SEEDS: dict[Size, int] = {"quick": 3, "whole": 3}
CONDITIONS: dict[Size, tuple[float, ...]] = {"quick": (10.0,), "whole": (10.0, 100.0, 1000.0)}
COUPLED = "moving box"
POINTS = 24
DISTANCES: dict[Size, int] = {"quick": 4, "whole": 6}
"""Moments at which stationarity is followed, of the first seed; of the others at the end alone."""
ALPHAS: dict[Size, tuple[float, ...]] = {"quick": (), "whole": (0.2, 0.1, 0.05)}
"""Values of α at which F2CSA and its formulas as written are run on the coupled variant beside."""
ROUNDS: dict[Size, int] = {"quick": 2, "whole": 6}
"""Single trials that follow those of a method's own numbers, past an end of what was tried or between."""
PAGE, AT_ALPHA = "page", "alpha"


def run(bench: Bench, size: Size, seed: int) -> Experiment:
    """All cells, then what they show."""
    variants = {_named(condition): ("paper", condition) for condition in CONDITIONS[size]}
    variants[COUPLED] = ("coupled", CONDITIONS[size][0])
    methods = {variant: _methods(variant, size) for variant in variants}

    def courses(variant: str, first: int, count: int) -> list[Course]:
        family, condition = variants[variant]
        return [Course(family, RADIUS, D, condition, first + k) for k in range(count)]

    for_tuning = {variant: courses(variant, seed + TUNING_SEED, TUNING_SEEDS[size]) for variant in variants}
    best = Judging(rounds=ROUNDS[size], fast=True)
    taken, tried = tuned(bench, for_tuning, methods, BUDGET[size], LENGTHS[size], best)
    # A page has the lengths of the grid on the first problem, and the other numbers of its method at its best.
    first, pages = {variant: group[:1] for variant, group in for_tuning.items()}, Judging(further=False, given=taken)
    paged, tried_too = tuned(bench, first, methods, BUDGET[size], LENGTHS[size], pages)
    judged = {variant: courses(variant, seed, SEEDS[size]) for variant in variants}
    entrants = [entry for variant in variants for entry in _entrants(variant, taken, paged, methods[variant], size)]
    lows = lowest(bench, [at for group in judged.values() for at in group])
    cells = [
        run_cell(at, entrant, seed + k, BUDGET[size], points=POINTS,
                 distances=DISTANCES[size] if k == 0 and not beside else 1)
        for variant, entrant, _, beside in entrants
        for k, at in enumerate(judged[variant])
    ]  # fmt: skip
    records = iter(bench.perform("runs", cells))
    timed = bench.perform(
        "seconds of a call",
        [
            Cell("budgeted_run:seconds_of_a_call",
                 {"course": judged[variant][0].plain, "contender": asdict(entrant), "seed": seed})
            for variant, entrant, *_ in entrants
        ],
        timed=True,
    )  # fmt: skip
    runs = []
    for (variant, entrant, choice, beside), seconds in zip(entrants, timed, strict=True):
        group = judged[variant]
        own_records = [next(records) for _ in group]
        known = [min(lows[at], *record["loss"]) for at, record in zip(group, own_records, strict=True)]
        runs.append(MethodRuns(variant, entrant, own_records, known, float(seconds), choice, beside))
    return described(with_common_lows(runs), [*tried, *tried_too], _setting(size), size, seed)


def _named(condition: float) -> str:
    return f"condition {condition:g}"


def _methods(variant: str, size: Size) -> list[str]:
    names = [F2CSA, SSIGD, DSBLO, DSBLO_2, PIGD, PARENT]
    return [*names, *([ZEROTH] if size == "whole" else []), *([LITERAL] if variant == COUPLED else [])]


Entry = tuple[str, Contender, Tuned | None, str]
"""A problem, who runs there, what was tuned, and what it stands beside."""


def _entrants(
    variant: str, taken: Mapping[tuple[str, str], Tuned], paged: Mapping[tuple[str, str], Tuned],
    names: Sequence[str], size: Size,
) -> Iterator[Entry]:  # fmt: skip
    """Every method at its best and as its page; the printed step sizes on the paper's family, given α on the other."""
    for name in names:
        best, page = taken[variant, name], paged[variant, name]
        yield variant, best.contender(name, fast=True), best, ""
        yield variant, page.contender(name), page, PAGE
    if variant != COUPLED:
        length = taken[variant, F2CSA].length
        yield variant, Contender(PRINTED_F2CSA, length, eta=PRINTED_ETA, fast=True), None, ""
        length = taken[variant, SSIGD].length
        yield variant, Contender(PRINTED_SSIGD, length, beta=PRINTED_BETA, fast=True), None, ""
        return
    for alpha in ALPHAS[size]:
        for name in (F2CSA, LITERAL):
            choice = taken[variant, name]
            yield variant, Contender(name, choice.length, alpha, further=choice.further, fast=True), None, AT_ALPHA


def _setting(size: Size) -> Row:
    return {
        "dimension": D, "budget, products with a 50 x 50 block": BUDGET[size].size,
        "problems and noise seeds": SEEDS[size],
        "problems for tuning": TUNING_SEEDS[size], "Goldstein radius": RADIUS, "alpha at first": ALPHA,
        "first-step lengths tried": f"{LENGTHS[size][-1]:.3g} to {LENGTHS[size][0]:.3g}, two a decade",
        "trials of its numbers a method": trials(LENGTHS[size], ROUNDS[size]),
        "trials of its length a page, on the first of these problems": len(LENGTHS[size]),
        "tuned on": "other draws of the problem, by the share of the fall left",
        "start": "the origin", "noise": "Gaussian on the quadratic terms, 0.01", "threads": 1,
        "calls timed": TIMED_CALLS,
    }  # fmt: skip
