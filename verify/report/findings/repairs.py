"""Smallest repairs of a literal text: which choices made otherwise and hypotheses added, and whether its bound stays.

All of it is found by verdicts of the run. A set of choices repairs the literal text where the assertion held under it;
the repaired text stands under fewer choices where its own bound held under them, its hypotheses added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from spec.claims import Bound, Premise, Statement
from spec.reading import find_choice, is_repaired_text
from verify.evidence.model import PremiseEvidence
from verify.report import wording
from verify.report.findings.hypothesis_ledger import Need
from verify.report.model import Result
from verify.verdict import NoEvidenceError, Verdict, decide, rolled_up

FAILS = (Verdict.REFUTED, Verdict.VACUOUS)
"""What shows that a text cannot stand: evidence against it, or hypotheses that nothing meets."""


@dataclass(frozen=True)
class Repair:
    """One change under which an assertion holds: choices made otherwise, hypotheses added, another bound or text.

    ``changed`` says in a clause what the repaired text asserts where that is not the literal assertion;
    ``at_most`` whether the same with fewer choices was not run.
    """

    choices: tuple[str, ...] = ()
    hypotheses: tuple[str, ...] = ()
    changed: str = ""
    at_most: bool = False

    @property
    def size(self) -> int:
        """How many things are changed; the assertion itself outweighs any choice."""
        return len(self.choices) + len(self.hypotheses)

    def __str__(self) -> str:
        parts = [find_choice(name).repaired_words for name in self.choices]
        parts += [f"the hypothesis “{name}”" for name in self.hypotheses]
        lead = ("at most " if self.at_most else "") + wording.listing(parts)
        if not self.changed:
            return lead
        return f"{lead}; it then holds {self.changed}" if parts else f"it holds {self.changed}"


@dataclass(frozen=True)
class Judged:
    """One statement with what the run says of its points: statuses and results by name.

    Args:
        premises: Its hypotheses and those of its claim.
        statuses: By name of a reading, of its own check.
        results: By name of a reading.
        needs: What the ledger says of each hypothesis, by id.
        refuting: Instances on which a literal reading fails.
    """

    full_id: str
    statement: Statement
    premises: tuple[Premise, ...]
    statuses: Mapping[str, str]
    results: Mapping[str, Sequence[Result]] = field(default_factory=dict)
    needs: Mapping[str, Need] = field(default_factory=dict)
    refuting: frozenset[str] = frozenset()

    def holds(self, name: str) -> bool:
        """Whether it holds there, not only on instances that refute no literal reading."""
        return self.statuses.get(name) == Verdict.SUPPORTED and self._is_earned(name)

    def holds_as_repaired(self, name: str) -> bool:
        """Whether what was measured there, under the literal hypotheses, meets the repaired bound."""
        bound, results = self.statement.repaired.bound, self.results.get(name, ())
        try:
            verdicts = [decide(bound, result.evidence).verdict for result in results]
        except NoEvidenceError:
            return False
        verdict = rolled_up(self.statement, {self.full_id: verdicts}) if results else None
        return verdict is Verdict.SUPPORTED and self._is_earned(name)

    def _is_earned(self, name: str) -> bool:
        """Whether an instance that refutes a literal reading is decided there, or an added hypothesis excludes it."""
        results = self.results.get(name, ())
        if name == "repaired" or not results or not self.refuting:
            return True
        return any(
            result.verdict in (Verdict.SUPPORTED, Verdict.REFUTED) or (is_repaired_text(name) and self.excluded(result))
            for result in results
            if result.instance in self.refuting
        )

    def excluded(self, result: Result) -> set[str]:
        """The added hypotheses that a result's instance does not meet."""
        return {i.premise for i in result.evidence if isinstance(i, PremiseEvidence) and not i.holds} & self.added

    @property
    def added(self) -> set[str]:
        """Hypotheses that the repaired text has and the literal one has not; not one that is a choice of this text.

        Of its claim's, those of a text that makes choices, and those which this very statement shows to be needed.
        """
        own = {premise.id for premise in self.statement.premises}
        return {
            p.id for p in self.premises
            if "as-written" not in p.readings and p.without not in (*self.statement.choices,)
            and (p.id in own or self.statement.choices or p.shown_by == self.full_id)
        }  # fmt: skip


def smallest_repairs(judged: Judged) -> tuple[Repair, ...]:
    """The smallest repairs of a literal text that fails: those that leave its assertion alone, where there are any."""
    if judged.statuses.get("as-written") not in FAILS:
        return ()
    # Of a text without choices its repaired one tells what else is measured.
    measured = judged.statement.repaired.bound.quantity != judged.statement.as_written.bound.quantity
    plain = measured and not judged.statement.choices
    repairs = [repair for repair in dict.fromkeys(_repairs(judged)) if repair.size or (repair.changed and not plain)]
    repairs = [repair for repair in repairs if not repair.changed] or repairs
    least = min((repair.size for repair in repairs), default=0)
    return tuple(repair for repair in repairs if repair.size == least)


def _repairs(judged: Judged) -> Iterator[Repair]:
    statement = judged.statement
    yield from (Repair(choices) for choices, name in statement.repairs.items() if judged.holds(name))
    changed, same = change(statement), statement.repaired.bound.quantity == statement.as_written.bound.quantity
    missing = not same and any(name not in judged.statuses for name in statement.kept.values())
    for choices, name in {**statement.kept, statement.repairable: "repaired"}.items():
        if judged.holds(name):
            added = _added(judged, name)
            yield Repair(choices, added, changed, at_most=missing and bool(choices or added))
    if same:
        for choices, name in {(): "as-written", **statement.repairs}.items():
            if judged.holds_as_repaired(name):
                yield Repair(choices, (), changed)


def _added(judged: Judged, name: str) -> tuple[str, ...]:
    """Hypotheses that only the repaired text has, and that may be what repairs it under a reading.

    Not one that the ledger finds unneeded, or that an instance meets on which the literal text fails; where the
    repaired one says that it does not apply there, only what is unmet. What the check sees to is always added: no
    instance meets it.
    """
    there = [result for result in judged.results.get(name, ()) if result.instance in judged.refuting]
    unmet = set[str]().union(*map(judged.excluded, there))
    examined = [item for result in there for item in result.evidence if isinstance(item, PremiseEvidence)]
    left = unmet or judged.added - {item.premise for item in examined if item.holds}
    left |= {item.premise for item in examined if item.is_constructed} & judged.added
    left -= {premise for premise, need in judged.needs.items() if need == "not needed here"}
    return tuple(dict.fromkeys(p.id for p in judged.premises if p.id in left))


def change(statement: Statement) -> str:
    """In a clause, what the repaired text asserts where the literal one does not follow from it."""
    ours, theirs = statement.repaired.bound, statement.as_written.bound
    if ours.quantity != theirs.quantity:
        return f"of “{ours.quantity}”" + (f", as {wording.bound(ours)}" if ours.exponents else "")
    if implies(ours, theirs):
        return ""
    return f"as {wording.bound(ours)} where {wording.bound(theirs)} is claimed"


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
