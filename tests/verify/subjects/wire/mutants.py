"""A wrong implementation, served over the wire by the tests."""

import numpy as np

from verify.subjects import ReferenceSubject
from verify.truth.geometry import quadratic_of


class ForgetsTheRows(ReferenceSubject):
    """Solves the lower level as if it had no rows."""

    name = "forgets-the-rows"

    def lower_level(self, problem, x):
        a = quadratic_of(problem).arrays
        return -np.linalg.solve(a.g_yy, a.g_xy.T @ x + a.g_y), np.zeros(len(a.b))
