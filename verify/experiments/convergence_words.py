"""What the convergence runs show, in sentences, findings and pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from verify.evidence.charts import Plot, Series
from verify.experiments.compared_methods import (
    DSBLO_2,
    F2CSA,
    LITERAL,
    PRINTED_F2CSA,
    PRINTED_SSIGD,
    SAMPLED,
    SSIGD,
)  # fmt: skip
from verify.experiments.method_runs import LEAST_SHOWN, MethodRuns, freed_memory, joined, tuned_pairs
from verify.experiments.model import Experiment, Finding, Row, Size

NAMED = (F2CSA, SSIGD, DSBLO_2)
"""The three of the text; its DSBLO is taken for option II, which samples f."""
SIMILAR = 0.05
"""Falls of F within a twentieth of one another are called similar: a plot over the whole fall hardly parts them."""
Groups = Mapping[str, Mapping[str, MethodRuns]]


def described(runs: Sequence[MethodRuns], tried: Sequence[Row], setting: Row, size: Size, seed: int) -> Experiment:
    """The experiment's data with what they show."""
    groups: dict[str, dict[str, MethodRuns]] = {}
    paged: dict[str, dict[str, MethodRuns]] = {}
    for one in runs:
        if one.beside in ("", "page"):
            (paged if one.beside else groups).setdefault(one.variant, {})[one.name] = one
    return Experiment(
        name="convergence", title="How far each method comes in dimension 50", lead=_lead(groups, paged), size=size,
        seed=seed, setting=dict(setting), sentences=tuple(_sentences(groups, paged, runs, setting)),
        findings=tuple(_findings(groups)), plots=tuple(_plots(groups, runs)),
        rows=(
            *_table(groups), *_table(paged, ", page"), *tuned_pairs(groups),
            *(row for one in runs for row in one.rows(seed)), *tried,
        ),
    )  # fmt: skip


def _of_papers(group: Mapping[str, MethodRuns]) -> list[MethodRuns]:
    """The tuned methods, not the formulas as written."""
    return [one for one in group.values() if one.tuned is not None and one.name != LITERAL]


def _equal_time(group: Mapping[str, MethodRuns]) -> float:
    """Seconds in which the first method, of those that do not fail, has spent its budget of work."""
    methods = _of_papers(group)
    whole = [one for one in methods if not any(record["stopped"] for record in one.records)]
    return min(one.whole_time for one in whole or methods)


def _ranked(group: Mapping[str, MethodRuns], *, in_time: bool) -> list[tuple[float, str]]:
    seconds = _equal_time(group)
    return sorted(
        (float(np.median(one.left_after(seconds))) if in_time else one.middle_left, one.name)
        for one in _of_papers(group)
    )


def _lead(groups: Groups, paged: Groups) -> str:
    """Who wins, the rivals first where they do, and what F2CSA leaves, at its best and as its page."""
    behind = ", ".join(f"{variant} {_spread(group[F2CSA].left)}" for variant, group in groups.items())
    sentence = f"{_winners(groups, None)}; of the methods that sample f, {_winners(groups, SAMPLED)}."
    pages = ", ".join(f"{variant} {_spread(group[F2CSA].left)}" for variant, group in paged.items())
    beside = f" (its plain page: {pages})" if pages else ""
    return (
        f"{sentence[:1].upper() + sentence[1:]} Of F's fall to the lowest value known, F2CSA leaves on equal work: "
        f"{behind}{beside}."
    )


def _winners(groups: Groups, among: Sequence[str] | None) -> str:
    """How often who comes furthest down, over problems and both budgets, of what ran on all problems; F2CSA last."""
    everywhere = set.intersection(*({one.name for one in _of_papers(group)} for group in groups.values()))
    won: dict[str, int] = {}
    for group in groups.values():
        for in_time in (False, True):
            ranked = [name for _, name in _ranked(group, in_time=in_time) if name in everywhere]
            first = next(name for name in ranked if among is None or name in among)
            won[first] = won.get(first, 0) + 1
    total = sum(won.values())
    order = sorted(won.items(), key=lambda item: (item[0] == F2CSA, -item[1]))
    if len(order) == 1:
        return (
            f"{order[0][0]} comes furthest down in all {total} comparisons, by problem, on equal work and in equal time"
        )
    return f"furthest down of {total} comparisons come {joined([f'{name} in {count}' for name, count in order])}"


def _share(value: float) -> str:
    """A share of the fall in print."""
    if math.isinf(value):
        return "all (it fails)"
    if value >= 1:
        return f"{100 * value:.0f} %"
    return f"{100 * value:.2g} %" if value >= 1e-6 else "below 0.0001 %"


def _spread(shares: Sequence[float]) -> str:
    """Shares of the fall in print: the median and, where they differ, the range; of two the range alone."""
    middle, low, high = _share(float(np.median(shares))), _share(min(shares)), _share(max(shares))
    if low == high:
        return middle
    return f"{low} to {high}" if len(shares) == 2 else f"{middle} ({low} to {high})"


def _sentences(groups: Groups, paged: Groups, runs: Sequence[MethodRuns], setting: Row) -> Iterator[str]:
    for variant, group in groups.items():
        parts = []
        for in_time, where in (
            (False, "on equal work"),
            (True, f"in equal time, {_equal_time(group):.2g} s{_whose(group)}"),
        ):
            ranked = _ranked(group, in_time=in_time)
            best = ranked[0]
            sampling = next(item for item in ranked if item[1] in SAMPLED)
            shown = dict.fromkeys([best, sampling, next(item for item in ranked if item[1] == F2CSA)])
            parts.append(f"{where} " + ", ".join(f"{name} {_share(value)}" for value, name in shown))
        told = "; ".join(parts)
        yield f"{_capital(variant)}, share of the fall left by the best, the best that samples f, and F2CSA: {told}."
    if paged:
        winners = f"{_winners(paged, None)}; of the methods that sample f, {_winners(paged, SAMPLED)}"
        yield f"As plain pages, nothing kept from call to call, other conclusions would follow in part: {winners}."
    for of, each in (("at its best", groups), ("as its page", paged)):
        calls = []
        for variant, group in each.items():
            counted = {name: np.median([r["calls"][-1] for r in group[name].records]) for name in (F2CSA, SSIGD)}
            calls.append(f"{variant} {counted[F2CSA]:.0f} against {counted[SSIGD]:.0f}")
        if calls:
            yield f"Calls of its oracle that the budget of work buys F2CSA {of}, against SSIGD: {'; '.join(calls)}."
    yield from _held(groups)
    yield from freed_memory(groups, setting)
    yield from _printed(groups)
    yield from _coupled(groups, runs)
    ends = [
        f"{one.name} on {variant} ({', '.join(one.tuned.ends or (f'{one.entrant.length:.3g}',))})"
        for variant, group in groups.items()
        for one in group.values()
        if one.tuned is not None and (one.tuned.at_end or one.tuned.ends)
    ]
    if ends:
        yield f"At an end of what was tried, so that the best may lie beyond: {', '.join(ends)}."
    yield (
        f"Gradients of f are sampled by {joined([name for name in SAMPLED if name != LITERAL])}; the others' papers "
        "give exact ones, or values of F."
    )
    yield (
        "Stationarity is the distance of 0 from the Goldstein subdifferential at the stated radius: in 50 dimensions "
        "its upper bound is proven up to rounding and drawn; the lower one is an estimate, and stands in the data."
    )


def _held(groups: Groups) -> Iterator[str]:
    """How much of the constraints the paths meet."""
    parts = []
    for variant, group in groups.items():
        most = [max(one.held_at(part) for one in _of_papers(group)) for part in (0.0, 0.25, 1.0)]
        parts.append(f"{variant} " + ", ".join(f"{100 * share:.2g}" for share in most))
    free = [
        variant
        for variant, group in groups.items()
        if max(max(record["held"]) for one in _of_papers(group) for record in one.records) == 0.0
    ]
    none = f" No path meets a constraint on {joined(free)}: nothing of the constraints is tested there." if free else ""
    yield (
        "Of y's coordinates the box holds at the start, after a quarter of the work and at the end, in % and by the "
        f"tuned method with the most: {'; '.join(parts)}.{none}"
    )


def _printed(groups: Groups) -> Iterator[str]:
    parts = [
        f"{variant} {_spread(group[PRINTED_F2CSA].left)} and {_spread(group[PRINTED_SSIGD].left)}"
        for variant, group in groups.items()
        if PRINTED_F2CSA in group
    ]
    yield (
        "With the printed step sizes on the same budget, F2CSA with η = 1e-5 and SSIGD with β = 1e-4/√r leave of the "
        f"fall: {'; '.join(parts)}."
    )


def _coupled(groups: Groups, runs: Sequence[MethodRuns]) -> Iterator[str]:
    for variant, group in groups.items():
        if LITERAL not in group:
            continue
        shares = {
            (one.name, one.entrant.alpha): one.left for one in runs if one.variant == variant and one.beside == "alpha"
        }
        if not shares:
            continue
        alphas = sorted({alpha for name, alpha in shares if name == LITERAL}, reverse=True)
        listing = "; ".join(
            f"α = {alpha:g}: {_spread(shares[LITERAL, alpha])} with the formulas as written, "
            f"{_spread(shares[F2CSA, alpha])} repaired"
            for alpha in alphas
        )
        yield f"Where the box moves with x, which the paper does not test, F2CSA leaves of the fall at {listing}."


def _whose(group: Mapping[str, MethodRuns]) -> str:
    """Which implementations the time is of."""
    kinds = {one.entrant.fast for one in _of_papers(group)}
    return " of the prepared programs" if kinds == {True} else " of the plain pages" if kinds == {False} else ""


def _table(groups: Groups, suffix: str = "") -> Iterator[Row]:
    """Method by problem and budget: the share of the fall that is left, median and range of the seeds."""
    for name in dict.fromkeys(name for group in groups.values() for name in group):
        row: Row = {"method": name + suffix}
        for variant, group in groups.items():
            one, seconds = group.get(name), _equal_time(group)
            row[f"{variant}, equal work"] = None if one is None else _spread(one.left)
            row[f"{variant}, equal time"] = None if one is None else _spread(one.left_after(seconds))
        yield row


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def ratios(group: Mapping[str, MethodRuns], names: Sequence[str]) -> list[float]:
    """Largest over least fall of F among these methods, by seed; infinite where one does not fall."""
    falls = np.array([group[name].falls for name in names])
    return [float(column.max() / column.min()) if column.min() > 0 else math.inf for column in falls.T]


def _findings(groups: Groups) -> Iterator[Finding]:
    by_variant = {variant: ratios(group, NAMED) for variant, group in groups.items()}
    least = next(iter(by_variant))
    low, high = min(by_variant[least]), max(by_variant[least])
    alike = [variant for variant, values in by_variant.items() if max(values) <= 1 + SIMILAR]
    apart = [
        f"{variant} {_ratio(min(v))} to {_ratio(max(v))}" for variant, v in by_variant.items() if max(v) > 1 + SIMILAR
    ]
    yield Finding(
        statement="convergence-experiment", quantity=f"largest ratio of the methods' final decreases of F, {least}",
        measured=float(np.median(by_variant[least])), interval=(low, high),
        sentence="Tuned by one protocol, F2CSA, SSIGD and DS-BLO end at similar losses"
        + (f" ({', '.join(alike)})" if alike else " nowhere")
        + (f", and at others on {', '.join(apart)}" if apart else "")
        + f"; similar means within {100 * SIMILAR:g} % of the fall."
        + _apart_as_printed(groups),
    )  # fmt: skip
    rises = {variant: rise(group[F2CSA]) for variant, group in groups.items()}
    yield Finding(
        statement="convergence-experiment/stable",
        quantity=f"largest rise of F along a run of F2CSA over the noise of its evaluation, {least}",
        measured=rises[least],
        sentence="Tuned F2CSA's loss rises, where it rises most, by so many standard deviations of one sampled value: "
        + ", ".join(f"{variant} {value:.2g}" for variant, value in rises.items())
        + "; Algorithm 2 has no friction, so that it swings about a minimum by about D²/(2η).",
    )  # fmt: skip


def _ratio(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "without end (one fails)"


def _apart_as_printed(groups: Groups) -> str:
    for variant, group in groups.items():
        if PRINTED_F2CSA in group:
            names = (PRINTED_F2CSA, PRINTED_SSIGD, DSBLO_2)
            return (
                f" With the printed step sizes the ratio is {float(np.median(ratios(group, names))):.3g} on {variant}."
            )
    return ""


def rise(one: MethodRuns) -> float:
    """The largest rise of F above the lowest value before it, over the noise of one sampled value at the end."""
    losses = [np.array(record["loss"]) for record in one.records]
    rises = [float(np.max(values - np.minimum.accumulate(values))) for values in losses]
    return max(rise / float(record["noise"]) for rise, record in zip(rises, one.records, strict=True))


def _plots(groups: Groups, runs: Sequence[MethodRuns]) -> Iterator[Plot]:
    for variant, group in groups.items():
        shown = f"F's fall left, {variant}"
        for over, label in (
            ("products", "work, products with a 50 × 50 block"),
            ("seconds", "processor seconds, one thread"),
        ):
            series = tuple(s for one in group.values() if (s := one.series(over)) is not None)
            yield Plot(title=f"{shown}", x_label=label, y_label="share of F(x₀) − lowest F", series=series, log_y=True)
        distances = tuple(s for one in group.values() if (s := one.distances(LEAST_SHOWN)) is not None)
        yield Plot(title=f"Stationarity, {variant}", x_label="work, products with a 50 × 50 block",
                   y_label="upper bound of dist(0, ∂_δF)", series=distances, log_y=True)  # fmt: skip
    literal = [one for one in runs if one.name == LITERAL and one.beside == "alpha"]
    if len(literal) > 1:
        yield Plot(
            title="F's fall left as α falls, moving box", x_label="α", y_label="share of F(x₀) − lowest F",
            series=tuple(_over_alpha(runs, literal[0].variant, name) for name in (F2CSA, LITERAL)),
            log_x=True, log_y=True,
        )  # fmt: skip


def _over_alpha(runs: Sequence[MethodRuns], variant: str, name: str) -> Series:
    chosen = sorted(
        (one for one in runs if one.variant == variant and one.name == name and one.beside == "alpha"),
        key=lambda one: one.entrant.alpha,
    )
    shares = [[min(share, 10.0) for share in one.left] for one in chosen]
    return Series(
        name=name, x=tuple(one.entrant.alpha for one in chosen), y=tuple(float(np.median(s)) for s in shares),
        low=tuple(map(min, shares)), high=tuple(map(max, shares)),
    )  # fmt: skip
