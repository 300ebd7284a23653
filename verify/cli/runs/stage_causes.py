"""What is off in another subject's stages, looked for where a run of the command ends with a finding."""

from __future__ import annotations

import math
import sys
from contextlib import redirect_stdout
from typing import Any

from spec.errors import InvalidInputError
from verify.cli.output.console import ended_politely, say
from verify.report.report_files import Report
from verify.report.rows.letter import Letter
from verify.subjects import SubjectFaultError
from verify.subjects.subject_names import COMMAND


def require_causes(seconds: float, dashes: str = "--", *, traced: str | None = None, but: str = "") -> None:
    """Refuse a time for causes that is none, and a look for lines where there are none or causes are not looked for.

    Args:
        seconds: The time.
        dashes: What stands before a name of an argument.
        traced: The subject, where its lines are to be looked for.
        but: An argument with which causes are not looked for, if it is given.
    """
    if not 0 <= seconds < math.inf:
        raise InvalidInputError(f"{dashes}causes", "must be >= 0 and finite", seconds)
    if traced is None:
        return
    if ":" not in traced or traced.startswith(COMMAND):
        raise InvalidInputError(f"{dashes}trace", "must go with a Python subject, package.module:Attribute", traced)
    if but or not seconds:
        rule = f"must not go with {but or f'{dashes}causes 0'}: causes are not looked for then"
        raise InvalidInputError(f"{dashes}trace", rule)


def with_causes(report: Report, seconds: float, time_limit: float | None, *, trace: bool) -> Report:
    """With what stages of another subject compute where they are off, if its run ends with a finding; else as it is.

    What is found changes no verdict, and is no part of ``report.json``.
    """
    if not seconds or report.is_of_the_paper or report.exit_code != 1 or not report.complete:
        return report
    letter = letter_of_stages(report.subject, report.seed, seconds, time_limit, trace=trace)
    return report if letter is None else report.with_letter(letter)


def letter_of_stages(
    subject: Any, seed: int, seconds: float, time_limit: float | None, *, trace: bool
) -> Letter | None:
    """What the stages compute, looked for as ``f2csa conform`` does, for as long at most; none if it cannot be.

    A subject given by name is asked in a process of its own. With ``trace`` its lines are looked for after that.
    """
    from verify.conformance.judge import conform
    from verify.conformance.letter.author_letter import told as letter_of  # a run without findings needs none of it

    sys.stderr.write(f"f2csa: looking for what is off in each stage, for {seconds:.0f} s at most\n")
    try:
        with ended_politely(), redirect_stdout(sys.stderr):
            conformance = conform(
                subject, seed=seed, seconds=seconds, time_limit=time_limit, stages_only=True, trace=trace and say
            )
            return letter_of(conformance)
    except (InvalidInputError, SubjectFaultError) as error:
        sys.stderr.write(f"f2csa: what is off was not looked for: {error}\n")
        return None


def causes(report: Report) -> list[str]:
    """What was found to be off in each stage, a line each; empty where it was not looked for."""
    return [] if report.letter is None else report.letter.causes()
