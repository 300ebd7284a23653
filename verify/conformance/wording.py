"""The findings in words: what a colleague would say who had looked at the implementation."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from verify.conformance.pacing import MARK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from verify.conformance.model import Conformance

SHOWN = 6
"""Failed claims named one by one."""
MARKS = {"agrees": "✓", "diverges": "✗", "undecided": "?", "fault": "!", "not offered": "-"}


def letter(found: Conformance) -> Iterator[str]:
    """Line by line."""
    yield _headline(found)
    yield ""
    for stage in found.stages:
        yield f"  {MARKS[stage.status]} {stage.stage:<18} {stage.sentence}"
    yield ""
    yield from _diagnosis(found)
    yield from _claims(found)
    yield from (f"Note: {note}" for note in found.notes)
    for fault in found.faults[:SHOWN]:
        yield f"Fault: {fault}"
    if len(found.faults) > SHOWN:
        yield f"… and {len(found.faults) - SHOWN} more faults."
    if found.reproduction is not None:
        yield ""
        yield f"{found.reproduction.sentence} Paste this to see it:"
        yield ""
        yield from (f"    {line}" if line else "" for line in found.reproduction.code.rstrip().split("\n"))


def _headline(found: Conformance) -> str:
    rest = "" if found.complete else " The run was interrupted: the claims after that are not judged."
    return f"{found.subject}{_verdict(found)}.{rest}"


def _verdict(found: Conformance) -> str:
    if found.first is not None:
        return f" deviates, first in {found.first}"
    if found.findings:
        count = len(found.findings)
        fails = "1 result of the claims fails" if count == 1 else f"{count} results of the claims fail"
        return f": every stage agrees by itself, but {fails}"
    if found.faults:
        return f": no deviation in what could be judged, but {_count(found.faults, 'fault')}"
    undecided = [s.stage for s in found.stages if s.status == "undecided"]
    rest = f"; too few comparisons to be sure of {', '.join(undecided)}" if undecided else ""
    return f": no deviation{rest}"


def _diagnosis(found: Conformance) -> Iterator[str]:
    made = found.diagnosis
    if made is None:
        return
    yield f"What it is: {made.sentence}"
    for match in made.matches or made.partial:
        yield f"  {match.id} ({match.bug_type}): {match.effect}"
        yield f"  Claims that catch it: {', '.join(match.caught_by)}."
    yield ""


def _claims(found: Conformance) -> Iterator[str]:
    counts = Counter(claim.status for claim in found.claims)
    words = {
        "SUPPORTED": "supported", "REFUTED": "refuted", "INCONCLUSIVE": "inconclusive", "VACUOUS": "vacuous",
        "FAULT": "ended by a fault", "NOT_APPLICABLE": "not applicable (a stage or choice it does not offer)",
    }  # fmt: skip
    if counts:
        told = ", ".join(f"{counts[status]} {word}" for status, word in words.items() if counts[status])
        unchecked = f"; {counts['NOT_CHECKED']} more have no check" if counts["NOT_CHECKED"] else ""
        yield f"Claims and steps, repaired reading: {told or 'none judged'}{unchecked}."
    hurried = [claim.claim for claim in found.claims if claim.status == "INCONCLUSIVE" and MARK in claim.sentence]
    if hurried:
        shown = ", ".join(hurried[:SHOWN]) + (", …" if len(hurried) > SHOWN else "")
        yield f"  ? {len(hurried)} of them take more than there was time for ({shown}); --seconds gives more."
    stages = {stage.stage for stage in found.stages}
    failed = [line for line in found.findings if line.split(":")[0] not in stages]
    for line in failed[:SHOWN]:
        yield f"  ✗ {line}"
    if len(failed) > SHOWN:
        yield f"  … and {len(failed) - SHOWN} more; they are in the report."


def _count(items: tuple[str, ...], noun: str) -> str:
    return f"{len(items)} {noun}{'' if len(items) == 1 else 's'}"
