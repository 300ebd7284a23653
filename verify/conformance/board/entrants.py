"""A board: reports of several programs side by side, each from its own folder."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from spec.blocks.exact_json import loads
from spec.errors import InvalidInputError, from_validation
from spec.files import read_text
from verify.campaign.baseline.storage import MAX_BYTES, load_report
from verify.conformance.model import SCHEMA, Conformance
from verify.evidence.model import FrozenData
from verify.report.report_files import Report
from verify.report.rows.asked_and_held import Coverage

ARGUMENT = "REPORTS"
REPORT, CONFORM = "report.json", "conform.json"
"""What a program's folder holds: the verdicts on claims, and what each stage by itself came out with."""
STATUSES = ("agrees", "diverges", "undecided", "fault", "not offered")


class StageOnBoard(FrozenData):
    """One stage of a program: its name, ``agrees`` or the like, and what was found in a sentence."""

    stage: str
    status: str
    sentence: str


class BoardProgram(FrozenData):
    """One program on a board.

    Args:
        name: What the program calls itself, or how it was loaded.
        version: Its own; empty where it says none.
        suite: Version of this suite that judged it.
        date: Day on which its report was written.
        profile: How much was asked.
        seed: Of all randomness.
        folder: Where the report lies, as it was given.
        page: The report's own page; empty where there is none.
        stages: Each stage by itself; empty where no ``conform`` asked them.
        letter: What its wrong stages compute instead, the costliest first.
        statements: By id of a repaired statement about a solver: its status.
        findings: How many results differ from what is asked of it.
        faults: How many things went wrong.
        complete: Whether its run reached its end.
    """

    name: str
    version: str
    suite: str
    date: datetime.date
    profile: str
    seed: int
    folder: str
    page: str
    stages: tuple[StageOnBoard, ...]
    letter: tuple[str, ...]
    statements: dict[str, str]
    findings: int
    faults: int
    complete: bool

    @property
    def coverage(self) -> Coverage:
        """How much of what is said of a solver could be asked of it, and how much of that holds."""
        return Coverage.of(self.statements.values())

    @property
    def status_of(self) -> Mapping[str, str]:
        """Its stages' statuses by name."""
        return {stage.stage: stage.status for stage in self.stages}


class Board(FrozenData):
    """Programs in the order given, and what tells their runs apart."""

    entrants: tuple[BoardProgram, ...]

    @property
    def stages(self) -> tuple[str, ...]:
        """Every stage that some program was asked for, in order."""
        return tuple(dict.fromkeys(stage.stage for one in self.entrants for stage in one.stages))

    @property
    def statements(self) -> tuple[str, ...]:
        """Every statement that some program's report holds, in order."""
        return tuple(dict.fromkeys(name for one in self.entrants for name in one.statements))

    @property
    def differing(self) -> tuple[str, ...]:
        """Those that do not come out alike of all."""
        return tuple(name for name in self.statements if len({one.statements.get(name) for one in self.entrants}) > 1)

    @property
    def cautions(self) -> Iterator[str]:
        """Why two columns may not be comparable."""
        for what, values in (
            ("profiles", {one.profile for one in self.entrants}), ("seeds", {str(one.seed) for one in self.entrants}),
            ("versions of this suite", {one.suite for one in self.entrants}),
        ):  # fmt: skip
            if len(values) > 1:
                yield f"The runs have different {what}: {', '.join(sorted(values))}."
        for one in self.entrants:
            if not one.complete:
                yield f"The run of {one.name} did not reach its end."


def board_of(paths: Sequence[Path]) -> Board:
    """Read the reports of some folders, or files in them.

    Raises:
        InvalidInputError: If there is none, one is no report, or one is given twice.
    """
    folders: dict[Path, Path] = {}
    for path in paths:
        folder = path if path.is_dir() else path.parent
        if folder.resolve() in folders:
            raise InvalidInputError(ARGUMENT, "must not hold a report twice", str(path))
        folders[folder.resolve()] = path
    if not folders:
        raise InvalidInputError(ARGUMENT, "must be folders of reports, or a report.json or conform.json in them")
    return Board(entrants=tuple(_entrant(path) for path in folders.values()))


def _entrant(path: Path) -> BoardProgram:
    if not path.exists():
        raise InvalidInputError(ARGUMENT, "must be there", str(path))
    if not path.is_dir() and path.name not in (REPORT, CONFORM):
        raise InvalidInputError(ARGUMENT, f"must be a folder of a report, a {REPORT} or a {CONFORM}", str(path))
    folder = path if path.is_dir() else path.parent
    files = [folder / name for name in (CONFORM, REPORT) if (folder / name).is_file()]
    if not files:
        raise InvalidInputError(ARGUMENT, f"must hold a {REPORT} or a {CONFORM}", str(path))
    conformance = _conformance(folder / CONFORM) if folder / CONFORM in files else None
    report = load_report(folder / REPORT, ARGUMENT) if folder / REPORT in files else None
    return _joined(folder, files, conformance, report)


def _conformance(file: Path) -> Conformance:
    text = read_text(file, ARGUMENT, MAX_BYTES)
    data = loads(text, ARGUMENT)
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise InvalidInputError(ARGUMENT, f"must be a {CONFORM}", str(file))
    try:
        return Conformance.model_validate_json(text)
    except ValidationError as error:
        raise from_validation(error, ARGUMENT) from None


def _joined(
    folder: Path, files: Sequence[Path], conformance: Conformance | None, report: Report | None
) -> BoardProgram:
    named = report if report is not None else conformance
    if named is None or (conformance is not None and conformance.subject != named.subject):
        raise InvalidInputError(ARGUMENT, f"must hold a {REPORT} and a {CONFORM} of one program", str(folder))
    written = max(file.stat().st_mtime for file in files)
    statements: dict[str, str] = {}
    if report is not None:
        rows = (row for row in report.summary if row.reading == "repaired" and row.about == "subject")
        statements = {row.claim: str(row.status) for row in rows}
    elif conformance is not None:
        statements = {claim.claim: str(claim.status) for claim in conformance.claims}
    stages = conformance.stages if conformance is not None else ()
    faults = len(report.faults) if report is not None else 0
    page = folder / "report.html"
    return BoardProgram(
        name=named.subject, version=(report.subject_version or "") if report is not None else "",
        suite=named.environment.get("f2csa-verify", ""),
        date=datetime.datetime.fromtimestamp(written, tz=datetime.UTC).date(), profile=named.profile, seed=named.seed,
        folder=str(folder), page=str(page) if page.is_file() else "",
        stages=tuple(StageOnBoard(stage=s.stage, status=s.status, sentence=s.sentence) for s in stages),
        letter=tuple(f"{d.stage}: {d.sentence}" for d in conformance.diagnoses) if conformance is not None else (),
        statements=statements, findings=len((conformance or named).findings),
        faults=max(faults, len(conformance.faults) if conformance else 0), complete=named.complete,
    )  # fmt: skip
