"""What of a number rounding may move, as a record and a merge both have it."""

from __future__ import annotations

import pytest

from tests import kept
from verify.campaign.recheck.recorded_results import RecheckRow
from verify.campaign.store.contradictions import contradiction
from verify.evidence.model import Point, RateEvidence
from verify.report.model import Result

ALPHA = 2.0**-8
"""2⁻⁵² α⁻⁴ is 2⁻²⁰ there, about a millionth."""


@pytest.fixture(scope="module")
def some() -> Result:
    return kept.run(["variance-bound"], instances=["toy1"], profile="smoke").results[0]


def with_point(result: Result, measured: float, uncertainty: float = 1e-12, at: float = ALPHA) -> Result:
    points = (Point(at=0.25, measured=4.0, uncertainty=1e-12), Point(at=at, measured=measured, uncertainty=uncertainty))
    rate = RateEvidence(quantity="q", variable="alpha", points=points, exponent=1.0, interval=(0.9, 1.1),
                        rung="statistical", error_rate=1e-9, samples=100)  # fmt: skip
    return result.model_copy(update={"evidence": (rate,), "counterexample": None, "pictures": ()})


@pytest.mark.parametrize(
    ("changed", "at", "is_same"),
    [
        ({"measured": 1.0 + 2.0**-22}, ALPHA, True),
        ({"measured": 1.0 + 2.0**-22, "uncertainty": 3e-9}, ALPHA, True),
        ({"measured": 1.0 + 2.0**-16}, ALPHA, False),
        ({"measured": 1.0 + 2.0**-22, "uncertainty": 1e-3}, ALPHA, False),
        ({"measured": 1.0 + 2.0**-20}, 0.125, False),
    ],
)
def test_a_point_of_a_sweep_moves_by_what_cancels_in_it(
    some: Result, changed: dict[str, float], at: float, is_same: bool
) -> None:
    there, here = with_point(some, 1.0, at=at), with_point(some, **{"measured": 1.0, "at": at} | changed)
    assert (not list(RecheckRow.of([there]).changed(here))) == is_same
    if is_same:
        assert contradiction(there, here) == ""
