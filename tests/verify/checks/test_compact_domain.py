"""What a compact domain does to gradients, and counting the lower level alone to the remark on the inner work."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import parse_problem
from spec.atlas import find
from spec.claims import find as statement
from tests.verify.checks.verdicts_of import REFUTED, SUPPORTED, result, under, verdict
from verify.checks.assumptions.compact_domain import SIDE, Box, box_bounds, settled
from verify.truth.geometry import quadratic_of
from verify.truth.point_values import PointValues
from verify.verdict import Verdict, decide

CLAIM = "smoothness/compact-bounds-gradient"
BOUND = statement(CLAIM).as_written.bound
SQUARE = quadratic_of(parse_problem({"kind": "quadratic", "g": {"yy": [[1]], "xy": [[2]]}, "f": {"x": [0], "y": [1]},
                                     "constraints": {"A": [[1]], "B": [[1]], "b": [0]}}))  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "reading", "instance", "expected"),
    [
        (CLAIM, "as-written", "two-of-three", SUPPORTED),
        (CLAIM, "repaired", "moving-box", SUPPORTED),
        ("smoothness", "as-written", "two-of-three", REFUTED),
        ("smoothness", "choose:domain=compact", "two-of-three", SUPPORTED),
        ("smoothness/f-lipschitz", "as-written", "two-of-three", REFUTED),
        ("smoothness/f-lipschitz", "choose:domain=compact", "two-of-three", SUPPORTED),
        ("smoothness/bounded-gradient", "as-written", "two-of-three", Verdict.VACUOUS),
        ("smoothness/bounded-gradient", "choose:domain=compact", "two-of-three", SUPPORTED),
        ("inner-loop-remark/penalty-solve", "as-written", "two-of-three", REFUTED),
        ("inner-loop-remark/penalty-solve", "choose:inner_workload=lower-level", "two-of-three", SUPPORTED),
    ],
)
def test_the_domain_and_the_workload_decide(claim, reading, instance, expected):
    assert verdict(claim, reading, instance) is expected


@pytest.mark.parametrize(
    ("claim", "reading", "instance"),
    [
        (CLAIM, "as-written", "two-of-three"),
        ("smoothness/f-lipschitz", "choose:domain=compact", "two-of-three"),
        ("smoothness/bounded-gradient", "choose:domain=compact", "toy1"),
        ("inner-loop-remark/penalty-solve", "choose:inner_workload=lower-level", "random-3x5x4"),
    ],
)
def test_half_an_order_more_is_refuted(claim, reading, instance):
    bound = statement(claim).assertion(reading).bound
    (variable,) = bound.exponents
    by = Fraction(-1, 2) if bound.toward == "infinity" else Fraction(1, 2)
    assert under(claim, reading, instance, bound.model_copy(update={"exponents": {variable: by}})) is REFUTED


@pytest.mark.parametrize("claim", ["smoothness", "smoothness/f-lipschitz", "smoothness/bounded-gradient"])
def test_a_repaired_text_kept_on_the_whole_space_is_judged_there(claim):
    assert verdict(claim, "repaired", "two-of-three") is SUPPORTED
    assert verdict(claim, "keep:domain=whole-space", "two-of-three") is REFUTED


@pytest.mark.parametrize("claim", ["smoothness/f-lipschitz", "smoothness/bounded-gradient", CLAIM])
def test_the_largest_gradient_grows_inside_the_box_and_stays_beyond_it(claim):
    reading = "as-written" if claim == CLAIM else "choose:domain=compact"
    (rate,) = [item for item in result(claim, reading, "two-of-three").evidence if item.kind == "rate" and item.points]
    inside = [point.measured for point in rate.points if point.at <= SIDE]
    assert len(inside) == len(set(inside)) == 4
    assert settled(rate)
    # What keeps growing is not bounded, whatever a premise says.
    grows = [p.model_copy(update={"measured": p.at}) for p in rate.points]
    assert not settled(rate.model_copy(update={"points": tuple(grows)}))


def test_on_a_strip_the_gradient_is_not_bounded():
    box = Box(SQUARE, (Fraction(0), Fraction(1)), (SIDE, None))
    found = box_bounds(box, constant=False)
    # What is compact is a premise; without it the largest gradient grows, and where it is not asked for, that refutes.
    assert decide(BOUND, found.evidence).verdict is Verdict.NOT_APPLICABLE
    assert decide(BOUND, [item for item in found.evidence if item.kind != "premise"]).verdict is REFUTED
    whole = Box(SQUARE, (Fraction(0), Fraction(1)), (SIDE, SIDE))
    assert decide(BOUND, box_bounds(whole, constant=True).evidence).verdict is SUPPORTED


def test_a_largest_value_that_another_point_exceeds_is_refuted(monkeypatch):
    box = Box(SQUARE, (Fraction(0), Fraction(1)), (SIDE, SIDE))
    for lie in (Fraction(0), Fraction(1)):
        monkeypatch.setattr(Box, "largest", lambda *_, lie=lie: lie)
        assert decide(BOUND, box_bounds(box, constant=False).evidence).verdict is REFUTED


def test_the_largest_gradient_of_a_square_is_that_of_its_farthest_vertex():
    # ∇g = (2y, 2x + y): at x = 4, y = 5 it is (10, 13).
    assert Box(SQUARE, (Fraction(0), Fraction(1)), (SIDE, SIDE)).largest("g", SIDE) == 10**2 + 13**2


@given(st.lists(st.fractions(-1, 1, max_denominator=20), min_size=5, max_size=5))
def test_no_point_of_the_box_exceeds_its_vertices(offsets):
    problem, instance = quadratic_of(find("two-of-three").problem), find("two-of-three")
    n, m = problem.n, problem.m
    centre = (*instance.x, *(Fraction(0),) * m)
    box = Box(problem, centre, [SIDE] * (n + m))
    z = tuple(c + SIDE * (offsets * (n + m))[i] for i, c in enumerate(centre))
    gradient = PointValues(problem).gradient("g", z[:n], z[n:])
    assert box.square("g", z) == sum(v * v for v in gradient) <= box.largest("g", SIDE)
