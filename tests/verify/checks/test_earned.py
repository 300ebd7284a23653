"""What is supported was earned: nothing that answers nothing, and no stronger claim, gets past the checks re-made."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from spec.claims import Bound
from spec.claims import find as find_claim
from tests.verify.own_results import own_results
from verify.campaign.plan import DEFAULT_SEED, Task, perform
from verify.checks.measuring.own_values import fresh_alphas
from verify.conformance.bugs.bent_subject import by_id
from verify.evidence.model import Point, RateEvidence
from verify.subjects import ReferenceSubject
from verify.verdict import Verdict, combine, decide

TIGHT = {
    "dual-extraction": "weakly-active",
    "dual-extraction/linear-term": "toy1",
    "dual-extraction/active-rows": "two-of-three",
    "dual-extraction/constraint-difference": "interior",
    "dual-extraction/weighted-rows": "toy1",
    "solution-error": "absolute-fixed",
    "solution-error/active-rows-uniform": "toy1",
    "bias-bound/T1": "toy1",
    "bias-bound/T3": "toy1",
    "bias-bound/T3-uniform": "toy1",
    "bias-bound/uniformity": "kink",
    "bias-bound/uniformity-radius": "toy2",
    "bias-bound/hessian-lipschitz": "holder-1-2",
}
"""Repaired claims, each with an instance that uses all of it."""
ASKED = (*TIGHT, "stochastic-oracles/y-gradients")


class Null:
    """Answers without having looked."""

    def __init__(self, name, value):
        self.name, self.value = name, value

    def hypergradient(self, problem, x, call, rng):
        return self.value(len(x))

    def penalty_minimiser(self, problem, x, call, tol):
        return self.value(len(call.y_star))

    def lower_level_runs(self, problem, x, call, rng, replications):
        m, p = problem.constraints.B.shape[1], problem.constraints.B.shape[0]
        return np.tile(self.value(m), (replications, 1)), np.tile(self.value(p), (replications, 1))

    def penalty_runs(self, problem, x, call, rng, replications):
        return np.tile(self.value(len(call.y_star)), (replications, 1)), 1.0


RNG = np.random.default_rng(5)
NULLS = [
    Null("zero", np.zeros),
    Null("constant", lambda size: np.full(size, 0.7)),
    Null("random", lambda size: RNG.standard_normal(size)),
]


def verdict_of(claim, subject=None, **options):
    results = own_results(claim, subject, **({"profile": "smoke"} | options))
    return combine([result.verdict for result in results]), results


@pytest.mark.parametrize("claim", ASKED)
@pytest.mark.parametrize("null", NULLS, ids=lambda null: null.name)
def test_what_answers_nothing_supports_nothing(claim, null):
    verdict, results = verdict_of(claim, null)
    assert verdict is Verdict.REFUTED, [result.sentence for result in results]


@pytest.mark.parametrize(("claim", "instance"), TIGHT.items())
def test_half_an_order_more_is_refuted(claim, instance):
    bound = find_claim(claim).repaired.bound
    more = {name: power + Fraction(1, 2) for name, power in bound.exponents.items()}
    raised = bound.model_copy(update={"exponents": more})
    task = Task(claim, "repaired", instance, "reference", "smoke", DEFAULT_SEED)
    assert perform(task, ReferenceSubject()).verdict is Verdict.SUPPORTED
    assert perform(task, ReferenceSubject(), raised).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("claim", "bug"),
    [
        ("dual-extraction", "drops-multiplier"),
        ("dual-extraction/linear-term", "flips-multiplier"),
        ("dual-extraction/active-rows", "keeps-dual-term"),
        ("dual-extraction/constraint-difference", "drops-penalty-in-solve"),
        ("dual-extraction/weighted-rows", "drops-penalty-in-solve"),
        ("solution-error", "drops-multiplier"),
        ("solution-error/active-rows-uniform", "flips-multiplier"),
        ("bias-bound/T1", "half-penalty-term"),
        ("bias-bound/T3", "drops-penalty-term"),
        ("bias-bound/T3-uniform", "half-penalty-term"),
        ("bias-bound/uniformity", "flipped-g-difference"),
        ("bias-bound/uniformity-radius", "flipped-g-difference"),
        ("bias-bound/hessian-lipschitz", "drops-g-difference"),
        ("stochastic-oracles/y-gradients", "silent-lower-level"),
    ],
)
def test_a_catalogued_bug_is_refuted(claim, bug):
    assert verdict_of(claim, by_id(bug))[0] is Verdict.REFUTED


class OffBelow(ReferenceSubject):
    """Right, but for a factor below some alpha."""

    name = "off-below"

    def hypergradient(self, problem, x, call, rng):
        return (1.5 if call.alpha < 0.002 else 1.0) * super().hypergradient(problem, x, call, rng)


class Same(ReferenceSubject):
    """Right, and not the reference."""

    name = "same"


@pytest.mark.parametrize("instance", ["toy1", "two-of-three", "random-3x5x4"])
def test_a_program_that_leaves_the_formulas_at_small_alpha_is_refuted(instance):
    verdict, (result,) = verdict_of("bias-bound/T3", OffBelow(), instances=[instance], profile="ci")
    assert verdict is Verdict.REFUTED
    assert "roundings" in result.sentence or "scales as" in result.sentence


def test_of_a_program_nothing_is_said_beyond_where_it_was_asked():
    _, (result,) = verdict_of("bias-bound/T3", Same(), instances=["two-of-three"])
    assert result.verdict is Verdict.SUPPORTED
    assert result.sentence.startswith("By the formulas T₃ = ")
    assert "at which it was asked" in result.sentence
    (exact,) = [item for item in result.evidence if isinstance(item, RateEvidence) and item.rung == "certified"]
    assert len(exact.held_at) == 7 + 4


def test_alphas_are_drawn_afresh_from_the_seed_down_to_where_doubles_end():
    _, (one,) = verdict_of("bias-bound/T3", Same(), instances=["kink"], seed=1)
    _, (again,) = verdict_of("bias-bound/T3", Same(), instances=["kink"], seed=1)
    _, (other,) = verdict_of("bias-bound/T3", Same(), instances=["kink"], seed=2)
    alphas = [next(e.held_at for e in r.evidence if getattr(e, "held_at", ())) for r in (one, again, other)]
    assert alphas[0] == alphas[1] != alphas[2]
    # Without a moving row the estimate loses α⁻² of its digits only: α goes far below the sweep.
    assert min(alphas[0]) < 1e-5
    case = type("Place", (), {"place_rng": lambda self: np.random.default_rng(0)})()
    drawn = fresh_alphas(case, lambda alpha: (1.0, 1e-16 * alpha**-4), 0.25)
    assert 4e-4 < min(drawn) < 3e-3 and max(drawn) < 0.25


def test_rungs_that_disagree_about_a_program_are_a_finding_in_plain_words():
    bound = Bound(quantity="q", exponents={"alpha": "1"})
    point = (Point(at=0.1, measured=1.0),)
    made = {"quantity": "q", "variable": "alpha", "points": point}
    exact = RateEvidence(**made, exponent=2.0, interval=(2.0, 2.0), rung="certified", held_at=(0.1, 0.05))
    seen = RateEvidence(**made, exponent=-1.0, interval=(-1.0, -1.0), rung="numeric")
    decision = decide(bound, [exact, seen])
    assert decision.verdict is Verdict.REFUTED
    assert "only where it was asked" in decision.sentence


def test_a_zero_of_zeros_agrees_with_nothing():
    _, results = verdict_of("dual-extraction", NULLS[0])
    exact = [item for r in results for item in r.evidence if isinstance(item, RateEvidence) and item.rung == "symbolic"]
    assert exact
    assert {item.role for item in exact} == {"support"}


def test_one_point_alone_beyond_the_ball_is_a_tenth_of_alpha_off():
    _, (result,) = verdict_of("bias-bound/uniformity", instances=["toy2"], profile="ci")
    (rate,) = [item for item in result.evidence if isinstance(item, RateEvidence)]
    assert rate.exponent == pytest.approx(1.0, abs=0.02)
    small = [point for point in rate.points if point.at < 0.03]
    assert all(point.measured == pytest.approx(0.1 * point.at, rel=0.05) for point in small)


def test_the_statements_name_what_is_measured():
    assert "Bᵀ" in find_claim("dual-extraction/linear-term").repaired.bound.quantity
    assert find_claim("solution-error").repaired.bound.exponents == {"alpha": 3}
    assert find_claim("bias-bound/T3").repaired.bound.exponents == {"alpha": 2}
    assert find_claim("bias-bound/T3-uniform").repaired.bound.exponents == {"alpha": 1}
