"""What a profile runs, and that it says what it does not."""

from __future__ import annotations

import pytest

import verify
from spec.claims import load_claims
from verify.campaign.plan import DEFAULT_SEED, plan
from verify.campaign.summary import left_out
from verify.checks.measuring.case import PROFILES, checks, find_profile
from verify.checks.measuring.long_runs import TOO_LONG
from verify.report.model import NAMED

SMOKE = find_profile("smoke")


def planned(profile, subject="reference", claims=()):
    return {task.claim for task in plan(claims, NAMED, (), profile, subject, DEFAULT_SEED)}


def test_a_smoke_run_has_every_claim():
    run = {name.split("/")[0] for name in planned(SMOKE)}
    assert run == {name.split("/")[0] for name in checks()}
    assert run == set(load_claims())


@pytest.mark.parametrize("subject", ["reference", "my.module:Subject"])
def test_what_is_not_run_is_said(subject):
    (line,) = left_out(SMOKE, (), subject)
    missing = planned(PROFILES["ci"], subject) - planned(SMOKE, subject)
    assert missing
    assert f"leaves out {len(missing)} statements" in line
    for name in missing:
        claim, _, step = name.partition("/")
        listed = line.split(f"{claim} (")[1].split(")")[0].split(", ")
        assert (step or "the claim itself") in listed


def test_what_is_named_is_run():
    assert "goldstein-convergence/noise-term" in planned(SMOKE, claims=["goldstein-convergence"])
    assert left_out(SMOKE, ["goldstein-convergence"], "reference") == []
    assert left_out(PROFILES["ci"], (), "reference") == []
    assert set(TOO_LONG) <= set(checks())


def test_a_report_says_so_wherever_it_is_made(tmp_path):
    asked = {"profile": "smoke", "instances": ["absolute-moving"], "readings": ["repaired"]}
    found = verify.run(store=tmp_path / "store.sqlite", **asked)
    assert [line for line in found.changes if "leaves out" in line] == left_out(SMOKE, (), "reference")
    assert "leaves out" not in " ".join(verify.run(["bias-bound/T3"], profile="smoke", instances=["toy1"]).changes)
