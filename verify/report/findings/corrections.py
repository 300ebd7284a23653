"""The corrected statements: where the literal text fails and the repaired one holds, with the verdicts behind both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from spec.claims import Assertion, Claim, ReadingName, Statement, load_claims
from spec.errors import InvalidInputError
from verify.evidence.model import weakest
from verify.report import wording
from verify.report.findings.counted_statements import GRANTED, WRITTEN, group_of
from verify.report.findings.outline import StatementOutline, outline
from verify.report.findings.repairs import FAILS
from verify.report.model import ReportData, Result
from verify.verdict import Verdict, rolled_up

FAULT, ABSENT, PART = "FAULT", "", "PART"


@dataclass(frozen=True)
class Side:
    """One text of a statement, and how it came out.

    Attributes:
        text: In words.
        formula: The same as TeX.
        verdict: The verdict over all instances, ``FAULT``, ``PART`` where the report holds only some of a claim's steps
            and none of these fails, or empty where it holds none.
        rung: How the evidence was obtained: for support the weakest, else that of the deciding result.
        sentence: The deciding result's sentence.
        command: What repeats the deciding result, or makes one.
    """

    text: str
    formula: str
    verdict: str
    rung: str
    sentence: str
    command: str


@dataclass(frozen=True)
class Corrected:
    """A statement whose literal and repaired texts differ; ``line`` is that of its label in the source, where known.

    ``as_its_words_allow`` says under which literal readings it holds, and ``repaired_by`` what repairs it; both are
    empty where its readings were not run, or where its words leave no choice, or nothing is to be repaired.
    ``granted`` is whether the text takes it for granted and does not say it, ``holds_in_some`` whether it holds under
    some of its literal readings as it is.
    """

    id: str
    title: str
    place: str
    line: int | None
    as_written: Side
    repaired: Side
    as_its_words_allow: str = ""
    repaired_by: str = ""
    granted: bool = False
    holds_in_some: bool = False

    @property
    def established(self) -> bool:
        """Whether verdicts say that the literal text fails and the repaired one holds."""
        return self.as_written.verdict in FAILS and self.repaired.verdict == Verdict.SUPPORTED


@dataclass(frozen=True)
class ReportedCorrections:
    """All such statements in the paper's order, and the run their verdicts are from."""

    statements: tuple[Corrected, ...]
    run: str

    @property
    def established(self) -> tuple[Corrected, ...]:
        return tuple(one for one in self.statements if one.established)

    @property
    def others(self) -> tuple[Corrected, ...]:
        return tuple(one for one in self.statements if not one.established)


def corrections_in(report: ReportData, labels: Mapping[str, int] | None = None) -> ReportedCorrections:
    """What a report of the reference says of every repaired text.

    Args:
        report: Verdicts are decided over its results, not taken from its summary, but that a literal reading is left
            undecided there.
        labels: Lines of the source's labels.

    Raises:
        InvalidInputError: If the report is about another program, whose failures say nothing of the paper.
    """
    if not report.is_of_the_paper:
        raise InvalidInputError("--report", "must be of the reference", report.subject)
    results: dict[tuple[str, str], list[Result]] = {}
    for result in report.results:
        results.setdefault((result.claim, result.reading), []).append(result)
    run = f"{report.subject}, profile {report.profile}, seed {report.seed}"
    cut = "" if report.complete else "; the run did not end"
    entries = {entry.id: entry for entry in outline(report).statements}
    return ReportedCorrections(tuple(_statements(results, labels or {}, entries)), run + cut)


def _statements(
    results: Mapping[tuple[str, str], Sequence[Result]],
    labels: Mapping[str, int],
    entries: Mapping[str, StatementOutline],
) -> Iterator[Corrected]:
    for claim in load_claims().values():
        for full_id, statement in claim.statements():
            # What the text does not say needs no correction.
            if statement.as_written == statement.repaired or statement.relation not in ("said", "implied"):
                continue
            sides = {}
            for reading in ("as-written", "repaired"):
                parts = [full_id, *(claim.parts(reading) if statement is claim else ())]
                sides[reading] = _side(statement, reading, parts, results)
            written = entries[full_id].named.get(WRITTEN) if full_id in entries else None
            reading_set = entries[full_id].literal if full_id in entries else None
            undecided = written is not None and written.status == Verdict.INCONCLUSIVE and reading_set is not None
            if written is not None and undecided and sides[WRITTEN].verdict in FAILS:
                # All its readings were asked, and under one of them it does not fail.
                sides[WRITTEN] = replace(sides[WRITTEN], verdict=written.status, sentence=written.sentence)
            words = reading_set.said if reading_set is not None and statement.open_choices else ""
            yield Corrected(
                full_id, statement.title, _place(claim, statement), labels.get(claim.label), sides["as-written"],
                sides["repaired"], words, reading_set.repaired_by if reading_set else "",
                group_of(statement, WRITTEN) == GRANTED, written is not None and written.is_mixed,
            )  # fmt: skip


def _place(claim: Claim, statement: Statement) -> str:
    return statement.location or claim.location


def _side(
    statement: Statement, reading: str, parts: Sequence[str], results: Mapping[tuple[str, str], Sequence[Result]]
) -> Side:
    name: ReadingName = "repaired" if reading == "repaired" else "as-written"
    assertion: Assertion = statement.assertion(name)
    judged_parts = [(part, results[part, reading]) for part in parts if results.get((part, reading))]
    command = f"f2csa verify {parts[0]} --reading {reading}"
    if not judged_parts:
        return Side(assertion.text, assertion.latex, ABSENT, "", "", command)
    verdict = rolled_up(statement, {part: [result.verdict for result in own] for part, own in judged_parts})
    # A claim is refuted by one of its parts, and holds by all of them.
    lacking = [part for part in parts[1:] if not results.get((part, reading))]
    if lacking and verdict is not None and verdict not in FAILS:
        sentence = f"{wording.counted(len(lacking), 'step')} of it not in the report, e.g. {lacking[0]}"
        return Side(assertion.text, assertion.latex, PART, "", sentence, command)
    weighed = [result for _, part in judged_parts for result in part]
    deciding = next(result for result in weighed if result.verdict == verdict)
    alike = [result.rung for result in weighed if result.verdict == verdict]
    rung = weakest(alike) if verdict is Verdict.SUPPORTED else deciding.rung
    return Side(
        assertion.text, assertion.latex, FAULT if verdict is None else str(verdict), rung or "",
        deciding.sentence or deciding.fault or "", deciding.reproduce or command,
    )  # fmt: skip


def corrections_json(reported: ReportedCorrections) -> dict[str, Any]:
    """Plain data: the run, what is established and what is not."""
    return {
        "run": reported.run,
        "corrections": [asdict(one) for one in reported.established],
        "not_established": [asdict(one) for one in reported.others],
    }


def corrections_markdown(reported: ReportedCorrections) -> str:
    """The corrected statements as a diff, then what is not established."""
    lines = [
        "# Corrected statements",
        "",
        f"{len(reported.established)} of {len(reported.statements)} statements with a repaired text: the literal one "
        f"fails and the repaired one holds ({reported.run}). Said by the text: "
        f"{_split(reported.established, granted=False)}. Taken for granted: "
        f"{_split(reported.established, granted=True)}.",
    ]
    for one in reported.established:
        lines += ["", f"## {one.id}: {one.title}", "", one.place + _line(one), "", "```diff"]
        lines += [*_marked("-", "as written", one.as_written), *_marked("+", "repaired", one.repaired), "```", ""]
        lines += [_evidence("as written", one.as_written), _evidence("repaired", one.repaired)]
        lines += [f"* as its words allow: {one.as_its_words_allow}."] if one.as_its_words_allow else []
        lines += [f"* smallest repair: {one.repaired_by}."] if one.repaired_by else []
    if reported.others:
        lines += ["", "## Not established", ""]
        for one in reported.others:
            sides = (("as written", one.as_written), ("repaired", one.repaired))
            outcomes = "; ".join(f"{name} {_word(side)}" for name, side in sides)
            lines.append(f"* {one.id}{_line(one)}: {outcomes}. `{next_command(one)}`")
    return "\n".join(lines) + "\n"


def _split(some: Sequence[Corrected], *, granted: bool) -> str:
    """``26 failing in every reading of their words, 14 holding in some``, as statements are counted everywhere."""
    of_it = [one for one in some if one.granted is granted]
    mixed = sum(one.holds_in_some for one in of_it)
    return f"{len(of_it) - mixed} failing in every reading of their words, {mixed} holding in some"


def next_command(one: Corrected) -> str:
    """What to run to see why it is not established."""
    sides = (one.as_written, one.repaired)
    if all(side.verdict == ABSENT for side in sides):
        return f"f2csa verify {one.id}"
    fine = one.as_written.verdict in FAILS
    return (one.repaired if fine else one.as_written).command


def _line(one: Corrected) -> str:
    return "" if one.line is None else f" (label at line {one.line})"


def _marked(mark: str, name: str, side: Side) -> list[str]:
    return [f"{mark} {name}: {side.text}"] + ([f"{mark}   {side.formula}"] if side.formula else [])


def _word(side: Side) -> str:
    told = {ABSENT: "not in the report", PART: "in the report in part"}
    return told.get(side.verdict) or wording.word(side.verdict)


def _evidence(name: str, side: Side) -> str:
    rung = f", {side.rung}" if side.rung else ""
    sentence = " ".join(side.sentence.split()).rstrip(".")
    return f"* {name}: {_word(side)}{rung}. {sentence[:1].upper()}{sentence[1:]}. `{side.command}`"
