from __future__ import annotations

import numpy as np
import pytest

from f2csa_ref.libraries import eigenvalues
from f2csa_ref.libraries.eigenvalues import extreme_eigenvalues
from spec.blocks.families import draw


@pytest.mark.parametrize("condition", [1.0, 10.0, 3000.0])
def test_of_a_large_matrix_they_are_bounds_close_to_the_ends(condition, monkeypatch):
    matrix = draw("paper-experiment", 150, 150, None, condition, 3)["g"]["yy"]
    truth = np.linalg.eigvalsh(matrix)[[0, -1]]
    assert extreme_eigenvalues(matrix) == pytest.approx(tuple(truth))
    monkeypatch.setattr(eigenvalues, "LANCZOS_FROM", 100)
    for sign in (1.0, -1.0):
        low, high = extreme_eigenvalues(sign * matrix)
        ends = sorted(sign * truth)
        assert low <= ends[0]
        assert ends[1] <= high
        assert (low, high) == pytest.approx(tuple(ends), rel=5e-3)
