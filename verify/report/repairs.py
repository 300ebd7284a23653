"""Smallest repairs of a literal text: which choices made otherwise and hypotheses added, and whether its bound stays.

All of it is found by verdicts of the run. A set of choices repairs the literal text where the assertion held under it;
the repaired text stands under fewer choices where its own bound held under them, its hypotheses added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from spec.claims import Bound, Premise, Statement
from spec.reading import find_choice
from verify.evidence.model import PremiseEvidence
from verify.report import wording
from verify.report.hypothesis_ledger import Need
from verify.report.model import Result
from verify.verdict import NoEvidenceError, Verdict, decide, rolled_up

FAILS = (Verdict.REFUTED, Verdict.VACUOUS)
"""What shows that a text cannot stand: evidence against it, or hypotheses that nothing meets."""


@dataclass(frozen=True)
class Repair:
    """One change under which an assertion holds: choices made otherwise, hypotheses added, another bound or text.

    ``changed`` says in a clause what the repaired text asserts where that is not the literal assertion.
    """

    choices: tuple[str, ...] = ()
    hypotheses: tuple[str, ...] = ()
    changed: str = ""

    @property
    def size(self) -> int:
        """How many things are changed; the assertion itself outweighs any choice."""
        return len(self.choices) + len(self.hypotheses)

    def __str__(self) -> str:
        parts = [find_choice(name).repaired_words for name in self.choices]
        parts += [f"the hypothesis “{name}”" for name in self.hypotheses]
        if not self.changed:
            return " and ".join(parts) or "another text"
        return f"{' and '.join(parts) or 'no choice or hypothesis alone'}; then {self.changed}"


@dataclass(frozen=True)
class Judged:
    """One statement with what the run says of its points: statuses and results by name.

    Args:
        premises: Its hypotheses and those of its claim.
        statuses: By name of a reading, of its own check.
        results: By name of a reading.
        needs: What the ledger says of each hypothesis, by id.
    """

    full_id: str
    statement: Statement
    premises: tuple[Premise, ...]
    statuses: Mapping[str, str]
    results: Mapping[str, Sequence[Result]] = field(default_factory=dict)
    needs: Mapping[str, Need] = field(default_factory=dict)

    def holds(self, name: str) -> bool:
        return self.statuses.get(name) == Verdict.SUPPORTED

    def holds_as_repaired(self, name: str) -> bool:
        """Whether what was measured there, under the literal hypotheses, meets the repaired bound."""
        bound, results = self.statement.repaired.bound, self.results.get(name, ())
        try:
            verdicts = [decide(bound, result.evidence).verdict for result in results]
        except NoEvidenceError:
            return False
        return bool(results) and rolled_up(self.statement, {self.full_id: verdicts}) is Verdict.SUPPORTED


def smallest_repairs(judged: Judged) -> tuple[Repair, ...]:
    """The smallest repairs of a literal text that fails: those that leave its assertion alone, where there are any."""
    if judged.statuses.get("as-written") not in FAILS:
        return ()
    found = list(dict.fromkeys(_repairs(judged)))
    found = [repair for repair in found if not repair.changed] or found
    least = min((repair.size for repair in found), default=0)
    return tuple(repair for repair in found if repair.size == least)


def _repairs(judged: Judged) -> Iterator[Repair]:
    statement = judged.statement
    yield from (Repair(choices) for choices, name in statement.repairs.items() if judged.holds(name))
    changed = change(statement)
    for choices, name in {**statement.kept, statement.repairable: "repaired"}.items():
        if judged.holds(name):
            yield Repair(choices, _added(judged, name), changed)
    if statement.repaired.bound.quantity == statement.as_written.bound.quantity:
        for choices, name in {(): "as-written", **statement.repairs}.items():
            if judged.holds_as_repaired(name):
                yield Repair(choices, (), changed)


def _added(judged: Judged, name: str) -> tuple[str, ...]:
    """Hypotheses that only the repaired text has, and that may be what repairs it under a reading.

    Not one that is a choice of this text, that the ledger finds unneeded, or that an instance meets on which the
    literal text fails; where the repaired one says that it does not apply, only what is unmet there.
    """
    added = [p for p in judged.premises if "as-written" not in p.readings and p.without not in judged.statement.choices]
    ids = {p.id for p in added if judged.needs.get(p.id) != "not needed here"}
    refuting = {result.instance for result in judged.results.get("as-written", ()) if result.verdict in FAILS}
    there = [result for result in judged.results.get(name, ()) if result.instance in refuting]
    examined = [item for result in there for item in result.evidence if isinstance(item, PremiseEvidence)]
    met, unmet = ({item.premise for item in examined if item.holds is holds} for holds in (True, False))
    # An instance on which it is unmet says more than others on which it is met.
    left = ids & unmet or ids - met
    return tuple(dict.fromkeys(p.id for p in added if p.id in left))


def change(statement: Statement) -> str:
    """In a clause, what the repaired text asserts where the literal one does not follow from it."""
    ours, theirs = statement.repaired.bound, statement.as_written.bound
    if ours.quantity != theirs.quantity:
        power = f" = {wording.bound(ours)}" if ours.exponents else ""
        return f"“{ours.quantity}”{power}"
    if implies(ours, theirs):
        return ""
    return f"{wording.bound(ours)} where {wording.bound(theirs)} is claimed"


def implies(ours: Bound, theirs: Bound) -> bool:
    """Whether one bound says at least as much as another of the same kind; of a comparison, whether it is the same."""
    kind = {"quantity", "exponents"}
    if (
        ours.model_dump(exclude=kind) != theirs.model_dump(exclude=kind)
        or ours.exponents.keys() != theirs.exponents.keys()
    ):
        return False
    if ours.tag not in ("upper", "lower"):
        return ours.exponents == theirs.exponents
    sign = (1 if ours.toward == "zero" else -1) * (1 if ours.tag == "upper" else -1)
    return all(sign * power >= sign * theirs.exponents[name] for name, power in ours.exponents.items())
