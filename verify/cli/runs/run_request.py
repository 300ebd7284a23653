"""From a command to the run it asks for: its options, and the run watched by a progress bar."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import replace
from typing import Any, TypeAlias

from spec.errors import InvalidInputError
from verify.campaign.baseline.model import Selection
from verify.campaign.run import carry_out
from verify.campaign.run_options import NAMES, RunOptions
from verify.cli.arguments import options
from verify.cli.arguments.store_options import SoakOptions
from verify.cli.output.console import cores, ended_politely, progress_bar
from verify.report.report_files import Report

Command: TypeAlias = options.Verify | options.RecordOptions | options.Compare
ONE_OF_MANY = {"readings": "reading", "instances": "instance"}
"""Options of a run that a command is given one by one."""


def options_of(request: Command | SoakOptions, **more: Any) -> RunOptions:
    """The options of a command's run: what the command says of them, and before that ``more``."""
    spoken = {name: getattr(request, ONE_OF_MANY.get(name, name), None) for name in NAMES}
    given = {name: value for name, value in spoken.items() if value not in (None, [])}
    return RunOptions(**{"jobs": cores()} | given | more)


def selected(request: Command) -> Selection:
    """The claims, readings and instances asked for."""
    return Selection(tuple(request.claims or ()), tuple(request.reading or ()), tuple(request.instance or ()))


def watched(run: RunOptions, *, quiet: bool = False) -> Report:
    """Run with a progress bar, ended politely; whatever the subject prints goes to standard error.

    A selection that no check matches is refused.
    """
    with progress_bar(quiet=quiet) as progress, ended_politely(), redirect_stdout(sys.stderr):
        report = carry_out(replace(run, progress=progress))
    if not report.results and report.complete:
        named = ", ".join(run.claims) or None
        raise InvalidInputError("claims", "must select at least one check; no check matches", named)
    return report
