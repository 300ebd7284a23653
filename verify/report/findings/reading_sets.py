"""A statement under every literal reading of its words: where it holds, where it fails and how, and what repairs it.

Which readings there are is data of the claims; the verdicts are the run's. Nothing is said of what was not run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from spec.claims import Claim, Statement, premises_of
from spec.formulas.powers import raised
from spec.reading import find_choice
from verify.evidence.model import LETTERS, PremiseEvidence, RateEvidence
from verify.report import wording
from verify.report.findings.hypothesis_ledger import Need
from verify.report.findings.repairs import Judged, Repair, smallest_repairs
from verify.report.model import Result
from verify.verdict import Verdict, rolled_up


@dataclass(frozen=True)
class LiteralReading:
    """One combination of literal values, and how the statement fares: its status, and what is measured there."""

    name: str
    values: tuple[str, ...]
    status: str
    measured: str = ""
    claimed: str = ""
    off: float = 0.0
    """How far what is measured is from what is claimed, in orders or in the compared quantity."""
    reproduce: str = ""
    instance: str = ""
    """The deciding one."""
    why: str = ""
    """Of one that is not judged: which hypothesis says nothing under it, and why."""

    @property
    def words(self) -> str:
        """Its values in words."""
        return ", ".join(self.values)

    @property
    def holds(self) -> bool:
        return self.status == Verdict.SUPPORTED

    @property
    def fails(self) -> bool:
        return self.status == Verdict.REFUTED

    @property
    def is_barred(self) -> bool:
        """Whether nothing can meet the hypotheses under it."""
        return self.status == Verdict.VACUOUS

    @property
    def is_unjudged(self) -> bool:
        """Whether the hypotheses say nothing under it on any instance."""
        return self.status == Verdict.NOT_APPLICABLE


@dataclass(frozen=True)
class ReadingSet:
    """All literal readings of one statement that were run, and its smallest repairs.

    ``parts`` are steps that the claim falls with under any of them, whatever its own check says there; ``alone``
    whether it has parts at all, so that what is said is of its own check alone.
    """

    claim: str
    title: str
    literal: tuple[LiteralReading, ...]
    repairs: tuple[Repair, ...]
    parts: tuple[str, ...] = ()
    alone: bool = False

    @property
    def holding(self) -> int:
        """Under how many it holds."""
        return sum(reading.holds for reading in self.literal)

    @property
    def judged(self) -> int:
        """How many the hypotheses say something under, on some instance."""
        return sum(not one.is_unjudged for one in self.literal)

    @property
    def fails_throughout(self) -> bool:
        """Whether it fails, or cannot be met, under all of them."""
        return all(one.fails or one.is_barred for one in self.literal)

    @property
    def said(self) -> str:
        """``holds under 2 of 3 literal readings; fails with ỹ* and λ̃ held fixed: α⁻² where O(α) is claimed``."""
        own = self._of_own_check
        if not self.alone:
            return own
        if not self.parts:
            return f"by its own check {own}"
        named = (
            f"`{self.parts[0]}`" if len(self.parts) == 1 else f"{len(self.parts)} of its parts, e.g. `{self.parts[0]}`"
        )
        return f"by its own check {own}; it falls under each with {named}"

    @property
    def _of_own_check(self) -> str:
        count, failing = len(self.literal), [one for one in self.literal if one.fails]
        readings = wording.counted(count, "literal reading")
        every = "its one literal reading" if count == 1 else f"all {readings}"
        if self.holding == count:
            return f"holds under {every}"
        if len(failing) == count:
            return f"fails under {every}: {_range(failing)}"
        parts = [f"holds under {self.holding or 'none'} of {readings}"]
        if failing:
            parts.append(f"fails with {self._named(failing)}: {_range(failing)}")
        if barred := [one for one in self.literal if one.is_barred]:
            parts.append(f"cannot be met with {self._named(barred)}")
        if unjudged := [one for one in self.literal if one.is_unjudged]:
            why = next((one.why for one in unjudged if one.why), "")
            parts.append(f"not judged with {self._named(unjudged)}" + (f": {why}" if why else ""))
        known = (*failing, *barred, *unjudged)
        if open_ := [one for one in self.literal if not one.holds and one not in known]:
            parts.append(f"undecided with {self._named(open_)}")
        return "; ".join(parts)

    def _named(self, some: Sequence[LiteralReading]) -> str:
        """Some of its readings: by what they share and no other has, or one by one."""
        return self._in_common(some) or "; with ".join(one.words for one in some)

    def _in_common(self, failing: Sequence[LiteralReading]) -> str:
        """The values that all these have and no other has, in words; empty where that does not describe them.

        What is not judged, and told apart, may have them too.
        """
        common = set.intersection(*(set(one.values) for one in failing))
        others = [one for one in self.literal if one not in failing and not one.is_unjudged]
        if not common or any(common <= set(one.values) for one in others):
            return ""
        # As few of them as tell the failing ones from the others.
        for size in range(1, len(common) + 1):
            for chosen in combinations(sorted(common), size):
                if not any(set(chosen) <= set(one.values) for one in others):
                    return " and ".join(chosen)
        return ""

    @property
    def repaired_by(self) -> str:
        """The smallest repairs in words; empty where none was found or none is needed."""
        return ", or ".join(map(str, self.repairs))


def reading_set(
    full_id: str,
    statement: Statement,
    statuses: Mapping[str, str],
    results: Mapping[str, Sequence[Result]],
    needs: Mapping[str, Need] | None = None,
) -> ReadingSet | None:
    """From the statuses and results of one statement's readings, by name; ``None`` where not all of them were run.

    Of a claim with parts it is what its own check says. ``needs``: what the ledger says of hypotheses, by id.
    """
    own = {name: _own(full_id, statement, status, results.get(name, ())) for name, status in statuses.items()}
    if not set(statement.literal_readings) <= {name for name, status in own.items() if status}:
        return None
    refuting = {
        result.instance for name in statement.literal_readings for result in results.get(name, ())
        if result.verdict is Verdict.REFUTED or result.verdict == own[name] == Verdict.VACUOUS
    }  # fmt: skip
    literal = tuple(
        _judged(statement, name, _earned(own[name], results.get(name, ()), refuting), results.get(name, ()))
        for name in statement.literal_readings
    )
    premises = premises_of(full_id)
    judged = Judged(full_id, statement, premises, own, results, needs or {}, frozenset(refuting))
    return ReadingSet(full_id, statement.title, literal, smallest_repairs(judged), alone=_has_parts(statement))


def _own(full_id: str, statement: Statement, status: str, results: Sequence[Result]) -> str:
    """The status of a statement's own check at one point; empty where its parts alone were run.

    A text that another reading leaves undecided fails at its own point all the same.
    """
    if not _has_parts(statement) and status != Verdict.INCONCLUSIVE:
        return status
    if not results:
        return "" if _has_parts(statement) else status
    return str(rolled_up(statement, {full_id: [result.verdict for result in results]}) or wording.FAULT)


def _has_parts(statement: Statement) -> bool:
    return isinstance(statement, Claim) and bool(statement.parts("as-written"))


def _range(failing: Sequence[LiteralReading]) -> str:
    """What is measured where it fails: the least and the most favourable reading's, where these differ."""
    told = [one for one in failing if one.measured]
    if not told:
        return "refuted"
    worst, best = max(told, key=lambda one: one.off), min(told, key=lambda one: one.off)
    if worst.measured == best.measured:
        return f"{worst.measured} where {worst.claimed} is claimed"
    if worst.claimed == best.claimed:
        return f"{worst.measured} at worst, {best.measured} at best, where {worst.claimed} is claimed"
    at_worst = f"{worst.measured} at worst, where {worst.claimed} is claimed"
    return f"{at_worst}, {best.measured} at best, where it is {best.claimed}"


def _values(statement: Statement, name: str) -> tuple[str, ...]:
    reading, sense = statement.interpreted(name)
    values = {**reading.model_dump(), **sense.model_dump()}
    # A choice whose words allow one value alone says nothing that tells readings apart.
    fields = statement.open_choices
    open_ = [field for field in fields if len(find_choice(field).literal) > 1] or list(fields)
    return tuple(find_choice(field).words(values[field]) for field in open_)


def _earned(status: str, results: Sequence[Result], refuting: set[str]) -> str:
    """The status; undecided where it is asked on instances alone that refute no other literal reading either."""
    instances = {result.instance for result in results}
    if status == Verdict.SUPPORTED and results and refuting and not refuting & instances:
        return str(Verdict.INCONCLUSIVE)
    return status


def _judged(statement: Statement, name: str, status: str, results: Sequence[Result]) -> LiteralReading:
    """With what the deciding result measured where it refutes, and the command that repeats it."""
    reading = LiteralReading(name, _values(statement, name), status)
    deciding = next((result for result in results if wording.status_of(result) == status), None)
    if deciding is None:
        return reading
    reading = replace(reading, reproduce=deciding.reproduce, instance=deciding.instance)
    if deciding.verdict is Verdict.NOT_APPLICABLE:
        unmet = (item for item in deciding.evidence if isinstance(item, PremiseEvidence) and not item.holds)
        return replace(
            reading, why=next((f"“{item.premise}” says nothing there: {item.finding}" for item in unmet), "")
        )
    if deciding.verdict is not Verdict.REFUTED or deciding.measured is None:
        return reading
    shown, off = wording.number(deciding.measured), abs(deciding.measured)
    for rate in deciding.evidence:
        if isinstance(rate, RateEvidence) and rate.exponent == deciding.measured:
            letter = LETTERS.get(rate.variable, rate.variable)
            if wording.is_settled(rate):
                power, sign = round(rate.exponent, 2) + 0.0, "≈ " if wording.is_fitted(rate) else ""
            else:  # "not settled" is part of the number
                power, sign = wording.rough(rate.exponent), "about "
            shown = sign + (raised(letter, power) if power else f"{letter}⁰")
            shown += "" if wording.is_settled(rate) else f" ({wording.NOT_SETTLED})"
            off = abs(rate.exponent - float(statement.as_written.bound.exponents.get(rate.variable, 0)))
            break
    return replace(reading, measured=shown, claimed=deciding.claimed.removeprefix("== "), off=off)
