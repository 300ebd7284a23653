"""``f2csa soak``: statements on ever more drawn problems, and the smallest problem of each finding."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace

from spec.errors import InvalidInputError
from verify.campaign.soak.model import FILE, DrawFinding, SoakReport
from verify.campaign.soak.soaking import Soak
from verify.campaign.store.shards import Shard
from verify.checks.measuring.case import find_profile
from verify.cli.arguments import store_options
from verify.cli.arguments.sources import require_at_least, require_one_of
from verify.cli.output.ci_output import CiOutput
from verify.cli.output.console import ended_politely, print_json_text, print_lines, progress_bar
from verify.cli.runs.run_request import options_of
from verify.report.model import NAMED
from verify.report.wording import counted

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
LONGEST = 366 * 86400


def soak(options: store_options.SoakOptions) -> int:
    """Ask, shrink, say what was found; returns the exit code."""
    require_at_least("--draws", options.draws, 1)
    seconds = None if options.duration is None else seconds_of(options.duration)
    if seconds is not None and options.draws is not None:
        raise InvalidInputError("--for", "must not be given together with --draws: one of them says when it ends")
    if options.shard is not None and options.draws is None:
        raise InvalidInputError("--shard", "must go with --draws: it is a share of so many", options.shard)
    if not 0 <= options.shrinking <= LONGEST:
        raise InvalidInputError("--shrinking", f"must be >= 0 and at most {LONGEST}", options.shrinking)
    CiOutput(options.annotations, None, as_json=options.as_json)  # whatever a subject says is no workflow command
    started = time.monotonic()
    run = options_of(
        options, profile=find_profile(options.profile or "full").name,
        readings=tuple(require_one_of("--reading", name, NAMED) for name in options.reading or NAMED),
        shard=None if options.shard is None else Shard.parse(options.shard),
    )  # fmt: skip
    with progress_bar(quiet=options.quiet, seconds=seconds) as progress, ended_politely(), redirect_stdout(sys.stderr):
        soaked = Soak(options.out, replace(run, progress=progress), seconds, options.shrinking)
        outcome, interrupted = soaked.carried_out()
    if options.as_json:
        print_json_text(outcome.model_dump_json(by_alias=True, indent=1))
    else:
        print_lines(lines(outcome, time.monotonic() - started, f"{options.out / FILE}"))
    if seconds is not None and not outcome.has_whole_draw:
        sys.stderr.write("f2csa: the time was over before one problem of each family was asked about: no success\n")
        return max(3, outcome.exit_code)
    # Where neither count nor time is given, to be ended is how it ends.
    return 3 if interrupted and (options.draws is not None or seconds is not None) else outcome.exit_code


def seconds_of(text: str) -> float:
    """A duration such as ``90``, ``90s``, ``1.5h``, in seconds."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)([smhd]?)", text.strip(), re.ASCII)
    seconds = 0.0 if match is None else float(match[1]) * UNITS[match[2]]
    if not 0 < seconds <= LONGEST:
        raise InvalidInputError("--for", "must be a time > 0 and at most a year, such as 90s, 20m, 8h or 2d", text)
    return seconds


def lines(report: SoakReport, seconds: float, file: str) -> Iterator[str]:
    """What a soak came to, in words."""
    for finding in report.findings:
        yield from _told(finding)
    whole = "" if report.complete else " at most: it ended before all were asked about"
    families = counted(len(report.verdicts), "family", "families")
    problems = f"{counted(report.draws, 'problem')} of each of {families}{whole}"
    yield f"{problems}; {report.results:,} result{'' if report.results == 1 else 's'} of {report.subject}"
    totals: dict[str, int] = {}
    for counts in report.verdicts.values():
        for verdict, count in counts.items():
            totals[verdict] = totals.get(verdict, 0) + count
    yield ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(totals.items()))
    if not report.results:
        yield "nothing was asked: no success"
    elif report.findings:
        yield f"{counted(len(report.findings), 'finding')}, each with the command that repeats it"
    else:
        yield "no fault, and no refutation that the record does not have"
    yield f"{seconds:.0f} s; {file}"


def _told(finding: DrawFinding) -> Iterator[str]:
    kind = "fault" if finding.outcome == "FAULT" else "refuted"
    yield f"{kind}: {finding.claim} [{finding.reading}] on {counted(finding.draws, 'draw')}, first {finding.first}"
    yield f"  {finding.sentence}"
    if finding.instance:
        yield f"  smallest: n = {finding.n}, m = {finding.m}, p = {finding.p}: {finding.instance}"
    yield f"  {finding.command}"
