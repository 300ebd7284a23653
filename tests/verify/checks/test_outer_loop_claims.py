"""The claims about Algorithm 2 reach the audit's findings, and notice when Algorithm 2 is another."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from f2csa_ref import outer_loop
from spec import OuterParameters, load_claims
from spec.claims import find
from tests.verify.own_results import own_results
from verify.checks.goldstein_convergence import along_a_kink
from verify.checks.measuring.case import checks
from verify.evidence.model import RateEvidence
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls
from verify.verdict import Verdict


def judge(claim, reading, instance, subject=None):
    (result,) = own_results(claim, subject, readings=[reading], instances=[instance])
    assert result.verdict is not None, result.fault
    return result


def rates(result):
    return [item for item in result.evidence if isinstance(item, RateEvidence)]


@pytest.mark.parametrize("claim", ["goldstein-convergence", "sfo-complexity", "related-rates"])
def test_every_step_has_a_check(claim):
    wanted = {full_id for full_id, statement in load_claims()[claim].statements() if not statement.left_open}
    assert wanted <= set(checks())


EXPECTED = {
    ("goldstein-convergence/segment-mean", "absolute-fixed"): ("REFUTED", "SUPPORTED"),
    ("goldstein-convergence/clip", "absolute-fixed"): ("SUPPORTED", "SUPPORTED"),
    ("goldstein-convergence/expand", "absolute-fixed"): ("SUPPORTED", "SUPPORTED"),
    ("goldstein-convergence/telescope", "kink"): ("SUPPORTED", "SUPPORTED"),
    ("goldstein-convergence/second-moment", "rows-nearly-dependent"): ("NOT_APPLICABLE", "SUPPORTED"),
    ("goldstein-convergence/second-moment", "concave-upper"): ("REFUTED", "SUPPORTED"),
    ("goldstein-convergence/noise-term", "absolute-fixed"): ("SUPPORTED", "SUPPORTED"),
    ("goldstein-convergence/bias-term", "kink"): ("SUPPORTED", "SUPPORTED"),
    ("goldstein-convergence/step-size", "absolute-fixed"): ("SUPPORTED", "SUPPORTED"),
    ("goldstein-convergence/reference-point", "kink"): ("SUPPORTED", "SUPPORTED"),
    ("goldstein-convergence/lipschitz-scaling", "kink"): ("REFUTED", "SUPPORTED"),
    ("goldstein-convergence/floors", "kink"): ("REFUTED", "SUPPORTED"),
    ("goldstein-convergence/block-radius", "experiment-1d"): ("SUPPORTED", "SUPPORTED"),
    ("goldstein-convergence/membership", "crossing-kinks"): ("SUPPORTED", "SUPPORTED"),
    ("goldstein-convergence/normal-cone", "toy1"): ("REFUTED", "SUPPORTED"),
    ("goldstein-convergence/bias-hypothesis", "kink"): ("REFUTED", "SUPPORTED"),
    ("goldstein-convergence/bias-hypothesis", "experiment-1d"): ("REFUTED", "SUPPORTED"),
    ("goldstein-convergence/bias-potential", "absolute-fixed"): ("REFUTED", "SUPPORTED"),
    ("goldstein-convergence/explicit-constants", "absolute-fixed"): ("SUPPORTED", "SUPPORTED"),
    ("sfo-complexity/inner-loops", "absolute-fixed"): ("REFUTED", "SUPPORTED"),
    ("sfo-complexity/larger-alpha", "absolute-fixed"): ("REFUTED", "SUPPORTED"),
    ("sfo-complexity/shared-sample", "absolute-fixed"): ("REFUTED", "SUPPORTED"),
    ("related-rates", "toy1"): ("REFUTED", "SUPPORTED"),
    ("related-rates/one-factor-gap", "toy1"): ("REFUTED", "SUPPORTED"),
    ("related-rates/deterministic-optimum", "toy1"): ("REFUTED", "SUPPORTED"),
    ("related-rates/zeroth-order-dimension", "toy1"): ("REFUTED", "SUPPORTED"),
    ("related-rates/deterministic-first-order", "toy1"): ("SUPPORTED", "SUPPORTED"),
    ("related-rates/unconstrained-penalty", "toy1"): ("SUPPORTED", "SUPPORTED"),
}


@pytest.mark.parametrize(("case", "verdicts"), EXPECTED.items(), ids=lambda v: "-".join(v))
def test_verdicts_under_both_readings(case, verdicts):
    claim, instance = case
    found = tuple(str(judge(claim, reading, instance).verdict) for reading in ("as-written", "repaired"))
    assert found == verdicts


@pytest.mark.parametrize(
    ("claim", "instance"),
    [
        ("goldstein-convergence", "absolute-fixed"),
        ("goldstein-convergence/explicit-constants", "absolute-fixed"),
        ("goldstein-convergence/segment-mean", "absolute-fixed"),
        ("goldstein-convergence/membership", "kink"),
    ],
)
def test_an_oracle_that_may_answer_anything_at_a_kink_brings_the_outer_loop_nowhere(claim, instance):
    assert "choose:at_kinks=any" in find(claim).literal_readings
    assert str(judge(claim, "choose:at_kinks=any", instance).verdict) == "REFUTED"


@pytest.mark.parametrize(("at_kinks", "fall"), [("clarke", 1), ("any", -2)])
def test_the_fall_along_a_kink_is_not_that_of_the_answers(at_kinks, fall):
    case = SimpleNamespace(sense=SimpleNamespace(at_kinks=at_kinks))
    assert along_a_kink.fall_beyond_answers(case) == fall


def test_answers_from_the_subdifferential_lie_in_it():
    recorded = SimpleNamespace(
        g=np.array([[0.5, 2.0], [-0.5, 2.0]]),
        blocks=lambda rows: rows[None],
        run=SimpleNamespace(x_bar=np.array([[0.0, 5.0]])),
    )
    assert along_a_kink.outside(recorded, 0.1) == 0
    recorded.g = np.zeros((2, 2))
    assert along_a_kink.outside(recorded, 0.1) == 2


def test_outer_calls_grow_as_epsilon_to_the_minus_three_and_inversely_with_the_radius():
    result = judge("goldstein-convergence", "as-written", "absolute-fixed")
    exponents = {item.variable: item.interval for item in rates(result)}
    assert exponents["epsilon"][0] > -3.15
    assert exponents["epsilon"][1] < -2.9
    assert exponents["goldstein_radius"][0] > -1.1
    assert exponents["goldstein_radius"][1] < -0.9


def test_with_the_papers_batch_the_product_goes_as_the_fifth_power():
    result = judge("sfo-complexity/batch-product", "as-written", "absolute-fixed")
    assert result.verdict is Verdict.SUPPORTED
    assert {item.variable: round(item.exponent) for item in rates(result)} == {"epsilon": -5, "goldstein_radius": -1}


def test_beside_a_kink_the_distance_stays_one_for_every_alpha():
    result = judge("goldstein-convergence/bias-hypothesis", "as-written", "kink")
    assert all(point.measured == pytest.approx(1.0, abs=1e-9) for point in result.evidence[0].points)


class Unclipped(ReferenceSubject):
    """Never shortens a step."""

    name = "unclipped"

    def optimise(self, oracle, x0, parameters, rng):
        free = parameters.model_copy(update={"D": 1e9})
        return outer_loop(oracle, x0, parameters=free, rng=rng, keep_path=True)


class KeepsLastPoint(ReferenceSubject):
    """Reports each block's last point instead of its mean."""

    name = "keeps-last-point"

    def optimise(self, oracle, x0, parameters, rng):
        made = outer_loop(oracle, x0, parameters=parameters, rng=rng, keep_path=True)
        ends = made.path[parameters.M :: parameters.M]
        return replace(made, x_bar=ends, x_out=ends[-1])


class ClipsByComponent(ReferenceSubject):
    """Clips every component to half of D: no projection onto the ball."""

    name = "clips-by-component"

    def optimise(self, oracle, x0, parameters, rng):
        x, step, path, means = x0, np.zeros_like(x0), [x0], []
        for _ in range(parameters.K):
            zs = []
            for _ in range(parameters.M):
                z, x = x + rng.random() * step, x + step
                step = np.clip(step - parameters.eta * oracle(z), -0.5 * parameters.D, 0.5 * parameters.D)
                zs.append(z)
                path.append(x)
            means.append(np.mean(zs, axis=0))
        return {"x_out": means[-1], "x_bar": np.array(means), "path": np.array(path)}


class Timid(ReferenceSubject):
    """Takes steps of a length that shrinks with the square root of time."""

    name = "timid"

    def optimise_runs(self, oracle, x0, parameters, rng, keep_path):
        slow = OuterParameters(**(parameters.model_dump() | {"D": parameters.D / parameters.M**0.5}))
        made = outer_loop(oracle, x0, parameters=slow, rng=rng, keep_path=keep_path)
        return made.x_bar, made.path


@pytest.mark.parametrize(
    ("mutant", "claim", "instance"),
    [
        (Unclipped, "goldstein-convergence/block-radius", "experiment-1d"),
        (KeepsLastPoint, "goldstein-convergence/block-radius", "kink"),
        (ClipsByComponent, "goldstein-convergence/clip", "absolute-fixed"),
        (ClipsByComponent, "goldstein-convergence/expand", "absolute-fixed"),
        (Timid, "sfo-complexity/outer-calls", "absolute-fixed"),
    ],
    ids=lambda v: getattr(v, "name", v),
)
def test_a_wrong_outer_loop_changes_the_verdict(mutant, claim, instance):
    reading = "as-written" if mutant is Timid else "repaired"  # the literal schedule is the shorter one
    assert judge(claim, reading, instance, mutant()).verdict is not Verdict.SUPPORTED


def test_without_the_replicated_stage_single_runs_serve():
    class Single(Unclipped):
        name = "single"
        optimise_runs = None

        def optimise(self, oracle, x0, parameters, rng):
            return outer_loop(oracle, x0, parameters=parameters, rng=rng, keep_path=True)

    stages = StageCalls(Single())
    schedule = OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.05, eta=0.1, M=4, K=3)
    means, path = stages.optimise_runs(np.sign, np.ones((2, 1)), schedule, np.random.default_rng(0), keep_path=True)
    assert (means.shape, path.shape) == ((3, 2, 1), (13, 2, 1))
