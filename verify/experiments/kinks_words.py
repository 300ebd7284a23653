"""What the runs across kinks show, in a table, sentences and pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from verify.evidence.charts import Plot
from verify.experiments.contenders import F2CSA, LITERAL
from verify.experiments.method_runs import MethodRuns, joined
from verify.experiments.model import Experiment, Row, Size

LEAST_SHOWN = 1e-6
"""Distances below this are drawn here; so near to 0 their refinement stops."""
Groups = Mapping[str, Mapping[str, MethodRuns]]


def described(runs: Sequence[MethodRuns], tried: Sequence[Row], setting: Row, which: tuple[Size, int]) -> Experiment:
    """The experiment's data with what they show."""
    groups: dict[str, dict[str, MethodRuns]] = {}
    for one in runs:
        groups.setdefault(one.variant, {})[one.name] = one
    target = float(setting["target of the distance"] or 0.0)
    ends = {(v, name): Ends.of(one, target) for v, group in groups.items() for name, one in group.items()}
    size, seed = which
    return Experiment(
        name="kinks", title="Who ends at a Goldstein point where rows switch", lead=_lead(groups, ends), size=size,
        seed=seed, setting=dict(setting), sentences=tuple(_sentences(groups, ends)), findings=(),
        plots=tuple(_plots(groups)),
        rows=(*_table(groups, ends), *(row for one in runs for row in one.rows(seed)), *tried),
    )  # fmt: skip


class Ends:
    """How the runs of one method on one problem end: at the target for sure, for sure not, or neither is proven."""

    def __init__(self, there: int, away: int, total: int, calls: float, upper: float) -> None:
        self.there, self.away, self.total, self.calls, self.upper = there, away, total, calls, upper

    @classmethod
    def of(cls, one: MethodRuns, target: float) -> Ends:
        """Read off the certified bounds; ``calls`` are those from which on all bounds followed are at the target."""
        there = away = 0
        calls, upper = [], []
        for record in one.records:
            if record["stopped"] or not record["at"]:
                away += 1
                calls.append(math.inf)
                upper.append(math.inf)
                continue
            there += record["upper"][-1] <= target and record["certified"][-1] == 1
            away += record["lower"][-1] > target and record["certified"][-1] == 1
            calls.append(_from_when(record, target))
            upper.append(record["upper"][-1])
        return cls(there, away, len(one.records), float(np.median(calls)), float(np.median(upper)))

    @property
    def all_there(self) -> bool:
        """Whether every seed ends at the target."""
        return self.there == self.total

    @property
    def shown(self) -> str:
        """For the table."""
        when = f", from call {self.calls:.0f}" if self.all_there and math.isfinite(self.calls) else ""
        return f"{self.there} of {self.total}{when}"


def _from_when(record: Mapping[str, Any], target: float) -> float:
    """The first moment followed from which on no upper bound is above the target."""
    above = [j for j, upper in enumerate(record["upper"]) if upper > target]
    first = above[-1] + 1 if above else 0
    return float(record["calls"][int(record["at"][first])]) if first < len(record["at"]) else math.inf


def _lead(groups: Groups, ends: Mapping[tuple[str, str], Ends]) -> str:
    """Who ends at a Goldstein point most often and soonest, the rivals first where they do."""
    # Of equals a rival is named first.
    names = [name for name in next(iter(groups.values())) if name not in (F2CSA, LITERAL)] + [F2CSA]
    reached = {name: sum(ends[v, name].all_there for v in groups) for name in names}
    firsts = {name: sum(name in _soonest({n: ends[v, n] for n in names}) for v in groups) for name in names}
    most = [name for name in names if reached[name] == max(reached.values())]
    soonest = max(names, key=firsts.__getitem__)
    total = len(groups)
    said = (
        f"Every run of {joined(most)} ends at a Goldstein point, certified, on {reached[most[0]]} of {total} problems"
    )
    if F2CSA not in most:
        said += f", of F2CSA on {reached[F2CSA]}"
    said += f". Soonest there, alone or with others, is most often {soonest}, on {firsts[soonest]}"
    said += f", F2CSA on {firsts[F2CSA]}" if soonest != F2CSA else ""
    only = [v for v in groups if [name for name in names if ends[v, name].all_there] == [F2CSA]]
    return said + (f"; F2CSA alone always gets there on: {', '.join(only)}." if only else ".")


def _soonest(ends: Mapping[str, Ends]) -> list[str]:
    """Of the methods whose every run ends at the target those that take the fewest calls."""
    calls = {name: found.calls for name, found in ends.items() if found.all_there}
    return [name for name in calls if calls[name] == min(calls.values())]


def _sentences(groups: Groups, ends: Mapping[tuple[str, str], Ends]) -> Iterator[str]:
    for variant, group in groups.items():
        here = {name: ends[variant, name] for name in group}
        there = sorted((name for name in here if here[name].all_there), key=[*here].index)
        away = [name for name in here if here[name].away == here[name].total]
        rest = [name for name in here if name not in there and name not in away]
        parts = []
        if there:
            first = _soonest(here)
            soonest = "" if 2 * len(first) > len(there) else f", {joined(first)} soonest"
            parts.append(f"{joined(there)} {_end(there)} at the target on every seed{soonest}")
        if rest:
            parts.append(", ".join(f"{name} on {here[name].there} of {here[name].total}" for name in rest))
        if away:
            parts.append(f"{joined([_why(group[name]) for name in away])} never, certified")
        yield f"{variant[:1].upper() + variant[1:]}: {'; '.join(parts)}."


def _end(names: Sequence[str]) -> str:
    return "ends" if len(names) == 1 else "end"


def _why(one: MethodRuns) -> str:
    stops = {record["stopped"] for record in one.records if record["stopped"]}
    return f"{one.name} ({min(stops)})" if len(stops) and all(r["stopped"] for r in one.records) else one.name


def _table(groups: Groups, ends: Mapping[tuple[str, str], Ends]) -> Iterator[Row]:
    """Method by problem: on how many seeds it ends at a Goldstein point, and from which call on."""
    for name in dict.fromkeys(name for group in groups.values() for name in group):
        row: Row = {"method": name}
        yield row | {v: ends[v, name].shown if (v, name) in ends else "" for v in groups}


def _plots(groups: Groups) -> Iterator[Plot]:
    for variant, group in groups.items():
        series = tuple(s for one in group.values() if (s := one.distances(LEAST_SHOWN, "calls")) is not None)
        yield Plot(title=f"Certified distance, {variant}", x_label="calls of the method's oracle",
                   y_label="upper bound of dist(0, ∂_δF)", series=series, log_y=True)  # fmt: skip
