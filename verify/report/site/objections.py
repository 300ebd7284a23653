"""What a reader on the paper's side could object to each refutation, and what in the run answers it.

Nothing is written by hand of any statement: the objections are of a few kinds, the answers are read off the run. One
that nothing answers says so, and a statement that holds under some literal reading is not among those refuted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spec.assertions import IN_THE_TEXT, PaperAssertion, load_assertions
from verify.evidence.model import PremiseEvidence
from verify.report import wording
from verify.report.model import Result
from verify.report.outline import ReadingOutline, StatementOutline
from verify.report.site.frame import FOLDER, Page, Site, drawn
from verify.verdict import Verdict

TITLE = "Objections"
FILE = f"{FOLDER}objections.html"
WRITTEN = "as-written"


@dataclass(frozen=True)
class Objection:
    """One objection in the words of whoever makes it, and the run's answer; no answer where the run has none."""

    says: str
    answers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refuted:
    """A statement that fails as written, with what can be said against that, the strongest first."""

    entry: StatementOutline
    found: ReadingOutline
    deciding: Result
    objections: tuple[Objection, ...]

    @property
    def stands(self) -> bool:
        """Whether every objection has its answer."""
        return all(objection.answers for objection in self.objections)


def refuted(site: Site) -> Iterator[Refuted]:
    """Every statement of the text that a run of the paper refutes, under each literal reading that was run."""
    if not site.report.is_of_the_paper:
        return
    sayings = _sayings()
    for entry in site.outline.statements:
        found = entry.named.get(WRITTEN)
        if found is None or not found.counts or found.is_mixed or found.status != Verdict.REFUTED:
            continue
        deciding = site.deciding(found)
        if deciding is not None:
            yield Refuted(entry, found, deciding, tuple(_objections(entry, found, deciding, sayings)))


def _sayings() -> dict[str, list[PaperAssertion]]:
    """By statement, the assertions in whose words it stands."""
    made: dict[str, list[PaperAssertion]] = {}
    for assertion in load_assertions().assertions:
        for full in assertion.covered_by:
            made.setdefault(full, []).append(assertion)
    return made


def _objections(
    entry: StatementOutline, found: ReadingOutline, deciding: Result, sayings: dict[str, list[PaperAssertion]]
) -> Iterator[Objection]:
    """Of its words, how they are read, what they assume, the problem, and the arithmetic."""
    places = [
        f"{one.place}: {one.asserts}"
        for one in sayings.get(entry.id, ())
        if one.kind in IN_THE_TEXT and not one.granted
    ]
    if entry.statement is not None:
        at = entry.statement.location.replace("\n", " ")
        how = "It is taken for granted there." if entry.statement.relation == "implied" else ""
        yield Objection("We do not say that.", tuple(filter(None, (f"{at}.", how, *places[:3]))))
    if entry.statement is not None and len(entry.statement.literal_readings) > 1:
        readings = tuple(
            f"With {one.words}: {wording.word(one.status)}" + (f", {one.measured}" if one.measured else "") + "."
            for one in (entry.literal.literal if entry.literal is not None else ())
        )
        yield Objection("You read our words in a way that we did not mean.", readings)
    yield Objection("Your problem breaks what we assume.", tuple(_assumed(deciding)))
    if deciding.about != "paper":
        yield Objection("It is one contrived problem.", tuple(_elsewhere(found)))
    yield Objection("It is an accident of arithmetic, or of chance.", tuple(_certainty(deciding)))


def _assumed(deciding: Result) -> Iterator[str]:
    """What was decided of the text's premises where it fails."""
    premises = [item for item in deciding.evidence if isinstance(item, PremiseEvidence)]
    if not premises:
        yield (
            "It is about the text itself: no problem takes part." if deciding.about == "paper"
            else f"The text puts no premise under it that {deciding.instance} could break."
        )  # fmt: skip
    for item in premises:
        yield f"“{item.premise}” on {deciding.instance}: {item.finding}."


def _elsewhere(found: ReadingOutline) -> Iterator[str]:
    failing, every = found.instances.get(Verdict.REFUTED, 0), sum(found.instances.values())
    if failing:
        yield f"It fails on {failing} of {wording.counted(every, 'problem')} that it was asked on."
    if found.smallest is not None:
        least = "every smaller one was tried" if found.smallest.minimal else "smaller ones were not all tried"
        yield f"A smallest problem is derived by hand; {least}."


def _certainty(deciding: Result) -> Iterator[str]:
    if deciding.rung is not None:
        yield wording.RUNGS[deciding.rung]
    for what, rate in deciding.error_rates.items():
        yield f"Probability of error, {what}: {wording.number(rate, 2)}."


def pages(site: Site) -> list[Page]:
    """The page, where anything is refuted."""
    every = list(refuted(site))
    if not every:
        return []
    unanswered = sum(not one.stands for one in every)
    about = f"{wording.counted(len(every), 'refutation')} and what can be said against each."
    return [Page(FILE, TITLE, drawn("objections.html.j2", site, every=every, unanswered=unanswered), about)]
