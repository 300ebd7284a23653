"""The finished runs of one method on one problem, by seed, and what is read off them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verify.evidence.charts import Series
from verify.experiments.compared_methods import DSBLO, DSBLO_2, Contender, keeps_theorem
from verify.experiments.model import Row
from verify.experiments.tuning import OPEN_ENDS, Tuned, left, share

LEAST_SHOWN = 1e-9
"""Shares of the fall below this are drawn here: rounding of F is not far."""


@dataclass(frozen=True)
class MethodRuns:
    """One record a seed, with the lowest F known of each problem, and seconds of a call.

    ``tuned`` is the choice of its numbers; ``None`` where that is printed, or borrowed from another run. ``beside`` is
    empty of the runs that are compared; ``page`` of a method's plain page, ``alpha`` of runs at a given α.
    """

    variant: str
    entrant: Contender
    records: list[Mapping[str, Any]]
    lows: list[float]
    seconds: float
    tuned: Tuned | None = None
    beside: str = ""

    @property
    def name(self) -> str:
        """The method's."""
        return self.entrant.name

    @property
    def left(self) -> list[float]:
        """The share of the fall left at the end, by seed; infinite of runs that failed."""
        return [left(record, low) for record, low in zip(self.records, self.lows, strict=True)]

    @property
    def middle_left(self) -> float:
        """Its median."""
        return float(np.median(self.left))

    @property
    def falls(self) -> list[float]:
        """By how much F has fallen at the end, by seed; 0 of runs that failed."""
        return [0.0 if record["stopped"] else float(record["loss"][0] - record["loss"][-1]) for record in self.records]

    @property
    def whole_time(self) -> float:
        """Seconds in which the budget of work is spent, the median seed's."""
        return float(np.median([record["calls"][-1] for record in self.records])) * self.seconds

    def left_after(self, seconds: float) -> list[float]:
        """The share of the fall left when so many seconds have passed, by seed."""
        shares = []
        for record, low in zip(self.records, self.lows, strict=True):
            within = [i for i, calls in enumerate(record["calls"]) if calls * self.seconds <= seconds * (1 + 1e-9)]
            within = within or [0]  # no call could be timed: it failed at its first
            first, there = record["loss"][0], record["loss"][within[-1]]
            failed = record["stopped"] and within[-1] == len(record["calls"]) - 1
            shares.append(math.inf if failed else share(there, first, low))
        return shares

    def held_at(self, part: float) -> float:
        """Active rows over the size of y when this part of the work is spent, the median seed's."""
        shares = []
        for record in self.records:
            spent = part * record["products"][-1]
            shares.append(next(h for h, at in zip(record["held"], record["products"], strict=True) if at >= spent))
        return float(np.median(shares))

    def series(self, over: str, label: str = "") -> Series | None:
        """The share left over ``products`` or ``seconds``: median, least and largest seed; ``None`` if all failed."""
        points = min(len(record["loss"]) - bool(record["stopped"]) for record in self.records)
        if points < 3:
            return None
        shares = [
            [max(LEAST_SHOWN, share(loss, record["loss"][0], low)) for loss in record["loss"][1:points]]
            for record, low in zip(self.records, self.lows, strict=True)
        ]
        axis = "products" if over == "products" else "calls"
        at = np.median([record[axis][1:points] for record in self.records], axis=0)
        at = at * self.seconds if over == "seconds" else at
        return Series(
            name=label or self.name, x=_plain(at), y=_plain(np.median(shares, axis=0)),
            low=_plain(np.min(shares, axis=0)), high=_plain(np.max(shares, axis=0)),
        )  # fmt: skip

    def distances(self, least: float, over: str = "products", lane: float = 1.0) -> Series | None:
        """The upper bound of dist(0, ∂_δF): the median of the seeds for which it is followed.

        What is below ``least`` is drawn at ``least`` times ``lane``, which keeps methods that are there apart.
        """
        followed = [record for record in self.records if len(record["at"]) > 2]
        points = min((len(record["at"]) for record in followed), default=0)
        if not points:
            return None
        at = [[record[over][int(i)] for i in record["at"][1:points]] for record in followed]
        upper = np.median([record["upper"][1:points] for record in followed], axis=0)
        return Series(
            name=self.name, x=_plain(np.median(at, axis=0)), y=_plain(np.where(upper < least, least * lane, upper))
        )

    def rows(self, first_seed: int) -> Iterator[Row]:
        """One line a recorded point."""
        for k, (record, low) in enumerate(zip(self.records, self.lows, strict=True)):
            bounds = {int(i): j for j, i in enumerate(record["at"])}
            for i, calls in enumerate(record["calls"]):
                j = bounds.get(i)
                yield {
                    "problem": self.variant, "method": self.name, "alpha": self.entrant.used_alpha,
                    "implementation": "prepared" if self.entrant.fast else "page",
                    "first-step length": self.entrant.length,
                    "further number": self.entrant.told, "seed": first_seed + k, "calls": int(calls),
                    "products": record["products"][i],
                    "seconds": None if math.isnan(self.seconds) else calls * self.seconds, "F": record["loss"][i],
                    "share of the fall left": share(record["loss"][i], record["loss"][0], low),
                    "distance, lower": None if j is None else record["lower"][j],
                    "distance, upper": None if j is None else record["upper"][j],
                    "lower bound certified": None if j is None else bool(record["certified"][j]),
                    "active rows over size of y": record["held"][i],
                    "failed": record["stopped"] if i == len(record["calls"]) - 1 else "",
                }  # fmt: skip


def with_common_lows(runs: Sequence[MethodRuns]) -> list[MethodRuns]:
    """The same, each problem's lowest F that of all runs on it."""
    groups: dict[str, list[list[float]]] = {}
    for one in runs:
        groups.setdefault(one.variant, []).append(one.lows)
    common = {variant: [min(lows) for lows in zip(*group, strict=True)] for variant, group in groups.items()}
    return [replace(one, lows=common[one.variant]) for one in runs]


def tuned_pairs(groups: Mapping[str, Mapping[str, MethodRuns]]) -> Iterator[Row]:
    """Method by problem: the length and the further number that were taken."""
    for name in dict.fromkeys(name for group in groups.values() for name in group):
        row: Row = {"tuned method": name}
        for variant, group in groups.items():
            one = group.get(name)
            pair = one is not None and one.tuned is not None
            row[variant] = f"{one.entrant.length:.3g}; {one.entrant.told}" if one is not None and pair else ""
        if any(value for column, value in row.items() if column != "tuned method"):
            yield row


def freed_memory(groups: Mapping[str, Mapping[str, MethodRuns]], setting: Row) -> Iterator[str]:
    """On which problems DS-BLO's tuned pairs keep the relation of its theorem."""
    radius = setting.get("Goldstein radius")
    if not isinstance(radius, float):
        return
    pairs = [(v, one.entrant) for v, group in groups.items() for one in group.values() if one.name in (DSBLO, DSBLO_2)]
    names = [f"{entrant.name} on {variant}" for variant, entrant in pairs if keeps_theorem(entrant, radius)]
    yield (
        "DS-BLO's theorem ties β to γ₁ = K/δ with a memory of K ≥ 1 steps; of its tuned pairs "
        f"{joined(names) if names else 'none'} {'keeps' if len(names) < 2 else 'keep'} this, the others have β tuned "
        "freely of γ₁, or K = 1 where δγ₁ < 1."
    )


def further_at_ends(groups: Mapping[str, Mapping[str, MethodRuns]]) -> Iterator[str]:
    """Whose further number is the last of those tried."""
    ends = [
        f"{one.name} on {variant} ({one.entrant.told})"
        for variant, group in groups.items()
        for one in group.values()
        if one.tuned is not None and one.entrant.further in OPEN_ENDS.get(one.name, ())
    ]
    if ends:
        yield f"At an end of the further numbers tried, so that the best may lie beyond: {', '.join(ends)}."


def joined(parts: Sequence[str]) -> str:
    """``a, b and c``."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _plain(values: Sequence[float] | np.ndarray[Any, Any]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
