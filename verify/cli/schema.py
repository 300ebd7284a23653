"""``f2csa schema``: JSON Schemas of every file and message the program reads or writes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from spec import Claim, OracleParameters, OuterParameters, PenaltyParameters, Problem, Reading
from spec.errors import InvalidInputError
from verify.campaign.baseline.comparison import Comparison
from verify.campaign.baseline.model import Baseline
from verify.conformance.model import Conformance
from verify.conformance.vectors.model import Manifest, VectorFile
from verify.report.faces import Report, report_schema, with_infinities
from verify.subjects.wire.methods import to_runner_schema, to_subject_schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, dict[str, Any]]:
    """All schemas by name."""
    kinds: dict[str, Any] = {
        "problem": Annotated[Problem, Field(discriminator="kind")],
        "reading": Reading,
        "penalty-parameters": PenaltyParameters,
        "oracle-parameters": OracleParameters,
        "outer-parameters": OuterParameters,
        "claim": Claim,
        "report": Report,
        "baseline": Baseline,
        "baseline-comparison": Comparison,
        "conformance": Conformance,
        "vectors": VectorFile,
        "vectors-manifest": Manifest,
    }
    made = {name: {"$schema": DIALECT, "title": name} | _schema(kind, name) for name, kind in kinds.items()}
    wire = {"wire-to-subject": to_subject_schema(), "wire-to-runner": to_runner_schema()}
    return made | {name: {"$schema": DIALECT, **schema, "title": name} for name, schema in wire.items()}


def _schema(kind: Any, name: str) -> dict[str, Any]:
    # A report is written, the others are read.
    made = report_schema() if name == "report" else TypeAdapter(kind).json_schema(mode="validation", by_alias=True)
    if name == "baseline":
        made = with_infinities(made)
    if name == "problem":
        for variant in made.get("$defs", {}).values():
            if "kind" in variant.get("properties", {}):
                variant["required"] = sorted({*variant.get("required", ()), "kind"})
    made.pop("title", None)
    return made


def execute(name: str | None, out: Path | None) -> None:
    """Print the schemas, or write one file each."""
    found = schemas()
    if name is not None and name not in found:
        raise InvalidInputError("schema", f"must be one of {', '.join(found)}", name)
    chosen = found if name is None else {name: found[name]}
    if out is None:
        shown: Any = chosen if name is None else chosen[name]
        sys.stdout.write(json.dumps(shown, indent=1, ensure_ascii=False) + "\n")
        return
    out.mkdir(parents=True, exist_ok=True)
    for key, value in chosen.items():
        (out / f"{key}.schema.json").write_text(
            json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
