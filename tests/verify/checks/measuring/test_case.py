from __future__ import annotations

from spec import load_claims
from spec.atlas import atlas
from verify.checks.measuring.case import checks

CHECKED_CLAIMS = {
    "smoothness",
    "lipschitz-solution",
    "dual-extraction",
    "solution-error",
    "bias-bound",
    "variance-bound",
}


def test_every_check_judges_a_claim_of_the_paper():
    known = {full_id for claim in load_claims().values() for full_id, _ in claim.statements()}
    assert set(checks()) <= known


def test_the_claims_meant_to_be_checked_have_a_check_of_their_own_or_of_a_statement_part():
    covered = {full_id.split("/")[0] for full_id in checks()}
    assert covered >= CHECKED_CLAIMS


def test_every_check_names_instances_of_the_atlas_without_repeats():
    for check in checks().values():
        assert check.instances
        assert set(check.instances) <= set(atlas())
        assert len(set(check.instances)) == len(check.instances)


def test_deterministic_estimator_claims_cover_moving_and_fixed_rows_and_several_active_ones():
    strata = [atlas()[name].strata for name in checks()["bias-bound/T3"].instances]
    for wanted in ("A-zero", "A-nonzero", "several-active-rows", "one-active-row", "no-active-row", "indefinite-f-yy",
                   "weakly-active", "licq-fails", "infeasible", "box", "ill-conditioned"):  # fmt: skip
        assert any(wanted in found for found in strata), wanted


def test_bounds_are_asserted_in_the_variables_the_checks_sweep():
    # A check that sweeps a variable its claim says nothing about would be a fault at run time; see it here first.
    for full_id in ("bias-bound/T1", "bias-bound/T3", "solution-error", "dual-extraction"):
        claim_id, _, step = full_id.partition("/")
        claim = load_claims()[claim_id]
        found = claim if not step else next(s for s in claim.steps if s.id == step)
        assert set(found.as_written.bound.exponents) == {"alpha"}
        assert set(found.repaired.bound.exponents) == {"alpha"}
