from __future__ import annotations

import numpy as np

from f2csa_ref import objectives_of


def test_rows_are_summed_beyond_double_precision(make):
    q = objectives_of(make({}, {"yy": [[1, 0], [0, 1]]}, {"A": [[1]], "B": [[1, 1]], "b": [0]}))
    h = q.h(np.array([1.0]), np.array([1.0, 2.0**-60]))
    if np.finfo(np.longdouble).eps < np.finfo(np.float64).eps:
        assert h == -(2.0**-60)


def test_the_norm_of_b_for_wide_and_tall_rows(random_rows):
    for m, p in ((5, 2), (2, 5)):
        problem = random_rows(1, m, p, 3)
        assert np.isclose(objectives_of(problem).B_norm, np.linalg.norm(problem.arrays.B, 2))
