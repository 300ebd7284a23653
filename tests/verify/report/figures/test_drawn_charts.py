"""Pictures of curves: every series looks its own, marks keep apart, legends can be read."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from verify.evidence.charts import Mark, Plot, Series
from verify.report.figures.drawn_charts import HEIGHT, LEGEND, PALETTE, pictures, spread


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


PRINTED = tuple(Mark(x=4000, y=y, text=text) for y, text in
                ((7.7, "F2CSA 7.7 s"), (22.6, "DSBLO 22.6 s"), (22.0, "SSIGD 22.0 s")))  # fmt: skip


def test_marks_at_one_place_have_their_texts_one_above_the_other() -> None:
    picture = drawn(plot(2, marks=PRINTED))
    place = {text: float(y) for y, text in re.findall(r'y="([\d.]+)"[^>]*>([^<]* s)<', picture)}
    heights = sorted(place[mark.text] for mark in PRINTED)
    assert min(b - a for a, b in pairwise(heights)) > LEGEND


def test_direct_labels_stand_at_their_curves_apart_and_in_place_of_a_legend() -> None:
    series = tuple(Series(name=f"method {k}", x=(1.0, 2.0), y=(1.0, 2.0 + k / 100)) for k in range(6))
    made = Plot(title="Work", x_label="d", y_label="operations", series=series)
    picture = str(pictures([made], "salt", direct=True)[0][1])
    heights = sorted(float(y) for y in re.findall(r'y="([\d.]+)"[^>]*>method', picture))
    assert len(heights) == 6  # once each: no legend beside
    assert min(b - a for a, b in pairwise(heights)) > LEGEND


def test_labels_that_touch_are_moved_as_little_as_it_takes() -> None:
    assert spread([0.1, 0.5], 0.05) == [0.1, 0.5]
    assert spread([0.5, 0.5, 0.9], 0.1) == pytest.approx([0.45, 0.55, 0.9])
    moved = spread([0.1, 0.12, 0.2, 0.21], 0.1)
    assert min(b - a for a, b in pairwise(moved)) >= 0.1 - 1e-12
    assert sum(moved) == pytest.approx(0.63)
