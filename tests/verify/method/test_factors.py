"""Factors that are almost 1 are told from 1."""

from __future__ import annotations

import pytest

from verify.conformance.blame.lower_level.by_parts import ByParts
from verify.conformance.blame.lower_level.lower_outputs import OUTPUTS
from verify.method.factors import is_almost_one, spelt_plainly


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.0, "1"), (1.0000002, "1.0000002"), (0.99999987, "0.99999987"), (-1.0000002, "-1.0000002"), (0.5, "0.5"),
     (1.25, "1.25"), (1 + 1e-12, "1.000000000001")],
)  # fmt: skip
def test_digits_tell_a_number_from_one(value: float, shown: str) -> None:
    assert spelt_plainly(value) == shown


def test_what_a_solver_leaves_is_called_that() -> None:
    assert "its solver leaves 2e-07 of B_S y₀" in ByParts((1.0, 1.0, 1 - 2e-7)).sentence
    assert "with 1.1·B_S y₀ in place of B_S y₀" in ByParts((1.0, 1.0, 1.1)).sentence
    assert OUTPUTS["both scaled"].told(1 + 2e-7) == "its solver adds 2e-07 of y and of λ"
    assert OUTPUTS["both scaled"].told(2.0) == "2·y and 2·λ are returned"


def test_one_itself_is_not_almost_one() -> None:
    assert not is_almost_one(1.0)
    assert not is_almost_one(1.001)
