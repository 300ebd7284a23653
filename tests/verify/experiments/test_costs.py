"""Operations by hand, and methods brought to the same accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spec.exact import Vector
from verify.experiments import costs, work
from verify.experiments.costs import (
    ACCURACY,
    EXACT,
    F2CSA,
    ITERATIVE,
    METHODS,
    CostPlace,
    hypergradients,
    place,
    solves,
)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"matrix_products": 7}, 7 * 50),
        # A factorisation with one solution: m³/3 + 2m², (2/3)k³ + 2k².
        ({"matrix_products": 4, "cholesky(5)": 1}, 4 * 50 + 125 / 3 + 50),
        ({"matrix_products": 4, "lu(6)": 1}, 4 * 50 + 144 + 72),
        # Two rows beside: two more solutions, their products with the rows, and the small factorisation.
        ({"matrix_products": 4, "cholesky(5)": 1, "cholesky(2)": 1}, 4 * 50 + 125 / 3 + 50 + 8 / 3 + 8 + 100 + 40),
    ],
)
def test_operations_by_hand(counts: dict[str, int], expected: float) -> None:
    assert work.operations(counts, 5) == pytest.approx(expected)
    assert work.linear_solve(counts, 5) == pytest.approx(expected - 4 * 50)


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return hypergradients(30, 10.0, 3, timed=False)


def test_every_method_reaches_the_accuracy_at_the_same_place(rows: list[dict[str, Any]]) -> None:
    assert [row["method"] for row in rows] == list(METHODS)
    assert all(row["error"] <= ACCURACY for row in rows)
    assert len({row["free"] for row in rows}) == 1


def test_the_counts_are_those_of_the_formulas(rows: list[dict[str, Any]]) -> None:
    found = {row["method"]: row["operations"] for row in rows}
    d, k = 30, place(30, 10.0, 3).free
    whole = 2 * d - k
    assert k == 27
    assert found[EXACT] == pytest.approx(8 * d**2 + k**3 / 3 + 2 * k**2)
    assert found["implicit, LU of the whole system"] == pytest.approx(8 * d**2 + whole**3 * 2 / 3 + 2 * whole**2)
    # Four products for the gradients of f, and one a step of conjugate gradients.
    assert found[ITERATIVE] % (2 * d**2) == 0
    assert 5 <= found[ITERATIVE] / (2 * d**2) <= found[F2CSA] / (2 * d**2) <= 12


def test_a_factor_that_the_lower_level_made_is_not_paid_for_again() -> None:
    here = place(30, 10.0, 3)
    exact, [row] = (
        costs.HypergradientCost(EXACT, here.q, costs.Effort())(here),
        hypergradients(30, 10.0, 3, timed=False, methods=[costs.PREPARED]),
    )
    k = here.free
    assert row["error"] < 1e-12
    assert row["operations"] == pytest.approx(8 * 30**2 + 2 * k**2)
    assert exact[1] - row["operations"] == pytest.approx(k**3 / 3)


def test_a_method_that_is_wrong_is_not_called_accurate(monkeypatch: pytest.MonkeyPatch) -> None:
    right = costs.HypergradientCost.__call__

    def halved(self: costs.HypergradientCost, here: CostPlace) -> tuple[Vector, float, float]:
        found, operations, solving = right(self, here)
        return (found / 2 if self.method == F2CSA else found), operations, solving

    monkeypatch.setattr(costs.HypergradientCost, "__call__", halved)
    [row] = [row for row in hypergradients(20, 10.0, 3, timed=False) if row["method"] == F2CSA]
    assert row["error"] == pytest.approx(0.5, abs=0.01)
    assert row["alpha"] == costs.ALPHAS[-1]


def test_a_call_that_is_forgotten_is_made_again_in_full() -> None:
    here = place(30, 10.0, 3)
    estimate = costs.HypergradientCost(F2CSA, here.q, costs.Effort(0.1, 1e-3))
    first = estimate(here)
    assert estimate(here)[1] < first[1]  # it starts where it ended
    estimate.forget()
    again = estimate(here)
    assert again[1] == first[1]
    np.testing.assert_array_equal(again[0], first[0])


def test_all_take_the_same_road_in_a_solve() -> None:
    found = solves(20, 10.0, 3, timed=False)
    steps = [row["steps"] for row in found]
    assert max(steps) - min(steps) <= 2
    assert all(row["reached"] <= costs.REDUCTION for row in found)
    assert min(steps) > 3


def test_the_norm_is_bounded_from_above() -> None:
    q = place(30, 10.0, 3).q
    for matrix in (q.f_xx, q.f_xy, q.g_yy):
        exact = float(np.linalg.norm(matrix, 2))
        assert exact <= costs.norm_of(matrix) <= 1.06 * exact
