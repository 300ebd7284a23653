"""Where solutions exist and where the method goes: what is found, and what other data make of it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from spec import parse_problem
from spec.atlas import find
from spec.claims import find as statement
from tests.verify.checks.verdicts_of import REFUTED, SUPPORTED, UNMET, number, under, verdict
from verify.checks.assumptions import lower_level_domain
from verify.checks.assumptions.lower_level_domain import solution_or_proof
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.complementarity import InfeasibleLowerLevelError


@pytest.mark.parametrize(
    ("claim", "reading", "instance", "expected"),
    [
        ("smoothness/existence", "as-written", "infeasible", REFUTED),
        ("smoothness/existence", "as-written", "random-2x3x4", REFUTED),
        ("smoothness/existence", "as-written", "two-of-three", SUPPORTED),
        ("smoothness/existence", "repaired", "random-2x3x4", SUPPORTED),
        ("smoothness/existence", "repaired", "infeasible", UNMET),
        ("smoothness/bounded-gradient-note", "as-written", "toy1", REFUTED),
        ("smoothness/bounded-gradient-note", "repaired", "ill-conditioned", SUPPORTED),
        ("smoothness/compact-domain-note", "as-written", "box-rational", REFUTED),
        ("smoothness/compact-domain-note", "as-written", "experiment-5d", SUPPORTED),
        ("smoothness/compact-domain-note", "repaired", "moving-box", SUPPORTED),
        ("lipschitz-solution/domain", "as-written", "random-2x3x4", REFUTED),
        ("lipschitz-solution/domain", "as-written", "two-of-three", SUPPORTED),
        ("lipschitz-solution/domain", "repaired", "random-2x3x4", UNMET),
        ("lipschitz-solution/domain", "repaired", "two-of-three", SUPPORTED),
    ],
)
def test_verdicts(claim, reading, instance, expected):
    assert verdict(claim, reading, instance) is expected


def test_emptiness_is_believed_with_a_proof_only(monkeypatch):
    problem, x = quadratic_of(find("infeasible").problem), find("infeasible").x
    assert solution_or_proof(problem, x) == "empty"
    for weights in ((1, 0), (-1, -1), (0, 0)):

        def claim(*_, weights=weights):
            raise InfeasibleLowerLevelError(tuple(map(Fraction, weights)))

        monkeypatch.setattr(lower_level_domain.lower_level, "solve", claim)
        assert solution_or_proof(problem, x) == "neither", weights


def test_a_solution_is_believed_by_its_optimality_only(monkeypatch):
    from dataclasses import replace

    problem, x = quadratic_of(find("toy1").problem), find("toy1").x
    right = lower_level.solve(problem, x)
    assert solution_or_proof(problem, x) == "solution"
    for wrong in (replace(right, lam=(Fraction(2),)), replace(right, y_star=(Fraction(2),)),
                  replace(right, y_star=(Fraction(0),), lam=(Fraction(0),))):  # fmt: skip
        monkeypatch.setattr(lower_level_domain.lower_level, "solve", lambda *_, wrong=wrong: wrong)
        assert solution_or_proof(problem, x) == "neither"


def test_the_gradient_of_a_strongly_convex_g_is_of_no_smaller_power():
    bound = statement("smoothness/bounded-gradient-note").as_written.bound
    for power, expected in ((Fraction(1, 2), REFUTED), (Fraction(1), SUPPORTED)):
        other = bound.model_copy(update={"exponents": {"radius": power}})
        assert under("smoothness/bounded-gradient-note", "as-written", "toy1", other) is expected


def test_a_row_that_does_not_bind_is_not_violated():
    assert number("smoothness/compact-domain-note", "as-written", "experiment-5d", "violation") == 0
    assert number("smoothness/compact-domain-note", "as-written", "box-rational", "violation") > 0


def test_half_a_box_is_not_compact():
    half = parse_problem({"kind": "quadratic", "f": {"y": [1]}, "g": {"yy": [[1]]},
                          "constraints": {"A": [[0]], "B": [[1]], "b": [1]}})  # fmt: skip
    assert not lower_level_domain._compact_premise(half).holds
    assert lower_level_domain._compact_premise(quadratic_of(find("box-rational").problem)).holds
