"""``f2csa experiment scaling``: work and time of a hypergradient and of a solve from d = 100 upwards.

Operations are counted first; seconds are of one run on one machine, and only their ratios are spoken of.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spec.formulas.powers import raised
from verify.evidence.charts import Plot, Series
from verify.experiments.costs import ACCURACY, ALGEBRAS, ALL, F2CSA, ITERATIVE, METHODS, PREPARED
from verify.experiments.curves import FittedPower, by, crossing, middle, power
from verify.experiments.model import Experiment, Finding, Row, Size
from verify.experiments.work_cells import Bench, Cell

Rows = Sequence[Mapping[str, Any]]

DIMENSIONS: dict[Size, tuple[int, ...]] = {
    "quick": (100, 200, 400, 800),
    "whole": (100, 200, 400, 1000, 2000, 4000, 8000),
}
LEAST_LARGEST = 400
"""Least dimension to stop at: powers of d take three sizes."""
BYTES = 160
"""Memory that the work at a dimension takes at its peak, in units of d²; measured: 9.9 GB at 8000."""
CONDITIONS: dict[Size, tuple[float, ...]] = {"quick": (10.0,), "whole": (10.0, 100.0)}
SEEDS: dict[Size, int] = {"quick": 1, "whole": 3}
LARGE, LARGE_SEEDS = 2000, 1
"""From this dimension on one seed is run: spreads have become small, and problems take seconds to make."""
SOLVED: dict[Size, int] = {"quick": 200, "whole": 2000}
"""Largest dimension at which whole solves are run."""
PRINTED_LARGEST = 4000
ASYMPTOTIC = 400
"""Powers of d are read off from here on: below, parts of lower order show."""


def dimensions(size: Size, largest: int) -> tuple[int, ...]:
    """Those that are run, up to the largest asked for."""
    return tuple(d for d in DIMENSIONS[size] if d <= largest)


def largest_within(memory: float) -> int:
    """The largest dimension whose work takes at most this memory, in bytes."""
    return max((d for d in DIMENSIONS["whole"] if d > LEAST_LARGEST and BYTES * d * d <= memory), default=LEAST_LARGEST)


def run(bench: Bench, size: Size, seed: int, *, largest: int = PRINTED_LARGEST) -> Experiment:
    """All cells up to the largest dimension asked for, then what they show."""
    places = list(_places(dimensions(size, largest), size, seed))
    rows = [
        row
        for answers in bench.perform(
            "hypergradients",
            [Cell("costs:hypergradients", place | {"timed": True, "methods": list(ALL)}) for place in places],
            timed=True,
        )
        for row in answers
    ]
    solved = [place for place in places if place["d"] <= SOLVED[size] and place["seed"] == seed]
    solves = [
        row
        for answers in bench.perform(
            "solves",
            [Cell("costs:solves", place | {"timed": True, "methods": list(ALL)}) for place in solved],
            timed=True,
        )
        for row in answers
    ]
    return described(rows, solves, size, seed)


def _places(dimensions: Sequence[int], size: Size, seed: int) -> Iterator[dict[str, Any]]:
    for condition in CONDITIONS[size]:
        for d in dimensions:
            for k in range(LARGE_SEEDS if d >= LARGE else SEEDS[size]):
                yield {"d": d, "condition": condition, "seed": seed + k}


class Curves:
    """One measure, ``operations`` or ``seconds``, of every method over d at one condition number, the median seed's."""

    def __init__(self, rows: Rows, condition: float, measure: str) -> None:
        self.condition = condition
        self.points: dict[str, dict[int, tuple[float, float, float]]] = {}
        for (method, d), group in by([r for r in rows if r["condition"] == condition], "method", "d").items():
            self.points.setdefault(method, {})[d] = middle([float(row[measure]) for row in group])
        self.dimensions = sorted(self.points[F2CSA])

    def values(self, method: str) -> list[float]:
        """Medians, in the order of ``dimensions``."""
        return [self.points[method][d][0] for d in self.dimensions]

    def growth(self, method: str) -> FittedPower:
        """The power of d that the method follows where d is large."""
        tail = [d for d in self.dimensions if d >= ASYMPTOTIC]
        tail = tail if len(tail) >= 3 else self.dimensions[-3:]
        return power(tail, [self.points[method][d][0] for d in tail])

    def crossing(self, method: str) -> float:
        """From which d on F2CSA takes less than this method; infinite if nowhere."""
        return crossing(self.dimensions, self.values(F2CSA), self.values(method))

    def ratio(self, method: str, d: int) -> float:
        """This method's over F2CSA's at a dimension; beyond what was run by both powers, where these differ."""
        low, high = self._gap(method)
        last = self.dimensions[-1]
        if d <= last or low <= 0 <= high:
            at = min(d, last)
            return self.points[method][at][0] / self.points[F2CSA][at][0]
        return self.ratio(method, last) * math.pow(d / last, self.growth(method).exponent - self.growth(F2CSA).exponent)

    def ratio_range(self, method: str, d: int) -> tuple[float, float]:
        """Least and largest ratio at a dimension, over the seeds and, beyond what was run, over the slopes there."""
        last = self.dimensions[-1]
        mine, theirs = self.points[method][min(d, last)], self.points[F2CSA][min(d, last)]
        low, high = self._gap(method)
        beyond = max(d / last, 1.0)
        return mine[1] / theirs[2] * math.pow(beyond, low), mine[2] / theirs[1] * math.pow(beyond, high)

    def _gap(self, method: str) -> tuple[float, float]:
        """Between which values this method's power of d exceeds F2CSA's."""
        mine, theirs = self.growth(method), self.growth(F2CSA)
        return mine.low - theirs.high, mine.high - theirs.low

    def series(self, names: Sequence[str] = METHODS) -> tuple[Series, ...]:
        """One curve a method, its band from the least to the largest seed's."""
        at = tuple(map(float, self.dimensions))
        curves = []
        for name in names:
            middles, lows, highs = zip(*(self.points[name][d] for d in self.dimensions), strict=True)
            curves.append(Series(name=name, x=at, y=middles, low=lows, high=highs))
        return tuple(curves)


def described(rows: Rows, solves: Rows, size: Size, seed: int) -> Experiment:
    """The experiment's data with what they show."""
    conditions = CONDITIONS[size]
    work = {condition: Curves(rows, condition, "operations") for condition in conditions}
    seconds = {condition: Curves(rows, condition, "seconds") for condition in conditions}
    least = conditions[0]
    return Experiment(
        name="scaling", title="What a hypergradient costs as the dimension grows",
        lead=_lead(work, seconds), size=size, seed=seed,
        setting={
            "dimensions": [*work[least].dimensions], "condition numbers": list(conditions),
            "relative error of every hypergradient": ACCURACY, "threads": 1,
        },
        sentences=tuple(_sentences(work, seconds, solves)),
        findings=tuple(_findings(work[least], seconds[least], rows)),
        plots=tuple(_plots(work, seconds, solves)),
        rows=(*_table(work, seconds), *(dict(row) for row in (*rows, *solves))),
    )  # fmt: skip


def _lead(work: Mapping[float, Curves], seconds: Mapping[float, Curves]) -> str:
    """Who wins, the rivals first where they do."""
    by_work, by_time = _range(work, PREPARED), _range(seconds, PREPARED)
    factored = [_range(work, name)[1] for name in ALGEBRAS if name != ITERATIVE]
    claim = (
        f"an implicit gradient that takes the factor its lower level was solved with needs {_times(by_work)} F2CSA's "
        f"operations and {_times(by_time)} the time of F2CSA's fast oracle"
    )
    who = (
        "A rival takes the fewest operations" if by_work[1] < 1 else
        "F2CSA takes the fewest operations" if by_work[0] > 1 else "Neither wins everywhere"
    )  # fmt: skip
    return (
        f"{who} of one hypergradient, both prepared: {claim}. Factorised anew at each point, as a plain page does, an "
        f"implicit gradient takes up to {max(factored):.3g} times F2CSA's operations at the largest d, and by "
        f"conjugate gradients, which factorise nothing, {_times(_range(work, ITERATIVE))}."
    )


def _range(curves: Mapping[float, Curves], name: str) -> tuple[float, float]:
    """Least and largest ratio of a method to F2CSA over all that was run."""
    ratios = [each.ratio(name, d) for each in curves.values() for d in each.dimensions]
    return min(ratios), max(ratios)


def crossings(rows: Rows, condition: float, method: str) -> tuple[float, float]:
    """Where F2CSA's operations fall below a method's, least and largest over the seeds.

    A seed that is not run at every dimension counts as far as it goes.
    """
    places = []
    for group in by([row for row in rows if row["condition"] == condition], "seed").values():
        curves = Curves(group, condition, "operations")
        if len(curves.dimensions) > 1:
            places.append(curves.crossing(method))
    return min(places), max(places)


def _times(between: tuple[float, float]) -> str:
    low, high = (f"{value:.2f}" for value in between)
    return f"{low} times" if low == high else f"{low} to {high} times"


def _sentences(work: Mapping[float, Curves], seconds: Mapping[float, Curves], solves: Rows) -> Iterator[str]:
    for condition, curves in work.items():
        growth = curves.growth(F2CSA)
        places = ", ".join(
            f"{name.removeprefix('implicit, ')} at {_place(curves.crossing(name), curves)} in operations and "
            f"{_place(seconds[condition].crossing(name), seconds[condition])} in time"
            for name in ALGEBRAS
        )
        yield (
            f"Condition number {condition:g}: F2CSA's operations grow like {_power(growth.exponent)}, and they fall "
            f"below those of implicit gradients by {places}."
        )
    yield (
        "Time is processor time of one thread: of F2CSA by the fast oracle; of the prepared implicit gradient by its "
        "oracle, the factor at hand; of the others by the pages' linear algebra with structure found once. All are "
        "given the lower level's solution."
    )
    yield (
        "The paper's 7.7, 22.6 and 22.0 s at d = 4000 are of a scope that its text does not state, so that they stand "
        "on no axis here."
    )
    if solves:
        largest = max(int(row["d"]) for row in solves)
        share = [
            float(row["lower_seconds"]) / (float(row["lower_seconds"]) + float(row["seconds"]))
            for row in solves
            if row["d"] == largest and row["method"] == F2CSA
        ]
        yield (
            f"Of a whole solve's time at d = {largest} with F2CSA's hypergradient, the lower level that all methods "
            f"share takes {100 * max(share):.0f} %."
        )


def _table(work: Mapping[float, Curves], seconds: Mapping[float, Curves]) -> Iterator[Row]:
    """Every method over F2CSA at the largest dimension, by condition number."""
    for name in ALL:
        row: Row = {"method, over F2CSA": name}
        for condition, curves in work.items():
            d = curves.dimensions[-1]
            if name in curves.points:
                row[f"operations, d = {d}, condition {condition:g}"] = round(curves.ratio(name, d), 3)
                row[f"time, d = {d}, condition {condition:g}"] = round(seconds[condition].ratio(name, d), 3)
        yield row


def _power(exponent: float) -> str:
    return raised("d", round(exponent, 2))


def _place(d: float, curves: Curves) -> str:
    least = curves.dimensions[0]
    return "no dimension" if math.isinf(d) else f"d < {least}" if d < least else f"d ≈ {d:.0f}"


def _findings(work: Curves, seconds: Curves, rows: Rows) -> Iterator[Finding]:
    least = work.condition
    growth, timed = work.growth(F2CSA), seconds.growth(F2CSA)
    yield Finding(
        statement="scaling-experiment/growth", quantity="power of d of F2CSA's operations", measured=growth.exponent,
        interval=(growth.low, growth.high),
        sentence=f"F2CSA's cost is not near-linear on dense data: {_power(growth.exponent)} in operations, "
        f"{_power(timed.exponent)} in time.",
    )  # fmt: skip
    full = work.growth("implicit, full Cholesky")
    products = work.growth("implicit, conjugate gradients")
    yield Finding(
        statement="scaling-experiment/hessian-growth", quantity="power of d of a full Cholesky's operations",
        measured=full.exponent, interval=(full.low, full.high),
        sentence=f"A Hessian-based hypergradient grows like {_power(full.exponent)} where it factorises and like "
        f"{_power(products.exponent)} where it does not.",
    )  # fmt: skip
    places = {name: work.crossing(name) for name in ALGEBRAS}
    yield Finding(
        statement="scaling-experiment/crossover", quantity="dimension from which F2CSA takes less than full Cholesky",
        measured=places["implicit, full Cholesky"], interval=crossings(rows, least, "implicit, full Cholesky"),
        sentence="The crossing is no property of the methods: "
        + ", ".join(f"{name.removeprefix('implicit, ')}: {_place(at, work)}" for name, at in places.items()) + ".",
    )  # fmt: skip
    ratios = {name: work.ratio(name, PRINTED_LARGEST) for name in ALGEBRAS}
    run_there = PRINTED_LARGEST in work.dimensions
    yield Finding(
        statement="scaling-experiment", quantity="full Cholesky's operations over F2CSA's at d = 4000",
        measured=ratios["implicit, full Cholesky"],
        interval=work.ratio_range("implicit, full Cholesky", PRINTED_LARGEST),
        sentence=f"At d = 4000{'' if run_there else ', carried on by the powers of d,'} a rival takes from "
        f"{min(ratios.values()):.2g} to {max(ratios.values()):.3g} times F2CSA's operations, by its linear algebra; "
        "the paper prints a factor of 3 in time.",
    )  # fmt: skip
    yield Finding(
        statement="scaling-experiment/fair-baseline",
        quantity="largest over least operations among the rivals' linear algebras at d = 4000",
        measured=max(ratios.values()) / min(ratios.values()),
        sentence="How a rival solves its linear system decides the comparison, and the paper does not say it.",
    )


def _plots(work: Mapping[float, Curves], seconds: Mapping[float, Curves], solves: Rows) -> Iterator[Plot]:
    d_axis = "dimension d"
    for condition, curves in work.items():
        yield Plot(title=f"Operations of one hypergradient, condition number {condition:g}", x_label=d_axis,
                   y_label="floating-point operations", series=curves.series(ALL), log_x=True, log_y=True)  # fmt: skip
    for condition, curves in seconds.items():
        yield Plot(title=f"Time of one hypergradient, condition number {condition:g}", x_label=d_axis,
                   y_label="seconds, one thread", series=curves.series(ALL), log_x=True, log_y=True)  # fmt: skip
    if solves:
        for condition in work:
            curves = Curves(solves, condition, "seconds")
            if len(curves.dimensions) > 1:
                yield Plot(title=f"Time of a solve without its lower level, condition number {condition:g}",
                           x_label=d_axis, y_label="seconds, one thread", series=curves.series(ALL), log_x=True,
                           log_y=True)  # fmt: skip
