"""The table as Markdown: docs/calibration.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verify.campaign.calibration.calibration import CONFIDENCE, Achieved, Calibration
from verify.campaign.calibration.drift_price import SEEN, Price
from verify.campaign.calibration.law_columns import AS_ASKED, SIZES, UNSEEN, WANTED, LawAchieved
from verify.campaign.calibration.outcomes import runs_to_show
from verify.campaign.calibration.sweeps import FIRST, START, STEPS
from verify.evidence.budget import EFFORT_STEP
from verify.evidence.samples.calls import CALLS

RARER = 0.1
"""Share of the budget that the second table of laws promises."""


@dataclass(frozen=True)
class CalibrationCounts:
    """All that the page shows: the table, its laws at a tenth of the error, crossings by look, and prices of drift."""

    table: Calibration
    rarer: tuple[LawAchieved, ...]
    crossings: tuple[tuple[str, tuple[float, ...]], ...]
    prices: tuple[Price, ...]
    share: float
    smallest: dict[str, dict[str, float]]
    smallest_runs: int
    as_asked: dict[str, float]


def page(counted: CalibrationCounts) -> str:
    """Everything, a section each."""
    table, share = counted.table, counted.share
    parts = [HEAD.format(budget=f"{table.budget:g}", rarer=f"{RARER * table.budget:g}", confidence=f"{CONFIDENCE:.1%}",
                         needed=runs_to_show(1e-3, CONFIDENCE))]  # fmt: skip
    parts += [_laws(rows) for rows in (table.laws, counted.rarer) if rows]
    parts.append(FOUND.format(
        budget=f"{table.budget:g}", runs=counted.smallest_runs, stops=_stops(), table=_found(counted.smallest),
        share=f"{share:.1g}", **_as_asked(counted.as_asked),
    ))  # fmt: skip
    parts.append(MEANS.format(calls=CALLS, unseen=", ".join(UNSEEN)))
    parts.append("## Right subjects refuted\n\n" + _achieved((table.whole, *table.false_refutations)))
    parts.append("## Violations of the stated smallest size missed\n\n" + _achieved(table.missed_violations))
    parts.append("## Sweeps that bend: a right claim refuted\n\n" + _achieved(table.sweeps_refuted))
    parts.append("## Sweeps that bend: half an order more supported\n\n" + _achieved(table.sweeps_supported))
    looks = [f"{FIRST * EFFORT_STEP**k:,}" for k in range(len(counted.crossings[0][1]))]
    rows = [[name, *(f"{rate:.2f}" for rate in rates)] for name, rates in counted.crossings]
    end = f"{START / 2 ** (STEPS - 1):g}"
    parts.append(CROSSINGS.format(end=end, start=START, table=_table(["law", *looks], rows)))
    rows = [
        [str(p.values), *(f"{n:,}" for n in (p.straight, p.bent, p.least)), f"{p.bent / p.straight:.1f}",
         f"{p.bent / p.least:.2f}"]
        for p in counted.prices
    ]  # fmt: skip
    head = ["values", "powers alone", "with bends", "least with bends", "with bends / alone", "with bends / least"]
    parts.append(DRIFT.format(share=f"{share:.1g}", seen=f"{SEEN:.0%}", table=_table(head, rows)))
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _laws(rows: Sequence[LawAchieved]) -> str:
    """A law a row, a decision a column."""
    decisions = list(dict.fromkeys(row.decision for row in rows))
    cells = {(row.law, row.decision): _cell(row) for row in rows}
    laws = list(dict.fromkeys(row.law for row in rows))
    first = rows[0]
    counts = {row.decision: row.runs for row in rows}
    run_counts = ", ".join(f"{name} {runs:,}" for name, runs in counts.items())
    caption = (
        f"### Promised: {first.error:g} of right subjects refuted, {first.missed:.1g} of wrong ones supported\n\n"
        f"Runs on right subjects: {run_counts}; at most {first.wrong_runs:,} on wrong ones.\n\n"
    )
    body = [[law, *(cells.get((law, name), "–") for name in decisions)] for law in laws]
    return caption + _table(["noise", *decisions], body)


def _found(by_decision: dict[str, dict[str, float]]) -> str:
    laws = list(dict.fromkeys(law for rows in by_decision.values() for law in rows))
    shown = {name: {law: _size(size, SIZES[name]) for law, size in rows.items()} for name, rows in by_decision.items()}
    return _table(
        ["noise", *FOUND_OF.values()], [[law, *(shown[name].get(law, "–") for name in FOUND_OF)] for law in laws]
    )


def _stops() -> str:
    *first, last = (f"{WANTED[name]:g}" for name in FOUND_OF)
    return f"{', '.join(first)} and {last}"


def _as_asked(smallest: dict[str, float]) -> dict[str, str]:
    """The violations asked for and the smallest that are found, by their names in the text."""
    violations = {f"{name}_asked": f"{wanted:g}" for name, (wanted, _) in AS_ASKED.items()}
    return violations | {name: _size(size, AS_ASKED[name][1]) for name, size in smallest.items()}


def _size(size: float, tried: Sequence[float]) -> str:
    return f"more than {tried[-1]:g}" if size > tried[-1] else f"{size:g}"


def _cell(row: LawAchieved) -> str:
    counted = ((row.refuted, row.runs), (row.supported, row.wrong_runs), (row.left_open, row.runs))
    shown = " / ".join(f"{count / max(1, runs):.2g}" for count, runs in counted)
    return {"kept": f"{shown} ✓", "broken": f"**{shown}**"}.get(row.outcome, shown)


def _achieved(rows: Sequence[Achieved]) -> str:
    head = ["decision", "runs", "wrong", "interval", "promised", ""]
    return _table(head, [
        [row.decision, f"{row.runs:,}", f"{row.wrong / row.runs:.2g}",
         f"{row.interval[0]:.2g} to {row.interval[1]:.2g}", f"{row.promised:.2g}",
         "**broken**" if row.outcome == "broken" else row.outcome]
        for row in rows
    ])  # fmt: skip


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines)


HEAD = """# How often the statistics err

<!-- f2csa-verify -->

Every stochastic decision promises how often it refutes what is right, and how often it misses what is wrong by the
smallest violation it states. `f2csa calibrate` counts both on subjects that are right and that are wrong by a known
amount; `f2csa calibrate --out docs/calibration.md` writes this page. A promise is broken (in bold) where the interval
around what was counted, at confidence {confidence}, lies above it, kept where it lies within it, and else not shown
by so many runs: to show one of 1 in 1,000 takes {needed:,} runs without one that is wrong.

## Noise of other laws

Each cell: share of right subjects refuted / of wrong ones supported / of right ones left open, the broken assumption
named; a tick where both promises are shown to be kept. A dash: the noise is itself what the decision refutes, or may.
Every decision here promises {budget}, then {rarer}; a full run shares out 1e-6 among all of its decisions."""

FOUND_OF = {"mean": "bias / σ", "mean square": "excess of the mean square", "variance": "excess of the variance"}
FOUND = """### Smallest violation found

The smallest of the sizes tried that nine runs in ten refute ({runs} were made), at the error {budget}: a bias in units
of the noise's root mean square, and by how much a mean square or a variance exceeds its bound. The decisions stop once
{stops}
would have been seen with their stated power; of less they are not asked.

{table}

Of a full run's decisions on the oracles, each at the error {share} and asked to see a bias of {mean_asked} σ and an
excess of {variance_asked} (more effort changes nothing of what is decided):
a bias of {mean} σ and an excess of {variance}, under Gaussian noise."""

MEANS = """### What these decisions rest on

A mean is refuted and supported given the second moment that is stated, whatever else the law is; a variance and a mean
square are refuted from above under their bound alone, and supported, or refuted from below, within a class of laws that
the evidence names: Gaussian noise (of the covariance predicted, for a mean square), or where the samples are not
Gaussian noise of a kurtosis of 10 at most, and beyond nothing is decided from that side. All are bets that may be
looked at after any block: of a violation of the wanted size it is promised that it is seldom supported, at whatever
look. A support is as good as its class, as samples that have met no outlier look Gaussian: none is promised of
{unseen}.
Nor is one of a point that moves: its variance is the stated one where it is largest, and may be too large there alone.

What bets do not know is noise that all estimates of one call share, and estimates that are correlated. Where these are
seen a mean square is left open, and a variance is decided at a few planned looks by a law that assumes less; a mean,
and whatever deviation is found of one, by the means of {calls} further calls, each of them one sample: only what these
refute as well is refuted."""

CROSSINGS = """## What no number of samples tells

A sweep from {start:g} to {end} of a law whose crossing lies beyond its end looks like another power. The shares of
sweeps by which the right claim O(a) is refuted, by samples a point, within the class of laws that bend once and within
one that knows the pole:

{table}

For any number of samples there is a crossing far enough beyond the sweep to look like a power there. What refutes
within the class of laws that bend once, past the middle of the bend, therefore allows for whole powers with one pole or
zero besides, wherever it lies: of two claims a whole power apart samples never refute one, of others they do. A support
in this class takes the sweep to have come past the middle. Where a formula of the quantity has a derived order, this
decides, and samples are asked whether the quantity is a constant times the formula; what is in no class is left
open."""

DRIFT = """## What allowing for bends costs

Samples a point until a claim half an order off is refuted in {seen} of sweeps, at the error {share} of one decision
in a full run: of a decision that takes every sweep for a power law, of the one in use, and the least of any decision
that errs at most so often on the class of bends (the nearest law of the class that meets the claim is told apart from
the power law by no fewer). What the first saves it owes to errors on laws that bend.

{table}"""
