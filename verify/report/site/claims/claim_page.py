"""One page a claim: its answer, its two readings, its proof step by step, and all the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from spec.claims import Statement
from verify.evidence.model import ComparisonEvidence, RateEvidence
from verify.proofs.kernel.standings import standings
from verify.report import prose, wording
from verify.report.findings import assumed_laws
from verify.report.findings.outline import StatementOutline
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.model import Result
from verify.report.site.frame import APART, FOLDER, Page, SiteFrame, claim_file, drawn
from verify.report.site.plots.slope_plot import Figure, figure
from verify.report.site.words import cell_numbers as numbers
from verify.report.site.words import evidence_words
from verify.report.site.words.cell_numbers import CellNumber, bare
from verify.report.site.words.glossary import explained
from verify.verdict import Verdict

LOUD = (
    wording.FAULT, Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.VACUOUS, Verdict.SUPPORTED, wording.NOT_CHECKED,
    wording.LEFT_OPEN, Verdict.NOT_APPLICABLE, "",
)  # fmt: skip
"""Statuses from loud to quiet: steps stand in this order."""
LONGEST = 750_000
"""Longest page, in characters before what it repeats is taken out, that carries the evidence of its steps itself."""


@dataclass(frozen=True)
class Section:
    """A claim or a step as its page shows it."""

    entry: StatementOutline
    cells: tuple[tuple[str, CellNumber | None], ...]
    figure: Figure | None
    added: tuple[tuple[str, str], ...]
    """Hypotheses that the repaired text adds: a few words, and in full."""
    restated: str
    decides: bool = False


def pages(site: SiteFrame) -> list[Page]:
    """One page for each claim of the run."""
    carried = _carried(site)
    return [page for claim in site.outline.claims for page in _pages(site, claim, carried)]


def _pages(site: SiteFrame, claim: StatementOutline, carried: Mapping[str, list[str]]) -> Iterator[Page]:
    """The claim's page, and where it would be long one of its steps' evidence."""
    head = _section(site, claim)
    parts = {number.part for _, number in head.cells if number is not None and number.part}
    steps = [_section(site, step, decides=step.id in parts) for step in claim.steps]
    steps.sort(key=lambda step: (not step.decides, _loudness(step.entry, "as-written"), _loudness(step.entry)))
    answer = answer_of(head)

    def body(name: str, apart: str = "") -> Markup:
        return drawn(
            name, site, head=head, steps=steps, answer=answer, carried=carried, standings=standings,
            remarks=evidence_words.remarks, measured=numbers.measured, spelt=numbers.spelt, kind=_kind,
            assumed=assumed_laws.assumed, problem_text=evidence_words.problem_text, said=prose.remarks,
            instances=_instances, loud_first=_loud_first, run_lengths=evidence_words.run_lengths, apart=apart,
        )  # fmt: skip

    file, told = claim_file(claim.id), str(answer.striptags())
    whole = body("claim.html.j2")
    if len(whole) <= LONGEST or not any(step.entry.readings for step in steps):
        yield Page(f"{FOLDER}{file}", claim.title, whole, told)
        return
    apart = file.removesuffix(".html") + APART
    yield Page(f"{FOLDER}{file}", claim.title, body("claim.html.j2", apart), told)
    yield Page(f"{FOLDER}{apart}", f"Evidence: {claim.title}", body("evidence.html.j2"))


def _kind(evidence: object) -> str:
    if isinstance(evidence, RateEvidence):
        return "rate"
    return "comparison" if isinstance(evidence, ComparisonEvidence) else "premise"


def _section(site: SiteFrame, entry: StatementOutline, *, decides: bool = False) -> Section:
    cells = tuple((reading, site.cell(entry, reading)) for reading in ("as-written", "repaired"))
    drawn_readings = [(reading, site.number(reading)) for reading in entry.named.values()]
    shown = figure(drawn_readings, entry.title) if drawn_readings else None
    return Section(entry, cells, shown, tuple(_added(entry.statement)), site.restated(entry), decides)


def _added(statement: Statement | None) -> Iterator[tuple[str, str]]:
    for premise in statement.premises if statement is not None else ():
        if premise.readings == ("repaired",):
            yield premise.id.replace("-", " "), premise.words("repaired")


def _loudness(entry: StatementOutline, reading: str = "repaired") -> int:
    outcome = entry.named.get(reading)
    status = outcome.status if outcome is not None else entry.missing
    # What the text does not say is no failure of the text.
    quieter = len(LOUD) if outcome is not None and not outcome.counts else 0
    return LOUD.index(status) + quieter if status in LOUD else 2 * len(LOUD)


def _carried(site: SiteFrame) -> dict[str, list[str]]:
    """By statement: what of the run rests on it."""
    carried: dict[str, list[str]] = {}
    for entry in site.outline.statements:
        for name in entry.statement.rests_on if entry.statement is not None else ():
            carried.setdefault(name, []).append(entry.id)
    return carried


def _loud_first(results: Sequence[Result]) -> list[Result]:
    """The result that decides, then from loud to quiet."""
    return [*results[:1], *sorted(results[1:], key=lambda result: LOUD.index(wording.status_of(result)))]


def _instances(entry: StatementOutline) -> list[tuple[str, list[CellNumber | None]]]:
    """Every instance with its number under both readings, those that refute first."""
    by_instance: dict[str, dict[str, CellNumber]] = {}
    for reading, shown in entry.named.items():
        for result in shown.results:
            by_instance.setdefault(result.instance, {})[reading] = numbers.measured(result)
    rows = [
        (name, [cells.get(reading) for reading in ("as-written", "repaired")]) for name, cells in by_instance.items()
    ]
    return sorted(rows, key=lambda row: min(LOUD.index(n.status) for n in row[1] if n is not None))


def answer_of(head: Section) -> Markup:
    """The page's first sentence: how the claim stands as written, then repaired, with its numbers."""
    cells = dict(head.cells)
    sentences = []
    written, repaired = cells.get("as-written"), cells.get("repaired")
    if written is not None:
        sentences.append(_as_written(head.entry.named.get("as-written"), written))
    if repaired is not None and head.entry.checked:
        sentences.append(_repaired(head, repaired))
    if not sentences and not head.entry.steps:
        return Markup("Not in this run.")
    return Markup(" ").join(sentences) if sentences else _of_steps(head.entry)


def _of_steps(entry: StatementOutline) -> Markup:
    shown = wording.counted(len(entry.steps), "step")
    return Markup("The claim itself was not in this run; {} of it {}.").format(
        shown, "was" if len(entry.steps) == 1 else "were"
    )


def _as_written(reading: ReadingOutline | None, number: CellNumber) -> Markup:
    where = "As written" if reading is None or reading.said else "Our literal reading"
    if number.status == Verdict.REFUTED:
        lead = "Refuted as written" if where == "As written" else f"{where} fails"
        if reading is not None and reading.holds_in_part:
            lead = f"As written {reading.word}; under the first reading"
        elif reading is not None and reading.is_mixed:
            lead = f"As written {number.note}; under the first"
        elif reading is not None and reading.part:
            own = f", {reading.by_itself}" if reading.by_itself else ""
            told = Markup("{} by its part <code>{}</code>{}").format(lead, reading.part, own)
            return Markup("<b>{}: {}.</b>").format(told, _measured(replace(number, part="")))
    elif number.status == Verdict.SUPPORTED:
        lead = "Holds as written" if where == "As written" else f"{where} holds"
    else:
        return Markup("<b>{}: {}.</b>").format(where, number.note or number.word)
    return Markup("<b>{}: {}.</b>").format(lead, _measured(number))


def _repaired(head: Section, number: CellNumber) -> Markup:
    word = {Verdict.SUPPORTED: "it holds", Verdict.REFUTED: "it is refuted"}.get(number.status)  # type: ignore[call-overload]  # any text
    if word is None:
        return Markup("Repaired: {}.").format(number.note or number.word)
    added = Markup("")
    if head.added:
        names = [Markup('<abbr title="{}">{}</abbr>').format(text, words) for words, text in head.added]
        noun = "hypothesis" if len(names) == 1 else "hypotheses"
        added = Markup(" under the added {} {}").format(noun, listed(names))
    claim = Markup("; {}").format(wording.typeset(head.restated)) if head.restated else Markup("")
    return Markup("Repaired {}{}: {}{}.").format(word, added, _measured(number), claim)


def listed(parts: list[Markup]) -> Markup:
    """``a, b and c``, of markup."""
    if len(parts) < 2:
        return parts[0] if parts else Markup("")
    return Markup("{} and {}").format(Markup(", ").join(parts[:-1]), parts[-1])


def _measured(number: CellNumber) -> Markup:
    same = bool(number.fitted) and number.firm == number.claimed
    claim = Markup(" where {} is claimed").format(bare(number.claimed_html)) if number.claimed else Markup("")
    claim = Markup(", as claimed") if same else claim
    quantity = Markup(" ({})").format(explained(wording.typeset(number.quantity))) if number.quantity else Markup("")
    part = Markup(", by its part <code>{}</code>").format(number.part) if number.part else Markup("")
    return Markup("{}{}{}{}").format(number.told, claim, quantity, part)
