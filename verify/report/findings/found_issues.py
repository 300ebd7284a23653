"""What a reader must look at, one issue each: faults, findings, and repaired statements that are refuted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from spec.claims import load_claims
from spec.expectations import reason_of
from verify.report.model import ReportData, Result
from verify.report.rows.letter import Letter
from verify.report.rows.summary_row import SummaryRow
from verify.verdict import Verdict

Level = Literal["error", "warning"]
Kind = Literal["fault", "finding", "refuted", "run", "cause"]
RUN = "run"
"""Rule of what is said of a run as a whole."""
STAGE = "stage/"
"""What the rule of one stage asked by itself begins with."""
_WHERE = re.compile(
    r"(?P<claim>[\w-]+(?:/[\w-]+)?)(?: \[(?P<reading>[^\]]+)\])? on (?P<instance>\S+): (?P<text>.+)", re.S
)
_PLACE = re.compile(r"\((?P<file>[^():]+):(?P<line>[1-9]\d*) in [^()]+\)")
"""How a fault names a line of the user's source (:mod:`verify.subjects.fault_places`)."""


@dataclass(frozen=True)
class SourceLine:
    """A line of a user's file.

    Args:
        file: Relative to the root of the source, with forward slashes.
        line: Counted from 1.
    """

    file: str
    line: int


@dataclass(frozen=True)
class Issue:
    """One thing to look at.

    Args:
        level: An ``error`` makes the exit code what it is; a ``warning`` is known, or says no more than others.
        kind: What it is.
        rule: Full id of the claim or step, ``stage/NAME``, or ``run``.
        message: What was found, in one line.
        reading: Where it is about a result: the reading.
        instance: The same: the instance.
        place: The line of the user's source that a fault names, where that file is there.
        reproduce: The command that repeats it.
        excuse: Why the user expects it, where their list does.
    """

    level: Level
    kind: Kind
    rule: str
    message: str
    reading: str = ""
    instance: str = ""
    place: SourceLine | None = None
    reproduce: str = ""
    excuse: str = ""

    @property
    def where(self) -> str:
        """``bias-bound/T3 [repaired] on toy1``; the rule alone where it is about no result."""
        return f"{self.rule} [{self.reading}] on {self.instance}" if self.reading else self.rule


@dataclass(frozen=True)
class SourceTree:
    """Where a fault's file may lie: below ``root``, looked for from ``here`` and from each of ``beside``."""

    root: Path
    here: Path
    beside: tuple[Path, ...] = ()

    @classmethod
    def of(cls, surroundings: Mapping[str, str], here: Path) -> SourceTree:
        """The checkout that a CI job names (``GITHUB_WORKSPACE``) where the working directory is in it, else that."""
        here = here.resolve()
        named = surroundings.get("GITHUB_WORKSPACE", "")
        root = Path(named).resolve() if named else here
        root = root if here.is_relative_to(root) else here
        paths = tuple(here / entry for entry in surroundings.get("PYTHONPATH", "").split(os.pathsep) if entry)
        return cls(root, here, (here / "src", *paths))

    def find(self, file: str) -> str:
        """The file relative to the root; empty where it is not below it."""
        for folder in (self.here, *self.beside):
            path = (folder / file).resolve()
            if path.is_file() and path.is_relative_to(self.root):
                return path.relative_to(self.root).as_posix()
        return ""


def issues_of(report: ReportData, tree: SourceTree) -> list[Issue]:
    """What was found of stages first, then faults, findings, and repaired statements refuted that no finding named."""
    faults = [f"{result.where}: {result.fault}" for result in report.faults]
    issues = [*_causes(report.letter, tree), *told(report.findings, faults, report.results, tree), *_of_run(report)]
    known = {issue.rule for issue in issues}
    return issues + [
        _known(row, _excuse(report, row))
        for row in report.summary
        if row.reading == "repaired" and row.status is Verdict.REFUTED and row.claim not in known
    ]


def _causes(letter: Letter | None, tree: SourceTree) -> Iterator[Issue]:
    """What each stage computes instead, where that was looked for: a warning, for others say that something is off.

    It stands at the line that makes the stage wrong, where that was looked for, too.
    """
    for one in letter.wrong if letter is not None else ():
        if one.is_explained or one.lines:
            remedies = [f"{place}: {remedy}." for place, remedy in one.remedies]
            named = [place.rpartition(":") for place, _ in one.remedies]
            lines = (SourceLine(tree.find(file), int(line)) for file, _, line in named)
            message = " ".join(filter(None, [one.sentence, one.rest, *remedies]))
            at = next((line for line in lines if line.file), None)
            yield Issue("warning", "cause", f"{STAGE}{one.stage}", message, place=at)


def _excuse(report: ReportData, row: SummaryRow) -> str:
    """Why a row is expected to be refuted; empty unless all that is refuted behind it is."""
    behind = [
        result for result in report.results
        if result.verdict is Verdict.REFUTED and result.reading == row.reading
        and row.claim in (result.claim, result.claim.partition("/")[0])
    ]  # fmt: skip
    if not behind or not all(map(report.excuse, behind)):
        return ""
    return reason_of(report.expected_failures, row.decided_by or row.claim, row.reading, row.deciding)


def _known(row: SummaryRow, excuse: str) -> Issue:
    told = f"{row.sentence} Expected to fail: {excuse}" if excuse else row.sentence
    return Issue(
        "warning", "refuted", row.claim, told, "repaired", row.deciding, reproduce=row.reproduce, excuse=excuse
    )


def told(
    findings: Sequence[str],
    faults: Sequence[str],
    results: Sequence[Result],
    tree: SourceTree,
    stages: Mapping[str, str] = MappingProxyType({}),
    source: Mapping[str, Sequence[tuple[SourceLine, str]]] = MappingProxyType({}),
) -> list[Issue]:
    """Issues of lines as reports have them, ``WHERE: TEXT``.

    ``stages`` are names that may stand for WHERE, each with what it computes instead, where that is known.

    ``source`` are the lines of the user's source that make a stage wrong, each with what should stand there.

    WHERE is ``bias-bound/T3 [repaired] on toy1``, or without its reading where that is the repaired one.
    """
    commands = {result.where: result.reproduce for result in results}
    lines: list[tuple[Kind, str]] = [("fault", line) for line in faults] + [("finding", line) for line in findings]
    issues = []
    for kind, line in lines:
        stage, _, text = line.partition(": ")
        match = _WHERE.fullmatch(line)
        if match is not None and (match["reading"] or match["claim"] in statement_ids()):
            # Who judges an implementation judges the repaired reading alone, and does not say so in each line.
            reading = match["reading"] or "repaired"
            command = commands.get(f"{match['claim']} [{reading}] on {match['instance']}", "")
            named = (match["claim"], match["text"], reading, match["instance"])
            issues.append(Issue("error", kind, *named, _place(line, tree), command))
        elif stage in stages:
            # The line that makes the stage wrong is where a reader looks first; a second one is told beside it.
            traced = [(SourceLine(tree.find(at.file), at.line), remedy) for at, remedy in source.get(stage, ())]
            told_too = "".join(f" {at.file}:{at.line}: {remedy}." for at, remedy in source.get(stage, ()))
            place = next((at for at, _ in traced if at.file), None) or _place(line, tree)
            # A memory's finding says what it is already.
            message = text if stages[stage].rstrip(".") in text else f"{stages[stage]} {text}"
            issues.append(Issue("error", kind, f"{STAGE}{stage}", f"{message}{told_too}", place=place))
        else:
            issues.append(Issue("error", kind, RUN, line, place=_place(line, tree)))
    return issues


def _of_run(report: ReportData) -> Iterator[Issue]:
    if report.nothing_compared:
        yield Issue("error", "run", RUN, "nothing that was asked applies to the subject; no comparison was made")
    elif report.nothing_holds and not report.faults:
        yield Issue("error", "run", RUN, "no repaired statement about a solver holds for this subject")
    if not report.complete:
        yield Issue("error", "run", RUN, "the run was interrupted; its report is incomplete")


def _place(line: str, tree: SourceTree) -> SourceLine | None:
    for match in reversed(list(_PLACE.finditer(line))):
        if file := tree.find(match["file"]):
            return SourceLine(file, int(match["line"]))
    return None


@lru_cache(maxsize=1)
def statement_ids() -> frozenset[str]:
    """Full ids of all claims and steps."""
    return frozenset(full for claim in load_claims().values() for full, _ in claim.statements())
