"""Panels show points, slopes and floors in the page's colours, and are small."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.verify.report.conftest import sweep
from verify.evidence.model import Point, RateEvidence
from verify.report.figures.plots import RatePlots, stylesheet


def rate(points: list[tuple[float, float]], exponent: float = 1.0, **more: object) -> RateEvidence:
    made = tuple(Point(at=at, measured=measured) for at, measured in points)
    return RateEvidence(
        quantity="q", variable="alpha", points=made, exponent=exponent, interval=(exponent, exponent), **more
    )


@pytest.fixture(scope="module")
def plots() -> RatePlots:
    return RatePlots()


def test_one_mark_a_point_and_hollow_ones_beyond_the_floor(plots: RatePlots) -> None:
    made = plots.panel(sweep(2.0, floor=0.01), 1.0)
    (used,) = re.findall(r'<path class="used" d="((?:M[\d.]+ [\d.]+h0)+)"', made)
    assert used.count("M") == 7
    assert made.count('<circle class="excluded"') == 2
    assert "stroke-linecap: round" in _rule("used")
    assert "var(--paper)" in _rule("excluded")


def test_tick_labels_are_left_as_they_are(plots: RatePlots) -> None:
    made = plots.panel(rate([(0.1, 0.05), (0.05, 0.04), (0.025, 0.03)], 0.3))
    axes = [re.findall(r"<text[^>]*>([^<]*)</text>", axis) for axis in re.findall(r"<g .*?</g>", made)]
    assert {"0.05", "0.1"} <= set(axes[0])
    assert all(len(set(labels)) == len(labels) for labels in axes)


def _rule(name: str) -> str:
    found = re.search(rf"\.plot \.{name} {{ (.*) }}", stylesheet())
    assert found is not None
    return found[1]


def test_is_small_valid_and_needs_no_colour_of_its_own(plots: RatePlots) -> None:
    made = plots.panel(sweep(-2.0), 1.0)
    assert len(made) < 1200
    ElementTree.fromstring(made)
    assert "#0" not in stylesheet()
    assert "font-family" not in stylesheet()
    assert not re.search(r"style=|id=|clip-path", made)


def test_every_class_has_a_rule(plots: RatePlots) -> None:
    made = plots.panel(sweep(2.0, floor=0.01), 1.0)
    for name in set(re.findall(r'class="(\w+)"', made)) - {"plot"}:
        assert _rule(name)


def test_the_claimed_line_appears_only_with_a_claim(plots: RatePlots) -> None:
    def claims(made: str) -> int:
        return made.count('class="claim"')

    assert claims(plots.panel(sweep(2.0), 1.0)) == 1
    assert claims(plots.panel(sweep(2.0), None)) == 0
    assert claims(plots.panel(sweep(2.0), math.inf)) == 0


def test_words_say_what_the_drawing_shows(plots: RatePlots) -> None:
    made = plots.panel(sweep(2.0, floor=0.01), 1.0)
    assert "norm of the bias against α, log–log" in made


def test_an_exact_zero_has_no_logarithm(plots: RatePlots) -> None:
    assert plots.panel(rate([(0.1, 0.0), (0.01, 0.0)], math.inf)) is None
    assert plots.panel(rate([])) is None


def test_one_panel_leaves_nothing_behind_in_the_next() -> None:
    fresh, used = RatePlots(), RatePlots()
    used.panel(sweep(-3.0, floor=0.05), 1.0)
    first, second = fresh.panel(sweep(1.0), None), used.panel(sweep(1.0), None)
    assert first == second


def test_the_limit_is_marked_on_its_side(plots: RatePlots) -> None:
    assert "← α" in plots.panel(sweep(1.0))
    counts = RateEvidence(
        quantity="variance", variable="N_g", points=(Point(at=1, measured=1), Point(at=64, measured=1 / 64)),
        exponent=-1.0, interval=(-1.0, -1.0),
    )  # fmt: skip
    assert '>N<tspan dy="2" font-size="75%">g</tspan><tspan dy="-2"> →</tspan></text>' in plots.panel(
        counts, -1.0, toward="infinity"
    )


@settings(max_examples=30)
@given(
    points=st.lists(st.tuples(st.floats(1e-300, 1e300), st.floats(0, 1e300)), min_size=1, max_size=5),
    exponent=st.floats(-50, 50),
    claimed=st.none() | st.floats(-50, 50),
)
def test_any_numbers_give_a_panel(
    plots: RatePlots, points: list[tuple[float, float]], exponent: float, claimed: float | None
) -> None:
    made = plots.panel(rate(points, exponent), claimed)
    assert (made is None) == all(measured <= 0 for _, measured in points)
    if made is not None:
        ElementTree.fromstring(made)
        assert "nan" not in made.split("class=", 1)[1]
