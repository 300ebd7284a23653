"""The report as Markdown, for the summary page of a CI job."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verify.report import prose, wording
from verify.report.outline import NAMED, outline
from verify.report.proofs import proof_breaks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spec.claims import Claim
    from verify.report.outline import Outline, ReadingOutline, StatementOutline
    from verify.results import Report

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#])")


def render_markdown(report: Report, claims: Mapping[str, Claim] | None = None) -> str:
    """Claims by readings, then every refutation with the command that repeats it.

    Args:
        report: What the run found.
        claims: Claims by id; those of ``spec`` by default.
    """
    arranged = outline(report, claims)
    lines = ["# Does the paper hold?", "", _escape(" ".join(prose.overview(report, arranged))), ""]
    if report.findings:
        lines += ["## Differs from the record", "", *(f"- {_escape(line)}" for line in report.findings), ""]
    lines += ["## Verdicts", "", "| Claim | As written | Repaired | One choice alone as written |", "|---|---|---|---|"]
    for claim in arranged.claims:
        # A claim that nothing checks yet takes one line, not one a step.
        lines += [_row(entry) for entry in (claim, *claim.steps) if entry.checked or entry is claim]
    lines += _breaks(arranged, claims)
    readings = [reading for entry in arranged.statements for reading in entry.readings]
    for status, title in (("FAULT", "Faults"), ("REFUTED", "Refuted")):
        chosen = [reading for reading in readings if reading.status == status and not reading.choice]
        if chosen:
            lines += ["", f"## {title}", "", *(line for reading in chosen for line in _item(reading))]
    facts = {"subject": report.subject, "profile": report.profile, "seed": str(report.seed)} | report.environment
    lines += ["", "---", "", ", ".join(f"{_escape(name)} {_escape(value)}" for name, value in facts.items())]
    return "\n".join(lines) + "\n"


def _breaks(arranged: Outline, claims: Mapping[str, Claim] | None) -> list[str]:
    proofs = proof_breaks(arranged, claims)
    if not proofs:
        return []
    rows = []
    for proof in proofs:
        row = proof.written.broken
        found, asserted, derived = "none", "", ""
        if row is not None:
            found, asserted = f"`{row.step}`: {_escape(row.why)}", _escape(row.asserted)
            derived = _escape(row.derived) or "nothing"
        rows.append(f"| {_escape(proof.title)} | {found} | {asserted} | {derived} | {_escape(proof.remedy)} |")
    head = ["| Proof | First break as written | Asserted | What follows | Repaired |", "|---|---|---|---|---|"]
    return ["", "## Where each proof first breaks", "", *head, *rows]


def _row(entry: StatementOutline) -> str:
    name = f"`{entry.id}`" if "/" in entry.id else f"**{_escape(entry.title)}** `{entry.id}`"
    missing = f"*{wording.MARKS[wording.NOT_CHECKED]} not checked yet*" if entry.unchecked else "not in this run"
    cells = [_status(entry.named[reading].status) if reading in entry.named else missing for reading in NAMED]
    alone = ", ".join(f"{wording.MARKS.get(found.status, '')} `{found.choice}`".strip() for found in entry.isolated)
    return f"| {name} | {' | '.join(cells)} | {alone} |"


def _status(status: str) -> str:
    return f"{wording.MARKS[status]} {wording.word(status)}" if status in wording.MARKS else ""


def _item(reading: ReadingOutline) -> list[str]:
    lines = [f"- `{reading.claim}`, {reading.title.lower()}: {_escape(reading.sentence)}"]
    reproduce = reading.reproduce or (reading.results[0].reproduce if reading.results else "")
    if reproduce:
        lines += ["", "  ```", f"  {reproduce}", "  ```", ""]
    return lines


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
