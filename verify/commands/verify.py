"""``f2csa verify``: run checks, show progress, write the report."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from spec.errors import InvalidInputError
from verify import campaign
from verify.baseline import dumps_record, load_record, record_of
from verify.report import render_json, summary_table, write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from verify.results import Report

STORE = "results.jsonl"


def execute(
    *,
    claims: Sequence[str],
    out: Path,
    profile: str,
    readings: Sequence[str] | None,
    instances: Sequence[str],
    subject: str,
    seed: int | None,
    jobs: int | None,
    resume: bool,
    baseline: Path | None,
    record: Path | None,
    as_json: bool,
) -> int:
    """Run, write the four files, print the summary; returns the exit code."""
    on_record = load_record(baseline) if baseline is not None else None
    if out.exists() and not out.is_dir():
        raise InvalidInputError("--out", "must be a folder", str(out))
    store = out / STORE
    with _progress() as progress, _ended_politely(), redirect_stdout(sys.stderr):
        report = campaign.run(
            claims,
            subject=subject,
            readings=list(readings) if readings else campaign.ALL_READINGS,
            instances=instances,
            profile=profile,
            seed=campaign.DEFAULT_SEED if seed is None else seed,
            jobs=jobs if jobs is not None else _cores(),
            progress=progress,
            store=store,
            resume=resume,
            record=on_record,
        )
    if not report.results and report.complete:
        raise InvalidInputError("claims", "must select at least one check; no check matches", ", ".join(claims) or None)
    paths = write(report, out)
    if record is not None and report.complete:
        record.write_text(dumps_record(record_of(report.results)), encoding="utf-8")
    if report.complete:
        # Its results are in the report now; only an interrupted run needs them to go on.
        store.unlink(missing_ok=True)
    if as_json:
        sys.stdout.write(render_json(report) + "\n")
    else:
        _show(report, paths)
    return report.exit_code


@contextmanager
def _ended_politely() -> Iterator[None]:
    """Treat a request to terminate like Ctrl-C: workers are stopped and what is done is kept."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    main = threading.current_thread() is threading.main_thread()
    before = {name: signal.signal(getattr(signal, name), interrupt) for name in names} if main else {}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


@contextmanager
def _progress() -> Iterator[campaign.Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        shown = bar.add_task("starting", total=None)

        def report(done: int, total: int, what: str) -> None:
            bar.update(shown, completed=done, total=total, description=what.replace("|", " "))

        yield report


def _show(report: Report, paths: Sequence[Path]) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(summary_table(report))
    for line in report.findings:
        console.print(f"finding: {line}", soft_wrap=True, markup=False)
    for result in report.faults:
        where = f"{result.claim} [{result.reading}] on {result.instance}"
        console.print(f"fault: {where}: {result.fault}", soft_wrap=True, markup=False)
    if not report.complete:
        console.print("interrupted: the report is partial; add --resume to go on", markup=False)
    named = next(path for path in paths if path.suffix == ".html")
    console.print(
        f"{len(report.results)} results in {report.seconds:.1f} s; report: {named}", markup=False, soft_wrap=True
    )
