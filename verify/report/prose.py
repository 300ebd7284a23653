"""The run in sentences: what was judged, how it came out, and what to mistrust."""

from __future__ import annotations

from collections.abc import Mapping

from spec.reading import KEEPING
from verify.report import wording
from verify.report.findings import user_lists
from verify.report.findings.counted_statements import GRANTED, REPAIRED, SUPPOSED, UNSAID, WRITTEN
from verify.report.findings.drawn_problems import sentences
from verify.report.findings.outline import Outline, StatementOutline
from verify.report.model import NAMED, ReportData
from verify.report.signs import MIXED
from verify.verdict import Verdict


def title(report: ReportData) -> str:
    """What a report asks: of the paper, or of somebody's solver."""
    return "Does the paper hold?" if report.is_of_the_paper else f"Does {report.subject} do what the paper says?"


def overview(report: ReportData, arranged: Outline) -> list[str]:
    """The paragraph that opens a report, sentence by sentence."""
    if report.only_drawn:
        return sentences(report.draws, alone=True) + standing(report)
    if not report.results:
        return [f"No check was run: {wording.counted(len(arranged.claims), 'claim')} on record, none of them judged."]
    run = [entry for entry in arranged.statements if entry.checked or entry.unchecked]
    claims = sum(entry in arranged.claims for entry in run)
    kinds = ((claims, "claim"), (len(run) - claims, "proof step"))
    record = wording.listing(wording.counted(count, noun) for count, noun in kinds if count)
    checked = len(run) - arranged.unchecked
    on = wording.counted(arranged.instances, "instance")
    verb = "was" if checked == 1 else "were"
    record = record or wording.counted(len({result.claim for result in report.results}), "statement")
    verb = "was" if record.startswith("1 ") and not checked else verb
    opening = f"Of {record}, {checked} {verb}" if arranged.unchecked else f"{_capital(record)} {verb}"
    results = wording.counted(len(report.results), "result")
    if report.is_of_the_paper:
        lines = [f"{opening} checked against the subject “{report.subject}” on {on}, giving {results}."]
    else:
        lines = [f"{opening} put to “{report.subject}” on {on}, giving {results}; each is about what a solver does."]
        lines += ["Nothing that was asked applies to it: no comparison was made."] if report.nothing_compared else []
        lines += [f"Repaired, {report.coverage}."] if report.coverage.all and not report.nothing_compared else []
        lines += ["That none holds is a finding."] if report.nothing_holds else []
    lines += [
        f"Read as {reading.removeprefix('as-')}, {_counts(counts)}."
        for reading in NAMED
        if any(map(wording.STATUSES.get, counts := arranged.counts.get(reading, {})))
    ]
    beside = [row for row in report.summary if row.reading.startswith(("choose:", KEEPING))]
    if not arranged.counts:
        lines += [f"{row.claim}, {row.reading}: {wording.word(str(row.status))}. {row.sentence}" for row in beside]
    if mixed := arranged.counts.get("as-written", {}).get(wording.MIXED, 0):
        lines.append(
            f"{_capital(wording.counted(mixed, 'more holds', 'more hold'))} under some of the literal readings."
        )
    lines += [
        f"Of statements that the text {does}, {outcomes(arranged.counts[group], group)}."
        for group, does in ((GRANTED, "takes for granted"), (SUPPOSED, "supposes"), (UNSAID, "does not make"))
        if group in arranged.counts
    ]
    if arranged.outside:
        places = wording.counted(arranged.outside, "place")
        lines.append(f"In {places} the paper's own experiment falls outside what is assumed.")
    if arranged.left_open:
        verb = "is left open for a reason" if arranged.left_open == 1 else "are left open, each for its reason"
        lines.append(f"{_capital(wording.counted(arranged.left_open, 'more statement'))} {verb}.")
    if arranged.unchecked:
        lines.append(f"The other {arranged.unchecked} {'is' if arranged.unchecked == 1 else 'are'} not checked yet.")
    return lines + sentences(report.draws) + standing(report) + user_lists.sentences(report)


def standing(report: ReportData) -> list[str]:
    """How the run stands to the verdicts on record, and what of it is missing."""
    lines = []
    if report.faults:
        lines.append(f"{_capital(wording.counted(len(report.faults), 'run'))} ended in a fault and gave no verdict.")
    on_record = [result.expected for result in report.results if result.expected is not None]
    excused = sum(result.expected is False for result in report.excused)
    unexpected = on_record.count(False) - excused
    if unexpected:
        noun = wording.counted(unexpected, "verdict differs", "verdicts differ")
        lines.append(f"{_capital(noun)} from the record.")
    elif on_record and report.findings:
        noun = wording.counted(len(report.findings), "finding")
        lines.append(
            f"Every verdict on record is unchanged, but there {'is' if len(report.findings) == 1 else 'are'} {noun}."
        )
    elif excused and excused < len(on_record):
        lines.append("Every other verdict is the one on record.")
    elif on_record:
        missing = len(report.results) - len(on_record) - len(report.faults) - len(report.skipped)
        new = f"; {wording.counted(missing, 'result has', 'results have')} none to compare with" if missing else ""
        lines.append(f"Every verdict is the one on record{new}.")
    if not report.complete:
        lines.append("The run was interrupted, so this report is incomplete.")
    return lines


TALLIED = (
    (WRITTEN, "as written"), (GRANTED, "of those that it takes for granted"),
    (SUPPOSED, "of the hypotheses that it names"), (UNSAID, "of those that no sentence of it makes"),
    (REPAIRED, "repaired, all of them asked together"),
)  # fmt: skip
"""How each count of statements is introduced in a sentence."""


def tallied(arranged: Outline) -> str:
    """How all statements came out, in a sentence: those that the text says, those it takes for granted, and so on."""
    parts = [
        f"{lead}, {outcomes(arranged.counts[group], group)}" for group, lead in TALLIED if group in arranged.counts
    ]
    return (
        f"Of the statements that the text says, claims and proof steps together: {'; '.join(parts)}." if parts else ""
    )


def outcomes(counts: Mapping[str, int], group: str) -> str:
    """``3 are refuted, 1 stays undecided and 2 hold``, the worst first; what the text does not make only fails."""
    fails = ("fails", "fail") if group == UNSAID else ("is refuted", "are refuted")
    holds, held = ("holds", "hold")
    if group == SUPPOSED:
        fails, holds, held = ("cannot be met", "cannot be met"), "can be met", "can be met"
    words = ((Verdict.REFUTED, *fails),
             (MIXED, f"{holds} in some readings of its words", f"{held} in some readings of their words"),
             (Verdict.VACUOUS, *(fails if group == SUPPOSED else ("says nothing", "say nothing"))),
             (Verdict.INCONCLUSIVE, "stays undecided", "stay undecided"),
             (wording.FAULT, "ended in a fault", "ended in a fault"),
             (Verdict.NOT_APPLICABLE, "does not apply", "do not apply"),
             (Verdict.SUPPORTED, holds, held))  # fmt: skip
    return wording.listing(
        f"{counts[status]} {one if counts[status] == 1 else many}" for status, one, many in words if counts.get(status)
    )


def remarks(entry: StatementOutline) -> list[str]:
    """What must be said of a claim besides its verdicts: where they and those of its steps point apart."""
    notes = []
    written = entry.named.get("as-written")
    for reading, outcome in entry.named.items():
        fallen = entry.fallen(reading)
        if outcome.status == "SUPPORTED" and fallen:
            steps = wording.listing(step.id.partition("/")[2] for step in fallen)
            part = "which is no part of it, does" if len(fallen) == 1 else "which are no part of it, do"
            notes.append(f"{outcome.title}, the statement holds although {steps}, {part} not.")
        if outcome.by_itself:
            told = wording.tally(str(Verdict.SUPPORTED), outcome.instances)
            title = next((f" (“{step.title}”)" for step in entry.steps if step.id == outcome.part), "")
            step, under = outcome.part.partition("/")[2], "under some readings " if outcome.holds_in_part else ""
            notes.append(
                f"{outcome.title}, {under}it falls with {step}{title}, a part of it; "
                f"its own check refutes nothing: {told}."
            )
    alone = {isolated.status for isolated in entry.isolated}
    if written and written.status == "REFUTED" and len(entry.isolated) > 1 and alone == {"SUPPORTED"}:
        choices = wording.listing(isolated.choice for isolated in entry.isolated)
        notes.append(
            f"It falls by an interaction of its choices: with {choices}, each taken as written alone, it holds."
        )
    return notes


def _counts(counts: Mapping[str, int]) -> str:
    known = [(name, counts[name]) for name in wording.STATUSES if counts.get(name)]
    parts = [f"{count} {'ended in a fault' if name == wording.FAULT else wording.word(name)}" for name, count in known]
    first, count = known[0]
    verb = "" if first == wording.FAULT else "is " if count == 1 else "are "
    noun = "statement" if count == 1 else "statements"
    parts[0] = f"{count} {noun} {verb}{parts[0].split(' ', 1)[1]}"
    return wording.listing(parts)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
