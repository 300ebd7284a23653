"""What the reference measured, as recorded: every result of a profile by digest, so that none can be edited unseen.

``python -m verify.campaign.recheck FOLDER`` records it anew (:mod:`verify.campaign.recheck.recording`). The record is
of one seed; results that are the same at another are held to it whatever the seed. Of a foreign subject only what does
not depend on the subject is held: predictions, exact orders, closed forms.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from verify.campaign.recheck.expected_evidence import asked, kind_of
from verify.campaign.recheck.expected_evidence import recorded as recorded_kinds
from verify.campaign.recheck.leaves import Group, derived_leaves, groups
from verify.campaign.recheck.sketches import WIDTH, cells, digest, sketches, width
from verify.evidence.budget import Share
from verify.evidence.model import Evidence, PremiseEvidence
from verify.report.model import ReportData, Result

RECORD = resources.files("verify.campaign.recheck") / "records" / "results.json"
SAME_SIZES = {"conform": "ci"}
"""Profiles that differ in what they ask, not in the numbers that come out."""
ANY_SEED = "*"
NONE = "-"
SHORT, LONG = 2, 12
"""Letters of the digest that names a changed piece of evidence, and of one that stands alone."""
BESIDE = ("counterexample", "pictures", "continuation")
RULE = "must be as on record: a number or word of it is another"


@dataclass(frozen=True)
class RecheckRow:
    """One result on record.

    Args:
        digest: Of all that it holds.
        pieces: Two letters a piece of it, by which a changed one is named.
        how: How each number is held.
        derived: Of each rate and comparison what does not depend on the subject: which of :func:`derived_leaves`, its
            digest and sketches; or ``-``.
        any_seed: Whether it is the same at every seed: its check draws nothing, and another seed gave the same.
    """

    digest: str
    pieces: str
    how: str
    derived: tuple[str, ...] = ()
    any_seed: bool = False

    @classmethod
    def parsed(cls, text: str) -> RecheckRow:
        """From a line of the record."""
        whole, pieces, how, derived = text.removeprefix(ANY_SEED).split(" ")
        return cls(whole, pieces, how, tuple(derived.split(",")) if derived else (), text.startswith(ANY_SEED))

    def __str__(self) -> str:
        start = ANY_SEED if self.any_seed else ""
        return f"{start}{self.digest} {self.pieces} {self.how} {','.join(self.derived)}"

    @classmethod
    def of(cls, runs: Sequence[Result]) -> RecheckRow:
        """Of the same result on several processors, the first of which is recorded."""
        held = [groups(result) for result in runs]
        how = "".join(sketches(same) for same in zip(*held, strict=True))
        texts = _texts(held[0], how)
        return cls(_whole(texts), "".join(digest(text, SHORT) for text in texts), how)

    def changed(self, result: Result) -> Iterator[str]:
        """Names of what in a result is not as on record."""
        held = groups(result)
        texts = _texts(held, self.how)
        if _whole(texts) == self.digest:
            return
        names = [name_of_item(item) for item in result.evidence] + list(BESIDE)
        if len(texts) * SHORT != len(self.pieces):
            yield "evidence"
            return
        here = [digest(text, SHORT) for text in texts]
        there = [self.pieces[k : k + SHORT] for k in range(0, len(self.pieces), SHORT)]
        yield next((name for name, one, other in zip(names, here, there, strict=True) if one != other), "evidence")


def _whole(texts: Sequence[str]) -> str:
    return digest("\n".join(texts))


def _texts(held: Sequence[Group], how: str) -> list[str]:
    """What of each group goes into digests; sketches that are not those of its leaves leave nothing that could fit."""
    texts, place = [], 0
    for group in held:
        end = place + WIDTH * sum(leaf.is_sketched for leaf in group)
        texts.append(cells(group, how[place:end]) or "other leaves")
        place = end
    return texts if place == len(how) else [*texts[:-1], "other leaves"]


def name_of_item(item: Evidence) -> str:
    """What a piece of evidence is about."""
    return f"premise {item.premise}" if isinstance(item, PremiseEvidence) else item.quantity


@dataclass(frozen=True)
class RecheckRecord:
    """All results on record."""

    seed: int
    environment: Mapping[str, str]
    profiles: Mapping[str, Mapping[str, str]]

    def row(self, result: Result, report: ReportData) -> RecheckRow | None:
        """The one that a report's result must be like, if any is on record for its profile, seed and effort."""
        text = self.profiles.get(SAME_SIZES.get(report.profile, report.profile), {}).get(result.key)
        if text is None:
            return None
        row = RecheckRow.parsed(text)
        sampled = any(getattr(item, "samples", None) is not None for item in result.evidence)
        if report.seed != self.seed and not row.any_seed:
            return None
        return None if result.effort != 1 and (sampled or not row.any_seed) else row

    def spreads(self, result: Result) -> list[list[float]] | None:
        """By how much each number of a result may differ between processors, group by group as :func:`groups` has them.

        As recorded of the same statement on the same instance, at whatever seed and under the widest profile that has
        it; ``None`` where that is of other numbers.
        """
        text = next((held[result.key] for held in reversed([*self.profiles.values()]) if result.key in held), None)
        if text is None:
            return None
        widths: list[list[float]] = []
        how, place = RecheckRow.parsed(text).how, 0
        for group in groups(result):
            row = []
            for leaf in group:
                step = WIDTH if leaf.is_sketched else 0
                one = how[place : place + step]
                row.append(width(one) if len(one) == WIDTH else 0.0)
                place += step
            widths.append(row)
        return widths if place == len(how) else None


@lru_cache(maxsize=1)
def shipped() -> RecheckRecord:
    """The record that comes with the package."""
    data = json.loads(RECORD.read_text(encoding="utf-8"))
    profiles = {
        profile: {f"{named}|{instance}": text for named, rows in held.items() for instance, text in rows.items()}
        for profile, held in data["profiles"].items()
    }
    return RecheckRecord(data["seed"], data["environment"], profiles)


def departures(result: Result, report: ReportData, *, reference: bool, share: Share) -> Iterator[tuple[str, str]]:
    """What of a result is not as on record: which part of it, and the rule."""
    row = shipped().row(result, report)
    if row is None:
        return
    if reference:
        yield from ((name, RULE) for name in row.changed(result))
    else:
        yield from _derived_departures(row, result, share)


def _derived_departures(row: RecheckRow, result: Result, share: Share) -> Iterator[tuple[str, str]]:
    """Predictions, exact orders and closed forms are those of the problem, whoever answers."""
    kinds = [kind for kind in recorded_kinds().get(result.key, ()) if not kind.startswith("premise ")]
    if len(kinds) != len(row.derived):
        return
    here = numbered([asked(kind_of(item, share)) for item in _numbers(result)])
    items = dict(zip(here, _numbers(result), strict=True))
    for kind, text in zip(numbered(map(asked, kinds)), row.derived, strict=True):
        item = items.get(kind)
        if item is not None and text != NONE:
            choice, short, how = int(text[0]), text[1 : 1 + LONG], text[1 + LONG :]
            values = cells(derived_leaves(item)[choice], how)
            if values is None or digest(values, LONG) != short:
                yield item.quantity, "must be held against what is on record: that does not depend on the subject"


def numbered(names: Any) -> list[tuple[str, int]]:
    """Names told apart where they repeat."""
    seen: Counter[str] = Counter()
    out = []
    for name in names:
        out.append((name, seen[name]))
        seen[name] += 1
    return out


def _numbers(result: Result) -> list[Any]:
    return [item for item in result.evidence if not isinstance(item, PremiseEvidence)]


def derived_rows(runs: Sequence[Result], other: Result | None, share: Share) -> tuple[str, ...]:
    """What the spec alone decides of each rate and comparison: the same for a subject that is off everywhere."""
    theirs = {} if other is None else dict(
        zip(numbered([asked(kind_of(item, share)) for item in _numbers(other)]), _numbers(other), strict=True)
    )  # fmt: skip
    names = numbered([asked(kind_of(item, share)) for item in _numbers(runs[0])])
    pairs = zip(names, zip(*map(_numbers, runs), strict=True), strict=True)
    return tuple(_derived([derived_leaves(item) for item in same], theirs.get(name)) for name, same in pairs)


def _derived(runs: Sequence[Sequence[Group]], other: Evidence | None) -> str:
    """The first choice of leaves that the other subject leaves as they are, with its digest and sketches."""
    theirs = () if other is None else derived_leaves(other)
    for choice, (leaves, *same) in enumerate(zip(theirs, *runs, strict=False)):
        how = sketches(same)
        text = cells(same[0], how)
        if text is not None and cells(leaves, how) == text:
            return f"{choice}{digest(text, LONG)}{how}"
    return NONE
