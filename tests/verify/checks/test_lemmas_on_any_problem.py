"""Each lemma of sections 3 to 5, repaired, on problems that Hypothesis draws: it holds, and is decided often enough.

What holds in the atlas may hold by its choice. Where a premise fails a drawn problem says nothing, and has to say so;
many examples that decide nothing would show nothing, so each statement has a floor of those that were decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache, partial

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from spec.atlas import find as instance_of
from spec.claims import find
from spec.drawn import FAMILIES, name_of
from tests.verify.checks.asking import case_of
from verify.campaign.plan import DEFAULT_SEED, Task, perform
from verify.checks.hypergradient_accuracy import ALPHAS, PAIR_ALPHAS, _exact_law, _spent
from verify.checks.measuring.case import checks
from verify.checks.measuring.estimates.samples import ADDITIVE, MATRIX
from verify.checks.measuring.pair_laws import part_of_pair
from verify.checks.measuring.premises import PremiseUnmetError, regular_truth
from verify.checks.measuring.where_asked import can_draw
from verify.subjects import ReferenceSubject
from verify.truth.geometry import quadratic_of
from verify.truth.propositions.deciding import in_the_limit
from verify.truth.propositions.sites import Site
from verify.verdict import Verdict, decide

LEMMAS = {
    "solution map": ("lipschitz-solution",),
    "dual extraction": (
        "dual-extraction", "dual-extraction/T1", "dual-extraction/linear-term", "dual-extraction/active-rows",
    ),
    "solution shift": ("solution-error", "solution-error/monotonicity", "solution-error/strong-convexity"),
    "T1": ("bias-bound/T1", "bias-bound/L-H-y"),
    "T2": ("bias-bound/T2", "bias-bound/T2-split"),
    "bias": ("bias-bound", "bias-bound/T3", "bias-bound/ramp"),
    "variance": ("variance-bound/per-sample", "variance-bound/f-noise-only", "variance-bound/g-noise-only",
                 "variance-bound/final-samples", "variance-bound/conditioning"),
    "accuracy": ("hypergradient-accuracy", "hypergradient-accuracy/first-moment"),
    "cost": ("inner-cost/condition-number", "inner-cost/smoothness", "inner-cost/strong-convexity",
             "inner-cost/primal-dual-sign", "inner-cost/dual-step", "inner-cost/alpha-accurate"),
}  # fmt: skip
"""By lemma, its statements: each is asked of every problem drawn on which it can be."""
EXAMPLES, FLOOR = {"cost": 30, "variance": 30}, 3
"""Problems drawn for a lemma, 12 where nothing is said, and on how many each of its statements must be decided."""
REGULAR = ("rows", "box", "moving-box", "interior", "ill-conditioned")


def by_its_check(claim: str, problem: str) -> Verdict:
    """As a run decides it."""
    result = perform(Task(claim, "repaired", problem, "reference", "smoke", DEFAULT_SEED), ReferenceSubject())
    assert result.fault is None, result.fault
    assert result.verdict is not None
    return result.verdict


def by_its_formula(claim: str, problem: str) -> Verdict:
    """The order of an exact variance, with noise that is the same everywhere and with noise that is linear."""
    formula, instance = find(claim).repaired.proposition, instance_of(problem)
    assert formula is not None
    sites = [Site(quadratic_of(instance.problem), instance.x, noise=noise) for noise in (ADDITIVE, MATRIX)]
    return Verdict.SUPPORTED if all(in_the_limit(formula, site).holds for site in sites) else Verdict.REFUTED


def by_its_laws(claim: str, problem: str) -> Verdict:
    """The mean squared error of the exact law, the minimiser's error spent, and what the pair's worst law costs."""
    case = case_of(claim, "repaired", problem)
    try:
        truth = regular_truth(case.instance)
        law = _exact_law([_spent(case, truth, alpha) for alpha in ALPHAS], truth)
        pair = part_of_pair(case, truth, PAIR_ALPHAS)
    except PremiseUnmetError:
        return Verdict.NOT_APPLICABLE
    return decide(case.bound, [law.model_copy(update={"role": "conclusion"}), *pair]).verdict


DRAWING = {"variance-bound/per-sample", "variance-bound/f-noise-only", "variance-bound/g-noise-only"}
"""Statements whose check draws samples: their exact variance is held against the same bound."""


@cache
def asked(claim: str) -> tuple[Callable[[str], Verdict], tuple[str, ...]]:
    """How a statement is decided on a problem, and the families on whose problems it can be asked."""
    if claim in DRAWING:
        return partial(by_its_formula, claim), REGULAR
    if claim == "hypergradient-accuracy":
        return partial(by_its_laws, claim), ("box", "rows", "fixed-rows")
    families = (family.name for family in FAMILIES.values() if can_draw(checks()[claim], family))
    return partial(by_its_check, claim), tuple(families)


@pytest.mark.parametrize("lemma", LEMMAS)
def test_a_repaired_lemma_holds_wherever_its_premises_do(lemma: str) -> None:
    decided: Counter[str] = Counter()

    @settings(max_examples=EXAMPLES.get(lemma, 12), deadline=None)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        seed = data.draw(st.integers(0, 10**6), "seed")
        for claim in LEMMAS[lemma]:
            decide_on, families = asked(claim)
            # The plain family decides, the degenerate ones have to say that a premise fails.
            plainly = [families[0]] * 2 * len(families)
            problem = name_of(data.draw(st.sampled_from([*plainly, *families]), f"family, {claim}"), seed)
            verdict = decide_on(problem)
            event(f"{claim}: {verdict}")
            assert verdict is not Verdict.REFUTED, (claim, problem)
            assert verdict is not Verdict.VACUOUS, (claim, problem)
            decided[claim] += verdict is Verdict.SUPPORTED

    holds()
    assert {claim for claim in LEMMAS[lemma] if decided[claim] < FLOOR} == set(), decided


def test_a_bound_that_does_not_hold_is_found_out() -> None:
    # The literal texts of the same lemmas, on the same kind of problem.
    for claim in ("bias-bound/T1", "bias-bound/T3", "bias-bound", "inner-cost/primal-dual-sign"):
        problem = name_of("rows", 0)
        result = perform(Task(claim, "as-written", problem, "reference", "smoke", DEFAULT_SEED), ReferenceSubject())
        assert result.verdict is Verdict.REFUTED, claim
