"""Two runs of one subject: what got worse, what got better, what is new, and what could not be compared.

Verdicts and rungs are compared as they are. Numbers are compared as :mod:`verify.campaign.baseline.drift_rules` says.
A finding is something that got worse or that moved where nothing may move; all else is reported and fails nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from spec.claims import Bound
from spec.claims import find as find_claim
from spec.errors import InvalidInputError
from verify.campaign.baseline.drift_rules import Drift, Rules, rung_drift
from verify.campaign.baseline.level_drift import is_worst_case, level_drifts
from verify.campaign.baseline.model import Baseline, Entry, Level, Sweep
from verify.campaign.baseline.sweep_drift import is_rougher, sweep_drifts
from verify.campaign.plan import bound_under
from verify.evidence.model import RUNGS
from verify.report.faces import Report
from verify.report.model import Result
from verify.verdict import Verdict

UNDECIDED = (Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")
Item = TypeVar("Item", Sweep, Level)
Kind = Literal["verdict", "evidence", "exponent", "constant", "new"]


class Change(BaseModel):
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

    model_config = ConfigDict(frozen=True, extra="forbid")


class Comparison(BaseModel):
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

    model_config = ConfigDict(frozen=True, extra="forbid")

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


def compare(
    recorded: Baseline,
    found: Baseline,
    *,
    sentences: Mapping[str, str] | None = None,
    faults: Mapping[str, str] | None = None,
) -> Comparison:
    """Hold a run against a baseline.

    Args:
        recorded: What was recorded, narrowed to what the new run should have produced.
        found: The new run.
        sentences: Sentences of the new results by key, to quote.
        faults: Faults of the new run by key; what they concern is not compared.
    """
    old, new, faults = recorded.entries, found.entries, faults or {}
    changes: list[Change] = []
    tally: Counter[str] = Counter()
    rules = Rules(same_seed=recorded.seed == found.seed, same_profile=recorded.profile == found.profile)
    for key, entry in new.items():
        sentence = (sentences or {}).get(key, "")
        if key not in old:
            changes += _unrecorded(entry, sentence)
        else:
            changes += _result(old[key], entry, recorded, found, rules, sentence, tally)
    missing = [entry for key, entry in old.items() if key not in new and key not in faults]
    if rules.same_profile:
        changes += [
            _change(entry, "evidence", True, f"no longer in the run; on record {entry.verdict}") for entry in missing
        ]
    notes = list(_notes(recorded, found, missing if not rules.same_profile else [], tally))
    return Comparison(
        changes=tuple(changes), notes=tuple(notes), compared=len(old.keys() & new.keys()), numbers=tally["numbers"],
        faults=tuple(f"{_where(key)}: {why}" for key, why in faults.items()),
    )  # fmt: skip


def _where(key: str) -> str:
    claim, reading, instance = key.split("|")
    return f"{claim} [{reading}] on {instance}"


def _change(entry: Entry, kind: Kind, worse: bool, text: str) -> Change:
    return Change(
        claim=entry.claim, reading=entry.reading, instance=entry.instance, kind=kind, worse=worse,
        line=f"{entry.where}: {text}",
    )  # fmt: skip


def _unrecorded(entry: Entry, sentence: str) -> Iterator[Change]:
    if entry.verdict is Verdict.NOT_APPLICABLE:
        return
    # A repaired claim that fails is a failed claim, on record or not.
    failed = entry.reading == "repaired" and entry.verdict is Verdict.REFUTED
    why = f". {sentence}" if failed and sentence else ""
    yield _change(entry, "new", failed, f"{entry.verdict}, new: nothing on record{why}")


def _result(
    old: Entry, new: Entry, recorded: Baseline, found: Baseline, rules: Rules, sentence: str, tally: Counter[str]
) -> Iterator[Change]:
    if new.verdict is not old.verdict:
        if _only_another_subject(old, new, recorded, found):
            tally["not offered"] += 1
            return
        better = _is_better(old.verdict, new.verdict, new.reading)
        text = f"{new.verdict}, on record {old.verdict}{' (improved)' if better else ''}. {sentence}".rstrip()
        yield _change(new, "verdict", not better, text)
        return
    if old.rung is not None and new.rung is not None and old.rung != new.rung:
        better = RUNGS.index(new.rung) < RUNGS.index(old.rung)
        text = f"evidence is {new.rung}, on record {old.rung} ({'stronger' if better else 'weaker'})"
        yield _change(new, "evidence", not better, text)
    if recorded.verdicts_only or found.verdicts_only:
        return
    bound = _bound(new)
    same_rung = old.rung == new.rung
    for was, now in _matched(old.sweeps, new.sweeps):
        if now is None:
            yield _change(new, "evidence", True, f"{was.quantity} is no longer measured")
        else:
            yield from _rung(new, was, now, same_rung)
            yield from _drifts(new, sweep_drifts(was, now, rules.under(bound, new)), tally)
            tally["wider"] += _width(now) > 2 * _width(was)
            tally["rougher"] += is_rougher(was, now)
            tally["narrower"] += 2 * _width(now) < _width(was)
            tally["fewer"] += 2 * (now.samples or 0) < (was.samples or 0)
    for level, other in _matched(old.levels, new.levels):
        if other is None:
            yield _change(new, "evidence", True, f"{level.quantity} is no longer compared")
        else:
            yield from _rung(new, level, other, same_rung)
            yield from _drifts(new, level_drifts(level, other, rules.under(bound, new)), tally)
            tally["looser"] += level.rung == "statistical" and other.tolerance > 2 * level.tolerance > 0
            tally["worst cases"] += not rules.same_seed and is_worst_case(level)


def _rung(entry: Entry, old: Item, new: Item, same_rung: bool) -> Iterator[Change]:
    """Each number's own evidence, where the result's has not said it already."""
    drift = rung_drift(old, new)
    if drift.moved and (same_rung or old.role != new.role):
        yield _change(entry, drift.kind, not drift.better, drift.text)


def _drifts(entry: Entry, drifts: Iterator[Drift], tally: Counter[str]) -> Iterator[Change]:
    for drift in drifts:
        tally["numbers"] += 1
        if drift.moved:
            text = drift.text + (" (improved)" if drift.better else "")
            yield _change(entry, drift.kind, not drift.better, text)


def _only_another_subject(old: Entry, new: Entry, recorded: Baseline, found: Baseline) -> bool:
    """Another subject need not offer every stage; the same one may not lose any."""
    return new.verdict is Verdict.NOT_APPLICABLE and old.verdict != new.verdict and recorded.subject != found.subject


def _is_better(old: Verdict, new: Verdict, reading: str) -> bool:
    if reading == "repaired":
        # What the mathematics says holds: decided in its favour is better, whatever was there before.
        return new is Verdict.SUPPORTED and old is not Verdict.VACUOUS
    # As written, either outcome may be the right one; only deciding it at all is better.
    return old in UNDECIDED and new not in UNDECIDED


def _bound(entry: Entry) -> Bound | None:
    try:
        return bound_under(find_claim(entry.claim), entry.reading)[0]
    except (InvalidInputError, KeyError):
        return None


def _matched(old: Sequence[Item], new: Sequence[Item]) -> Iterator[tuple[Item, Item | None]]:
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


def _notes(recorded: Baseline, found: Baseline, missing: Collection[Entry], tally: Counter[str]) -> Iterator[str]:
    if recorded.verdicts_only or found.verdicts_only:
        yield "only verdicts are on record: no exponent or constant was compared"
    if recorded.subject and recorded.subject != found.subject:
        yield f"recorded of {recorded.subject}, compared with {found.subject}"
    elif recorded.subject_version != found.subject_version:
        yield f"subject version {recorded.subject_version or 'not stated'} on record, now {found.subject_version or 'not stated'}"  # noqa: E501  # one sentence
    versions = [baseline.environment.get("f2csa-verify") for baseline in (recorded, found)]
    if None not in versions and versions[0] != versions[1]:
        yield f"recorded with f2csa-verify {versions[0]}, compared with {versions[1]}: a check may have changed"
    if recorded.profile != found.profile:
        yield (
            f"profile {recorded.profile} on record, now {found.profile}: constants are compared where both measured, "
            f"and recorded results that this run lacks are not missed ({len(missing)} of them)"
        )
    if tally["worst cases"]:
        yield (
            f"seed {recorded.seed} on record, now {found.seed}: worst cases over random tries are compared by verdict "
            f"only ({tally['worst cases']} of them)"
        )
    if tally["not offered"]:
        yield f"recorded results that need a stage {found.subject} does not offer: {tally['not offered']}"
    if tally["narrower"]:
        yield f"exponents with an interval at most half as wide as on record: {tally['narrower']} (improved)"
    if tally["wider"]:
        yield f"exponents with an interval at least twice as wide as on record: {tally['wider']}"
    if tally["rougher"]:
        yield f"constants with an uncertainty more than twice that on record: {tally['rougher']}"
    if tally["looser"]:
        yield f"compared values whose sampling tolerance is more than twice that on record: {tally['looser']}"
    if tally["fewer"]:
        yield f"exponents that rest on less than half the samples on record: {tally['fewer']}"


def judge(report: Report, recorded: Baseline) -> tuple[Report, Comparison]:
    """Compare, and mark the report with what came out.

    Args:
        report: The new run.
        recorded: The baseline, narrowed to what the run was asked for.

    Returns:
        The report with its findings, with what changed for the better or is new, and with every result marked as
        expected or not; and the comparison.
    """
    faults = {_key(result): result.fault for result in report.results if result.fault is not None}
    sentences = {_key(result): result.sentence for result in report.results}
    if any(result.verdict is not None for result in report.results):
        found = Baseline.of(report)
    else:
        found = recorded.model_copy(update={"results": (), "subject": report.subject, "seed": report.seed})
    comparison = compare(recorded, found, sentences=sentences, faults=faults)
    verdicts = {
        f"{change.claim}|{change.reading}|{change.instance}": change.worse
        for change in comparison.changes
        if change.kind == "verdict"
    }
    on_record = recorded.entries

    def marked(result: Result) -> Result:
        key = _key(result)
        expected = None
        if key in on_record and result.verdict is not None:
            expected = None if verdicts.get(key) is False else key not in verdicts
        return result.model_copy(update={"expected": expected})

    update = {
        "results": tuple(marked(result) for result in report.results),
        "findings": comparison.findings,
        "changes": (*comparison.reported, *comparison.notes),
    }
    return report.model_copy(update=update), comparison


def _key(result: Result) -> str:
    return f"{result.claim}|{result.reading}|{result.instance}"
