"""``f2csa verify`` and ``baseline``: run checks, write the report, and hold it against what is on record."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

from spec.errors import InvalidInputError
from spec.files import write_files
from verify.campaign import run as campaign
from verify.campaign.baseline.comparison import Comparison, judge
from verify.campaign.baseline.model import Baseline, Selection, replay
from verify.campaign.baseline.storage import load, load_report, refuse_to_overwrite
from verify.campaign.baseline.storage import store as keep
from verify.campaign.plan import Task, plan
from verify.campaign.store.addresses import installed
from verify.campaign.store.database import NAME as STORE
from verify.campaign.store.kept_results import Store
from verify.campaign.store.shards import Shard
from verify.campaign.workers import context, main_left_alone, one_blas_thread
from verify.checks.measuring.case import find_profile
from verify.cli import options
from verify.cli.console import cores, ended_politely, plain_console, printable, progress_bar
from verify.cli.folder import FILES, folder_for, holds_complete
from verify.evidence.budget import EFFORT_STEP
from verify.report import times
from verify.report.faces import Report, render_json, summary_table, write
from verify.report.model import Result
from verify.report.wording import counted
from verify.verdict import Verdict

NONE_HOLDS = "finding: no repaired statement about a solver holds for this subject"
NOTHING = "fault: nothing that was asked applies to the subject; no comparison was made"


def verify(asked: options.Verify) -> int:
    """Run, write the files, print the summary; returns the exit code."""
    shard = None if asked.shard is None else Shard.parse(asked.shard)
    on_record = load(asked.baseline, "--baseline") if asked.baseline is not None else None
    selection = selected(asked)
    folder = folder_for(asked.out, [task.key for task in _planned(selection, asked)])
    compared = None if on_record is None else selection.narrow(on_record)
    if on_record is not None and compared is None:
        # Compared with nothing, nothing would ever differ.
        raise InvalidInputError("--baseline", "must hold a result of what is to be run; none is", str(asked.baseline))
    store = asked.out / STORE
    report = watched(
        selection, jobs=asked.jobs, subject=asked.subject, profile=asked.profile, seed=asked.seed, effort=asked.effort,
        store=store, resume=asked.resume, fresh=asked.fresh, shard=shard, time_limit=asked.time_limit,
        in_process=asked.in_process, executor=asked.executor,
        record=None if on_record is None else on_record.verdicts,
    )  # fmt: skip
    if compared is not None and not compared.verdicts_only:
        dropped, report = report.changes, judge(report, compared)[0]
        report = report.model_copy(update={"changes": (*dropped, *report.changes)})
    if shard is not None:
        # Which results are its own was not known before.
        folder = folder_for(asked.out, [result.key for result in report.results])
    # An interrupted run leaves the report of a whole one; what it finished is kept to go on from.
    paths = [] if not report.complete and holds_complete(folder) else written(report, folder, store, asked.jobs)
    judged = len(report.faults) < len(report.results) and not report.nothing_compared
    if asked.record is not None and report.complete and judged:
        keep(Baseline.of(report).bare, asked.record, argument="--record")
    if asked.as_json:
        sys.stdout.write(render_json(report) + "\n")
    else:
        show(report, paths, folder)
        if folder != asked.out:
            _print([f"note: {asked.out} holds results beyond these and was left as it is"])
    return report.exit_code


LARGE = 200
"""Results from which processes that help to draw the page are worth their start."""


def written(report: Report, folder: Path, store: Path, jobs: int | None) -> list[Path]:
    """Write the files; where they are there already, as the store remembers, only their times."""
    text = render_json(report)
    about = hashlib.sha256(f"{installed().whole} {text}".encode()).hexdigest()
    with Store(store) as kept:
        known = kept.remembered(f"files of {about}")
        if set(known) == set(FILES) - {times.FILE} and all(_digest(folder / name) == known[name] for name in known):
            write_files(folder, {times.FILE: times.render_times(report)})
            return [folder / name for name in FILES]
        paths = drawn(report, folder, jobs)
        kept.remember("files of ", about, {path.name: _digest(path) for path in paths if path.name != times.FILE})
    return paths


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def drawn(report: Report, folder: Path, jobs: int | None) -> list[Path]:
    """Draw and write all files of a report, with helpers where it is large."""
    jobs = cores() if jobs is None else jobs
    if jobs == 1 or len(report.results) < LARGE:
        return write(report, folder)
    with main_left_alone(), one_blas_thread(), ProcessPoolExecutor(jobs, mp_context=context()) as pool:
        return write(report, folder, pool)


def _planned(selection: Selection, asked: options.Verify) -> list[Task]:
    """What will be run; wrong names are refused here."""
    return plan(
        selection.claims, selection.readings or campaign.ALL_READINGS, selection.instances,
        find_profile(asked.profile), asked.subject, campaign.DEFAULT_SEED if asked.seed is None else asked.seed,
    )  # fmt: skip


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


def show(report: Report, paths: Sequence[Path], folder: Path) -> None:
    """Print the summary and what there is to say of the run."""
    lines = [f"finding: {line}" for line in report.findings]
    lines += [NONE_HOLDS] if report.nothing_holds and not report.findings else []
    lines += [f"note: {line}" for line in (*report.notices, *report.changes)]
    lines += [f"fault: {result.where}: {result.fault}" for result in report.faults]
    if report.nothing_compared:
        lines.append(NOTHING)
    if not report.complete:
        kept = "the report is partial" if paths else f"{folder} keeps the report of an earlier run"
        again = "" if report.is_of_the_paper else " with --resume"
        lines.append(f"interrupted: {kept}; what is done is kept: run it again{again} to go on")
    elif undecided := _undecided(report):
        more = f"--resume --effort {EFFORT_STEP * max(result.effort for result in undecided)}"
        lines.append(f"undecided for want of samples: {len(undecided)} results; {more} goes on from there")
    page = "".join(f"; report: {path}" for path in paths if path.suffix == ".html")
    if report.kept:
        all_, were = len(report.results), "was" if report.kept == 1 else "were"
        lines.append(f"{report.kept:,} of {all_:,} result{'s' * (all_ != 1)} {were} kept from earlier runs")
    lines.append(f"{len(report.results)} results in {report.seconds or 0.0:.1f} s{page}")
    console = plain_console()
    console.print(summary_table(report))
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)


def record(asked: options.Record) -> int:
    """Record a run, or a report of one; returns the exit code."""
    refuse_to_overwrite(asked.out, force=asked.force)
    report = _report(asked, "--from") or _rerun(asked, selected(asked))
    if not report.complete:
        sys.stderr.write("f2csa: the run was interrupted; nothing was recorded\n")
        return 3
    if report.nothing_compared:
        _print([f"{NOTHING}: nothing was recorded"])
        return 3
    faults = [f"{result.where}: {result.fault}" for result in report.faults]
    kept = Baseline.of(report) if len(faults) < len(report.results) else None
    kept = selected(asked).narrow(kept) if kept is not None else None
    if kept is not None:
        keep(kept, asked.out)
    _print([f"fault, not recorded: {line}" for line in faults])
    if kept is None:
        if faults:
            _print(["every result is a fault: nothing was recorded"])
            return 3
        named = ", ".join(asked.claims or ())
        raise InvalidInputError("claims", "must select at least one result of the report", named)
    how = f"profile {kept.profile}, seed {kept.seed}"
    _print([f"{counted(len(kept.results), 'result')} of {kept.subject} ({how}) recorded: {asked.out}"])
    if report.nothing_holds:
        _print([NONE_HOLDS])
    return 3 if faults else int(report.nothing_holds)


def compare(asked: options.Compare) -> int:
    """Compare a run, or a report of one, with a baseline; returns the exit code."""
    recorded = load(asked.file, "FILE")
    if asked.out is not None:
        folder_for(asked.out, ())  # refused before the run, if at all
    selection = selected(asked)
    kept = selection.narrow(recorded)
    if kept is None:
        named = " ".join(asked.claims or ()) or None
        raise InvalidInputError("claims", "must select at least one result on record", named)
    report = _report(asked, "--with") or _rerun(_repeating(asked, recorded), replay(kept))
    # A claim brings its steps; what was not asked about says nothing here.
    judged, comparison = judge(report.model_copy(update={"results": selection.of(report.results)}), kept)
    if not (comparison.compared or comparison.findings or comparison.faults) and report.complete:
        # Nothing compared is no success.
        rule = "must have at least one result in common with the run; none is"
        raise InvalidInputError("FILE", rule, str(asked.file))
    if asked.out is not None:
        write(judged, folder_for(asked.out, [result.key for result in judged.results]))
    if asked.as_json:
        sys.stdout.write(comparison.model_dump_json(indent=1) + "\n")
    else:
        _show_comparison(comparison, judged)
    return judged.exit_code


def _report(asked: options.Record | options.Compare, option: str) -> Report | None:
    """The report given instead of a run; it was run already, so nothing about how to run can be asked of it."""
    if asked.source is None:
        return None
    for name in ("subject", "profile", "seed", "effort", "jobs", "time_limit"):
        if getattr(asked, name) is not None:
            rule = f"must not be given together with {option}: that report was run already"
            raise InvalidInputError(f"--{name.replace('_', '-')}", rule)
    return load_report(asked.source, option, "compare exponents and constants")


def _repeating(asked: options.Compare, recorded: Baseline) -> options.Compare:
    """What was recorded, where nothing else is asked for."""
    return replace(
        asked,
        subject=asked.subject or recorded.subject or None,
        profile=asked.profile or recorded.profile,
        seed=recorded.seed if asked.seed is None and not recorded.verdicts_only else asked.seed,
        effort=asked.effort or recorded.effort,
    )


def _rerun(asked: options.Record | options.Compare, selection: Selection) -> Report:
    return watched(
        selection, jobs=asked.jobs, seed=asked.seed, subject=asked.subject or "reference",
        profile=asked.profile or "ci", effort=asked.effort or 1, time_limit=asked.time_limit, record={},
        in_process=asked.in_process,
    )  # fmt: skip


def _show_comparison(comparison: Comparison, report: Report) -> None:
    lines = [f"finding: {line}" for line in comparison.findings]
    lines += [NONE_HOLDS] if report.nothing_holds else []
    lines += [f"fault: {line}" for line in comparison.faults]
    lines += [f"{'new' if c.kind == 'new' else 'improved'}: {c.line}" for c in comparison.changes if not c.worse]
    lines += [f"note: {line}" for line in comparison.notes]
    if not report.complete:
        lines.append("interrupted: only what was done was compared")
    counts = (len(comparison.findings), "finding"), (len(comparison.faults), "fault")
    said = ", ".join(counted(count, noun) for count, noun in counts)
    compared = f"{counted(comparison.compared, 'result')} and {counted(comparison.numbers, 'number')} compared"
    _print([*lines, f"{compared}: {said}"])


def _print(lines: list[str]) -> None:
    for line in lines:
        sys.stdout.write(printable(line) + "\n")
