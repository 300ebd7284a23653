"""The numbers the paper's claims come down to, each out of a run of the checks."""

from __future__ import annotations

from copy import deepcopy
from functools import cache

import pytest

from spec import InvalidInputError
from tests.kept import result_of
from verify.campaign.plan import DEFAULT_SEED, Task
from verify.checks.measuring.case import checks
from verify.evidence.model import ComparisonEvidence, RateEvidence
from verify.truth.certificates.certificate import Certificate
from verify.truth.certificates.checker import check
from verify.verdict import Verdict


@cache
def find(claim, reading, instance):
    """One result of the default profile, run when a test first asks for it."""
    result = result_of(Task(claim, reading, instance, "reference", "ci", DEFAULT_SEED))
    assert result.fault is None, result.fault
    return result


def numbers(result, name):
    (item,) = [e for e in result.evidence if isinstance(e, ComparisonEvidence) and name in e.quantity]
    return item


MOVING = ("toy1", "two-of-three", "scalar-rational", "absolute-moving", "random-2x3x4", "random-3x5x4", "random-4x6x6",
          "ill-conditioned")  # fmt: skip
FIXED = ("box-rational", "toy2", "kink", "crossing-kinks", "absolute-fixed", "fixed-rows", "experiment-5d")


@pytest.mark.parametrize(
    ("claim", "reading", "instances", "exponent", "verdict"),
    [
        ("bias-bound/T3", "repaired", MOVING + FIXED[:-1], 2, "SUPPORTED"),  # the last has a multiplier on its ramp
        ("bias-bound/T3", "as-written", MOVING, -2, "REFUTED"),
        ("bias-bound/T3", "as-written", FIXED, 2, "SUPPORTED"),
        ("bias-bound/T1", "as-written", MOVING, -1, "REFUTED"),
        ("bias-bound/T1", "as-written", FIXED, 1, "REFUTED"),
        ("bias-bound/T1", "repaired", MOVING, 1, "SUPPORTED"),
        ("bias-bound/L-H-y", "as-written", MOVING, -4, "REFUTED"),
        ("bias-bound/L-H-y", "as-written", FIXED, -2, "REFUTED"),
        ("bias-bound/T2", "as-written", ("weakly-active",), 0, "REFUTED"),
        ("bias-bound/T2", "repaired", ("toy1", "two-of-three", "absolute-moving"), 1, "SUPPORTED"),
        ("bias-bound/T2", "repaired", ("toy2", "kink", "crossing-kinks", "fixed-rows"), 3, "SUPPORTED"),
        ("bias-bound/ramp", "as-written", ("toy1", "toy2", "two-of-three"), 0, "REFUTED"),
        ("bias-bound/uniformity", "as-written", ("toy2", "kink"), 0, "REFUTED"),
        ("bias-bound/uniformity", "choose:dual_term=frozen", ("absolute-moving",), -2, "REFUTED"),
        ("bias-bound/uniformity", "choose:dual_term=map", ("toy2", "kink"), 0, "REFUTED"),
        ("bias-bound/ramp", "choose:dual_term=map", ("toy1", "two-of-three"), 0, "REFUTED"),
        ("bias-bound/ramp", "choose:dual_term=both-maps", ("toy1", "two-of-three", "random-3x5x4"), 1, "SUPPORTED"),
        ("bias-bound/ramp", "choose:ramp_width=delta,dual_term=frozen", ("toy1",), -2, "REFUTED"),
        ("bias-bound/hard-activation", "choose:dual_term=both-maps", ("toy1",), 1, "SUPPORTED"),
        ("bias-bound/uniformity", "choose:dual_term=both-maps", ("experiment-1d",), 2, "SUPPORTED"),
        ("bias-bound/black-box-kinks", "choose:dual_term=both-maps", ("experiment-1d",), 2, "SUPPORTED"),
        ("bias-bound/uniformity-radius", "choose:dual_term=map", ("swapping-rows",), 0, "REFUTED"),
        ("hypergradient-accuracy/hypotheses", "choose:dual_term=map", ("toy2", "kink"), 0, "REFUTED"),
        ("bias-bound/hessian-lipschitz", "as-written", ("holder-1-4",), 0.5, "REFUTED"),
        ("bias-bound/hessian-lipschitz", "as-written", ("holder-3-4",), 1.5, "SUPPORTED"),
        ("bias-bound", "as-written", MOVING, -2, "REFUTED"),
        ("bias-bound", "only:inner_stop", MOVING, -1, "REFUTED"),
        ("bias-bound", "only:ramp_width", ("toy1", "toy2", "two-of-three"), 0, "REFUTED"),
        ("bias-bound", "repaired", MOVING + FIXED[:-1], 1, "SUPPORTED"),
        ("solution-error/active-rows", "repaired", ("toy1", "two-of-three", "fixed-rows", "kink"), 5, "SUPPORTED"),
        ("solution-error", "repaired", ("toy1", "scalar-rational", "fixed-rows"), 5, "SUPPORTED"),
        # A slack row's multiplier may be off too, and nothing resists it there.
        ("solution-error", "repaired", ("two-of-three", "box-rational", "random-3x5x4"), 3, "SUPPORTED"),
        ("dual-extraction", "as-written", ("weakly-active",), -4, "REFUTED"),
        ("dual-extraction", "repaired", ("weakly-active",), -1, "SUPPORTED"),
        ("dual-extraction/ramp-slope", "as-written", ("toy1",), -2, "REFUTED"),
        ("dual-extraction/constraint-difference", "repaired", ("two-of-three",), 2, "SUPPORTED"),
        ("dual-extraction/active-rows", "repaired", ("toy1", "two-of-three"), 1, "SUPPORTED"),
        ("variance-bound", "repaired", ("toy1", "box-rational"), -1, "SUPPORTED"),
        ("variance-bound/per-sample", "as-written", ("toy1", "random-3x5x4"), -4, "REFUTED"),
        ("variance-bound/per-sample", "repaired", ("toy1", "random-3x5x4"), 0, "SUPPORTED"),
        ("variance-bound/pairing-alone", "as-written", ("two-of-three",), -2, "REFUTED"),
    ],
)
def test_exponents(claim, reading, instances, exponent, verdict):
    for instance in instances:
        result = find(claim, reading, instance)
        assert str(result.verdict) == verdict, result.sentence
        assert result.measured == pytest.approx(exponent, abs=0.12), result.sentence
        low, high = result.interval
        assert low - 0.01 <= exponent <= high + 0.01, result.sentence


@pytest.mark.parametrize(("reading", "value"), [("repaired", 0.990099), ("as-written", 100.990099)])
def test_smallest_moving_constraint_at_a_tenth(reading, value):
    result = find("bias-bound/T3", reading, "toy1")
    shown = numbers(result, "exact rational value")
    assert float(shown.context["estimate"].strip("()")) == pytest.approx(value, abs=5e-7)
    assert shown.holds


@pytest.mark.parametrize("instance", ["toy2", "kink"])
def test_bias_at_the_critical_distance_from_a_kink(instance):
    shown = numbers(find("bias-bound/uniformity", "as-written", instance), "distance α²ε_λ")
    assert shown.measured == pytest.approx(0.5 if instance == "toy2" else 1.0, abs=1e-9)


@pytest.mark.parametrize(
    ("claim", "instances"),
    {
        "bias-bound/uniformity": ("toy2", "kink", "crossing-kinks", "absolute-moving", "swapping-rows"),
        "bias-bound/uniformity-radius": ("toy2", "absolute-moving", "swapping-rows"),
        "bias-bound/black-box-kinks": ("toy2", "kink"),
        "hypergradient-accuracy/hypotheses": ("toy2", "kink"),
        "goldstein-convergence/bias-hypothesis": ("kink",),
    }.items(),
)
def test_where_both_are_maps_and_f_is_affine_no_kink_is_seen(claim, instances):
    for instance in instances:
        result = find(claim, "choose:dual_term=both-maps", instance)
        assert result.verdict is Verdict.SUPPORTED, result.sentence
        assert result.measured == float("inf")


def test_supremum_near_a_kink_tends_to_the_size_of_the_jump():
    result = find("bias-bound/uniformity", "as-written", "kink")
    (rate,) = [e for e in result.evidence if isinstance(e, RateEvidence)]
    assert rate.points[-4].measured == pytest.approx(2.0, abs=0.01)


def test_counterexample_to_dual_extraction():
    result = find("dual-extraction", "as-written", "weakly-active")
    assert result.counterexample.values["its part in x"] == pytest.approx(10000.1)
    assert result.counterexample.values["difference of the gradients"] == pytest.approx(10000.1 * 2**0.5)
    assert result.counterexample.values["(alpha_1 + alpha_2) delta"] == pytest.approx(10.1)
    assert result.counterexample.values["ratio"] == pytest.approx(990.1 * 2**0.5, abs=0.1)


def test_literal_experiment_data_is_rarely_strongly_convex():
    result = find("smoothness/experiment-data", "as-written", "experiment-5d")
    shares = [e.measured for e in result.evidence if isinstance(e, ComparisonEvidence)]
    assert shares[0] == pytest.approx(0.15, abs=0.05)
    assert shares[1] < 0.06
    assert shares[3] < 0.01


def test_concave_upper_level_at_the_alpha_the_hypothesis_picks():
    result = find("solution-error/strong-convexity", "as-written", "concave-upper")
    (at_two,) = (e for e in result.evidence if e.kind == "comparison" and e.role == "support")
    assert at_two.context == {"alpha": 2.0}
    assert at_two.measured == -0.75


def test_per_sample_variance_of_independent_draws():
    result = find("variance-bound/per-sample", "as-written", "toy1")
    (additive,) = [e for e in result.evidence if "additive" in getattr(e, "quantity", "")]
    first = additive.points[0]
    assert first.at == 0.1
    assert first.predicted == pytest.approx(0.01 * (1 + 2 * 100**2))
    assert abs(first.measured - first.predicted) <= first.uncertainty


def test_bounded_gradient_is_vacuous_and_where_double_precision_ends_is_said():
    assert str(find("smoothness/bounded-gradient", "as-written", "toy1").verdict) == "VACUOUS"
    rates = [e for e in find("bias-bound/T3", "repaired", "toy1").evidence if isinstance(e, RateEvidence)]
    rate = next(e for e in rates if e.rung == "numeric")
    assert rate.floor is not None
    assert 1e-4 < rate.floor < 0.02
    usable = [p for p in rate.points if p.usable]
    assert all(abs(p.measured - p.predicted) <= p.uncertainty for p in usable)


DETERMINISTIC = ("bias-bound/T1", "bias-bound/T2", "bias-bound/T3", "bias-bound/L-H-y", "bias-bound/ramp", "bias-bound",
                 "solution-error", "solution-error/active-rows")  # fmt: skip


@pytest.mark.parametrize("claim", DETERMINISTIC)
def test_a_dozen_instances_carry_a_certificate_under_the_repaired_reading(claim):
    wanted = 8 if claim.endswith("active-rows") else 12
    results = [find(claim, "repaired", instance) for instance in checks()[claim].instances]
    found = [r for r in results if any(getattr(e, "bounds", ()) and e.rung == "certified" for e in r.evidence)]
    assert len({r.instance for r in found}) >= wanted
    assert all(r.verdict is Verdict.SUPPORTED for r in found)


def test_refutations_are_certified_from_below():
    result = find("bias-bound/T3", "as-written", "toy1")
    (exact,) = [e for e in result.evidence if isinstance(e, RateEvidence) and e.rung == "certified"]
    (bound,) = exact.bounds
    assert (bound.side, bound.exponent) == ("lower", -2)
    assert exact.coefficient == pytest.approx(1.0)


@pytest.mark.parametrize("claim", DETERMINISTIC[:4])
@pytest.mark.parametrize("place", range(3))
def test_a_results_certificate_stands_by_itself_and_a_corrupted_one_is_rejected(claim, place):
    regular = [name for name in checks()[claim].instances if name != "weakly-active"]
    result = find(claim, "repaired", regular[place])
    plain = next(e for e in result.evidence if isinstance(e, RateEvidence) and e.bounds).bounds[0].certificates[0]
    check(Certificate.model_validate(plain))
    broken = deepcopy(plain)
    factor = "1/100" if broken["side"] == "upper" else "100"
    top, _, bottom = str(broken["constant_squared"]).partition("/")
    scale_top, _, scale_bottom = factor.partition("/")
    broken["constant_squared"] = f"{int(top) * int(scale_top)}/{int(bottom or 1) * int(scale_bottom or 1)}"
    with pytest.raises(InvalidInputError):
        check(Certificate.model_validate(broken))
