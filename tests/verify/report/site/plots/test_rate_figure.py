"""A figure's geometry: the limit to the right, up is worse, nothing outside, equal data equal bytes."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verify.report.site.story_reports import ALPHAS, FELL, HELD, comparison, rate, report, result
from verify.evidence.model import Point, RateEvidence
from verify.report.findings.outline import outline
from verify.report.model import Result
from verify.report.site.plots.rate_figure import SPARK, RateFigure, compared, power, rate_figure, spark

_PATH = re.compile(r'<path class="s-(\w+)" d="M([^"]+)"')


def figure_of(written: Result, repaired: Result | None = None) -> RateFigure | None:
    arranged = outline(report([one for one in (written, repaired) if one]))
    (entry,) = (e for e in arranged.statements if e.id == written.claim)
    return rate_figure(entry.named["as-written"], entry.named.get("repaired"))


def lines(svg: str) -> dict[str, list[tuple[float, float]]]:
    return {
        tone: [tuple(map(float, pair.split())) for pair in path.split("L")]  # type: ignore[misc]
        for tone, path in _PATH.findall(svg)
    }


@given(st.floats(-6, 6), st.floats(-6, 6))
def test_lines_stay_inside_and_rise_where_the_quantity_grows(written: float, repaired: float) -> None:
    figure = figure_of(
        result("bias-bound/T3", "as-written", FELL, written), result("bias-bound/T3", "repaired", HELD, repaired)
    )
    assert figure is not None
    (wide, tall), drawn = SPARK, lines(spark(figure))
    assert drawn.keys() == {"bad", "good", "claim"}
    for path in drawn.values():
        assert all(0 <= x <= wide and 0 <= y <= tall for x, y in path)
        assert [x for x, _ in path] == sorted(x for x, _ in path)
    (_, start), *_, (_, end) = drawn["bad"]
    if abs(written) > 0.1:
        assert end == start or (end < start) == (written < 0)


def test_the_claimed_line_starts_at_the_first_point_and_has_the_claimed_slope() -> None:
    figure = figure_of(result("bias-bound/T1", "as-written", FELL, -1.0))
    assert figure is not None
    (bad, claim) = figure.series
    assert claim.points[0] == bad.points[0] == (0.2, pytest.approx(10.0))
    (a, low), (b, high) = claim.points
    assert math.log(high / low) / math.log(b / a) == pytest.approx(3)


def test_points_below_the_floor_are_left_out() -> None:
    drowned = Point(at=1e-6, measured=5.0, usable=False)
    evidence = rate(-1.0).model_copy(update={"points": (*rate(-1.0).points, drowned)})
    figure = figure_of(result("bias-bound/T1", "as-written", FELL, -1.0, evidence=[evidence]))
    assert figure is not None
    assert [at for at, _ in figure.series[0].points] == list(ALPHAS)


def test_of_a_sweep_of_two_variables_one_stays_fixed() -> None:
    grid = [(0.4, 0.2, 1.0), (0.2, 0.2, 8.0), (0.4, 0.1, 2.0)]

    def over(variable: str, index: int) -> RateEvidence:
        points = tuple(Point(at=row[index], measured=row[2]) for row in grid)
        return RateEvidence(
            quantity="calls", variable=variable, points=points, exponent=-3.0, interval=(-3.0, -3.0)
        )  # fmt: skip

    made = result(
        "goldstein-convergence", "as-written", HELD, -3.0, evidence=[over("epsilon", 0), over("goldstein_radius", 1)]
    )
    figure = figure_of(made)
    assert figure is not None
    assert figure.series[0].points == ((0.4, 1.0), (0.2, 8.0))


def test_a_repaired_line_above_says_where_it_crosses() -> None:
    figure = figure_of(
        result("bias-bound/T1", "as-written", FELL, -4.0, evidence=[rate(-4.0)]),
        result("bias-bound/T1", "repaired", HELD, -1.0, evidence=[_times(rate(-1.0), 1e9)]),
    )
    assert figure is not None
    assert figure.crossing == pytest.approx(1e9 ** (-1 / 3))
    below = figure_of(result("bias-bound/T1", "as-written", FELL, -4.0), result("bias-bound/T1", "repaired", HELD, 1.0))
    assert below is not None
    assert below.crossing is None


def test_what_is_counted_is_told_where_it_is_not_the_same() -> None:
    calls = rate(-4.0).model_copy(update={"quantity": "calls"})
    written = result("bias-bound/T1", "as-written", FELL, -4.0, evidence=[calls])
    figure = figure_of(written, result("bias-bound/T1", "repaired", HELD, 1.0))
    assert figure is not None
    assert figure.counted == "calls as written, T₃ repaired"
    same = figure_of(result("bias-bound/T1", "as-written", FELL, -4.0), result("bias-bound/T1", "repaired", HELD, 1.0))
    assert same is not None
    assert same.counted == ""


def _times(evidence: RateEvidence, factor: float) -> RateEvidence:
    points = tuple(point.model_copy(update={"measured": factor * point.measured}) for point in evidence.points)
    return evidence.model_copy(update={"points": points})


def test_the_same_data_give_the_same_bytes() -> None:
    pair = [figure_of(result("bias-bound/T3", "as-written", FELL, -2.0)) for _ in range(2)]
    assert pair[0] is not None
    assert pair[1] is not None
    assert spark(pair[0]) == spark(pair[1])


@pytest.mark.parametrize(("exponent", "shown"), [(-2.0000001, "−2"), (0.0, "0"), (-4.0201, "−4.02"), (0.75, "0.75")])
def test_exponents_are_whole_where_they_are(exponent: float, shown: str) -> None:
    assert power(exponent) == shown


def test_comparisons_stand_beside_their_bounds() -> None:
    made = report([
        result("inner-cost/primal-dual-sign", "as-written", FELL, evidence=[comparison(3e36, "==", 0.0)]),
        result("inner-cost/primal-dual-sign", "repaired", HELD, evidence=[comparison(0.0, "==", 0.0)]),
    ])  # fmt: skip
    (entry,) = (e for e in outline(made).statements if "/" in e.id)
    drawing = compared(entry.named["as-written"], entry.named["repaired"])
    assert drawing is not None
    assert drawing.count("p-bad") == drawing.count("p-good") == 1
    assert "3 × 10³⁶ ≠ 0" in drawing


def test_nothing_swept_is_no_figure() -> None:
    made = result("bias-bound/T3", "as-written", FELL, evidence=[comparison(1.0, "<=", 0.5)])
    assert figure_of(made) is None
