"""Results on drawn problems decided again, as far as a report names them: each by running its check once more."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator

import numpy as np

from spec.drawn import family_of, is_drawn
from spec.drawn import name_of as drawn_name
from verify.campaign.draws import SHOWN, status_of_draw
from verify.campaign.plan import Task, perform
from verify.campaign.recheck.drawn_counts import expected_rows
from verify.report.draws_model import DrawRow
from verify.report.model import ReportData
from verify.subjects import ReferenceSubject
from verify.subjects.loading import REFERENCE

AGAIN = 40
"""Results run again: a few seconds. Which, the counts themselves decide, so that an edited count moves the choice."""
Broken = tuple[str, str, str]
"""Where, which field, and the rule it breaks."""


def named_broken(report: ReportData) -> Iterator[Broken]:
    """Rows of statements that are not asked on draws, or that name other draws than the first of each outcome."""
    if report.draws is None or not report.complete:
        return
    known = set(expected_rows(report))
    for row in report.draws.rows:
        where = f"{row.claim} {row.reading} {row.family}"
        if (row.claim, row.reading, row.family) not in known:
            yield where, "draws", "must not have this row: the statement is not asked there"
        elif row.problems == report.draws.each and not _are_first(row):
            yield where, "named", f"must be the first {SHOWN} draws of each outcome"


def _are_first(row: DrawRow) -> bool:
    """Whether the draws named of each outcome are in order, as many as a run names, and none is passed over."""
    order = {drawn_name(row.family, seed): seed for seed in range(row.problems)}
    named = [name for names in row.named.values() for name in names]
    if set(row.named) != set(row.verdicts) or len(set(named)) < len(named) or not set(named) <= set(order):
        return False
    # A draw that is not named is of an outcome whose named ones all come before it.
    passed = min((seed for name, seed in order.items() if name not in set(named)), default=math.inf)
    full = [names for outcome, names in row.named.items() if row.verdicts[outcome] > SHOWN]
    return all(
        len(names) == min(SHOWN, row.verdicts[outcome]) and list(names) == sorted(names, key=order.__getitem__)
        for outcome, names in row.named.items()
    ) and (not full or passed > min(order[names[-1]] for names in full))


def decided_again(report: ReportData) -> Iterator[Broken | None]:
    """Of the reference, some of the named draws run again: for each what is wrong with it, if anything."""
    if report.draws is None or report.subject != REFERENCE:
        return
    known = set(expected_rows(report))
    named = [
        (Task(row.claim, row.reading, name, report.subject, report.profile, report.seed), outcome)
        for row in report.draws.rows if (row.claim, row.reading, row.family) in known
        for outcome, names in row.named.items() for name in names if is_drawn_of(name, row.family)
    ]  # fmt: skip
    seed = int.from_bytes(hashlib.sha256(report.draws.model_dump_json().encode()).digest()[:8], "big")
    subject = ReferenceSubject()
    for k in sorted(np.random.default_rng(seed).permutation(len(named))[:AGAIN]):
        task, outcome = named[k]
        came = status_of_draw(perform(task, subject))
        yield None if came == outcome else (task.where, "verdict", f"must be {came}, run again; it is {outcome}")


def is_drawn_of(name: str, family: str) -> bool:
    """Whether a name is one of a family's draws."""
    return is_drawn(name) and family_of(name).name == family
