"""Steps of the proofs that hold exactly: each fails where a part is left out, turned round or taken elsewhere."""

from __future__ import annotations

from fractions import Fraction

import pytest

from spec.atlas import find
from spec.claims import find as statement
from tests.verify.checks.asking import case_of
from tests.verify.checks.verdicts_of import REFUTED, SUPPORTED, under, verdict
from verify.checks.goldstein_convergence import second_moment, splits
from verify.checks.lagrangian_gradient import weights_in_x
from verify.checks.measuring.case import checks
from verify.checks.measuring.finite_laws import mean
from verify.truth.geometry import quadratic_of
from verify.verdict import decide

IDENTITIES = (
    "dual-extraction/row-difference", "dual-extraction/product-rule", "bias-bound/T2-split",
    "bias-bound/penalty-weights", "goldstein-convergence/orthogonality", "inner-cost/batch-arithmetic",
    "goldstein-convergence/moment-order", "goldstein-convergence/regret-split", "goldstein-convergence/estimate-split",
)  # fmt: skip


def decided(claim, reading, measurement):
    return decide(statement(claim).assertion(reading).bound, measurement.evidence).verdict


@pytest.mark.parametrize("claim", IDENTITIES)
@pytest.mark.parametrize("reading", ["as-written", "repaired"])
def test_it_holds_as_written_and_repaired_on_every_instance(claim, reading):
    assert {verdict(claim, reading, name) for name in checks()[claim].instances} == {SUPPORTED}


def test_each_piece_of_the_product_rule_is_needed_and_the_half_of_the_second():
    instance = find("two-of-three")
    maps = weights_in_x.Maps(quadratic_of(instance.problem), instance.x, "delta")
    y = weights_in_x._violating(maps)
    one, other = weights_in_x.pieces(maps, y)
    assert any(one)
    assert any(other)
    claim, double = "dual-extraction/product-rule", tuple(2 * v for v in other)
    for found in ((one,), (other,), (one, double)):
        assert decided(claim, "as-written", weights_in_x.added_up(maps, y, found)) is REFUTED
    assert decided(claim, "as-written", weights_in_x.added_up(maps, y, (one, other))) is SUPPORTED


@pytest.mark.parametrize(("step", "made"), [("regret-split", splits.regret_and_norm),
                                            ("estimate-split", splits.estimate_and_error)])  # fmt: skip
@pytest.mark.parametrize("reading", ["as-written", "repaired"])
def test_neither_part_of_the_regret_can_be_missing(step, made, reading):
    found, claim = made(), f"goldstein-convergence/{step}"
    wrong = [
        [(whole, one, Fraction(0)) for whole, one, _ in found],
        [(whole, Fraction(0), other) for whole, _, other in found],
        [(Fraction(0), one, other) for _, one, other in found],
        [(whole, one, other / 2) for whole, one, other in found],
    ]
    case, names = case_of(claim, reading, "kink"), ("sum", "one", "other")
    for parts in wrong:
        assert decided(claim, reading, splits.judged(case, parts, names)) is REFUTED
    assert decided(claim, reading, splits.judged(case, found, names)) is SUPPORTED


def test_runs_cross_the_kink_and_their_reference_points_depend_on_the_noise(monkeypatch):
    assert min(end for end, _ in splits.runs()) < 0 < splits.START
    later = {splits._against([step.slope for step in steps[splits.M :]]) for _, steps in splits.runs()}
    assert later == {splits.D, -splits.D}
    # Blocks that leave steps out do not add up, nor does the gradient at one point of a segment in place of its mean.
    case = case_of("goldstein-convergence/regret-split", "repaired", "kink")
    monkeypatch.setattr(splits, "_blocks", lambda steps: [steps[: splits.M]])
    assert decided("goldstein-convergence/regret-split", "repaired", splits.regret_split(case)) is REFUTED
    monkeypatch.undo()
    monkeypatch.setattr(splits, "_mean_slope", lambda start, stop: splits._slope(start))
    assert decided("goldstein-convergence/regret-split", "repaired", splits.regret_split(case)) is REFUTED


@pytest.mark.parametrize("reading", ["as-written", "repaired"])
def test_half_a_power_less_would_not_bound_the_weights(reading):
    claim = "bias-bound/penalty-weights"
    bound = statement(claim).assertion(reading).bound
    less = bound.model_copy(update={"exponents": {"alpha": Fraction(-7, 2)}})
    assert under(claim, reading, "toy1", less) is REFUTED


@pytest.mark.parametrize("reading", ["as-written", "repaired"])
def test_only_the_conditional_mean_leaves_no_cross_term(reading):
    instance = find("two-of-three")
    oracle = second_moment.ExactOracle.at(instance, second_moment.ORTHOGONAL_ALPHA)
    law = [second_moment.LawOutcome(Fraction(1), oracle.estimate())]
    case = case_of("goldstein-convergence/orthogonality", reading, "two-of-three")
    right = second_moment.parted(case, [law], [mean(law)])
    assert decided("goldstein-convergence/orthogonality", reading, right) is SUPPORTED
    # Around a centre beyond the mean the cross term is positive: the sum is smaller than the second moment.
    centre = tuple(v / 2 for v in mean(law))
    wrong = second_moment.parted(case, [law], [centre])
    assert decided("goldstein-convergence/orthogonality", reading, wrong) is REFUTED
    repaired = case_of("goldstein-convergence/orthogonality", "repaired", "two-of-three")
    around = second_moment.parted(repaired, [law], [oracle.grad_F])
    assert decided("goldstein-convergence/orthogonality", "repaired", around) is REFUTED
    assert around.values["E‖centre‖²"] > 0


def with_power(claim, reading, power):
    bound = statement(claim).assertion(reading).bound
    return bound.model_copy(update={"exponents": {"alpha": Fraction(power)}})


@pytest.mark.parametrize(
    ("claim", "power"),
    [("inner-cost/batch-arithmetic", "-3/2"), ("inner-cost/batch-arithmetic", "-5/2"),
     ("goldstein-convergence/moment-order", "1/2")],
)  # fmt: skip
def test_no_other_power_is_that_of_the_batch_or_of_its_noise(claim, power):
    assert under(claim, "as-written", "toy1", with_power(claim, "as-written", power)) is REFUTED
