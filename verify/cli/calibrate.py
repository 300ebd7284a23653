"""``f2csa calibrate``: achieved error rates of the statistical decisions beside the promised ones."""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial

from rich.table import Table

from spec.errors import InvalidInputError
from verify.campaign.calibration.calibration import CONFIDENCE, Achieved, Calibration, run_many, summarise, with_sweeps
from verify.campaign.workers import context
from verify.cli import options
from verify.cli.console import plain_console, progress_bar
from verify.cli.sources import require_at_least

CHUNK = 50
"""Runs a worker takes at once."""
SMALLEST_BUDGET = 1e-12
"""Below it no run of affordable length could detect any violation."""


def calibrate(asked: options.Calibrate) -> int:
    """Run, print the table or JSON; returns 0 where every promise was kept, else 1."""
    if not SMALLEST_BUDGET <= asked.budget < 1:
        raise InvalidInputError("--budget", f"must be >= {SMALLEST_BUDGET:g} and < 1", asked.budget)
    require_at_least("--runs", asked.runs, 1)
    require_at_least("--seed", asked.seed, 0)
    require_at_least("--jobs", asked.jobs, 1)
    found = _calibration(asked)
    if asked.as_json:
        sys.stdout.write(found.model_dump_json(indent=1) + "\n")
    else:
        _show(found, asked.runs)
    return 0 if found.kept else 1


def _calibration(asked: options.Calibrate) -> Calibration:
    """Run on right and on barely wrong subjects; every run's randomness comes from its number alone."""
    run = partial(run_many, seed=asked.seed, budget=asked.budget)
    chunks = [range(start, min(start + CHUNK, asked.runs)) for start in range(0, asked.runs, CHUNK)]
    rows: dict[int, list[tuple[list[bool], list[bool]]]] = {}
    with progress_bar() as progress:

        def keep(chunk: range, ended: list[tuple[list[bool], list[bool]]]) -> None:
            rows[chunk.start] = ended
            progress(sum(map(len, rows.values())), asked.runs, "runs")

        jobs = asked.jobs or multiprocessing.cpu_count()
        if jobs == 1:
            for chunk in chunks:
                keep(chunk, run(chunk))
        else:
            with ProcessPoolExecutor(jobs, mp_context=context()) as pool:
                futures = {pool.submit(run, chunk): chunk for chunk in chunks}
                for future in as_completed(futures):
                    keep(futures[future], future.result())
    table = summarise([row for start in sorted(rows) for row in rows[start]], asked.budget)
    return with_sweeps(table, asked.runs, asked.seed)


def _show(found: Calibration, runs: int) -> None:
    console = plain_console()
    tables = {
        "false refutations of right subjects": (found.whole, *found.false_refutations),
        "missed violations of the stated smallest size": found.missed_violations,
        "laws of sweeps: false refutations of a right claim": found.sweeps_refuted,
        "laws of sweeps: false supports of one half an order stronger": found.sweeps_supported,
    }
    for title, rows in tables.items():
        table = Table(title=f"{title}, up to {runs:,} runs", title_justify="left")
        for column in ("decision", "wrong", "achieved", f"interval ({CONFIDENCE:.1%})", "promised", ""):
            table.add_column(column, justify="left" if column in ("decision", "") else "right")
        for row in rows:
            table.add_row(*_cells(row))
        console.print(table)
    kept = "Every promise was kept." if found.kept else "A promise was broken: see the rows marked above."
    console.print(f"Promised: error {found.budget:g} a run, power {found.power:g}. {kept}")


def _cells(row: Achieved) -> tuple[str, ...]:
    low, high = row.interval
    mark = "kept" if row.kept else "BROKEN"
    return (row.decision, str(row.wrong), f"{row.wrong / row.runs:.2g}", f"{low:.2g} to {high:.2g}",
            f"<= {row.promised:.2g}", mark)  # fmt: skip
