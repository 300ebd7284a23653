"""What a CI job reads beside the summary: annotations on standard output, and a SARIF file."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spec.errors import InvalidInputError
from spec.files import refuse_to_replace, write_files
from verify.cli.arguments.sources import require_one_of
from verify.cli.output.console import printable
from verify.cli.output.outlets import ON_GITHUB, Spoken
from verify.report.findings.found_issues import Issue, SourceLine, SourceTree, issues_of, told
from verify.report.formats.sarif import About, render_sarif
from verify.report.formats.workflow_commands import commands_of
from verify.report.report_files import Report

if TYPE_CHECKING:
    from verify.conformance.found import Diagnosis
    from verify.conformance.model import Conformance

KINDS = ("github", "none")


class CiOutput:
    """Where issues go, as asked for on the command line; what cannot be done is refused before any run.

    Args:
        kind: ``github`` or ``none``; ``None`` for ``github`` where the job is one of GitHub Actions.
        sarif: File for the SARIF log, if any.
        as_json: Whether standard output is for JSON alone; annotations go to standard error then.

    Raises:
        InvalidInputError: If there is no such kind, or the file is somebody else's.
    """

    def __init__(self, kind: str | None, sarif: Path | None, *, as_json: bool) -> None:
        automatic = "github" if os.environ.get(ON_GITHUB) == "true" else "none"
        self.kind = automatic if kind is None else require_one_of("--annotations", kind, KINDS)
        self.sarif = sarif
        self.as_json = as_json
        if self.kind == "github":
            for stream in (sys.stdout, sys.stderr):
                if isinstance(stream, Spoken):
                    stream.guarded = True
        if sarif is not None:
            if sarif.is_dir():
                raise InvalidInputError("--sarif", "must be a file, not a folder", str(sarif))
            refuse_to_replace(sarif, "--sarif")

    @property
    def wanted(self) -> bool:
        """Whether issues go anywhere."""
        return self.kind != "none" or self.sarif is not None

    def report(self, report: Report) -> None:
        """Tell of a run."""
        if self.wanted:
            about = About(report.subject, report.profile, report.seed, report.exit_code, report.complete)
            self._tell(issues_of(report, _tree()), about)

    def conformance(self, conformance: Conformance) -> None:
        """Tell of an implementation that was judged, its stages included."""
        if self.wanted:
            results = conformance.report.results if conformance.report is not None else ()
            explained = [one for one in conformance.diagnoses if one.explanations or one.matches]
            stages = {str(one.stage): _joined(explained, one.stage) for one in conformance.stages}
            about = About(
                conformance.subject, conformance.profile, conformance.seed, conformance.exit_code, conformance.complete
            )
            lines: dict[str, list[tuple[SourceLine, str]]] = {}
            for line in conformance.trace.lines if conformance.trace is not None else ():
                lines.setdefault(line.stage, []).append((SourceLine(line.file, line.line), line.sentence))
            self._tell(told(conformance.findings, conformance.faults, results, _tree(), stages, lines), about)

    def _tell(self, issues: Sequence[Issue], about: About) -> None:
        if self.sarif is not None:
            write_files(self.sarif.parent, {self.sarif.name: render_sarif(issues, about)}, "--sarif")
        if self.kind == "github":
            stream = sys.stderr if self.as_json else sys.stdout
            for line in map(printable, commands_of(issues)):
                stream.command(line) if isinstance(stream, Spoken) else stream.write(f"{line}\n")


def _joined(explained: Sequence[Diagnosis], stage: str) -> str:
    """What a stage computes instead, that with the largest effect first."""
    return " ".join(one.sentence for one in explained if one.stage == stage)


def _tree() -> SourceTree:
    return SourceTree.of(os.environ, Path.cwd())
