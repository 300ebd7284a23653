"""A statement under every literal reading of its words: where it holds, where it fails and how, and what repairs it.

Which readings there are is data of the claims; the verdicts are the run's. Nothing is said of what was not run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from spec.claims import Bound, Statement
from spec.reading import find_choice
from verify.evidence.model import LETTERS, RateEvidence, raised
from verify.report import wording
from verify.report.model import NAMED, Result
from verify.verdict import Verdict


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


@dataclass(frozen=True)
class Repair:
    """A smallest change under which the literal assertion holds: choices made otherwise, hypotheses added.

    ``changed`` says what else the repaired text has, where no choice suffices.
    """

    choices: tuple[str, ...]
    hypotheses: tuple[str, ...] = ()
    changed: str = ""

    def __str__(self) -> str:
        if self.changed:
            return f"no choice of these alone; repaired, {self.changed}"
        parts = [find_choice(field).repaired_words for field in self.choices]
        parts += [f"the hypothesis “{name}”" for name in self.hypotheses]
        return " and ".join(parts)


@dataclass(frozen=True)
class ReadingSet:
    """All literal readings of one statement that were run, and its smallest repairs."""

    claim: str
    title: str
    literal: tuple[LiteralReading, ...]
    repairs: tuple[Repair, ...]

    @property
    def holding(self) -> int:
        """Under how many it holds."""
        return sum(reading.holds for reading in self.literal)

    @property
    def said(self) -> str:
        """``holds under 2 of 3 literal readings; fails with ỹ* and λ̃ held fixed: α⁻² where O(α) is claimed``."""
        count, failing = len(self.literal), [one for one in self.literal if one.fails]
        readings = wording.counted(count, "literal reading")
        if self.holding == count:
            return f"holds under {'its one literal reading' if count == 1 else f'all {readings}'}"
        if len(failing) == count:
            return f"fails under {'its one literal reading' if count == 1 else f'all {readings}'}: {_range(failing)}"
        open_ = [one.words for one in self.literal if not (one.fails or one.holds)]
        parts = [f"holds under {self.holding or 'none'} of {readings}"]
        if failing:
            named = self._in_common(failing) or "; with ".join(one.words for one in failing)
            parts.append(f"fails with {named}: {_range(failing)}")
        return "; ".join(parts + ([f"undecided with {'; with '.join(open_)}"] if open_ else []))

    def _in_common(self, failing: Sequence[LiteralReading]) -> str:
        """The values that all these have and no other has, in words; empty where that does not describe them."""
        common = set.intersection(*(set(one.values) for one in failing))
        others = [one for one in self.literal if one not in failing]
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
    full_id: str, statement: Statement, statuses: Mapping[str, str], results: Mapping[str, Sequence[Result]]
) -> ReadingSet | None:
    """From the statuses and results of one statement's readings, by name; ``None`` where it has no literal choice.

    Also where not all of them were run, or where a part of the statement decides, which has a set of its own.
    """
    if not statement.choices or not set(statement.literal_readings) <= statuses.keys():
        return None
    own = results.get("as-written", ())
    if own and wording.status_of(own[0]) != statuses["as-written"]:
        return None
    refuting = {r.instance for name in statement.literal_readings for r in results.get(name, ()) if _fails(r)}
    earned = {name: _earned(status, results.get(name, ()), refuting) for name, status in statuses.items()}
    named = {name: statuses[name] for name in NAMED if name in statuses}
    literal = tuple(
        _judged(statement, name, earned[name], results.get(name, ())) for name in statement.literal_readings
    )
    return ReadingSet(full_id, statement.title, literal, _smallest_repairs(statement, earned | named))


def _range(failing: Sequence[LiteralReading]) -> str:
    """What is measured where it fails: the least and the most favourable reading's, where these differ."""
    told = [one for one in failing if one.measured]
    if not told:
        return "refuted"
    worst, best = max(told, key=lambda one: one.off), min(told, key=lambda one: one.off)
    if worst.measured == best.measured:
        return f"{worst.measured} where {worst.claimed} is claimed"
    return f"{worst.measured} at worst, {best.measured} at best, where {worst.claimed} is claimed"


def _values(statement: Statement, name: str) -> tuple[str, ...]:
    reading, sense = statement.interpreted(name)
    values = {**reading.model_dump(), **sense.model_dump()}
    # A choice whose words allow one value alone says nothing that tells readings apart.
    open_ = [field for field in statement.choices if len(find_choice(field).literal) > 1] or list(statement.choices)
    return tuple(find_choice(field).words(values[field]) for field in open_)


def _fails(result: Result) -> bool:
    return result.verdict is Verdict.REFUTED


def _earned(status: str, results: Sequence[Result], refuting: set[str]) -> str:
    """The status; undecided where it holds on instances alone that refute no other literal reading either."""
    decided = {result.instance for result in results if result.verdict in (Verdict.SUPPORTED, Verdict.REFUTED)}
    if status == Verdict.SUPPORTED and results and refuting and not refuting & decided:
        return str(Verdict.INCONCLUSIVE)
    return status


def _judged(statement: Statement, name: str, status: str, results: Sequence[Result]) -> LiteralReading:
    """With what the deciding result measured where it refutes, and the command that repeats it."""
    made = LiteralReading(name, _values(statement, name), status)
    deciding = next((result for result in results if wording.status_of(result) == status), None)
    if deciding is None:
        return made
    made = replace(made, reproduce=deciding.reproduce)
    if deciding.verdict is not Verdict.REFUTED or deciding.measured is None:
        return made
    shown, off = wording.number(deciding.measured), abs(deciding.measured)
    for rate in deciding.evidence:
        if isinstance(rate, RateEvidence) and rate.exponent == deciding.measured:
            letter, power = LETTERS.get(rate.variable, rate.variable), round(rate.exponent, 2) + 0.0
            shown = raised(letter, power) if power else f"{letter}⁰"
            off = abs(rate.exponent - float(statement.as_written.bound.exponents.get(rate.variable, 0)))
            break
    return replace(made, measured=shown, claimed=deciding.claimed.removeprefix("== "), off=off)


def _smallest_repairs(statement: Statement, statuses: Mapping[str, str]) -> tuple[Repair, ...]:
    """Smallest sets of choices under which the literal assertion holds; failing all, what it lacks besides."""
    if statuses["as-written"] != Verdict.REFUTED:
        return ()
    found: list[Repair] = []
    for choices, name in statement.repairs.items():
        if found and len(choices) > len(found[0].choices):
            break
        if statuses.get(name) == Verdict.SUPPORTED:
            found.append(Repair(choices))
    if found or statuses.get("repaired") != Verdict.SUPPORTED:
        return tuple(found)
    added = tuple(p.id for p in statement.premises if "as-written" not in p.readings)
    implied = _implies(statement.repaired.bound, statement.as_written.bound)
    changed = "another bound" if not implied else "" if added else "another text"
    return (Repair(statement.choices, added, changed),)


def _implies(ours: Bound, theirs: Bound) -> bool:
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
