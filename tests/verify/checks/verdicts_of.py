"""What a check of mathematics finds: its verdict on one instance, with or without another bound."""

from __future__ import annotations

from functools import cache

from tests.kept import result_of
from verify.campaign.plan import DEFAULT_SEED, Task, perform
from verify.evidence.model import ComparisonEvidence
from verify.subjects import ReferenceSubject
from verify.verdict import Verdict

SUPPORTED, REFUTED, UNMET = Verdict.SUPPORTED, Verdict.REFUTED, Verdict.NOT_APPLICABLE


@cache
def result(claim, reading, instance):
    """One result of the default profile."""
    found = result_of(Task(claim, reading, instance, "reference", "ci", DEFAULT_SEED))
    assert found.fault is None, found.fault
    return found


def verdict(claim, reading, instance):
    """Its verdict."""
    return result(claim, reading, instance).verdict


def under(claim, reading, instance, bound):
    """The verdict under another bound."""
    task = Task(claim, reading, instance, "reference", "ci", DEFAULT_SEED)
    return perform(task, ReferenceSubject(), bound).verdict


def number(claim, reading, instance, name):
    """The one comparison whose quantity holds a name."""
    (item,) = [e for e in result(claim, reading, instance).evidence
               if isinstance(e, ComparisonEvidence) and name in e.quantity]  # fmt: skip
    return item.measured
