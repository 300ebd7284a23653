"""``f2csa schema``, ``vectors`` and ``badge``: files made for other programs."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from spec import Claim, OracleParameters, OuterParameters, PenaltyParameters, Problem, Reading
from spec.atlas import InstanceFile
from spec.errors import InvalidInputError
from spec.files import write_files
from spec.settings import Settings
from spec.text.extract import Extract
from verify.campaign.baseline.comparison import Comparison
from verify.campaign.baseline.history import History
from verify.campaign.baseline.model import Baseline
from verify.campaign.baseline.storage import load_report
from verify.campaign.soak.model import SoakReport
from verify.cli.arguments import options
from verify.cli.arguments.sources import require_one_of
from verify.cli.output.console import print_json
from verify.conformance.model import Conformance
from verify.conformance.vectors.model import Manifest, VectorFile
from verify.report.formats.badge import badge_of
from verify.report.formats.data_files import EvidenceData
from verify.report.formats.times import Times
from verify.report.report_files import Report, report_schema, with_infinities
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
        "paper-extract": Extract,
        "report": Report,
        "evidence": EvidenceData,
        "times": Times,
        "baseline": Baseline,
        "baseline-comparison": Comparison,
        "conformance": Conformance,
        "vectors": VectorFile,
        "vectors-manifest": Manifest,
        "history": History,
        "settings": Settings,
        "instance": InstanceFile,
        "soak": SoakReport,
    }
    described = {name: {"$schema": DIALECT, "title": name} | _schema(kind, name) for name, kind in kinds.items()}
    wire = {"wire-to-subject": to_subject_schema(), "wire-to-runner": to_runner_schema()}
    return described | {name: {"$schema": DIALECT, **schema, "title": name} for name, schema in wire.items()}


def _schema(kind: Any, name: str) -> dict[str, Any]:
    # A report is written, the others are read.
    content = report_schema() if name == "report" else TypeAdapter(kind).json_schema(mode="validation", by_alias=True)
    if name in ("baseline", "conformance", "evidence", "history"):
        content = with_infinities(content)
    if name == "problem":
        for variant in content.get("$defs", {}).values():
            if "kind" in variant.get("properties", {}):
                variant["required"] = sorted({*variant.get("required", ()), "kind"})
    content.pop("title", None)
    return content


def schema(request: options.Schema) -> None:
    """Print the schemas, or write one file each."""
    known = schemas()
    chosen = known if request.name is None else {request.name: known[require_one_of("schema", request.name, known)]}
    if request.out is None:
        print_json(chosen if request.name is None else chosen[request.name])
        return
    request.out.mkdir(parents=True, exist_ok=True)
    for name, content in chosen.items():
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        (request.out / f"{name}.schema.json").write_text(text, encoding="utf-8")


def vectors(request: options.Vectors) -> int:
    """Write, list or check test vectors; 1 where a check finds something."""
    if [request.out is not None, request.listing, request.check is not None].count(True) != 1:
        raise InvalidInputError("vectors", "needs one of --out DIR, --list and --check DIR")
    if request.listing:
        from verify.conformance.vectors.generation import all_vectors

        for vector in all_vectors():
            sys.stdout.write(f"{vector.id}\t{vector.stage}\t{','.join(vector.strata)}\t{','.join(vector.flags)}\n")
        return 0
    if request.out is not None:
        from verify.conformance.vectors.release import write

        sys.stdout.write(f"{_summary(write(request.out))} written to {request.out}\n")
        return 0
    from verify.conformance.vectors.checking import VectorFinding, check
    from verify.conformance.vectors.release import GENERATOR

    assert request.check is not None  # the one left
    try:
        manifest = check(request.check)
    except VectorFinding as finding:
        sys.stdout.write(f"{' '.join(str(finding).split())}\n")
        return 1
    if manifest.generator == GENERATOR:
        verdict = "as released"
    else:
        verdict = (
            f"agree with their manifest; they are of generator {manifest.generator}, "
            f"this version releases those of generator {GENERATOR} and cannot say whether they are as released"
        )
    sys.stdout.write(f"{_summary(manifest)} {verdict}\n")
    return 0


def _summary(manifest: Manifest) -> str:
    counts = manifest.counts
    return (
        f"{counts.vectors} vectors of {len(counts.stages)} stages in {len(manifest.files)} files, "
        f"{len(counts.strata)} strata, {len(counts.flags)} flags"
    )


def badge(request: options.BadgeOptions) -> int:
    """Write ``badge.svg`` and ``badge.json``, a report in one line, and say what they say.

    Returns 0, 1 where no statement about a solver holds, or 3 where nothing could be compared.
    """
    if not request.label.strip() or not request.label.isprintable():
        raise InvalidInputError("--label", "must be printable text", request.label)
    report = load_report(request.report, "REPORT")
    drawn = badge_of(report, request.label.strip())
    beside = request.report if request.report.is_dir() else request.report.parent
    folder = beside if request.out is None else request.out
    files = {"badge.svg": drawn.svg(), "badge.json": json.dumps(drawn.endpoint(), ensure_ascii=False) + "\n"}
    for line in (f"{drawn.label}: {drawn.message}", *write_files(folder, files)):
        sys.stdout.write(f"{line}\n")
    return 3 if report.nothing_compared else int(report.nothing_holds)
