"""The report's outline: claims with their steps, each under its readings, joined with what the run found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from spec.claims import Claim, Premise, Statement, load_claims
from verify.evidence.model import PremiseEvidence
from verify.report import wording
from verify.report.findings.counted_statements import TITLES, counted_statements
from verify.report.findings.hypothesis_ledger import Need, needs
from verify.report.findings.reading_outline import ReadingOutline, anchor
from verify.report.findings.reading_sets import ReadingSet, reading_set
from verify.report.model import NAMED, ReportData, Result
from verify.report.rows.summary_row import SummaryRow


@dataclass(frozen=True)
class PremiseOutline:
    """A hypothesis and, under each named reading, what became of it."""

    premise: Premise
    findings: Mapping[str, tuple[str, str]]
    """By reading: ``(state, words)``; the state is ``met``, ``partly``, ``broken``, ``impossible`` or ``quiet``."""


@dataclass(frozen=True)
class StatementOutline:
    """A claim or a proof step."""

    id: str
    title: str
    statement: Statement | None
    named: Mapping[str, ReadingOutline]
    isolated: tuple[ReadingOutline, ...]
    premises: tuple[PremiseOutline, ...] = ()
    steps: tuple[StatementOutline, ...] = ()
    kind: str = ""
    unchecked: bool = False
    """On record, but nothing checks it yet; a statement neither checked nor unchecked was not in this run."""
    literal: ReadingSet | None = None
    """How it fares under every literal reading of its words, where they leave a choice open."""
    left_open: str = ""
    """Why nothing can decide it."""

    @property
    def anchor(self) -> str:
        return anchor(self.id)

    @property
    def checked(self) -> bool:
        """Whether the run says how it came out."""
        return bool(self.named or self.isolated)

    @property
    def readings(self) -> tuple[ReadingOutline, ...]:
        return (*self.named.values(), *self.isolated)

    @property
    def missing(self) -> str:
        """The status that stands for all readings where there is no verdict; empty if it was not in this run."""
        return wording.LEFT_OPEN if self.left_open else wording.NOT_CHECKED if self.unchecked else ""

    def fallen(self, reading: str) -> tuple[StatementOutline, ...]:
        """Its steps that are refuted, as written those that the text makes."""
        judged_steps = [(step, step.named[reading]) for step in self.steps if reading in step.named]
        return tuple(step for step, entry in judged_steps if entry.status == "REFUTED" and entry.counts)

    @property
    def refutations(self) -> str:
        """How many of its steps fell: ``3 refuted as written, 1 repaired``; empty if none did."""
        fallen = [step.named[reading] for reading in NAMED for step in self.fallen(reading)]
        counts = counted_statements((one.statement, one.reading, one.shown) for one in fallen)
        parts = [f"{sum(count.values())} {TITLES[group].lower()}" for group, count in counts.items()]
        return f"refuted: {', '.join(parts)}" if parts else ""


@dataclass(frozen=True)
class Outline:
    """The whole report in order, and its counts."""

    claims: tuple[StatementOutline, ...]
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """As :func:`counted_statements` splits them: how many statements have each status."""
    unchecked: int = 0
    instances: int = 0
    left_open: int = 0
    outside: int = 0
    """How often the paper's experiment, as written, falls outside an assumption."""

    @property
    def reading_sets(self) -> tuple[ReadingSet, ...]:
        """Statements whose words allow several readings, in order."""
        sets = (entry.literal for entry in self.statements)
        return tuple(readings for readings in sets if readings is not None and len(readings.literal) > 1)

    @property
    def statements(self) -> tuple[StatementOutline, ...]:
        """Claims and steps in one line."""
        return tuple(entry for claim in self.claims for entry in (claim, *claim.steps))


def outline(report: ReportData, claims: Mapping[str, Claim] | None = None) -> Outline:
    """Join a report with the claims on record, those of ``spec`` by default.

    Statements that were not in the run are left out, but for a claim of which a step was; ids without a claim are
    kept, under their bare name.
    """
    claims = load_claims() if claims is None else claims
    rows: dict[str, dict[str, SummaryRow]] = {}
    for row in report.summary:
        rows.setdefault(row.claim, {})[row.reading] = row
    results: dict[tuple[str, str], list[Result]] = {}
    for result in report.results:
        results.setdefault((result.claim, result.reading), []).append(result)
        rows.setdefault(result.claim, {})
    ids = [name for name in claims if any(full.split("/")[0] == name for full in rows)]
    ids += [name for name in dict.fromkeys(full.split("/")[0] for full in rows) if name not in claims]
    outlines = []
    needed = needs(report.summary, claims)
    for name in ids:
        claim = claims.get(name)
        statements = dict(claim.statements()) if claim else {}
        run = [full for full in rows if full.split("/")[0] == name]
        full_ids = [full for full in statements if full in run] + [full for full in run if full not in statements]
        known = needed.get(name, {})
        entries = [_statement(full, statements.get(full), rows.get(full, {}), results, known) for full in full_ids]
        steps = tuple(entry for entry in entries if entry.id != name)
        head = next((entry for entry in entries if entry.id == name), None)
        head = head or _statement(name, claim, {}, results, known)
        kind = wording.place(claim) if claim else ""
        outlines.append(_with_parts(replace(head, steps=steps, kind=kind), claim))
    return _counted(tuple(outlines), report)


def _with_parts(head: StatementOutline, claim: Claim | None) -> StatementOutline:
    """The claim with the parts in its set of readings that fail under every reading of their own."""
    if claim is None:
        return head
    fallen = [step for step in head.fallen("as-written") if step.id in claim.parts("as-written")]
    written = head.named.get("as-written")
    if written is not None and written.part and fallen and all(step.named["as-written"].is_mixed for step in fallen):
        head = replace(head, named={**head.named, "as-written": replace(written, holds_in_part=True)})
    if head.literal is None or not head.literal.alone:
        return head
    always = tuple(step.id for step in fallen if step.literal is None or step.literal.fails_throughout)
    literal, written = replace(head.literal, parts=always), head.named["as-written"]
    shown = replace(written, literal=literal if written.literal else None)
    return replace(head, literal=literal, named={**head.named, "as-written": shown})


def _counted(claims: tuple[StatementOutline, ...], report: ReportData) -> Outline:
    every = Outline(claims).statements
    outcomes = [entry.named[reading] for reading in NAMED for entry in every if reading in entry.named]
    written = [entry.named["as-written"] for entry in every if "as-written" in entry.named]
    placed = [entry for entry in written if wording.asks_of_experiment(entry.statement)]
    return Outline(
        claims,
        counted_statements((one.statement, one.reading, one.shown) for one in outcomes),
        sum(entry.unchecked for entry in every),
        len({result.instance for result in report.results}),
        sum(bool(entry.left_open) for entry in every),
        sum(entry.status == "REFUTED" for entry in placed),
    )


def _statement(
    full: str,
    statement: Statement | None,
    rows: Mapping[str, SummaryRow],
    results: Mapping[tuple[str, str], list[Result]],
    known: Mapping[str, Need],
) -> StatementOutline:
    run = [reading for claim, reading in results if claim == full]
    names = [name for name in dict.fromkeys([*rows, *run]) if name]
    readings = {
        name: _reading(full, name, statement, rows.get(name), results.get((full, name), []))
        for name in sorted(names, key=lambda name: NAMED.index(name) if name in NAMED else len(NAMED))
        if name not in rows or rows[name].status not in (wording.NOT_CHECKED, wording.LEFT_OPEN)
    }
    named = {name: entry for name, entry in readings.items() if name in NAMED}
    isolated = tuple(entry for name, entry in readings.items() if name.startswith("only:"))
    premises = tuple(
        PremiseOutline(premise, {name: _finding(premise, name, named.get(name)) for name in NAMED})
        for premise in (statement.premises if statement else ())
    )
    title = statement.title if statement else full
    unchecked = any(row.status == wording.NOT_CHECKED for row in rows.values())
    left_open = next((row.sentence for row in rows.values() if row.status == wording.LEFT_OPEN), "")
    statuses = {name: entry.status for name, entry in readings.items()}
    judged = {name: entry.results for name, entry in readings.items()}
    literal = reading_set(full, statement, statuses, judged, known) if statement else None
    if literal is not None and len(literal.literal) > 1:
        named["as-written"] = replace(named["as-written"], literal=literal)
    return StatementOutline(
        full, title, statement, named, isolated, premises, unchecked=unchecked, left_open=left_open, literal=literal
    )  # fmt: skip


def _reading(
    full: str, name: str, statement: Statement | None, row: SummaryRow | None, results: Iterable[Result]
) -> ReadingOutline:
    deciding = row.deciding if row else ""
    status = str(row.status) if row else ""
    # The deciding instance, then those that came out otherwise, then the rest.
    ordered = tuple(
        sorted(results, key=lambda result: (result.instance != deciding, wording.status_of(result) == status))
    )
    assertion = None
    if statement is not None:
        assertion = statement.repaired if name == "repaired" else statement.as_written
    counted = dict(row.instances) if row and row.instances else Counter(map(wording.status_of, ordered))
    sentence = row.sentence if row else ""
    smallest, reproduce = (row.smallest, row.reproduce) if row else (None, "")
    return ReadingOutline(
        full, name, status, sentence, assertion, ordered, counted, smallest, reproduce, statement,
        part=row.fallen_part if row else "",
    )  # fmt: skip


def _finding(premise: Premise, reading: str, entry: ReadingOutline | None) -> tuple[str, str]:
    if reading not in premise.readings:
        return "quiet", "not asked"
    checks = [
        (result.instance, evidence)
        for result in (entry.results if entry else ())
        for evidence in result.evidence
        if isinstance(evidence, PremiseEvidence) and evidence.premise == premise.id
    ]
    if not checks:
        why = f"taken from {', '.join(premise.taken_from)}" if premise.taken_from else "not examined"
        return "quiet", f"{why}: {premise.no_formula}" if premise.no_formula else why
    broken = [(instance, evidence) for instance, evidence in checks if not evidence.holds]
    if not broken:
        return "met", f"met on {'all ' if len(checks) > 1 else ''}{wording.counted(len(checks), 'instance')}"
    instance, worst = next((pair for pair in broken if not pair[1].satisfiable), broken[0])
    if not worst.satisfiable:
        return "impossible", f"cannot be met: {worst.finding}"
    state = "broken" if len(broken) == len(checks) else "partly"
    return state, f"not met on {len(broken)} of {wording.counted(len(checks), 'instance')}; {instance}: {worst.finding}"
