"""What a reader on the paper's side could object to each refutation, and what in the run answers it.

Nothing is written by hand of any statement: the objections are of a few kinds, the answers are read off the run. One
that nothing answers says so, and a statement that holds under some literal reading is not among those refuted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spec import Holder
from spec.atlas import find as find_instance
from spec.claims import Premise, find, load_claims, premises_of
from spec.drawn import is_drawn
from spec.formulas import choices_within
from spec.reading import chosen_by, find_choice
from spec.text.assertions import IN_THE_TEXT, PaperAssertion, load_assertions
from verify.evidence.model import PremiseEvidence
from verify.report import wording
from verify.report.findings.counted_statements import GRANTED, SUPPOSED, WRITTEN, group_of
from verify.report.findings.outline import StatementOutline
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.model import Result
from verify.report.site.frame import FOLDER, Page, SiteFrame, drawn
from verify.truth.geometry import quadratic_of
from verify.truth.propositions.axes import axes
from verify.truth.propositions.sites import Site as Place
from verify.verdict import Verdict

TITLE = "Objections"
FILE = f"{FOLDER}objections.html"
DERIVED = ("lemma", "theorem", "remark")
"""Kinds of claim that follow from assumptions, so that a problem outside of these says nothing of them."""
WITHIN = (
    "By the note to that assumption they are where X × Y is compact. What is measured comes of finitely many points "
    "and has neither bound in it: on a compact set around these points no number is another."
)
Entries = Mapping[str, StatementOutline]


@dataclass(frozen=True)
class Objection:
    """One objection in the words of whoever makes it, and the run's answer; no answer where the run has none.

    ``about`` is told beside it, and answers nothing.
    """

    says: str
    answers: tuple[str, ...] = ()
    about: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refuted:
    """A statement that fails as written, with what can be said against that, the strongest first."""

    entry: StatementOutline
    reading: ReadingOutline
    deciding: Result
    objections: tuple[Objection, ...]

    @property
    def group(self) -> str:
        """Whether the text says it or takes it for granted, as its statements are counted."""
        return group_of(self.entry.statement, WRITTEN)

    @property
    def stands(self) -> bool:
        """Whether every objection has its answer."""
        return all(objection.answers for objection in self.objections)


def refuted(site: SiteFrame) -> Iterator[Refuted]:
    """Every statement of the text that a run of the paper refutes, under each literal reading of its words."""
    if not site.report.is_of_the_paper:
        return
    sayings, entries = _sayings(), {entry.id: entry for entry in site.outline.statements}
    for entry in entries.values():
        written = entry.named.get(WRITTEN)
        if written is None or not written.counts or written.is_mixed or written.status != Verdict.REFUTED:
            continue
        deciding = site.deciding(written)
        if deciding is not None:
            yield Refuted(entry, written, deciding, tuple(_objections(entry, deciding, entries, sayings)))


def _sayings() -> dict[str, list[PaperAssertion]]:
    """By statement, the assertions in whose words it stands."""
    sayings: dict[str, list[PaperAssertion]] = {}
    for assertion in load_assertions().assertions:
        for full in assertion.covered_by:
            if full not in assertion.beside:
                sayings.setdefault(full, []).append(assertion)
    return sayings


def _objections(
    entry: StatementOutline, deciding: Result, entries: Entries, sayings: dict[str, list[PaperAssertion]]
) -> Iterator[Objection]:
    """Of its words, how they are read, what they assume, the problem, and the arithmetic."""
    # The statement that fails: the claim itself, or the part that it falls with.
    fallen = entries.get(deciding.claim, entry)
    # What holds passages against each other has definitions for its words, too.
    compares = load_claims()[entry.id.partition("/")[0]].kind == "consistency"
    places = [
        f"{one.place}: {one.asserts}"
        for one in sayings.get(entry.id, ())
        if one.kind in IN_THE_TEXT and (compares or not one.granted)
    ]
    if entry.statement is not None:
        at = entry.statement.location.replace("\n", " ")
        how = "It is taken for granted there." if entry.statement.relation == "implied" else ""
        by = f"It falls with its part {fallen.id}." if fallen is not entry else ""
        # Where it stands is no answer: the paper's words there are.
        yield Objection("We do not say that.", tuple(places[:3]), tuple(filter(None, (f"{at}.", how, by))))
    yield from _read_otherwise(fallen, deciding)
    yield from _hidden_choices(fallen, deciding)
    yield Objection("Your problem breaks what we assume.", tuple(_assumed(fallen, deciding, entries)))
    yield from _unbounded(fallen, deciding)
    if deciding.about != "paper":
        told = fallen.named.get(WRITTEN)
        yield Objection(
            f"{deciding.instance} is one contrived problem.", () if told is None else tuple(_elsewhere(told))
        )
    yield Objection("It is an accident of arithmetic, or of chance.", tuple(_certainty(deciding)))


def _read_otherwise(fallen: StatementOutline, deciding: Result) -> Iterator[Objection]:
    """One for each other literal reading of the words: what was measured there, where, and against what."""
    if fallen.statement is None or len(fallen.statement.literal_readings) < 2:
        return
    judged = fallen.literal.literal if fallen.literal is not None else ()
    if not judged:
        yield Objection("You read our words in a way that we did not mean.")
    for one in judged:
        if one.name == deciding.reading:
            continue
        where = f" on {one.instance}" if one.instance else ""
        measured = f", {one.measured} where {one.claimed} is claimed" if one.measured else ""
        answers = (f"Then it is {wording.word(one.status)}{where}{measured}.",) if one.fails or one.is_barred else ()
        if one.holds and fallen.literal is not None and fallen.literal.parts:
            part = fallen.literal.parts[0]
            answers = (
                f"Then what it says by itself holds{where}; its part {part} fails under each reading of its words.",
            )
        yield Objection(f"We meant: {one.words}.", answers)


def _hidden_choices(fallen: StatementOutline, deciding: Result) -> Iterator[Objection]:
    """One for each choice that its formula's quantities hang on and that it does not offer.

    It is answered where what is measured is the same under every value, evaluated on the problem that refutes.
    """
    formula = None if fallen.statement is None else fallen.statement.as_written.proposition
    if formula is None or fallen.statement is None:
        return
    hidden = [field for field in choices_within(formula) if field not in fallen.statement.open_choices]
    problem = find_instance(deciding.instance).problem if hidden and not is_drawn(deciding.instance) else None
    if problem is None or isinstance(problem, Holder):
        return
    site = Place(quadratic_of(problem), find_instance(deciding.instance).x)
    changing = axes(formula, [site])
    for field in hidden:
        same = f"On {deciding.instance} what is measured is the same under each of its values, exactly."
        words = " or ".join(one.words for one in find_choice(field).literal)
        yield Objection(f"You left out a choice: {words}.", () if field in changing else (same,))


def _assumed(fallen: StatementOutline, deciding: Result, entries: Entries) -> Iterator[str]:
    """What the run has of each premise that the text asks for where it fails; nothing where one fails or is lacking."""
    premises = [one for one in premises_of(fallen.id, "as-written") if _is_made(one, deciding)]
    decided = {item.premise: item for item in deciding.evidence if isinstance(item, PremiseEvidence)}
    taken = {one.id: told for one in premises if one.id not in decided and (told := _taken(one, entries))}
    if any(one.id not in decided and one.id not in taken for one in premises):
        return
    if not all(item.holds for item in decided.values()):
        return
    for item in decided.values():
        yield f"“{item.premise}” on {deciding.instance}: {item.finding}."
    yield from (f"“{name}” is what the text takes from {told}." for name, told in taken.items())
    if deciding.about == "paper" and not decided:
        yield "It is about the text itself: no problem takes part."
    elif not premises and not decided:
        yield f"The text puts no premise under it that {deciding.instance} could break."


def _unbounded(fallen: StatementOutline, deciding: Result) -> Iterator[Objection]:
    """That quadratics have no bounded gradients, where one refutes what the text derives from its assumptions."""
    kind = load_claims()[fallen.id.partition("/")[0]].kind
    if fallen.statement is None or kind not in DERIVED or deciding.about == "paper":
        return
    if is_drawn(deciding.instance) or isinstance(find_instance(deciding.instance).problem, Holder):
        return
    says = "We assume bounded gradients of f and g; those of your quadratics are not."
    yield Objection(says, (WITHIN,))


def _is_made(premise: Premise, deciding: Result) -> bool:
    """Whether the reading that decides makes a premise: some are those of one value of a choice only."""
    if not premise.under:
        return True
    meaning = find(deciding.claim).interpreted(deciding.reading)
    return chosen_by(premise.under).items() <= {**meaning.reading.model_dump(), **meaning.sense.model_dump()}.items()


def _taken(premise: Premise, entries: Entries) -> str:
    """The statements that it is the conclusion of, each with what became of it; empty where one was not asked."""
    outcomes = {full: entries[full].named.get(WRITTEN) for full in premise.taken_from if full in entries}
    told = [f"{full} ({wording.word(one.status)})" for full, one in outcomes.items() if one is not None and one.status]
    return ", ".join(told) if len(told) == len(premise.taken_from) else ""


def _elsewhere(reading: ReadingOutline) -> Iterator[str]:
    failing = reading.instances.get(Verdict.REFUTED, 0) + reading.instances.get(Verdict.VACUOUS, 0)
    every = sum(reading.instances.values())
    if failing:
        named = [one.instance for one in reading.results if one.verdict in (Verdict.REFUTED, Verdict.VACUOUS)]
        yield f"It fails on {failing} of {wording.counted(every, 'problem')} that it was asked on: {', '.join(named)}."
    if reading.smallest is not None:
        least = "every smaller one was tried" if reading.smallest.minimal else "smaller ones were not all tried"
        yield f"A smallest problem is derived by hand; {least}."


def _certainty(deciding: Result) -> Iterator[str]:
    if deciding.rung is not None:
        yield wording.RUNGS[deciding.rung]
    for what, rate in deciding.error_rates.items():
        yield f"Probability of error, {what}: {wording.number(rate, 2)}."


def pages(site: SiteFrame) -> list[Page]:
    """The page, where anything is refuted."""
    every = list(refuted(site))
    if not every:
        return []
    # What the words say first: what they take for granted is refuted without them being wrong.
    every.sort(key=lambda one: one.group != WRITTEN)
    unanswered = sum(not one.stands for one in every)
    counted = {group: sum(one.group == group for one in every) for group in (WRITTEN, GRANTED, SUPPOSED)}
    about = f"{wording.counted(len(every), 'refutation')} and what can be said against each."
    body = drawn("objections.html.j2", site, every=every, unanswered=unanswered, counted=counted)
    return [Page(FILE, TITLE, body, about)]
