"""Verdicts on the scaling experiment change with the counts they are computed from."""

from __future__ import annotations

from typing import Any

import pytest

from verify.campaign.run import run
from verify.checks.experiments import scaling_work
from verify.experiments.costs import EXACT, F2CSA, ITERATIVE, METHODS

DIMS = (100, 200, 400, 800)


def rows(first_order: float = 40.0, power: int = 2, factor: float = 1.0) -> tuple[dict[str, Any], ...]:
    """Counts as they come out on the family: products for F2CSA, and by linear algebra for the others."""
    made = []
    for d in DIMS:
        k = 0.9 * d
        solve = {
            ITERATIVE: 12.0 * d**2, EXACT: factor * k**3 / 3 + 4 * d**2, "implicit, full Cholesky": 0.6 * d**3,
            "implicit, LU of the whole system": 1.0 * d**3, F2CSA: 0.0,
        }  # fmt: skip
        for method in METHODS:
            cost = first_order * float(d) ** power if method == F2CSA else solve[method] + 8.0 * d**2
            made.append({
                "d": d, "condition": 10.0, "seed": 0, "method": method, "free": k, "operations": cost,
                "solve_operations": solve[method],
            })  # fmt: skip
    return tuple(made)


def verdicts(monkeypatch: pytest.MonkeyPatch, counts: tuple[dict[str, Any], ...], claim: str) -> dict[str, str]:
    monkeypatch.setattr(scaling_work, "counted", lambda case: counts)
    monkeypatch.setattr(scaling_work, "SMALL", ())
    return {
        result.reading: str(result.verdict) for result in run([claim], profile="ci").results if result.claim == claim
    }


def test_the_ratio_is_held_against_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = verdicts(monkeypatch, rows(), "scaling-experiment")
    assert set(found.values()) == {"REFUTED", "SUPPORTED"}
    assert found["repaired"] == "SUPPORTED"
    assert found["keep:linear_algebra=conjugate-gradients"] == "REFUTED"
    # A method that takes a third of the operations of conjugate gradients would bear the text out.
    assert verdicts(monkeypatch, rows(first_order=20 / 3), "scaling-experiment")["as-written"] == "SUPPORTED"
    # One that takes far more than a factorisation refutes the repaired text.
    assert verdicts(monkeypatch, rows(first_order=20_000), "scaling-experiment")["repaired"] == "REFUTED"


def test_the_crossing_is_held_against_what_is_printed_and_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    assert verdicts(monkeypatch, rows(), "scaling-experiment/crossover")["repaired"] == "SUPPORTED"
    # Three tenths of d³ against 312 d²: they cross near 1000.
    near = verdicts(monkeypatch, rows(first_order=260), "scaling-experiment/crossover")
    assert near["choose:linear_algebra=free-block"] == "SUPPORTED"
    assert near["as-written"] == "REFUTED"
    # A factorisation of a thirtieth of the operations is met later than the bound says.
    assert verdicts(monkeypatch, rows(factor=1 / 30), "scaling-experiment/crossover")["repaired"] == "REFUTED"


@pytest.mark.parametrize(("power", "expected"), [(1, ("SUPPORTED", "REFUTED")), (2, ("REFUTED", "SUPPORTED"))])
def test_growth_is_read_off_the_counts(monkeypatch: pytest.MonkeyPatch, power: int, expected: tuple[str, str]) -> None:
    found = verdicts(monkeypatch, rows(power=power), "scaling-experiment/growth")
    assert (found["as-written"], found["repaired"]) == expected


def test_growth_of_the_linear_solve_depends_on_how_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    found = verdicts(monkeypatch, rows(), "scaling-experiment/hessian-growth")
    assert found["repaired"] == "SUPPORTED"
    assert found["as-written"] == "SUPPORTED"  # conjugate gradients
    assert found["choose:linear_algebra=full-cholesky"] == "REFUTED"
    assert found["keep:linear_algebra=conjugate-gradients"] == "REFUTED"


def test_no_rival_grows_linearly(monkeypatch: pytest.MonkeyPatch) -> None:
    found = verdicts(monkeypatch, rows(), "scaling-experiment/super-linear")
    assert set(found.values()) == {"SUPPORTED"}
    linear = tuple(row | {"operations": 50.0 * row["d"]} for row in rows())
    assert set(verdicts(monkeypatch, linear, "scaling-experiment/super-linear").values()) == {"REFUTED"}


def test_a_factorisation_beyond_the_free_coordinates_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = verdicts(monkeypatch, rows(), "scaling-experiment/fair-baseline")
    assert found == {"as-written": "REFUTED", "repaired": "SUPPORTED"}
    assert verdicts(monkeypatch, rows(factor=3.0), "scaling-experiment/fair-baseline")["repaired"] == "REFUTED"
