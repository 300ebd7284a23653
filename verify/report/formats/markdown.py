"""The report as Markdown, for the summary page of a CI job: what needs attention first, the rest folded away."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from spec.claims import Claim
from verify.evidence.model import RateEvidence
from verify.proofs.kernel.standings import standings
from verify.report import prose, wording
from verify.report.findings import drawn_problems, user_lists
from verify.report.findings.assumed_laws import beside
from verify.report.findings.counted_statements import GRANTED, SUPPOSED, WRITTEN, group_of
from verify.report.findings.hypothesis_ledger import Hypothesis, ledgers
from verify.report.findings.judged_assertions import judged_assertions
from verify.report.findings.outline import Outline, StatementOutline, outline
from verify.report.findings.proof_breaks import proof_breaks
from verify.report.findings.proven import proven_ids
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.model import NAMED, ReportData
from verify.report.signs import PROVEN, look

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~])")
_TICKS = re.compile("`{3,}")
LIMIT = 1024 * 1024 - 4096
"""Bytes; a CI job's summary page takes a mebibyte, and a few words of others may stand beside ours."""
SHOWN = 100
"""Findings or faults listed one by one."""
LONGEST = 2000
"""Characters of one line shown: a stranger's error message may be a book."""


def render_markdown(report: ReportData, claims: Mapping[str, Claim] | None = None) -> str:
    """Findings, faults and failed repaired claims; then verdicts; then refutations of the text, folded.

    Stays below a mebibyte, whatever the report holds: what is folded is cut first, and said to be.
    """
    arranged = outline(report, claims)
    whole = proven_ids(report, arranged)
    readings = [reading for entry in arranged.statements for reading in entry.readings]
    failed = [r for r in readings if r.reading == "repaired" and r.status in ("REFUTED", "INCONCLUSIVE", "VACUOUS")]
    refuted = [
        r
        for r in readings
        if (r.status == "REFUTED" or (r.status == "VACUOUS" and group_of(r.statement, WRITTEN) == SUPPOSED))
        and not r.choice
        and r.reading != "repaired"
        and r.said
        and not r.is_mixed
    ]
    unsaid = [r for r in readings if r.status == "REFUTED" and r.reading == "as-written" and not r.said]
    remarks = [f"`{entry.id}`: {escape(remark)}" for entry in arranged.claims for remark in prose.remarks(entry)]
    faults = [f"`{r.claim}`, {wording.reading_title(r.reading).lower()}, on {escape(r.instance)}: {escape(r.fault)}"
              for r in report.faults if r.fault is not None]  # fmt: skip
    facts = {"subject": report.subject, "profile": report.profile, "seed": str(report.seed)} | report.environment
    # Opened sections first: a reader, and a cut, starts at the top.
    sections = [
        [
            "<!-- f2csa-verify -->",
            f"# {escape(prose.title(report))}",
            "",
            escape(" ".join(prose.overview(report, arranged))),
        ],
        _listed("Findings: differs from the record", [escape(line) for line in report.findings]),
        _listed("Faults", faults),
        _section("Repaired claims that do not hold", [line for reading in failed for line in _item(reading)]),
        _section("Expected failures and skips", _listed_by_user(report)),
        _section("Verdicts", _table(arranged.claims, whole)),
        _listed("Claims whose verdict and steps point apart", remarks),
        [", ".join(f"{escape(name)} {escape(value)}" for name, value in facts.items())],
    ]
    steps = [step for claim in arranged.claims for step in claim.steps if step.checked]
    folded = [
        ("Proof steps", _table(steps, whole) if steps else []),
        ("Reported, not failed", [f"- {escape(line)}" for line in report.changes]),
        ("Drawn problems", _drawn(report)),
        ("Every literal reading", _reading_sets(arranged)),
        ("Hypotheses that are needed", _hypotheses(report, claims)),
        ("Where each proof first breaks", _breaks(arranged, claims)),
        *(
            (
                title,
                [
                    line
                    for reading in refuted
                    if group_of(reading.statement, WRITTEN) == group
                    for line in _item(reading)
                ],
            )
            for group, title in (
                (WRITTEN, "Refuted as written"),
                (GRANTED, "Taken for granted, and refuted"),
                (SUPPOSED, "Supposed, and impossible to meet"),
            )
        ),
        ("Not in the text, and not so", [line for reading in unsaid for line in _item(reading)]),
        ("Left open", [f"- `{e.id}`: {escape(e.left_open)}" for e in arranged.statements if e.left_open]),
        ("What the paper asserts", _assertions(arranged)),
        ("Proven for every problem", _proven(arranged)),
        ("Laws behind the error rates", [line for reading in readings for line in _laws(reading)]),
        ("Closed forms", [line for reading in readings for line in _closed_forms(reading)]),
    ]
    text = "\n\n".join("\n".join(section) for section in sections if section) + "\n"
    for title, lines in folded:
        if lines:
            text += _folded(title, lines, LIMIT - len(text.encode()))
    return text


def _listed_by_user(report: ReportData) -> list[str]:
    return [f"- `{row.id}`, {row.kind}: {escape(row.reason)} ({row.outcome})" for row in user_lists.rows(report)]


def _drawn(report: ReportData) -> list[str]:
    draws = report.draws
    if draws is None or not draws.rows:
        return []
    head, *body = drawn_problems.coverage(draws)
    table = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *body)]
    remarks = [
        f"- `{row.claim}`, repaired, {escape(drawn_problems.told(row))}" for row in drawn_problems.telling(draws)
    ]
    return [*table, *([""] if remarks else []), *remarks]


def _listed(title: str, lines: Sequence[str]) -> list[str]:
    more = [f"- and {len(lines) - SHOWN} more: report.json lists all"] if len(lines) > SHOWN else []
    return _section(title, [*(f"- {line}" for line in lines[:SHOWN]), *more])


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return [f"## {title}", "", *lines] if lines else []


def _folded(title: str, lines: Sequence[str], room: int) -> str:
    """A section that opens on a click, cut to the bytes left."""
    head, foot = f"\n<details>\n<summary>{title}</summary>\n\n", "\n</details>\n"
    cut = "\n\n… and more, in report.html\n"
    room -= len((head + foot + cut).encode())
    shown, fences = [], 0
    for line in lines:
        room -= len(line.encode()) + 1
        if room < 0:
            break
        shown.append(line)
        fences += line.strip().startswith("```")
    if fences % 2:
        # The cut must not open the rest of the page as code.
        shown.append("  ```")
    return head + "\n".join(shown) + ("\n" if len(shown) >= len(lines) else cut) + foot


def _table(entries: Sequence[StatementOutline], whole: Collection[str]) -> list[str]:
    head = ["| Claim | As written | Repaired | One choice alone as written |", "|---|---|---|---|"]
    return [*head, *(_row(entry, whole) for entry in entries)]


def _hypotheses(report: ReportData, claims: Mapping[str, Claim] | None) -> list[str]:
    rows = [
        f"| `{ledger.claim}` | {escape(hypothesis.premise.words())} | {_listed_as(hypothesis)} | {hypothesis.words} |"
        for ledger in ledgers(report.summary, claims)
        for hypothesis in ledger.judged
    ]
    head = ["| Claim | Hypothesis | Listed by the paper | Needed |", "|---|---|---|---|"]
    return [*head, *rows] if rows else []


def _listed_as(hypothesis: Hypothesis) -> str:
    """Whether the paper lists it: what only the repaired text has in bold, what is granted with the reason."""
    if hypothesis.granted:
        return f"{hypothesis.standing}: {escape(hypothesis.granted)}"
    return hypothesis.standing if hypothesis.listed else f"**{hypothesis.standing}**"


def _reading_sets(arranged: Outline) -> list[str]:
    sets = arranged.reading_sets
    if not sets:
        return []
    rows = [
        f"| `{one.claim}` | {'<br>'.join(f'{wording.mark(r.status)} {escape(r.words)}' for r in one.literal)} "
        f"| {escape(one.said)} | {escape(one.repaired_by)} |"
        for one in sets
    ]
    return [
        "| Statement | Its literal readings | Read as its words allow, it | Smallest repair |",
        "|---|---|---|---|",
        *rows,
    ]


def _assertions(arranged: Outline) -> list[str]:
    rows = []
    for item in (item for _, items in judged_assertions(arranged) for item in items):
        where = escape(f"{item.entry.place}. {item.note}".strip())
        by = "<br>".join(f"`{by.statement.id}` {by.words}".strip() for by in item.judged_by)
        rows.append(f"| {item.entry.number} | {escape(item.entry.asserts)} *{where}* | {by} |")
    return ["| # | The paper asserts | Statements, in this run |", "|---|---|---|", *rows] if rows else []


def _proven(arranged: Outline) -> list[str]:
    proofs = [(entry.id, one) for entry in arranged.statements for one in standings(entry.id)]
    rows = [
        f"| `{name}` | {one.grade} | {' '.join(one.row.by)} | {escape('; '.join(one.gaps))} | "
        f"{escape('; '.join(one.lacks))} |"
        for name, one in proofs
    ]
    head = [
        "| Statement | Standing | Theorems | Premises beyond its own | Not in the theorems |",
        "|---|---|---|---|---|",
    ]
    return [f"Theorems {proofs[0][1].outcome.words}.", "", *head, *rows] if rows else []


def _breaks(arranged: Outline, claims: Mapping[str, Claim] | None) -> list[str]:
    proofs = proof_breaks(arranged, claims)
    if not proofs:
        return []
    rows = []
    for proof in proofs:
        row = proof.written.broken
        first_break, asserted, derived = "none", "", ""
        if row is not None:
            first_break, asserted = f"`{row.step}`: {escape(row.why)}", escape(row.asserted)
            derived = escape(row.derived) or "nothing"
        rows.append(f"| {escape(proof.title)} | {first_break} | {asserted} | {derived} | {escape(proof.remedy)} |")
    head = ["| Proof | First break as written | Asserted | What follows | Repaired |", "|---|---|---|---|---|"]
    return [*head, *rows]


def _row(entry: StatementOutline, whole: Collection[str]) -> str:
    name = f"`{entry.id}`" if "/" in entry.id else f"**{escape(entry.title)}** `{entry.id}`"
    missing = f"*{wording.marked(entry.missing)}*" if entry.missing else "not in this run"
    cells = [_status(entry.named[reading]) if reading in entry.named else missing for reading in NAMED]
    if "repaired" in entry.named and entry.id in whole:
        cells[1] = f"{look(PROVEN).mark} {entry.named['repaired'].word}, {look(PROVEN).word}"
    alone = ", ".join(f"{wording.mark(reading.status)} `{reading.choice}`".strip() for reading in entry.isolated)
    return f"| {name} | {' | '.join(cells)} | {alone} |"


def _status(reading: ReadingOutline) -> str:
    return f"{wording.mark(reading.shown)} {reading.word}" if reading.status in wording.STATUSES else ""


def _item(reading: ReadingOutline) -> list[str]:
    lines = [f"- `{reading.claim}`, {reading.title.lower()}: {escape(reading.sentence)}"]
    reproduce = reading.reproduce or (reading.results[0].reproduce if reading.results else "")
    if reproduce:
        command = _TICKS.sub("``", " ".join(reproduce.split()))[:LONGEST]
        lines += ["", "  ```", f"  {command}", "  ```", ""]
    return lines


def _closed_forms(reading: ReadingOutline) -> list[str]:
    return [
        f"- `{reading.claim}`, {reading.title.lower()}, on {escape(result.instance)}: "
        f"{escape(rate.quantity)} = {escape(wording.closed(rate.closed_form))}"
        for result in reading.results
        for rate in result.evidence
        if isinstance(rate, RateEvidence) and rate.closed_form
    ]


def _laws(reading: ReadingOutline) -> list[str]:
    return [
        f"- `{reading.claim}`, {reading.title.lower()}, on {escape(result.instance)}: {escape(law)}"
        for result in reading.results
        if (law := beside(result))
    ]


def escape(text: str) -> str:
    """One line that Markdown shows as it is, cut where it is very long."""
    shown = " ".join(text.split())
    return _SPECIAL.sub(r"\\\1", shown if len(shown) <= LONGEST else shown[:LONGEST] + " …")
