"""``f2csa calibrate``: achieved error rates of the statistical decisions beside the promised ones."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from rich.table import Table

from spec.errors import InvalidInputError
from spec.files import refuse_to_replace, write_files
from verify.campaign.calibration.calibration import CONFIDENCE, Achieved, Calibration, run_many, summarise, with_sweeps
from verify.campaign.calibration.calibration_page import RARER, CalibrationCounts, page
from verify.campaign.calibration.drift_price import price
from verify.campaign.calibration.law_columns import (
    SIZES,
    LawAchieved,
    run_laws,
    smallest_as_asked,
    smallest_found,
    summarise_laws,
)
from verify.campaign.calibration.seeds import FIRST, Seeds, kept, run_seeds
from verify.campaign.calibration.sweeps import crossings
from verify.campaign.starting import context
from verify.checks.measuring.case import full_run_decisions
from verify.cli.arguments import options
from verify.cli.arguments.sources import require_at_least
from verify.cli.output.console import plain_console, print_json_text, progress_bar
from verify.evidence.budget import TOTAL_ERROR, Share
from verify.report.wording import counted

Row = TypeVar("Row")
CHUNK = 50
"""Runs a worker takes at once."""
FEW = 40
"""Sweeps behind each number of the page's last two tables."""
TEN = 10
"""Runs behind the smallest violation found."""
VALUES = (4, 5, 8)
"""Values of the sweeps whose price is shown."""
SMALLEST_BUDGET = 1e-12
"""Below it no run of affordable length could detect any violation."""


def calibrate(request: options.Calibrate) -> int:
    """Run, print the table or JSON; returns 1 where a promise was broken, else 0."""
    if not SMALLEST_BUDGET <= request.budget < 1:
        raise InvalidInputError("--budget", f"must be >= {SMALLEST_BUDGET:g} and < 1", request.budget)
    require_at_least("--runs", request.runs, 1)
    require_at_least("--law-runs", request.law_runs, 0)
    require_at_least("--seed", request.seed, 0)
    require_at_least("--jobs", request.jobs, 1)
    require_at_least("--seeds", request.seeds, 0)
    if request.record is not None:
        require_at_least("--seeds", request.seeds, 1)
    if request.seeds:
        return _seeds(request)
    if request.out is not None:
        require_at_least("--law-runs", request.law_runs, 1)
        refuse_to_replace(request.out)
    calibration = _calibration(request)
    if request.out is not None:
        write_files(request.out.parent, {request.out.name: page(_counted(request, calibration))})
    if request.as_json:
        print_json_text(calibration.model_dump_json(indent=1))
    else:
        _show(calibration, request.runs)
    return 1 if calibration.outcome == "broken" else 0


def _seeds(request: options.Calibrate) -> int:
    """Count flips, seed by seed, what is kept beside; 1 where there are any, else 0."""
    seeds = (kept(request.record) if request.record else None) or Seeds.of(FIRST, [])
    at_once = request.jobs or multiprocessing.cpu_count()
    with progress_bar() as progress:
        while seeds.seeds < request.seeds:
            spread = _Spread(at_once, request.seeds, progress, done=seeds.seeds, chunk=1)
            first = seeds.first + seeds.seeds
            more = min(2 * at_once, request.seeds - seeds.seeds)
            rows = spread.run(partial(_seeds_from, first=first), more)
            seeds = Seeds.of(seeds.first, [*seeds.found, *rows])
            if request.record:
                write_files(request.record.parent, {request.record.name: seeds.written()})
    if request.as_json:
        print_json_text(seeds.written())
    else:
        for flip in seeds.flips:
            print(f"flip: {flip.key} at seed {flip.seed}: {flip.verdict}")
        print(
            f"{seeds.seeds * seeds.results:,} sampled results at {seeds.seeds:,} seeds from {seeds.first:,} on, "
            f"{seeds.results} each: {counted(len(seeds.flips), 'verdict')} not on record"
        )
    return 1 if seeds.flips else 0


def _seeds_from(numbers: range, *, first: int) -> list[list[tuple[str, str]]]:
    return run_seeds([first + number for number in numbers])


def _calibration(request: options.Calibrate) -> Calibration:
    """Run on right and on wrong subjects; every run's randomness comes from its number alone."""
    law_runs = min(request.runs, request.law_runs)
    with progress_bar() as progress:
        spread = _Spread(request.jobs or multiprocessing.cpu_count(), request.runs + law_runs, progress)
        rows = spread.run(partial(run_many, seed=request.seed, budget=request.budget), request.runs)
        laws = spread.run(partial(run_laws, seed=request.seed, budget=request.budget), law_runs)
    calibration = with_sweeps(summarise(rows, request.budget), request.runs, request.seed)
    return calibration.model_copy(update={"laws": summarise_laws(laws, request.budget)})


def _counted(request: options.Calibrate, calibration: Calibration) -> CalibrationCounts:
    """What the page shows besides: laws at a rarer error, crossings, and what bends cost."""
    rarer, runs = RARER * request.budget, min(request.runs, request.law_runs)
    with progress_bar() as progress:
        spread = _Spread(request.jobs or multiprocessing.cpu_count(), runs, progress)
        laws = summarise_laws(spread.run(partial(run_laws, seed=request.seed, budget=rarer), runs), rarer)
    share = Share(TOTAL_ERROR / full_run_decisions())
    few = min(FEW, request.runs)
    far = tuple(crossings(few, seed=request.seed, share=Share(request.budget)))
    again = min(TEN, request.runs)
    by_law = {name: smallest_found(name, again, seed=request.seed, budget=request.budget) for name in SIZES}
    prices = tuple(price(values, share, few) for values in VALUES)
    as_asked = smallest_as_asked(again, seed=request.seed, error=share.error)
    return CalibrationCounts(calibration, laws, far, prices, share.error, by_law, again, as_asked)


@dataclass
class _Spread:
    """Runs by number over processes, in chunks; told of is how many are done."""

    jobs: int
    total: int
    progress: Callable[[int, int, str], None]
    done: int = 0
    chunk: int = CHUNK

    def run(self, run: Callable[[range], list[Row]], runs: int) -> list[Row]:
        """All of them, in their order."""
        chunks = [range(start, min(start + self.chunk, runs)) for start in range(0, runs, self.chunk)]
        rows: dict[int, list[Row]] = {}

        def keep(chunk: range, ended: list[Row]) -> None:
            rows[chunk.start] = ended
            self.done += len(ended)
            self.progress(self.done, self.total, "runs")

        if self.jobs == 1:
            for chunk in chunks:
                keep(chunk, run(chunk))
        else:
            with ProcessPoolExecutor(self.jobs, mp_context=context()) as pool:
                futures = {pool.submit(run, chunk): chunk for chunk in chunks}
                for future in as_completed(futures):
                    keep(futures[future], future.result())
        return [row for start in sorted(rows) for row in rows[start]]


def _show(calibration: Calibration, runs: int) -> None:
    console = plain_console()
    tables = {
        "false refutations of right subjects": (calibration.whole, *calibration.false_refutations),
        "missed violations of the stated smallest size": calibration.missed_violations,
        "laws of sweeps: false refutations of a right claim": calibration.sweeps_refuted,
        "laws of sweeps: false supports of one half an order stronger": calibration.sweeps_supported,
    }
    for title, rows in tables.items():
        table = Table(title=f"{title}, up to {runs:,} runs", title_justify="left")
        for column in ("decision", "wrong", "achieved", f"interval ({CONFIDENCE:.1%})", "promised", ""):
            table.add_column(column, justify="left" if column in ("decision", "") else "right")
        for row in rows:
            table.add_row(*_cells(row))
        console.print(table)
    if calibration.laws:
        console.print(_laws(calibration))
    console.print(
        f"Promised: error {calibration.budget:g} a run, power {calibration.power:g}. {_sentence(calibration)}"
    )


def _sentence(calibration: Calibration) -> str:
    """What all counts together show."""
    if calibration.outcome == "broken":
        return "A promise was broken: see the rows marked above."
    if calibration.outcome == "kept":
        return "Every promise was kept."
    open_rows = [row for row in calibration.rows if row.outcome == "not shown"]
    count = len(open_rows) + sum(row.outcome == "not shown" for row in calibration.laws)
    needed = max((row.runs_needed for row in open_rows), default=0)
    more = f"; the rarest takes {needed:,} runs without one that is wrong" if needed else ""
    total = len(calibration.rows) + len(calibration.laws)
    return f"No promise was broken, but {count} of {total} are not shown to be kept by so few runs{more}."


def _cells(row: Achieved) -> tuple[str, ...]:
    low, high = row.interval
    mark = "BROKEN" if row.outcome == "broken" else row.outcome
    return (row.decision, str(row.wrong), f"{row.wrong / row.runs:.2g}", f"{low:.2g} to {high:.2g}",
            f"<= {row.promised:.2g}", mark)  # fmt: skip


def _laws(calibration: Calibration) -> Table:
    """A law a row, a decision a column: refuted falsely, supported falsely, left open."""
    first = calibration.laws[0]
    promised = f"promised: {first.error:g} of right subjects refuted, {first.missed:.2g} of wrong ones supported"
    title = f"noise of other laws, up to {first.runs:,} runs; {promised}; the rest left open"
    table = Table(title=title, title_justify="left")
    decisions = list(dict.fromkeys(row.decision for row in calibration.laws))
    table.add_column("law", no_wrap=True)
    for decision in decisions:
        table.add_column(decision)
    cells = {(row.law, row.decision): _law_cell(row) for row in calibration.laws}
    for law in dict.fromkeys(row.law for row in calibration.laws):
        table.add_row(law, *(cells.get((law, decision), "it refutes this") for decision in decisions))
    return table


def _law_cell(row: LawAchieved) -> str:
    counted = ((row.refuted, row.runs), (row.supported, row.wrong_runs), (row.left_open, row.runs))
    shown = " / ".join(f"{count / max(1, runs):.2g}" for count, runs in counted)
    return {"kept": f"{shown} kept", "broken": f"{shown} BROKEN"}.get(row.outcome, shown)
