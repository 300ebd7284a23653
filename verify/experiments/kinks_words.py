"""What the runs across kinks show, in a table, sentences and pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from verify.evidence.charts import Plot
from verify.evidence.samples.laws import binomial_interval
from verify.experiments.compared_methods import F2CSA, LITERAL
from verify.experiments.method_runs import MethodRuns, freed_memory, further_at_ends, joined, tuned_pairs
from verify.experiments.model import Experiment, Row, Size

LEAST_SHOWN, LANE = 1e-3, 10**-0.08
"""Distances below this are drawn below it, each method in a lane of its own, so many times lower than the last's."""
ENOUGH = 5
"""Runs on a problem from which on a sentence speaks of all of them, or of who is soonest."""
CONFIDENCE = 0.95
PAGE = "page"
"""What runs of a method's plain page stand beside its best as."""
Groups = Mapping[str, Mapping[str, MethodRuns]]


def described(runs: Sequence[MethodRuns], tried: Sequence[Row], setting: Row, which: tuple[Size, int]) -> Experiment:
    """The experiment's data with what they show."""
    groups: dict[str, dict[str, MethodRuns]] = {}
    pages: dict[tuple[str, str], MethodRuns] = {}
    for one in runs:
        if one.beside == PAGE:
            pages[one.variant, one.name] = one
        else:
            groups.setdefault(one.variant, {})[one.name] = one
    target = float(setting["target of the distance"] or 0.0)
    ends = {(v, name): Ends.of(one, target) for v, group in groups.items() for name, one in group.items()}
    size, seed = which
    return Experiment(
        name="kinks", title="Who ends at a Goldstein point where rows switch", lead=_lead(groups, ends), size=size,
        seed=seed, setting=dict(setting), findings=(),
        sentences=(*_sentences(groups, ends, setting), *_of_pages(groups, pages, target)),
        plots=tuple(_plots(groups, target)),
        rows=(
            *_table(groups, ends), *_work(groups, pages), *tuned_pairs(groups),
            *(row for one in runs for row in one.rows(seed)), *tried,
        ),
    )  # fmt: skip


class Ends:
    """How the runs of one method on one problem end: proven at the target, proven away, failed, or none of these."""

    def __init__(self, one: MethodRuns, target: float) -> None:
        self.there = self.away = self.failed = 0
        self.total = len(one.records)
        calls = []
        for record in one.records:
            if record["stopped"] or not record["at"]:
                self.failed += 1
                calls.append(math.inf)
                continue
            certified = record["certified"][-1] == 1
            self.there += record["upper"][-1] <= target and certified
            self.away += record["lower"][-1] > target and certified
            calls.append(from_when(record, target))
        self.calls = float(np.median(calls))
        """The median of the calls from which on all bounds followed are at the target."""

    @classmethod
    def of(cls, one: MethodRuns, target: float) -> Ends:
        """Read off the certified bounds."""
        return cls(one, target)

    @property
    def all_there(self) -> bool:
        """Whether every run ends at the target."""
        return self.there == self.total

    @property
    def shown(self) -> str:
        """For the table."""
        when = f", from call {self.calls:.0f}" if self.all_there and math.isfinite(self.calls) else ""
        return f"{self.there} of {self.total}{when}{self._failed}"

    @property
    def _failed(self) -> str:
        return f" ({self.failed} failed)" if self.failed else ""

    @property
    def counted(self) -> str:
        """For a sentence."""
        return f"{self.there} of {self.total}{self._failed}"


def from_when(record: Mapping[str, Any], target: float) -> float:
    """The call from which on all bounds followed are at the target; infinite if the last is not."""
    near = [upper <= target for upper in record["upper"]]
    first = len(near) - next((i for i, there in enumerate(reversed(near)) if not there), len(near))
    return float(record["calls"][int(record["at"][first])]) if first < len(record["at"]) else math.inf


def _lead(groups: Groups, ends: Mapping[tuple[str, str], Ends]) -> str:
    """Who ends at a Goldstein point most often, the rivals first where they do, with intervals."""
    # Of equals a rival is named first.
    names = [name for name in next(iter(groups.values())) if name not in (F2CSA, LITERAL)] + [F2CSA]
    total = sum(ends[v, F2CSA].total for v in groups)
    there = {name: sum(ends[v, name].there for v in groups) for name in names}
    most = [name for name in names if there[name] == max(there.values())]
    text = f"At a Goldstein point, by proof, {_verb(most)} {joined(most)} on the most runs, "
    text += _fraction(there[most[0]], total)
    others = [name for name in names if name not in most]
    if F2CSA not in most or (len(most) == 1 and others):
        other = F2CSA if F2CSA not in most else max(others, key=there.__getitem__)
        best, ours = (binomial_interval(there[name], total, CONFIDENCE) for name in (most[0], other))
        text += f", and {other} on {_fraction(there[other], total)}"
        text += ": the intervals overlap, these runs do not part them" if ours[1] >= best[0] else ""
    if min(end.total for end in ends.values()) < ENOUGH:
        return f"{text}. So few draws of a problem do not say who is there always, or soonest."
    firsts = {name: sum(name in _soonest({n: ends[v, n] for n in names}) for v in groups) for name in names}
    soonest = max(names, key=firsts.__getitem__)
    text += f". Soonest with all runs there, alone or with others, is most often {soonest}, on {firsts[soonest]}"
    text += f" of {len(groups)} problems" + (f", F2CSA on {firsts[F2CSA]}" if soonest != F2CSA else "")
    only = [v for v in groups if [name for name in names if ends[v, name].all_there] == [F2CSA]]
    rivals = {v: max((ends[v, name] for name in names if name != F2CSA), key=lambda end: end.there) for v in only}
    told = ", ".join(f"{v}, the next on {rivals[v].there} of {rivals[v].total}" for v in only)
    return text + (f"; F2CSA alone has all its runs there on: {told}." if only else ".")


def _verb(names: Sequence[str]) -> str:
    return "ends" if len(names) == 1 else "end"


def _fraction(count: int, total: int) -> str:
    low, high = binomial_interval(count, total, CONFIDENCE)
    return f"{count} of {total} ({100 * low:.0f} to {100 * high:.0f} %)"


def _soonest(ends: Mapping[str, Ends]) -> list[str]:
    """Of the methods whose every run ends at the target those that take the fewest calls."""
    calls = {name: end.calls for name, end in ends.items() if end.all_there}
    return [name for name in calls if calls[name] == min(calls.values())]


def _sentences(groups: Groups, ends: Mapping[tuple[str, str], Ends], setting: Row) -> Iterator[str]:
    for variant, group in groups.items():
        here = {name: ends[variant, name] for name in group}
        there = [name for name in here if here[name].all_there]
        failed = [name for name in here if here[name].failed == here[name].total]
        away = [name for name in here if here[name].away == here[name].total]
        rest = [name for name in here if name not in (*there, *failed, *away)]
        parts = []
        if there:
            first, total = _soonest(here), here[there[0]].total
            told = total >= ENOUGH and 2 * len(first) <= len(there)
            parts.append(
                f"{joined(there)} on {_fraction(total, total)} runs{f', {joined(first)} soonest' if told else ''}"
            )
        if rest:
            parts.append(", ".join(f"{name} on {here[name].counted}" for name in rest))
        if away:
            parts.append(f"{joined(away)} on none, by proof")
        if failed:
            parts.append("; ".join(f"{name} fails ({_why(group[name])})" for name in failed))
        yield f"{variant[:1].upper() + variant[1:]}, at the target: {'; '.join(parts)}."
    yield (
        "In brackets is the 95 % interval of a fraction, as if all runs were drawn alike; the runs on a problem that "
        "is not drawn differ by their noise alone."
    )
    yield from freed_memory(groups, setting)
    yield from further_at_ends(groups)


def _why(one: MethodRuns) -> str:
    return str(min(record["stopped"] for record in one.records))


def _table(groups: Groups, ends: Mapping[tuple[str, str], Ends]) -> Iterator[Row]:
    """Method by problem: on how many seeds it ends at a Goldstein point, and from which call on."""
    for name in dict.fromkeys(name for group in groups.values() for name in group):
        row: Row = {"method": name}
        yield row | {v: ends[v, name].shown if (v, name) in ends else "" for v in groups}


def _call(one: MethodRuns) -> float:
    """Products of a call, the median run's."""
    return float(np.median([r["products"][-1] / r["calls"][-1] for r in one.records if r["calls"][-1]] or [math.nan]))


def _work(groups: Groups, pages: Mapping[tuple[str, str], MethodRuns]) -> Iterator[Row]:
    """Method by problem: products that a call takes, at its best and as its page."""
    for name in dict.fromkeys(name for group in groups.values() for name in group):
        row: Row = {"products of a call, prepared and page": name}
        for variant, group in groups.items():
            both = [one for one in (group.get(name), pages.get((variant, name))) if one is not None]
            row[variant] = " and ".join(f"{_call(one):.3g}" for one in both if math.isfinite(_call(one)))
        if pages:
            yield row


def _of_pages(groups: Groups, pages: Mapping[tuple[str, str], MethodRuns], target: float) -> Iterator[str]:
    """Whether a method's page ends as its best implementation does, seed by seed."""
    pairs = [(groups[variant][name], page) for (variant, name), page in pages.items()]
    both = [(a, b, one) for one, page in pairs for a, b in zip(one.records, page.records, strict=True)]
    if not both:
        return
    parted = [one for a, b, one in both if _is_there(a, target) != _is_there(b, target)]
    where = "".join(f"; they part on {one.variant} for {one.name}" for one in dict.fromkeys(parted))
    yield (
        "Every method runs as what is prepared once, and with the same numbers as its plain page: on "
        f"{len(both) - len(parted)} of {len(both)} runs both end alike at the target or away{where}."
    )


def _is_there(record: Mapping[str, Any], target: float) -> bool:
    ended = bool(record["at"]) and not record["stopped"]
    return ended and record["upper"][-1] <= target and record["certified"][-1] == 1


def _plots(groups: Groups, target: float) -> Iterator[Plot]:
    for variant, group in groups.items():
        curves = (one.distances(LEAST_SHOWN, "calls", lane=LANE ** (i + 1)) for i, one in enumerate(group.values()))
        yield Plot(
            title=f"Certified distance, {variant} (target {target:g})",
            x_label=f"calls of the method's oracle; below {LEAST_SHOWN:g} a lane for each method",
            y_label="upper bound of dist(0, ∂_δF)", series=tuple(s for s in curves if s is not None), log_y=True,
        )  # fmt: skip
