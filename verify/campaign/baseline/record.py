"""The verdicts on record, and what differs from them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path

from verify.report.model import Result
from verify.verdict import Verdict

RECORD = "reference.json"
MISSING_STAGE = ("Not applicable: the subject offers no ", "Not applicable: the subject does not support ")
"""How a result begins whose check needs what the subject lacks."""


@lru_cache(maxsize=1)
def shipped_record() -> dict[str, str]:
    """Verdicts of the reference as recorded with this version, by ``claim|reading|instance``.

    Recorded by running, never written by hand; a result without an entry is compared with nothing.
    """
    file = resources.files("verify.campaign.baseline") / "records" / RECORD
    found: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return found


def record_of(results: Sequence[Result]) -> dict[str, str]:
    """The record a run would leave; faults are never put on record."""
    return {_key(result): str(result.verdict) for result in results if result.verdict is not None}


def dumps_record(record: dict[str, str]) -> str:
    """A record as a file, one verdict a line, sorted."""
    return json.dumps(record, indent=0, sort_keys=True, ensure_ascii=False) + "\n"


def compare(results: Sequence[Result], record: dict[str, str]) -> tuple[list[Result], list[str]]:
    """Mark each result as expected or not, and list what differs.

    Args:
        results: The run's results.
        record: Verdicts on record by key.

    Returns:
        The results with :attr:`~verify.report.model.Result.expected` set where there is a record, and one line for
        each that differs. A fault is not a finding: it is reported as a fault.
    """
    judged, findings = [], []
    for result in results:
        # A stage that a subject does not offer is no deviation from the record.
        missing = result.verdict is Verdict.NOT_APPLICABLE and result.sentence.startswith(MISSING_STAGE)
        on_record = None if missing else record.get(_key(result))
        expected = None if on_record is None or result.verdict is None else str(result.verdict) == on_record
        judged.append(result.model_copy(update={"expected": expected}))
        if expected is False:
            where = f"{result.claim} [{result.reading}] on {result.instance}"
            findings.append(f"{where}: {result.verdict}, on record {on_record}. {result.sentence}")
        elif on_record is None and result.reading == "repaired" and result.verdict is Verdict.REFUTED and record:
            findings.append(f"{result.claim} [repaired] on {result.instance}: REFUTED. {result.sentence}")
    return judged, findings


def _key(result: Result) -> str:
    return f"{result.claim}|{result.reading}|{result.instance}"


def load_record(path: Path) -> dict[str, str]:
    """Read verdicts to compare with, from a ``report.json`` or from a recorded baseline.

    Raises:
        InvalidInputError: If the file cannot be read or is neither.
    """
    from verify.campaign.baseline.storage import load

    return load(path, "--baseline").verdicts
