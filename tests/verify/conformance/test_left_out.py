"""What the profile of conform leaves out or narrows catches no mistake that nothing else catches, and is told."""

from __future__ import annotations

import json
from importlib import resources

import numpy as np

import verify
from tests.verify.conformance.subjects import OnlyHypergradient
from verify.campaign.plan import plan
from verify.checks.measuring.case import checks, find_profile
from verify.checks.measuring.long_runs import OTHER_LAWS, OUTER_RUNS
from verify.subjects.reference import ReferenceSubject

PROFILE = find_profile("conform")
NAME = "verify.subjects.reference:ReferenceSubject"


def kills() -> dict[str, dict[str, list[str]]]:
    """Instances that refute each mutant, by claim."""
    text = resources.files("verify.conformance.bugs").joinpath("kill_matrix.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, list[str]]] = json.loads(text)
    return found


def asked(claims: list[str]) -> set[str]:
    return {task.claim for task in plan(claims, ["repaired"], [], PROFILE, NAME, 1)}


def test_every_known_mistake_is_refuted_by_a_claim_that_is_left() -> None:
    for mutant, cells in kills().items():
        assert any(
            not PROFILE.leaves_out(claim) and set(found) & set(PROFILE.instances_of(checks()[claim]))
            for claim, found in cells.items() if claim in checks()
        ), mutant  # fmt: skip


def test_who_names_a_statement_or_its_claim_has_it_judged() -> None:
    assert not {*OUTER_RUNS, "sfo-complexity", "sfo-complexity/theta"} & asked([])
    assert "goldstein-convergence/telescope" in asked([])
    assert {*OUTER_RUNS} <= asked(["goldstein-convergence"])
    assert not {*OTHER_LAWS} & asked([])
    assert {*OTHER_LAWS} <= asked(["stochastic-oracles"])
    assert asked(["goldstein-convergence/noise-term"]) == {"goldstein-convergence/noise-term"}


class Laplace(np.random.Generator):
    """A generator whose normals are of Laplace's law, of mean 0 and variance 1."""

    def standard_normal(self, size=None, dtype=np.float64, out=None):
        shape = out.shape if out is not None else np.empty(size or ()).shape
        made = np.random.Generator(self.bit_generator).laplace(0.0, 0.5**0.5, shape).astype(dtype)
        if out is None:
            return made
        out[...] = made
        return out


class OfAnotherLaw(ReferenceSubject):
    """The reference, its estimates' noise of Laplace's law: unbiased and of the right variance."""

    def hypergradient_samples(self, problem, x, call, rng, replications):
        return super().hypergradient_samples(problem, x, call, Laplace(rng.bit_generator), replications)


def test_noise_of_another_law_is_a_finding_only_where_the_law_is_asked_for() -> None:
    claims = ["stochastic-oracles/draws-as-stated"]
    assert str(verify.conform(OfAnotherLaw(), claims=claims).report.results[0].verdict) == "REFUTED"
    assert not {*claims} & asked([])


def test_the_letter_names_what_could_have_been_asked_and_was_not() -> None:
    # Whether there was time for the rest makes no difference, so none is given.
    found = verify.conform(ReferenceSubject(), claims=[], profile="smoke", seconds=1e-6)
    left = [note for note in found.notes if "Left out" in note]
    assert len(left) == 1
    assert "goldstein-convergence, goldstein-convergence/bias-hypothesis" in left[0]
    # What it could not have been asked is no loss.
    few = verify.conform(OnlyHypergradient(), profile="smoke", claims=["goldstein-convergence", "bias-bound/T3"])
    assert not [note for note in few.notes if "Left out" in note]
