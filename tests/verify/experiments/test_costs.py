"""Operations by hand, and methods brought to the same accuracy."""

from __future__ import annotations

import pytest

from verify.experiments import costs
from verify.experiments.costs import ACCURACY, F2CSA, METHODS, hypergradients, place, solves
from verify.experiments.work import Sizes, first_order, operations, second_order

SIZES = Sizes(n=3, m=5, row_entries=10)


@pytest.mark.parametrize(
    ("counts", "first", "second"),
    [
        # A gradient in x takes 2(n² + nm), one in y 2m², a product with rows twice their entries.
        ({"grad_x_f": 1}, 48, 0),
        ({"grad_x_g": 2}, 96, 0),
        ({"grad_y_f": 1, "grad_y_g": 1}, 100, 0),
        ({"row_products": 3}, 60, 0),
        # Products 2m² and 2nm; a factorisation with one solution: m³/3 + 2m², (2/3)k³ + 2k².
        ({"hessian_products": 2, "cross_products": 1}, 0, 130),
        ({"cholesky(5)": 1}, 0, 125 / 3 + 50),
        ({"lu(6)": 1}, 0, 144 + 72),
        # Two rows beside: two more solutions, their products with the rows, and the small factorisation.
        ({"cholesky(5)": 1, "cholesky(2)": 1}, 0, 125 / 3 + 50 + 8 / 3 + 8 + 100 + 40),
    ],
)
def test_operations_by_hand(counts: dict[str, int], first: float, second: float) -> None:
    assert first_order(counts, SIZES) == first
    assert second_order(counts, SIZES) == pytest.approx(second)
    assert operations(counts, SIZES) == pytest.approx(first + second)


@pytest.fixture(scope="module")
def rows() -> list[dict[str, object]]:
    return hypergradients(30, 10.0, 3, timed=False)


def test_every_method_reaches_the_accuracy_at_the_same_place(rows: list[dict[str, object]]) -> None:
    assert [row["method"] for row in rows] == list(METHODS)
    assert all(row["error"] <= ACCURACY for row in rows)  # type: ignore[operator]  # numbers
    assert len({row["free"] for row in rows}) == 1


def test_the_counts_are_those_of_the_formulas(rows: list[dict[str, object]]) -> None:
    found = {row["method"]: row["operations"] for row in rows}
    here = place(30, 10.0, 3)
    d, k, active = 30, here.free, 30 - here.free
    gradients = 2 * (2 * d * d) + 2 * d * d + 2 * d * d + 4 * d
    assert found["implicit, free-block Cholesky"] == pytest.approx(
        gradients + k**3 / 3 + 2 * k**2 + 2 * d * d * (active > 0)
    )
    assert found["implicit, LU of the whole system"] == pytest.approx(
        gradients + (d + active) ** 3 * 2 / 3 + 2 * (d + active) ** 2
    )
    assert 0 < active < d


def test_a_method_that_is_wrong_is_not_called_accurate(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = costs.Place.answer

    def halved(self: costs.Place, method: str, effort: costs.Effort) -> tuple[object, dict[str, int]]:
        found, counts = whole(self, method, effort)
        return (found / 2 if method == F2CSA else found), counts

    monkeypatch.setattr(costs.Place, "answer", halved)
    [row] = [row for row in hypergradients(20, 10.0, 3, timed=False) if row["method"] == F2CSA]
    assert row["error"] == pytest.approx(0.5, abs=0.01)
    assert row["alpha"] == costs.ALPHAS[-1]


def test_all_take_the_same_road_in_a_solve() -> None:
    found = solves(20, 10.0, 3, timed=False)
    steps = {row["method"]: row["steps"] for row in found}
    assert max(steps.values()) - min(steps.values()) <= 2
    assert all(row["reached"] <= costs.REDUCTION for row in found)
    assert min(steps.values()) > 3


def test_the_norm_is_bounded_from_above() -> None:
    q = place(30, 10.0, 3).q
    import numpy as np

    for matrix in (q.f_xx, q.f_xy, q.g_yy):
        exact = float(np.linalg.norm(matrix, 2))
        assert exact <= costs.norm_of(matrix) <= 1.06 * exact
