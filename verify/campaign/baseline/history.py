"""Recorded baselines in order: every verdict, exponent and constant over them, and where one moved."""

from __future__ import annotations

import math
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeVar

from spec.claims import ORDER
from spec.errors import InvalidInputError
from verify.campaign.baseline.comparison import compare
from verify.campaign.baseline.model import Baseline, Entry, Level, Sweep
from verify.campaign.baseline.storage import load, parse
from verify.evidence.model import FrozenData
from verify.verdict import Verdict

ENDING = ".json"
Item = TypeVar("Item", Sweep, Level)


class HistoryRecord(FrozenData):
    """One baseline of a history.

    Args:
        name: The file's name, or the commit with its date.
        subject: Whom it is of.
        profile: The profile it was recorded with.
        verdicts: How many results have each verdict.
        worse: What got worse since the record before, one line each.
        other: What got better or is new since then, one line each.
    """

    name: str
    subject: str
    profile: str
    verdicts: dict[str, int]
    worse: tuple[str, ...] = ()
    other: tuple[str, ...] = ()


class VerdictCourse(FrozenData):
    """One number over the records; ``None`` where a record has none.

    Args:
        quantity: What was measured, in which variable where it was swept.
        what: ``exponent``, or ``constant``: a coefficient, the level at a sweep's last common point, or a value.
        values: One a record.
    """

    quantity: str
    what: Literal["exponent", "constant"]
    values: tuple[float | None, ...]


class HistoryLine(FrozenData):
    """One result over the records.

    Args:
        claim: Full id.
        reading: The reading.
        instance: Atlas name.
        verdicts: One a record, ``None`` where it is not in it.
        courses: Its exponents and constants.
        moved: Whether a record differs from the one before by more than the two allow.
    """

    claim: str
    reading: str
    instance: str
    verdicts: tuple[Verdict | None, ...]
    courses: tuple[VerdictCourse, ...] = ()
    moved: bool = False


class History(FrozenData):
    """Recorded baselines over time.

    Args:
        records: Oldest first.
        lines: Every result that any record holds, in the paper's order.
    """

    records: tuple[HistoryRecord, ...]
    lines: tuple[HistoryLine, ...]

    @property
    def moved(self) -> tuple[HistoryLine, ...]:
        """The lines along which something moved."""
        return tuple(line for line in self.lines if line.moved)


def history_of(named: Sequence[tuple[str, Baseline]]) -> History:
    """The history of baselines, oldest first, each with its name.

    Raises:
        InvalidInputError: If there is none.
    """
    if not named:
        raise InvalidInputError("files", "must hold at least one baseline", 0)
    baselines = [baseline for _, baseline in named]
    steps = [compare(old, new) for old, new in pairwise(baselines)]
    moved = {change.key for step in steps for change in step.changes}
    records = [
        HistoryRecord(
            name=name, subject=baseline.subject, profile=baseline.profile,
            verdicts=dict(sorted(Counter(str(entry.verdict) for entry in baseline.results).items())),
            worse=step.findings if step else (), other=step.reported if step else (),
        )
        for (name, baseline), step in zip(named, [None, *steps], strict=True)
    ]  # fmt: skip
    entries = [baseline.entries for baseline in baselines]
    first = {key: entry for by_key in reversed(entries) for key, entry in by_key.items()}
    lines = [_line(entry, [by_key.get(key) for by_key in entries], key in moved) for key, entry in first.items()]
    places = {name: place for place, name in enumerate(ORDER)}
    lines.sort(key=lambda line: (places.get(line.claim.split("/")[0], len(places)), line.claim))
    return History(records=tuple(records), lines=tuple(lines))


def _line(entry: Entry, entries: Sequence[Entry | None], moved: bool) -> HistoryLine:
    verdicts = tuple(None if each is None else each.verdict for each in entries)
    return HistoryLine(**entry.named, verdicts=verdicts, courses=tuple(_courses(entries)), moved=moved)


def _courses(entries: Sequence[Entry | None]) -> Iterator[VerdictCourse]:
    sweeps = [_numbered(each.sweeps if each else ()) for each in entries]
    for name in dict.fromkeys(name for there in sweeps for name in there):
        along = [there.get(name) for there in sweeps]
        quantity = f"{name[0]} in {next(sweep for sweep in along if sweep).variable}"
        yield _course(quantity, "exponent", [None if sweep is None else sweep.exponent for sweep in along])
        yield _course(quantity, "constant", _constants(along))
    levels = [_numbered(each.levels if each else ()) for each in entries]
    for name in dict.fromkeys(name for there in levels for name in there):
        yield _course(name[0], "constant", [there[name].measured if name in there else None for there in levels])


def _constants(along: Sequence[Sweep | None]) -> list[float | None]:
    """Leading coefficients where all have one, else levels at the last value of the variable that all have."""
    present = [sweep for sweep in along if sweep is not None]
    if all(sweep.coefficient is not None for sweep in present):
        return [None if sweep is None else sweep.coefficient for sweep in along]
    common = set.intersection(*(set(sweep.at) for sweep in present))
    at = next((value for value in reversed(present[-1].at) if value in common), None)
    return [None if at is None or sweep is None else sweep.measured[sweep.at.index(at)] for sweep in along]


def _course(quantity: str, what: Literal["exponent", "constant"], values: Sequence[float | None]) -> VerdictCourse:
    finite = tuple(None if value is None or not math.isfinite(value) else value for value in values)
    return VerdictCourse(quantity=quantity, what=what, values=finite)


def _numbered(items: Sequence[Item]) -> dict[tuple[str, int], Item]:
    """Items by name; those of one name by their place."""
    by_place: dict[tuple[str, int], Item] = {}
    counted: Counter[str] = Counter()
    for item in items:
        by_place[item.quantity, counted[item.quantity]] = item
        counted[item.quantity] += 1
    return by_place


def read_files(paths: Sequence[Path]) -> list[tuple[str, Baseline]]:
    """Baselines with their files' names, in the order given; those of a folder in the order of their names.

    Raises:
        InvalidInputError: If one cannot be read or is none, or a folder holds none.
    """
    named = []
    for path in paths:
        files = sorted(path.glob(f"*{ENDING}")) if path.is_dir() else [path]
        if not files:
            raise InvalidInputError("files", f"must be a folder that holds {ENDING} files", str(path))
        named += [(file.name, load(file, "files")) for file in files]
    return named


def read_commits(path: Path) -> list[tuple[str, Baseline]]:
    """A file's versions with their commits and dates, oldest first, as git has them.

    Raises:
        InvalidInputError: If git has none, or one is no baseline.
    """
    if not path.parent.is_dir():
        raise InvalidInputError("--commits", "needs a file that git has versions of", str(path))
    log = _git(path, "log", "--reverse", "--format=%h %cs", "--", path.name)
    named = []
    for line in log.splitlines():
        commit = line.split()[0]
        if _git(path, "ls-tree", "--name-only", commit, "--", path.name).strip():  # else that commit removed it
            named.append((line, parse(_git(path, "show", f"{commit}:./{path.name}"), f"files, {line}", str(path))))
    if not named:
        raise InvalidInputError("--commits", "needs a file that git has versions of", str(path))
    return named


def _git(path: Path, *arguments: str) -> str:
    command = ["git", "-c", "core.quotepath=off", "-C", str(path.parent), *arguments]
    try:
        process = subprocess.run(command, capture_output=True, check=True)
        return process.stdout.decode("utf-8")
    except FileNotFoundError:
        raise InvalidInputError("--commits", "needs git", str(path)) from None
    except (subprocess.CalledProcessError, UnicodeDecodeError):
        raise InvalidInputError("--commits", "needs a file that git has versions of", str(path)) from None
