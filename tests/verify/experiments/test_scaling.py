"""Which dimensions are run, and that those left out are not spoken of as run."""

from __future__ import annotations

import pytest

from verify.experiments.scaling import dimensions, largest_within, run
from verify.experiments.work_cells import Bench


@pytest.mark.parametrize(("gigabytes", "largest"), [(0, 400), (1, 2000), (5, 4000), (10, 4000), (11, 8000), (99, 8000)])
def test_memory_decides_the_largest_dimension(gigabytes: float, largest: int) -> None:
    assert largest_within(1e9 * gigabytes) == largest


def test_a_run_ends_at_the_largest_dimension_asked_for() -> None:
    assert dimensions("whole", 1000) == (100, 200, 400, 1000)
    found = run(Bench(None, {}), "quick", 0, largest=400)
    assert found.setting["dimensions"] == [100, 200, 400]
    assert {row["d"] for row in found.rows if "d" in row} == {100, 200, 400}
    first = {row["method, over F2CSA"]: row["operations, d = 400, condition 10"] for row in found.rows[:6]}
    assert first["F2CSA"] == 1.0
    assert first["implicit, prepared"] == min(first.values())  # type: ignore[type-var]
    assert found.lead.startswith("A rival takes the fewest operations")
    assert not any(plot.marks for plot in found.plots)
    (headline,) = (f for f in found.findings if f.statement == "scaling-experiment")
    assert "carried on by the powers of d" in headline.sentence
