"""``f2csa baseline``: record what a subject comes out with, and hold later runs against it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from spec.errors import InvalidInputError
from verify.campaign import run as campaign
from verify.campaign.baseline.comparison import Comparison, judge
from verify.campaign.baseline.model import Baseline
from verify.campaign.baseline.selection import Selection, replay
from verify.campaign.baseline.storage import load, load_report, refuse_to_overwrite, store
from verify.checks.measuring.profiles import find_profile
from verify.cli.verify import watched
from verify.report.faces import Report, write


@dataclass(frozen=True)
class Request:
    """What to run, as for ``f2csa verify``; ``None`` and empty mean the command's default.

    Args:
        claims: Claims or steps.
        subject: The implementation.
        profile: The profile.
        readings: Readings.
        instances: Atlas instances.
        seed: Seed of all randomness.
        effort: Factor on all sample sizes.
        jobs: Worker processes.
        time_limit: Seconds one stage call of the subject may take.
    """

    claims: tuple[str, ...] = ()
    subject: str | None = None
    profile: str | None = None
    readings: tuple[str, ...] = ()
    instances: tuple[str, ...] = ()
    seed: int | None = None
    effort: int | None = None
    jobs: int | None = None
    time_limit: float | None = None

    @property
    def selection(self) -> Selection:
        return Selection(self.claims, self.readings, self.instances)

    def refuse_with(self, source: str) -> None:
        """A report was run already: nothing about how to run can be asked of it."""
        named = {
            "--subject": self.subject, "--profile": self.profile, "--seed": self.seed, "--effort": self.effort,
            "--jobs": self.jobs, "--time-limit": self.time_limit,
        }  # fmt: skip
        for option, value in named.items():
            if value is not None:
                raise InvalidInputError(
                    option, f"must not be given together with {source}: that report was run already"
                )


def record(request: Request, *, source: Path | None, out: Path, force: bool) -> int:
    """Record a run, or a report of one; returns the exit code."""
    refuse_to_overwrite(out, force=force)
    if source is not None:
        request.refuse_with("--from")
        report = load_report(source, "--from")
    else:
        report = _run(request, request.selection)
    if not report.complete:
        sys.stderr.write("f2csa: the run was interrupted; nothing was recorded\n")
        return 3
    faults = [f"{r.claim} [{r.reading}] on {r.instance}: {r.fault}" for r in report.faults]
    kept = Baseline.of(report) if len(faults) < len(report.results) else None
    kept = request.selection.narrow(kept) if kept is not None else None
    if kept is not None:
        store(kept, out)
    _print([f"fault, not recorded: {line}" for line in faults])
    if kept is None:
        if faults:
            _print(["every result is a fault: nothing was recorded"])
            return 3
        raise InvalidInputError("claims", "must select at least one result of the report", ", ".join(request.claims))
    how = f"profile {kept.profile}, seed {kept.seed}"
    _print([f"{counted(len(kept.results), 'result')} of {kept.subject} ({how}) recorded: {out}"])
    return 3 if faults else 0


def compare(request: Request, *, file: Path, source: Path | None, out: Path | None, as_json: bool) -> int:
    """Compare a run, or a report of one, with a baseline; returns the exit code."""
    recorded = load(file, "FILE")
    if out is not None and out.exists() and not out.is_dir():
        raise InvalidInputError("--out", "must be a folder", str(out))
    asked = request.selection.narrow(recorded)
    if asked is None:
        raise InvalidInputError("claims", "must select at least one result on record", " ".join(request.claims) or None)
    if source is not None:
        request.refuse_with("--with")
        report = _narrowed(load_report(source, "--with"), request.selection)
    else:
        report = _run(_repeating(request, recorded), replay(asked))
        # A claim brings its steps; what was not asked about says nothing here.
        report = _narrowed(report, request.selection)
    judged, comparison = judge(report, asked)
    if not (comparison.compared or comparison.findings or comparison.faults) and report.complete:
        # Nothing compared is no success.
        raise InvalidInputError("FILE", "must have at least one result in common with the run; none is", str(file))
    if out is not None:
        write(judged, out)
    if as_json:
        sys.stdout.write(comparison.model_dump_json(indent=1) + "\n")
    else:
        _show(comparison, judged)
    return judged.exit_code


def _repeating(request: Request, recorded: Baseline) -> Request:
    """What was recorded, where nothing else is asked for."""
    return replace(
        request,
        subject=request.subject or recorded.subject or None,
        profile=request.profile or recorded.profile,
        seed=recorded.seed if request.seed is None and not recorded.verdicts_only else request.seed,
        effort=request.effort or recorded.effort,
    )


def _run(request: Request, selection: Selection) -> Report:
    report = watched(
        selection.claims,
        subject=request.subject or "reference",
        readings=list(selection.readings) or campaign.ALL_READINGS,
        instances=selection.instances,
        profile=find_profile(request.profile or "ci").name,
        seed=campaign.DEFAULT_SEED if request.seed is None else request.seed,
        effort=request.effort or 1,
        jobs=request.jobs,
        time_limit=request.time_limit,
        record={},
    )
    if not report.results and report.complete:
        named = ", ".join(selection.claims) or None
        raise InvalidInputError("claims", "must select at least one check; no check matches", named)
    return report


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
        shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
        sys.stdout.write(shown + "\n")
