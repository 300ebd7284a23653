from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import InvalidInputError, parse_problem
from spec.atlas import find
from verify.truth.goldstein.cells import TooManyCellsError, cells_in_ball
from verify.truth.goldstein.distance import distance
from verify.truth.goldstein.estimate import estimate
from verify.truth.goldstein.minima import NO_RAYS, Rays, shortest
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.lower_level import DegenerateLowerLevelError

Q = Fraction


def drawn(n, m, p, seed):
    return parse_problem({"kind": "generated", "family": "random-rows", "n": n, "m": m, "p": p, "seed": seed}).quadratic


def brute(problem, x, radius, count, seed=0):
    """Gradients at random points of the ball, by the exact layer's implicit differentiation."""
    rng = np.random.default_rng(seed)
    n, gradients = problem.n, []
    for _ in range(count):
        v = rng.standard_normal(n)
        z = np.array([float(c) for c in x]) + float(radius) * rng.random() ** (1 / n) * v / np.linalg.norm(v) * 0.999999
        try:
            gradients.append([float(c) for c in lower_level.hypergradient(problem, z.tolist())])
        except DegenerateLowerLevelError:
            continue
    return np.array(gradients)


@pytest.mark.parametrize(
    ("x", "radius", "expected"),
    [("2.3", "0.2", "1.1"), ("2.3", "0.31", "0"), ("1.9", "0.05", "0.7"), ("-2", "0.1", "4.9"),
     ("-6.5", "0.2", "0.3"), ("0", "0.5", "2")],
)  # fmt: skip
def test_the_six_distances_of_the_experiment_in_one_dimension_are_exact(x, radius, expected):
    found = distance(find("experiment-1d").problem, [Q(x)], Q(radius))
    assert found.exact == Q(expected)
    assert found.certified
    assert found.lower <= float(Q(expected)) <= found.upper


def test_a_closed_ball_that_just_touches_a_kink_sees_the_other_side():
    problem = find("experiment-1d").problem
    assert distance(problem, [Q("2.3")], Q("0.3")).exact == 0
    assert distance(problem, [Q("2.3")], Q("0.299")).exact == Q("1.001")


def test_at_the_kink_of_the_absolute_value_the_radius_must_exceed_the_offset():
    problem = find("kink").problem
    assert distance(problem, [Q("1e-3")], Q("5e-4")).exact == 1
    assert distance(problem, [Q("1e-3")], Q("1e-3")).exact == 0


# F = |s-1| + |d| + 0.3 d - 1: gradients a (1,1) + (b + 0.3) (1,-1) with a, b = +-1.
@pytest.mark.parametrize(
    ("x", "radius", "expected_squared"),
    [
        (("0.6", "0.5"), "0.05", 2 * (1 + Q("1.3") ** 2)),  # neither kink
        (("0.6", "0.7"), "0.1", 2),  # only d = 0: b is free, a = 1
        (("0.6", "0.5"), "0.08", Q("0.09")),  # both kinks, not their crossing: three pieces
        (("0.6", "0.5"), "0.1", 0),  # the crossing, touched
        (("0.5", "0.5"), "1e-9", 0),
    ],
)
def test_near_two_kinks_the_distance_follows_which_pieces_the_ball_meets(x, radius, expected_squared):
    found = distance(find("crossing-kinks").problem, [Q(v) for v in x], Q(radius))
    expected = math.sqrt(expected_squared)
    assert found.lower - 1e-12 <= expected <= found.upper + 1e-12
    assert found.upper - found.lower <= 1e-6


@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 3), radius=st.sampled_from(["1/5", "1", "3"]), data=st.data())
def test_the_bracket_never_excludes_the_truth_and_its_gap_closes(seed, n, radius, data):
    problem = drawn(n, 3, 3, seed)
    x = [Q(data.draw(st.integers(-4, 4)), 2) for _ in range(n)]
    try:
        found = distance(problem, x, Q(radius))
    except InvalidInputError:
        return
    gradients = brute(problem, x, Q(radius), 60, seed)
    _, p = shortest(gradients, NO_RAYS)
    assert found.lower <= np.linalg.norm(p) + 1e-9
    assert found.upper - found.lower <= 1e-6
    direction = np.array(found.direction)
    if found.lower > 0:
        assert (gradients @ direction / np.linalg.norm(direction)).min() >= found.lower - 1e-9
    # The upper bound can be recomputed from what it rests on.
    used, weights = np.array(found.gradients), np.array(found.weights)
    assert np.linalg.norm(weights @ used) <= found.upper + 1e-9
    for z, gradient in zip(found.points, used, strict=True):
        assert sum((a - b) ** 2 for a, b in zip(z, x, strict=True)) <= Q(radius) ** 2
        known = lower_level.pieces(problem, z, lower_level.solve(problem, z)).values()
        assert min(np.abs(np.array([float(v) for v in g]) - gradient).max() for g in known) <= 1e-6


def test_brute_force_comes_close_to_the_bracket_on_a_fixed_problem():
    problem = drawn(2, 3, 3, 3)
    found = distance(problem, [Q(0), Q(0)], Q(1, 2))
    _, p = shortest(brute(problem, [0, 0], Q(1, 2), 600), NO_RAYS)
    assert found.lower <= np.linalg.norm(p) <= found.upper + 0.05 * max(1.0, found.upper)


def test_a_ball_that_touches_a_cell_in_one_point_counts_its_gradient_exactly():
    problem = find("absolute-fixed").problem  # F = |x1| + 2|x2|
    apart = distance(problem, [Q(1), Q(3)], Q(1) - Q(1, 10**9))
    touching = distance(problem, [Q(1), Q(3)], Q(1))
    assert apart.lower <= math.sqrt(5) <= apart.upper
    assert touching.exact == 2
    assert {cell.touches for cell in cells_in_ball(problem, (Q(1), Q(3)), Q(1))} == {False, True}


def test_dependent_rows_name_the_same_piece_and_change_nothing():
    once, twice = find("toy1").problem, find("licq-fails").problem
    assert distance(twice, [Q(1)], Q(1, 2)).exact == distance(once, [Q(1)], Q(1, 2)).exact == 1


def test_the_normal_cone_of_a_box_takes_up_what_points_outwards():
    problem = find("toy1").problem  # F' = 1 for x > 0
    free = distance(problem, [Q(1)], Q(1, 10))
    at_lower_end = distance(problem, [Q(1)], Q(1, 10), box=([1], [2]))
    at_upper_end = distance(problem, [Q(1)], Q(1, 10), box=([0], [1]))
    assert (free.exact, at_lower_end.exact, at_upper_end.exact) == (1, 0, 1)
    flat = distance(find("absolute-fixed").problem, [Q(1), Q(3)], Q(1, 10), box=([None, 3], [None, None]))
    assert flat.lower <= 1 <= flat.upper
    assert flat.upper - flat.lower <= 1e-6


def test_a_point_outside_the_box_is_refused():
    with pytest.raises(InvalidInputError, match=r"^x\[0\]: must lie in the box"):
        distance(find("toy1").problem, [3], 1, box=([0], [1]))


@pytest.mark.parametrize(("argument", "value"), [("radius", 0), ("radius", -1), ("radius", math.nan)])
def test_wrong_radii_are_refused(argument, value):
    with pytest.raises(InvalidInputError, match=f"^{argument}"):
        distance(find("toy1").problem, [1], value)


def test_a_ball_that_leaves_the_domain_of_F_is_refused():
    with pytest.raises(InvalidInputError, match="feasible"):
        distance(find("random-2x3x4").problem.quadratic, [0, 0], 1)


def test_with_too_many_row_sets_the_lower_bound_is_no_longer_certified(monkeypatch):
    monkeypatch.setattr("verify.truth.goldstein.cells.MAX_ROW_SETS", 100)
    eye = [[int(i == j) for j in range(12)] for i in range(12)]
    rows = {"B": eye + [[-v for v in row] for row in eye], "b": [1] * 24}
    problem = parse_problem({"kind": "quadratic", "f": {"x": [3, 4]}, "g": {"yy": eye}, "constraints": rows})
    with pytest.raises(TooManyCellsError, match="independent row sets"):
        cells_in_ball(problem, (Q(0), Q(0)), Q(1))
    found = distance(problem, [0, 0], 1)
    assert not found.certified
    assert found.lower <= 5 <= found.upper


@pytest.mark.parametrize("name", ["two-of-three", "fixed-rows", "random-3x5x4", "crossing-kinks", "random-4x6x6"])
def test_the_estimate_of_higher_dimensions_agrees_where_certificates_exist(name):
    instance = find(name)
    problem = getattr(instance.problem, "quadratic", instance.problem)
    proven = distance(problem, instance.x, Q(1))
    guessed = estimate(problem, instance.x, Q(1), NO_RAYS, 1e-6)
    assert guessed.upper >= proven.lower - 1e-9
    assert guessed.upper <= proven.upper + 1e-3
    assert not guessed.certified


def test_above_four_dimensions_the_lower_bound_is_labelled_as_not_certified():
    instance = find("experiment-5d")
    found = distance(instance.problem.quadratic, instance.x, Q(1, 2))
    assert (found.certified, found.method) == (False, "bundle")
    assert found.upper - found.lower <= 1e-5


def test_the_shortest_combination_uses_rays_only_outwards():
    weights, p = shortest(np.array([[1.0, -2.0], [3.0, 2.0]]), Rays(up=(1,), down=()))
    np.testing.assert_allclose(p, [1.0, 0.0], atol=1e-12)
    assert weights[0] == pytest.approx(1.0)
