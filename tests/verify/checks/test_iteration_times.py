"""After how many steps a subject's own iterations are read, profile by profile."""

from __future__ import annotations

from itertools import pairwise

import pytest

from verify.campaign.plan import Task, perform
from verify.checks.measuring.case import PROFILES
from verify.checks.measuring.runs.iteration_runs import TIMES
from verify.subjects import load_subject


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_shorter_iterations_are_read_at_times_of_the_same_ratios(profile):
    assert all(steps % profile.shorter == 0 and steps // profile.shorter >= 16 for steps in TIMES)
    shorter = [steps // profile.shorter for steps in TIMES]
    assert [b / a for a, b in pairwise(shorter)] == [b / a for a, b in pairwise(TIMES)]
    assert (profile.shorter > 1) == (profile.name == "smoke")


@pytest.mark.parametrize(("reading", "verdict"), [("as-written", "REFUTED"), ("repaired", "SUPPORTED")])
def test_a_smoke_run_decides_by_them_what_the_default_decides(reading, verdict):
    found = perform(Task("inner-loop-remark", reading, "concave-upper", "reference", "smoke", 0),
                    load_subject("reference"))  # fmt: skip
    assert str(found.verdict) == verdict
    assert any(getattr(item, "quantity", "") == "mean squared error after 128 steps" for item in found.evidence)
