from __future__ import annotations

from fractions import Fraction

from flint import fmpq, fmpq_mat

from verify.truth.goldstein.cells import interior_point

ORIGIN, ONE = (Fraction(0), Fraction(0)), Fraction(1)


def rows(*values):
    return fmpq_mat([list(row) for row in values])


def test_a_half_plane_through_the_centre_has_a_proven_interior_point():
    made = interior_point(rows([1, 0]), rows([0]), ORIGIN, ORIGIN, ONE)
    assert not made.empty
    assert made.point[0] < 0
    assert sum(v * v for v in made.point) < 1


def test_a_line_is_proven_empty():
    made = interior_point(rows([1, 2], [-1, -2]), rows([0], [0]), ORIGIN, ORIGIN, ONE)
    assert made.empty


def test_a_point_between_three_half_planes_is_proven_empty():
    made = interior_point(rows([1, 0], [0, 1], [-1, -1]), rows([0], [0], [0]), ORIGIN, ORIGIN, ONE)
    assert made.empty


def test_a_very_thin_strip_is_never_called_empty():
    thin = fmpq(1, 10**12)
    made = interior_point(rows([1, 0], [-1, 0]), fmpq_mat([[thin], [thin]]), ORIGIN, ORIGIN, ONE)
    assert not made.empty


def test_small_balls_are_treated_like_large_ones():
    radius = Fraction(1, 10**12)
    made = interior_point(rows([1, 0]), rows([0]), ORIGIN, ORIGIN, radius)
    assert made.point is not None
    assert sum(v * v for v in made.point) < radius**2


def test_no_row_means_everything():
    assert interior_point(fmpq_mat(0, 2), fmpq_mat(0, 1), ORIGIN, ORIGIN, ONE).point == ORIGIN
