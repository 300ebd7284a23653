"""What several readings share of a point beside a kink is what each of them finds alone."""

from __future__ import annotations

import pytest

from tests.verify.checks.asking import case_of
from verify.checks.bias_bound import kinks

READINGS = ("as-written", "repaired", "choose:dual_term=frozen,weights=map", "choose:dual_term=map,weights=map")
SHARED = (kinks._weights_term, kinks._geometry, kinks._rounding, kinks._gradients_around)


@pytest.mark.parametrize("radius", [None, 0.1])
@pytest.mark.parametrize("instance", ["toy2", "kink"])
def test_readings_one_after_another_find_what_each_finds_alone(instance, radius):
    balls = [kinks._Ball(case_of("bias-bound/uniformity", reading, instance), 0.1, radius) for reading in READINGS]
    alone = []
    for ball in balls:
        for kept in SHARED:
            kept.cache_clear()
        alone.append(str(kinks._worst(ball)))
    assert [str(kinks._worst(ball)) for ball in (*balls, *reversed(balls))] == [*alone, *reversed(alone)]
    assert len(set(alone)) > 1
    assert all(kept.cache_info().hits > 0 for kept in SHARED[:3])
