"""Whether a result is one of this suite at all: its claim, reading, instance and effort, and its command."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from spec import InvalidInputError
from spec.atlas import atlas
from spec.atlas import find as find_instance
from spec.claims import Statement, load_claims
from spec.drawn import is_drawn
from verify.campaign.plan import Task
from verify.campaign.run_environment import NOISE
from verify.checks.measuring.case import PROFILES, checks
from verify.checks.measuring.where_asked import is_place_of
from verify.evidence.budget import EFFORT_STEP, LEVELS
from verify.report.model import ReportData, Result


def identity_broken(result: Result, report: ReportData) -> Iterator[tuple[str, str]]:
    """Claim, reading, instance and command are of this suite, and the effort is one there is."""
    statement = _by_id().get(result.claim)
    if statement is None or result.claim not in checks():
        yield "claim", "must be one that a check covers"
    elif not _has_reading(statement, result.reading):
        yield "reading", "must be one of the claim's"
    elif not _is_place(result):
        yield "instance", "must be one of the check's"
    elif result.effort not in {EFFORT_STEP**k for k in range(LEVELS + 1)}:
        yield "effort", f"must be a power of {EFFORT_STEP}"
    elif report.profile not in PROFILES:
        yield "profile", f"of the report must be one of {', '.join(PROFILES)}"
    else:
        task = Task(
            **result.named, subject=report.subject, profile=report.profile, seed=report.seed, effort=result.effort,
            noise=report.environment.get(NOISE, ""),
        )  # fmt: skip
        if result.about != statement.about:
            yield "about", f"must be {statement.about}, as the claim says"
        if result.reproduce != task.command:
            yield "reproduce", "must be the command that repeats this result"


def _is_place(result: Result) -> bool:
    if is_drawn(result.instance):
        try:
            find_instance(result.instance)
        except InvalidInputError:
            return False
    elif result.instance not in atlas():
        return False
    return is_place_of(checks()[result.claim], result.instance)


def _has_reading(statement: Statement, name: str) -> bool:
    try:
        statement.interpreted(name)
    except InvalidInputError:
        return False
    return True


def statements() -> Iterator[tuple[str, Statement]]:
    """Every claim and step by its full id."""
    for claim in load_claims().values():
        yield from claim.statements()


@lru_cache(maxsize=1)
def _by_id() -> dict[str, Statement]:
    return dict(statements())
