"""Operations by hand, and methods brought to the same accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spec.exact import Vector
from verify.experiments import costs, work
from verify.experiments.costs import ACCURACY, EXACT, F2CSA, METHODS, Place, hypergradients, place, solves

SIZES = work.Sizes(n=3, m=5, cross_entries=4, row_entries=10)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        # A gradient of f in x takes 2n(n + m), in y 2m(n + m); products with rows and g_xy twice their entries.
        ({"grad_x_f": 1}, 48),
        ({"grad_y_f": 2}, 160),
        ({"row_products": 3}, 60),
        ({"cross_products": 1}, 8),
        # A product 2m²; a factorisation with one solution: m³/3 + 2m², (2/3)k³ + 2k².
        ({"hessian_products": 2}, 100),
        ({"cholesky(5)": 1}, 125 / 3 + 50),
        ({"lu(6)": 1}, 144 + 72),
        # Two rows beside: two more solutions, their products with the rows, and the small factorisation.
        ({"cholesky(5)": 1, "cholesky(2)": 1}, 125 / 3 + 50 + 8 / 3 + 8 + 100 + 40),
    ],
)
def test_operations_by_hand(counts: dict[str, int], expected: float) -> None:
    assert work.implicit(counts, SIZES) == pytest.approx(expected)


def test_products_of_the_first_order_method_by_hand() -> None:
    assert work.first_order({"matrix_products": 7}, SIZES) == 7 * 50


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
    active = d - k
    shared = 8 * d * d + 2 * 2 * d + 2 * d
    assert 0 < active < d
    assert found[EXACT] == pytest.approx(shared + k**3 / 3 + 2 * k**2 + 2 * d * d, rel=0.01)
    whole = d + active
    assert found["implicit, LU of the whole system"] == pytest.approx(
        shared + whole**3 * 2 / 3 + 2 * whole**2, rel=0.01
    )


def test_a_method_that_is_wrong_is_not_called_accurate(monkeypatch: pytest.MonkeyPatch) -> None:
    right = costs.Hypergradient.__call__

    def halved(self: costs.Hypergradient, here: Place) -> tuple[Vector, float, float]:
        found, operations, solving = right(self, here)
        return (found / 2 if self.method == F2CSA else found), operations, solving

    monkeypatch.setattr(costs.Hypergradient, "__call__", halved)
    [row] = [row for row in hypergradients(20, 10.0, 3, timed=False) if row["method"] == F2CSA]
    assert row["error"] == pytest.approx(0.5, abs=0.01)
    assert row["alpha"] == costs.ALPHAS[-1]


def test_a_call_that_is_forgotten_is_made_again_in_full() -> None:
    here = place(30, 10.0, 3)
    estimate = costs.Hypergradient(F2CSA, here.q, costs.Effort(0.1, 1e-3))
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
