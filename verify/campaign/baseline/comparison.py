"""Two runs of one subject: what got worse, what got better, what is new, and what could not be compared.

Verdicts and rungs are compared as they are. Numbers are compared as :mod:`verify.campaign.baseline.drift` says.
A finding is something that got worse or that moved where nothing may move; all else is reported and fails nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from spec.claims import Bound
from spec.claims import find as find_claim
from spec.errors import InvalidInputError
from verify.campaign.baseline.drift import (
    Drift,
    DriftRules,
    Kind,
    is_rougher,
    is_worst_case,
    level_drifts,
    rung_change,
    rung_drift,
    sweep_drifts,
)
from verify.campaign.baseline.model import Baseline, Entry, Level, Sweep
from verify.evidence.model import FrozenData
from verify.report.model import Result
from verify.report.rows.identified import Identified
from verify.verdict import Verdict

UNDECIDED = (Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_COUNTED = {
    "narrower": "exponents with an interval at most half as wide as on record: {} (improved)",
    "wider": "exponents with an interval at least twice as wide as on record: {}",
    "rougher": "constants with an uncertainty more than twice that on record: {}",
    "looser": "compared values whose sampling tolerance is more than twice that on record: {}",
    "fewer": "exponents that rest on less than half the samples on record: {}",
}
"""What is said of numbers known better or less well than before."""
Item = TypeVar("Item", Sweep, Level)


class Change(FrozenData, Identified):
    """One difference between two runs.

    Args:
        claim: Full id.
        reading: The reading.
        instance: Atlas name.
        kind: What differs.
        worse: Whether it is a finding.
        line: The difference with its numbers, in one line.
    """

    claim: str
    reading: str
    instance: str
    kind: Kind
    worse: bool
    line: str


class Comparison(FrozenData):
    """How a run compares with a baseline.

    Args:
        changes: Every difference, in the report's order.
        notes: What could not be compared, and why.
        compared: Results found in both.
        numbers: Exponents and constants compared.
        faults: Results of the new run without a verdict, one line each.
    """

    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    compared: int
    numbers: int
    faults: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[str, ...]:
        """What got worse or may not move, one line each."""
        return tuple(change.line for change in self.changes if change.worse)

    @property
    def reported(self) -> tuple[str, ...]:
        """What got better or is new, one line each."""
        return tuple(change.line for change in self.changes if not change.worse)

    @property
    def exit_code(self) -> int:
        """0 as expected, 1 a finding, 3 a fault in the subject or the run."""
        return 3 if self.faults else 1 if self.findings else 0


def compare(recorded: Baseline, current: Baseline, results: Sequence[Result] = ()) -> Comparison:
    """Hold a run against a baseline, narrowed to what that run should have produced.

    The sentences of the run's results are quoted, and what a fault concerns is not compared.
    """
    both = _Both(recorded, current, {result.key: result.sentence for result in results})
    faults = {result.key: f"{result.where}: {result.fault}" for result in results if result.fault is not None}
    old, new = recorded.entries, current.entries
    changes = [change for key, entry in new.items() for change in both.changes(old.get(key), entry)]
    missing = [entry for key, entry in old.items() if key not in new and key not in faults]
    if both.rules.same_profile:
        changes += [
            _change(entry, "evidence", True, f"no longer in the run; on record {entry.verdict}") for entry in missing
        ]
        missing = []
    return Comparison(
        changes=tuple(changes), notes=tuple(both.notes(missing)), compared=len(old.keys() & new.keys()),
        numbers=both.tally["numbers"], faults=tuple(faults.values()),
    )  # fmt: skip


@dataclass
class _Both:
    """A baseline and a new run, with the new run's sentences by key and what is counted on the way."""

    recorded: Baseline
    current: Baseline
    sentences: Mapping[str, str]
    tally: Counter[str] = field(default_factory=Counter)

    @property
    def rules(self) -> DriftRules:
        old, new = self.recorded, self.current
        return DriftRules(same_seed=old.seed == new.seed, same_profile=old.profile == new.profile)

    @property
    def verdicts_only(self) -> bool:
        return self.recorded.verdicts_only or self.current.verdicts_only

    def changes(self, old: Entry | None, new: Entry) -> Iterator[Change]:
        """What differs between a result on record and the same one of the new run."""
        sentence = self.sentences.get(new.key, "")
        if old is None:
            yield from _unrecorded(new, sentence)
        elif new.verdict is not old.verdict:
            # Another subject need not offer every stage; the same one may not lose any.
            if new.verdict is Verdict.NOT_APPLICABLE and self.recorded.subject != self.current.subject:
                self.tally["not offered"] += 1
                return
            better = _is_better(old.verdict, new.verdict, new.reading)
            text = f"{new.verdict}, on record {old.verdict}{' (improved)' if better else ''}. {sentence}".rstrip()
            yield _change(new, "verdict", not better, text)
        else:
            if old.rung is not None and new.rung is not None and old.rung != new.rung:
                drift = rung_change("evidence", old.rung, new.rung)
                yield _change(new, "evidence", not drift.better, drift.text)
            if not self.verdicts_only:
                yield from self._numbers(old, new)

    def _numbers(self, old: Entry, new: Entry) -> Iterator[Change]:
        rules, same_rung = self.rules.under(_bound(new), new), old.rung == new.rung
        for was, now in matched(old.sweeps, new.sweeps):
            if now is None:
                yield _change(new, "evidence", True, f"{was.quantity} is no longer measured")
            else:
                yield from _rung(new, was, now, same_rung)
                yield from self._drifts(new, sweep_drifts(was, now, rules))
                self.tally["wider"] += _width(now) > 2 * _width(was)
                self.tally["rougher"] += is_rougher(was, now)
                self.tally["narrower"] += 2 * _width(now) < _width(was)
                self.tally["fewer"] += 2 * (now.samples or 0) < (was.samples or 0)
        for level, other in matched(old.levels, new.levels):
            if other is None:
                yield _change(new, "evidence", True, f"{level.quantity} is no longer compared")
            else:
                yield from _rung(new, level, other, same_rung)
                yield from self._drifts(new, level_drifts(level, other, rules))
                self.tally["looser"] += level.rung == "statistical" and other.tolerance > 2 * level.tolerance > 0
                self.tally["worst cases"] += not rules.same_seed and is_worst_case(level)

    def _drifts(self, entry: Entry, drifts: Iterator[Drift]) -> Iterator[Change]:
        for drift in drifts:
            self.tally["numbers"] += 1
            if drift.moved:
                yield _change(entry, drift.kind, not drift.better, drift.text + (" (improved)" if drift.better else ""))

    def notes(self, missing: Collection[Entry]) -> Iterator[str]:
        """What could not be compared, and why."""
        recorded, current, tally = self.recorded, self.current, self.tally
        if self.verdicts_only:
            yield "only verdicts are on record: no exponent or constant was compared"
        if recorded.subject and recorded.subject != current.subject:
            yield f"recorded of {recorded.subject}, compared with {current.subject}"
        elif recorded.subject_version != current.subject_version:
            old, new = (baseline.subject_version or "not stated" for baseline in (recorded, current))
            yield f"subject version {old} on record, now {new}"
        versions = [baseline.environment.get("f2csa-verify") for baseline in (recorded, current)]
        if None not in versions and versions[0] != versions[1]:
            yield f"recorded with f2csa-verify {versions[0]}, compared with {versions[1]}: a check may have changed"
        if recorded.profile != current.profile:
            yield (
                f"profile {recorded.profile} on record, now {current.profile}: constants are compared where both "
                f"measured, and recorded results that this run lacks are not missed ({len(missing)} of them)"
            )
        if tally["worst cases"]:
            yield (
                f"seed {recorded.seed} on record, now {current.seed}: worst cases over random tries are compared by "
                f"verdict only ({tally['worst cases']} of them)"
            )
        if tally["not offered"]:
            yield f"recorded results that need a stage {current.subject} does not offer: {tally['not offered']}"
        yield from (text.format(tally[name]) for name, text in _COUNTED.items() if tally[name])


def _change(entry: Entry, kind: Kind, worse: bool, text: str) -> Change:
    return Change(**entry.named, kind=kind, worse=worse, line=f"{entry.where}: {text}")


def _unrecorded(entry: Entry, sentence: str) -> Iterator[Change]:
    if entry.verdict is Verdict.NOT_APPLICABLE:
        return
    # A repaired claim that fails is a failed claim, on record or not.
    failed = entry.reading == "repaired" and entry.verdict is Verdict.REFUTED
    why = f". {sentence}" if failed and sentence else ""
    yield _change(entry, "new", failed, f"{entry.verdict}, new: nothing on record{why}")


def _rung(entry: Entry, old: Item, new: Item, same_rung: bool) -> Iterator[Change]:
    """Each number's own evidence, where the result's has not said it already."""
    drift = rung_drift(old, new)
    if drift.moved and (same_rung or old.role != new.role):
        yield _change(entry, drift.kind, not drift.better, drift.text)


def _is_better(old: Verdict, new: Verdict, reading: str) -> bool:
    if reading == "repaired":
        # What the mathematics says holds: decided in its favour is better, whatever was there before.
        return new is Verdict.SUPPORTED and old is not Verdict.VACUOUS
    # As written, either outcome may be the right one; only deciding it at all is better.
    return old in UNDECIDED and new not in UNDECIDED


def _bound(entry: Entry) -> Bound | None:
    try:
        return find_claim(entry.claim).assertion(entry.reading).bound
    except InvalidInputError:
        return None


def matched(old: Sequence[Item], new: Sequence[Item]) -> Iterator[tuple[Item, Item | None]]:
    """Pairs of the same quantity, in order; numbers in a name may differ, for some name where they were measured."""
    there: dict[tuple[tuple[str, ...], int], Item] = {}
    counted: Counter[tuple[str, ...]] = Counter()
    for item in new:
        there[_name(item), counted[_name(item)]] = item
        counted[_name(item)] += 1
    counted.clear()
    for item in old:
        match = there.get((_name(item), counted[_name(item)]))
        counted[_name(item)] += 1
        # Evidence that only illustrates may come and go.
        if match is not None or item.role == "conclusion":
            yield item, match


def _name(item: Sweep | Level) -> tuple[str, ...]:
    variable = item.variable if isinstance(item, Sweep) else ""
    # An exact exponent and a measured one of the same quantity are two pieces of evidence.
    exact = item.rung in ("certified", "symbolic") if isinstance(item, Sweep) else False
    return (_NUMBER.sub("#", item.quantity), variable, str(exact))


def _width(sweep: Sweep) -> float:
    width = sweep.interval[1] - sweep.interval[0]
    return width if sweep.rung == "statistical" and width == width else 0.0
