"""A statement's own results, without those of its steps, which a run of it brings along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.kept import result_of
from verify.campaign.plan import DEFAULT_SEED, perform, plan
from verify.checks.measuring.case import ProfileName, find_profile
from verify.report.model import Result
from verify.subjects import name_of
from verify.subjects.subject_names import REFERENCE


def own_results(
    claim: str,
    subject: Any = None,
    *,
    readings: Sequence[str] = ("repaired",),
    instances: Sequence[str] = (),
    profile: ProfileName = "ci",
    seed: int = DEFAULT_SEED,
) -> list[Result]:
    """What ``verify.run`` finds of this statement itself, of the reference where no subject is given."""
    name = REFERENCE if subject is None else name_of(subject)
    tasks = plan([claim], readings, instances, find_profile(profile), name, seed)
    own = [task for task in tasks if task.claim == claim]
    assert own, f"{claim} has no check of its own there"
    return [result_of(task) if subject is None else perform(task, subject) for task in own]
