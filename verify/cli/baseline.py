"""``f2csa baseline``: record what a subject comes out with, and hold later runs against it."""

from __future__ import annotations

import sys
from dataclasses import replace

from spec.errors import InvalidInputError
from verify.campaign.baseline.comparison import Comparison, judge
from verify.campaign.baseline.model import Baseline
from verify.campaign.baseline.selection import Selection, replay
from verify.campaign.baseline.storage import load, load_report, refuse_to_overwrite, store
from verify.cli import options
from verify.cli.console import printable
from verify.cli.sources import require_folder
from verify.cli.verify import selected, watched
from verify.report.faces import Report, write


def record(asked: options.Record) -> int:
    """Record a run, or a report of one; returns the exit code."""
    refuse_to_overwrite(asked.out, force=asked.force)
    report = _report(asked, "--from") or _run(asked, selected(asked))
    if not report.complete:
        sys.stderr.write("f2csa: the run was interrupted; nothing was recorded\n")
        return 3
    faults = [f"{r.claim} [{r.reading}] on {r.instance}: {r.fault}" for r in report.faults]
    kept = Baseline.of(report) if len(faults) < len(report.results) else None
    kept = selected(asked).narrow(kept) if kept is not None else None
    if kept is not None:
        store(kept, asked.out)
    _print([f"fault, not recorded: {line}" for line in faults])
    if kept is None:
        if faults:
            _print(["every result is a fault: nothing was recorded"])
            return 3
        named = ", ".join(asked.claims or ())
        raise InvalidInputError("claims", "must select at least one result of the report", named)
    how = f"profile {kept.profile}, seed {kept.seed}"
    _print([f"{counted(len(kept.results), 'result')} of {kept.subject} ({how}) recorded: {asked.out}"])
    return 3 if faults else 0


def compare(asked: options.Compare) -> int:
    """Compare a run, or a report of one, with a baseline; returns the exit code."""
    recorded = load(asked.file, "FILE")
    if asked.out is not None:
        require_folder(asked.out)
    selection = selected(asked)
    kept = selection.narrow(recorded)
    if kept is None:
        named = " ".join(asked.claims or ()) or None
        raise InvalidInputError("claims", "must select at least one result on record", named)
    # A claim brings its steps; what was not asked about says nothing here.
    report = _narrowed(_report(asked, "--with") or _run(_repeating(asked, recorded), replay(kept)), selection)
    judged, comparison = judge(report, kept)
    if not (comparison.compared or comparison.findings or comparison.faults) and report.complete:
        # Nothing compared is no success.
        rule = "must have at least one result in common with the run; none is"
        raise InvalidInputError("FILE", rule, str(asked.file))
    if asked.out is not None:
        write(judged, asked.out)
    if asked.as_json:
        sys.stdout.write(comparison.model_dump_json(indent=1) + "\n")
    else:
        _show(comparison, judged)
    return judged.exit_code


def _report(asked: options.Record | options.Compare, option: str) -> Report | None:
    """The report given instead of a run; it was run already, so nothing about how to run can be asked of it."""
    if asked.source is None:
        return None
    for name in ("subject", "profile", "seed", "effort", "jobs", "time_limit"):
        if getattr(asked, name) is not None:
            rule = f"must not be given together with {option}: that report was run already"
            raise InvalidInputError(f"--{name.replace('_', '-')}", rule)
    return load_report(asked.source, option)


def _repeating(asked: options.Compare, recorded: Baseline) -> options.Compare:
    """What was recorded, where nothing else is asked for."""
    return replace(
        asked,
        subject=asked.subject or recorded.subject or None,
        profile=asked.profile or recorded.profile,
        seed=recorded.seed if asked.seed is None and not recorded.verdicts_only else asked.seed,
        effort=asked.effort or recorded.effort,
    )


def _run(asked: options.Record | options.Compare, selection: Selection) -> Report:
    return watched(
        selection, jobs=asked.jobs, seed=asked.seed, subject=asked.subject or "reference",
        profile=asked.profile or "ci", effort=asked.effort or 1, time_limit=asked.time_limit, record={},
    )  # fmt: skip


def _narrowed(report: Report, selection: Selection) -> Report:
    kept = tuple(
        result
        for result in report.results
        if selection.includes(result.claim, result.reading, result.instance)
    )  # fmt: skip
    return report.model_copy(update={"results": kept})


def _show(comparison: Comparison, report: Report) -> None:
    lines = [f"finding: {line}" for line in comparison.findings]
    lines += [f"fault: {line}" for line in comparison.faults]
    lines += [f"{'new' if c.kind == 'new' else 'improved'}: {c.line}" for c in comparison.changes if not c.worse]
    lines += [f"note: {line}" for line in comparison.notes]
    if not report.complete:
        lines.append("interrupted: only what was done was compared")
    counts = (len(comparison.findings), "finding"), (len(comparison.faults), "fault")
    said = ", ".join(counted(count, noun) for count, noun in counts)
    compared = f"{counted(comparison.compared, 'result')} and {counted(comparison.numbers, 'number')} compared"
    _print([*lines, f"{compared}: {said}"])


def counted(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _print(lines: list[str]) -> None:
    for line in lines:
        sys.stdout.write(printable(line) + "\n")
