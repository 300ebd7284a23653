"""``f2csa verify``: run checks, show progress, write the report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from spec.errors import InvalidInputError
from verify.campaign import run as campaign
from verify.campaign.baseline.comparison import judge
from verify.campaign.baseline.model import Baseline
from verify.campaign.baseline.selection import Selection
from verify.campaign.baseline.storage import load
from verify.campaign.baseline.storage import store as keep
from verify.cli import options
from verify.cli.console import cores, ended_politely, plain_console, progress_bar
from verify.cli.sources import require_folder
from verify.evidence.budget import EFFORT_STEP
from verify.report.faces import Report, render_json, write
from verify.report.model import Result
from verify.report.terminal import summary_table
from verify.verdict import Verdict

STORE = "results.jsonl"


def verify(asked: options.Verify) -> int:
    """Run, write the four files, print the summary; returns the exit code."""
    on_record = load(asked.baseline, "--baseline") if asked.baseline is not None else None
    require_folder(asked.out)
    selection = selected(asked)
    compared = None if on_record is None else selection.narrow(on_record)
    if on_record is not None and compared is None:
        # Compared with nothing, nothing would ever differ.
        raise InvalidInputError("--baseline", "must hold a result of what is to be run; none is", str(asked.baseline))
    store = asked.out / STORE
    report = watched(
        selection, jobs=asked.jobs, subject=asked.subject, profile=asked.profile, seed=asked.seed, effort=asked.effort,
        store=store, resume=asked.resume, time_limit=asked.time_limit,
        record=None if on_record is None else on_record.verdicts,
    )  # fmt: skip
    if compared is not None and not compared.verdicts_only:
        report = judge(report, compared)[0]
    paths = write(report, asked.out)
    if asked.record is not None and report.complete and len(report.faults) < len(report.results):
        keep(Baseline.of(report).bare, asked.record, argument="--record")
    if report.complete and not _undecided(report):
        # Its results are in the report now; only an interrupted or undecided run needs them to go on.
        store.unlink(missing_ok=True)
    if asked.as_json:
        sys.stdout.write(render_json(report) + "\n")
    else:
        _show(report, paths)
    return report.exit_code


def selected(asked: options.Verify | options.Record | options.Compare) -> Selection:
    """The claims, readings and instances asked for."""
    return Selection(tuple(asked.claims or ()), tuple(asked.reading or ()), tuple(asked.instance or ()))


def watched(selection: Selection, *, jobs: int | None, seed: int | None, **how: Any) -> Report:
    """Run with a progress bar, ended politely; whatever the subject prints goes to standard error.

    ``how`` are further arguments of :func:`verify.campaign.run.run`; a selection that no check matches is refused.
    """
    with progress_bar() as progress, ended_politely(), redirect_stdout(sys.stderr):
        report = campaign.run(
            selection.claims, readings=list(selection.readings) or campaign.ALL_READINGS, instances=selection.instances,
            jobs=cores() if jobs is None else jobs, seed=campaign.DEFAULT_SEED if seed is None else seed,
            progress=progress, **how,
        )  # fmt: skip
    if not report.results and report.complete:
        named = ", ".join(selection.claims) or None
        raise InvalidInputError("claims", "must select at least one check; no check matches", named)
    return report


def _undecided(report: Report) -> list[Result]:
    """Results that more samples may decide."""
    return [r for r in report.results if r.verdict is Verdict.INCONCLUSIVE and r.rung == "statistical"]


def _show(report: Report, paths: Sequence[Path]) -> None:
    lines = [f"finding: {line}" for line in report.findings]
    lines += [f"note: {line}" for line in report.changes]
    lines += [f"fault: {r.claim} [{r.reading}] on {r.instance}: {r.fault}" for r in report.faults]
    if not report.complete:
        lines.append("interrupted: the report is partial; add --resume to go on")
    elif undecided := _undecided(report):
        more = f"--resume --effort {EFFORT_STEP * max(result.effort for result in undecided)}"
        lines.append(f"undecided for want of samples: {len(undecided)} results; {more} goes on from there")
    page = next(path for path in paths if path.suffix == ".html")
    lines.append(f"{len(report.results)} results in {report.seconds:.1f} s; report: {page}")
    console = plain_console()
    console.print(summary_table(report))
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)
