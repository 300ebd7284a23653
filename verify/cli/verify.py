"""``f2csa verify``: run checks, show progress, write the report."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from spec.errors import InvalidInputError
from verify.campaign import run as campaign
from verify.campaign.baseline.comparison import judge
from verify.campaign.baseline.model import Baseline
from verify.campaign.baseline.selection import Selection
from verify.campaign.baseline.storage import load
from verify.campaign.baseline.storage import store as keep
from verify.evidence.budget import EFFORT_STEP
from verify.report.faces import Report, render_json, write
from verify.report.model import Result
from verify.report.terminal import summary_table
from verify.verdict import Verdict

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
    effort: int,
    jobs: int | None,
    resume: bool,
    baseline: Path | None,
    record: Path | None,
    as_json: bool,
    time_limit: float | None = None,
) -> int:
    """Run, write the four files, print the summary; returns the exit code."""
    on_record = load(baseline, "--baseline") if baseline is not None else None
    if out.exists() and not out.is_dir():
        raise InvalidInputError("--out", "must be a folder", str(out))
    selection = Selection(tuple(claims), tuple(readings or ()), tuple(instances))
    asked = None if on_record is None else selection.narrow(on_record)
    if on_record is not None and asked is None:
        # Compared with nothing, nothing would ever differ.
        raise InvalidInputError("--baseline", "must hold a result of what is to be run; none is", str(baseline))
    store = out / STORE
    report = watched(
        claims,
        subject=subject,
        readings=list(readings) if readings else campaign.ALL_READINGS,
        instances=instances,
        profile=profile,
        seed=campaign.DEFAULT_SEED if seed is None else seed,
        effort=effort,
        jobs=jobs,
        store=store,
        resume=resume,
        time_limit=time_limit,
        record=None if on_record is None else on_record.verdicts,
    )
    if not report.results and report.complete:
        raise InvalidInputError("claims", "must select at least one check; no check matches", ", ".join(claims) or None)
    if asked is not None and not asked.verdicts_only:
        report = judge(report, asked)[0]
    paths = write(report, out)
    if record is not None and report.complete and len(report.faults) < len(report.results):
        keep(Baseline.of(report).bare, record, argument="--record")
    if report.complete and not _undecided(report):
        # Its results are in the report now; only an interrupted or undecided run needs them to go on.
        store.unlink(missing_ok=True)
    if as_json:
        sys.stdout.write(render_json(report) + "\n")
    else:
        _show(report, paths)
    return report.exit_code


def watched(claims: Sequence[str], *, jobs: int | None, **how: Any) -> Report:
    """Run with a progress bar, ended politely; whatever the subject prints goes to standard error.

    Args:
        claims: As for :func:`verify.campaign.run.run`.
        jobs: Worker processes; one per core if ``None``.
        how: Further arguments of :func:`verify.campaign.run.run`.
    """
    jobs = jobs if jobs is not None else cores()
    with progress_bar() as progress, ended_politely(), redirect_stdout(sys.stderr):
        return campaign.run(claims, jobs=jobs, progress=progress, **how)


@contextmanager
def ended_politely() -> Iterator[None]:
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


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


@contextmanager
def progress_bar() -> Iterator[campaign.Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        shown = bar.add_task("starting", total=None)

        def report(done: int, total: int, what: str) -> None:
            bar.update(shown, completed=done, total=total, description=what.replace("|", " "))

        yield report


def _undecided(report: Report) -> list[Result]:
    """Results that more samples may decide."""
    return [r for r in report.results if r.verdict is Verdict.INCONCLUSIVE and r.rung == "statistical"]


def _show(report: Report, paths: Sequence[Path]) -> None:
    from rich.console import Console

    console = Console(highlight=False, emoji=False)
    console.print(summary_table(report))
    for line in report.findings:
        console.print(f"finding: {line}", soft_wrap=True, markup=False)
    for line in report.changes:
        console.print(f"note: {line}", soft_wrap=True, markup=False)
    for result in report.faults:
        where = f"{result.claim} [{result.reading}] on {result.instance}"
        console.print(f"fault: {where}: {result.fault}", soft_wrap=True, markup=False)
    if not report.complete:
        console.print("interrupted: the report is partial; add --resume to go on", markup=False)
    if report.complete and (undecided := _undecided(report)):
        more = EFFORT_STEP * max(result.effort for result in undecided)
        line = f"undecided for want of samples: {len(undecided)} results; --resume --effort {more} goes on from there"
        console.print(line, markup=False, soft_wrap=True)
    named = next(path for path in paths if path.suffix == ".html")
    console.print(
        f"{len(report.results)} results in {report.seconds:.1f} s; report: {named}", markup=False, soft_wrap=True
    )
