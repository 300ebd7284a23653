"""Pictures of curves: every series looks its own, marks keep apart, legends can be read."""

from __future__ import annotations

import re

import pytest

from verify.evidence.charts import Mark, Plot, Series
from verify.experiments.scaling import PRINTED
from verify.report.drawn_charts import HEIGHT, LEGEND, PALETTE, pictures


def plot(count: int, *, marks: tuple[Mark, ...] = ()) -> Plot:
    series = tuple(Series(name=f"method {k}", x=(1.0, 2.0), y=(1.0 + k, 2.0 + k)) for k in range(count))
    return Plot(title="Work", x_label="d", y_label="operations", series=series, log_y=True, marks=marks)


def drawn(made: Plot) -> str:
    return str(pictures([made], "salt")[0][1])


@pytest.mark.parametrize("count", [2, 10])
def test_no_two_series_share_a_colour(count: int) -> None:
    picture = drawn(plot(count))
    for colour in PALETTE[:count]:
        assert f"stroke: {'var(--ink)' if colour == '#010101' else colour}" in picture
    assert len(set(PALETTE)) == len(PALETTE) >= 11


def test_a_crowd_has_a_legend_below_that_can_be_read() -> None:
    picture = drawn(plot(10))
    height = re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', picture)
    assert height is not None
    assert float(height[1]) > HEIGHT + 5 * LEGEND
    assert f"{LEGEND:g}px" in picture
    assert "method 9" in picture


def test_marks_at_one_place_have_their_texts_on_either_side() -> None:
    picture = drawn(plot(2, marks=PRINTED))
    place = {
        text: float(y)
        for y, text in re.findall(r'y="([\d.]+)"[^>]*>([^<]* s)<', picture)
        if "DSBLO" in text or "SSIGD" in text
    }
    assert {(mark.y, mark.text) for mark in PRINTED} >= {(22.6, "DSBLO 22.6 s"), (22.0, "SSIGD 22.0 s")}
    assert place["SSIGD 22.0 s"] - place["DSBLO 22.6 s"] > LEGEND
