"""Results on drawn problems decided again, as far as a report names them: each by running its check once more."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator

import numpy as np

from spec.atlas import find as find_instance
from spec.drawn import family_of, is_drawn
from spec.drawn import name_of as drawn_name
from spec.errors import InvalidInputError
from verify.campaign.draws import SHOWN, status_of_draw
from verify.campaign.plan import Task, perform
from verify.campaign.recheck.drawn_counts import expected_rows
from verify.report.model import ReportData
from verify.report.rows.draws_model import DrawnProblems, DrawRow, StratumRow
from verify.report.wording import FAULT
from verify.subjects import ReferenceSubject
from verify.subjects.subject_names import REFERENCE
from verify.truth.strata import strata_of_draw
from verify.verdict import Verdict

AGAIN = 40
"""Results run again: a few seconds. Which, the counts themselves decide, so that an edited count moves the choice."""
MOST_DERIVED = 500
"""Most drawn problems whose strata are derived again."""
Broken = tuple[str, str, str]
"""Where, which field, and the rule it breaks."""


def named_broken(report: ReportData) -> Iterator[Broken]:
    """Rows of statements that are not asked on draws, or that name other draws than the first of each outcome."""
    if report.draws is None or not report.complete:
        return
    known, shown = set(expected_rows(report)), {result.key for result in report.results}
    yield from strata_broken(report.draws, report.draws.each)
    for row in report.draws.rows:
        where = f"{row.claim} {row.reading} {row.family}"
        if (row.claim, row.reading, row.family) not in known:
            yield where, "draws", "must not have this row: the statement is not asked there"
        elif row.problems == report.draws.each and not _are_first(row):
            yield where, "named", f"must be the first {SHOWN} draws of each outcome"
        wrong = [name for outcome, names in row.named.items() if _must_show(outcome, row) for name in names]
        if any(f"{row.claim}|{row.reading}|{name}" not in shown for name in wrong):
            yield where, "results", "must hold the draws that went wrong"


def _must_show(outcome: str, row: DrawRow) -> bool:
    return outcome == FAULT or (outcome == Verdict.REFUTED and row.reading == "repaired")


def strata_broken(draws: DrawnProblems, each: int) -> Iterator[Broken]:
    """Strata of the draws, derived again where these are few: how many problems, and results on them, each has."""
    rows_by_family = Counter(row.family for row in draws.rows)
    if each * len(rows_by_family) > MOST_DERIVED:
        return
    problems, results = Counter[str](), Counter[str]()
    for family, rows in rows_by_family.items():
        for seed in range(each):
            for stratum in strata_of_draw(drawn_name(family, seed)):
                problems[stratum] += 1
                results[stratum] += rows
    held: dict[str, StratumRow] = {str(row.stratum): row for row in draws.strata}
    for name in sorted({*problems, *held}):
        row = held.get(name)
        if row is None or row.problems != problems[name] or sum(row.verdicts.values()) != results[name]:
            yield "draws", f"strata {name}", f"must be of {problems[name]} problems and {results[name]} results"


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
    if report.subject != REFERENCE:
        return
    known = set(expected_rows(report))
    shown = [result for result in report.results if is_draw(result.instance) and result.effort == 1]
    named = [(_task(report, one.claim, one.reading, one.instance), status_of_draw(one)) for one in shown] + [
        (_task(report, row.claim, row.reading, name), outcome)
        for row in (() if report.draws is None else report.draws.rows) if (row.claim, row.reading, row.family) in known
        for outcome, names in row.named.items() for name in names if is_draw(name, row.family)
    ]  # fmt: skip
    named = list(dict.fromkeys(named))
    seed = int.from_bytes(hashlib.sha256(repr(named).encode()).digest()[:8], "big")
    subject = ReferenceSubject()
    for k in sorted(np.random.default_rng(seed).permutation(len(named))[:AGAIN]):
        task, outcome = named[k]
        came = status_of_draw(perform(task, subject))
        yield None if came == outcome else (task.where, "verdict", f"must be {came}, run again; it is {outcome}")


def _task(report: ReportData, claim: str, reading: str, instance: str) -> Task:
    return Task(claim, reading, instance, report.subject, report.profile, report.seed)


def is_draw(name: str, family: str | None = None) -> bool:
    """Whether a name is that of one draw, of a family if one is given."""
    try:
        find_instance(name)
    except InvalidInputError:
        return False
    return is_drawn(name) and family in (None, family_of(name).name)
