"""The cost as the run has it: an asserted order where it holds, else about the fitted one, and whether that settled."""

from __future__ import annotations

import pytest

from tests.verify.report.site.story_reports import FELL, HELD, failing, rate, report, result
from verify.evidence.model import Point, RateEvidence
from verify.report.site.frame import SiteFrame
from verify.report.site.living.counted_costs import OUTER_STEPS, Cost, costs, has_settled
from verify.report.site.living.phrases import switches, tabs

SOLVER = next(one for one in switches() if one.field == "inner_solver")
TARGETS = (0.4, 0.2)


def of(*results: object) -> dict[str, Cost]:
    return {one.value: one for one in costs(SiteFrame.of(report(results)), SOLVER, tabs()[-1])}  # type: ignore[arg-type]  # results are made below


def counted(claim: str, reading: str, verdict: object, exponent: float, **more: object) -> object:
    evidence = rate(exponent, "epsilon", TARGETS).model_copy(update=more)
    return result(claim, reading, verdict, exponent, variable="epsilon", evidence=[evidence])  # type: ignore[arg-type]  # a verdict


def test_each_value_is_judged_by_its_statement() -> None:
    found = {one.value: one for one in costs(SiteFrame.of(failing()), SOLVER, tabs()[-1])}
    assert {value: (one.statement, one.reading, one.order) for value, one in found.items()} == {
        "constant-step": ("sfo-complexity", "as-written", -9), "averaged": ("sfo-complexity", "repaired", -9),
        "shared-sample": ("sfo-complexity/shared-sample", "repaired", -5),
    }  # fmt: skip
    assert {value for value, one in found.items() if one.derived} == {"averaged", "shared-sample"}


def test_what_holds_has_the_asserted_order_and_what_fails_about_the_fitted_one() -> None:
    found = of(counted("sfo-complexity", "as-written", FELL, -9.15), counted("sfo-complexity", "repaired", HELD, -8.75))
    assert (found["constant-step"].order, found["constant-step"].derived) == (-9, False)
    assert (found["averaged"].order, found["averaged"].derived) == (-9, True)
    assert "shared-sample" not in found
    fallen = of(counted("sfo-complexity", "repaired", FELL, -10.3))
    assert (fallen["averaged"].order, fallen["averaged"].derived) == (-10, False)


@pytest.mark.parametrize(
    ("settled", "slopes", "says"),
    [(True, (-9.1, -9.2), True), (False, (-9.1, -9.2), False), (True, (-9.2, -9.0), False), (True, (), True)],
)
def test_a_fit_has_settled_only_where_its_last_slope_lies_within_its_interval(
    settled: bool, slopes: tuple[float, ...], says: bool
) -> None:
    fit = RateEvidence(
        quantity="calls", variable="epsilon", points=(Point(at=0.4, measured=1.0),), exponent=-9.15,
        interval=(-9.3, -9.1), settled=settled, local_exponents=slopes,
    )  # fmt: skip
    assert has_settled(fit) is says


def test_steps_stand_only_where_they_were_counted_at_the_same_targets() -> None:
    total = counted("sfo-complexity", "repaired", HELD, -9.0)
    same = of(total, counted(OUTER_STEPS, "repaired", HELD, -3.0))["averaged"]
    assert len(same.steps) == len(same.points) == 2
    assert same.data()["steps"] == [round(steps) for steps in same.steps]
    other = result(
        OUTER_STEPS, "repaired", HELD, -3.0, variable="epsilon", evidence=[rate(-3.0, "epsilon", (0.25, 0.1))]
    )
    assert of(total, other)["averaged"].steps == ()
    assert of(total, counted(OUTER_STEPS, "as-written", HELD, -3.0))["averaged"].steps == ()
