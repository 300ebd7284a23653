"""Makes what a report is held to anew: the reference run under every profile on record, on several kinds of processor.

Numerical libraries choose their code by the processor, and can be told to choose as on an older one: so one machine
shows by how much honest reports differ. Two more runs show what another seed, and another subject, leave as it is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spec.errors import InvalidInputError
from verify.campaign.baseline.storage import load_report
from verify.campaign.recheck import expected_evidence, recorded_results
from verify.campaign.recheck.recorded_results import RecheckRow, derived_rows
from verify.checks.measuring.case import checks
from verify.evidence.budget import Share
from verify.report.model import Result
from verify.report.report_files import Report

PROFILES = ("smoke", "ci")
_OLD = "X86_V4 AVX512_ICL AVX512_SPR"
PROCESSORS: dict[str, dict[str, str]] = {
    "here": {},
    "haswell": {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": _OLD},
    "sandybridge": {"OPENBLAS_CORETYPE": "Sandybridge", "NPY_DISABLE_CPU_FEATURES": f"X86_V3 {_OLD}"},
    "prescott": {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": f"X86_V3 {_OLD}"},
}
"""Settings of OpenBLAS and numpy that make them compute as on an older processor; the first is recorded."""
OTHER_SEED = 1
OTHER_SUBJECT = "verify.campaign.recheck.displaced_subject:Displaced"


def record(folders: Sequence[Path], share: Share) -> None:
    """Run all that is to be recorded into a folder, going on from what is there, and write both records.

    Raises:
        InvalidInputError: If it is not one folder, or a run ends in a fault: nothing is written then.
    """
    if len(folders) != 1:
        raise InvalidInputError("FOLDER", "must be given, and alone", " ".join(map(str, folders)))
    (folder,) = folders
    rows_by_profile: dict[str, dict[str, dict[str, str]]] = {}
    for profile in PROFILES:
        runs = [_run(folder, profile, name, setting) for name, setting in PROCESSORS.items()]
        seeded = _run(folder, profile, "seed", {}, "--seed", str(OTHER_SEED))
        other = _run(folder, profile, "subject", {}, "--subject", OTHER_SUBJECT, "--in-process")
        rows_by_profile[profile] = rows(runs, seeded, other, share)
    expected_evidence.write(runs[0], share, Path(str(expected_evidence.RECORD)))
    write(rows_by_profile, runs[0], Path(str(recorded_results.RECORD)))


def _run(folder: Path, profile: str, name: str, setting: Mapping[str, str], *options: str) -> Report:
    out = folder / f"{profile}-{name}"
    command = [sys.executable, "-m", "verify", "verify", "--profile", profile, "--out", str(out), "--quiet", *options]
    sys.stdout.write(f"{profile}, {name}\n")
    code = subprocess.run(command, env={**os.environ, **setting}, check=False).returncode
    if code not in (0, 1):
        raise InvalidInputError("FOLDER", f"must take a run without faults; that of {name} ended with {code}", str(out))
    return load_report(out, "FOLDER", "record what it holds")


def rows(runs: Sequence[Report], seeded: Report, other: Report, share: Share) -> dict[str, dict[str, str]]:
    """Of each result of the first run its row, by statement and reading, then by instance."""
    by_key = [{result.key: result for result in run.results} for run in (*runs, seeded, other)]
    by_statement: dict[str, dict[str, str]] = {}
    for result in runs[0].results:
        if result.verdict is not None:
            same = [held[result.key] for held in by_key[: len(runs)]]
            row = _row(same, by_key[-2][result.key], by_key[-1].get(result.key), share)
            by_statement.setdefault(f"{result.claim}|{result.reading}", {})[result.instance] = str(row)
    return by_statement


def _row(same: Sequence[Result], seeded: Result, other: Result | None, share: Share) -> RecheckRow:
    row = RecheckRow.of(same)
    derived = derived_rows(same, other, share) if same[0].about == "subject" else ()
    # What tries places at random may find the same worst one twice, and another the third time.
    check = checks()[same[0].claim]
    sure = not (check.decisions or check.sure) and not list(row.changed(seeded))
    return RecheckRow(row.digest, row.pieces, row.how, derived, any_seed=sure)


def write(by_profile: Mapping[str, Mapping[str, Mapping[str, str]]], run: Report, path: Path) -> None:
    """Write the record, a statement and reading a line."""
    blocks = []
    for profile, held in by_profile.items():
        lines = ",\n".join(f"   {json.dumps(named)}: {_compact(instances)}" for named, instances in held.items())
        blocks.append(f"  {json.dumps(profile)}: {{\n{lines}\n  }}")
    head = f' "seed": {run.seed},\n "environment": {_compact(run.environment)},\n "profiles": {{\n'
    path.write_text("{\n" + head + ",\n".join(blocks) + "\n }\n}\n", encoding="utf-8")


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(", ", ": "))
