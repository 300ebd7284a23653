"""Statements asked about drawn problems, thousands of them, and what became of them, counted.

A check that is made for an atlas instance of a family's kind is asked about the family's draws too, where it decides
without sampling: those that sample are made better by samples, not by problems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from spec.claims import load_claims
from spec.drawn import FAMILIES, name_of
from spec.drawn import family_of as family_of_draw
from spec.errors import InvalidInputError
from verify.campaign.plan import Task, statements_asked
from verify.checks.measuring.case import Profile, checks
from verify.checks.measuring.where_asked import can_draw
from verify.report.model import NAMED, Result
from verify.report.rows.draws_model import DrawnProblems, DrawRow, StratumRow
from verify.report.wording import FAULT
from verify.truth.strata import strata_of_draw
from verify.verdict import DISAGREE, Verdict

SHOWN = 3
"""Draws of one kind of outcome that a row names, and full results of those that went wrong."""
MOST = 1_000_000
"""Most draws of one family."""


def drawn_tasks(claims: Sequence[str], readings: Sequence[str], profile: Profile, draws: int, like: Task) -> list[Task]:
    """Every statement asked for on ``draws`` problems of each family that it can be asked about, a problem at a time.

    All families' first draws stand before their second ones, so that a run that ends early has asked about all kinds.
    ``like`` gives subject, profile, seed and effort.
    """
    statement_ids = statements_asked(claims, profile, like.subject)
    chosen = [checks()[full_id] for full_id in statement_ids]
    named = [reading for reading in readings if reading in NAMED]
    return [
        replace(like, claim=check.claim, reading=reading, instance=name_of(family.name, seed))
        for seed in range(draws)
        for family in FAMILIES.values()
        for check in chosen
        if can_draw(check, family)
        for reading in named
    ]


def how_many(draws: int | None, profile: Profile, instances: Sequence[str]) -> int:
    """Draws of each family that a run asks about: none where it names its instances.

    Raises:
        InvalidInputError: If the number is out of range, or given together with instances.
    """
    if draws is not None and not 0 <= draws <= MOST:
        raise InvalidInputError("draws", f"must be >= 0 and at most {MOST}", draws)
    if draws and instances:
        raise InvalidInputError("draws", "must not be given together with instances: name drawn:FAMILY:SEED there")
    return (profile.draws if draws is None else draws) if not instances else 0


@dataclass
class _Counted:
    """One row as it grows."""

    verdicts: Counter[str] = field(default_factory=Counter)
    named: dict[str, list[str]] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None

    def add(self, result: Result, status: str) -> None:
        self.verdicts[status] += 1
        names = self.named.setdefault(status, [])
        if len(names) < SHOWN:
            names.append(result.instance)
        if result.verdict is Verdict.SUPPORTED and result.measured is not None:
            value = result.measured
            self.low = value if self.low is None else min(self.low, value)
            self.high = value if self.high is None else max(self.high, value)


def gathered(results: Iterable[Result], draws: int) -> tuple[DrawnProblems, list[Result]]:
    """Results on draws counted by statement, reading and family, and in full what a report must show.

    Shown are, of each row, the first faults and the first refutations of a repaired statement.
    """
    rows: dict[tuple[str, str, str], _Counted] = {}
    strata: dict[str, Counter[str]] = {}
    problems: dict[str, set[str]] = {}
    shown: list[Result] = []
    for result in results:
        family = family_of_draw(result.instance).name
        row = rows.setdefault((result.claim, result.reading, family), _Counted())
        status = status_of_draw(result)
        row.add(result, status)
        if went_wrong(result) and row.verdicts[status] <= SHOWN:
            shown.append(result)
        for stratum in strata_of_draw(result.instance):
            strata.setdefault(stratum, Counter())[status] += 1
            problems.setdefault(stratum, set()).add(result.instance)
    draw_rows = tuple(
        DrawRow(claim=claim, reading=reading, family=family, verdicts=dict(sorted(row.verdicts.items())),
                named={status: tuple(names) for status, names in sorted(row.named.items())},
                measured=None if row.low is None or row.high is None else (row.low, row.high))
        for (claim, reading, family), row in _ordered(rows)
    )  # fmt: skip
    covered = tuple(
        StratumRow(stratum=stratum, problems=len(problems[stratum]), verdicts=dict(sorted(strata[stratum].items())))
        for stratum in sorted(strata)
    )
    return DrawnProblems(each=draws, rows=draw_rows, strata=covered), shown


UNSETTLED = "UNSETTLED"
"""On a draw a sweep may end before its exponent shows, and what is measured then contradicts the exact law.

That is neither support nor refutation: it is counted apart."""


def status_of_draw(result: Result) -> str:
    """A verdict, ``FAULT`` or ``UNSETTLED``."""
    if result.verdict is not None:
        return str(result.verdict)
    return UNSETTLED if (result.fault or "").startswith(DISAGREE) else FAULT


def went_wrong(result: Result) -> bool:
    """Whether one result on a draw must be shown in full."""
    return status_of_draw(result) in (FAULT, *(["REFUTED"] if result.reading == "repaired" else []))


def _ordered(rows: dict[tuple[str, str, str], _Counted]) -> Iterator[tuple[tuple[str, str, str], _Counted]]:
    order = [full_id for claim in load_claims().values() for full_id, _ in claim.statements()]
    families = list(FAMILIES)
    yield from sorted(
        rows.items(), key=lambda row: (order.index(row[0][0]), NAMED.index(row[0][1]), families.index(row[0][2]))
    )
