"""The comparison of slopes: what is drawn, in which colour, and what its caption says."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec.claims import Assertion, Bound
from tests.verify.report.conftest import sweep
from verify.evidence.model import Point, RateEvidence
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.model import Result
from verify.report.site.plots.slope_plot import Figure, figure
from verify.report.site.words.cell_numbers import CellNumber, number_of
from verify.verdict import Verdict


def read(reading: str, rate: RateEvidence, verdict: Verdict, claim: str = "1") -> tuple[ReadingOutline, CellNumber]:
    bound = Bound(quantity="q", exponents={rate.variable: claim})
    result = Result(claim="c", reading=reading, instance="toy1", verdict=verdict, sentence="", measured=rate.exponent,
                    interval=(rate.exponent, rate.exponent), rung="numeric", evidence=(rate,))  # fmt: skip
    found = ReadingOutline("c", reading, str(verdict), "", Assertion(text="t", bound=bound), (result,), {})
    return found, number_of(found, result)


def drawn(*readings: tuple[ReadingOutline, CellNumber]) -> Figure:
    made = figure(readings, "Bias & <co>")
    assert made is not None
    ElementTree.fromstring(made.svg)
    return made


def test_both_readings_the_claim_and_their_slopes_are_named() -> None:
    made = drawn(read("as-written", sweep(-2.0), Verdict.REFUTED), read("repaired", sweep(2.0), Verdict.SUPPORTED))
    labels = re.findall(r"<text class=\"t-\w+\"[^>]*>(.*?)</text>", made.svg)
    words = {re.sub(r"<[^>]*>|\u200b", "", label) for label in labels}
    assert words == {"as written ≈ α−2", "repaired ≈ α2", "claimed α"}
    assert made.svg.count('class="s-claim"') == 1
    assert 'class="s-bad"' in made.svg
    assert 'class="s-good"' in made.svg
    assert "Bias &amp; &lt;co&gt;" in made.svg
    assert "Dashed: the claimed slope, through the first point as written." in made.caption


def test_an_exact_slope_is_told_from_a_fitted_one() -> None:
    exact = sweep(-2.0).model_copy(update={"coefficient": 1.0})
    made = drawn(read("as-written", exact, Verdict.REFUTED), read("repaired", sweep(2.0), Verdict.SUPPORTED))
    words = re.sub(r"<[^>]*>|\u200b", "", made.svg)
    assert "as written = α−2" in words
    assert "repaired ≈ α2" in words


def test_a_narrow_range_has_its_ends_for_ticks() -> None:
    points = tuple(Point(at=at, measured=at**-2) for at in (0.27, 0.29, 0.31))
    made = drawn(read("as-written", sweep(-2.0).model_copy(update={"points": points}), Verdict.REFUTED))
    ticks = re.findall(r'<text class="tick"[^>]*text-anchor="middle">([^<]*)<', made.svg)
    assert sorted(ticks) == ["0.27", "0.31"]


def test_what_grows_as_the_variable_shrinks_rises_to_the_right() -> None:
    made = drawn(read("as-written", sweep(-2.0), Verdict.REFUTED))
    path = re.findall(r'class="s-bad" d="M([^"]*)"', made.svg)[0]
    spots = [tuple(map(float, spot.split())) for spot in path.split("L")]
    assert [x for x, _ in spots] == sorted(x for x, _ in spots)
    assert [y for _, y in spots] == sorted((y for _, y in spots), reverse=True)
    assert "α shrinks →" in made.svg


def test_points_drowned_in_rounding_are_left_out_and_counted() -> None:
    made = drawn(read("repaired", sweep(2.0, floor=0.01), Verdict.SUPPORTED))
    assert made.svg.count("<circle") == 7
    assert "2 points left out" in made.caption


def test_points_that_share_a_place_are_no_curve() -> None:
    points = tuple(Point(at=at, measured=value) for at in (0.2, 0.1) for value in (1 / at, 2 / at))
    rate = sweep(-1.0).model_copy(update={"points": points})
    made = drawn(read("as-written", rate, Verdict.REFUTED))
    (path,) = re.findall(r'class="s-bad" d="M([^"]*)"', made.svg)
    assert len(path.split("L")) == 2
    assert made.svg.count('class="p-bad"') == 4


def test_labels_keep_their_distance() -> None:
    made = drawn(read("as-written", sweep(1.0), Verdict.SUPPORTED), read("repaired", sweep(1.0), Verdict.SUPPORTED))
    heights = sorted(float(y) for y in re.findall(r'<text class="t-\w+" x="496" y="([\d.]+)"', made.svg))
    assert len(heights) == 3
    assert all(b - a >= 15.9 for a, b in pairwise(heights))


@pytest.mark.parametrize("verdict", [Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE, Verdict.VACUOUS])
def test_what_decides_nothing_has_no_figure(verdict: Verdict) -> None:
    assert figure([read("as-written", sweep(1.0), verdict)], "t") is None
    assert figure([], "t") is None


@settings(max_examples=40)
@given(
    points=st.lists(st.tuples(st.floats(1e-200, 1e200), st.floats(1e-200, 1e200)), min_size=2, max_size=6),
    exponent=st.floats(-40, 40), claim=st.integers(-9, 9),
)  # fmt: skip
def test_any_numbers_stay_inside_the_picture(points: list[tuple[float, float]], exponent: float, claim: int) -> None:
    made = tuple(Point(at=at, measured=measured) for at, measured in points)
    rate = RateEvidence(quantity="q", variable="alpha", points=made, exponent=exponent, interval=(exponent, exponent))
    shown = drawn(read("as-written", rate, Verdict.REFUTED, str(claim)))
    assert "nan" not in shown.svg
    assert "inf" not in shown.svg.replace("inflection", "")
    for number in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", " ".join(re.findall(r' d="([^"]*)"', shown.svg))):
        assert -20 <= float(number) <= 660
