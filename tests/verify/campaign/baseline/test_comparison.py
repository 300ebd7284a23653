"""What counts as worse, what as better, and what as no difference at all."""

from __future__ import annotations

import math

import pytest

from tests.verify.campaign.baseline.reports import exact, level, rate, report, result
from verify.campaign.baseline.comparison import Comparison, compare
from verify.campaign.baseline.judging import judge
from verify.campaign.baseline.model import Baseline
from verify.evidence.model import RateEvidence
from verify.report.report_files import Report
from verify.verdict import Verdict

S, R, U, N, V = Verdict.SUPPORTED, Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE, Verdict.VACUOUS


def against(old: Report, new: Report) -> Comparison:
    return judge(new, Baseline.of(old))[1]


@pytest.mark.parametrize(
    ("reading", "old", "new", "worse"),
    [
        ("repaired", S, R, True),
        ("repaired", S, U, True),
        ("repaired", S, N, True),
        ("repaired", U, R, True),
        ("repaired", U, S, False),
        ("repaired", R, S, False),
        ("repaired", N, S, False),
        ("as-written", R, S, True),
        ("as-written", S, R, True),
        ("as-written", R, U, True),
        ("as-written", U, R, False),
        ("as-written", V, R, True),
        ("only:dual_term", R, S, True),
    ],
)
def test_a_changed_verdict_is_a_finding_unless_it_is_better(
    reading: str, old: Verdict, new: Verdict, worse: bool
) -> None:
    found = against(report(result(verdict=old, reading=reading)), report(result(verdict=new, reading=reading)))
    (change,) = found.changes
    assert (change.worse, change.kind) == (worse, "verdict")
    assert change.line.startswith(f"bias-bound/T3 [{reading}] on toy1: {new}, on record {old}")
    assert found.exit_code == worse


def test_a_constant_ten_per_cent_off_is_a_finding_with_its_numbers() -> None:
    found = against(report(result(rate(1.0))), report(result(rate(1.1))))
    (line,) = found.findings
    assert "bias at alpha = " in line
    assert "off by 10 %, allowed 0.011 %; so are 4 other points of 5" in line


def test_a_smaller_quantity_under_an_upper_bound_is_better_and_under_a_refuted_one_a_drift() -> None:
    assert against(report(result(rate(1.0))), report(result(rate(0.9)))).findings == ()
    (line,) = against(report(result(rate(1.0))), report(result(rate(0.9)))).reported
    assert line.endswith("(improved)")
    old, new = (report(result(rate(c), verdict=R, reading="as-written")) for c in (1.0, 0.9))
    assert len(against(old, new).findings) == 1


def test_exponents_drift_when_their_intervals_do_not_meet() -> None:
    def of(power: float) -> Report:
        return report(result(rate(1.0, power, points=(), rung="statistical", error_rate=1e-9)))

    assert against(of(2.0), of(1.985)).changes == ()
    (worse,) = against(of(2.0), of(1.9)).findings
    assert "exponent of bias in alpha is 1.9 [1.89, 1.91], on record 2 [1.99, 2.01]" in worse
    assert against(of(2.0), of(2.1)).findings == ()  # a better order than recorded


@pytest.mark.parametrize("change", [{"coefficient": 1.1}, {"constant": 1.3}, {"end": 0.125}])
def test_exact_constants_and_proven_bounds_may_not_get_worse(change: dict[str, float]) -> None:
    worse = against(report(result(exact())), report(result(exact(**change))))
    better = against(report(result(exact(**change))), report(result(exact())))
    assert (len(worse.findings), len(worse.reported)) == (1, 0)
    assert (len(better.findings), len(better.reported)) == (0, 1)


def test_evidence_that_is_weaker_or_gone_is_lost() -> None:
    both = report(result(exact(), level(), rung="certified"))
    measured = report(result(exact(), level()))
    assert against(both, measured).findings[0].endswith("evidence is numeric, on record certified (weaker)")
    assert against(measured, both).reported[0].endswith("evidence is certified, on record numeric (stronger)")
    (line,) = against(both, report(result(exact(), rung="certified"))).findings
    assert line.endswith("variance is no longer compared")
    (line,) = against(both, report(result(exact(bounds=()), level(), rung="certified"))).findings
    assert line.endswith("is gone")
    few = rate(points=rate().points[:2])
    assert "2 usable points of 2, on record 5 of 5" in against(report(result(rate())), report(result(few))).findings[0]


def test_a_vanished_result_is_a_finding_and_a_new_one_is_not_unless_it_fails() -> None:
    one, two = result(), result(instance="toy2")
    (line,) = against(report(one, two), report(one)).findings
    assert line == "bias-bound/T3 [repaired] on toy2: no longer in the run; on record SUPPORTED"
    assert against(report(one), report(one, two)).findings == ()
    assert against(report(one), report(one, two)).reported[0].endswith("SUPPORTED, new: nothing on record")
    assert against(report(one), report(one, result(instance="toy2", verdict=R))).exit_code == 1
    other_profile = against(report(one, two), report(one, profile="smoke"))
    assert other_profile.findings == ()
    assert "recorded results that this run lacks are not missed (1 of them)" in other_profile.notes[0]


def test_a_fault_is_no_finding() -> None:
    judged, found = judge(report(result(verdict=None)), Baseline.of(report(result())))
    assert (found.findings, found.exit_code, judged.exit_code) == ((), 3, 3)
    assert found.faults == ("bias-bound/T3 [repaired] on toy1: it crashed",)


def test_statistical_levels_drift_when_their_intervals_do_not_meet() -> None:
    def of(measured: float, **more: object) -> Report:
        given = {"rung": "statistical", "error_rate": 1e-9, "tolerance": 0.1} | more
        return report(result(level(measured, **given)))

    assert against(of(1.0), of(1.19)).changes == ()
    assert len(against(of(1.0), of(1.25)).findings) == 1
    assert against(of(1.0), of(0.75)).findings == ()
    # Without an error rate there is no interval to speak of.
    assert against(of(0.2, error_rate=None), of(0.9, error_rate=None)).changes == ()


def test_a_worst_case_over_random_tries_is_compared_at_the_same_seed_only() -> None:
    old = report(result(level(1.0)))
    assert len(against(old, report(result(level(1.3)))).findings) == 1
    assert against(old, report(result(level(1.02)))).changes == ()
    other = against(old, report(result(level(1.3)), seed=2))
    assert other.changes == ()
    assert "worst cases over random tries are compared by verdict only (1 of them)" in other.notes[0]


def test_numbers_that_measure_rounding_only_have_to_hold() -> None:
    old, new = (report(result(level(v, predicted=64.0, quantity="difference, in roundings"))) for v in (0.0, 30.0))
    assert against(old, new).changes == ()


def test_support_counts_only_where_it_breaks() -> None:
    held, broken = (report(result(level(v, "==", 1.0, tolerance=0.1, role="support"))) for v in (1.05, 1.5))
    assert against(held, broken).findings[0].endswith("1.5 == 1 within 0.1 fails, on record 1.05 == 1 within 0.1 holds")
    assert against(broken, held).findings == ()
    assert against(held, report(result())).changes == ()


def test_swept_values_that_were_measured_themselves_are_compared_as_power_laws() -> None:
    def at(shift: float, constant: float) -> Report:
        points = tuple(
            p.model_copy(update={"at": p.at * shift, "measured": constant * (p.at * shift) ** 2, "uncertainty": 0.0})
            for p in rate().points
        )
        return report(result(rate(points=points, rung="statistical", error_rate=1e-9, interval=(1.99, 2.01))))

    assert against(at(1.0, 1.0), at(1.05, 1.0)).changes == ()
    assert "off by +10.0%" in against(at(1.0, 1.0), at(1.05, 1.1)).findings[0]


def test_a_count_may_change_by_one_but_not_by_ten_per_cent() -> None:
    def counts(*values: float) -> Report:
        points = tuple(p.model_copy(update={"measured": v, "uncertainty": 0.0}) for p, v in zip(rate().points, values,
                       strict=False))  # fmt: skip
        return report(result(rate(points=points)))

    assert against(counts(811.0, 1344.0), counts(812.0, 1343.0)).changes == ()
    assert len(against(counts(811.0, 1344.0), counts(900.0, 1344.0)).findings) == 1
    assert len(against(counts(1.0, 2.0), counts(2.0, 2.0)).findings) == 1


def test_exactly_zero_is_an_exponent_too() -> None:
    zero = report(result(rate(0.0, points=(), exponent=math.inf, interval=(math.inf, math.inf))))
    assert against(zero, zero).changes == ()
    assert len(against(zero, report(result(rate()))).findings) == 1


def test_another_subject_need_not_offer_every_stage() -> None:
    missing = result(verdict=N, rung=None)
    assert len(against(report(result()), report(missing)).findings) == 1
    other = against(report(result()), report(missing, subject="another"))
    assert other.findings == ()
    assert any("does not offer" in note for note in other.notes)


def test_the_report_is_marked_with_what_came_out() -> None:
    old = report(result(rate(1.0)), result(instance="toy2", verdict=U), result(instance="a-zero"))
    new = report(result(rate(1.1)), result(instance="toy2"), result(instance="a-zero", verdict=U))
    judged, _ = judge(new, Baseline.of(old))
    assert [r.expected for r in judged.results] == [True, None, False]
    assert (len(judged.findings), judged.exit_code) == (2, 1)
    assert any("improved" in line for line in judged.changes)


def test_comparing_is_symmetric_where_nothing_differs() -> None:
    one = Baseline.of(report(result(rate(), exact(), level())))
    found = compare(one, one)
    assert (found.changes, found.notes, found.compared) == ((), (), 1)
    assert found.numbers >= 5


def test_a_leading_coefficient_that_is_gone_is_lost_evidence() -> None:
    old, new = (report(result(exact(coefficient=c), rung="certified")) for c in (1.0, None))
    (line,) = against(old, new).findings
    assert line.endswith("leading coefficient of bias is gone, on record 1")


def test_evidence_that_no_longer_decides_is_lost() -> None:
    old = report(result(rate(), level()))
    (line,) = against(old, report(result(rate(), level(role="support")))).findings
    assert line.endswith("variance no longer decides the verdict")
    (line,) = against(old, report(result(rate(role="support"), level()))).findings
    assert line.endswith("bias no longer decides the verdict")


def test_weaker_evidence_of_one_number_is_a_finding_where_the_result_hides_it() -> None:
    strong, weak = level(rung="certified"), level(rung="numeric")
    (line,) = against(report(result(rate(), strong)), report(result(rate(), weak))).findings
    assert line.endswith("evidence of variance is numeric, on record certified (weaker)")
    assert against(report(result(rate(), weak)), report(result(rate(), strong))).findings == ()


@pytest.mark.parametrize("relation", [">=", "=="])
def test_another_relation_is_another_check(relation: str) -> None:
    new = report(result(level(2.0, relation, 2.0)))
    (line,) = against(report(result(level(2.0, "<=", 2.0))), new).findings
    assert line.endswith(f"variance is compared by {relation}, on record by <=")


def test_a_looser_yardstick_is_a_finding_and_a_stricter_one_better() -> None:
    old = report(result(level(1.0, "<=", 2.0)))
    (line,) = against(old, report(result(level(1.0, "<=", 20.0)))).findings
    assert "variance is held against 20, on record against 2: off by 900 %, allowed 5 %" in line
    found = against(old, report(result(level(1.0, "<=", 1.5))))
    assert found.findings == ()
    assert len(found.reported) == 1
    (line,) = against(old, report(result(level(1.0, "<=", 2.0, tolerance=0.5)))).findings
    assert line.endswith("tolerance of variance is 0.5, on record 0")


def test_a_value_that_is_no_longer_finite_is_a_finding() -> None:
    old = report(result(level(3.0, "<=", 2.0), verdict=R, reading="as-written"))
    (line,) = against(old, report(result(level(math.inf, "<=", 2.0), verdict=R, reading="as-written"))).findings
    assert line.endswith("variance is inf, on record 3")
    assert against(old, old).findings == ()


def moved(item: RateEvidence, factor: float, **more: float) -> RateEvidence:
    points = tuple(p.model_copy(update={"at": p.at * factor} | more) for p in item.points)
    return item.model_copy(update={"points": points})


def test_points_moved_by_rounding_are_the_same_points() -> None:
    old = report(result(rate()))
    assert len(against(old, report(result(moved(rate(1.1), 1 + 1e-9)))).findings) == 1
    assert against(old, report(result(moved(rate(), 1 + 1e-9)))).findings == ()


def test_sweeps_without_a_common_point_are_compared_in_the_middle() -> None:
    old = report(result(rate(1.0, uncertainty=1e-9)))
    shifted = moved(rate(1.21), 1.1)  # the same law, measured elsewhere
    assert against(old, report(result(shifted))).findings == ()
    (line,) = against(old, report(result(moved(rate(2.0), 1.1)))).findings
    assert "allowed by the intervals a factor" in line


def test_a_point_that_is_not_finite_is_not_usable() -> None:
    points = tuple(p.model_copy(update={"measured": math.inf}) for p in rate().points[:3])
    new = rate().model_copy(update={"points": (*points, *rate().points[3:])})
    (line,) = against(report(result(rate())), report(result(new))).findings
    assert line.endswith("bias has 2 usable points of 5, on record 5 of 5")
