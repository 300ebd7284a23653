"""Who does nothing is credited with nothing: outer loops deaf to their oracle, and oracles that tell nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from spec.claims import find as find_claim
from tests.kept import result_of
from verify.campaign.plan import DEFAULT_SEED, Task, perform
from verify.checks.measuring.case import checks
from verify.conformance.bugs.bent_subject import by_id
from verify.evidence.model import RateEvidence
from verify.subjects import ReferenceSubject
from verify.verdict import Verdict, decide


class Deaf(ReferenceSubject, ABC):
    """Asks as often as it should and goes where it likes."""

    @abstractmethod
    def step(self, x, D, rng):
        """The next step, from anything but an answer."""

    def optimise(self, oracle, x0, parameters, rng):
        x_bar, path = self._go(lambda z: oracle(z[0])[None], x0[None], parameters, rng)
        return {"x_out": x_bar[rng.integers(parameters.K), 0], "x_bar": x_bar[:, 0], "path": path[:, 0]}

    def optimise_runs(self, oracle, x0, parameters, rng, keep_path):
        x_bar, path = self._go(oracle, x0, parameters, rng)
        return x_bar, path if keep_path else None

    def _go(self, oracle, x0, parameters, rng):
        x, step, path, x_bar = x0.copy(), np.zeros_like(x0), [x0], []
        for _ in range(parameters.K):
            asked = []
            for _ in range(parameters.M):
                asked.append(x + rng.random((len(x), 1)) * step)
                x = x + step
                oracle(asked[-1])
                step = self.step(x, parameters.D, rng)
                path.append(x)
            x_bar.append(np.mean(asked, axis=0))
        return np.array(x_bar), np.array(path)


def along(v, length):
    return length * v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-300)


class NeverMoves(Deaf):
    """Stays where it starts."""

    name = "never-moves"

    def step(self, x, D, rng):
        return np.zeros_like(x)


class Walks(Deaf):
    """Takes full steps at random."""

    name = "walks"

    def step(self, x, D, rng):
        return along(rng.standard_normal(x.shape), D)


class GoesHome(Deaf):
    """Heads for the origin, where most of the checks' functions are least."""

    name = "goes-home"

    def step(self, x, D, rng):
        return -x * np.minimum(1.0, D / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-300))


class SaysNan(Deaf):
    """Answers with no numbers."""

    name = "says-nan"

    def _go(self, oracle, x0, parameters, rng):
        x_bar, path = super()._go(oracle, x0, parameters, rng)
        return x_bar * np.nan, path * np.nan

    def step(self, x, D, rng):
        return np.zeros_like(x)


class Tells(ReferenceSubject):
    """Right outer loop, but an Algorithm 1 whose every answer is one number."""

    def __init__(self, value):
        self.value, self.name = value, f"tells-{value}"

    def hypergradient(self, problem, x, call, rng):
        return np.full_like(x, self.value)

    def hypergradient_runs(self, problem, x, call, rng, replications):
        _, calls = super().hypergradient_runs(problem, x, call, rng, replications)
        return np.full((replications, len(x)), self.value), calls


class CountsNothing(ReferenceSubject):
    """Says that its calls are free."""

    name = "counts-nothing"

    def hypergradient_runs(self, problem, x, call, rng, replications):
        return super().hypergradient_runs(problem, x, call, rng, replications)[0], 0.0


def judge(claim, subject, instance=None):
    name = instance or checks()[claim].instances[0]
    return perform(Task(claim, "repaired", name, subject.name, "ci", DEFAULT_SEED), subject)


@cache
def reference(claim, instance=None):
    name = instance or checks()[claim].instances[0]
    return result_of(Task(claim, "repaired", name, "reference", "ci", DEFAULT_SEED))


QUICK = [
    f"goldstein-convergence/{step}"
    for step in (
        "segment-mean", "clip", "expand", "telescope", "second-moment", "noise-term", "bias-term", "step-size",
        "lipschitz-scaling", "floors", "block-radius", "membership", "normal-cone", "bias-hypothesis", "bias-potential",
        "explicit-constants",
    )
]  # fmt: skip
WHOLE = ["sfo-complexity/inner-loops"]


def test_every_step_about_algorithm_2_is_among_those_tried():
    asked = {claim for claim, check in checks().items() if claim.startswith("goldstein-convergence/") and check.needs}
    assert asked == set(QUICK)


DEAF = [(claim, subject) for claim in QUICK for subject in (NeverMoves(), GoesHome())]
DEAF += [(f"goldstein-convergence/{step}", Walks()) for step in ("clip", "step-size", "membership", "bias-potential")]


@pytest.mark.parametrize(("claim", "subject"), DEAF, ids=lambda v: getattr(v, "name", v))
def test_who_ignores_the_oracle_is_credited_with_no_step(claim, subject):
    result = judge(claim, subject)
    assert result.verdict is Verdict.REFUTED, result.sentence


@pytest.mark.parametrize("claim", ["goldstein-convergence/step-size", "goldstein-convergence/floors"])
def test_no_numbers_are_a_fault(claim):
    result = judge(claim, SaysNan())
    assert result.verdict is None
    assert "finite" in result.fault


@pytest.mark.parametrize("value", [0.0, -1000.0])
@pytest.mark.parametrize(
    "claim", ["goldstein-convergence/second-moment", "goldstein-convergence/bias-hypothesis", *WHOLE]
)
def test_an_oracle_that_says_one_thing_is_credited_with_nothing_that_needs_it(claim, value):
    result = judge(claim, Tells(value))
    assert result.verdict is Verdict.REFUTED, result.sentence


@pytest.mark.parametrize("subject", [NeverMoves(), GoesHome(), CountsNothing()], ids=lambda s: s.name)
def test_the_total_is_earned_by_both_algorithms(subject):
    assert judge("sfo-complexity/inner-loops", subject).verdict is Verdict.REFUTED


def test_section_5_is_not_supported_for_an_oracle_that_says_minus_a_thousand():
    refuted = ("sfo-complexity", "sfo-complexity/shared-sample", "sfo-complexity/larger-alpha")
    subject = Tells(-1000.0)
    assert {judge(claim, subject).verdict for claim in refuted} == {Verdict.REFUTED}


RATES = [
    ("goldstein-convergence/step-size", "M", Fraction(0)),
    ("goldstein-convergence/noise-term", "M", Fraction(0)),
    ("goldstein-convergence/bias-hypothesis", "alpha", Fraction(3, 2)),
    ("goldstein-convergence/lipschitz-scaling", "L_F", Fraction(-1, 2)),
    ("goldstein-convergence", "epsilon", Fraction(-5, 2)),
    ("goldstein-convergence", "goldstein_radius", Fraction(-1, 2)),
    ("sfo-complexity", "epsilon", Fraction(-17, 2)),
    ("sfo-complexity/inner-loops", "epsilon", Fraction(-11, 2)),
    ("sfo-complexity/larger-alpha", "epsilon", Fraction(-13, 2)),
    ("sfo-complexity/shared-sample", "epsilon", Fraction(-9, 2)),
]


@pytest.mark.parametrize(("claim", "variable", "stronger"), RATES)
def test_half_an_order_more_is_not_supported(claim, variable, stronger):
    result, bound = reference(claim), find_claim(claim).repaired.bound
    assert result.verdict is Verdict.SUPPORTED, result.sentence
    assert decide(bound, result.evidence).verdict is Verdict.SUPPORTED
    assert any(isinstance(e, RateEvidence) and e.variable == variable for e in result.evidence)
    raised = bound.model_copy(update={"exponents": {**bound.exponents, variable: stronger}})
    assert decide(raised, result.evidence).verdict is not Verdict.SUPPORTED


def _tightened(evidence, share):
    """A smaller bound, with what may go unseen above it; where nothing is sampled, nothing may."""
    less = (1 - share) * evidence.predicted
    unseen = evidence.detectable if evidence.detectable is None else evidence.detectable + less
    return evidence.model_copy(update={"predicted": share * evidence.predicted, "detectable": unseen})


@pytest.mark.parametrize(
    ("claim", "quantity", "share"),
    [
        ("goldstein-convergence/step-size", "2DG√M", 0.98),
        ("goldstein-convergence/telescope", "regret", 0.98),
        ("goldstein-convergence/bias-term", "contribution of the bias", 0.98),
        ("goldstein-convergence/block-radius", "‖z - x_k‖", 0.8),
        ("goldstein-convergence/second-moment", "(‖∇F‖ + β)²", 0.98),
        ("goldstein-convergence/bias-potential", "ε + 2β", 0.4),
        ("goldstein-convergence/explicit-constants", "T = KM", 0.1),
    ],
)
def test_a_bound_tightened_past_the_truth_is_not_supported(claim, quantity, share):
    # The bound of the second moment is nearly attained where rows are nearly dependent.
    instance = "rows-nearly-dependent" if claim.endswith("/second-moment") else None
    result, bound = reference(claim, instance), find_claim(claim).repaired.bound
    assert result.verdict is Verdict.SUPPORTED, result.sentence
    tightened = [_tightened(e, share) if quantity in e.quantity and e.relation == "<=" else e for e in result.evidence]
    assert tightened != list(result.evidence)
    assert decide(bound, tightened).verdict is not Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("bug", "claim"),
    [
        ("ascends", "goldstein-convergence/step-size"),
        ("forgets-the-previous-step", "goldstein-convergence/step-size"),
        ("averages-iterates", "goldstein-convergence/floors"),
        ("ascends", "goldstein-convergence/bias-hypothesis"),
        ("keeps-dual-term", "goldstein-convergence/second-moment"),
        ("clips-at-twice-d", "goldstein-convergence/bias-potential"),
        ("ascends", "sfo-complexity/inner-loops"),
    ],
)
def test_a_catalogued_bug_changes_the_verdict(bug, claim):
    assert judge(claim, by_id(bug)).verdict is Verdict.REFUTED


def test_a_regret_that_is_not_earned_by_the_steps_shows_in_its_own_rate():
    evidence = judge("goldstein-convergence/step-size", NeverMoves()).evidence
    (rate,) = [e for e in evidence if isinstance(e, RateEvidence)]
    assert rate.exponent == pytest.approx(1.0, abs=0.01)


def test_where_the_bias_is_left_out_the_second_moment_exceeds():
    result = judge("goldstein-convergence/second-moment", ReferenceSubject(), "concave-upper")
    assert result.verdict is Verdict.SUPPORTED
    literal = perform(replace_reading("goldstein-convergence/second-moment", "concave-upper"), ReferenceSubject())
    assert literal.verdict is Verdict.REFUTED


def replace_reading(claim, instance):
    return replace(Task(claim, "repaired", instance, "reference", "ci", DEFAULT_SEED), reading="as-written")
