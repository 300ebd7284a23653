"""What is off in another subject's stages, looked for where a run of the command ends with a finding."""

from __future__ import annotations

import math
import sys
from contextlib import redirect_stdout

from spec.errors import InvalidInputError
from verify.cli.output.console import ended_politely
from verify.report.report_files import Report
from verify.subjects import SubjectFaultError


def require_seconds(seconds: float) -> None:
    """Refuse a time for causes that is none."""
    if not 0 <= seconds < math.inf:
        raise InvalidInputError("--causes", "must be >= 0 and finite", seconds)


def with_causes(report: Report, seconds: float, time_limit: float | None) -> Report:
    """With what stages of another subject compute where they are off, if its run ends with a finding; else as it is.

    Stages are compared and explained as ``f2csa conform`` does, for as long at most, in a process of the subject's own;
    what is found changes no verdict, and is no part of ``report.json``.
    """
    if not seconds or report.is_of_the_paper or report.exit_code != 1 or not report.complete:
        return report
    from verify.conformance.judge import conform
    from verify.conformance.letter.author_letter import told as letter_of  # a run without findings needs none of it

    sys.stderr.write(f"f2csa: looking for what is off in each stage, for {seconds:.0f} s at most\n")
    try:
        with ended_politely(), redirect_stdout(sys.stderr):
            found = conform(report.subject, seed=report.seed, seconds=seconds, time_limit=time_limit, stages_only=True)
    except (InvalidInputError, SubjectFaultError) as error:
        sys.stderr.write(f"f2csa: what is off was not looked for: {error}\n")
        return report
    return report.with_letter(letter_of(found))


def causes(report: Report) -> list[str]:
    """What was found to be off in each stage, a line each; empty where it was not looked for."""
    return [] if report.letter is None else report.letter.causes()
