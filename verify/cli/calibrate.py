"""``f2csa calibrate``: achieved error rates of the statistical decisions beside the promised ones."""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed

from spec.errors import InvalidInputError
from verify.campaign.calibration.calibration import CONFIDENCE, Achieved, Calibration, run_many, summarise

CHUNK = 50
"""Runs a worker takes at once."""


SMALLEST_BUDGET = 1e-12
"""Below it no run of affordable length could detect any violation."""


def execute(*, budget: float, runs: int, seed: int, jobs: int | None, as_json: bool) -> int:
    """Run, print the table or JSON; returns 0 where every promise was kept, else 1."""
    if not SMALLEST_BUDGET <= budget < 1:
        raise InvalidInputError("--budget", f"must be >= {SMALLEST_BUDGET:g} and < 1", budget)
    if runs < 1:
        raise InvalidInputError("--runs", "must be >= 1", runs)
    if seed < 0:
        raise InvalidInputError("--seed", "must be >= 0", seed)
    if jobs is not None and jobs < 1:
        raise InvalidInputError("--jobs", "must be >= 1", jobs)
    found = calibrate(budget=budget, runs=runs, seed=seed, jobs=jobs or multiprocessing.cpu_count())
    if as_json:
        sys.stdout.write(found.model_dump_json(indent=1) + "\n")
    else:
        _show(found, runs)
    return 0 if found.kept else 1


def calibrate(*, budget: float, runs: int, seed: int, jobs: int) -> Calibration:
    """Run on right and on barely wrong subjects; every run's randomness comes from its number alone.

    Args:
        budget: Probability promised that a run of all kinds of decision refutes anything falsely.
        runs: Runs on right subjects, and as many on barely wrong ones.
        seed: Seed of all randomness, >= 0.
        jobs: Worker processes; the result does not depend on it.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    chunks = [range(start, min(start + CHUNK, runs)) for start in range(0, runs, CHUNK)]
    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    rows: dict[int, list[tuple[list[bool], list[bool]]]] = {}
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        shown = bar.add_task("runs", total=runs)
        if jobs == 1:
            for chunk in chunks:
                rows[chunk.start] = run_many(chunk, seed=seed, budget=budget)
                bar.advance(shown, len(chunk))
        else:
            method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
            with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context(method)) as pool:
                futures = {pool.submit(run_many, chunk, seed=seed, budget=budget): chunk for chunk in chunks}
                for future in as_completed(futures):
                    rows[futures[future].start] = future.result()
                    bar.advance(shown, len(futures[future]))
    return summarise([row for start in sorted(rows) for row in rows[start]], budget)


def _show(found: Calibration, runs: int) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, emoji=False)
    titles = ("false refutations of right subjects", "missed violations of the stated smallest size")
    for title, rows in zip(titles, ((found.whole, *found.false_refutations), found.missed_violations), strict=True):
        table = Table(title=f"{title}, {runs:,} runs", title_justify="left")
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
