"""A report as data on the disk: ``report.json`` to read, ``evidence.json`` beside it to decide the verdicts by."""

from __future__ import annotations

import hashlib
import json
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spec.blocks.exact_json import loads
from spec.errors import InvalidInputError, from_validation
from verify.evidence.charts import Plot
from verify.evidence.model import Evidence, FrozenData
from verify.report.model import SCHEMA, EvidenceFile, ReportData, Result
from verify.report.rows.identified import Identified

AnyReport = TypeVar("AnyReport", bound=ReportData)

FILE = "report.json"
EVIDENCE = "evidence.json"
EVIDENCE_SCHEMA = "f2csa-evidence/1"
BULKY = ("evidence", "pictures", "continuation")
"""Fields of a result that stand in ``evidence.json``."""
REQUIRED = frozenset(name for name, field in Result.model_fields.items() if field.is_required())
EMPTY: tuple[Any, ...] = (None, "", [], {})
APART = f"must lie beside the {EVIDENCE} it was written with: the one there has another SHA-256"


class MeasuredRow(FrozenData, Identified):
    """What one result rests on.

    Args:
        claim: As in the result, with ``reading`` and ``instance``.
        reading: As in the result.
        instance: As in the result.
        evidence: All that was measured.
        pictures: Curves of what was measured.
        continuation: Where more samples would decide: the growing samples so far.
    """

    claim: str
    reading: str
    instance: str
    evidence: tuple[Evidence, ...] = ()
    pictures: tuple[Plot, ...] = ()
    continuation: tuple[dict[str, Any], ...] = ()


class EvidenceData(FrozenData):
    """The evidence of a run's results; ``report.json`` beside it holds its digest.

    Args:
        schema: ``f2csa-evidence/1``.
        draws_asked: As in the report; left out where it is 0.
        results: Those that rest on something, in the report's order.
    """

    schema_: str = Field(default=EVIDENCE_SCHEMA, alias="schema")
    draws_asked: int = 0
    results: tuple[MeasuredRow, ...]

    model_config = ConfigDict(populate_by_name=True, title="Evidence")


def data_files(report: ReportData) -> dict[str, str]:
    """Both files' texts by name, a result a line, without times; infinities are ``"Infinity"`` and ``"-Infinity"``.

    A result's fields that may be absent are, where they are null or empty; a summary row has all of its own.

    Raises:
        InvalidInputError: If the report was read without its evidence: then there is nothing to write or draw.
        ValueError: If the texts do not read back as the same report; then a field cannot survive JSON.
    """
    if report.lacks_evidence:
        raise InvalidInputError("report", f"must have its {EVIDENCE} beside it when it is read, to be written again")
    timeless = report.timeless.model_copy(update={"schema_": SCHEMA})
    measured = [{name: getattr(result, name) for name in ("claim", "reading", "instance", *BULKY)}
                for result in timeless.results]  # fmt: skip
    rested = tuple(MeasuredRow(**one) for one in measured if any(one[name] for name in BULKY))
    held = _plain(EvidenceData(draws_asked=timeless.draws_asked, results=rested))
    evidence = _lines({name: value for name, value in held.items() if name != "draws_asked" or value}, "results")
    digest = hashlib.sha256(evidence.encode()).hexdigest()
    bare = _plain(timeless.model_copy(update={"evidence_file": EvidenceFile(sha256=digest)}))
    bare["results"] = [
        {
            name: value
            for name, value in result.items()
            if name in REQUIRED or (name not in BULKY and value not in EMPTY)
        }
        for result in bare["results"]
    ]
    text = _lines(bare, "results", "summary")
    again = rejoined(ReportData.model_validate_json(text), evidence)
    if again.model_dump_json() != timeless.model_dump_json():
        raise ValueError("the report does not survive being written as JSON")
    return {FILE: text, EVIDENCE: evidence}


def rejoined(report: AnyReport, text: str, argument: str = "report", path: str | None = None) -> AnyReport:
    """A report as it was before its evidence was written beside it.

    Args:
        report: As read from ``report.json``.
        text: All of ``evidence.json``.
        argument: What the report is called in errors.
        path: Where it was read from.

    Raises:
        InvalidInputError: If the evidence is not that of this report.
    """
    if report.evidence_file is None:
        return report
    if hashlib.sha256(text.encode()).hexdigest() != report.evidence_file.sha256:
        raise InvalidInputError(argument, APART, path)
    loads(text, EVIDENCE)  # a key that repeats would say one thing to a reader and another to us
    try:
        held = EvidenceData.model_validate_json(text)
    except ValidationError as error:
        raise from_validation(error, EVIDENCE) from None
    if held.draws_asked != report.draws_asked:
        rule = f"must say as its {EVIDENCE} that {held.draws_asked} drawn problems of each family were asked about"
        raise InvalidInputError(argument, rule, report.draws_asked)
    by_key = {one.key: one for one in held.results}
    if held.schema_ != EVIDENCE_SCHEMA:
        raise InvalidInputError(EVIDENCE, f"must have the schema {EVIDENCE_SCHEMA}", held.schema_)
    if len(by_key) < len(held.results) or not by_key.keys() <= {result.key for result in report.results}:
        raise InvalidInputError(EVIDENCE, f"must hold results of {FILE}, each once")
    results = tuple(
        result.model_copy(update={name: getattr(by_key[result.key], name) for name in BULKY})
        if result.key in by_key else result
        for result in report.results
    )  # fmt: skip
    return report.model_copy(update={"results": results, "evidence_file": None})


def _plain(model: BaseModel) -> dict[str, Any]:
    # Only pydantic's own JSON writes infinities as strings.
    return dict(json.loads(model.model_dump_json(by_alias=True)))


def _lines(plain: dict[str, Any], *lists: str) -> str:
    """JSON with one entry of the lists a line, so that version control and a pager show what changed."""
    parts = [f" {json.dumps(name)}: {_rows(plain[name]) if name in lists else _compact(plain[name])}" for name in plain]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _rows(rows: list[Any]) -> str:
    return "[\n" + ",\n".join("  " + _compact(row) for row in rows) + "\n ]" if rows else "[]"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
