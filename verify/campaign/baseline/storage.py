"""Baselines on disk: read what was recorded, or a report, or verdicts alone; write without losing anything else."""

from __future__ import annotations

import json
import math
import os
from contextlib import suppress
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from spec.blocks.exact_json import loads
from spec.errors import InvalidInputError, from_validation, unwritable
from spec.files import read_text
from verify.campaign.baseline.model import SCHEMA, Baseline
from verify.checks.measuring.case import PROFILES
from verify.report.formats.data_files import EVIDENCE, FILE, rejoined
from verify.report.model import FIRST_SCHEMA
from verify.report.model import SCHEMA as REPORT
from verify.report.report_files import Report
from verify.verdict import Verdict

REPORTS = (REPORT, FIRST_SCHEMA)
NEITHER = "must be a report.json or a recorded baseline"
NOTHING = "must hold at least one verdict to compare with"
MAX_BYTES = 256 * 1024 * 1024
"""Largest file read; the report of a full run is a few per cent of it."""
RECORD = resources.files("verify.campaign.baseline") / "records" / "reference.json"


@lru_cache(maxsize=1)
def shipped_record() -> dict[str, str]:
    """Verdicts of the reference as recorded with this version, by ``claim|reading|instance``.

    Recorded by running, never written by hand; a result without an entry is compared with nothing.
    """
    return _parsed(RECORD.read_text(encoding="utf-8"), "record", RECORD.name).verdicts


def load(path: Path, argument: str = "baseline") -> Baseline:
    """Read a baseline, a ``report.json``, or a record of verdicts alone (``{"claim|reading|instance": VERDICT}``).

    A report without its ``evidence.json`` is compared by its verdicts alone. Refused is what cannot be read or is none
    of them, or holds no verdict.
    """
    return _parsed(read_text(path, argument, MAX_BYTES), argument, str(path), path.with_name(EVIDENCE))


def parse(text: str, argument: str, path: str) -> Baseline:
    """A baseline, report or record of verdicts as text, as :func:`load` reads it from the file that ``path`` names."""
    return _parsed(text, argument, path)


def _parsed(text: str, argument: str, path: str, beside: Path | None = None) -> Baseline:
    try:
        data = loads(text, argument)
    except InvalidInputError as error:  # of several files, which
        raise InvalidInputError(argument, error.rule, path if error.value is None else error.value) from None
    if not isinstance(data, dict):
        raise InvalidInputError(argument, NEITHER, path)
    schema = data.get("schema")
    if schema == SCHEMA:
        try:
            return _consistent(Baseline.model_validate_json(text), argument)
        except ValidationError as error:
            raise from_validation(error, argument) from None
    if isinstance(schema, str) and schema.startswith(SCHEMA.partition("/")[0] + "/"):
        raise InvalidInputError(argument, f"must have the schema {SCHEMA}", schema)
    report = None
    with suppress(ValidationError):  # one of another version: its verdicts can be compared all the same
        report = Report.model_validate_json(text) if schema in REPORTS else None
    if report is not None and beside is not None:
        report = _whole(report, beside, argument, path)
    if report is None or report.lacks_evidence:
        return _verdicts(data, argument, path)
    if not report.has_verdicts:
        raise InvalidInputError(argument, NOTHING, path)
    return Baseline.of(report)


def load_report(path: str | Path, argument: str = "report", evidence_for: str = "") -> Report:
    """Read a ``report.json`` with the ``evidence.json`` beside it, where that is.

    Args:
        path: The file, or the folder it lies in.
        argument: What it is called in errors.
        evidence_for: What the evidence is wanted for, in a few words; empty where the report will do without.

    Raises:
        InvalidInputError: If it is no report, its evidence is that of another, or is wanted and not there.
    """
    path = Path(path)
    file = path / FILE if path.is_dir() else path
    text = read_text(file, argument, MAX_BYTES)
    data = loads(text, argument)
    if not isinstance(data, dict) or data.get("schema") not in REPORTS:
        raise InvalidInputError(argument, "must be a report.json", str(file))
    try:
        report = Report.model_validate_json(text)
    except ValidationError as error:
        raise from_validation(error, argument) from None
    report = _whole(report, file.with_name(EVIDENCE), argument, str(file))
    if report.lacks_evidence and evidence_for:
        raise InvalidInputError(argument, f"must have its {EVIDENCE} beside it, to {evidence_for}", str(file))
    return report


def _whole(report: Report, beside: Path, argument: str, path: str) -> Report:
    """The report with its evidence, where that is beside it."""
    if not report.lacks_evidence or not beside.exists():
        return report
    return rejoined(report, read_text(beside, EVIDENCE, MAX_BYTES), argument, path)


def dumps(baseline: Baseline) -> str:
    """A baseline as a file: one result a line, so that version control shows what changed."""
    # Only pydantic's own JSON writes infinities as strings.
    plain = {"schema": SCHEMA, **json.loads(baseline.model_dump_json(by_alias=True, exclude_defaults=True))}
    results = plain.pop("results")
    head = [f" {json.dumps(name)}: {_compact(value)}," for name, value in plain.items()]
    rows = ",\n".join("  " + _compact(row) for row in results)
    return "\n".join(["{", *head, ' "results": [', rows, " ]", "}"]) + "\n"


def refuse_to_overwrite(path: Path, *, force: bool, argument: str = "--out") -> None:
    """Let a baseline be recorded anew, but no other file be lost, unless by force."""
    if path.is_dir():
        raise InvalidInputError(argument, "must be a file, not a folder", str(path))
    if force or not path.exists():
        return
    try:
        load(path, argument)
        is_report = loads(read_text(path, argument, MAX_BYTES), argument).get("schema") == REPORT
    except InvalidInputError:
        is_report = True
    if is_report:
        rule = "must not be a file that holds something else than a baseline (--force overwrites it)"
        raise InvalidInputError(argument, rule, str(path))


def store(baseline: Baseline, path: Path, *, argument: str = "--out") -> None:
    """Write a baseline; an error leaves the old file as it was."""
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(dumps(baseline), encoding="utf-8")
        os.replace(part, path)  # noqa: PTH105  # Path.replace is the same call; here the target is named second
    except (OSError, ValueError) as error:
        raise unwritable(error, argument, "must be a writable file", str(path)) from None


def _consistent(baseline: Baseline, argument: str) -> Baseline:
    """Refuse what no run recorded: an exponent outside of its own interval, support by what does not hold."""
    for entry in baseline.results:
        for level in entry.levels:
            if entry.verdict is Verdict.SUPPORTED and level.role == "conclusion" and not level.holds:
                rule = f"{level.quantity} must be {level.relation} {level.predicted:.6g} where the verdict is SUPPORTED"
                raise InvalidInputError(f"{argument}, {entry.where}", rule, level.measured)
        for sweep in entry.sweeps:
            low, high = sweep.interval
            # The file keeps eight digits.
            slack = 1e-6 * (1 + abs(sweep.exponent)) if math.isfinite(sweep.exponent) else 0.0
            undetermined = math.isnan(sweep.exponent) and not math.isfinite(low + high)
            if not undetermined and not low - slack <= sweep.exponent <= high + slack:
                rule = (
                    f"exponent of {sweep.quantity} on {entry.instance} must lie in its interval [{low:.4g}, {high:.4g}]"
                )
                raise InvalidInputError(f"{argument}.results.{entry.claim}", rule, sweep.exponent)
    return baseline


def _verdicts(data: dict[str, Any], argument: str, path: str) -> Baseline:
    subject, profile, seed = data.get("subject"), data.get("profile"), data.get("seed")
    verdicts: list[tuple[tuple[Any, ...], Any]]
    if isinstance(data.get("results"), list):
        try:
            rows = [((r["claim"], r["reading"], r["instance"]), r["verdict"]) for r in data["results"]]
        except (TypeError, KeyError):
            raise InvalidInputError(argument, "must hold results with claim, reading, instance and verdict") from None
        verdicts = [(key, verdict) for key, verdict in rows if verdict is not None]
    else:
        subject = profile = seed = None
        verdicts = [(tuple(key.split("|")), verdict) for key, verdict in data.items()]
    if not verdicts:
        raise InvalidInputError(argument, NOTHING, path)
    known = {str(verdict) for verdict in Verdict}
    if not all(
        len(key) == 3 and all(type(part) is str for part in key) and type(verdict) is str and verdict in known
        for key, verdict in verdicts
    ):
        raise InvalidInputError(argument, NEITHER, path)
    entries = [
        {"claim": claim, "reading": reading, "instance": instance, "verdict": verdict}
        for (claim, reading, instance), verdict in verdicts
    ]
    head = {
        "subject": subject if isinstance(subject, str) else "",
        "seed": seed if type(seed) is int and seed >= 0 else 0,
        "profile": profile if profile in PROFILES else "ci",
    }
    try:
        return Baseline.model_validate(head | {"results": entries, "verdicts_only": True})
    except ValidationError as error:
        raise from_validation(error, argument) from None


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
