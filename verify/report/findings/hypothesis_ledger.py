"""Hypotheses of each lemma beside those the paper lists: which are needed, and what shows that they are.

A hypothesis counts as needed where a statement that goes without it is refuted as written and holds repaired, both by
the run's own verdicts. Of the others nothing is said but that they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from spec.claims import Claim, Premise, find, load_claims
from verify.report.rows.summary_row import SummaryRow
from verify.truth.propositions.needs import needs_of
from verify.verdict import Verdict

Need = Literal["needed", "not needed here", "not known", "open", "not judged"]
"""``needed``: without it the statement that shows it fails; ``not needed here``: that one holds as written all the
same; ``not known``: dropped alone, no problem searched breaks the statement; ``open``: its verdicts decide neither;
``not judged``: nothing on record goes without it, or it was not run."""


@dataclass(frozen=True)
class Hypothesis:
    """One hypothesis of a claim, or of a step of its own: whether the paper lists it, and whether it is needed.

    ``dropped`` is what was found by dropping it alone, where that shows the need: the statement, and where it fails.
    """

    claim: str
    premise: Premise
    need: Need
    dropped: str = ""

    @property
    def words(self) -> str:
        """The need in words, with what shows it."""
        shown = f"`{self.premise.shown_by}`"
        return {
            "needed": f"needed: without it {self.dropped or f'{shown} fails'}",
            "not known": "not known to be needed: dropped alone, no problem searched breaks a statement",
            "not needed here": f"not shown to be needed: {shown} holds without it",
            "open": f"open: {shown} is undecided",
            "not judged": "not judged",
        }[self.need]

    @property
    def shown_under(self) -> str:
        """The reading of the statement that shows the need which goes without the hypothesis; empty of no statement."""
        return _without(self.premise.shown_by, self.premise.without) if self.premise.shown_by else ""

    @property
    def listed(self) -> bool:
        """Whether the paper's text asks for it."""
        return self.premise.listed

    @property
    def granted(self) -> str:
        """Why the authors are granted it, where their text as written is asked with it and does not list it."""
        return self.premise.granted

    @property
    def standing(self) -> str:
        """Whether the paper lists it, in a word or two."""
        return "yes" if self.listed else "no, granted" if self.granted else "no"


@dataclass(frozen=True)
class HypothesisLedger:
    """A claim's hypotheses, those of its steps included, in order."""

    claim: str
    title: str
    hypotheses: tuple[Hypothesis, ...]

    @property
    def judged(self) -> tuple[Hypothesis, ...]:
        """Those of which something is shown, and those that only the repaired text has."""
        return tuple(h for h in self.hypotheses if h.need != "not judged" or not h.listed)

    @property
    def missing(self) -> tuple[Hypothesis, ...]:
        """Needed, and not listed."""
        return tuple(h for h in self.hypotheses if h.need == "needed" and not h.listed)


def ledgers(summary: Sequence[SummaryRow], claims: Mapping[str, Claim] | None = None) -> Iterator[HypothesisLedger]:
    """One for each claim of the run that has hypotheses of which one was judged."""
    claims = load_claims() if claims is None else claims
    statuses = {(row.claim, row.reading): row.status for row in summary}
    run = {row.claim.split("/")[0] for row in summary}
    for name, claim in claims.items():
        if name not in run:
            continue
        seen: dict[str, Hypothesis] = {}
        for full_id, statement in claim.statements():
            for premise in statement.premises:
                # A step that asks for a hypothesis of its claim once more adds nothing but what shows its need.
                known = seen.get(premise.id)
                if known is None or (known.need == "not judged" and premise.shown_by):
                    seen[premise.id] = _judged(full_id, premise, statuses)
        if any(hypothesis.need != "not judged" for hypothesis in seen.values()):
            yield HypothesisLedger(name, claim.title, tuple(seen.values()))


def needs(summary: Sequence[SummaryRow], claims: Mapping[str, Claim]) -> dict[str, dict[str, Need]]:
    """By claim and id of a hypothesis, what the ledger says of it."""
    return {one.claim: {h.premise.id: h.need for h in one.hypotheses} for one in ledgers(summary, claims)}


def _judged(full_id: str, premise: Premise, statuses: Mapping[tuple[str, str], str]) -> Hypothesis:
    """By the verdicts of what goes without it; where nothing does, by dropping it alone, if formulas decide that."""
    need = _need(premise, statuses)
    on_record = needs_of(full_id.split("/")[0], premise.id)
    shown = next(((name, one) for name, one in on_record if one.where), None)
    if shown is not None and not premise.shown_by:
        name, one = shown
        return Hypothesis(full_id, premise, "needed", f"`{name}` fails on {one.where}: {one.finding}")
    return Hypothesis(full_id, premise, "not known" if on_record and need == "not judged" else need)


def _need(premise: Premise, statuses: Mapping[tuple[str, str], str]) -> Need:
    if not premise.shown_by:
        return "not judged"
    without = statuses.get((premise.shown_by, _without(premise.shown_by, premise.without)))
    repaired = statuses.get((premise.shown_by, "repaired"))
    if without is None or repaired is None:
        return "not judged"
    if repaired != Verdict.SUPPORTED or without not in (Verdict.REFUTED, Verdict.SUPPORTED, Verdict.VACUOUS):
        return "open"
    return "not needed here" if without == Verdict.SUPPORTED else "needed"


def _without(shown_by: str, choice: str) -> str:
    """The reading of the showing statement that goes without the hypothesis."""
    if not choice:
        return "as-written"
    return f"only:{choice}" if len(find(shown_by).choices) > 1 else "as-written"
