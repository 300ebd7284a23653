from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import verify
from spec import InvalidInputError
from spec.claims import find
from tests import kept
from verify.campaign.baseline.storage import load_report
from verify.campaign.plan import plan
from verify.checks.measuring.case import PROFILES, find_profile
from verify.subjects import Call, ReferenceSubject
from verify.verdict import Verdict

LONGEST = ("convergence-experiment", "scaling-experiment", "inner-loop-remark")
"""Half of a smoke run's time; a whole run holds them against the record."""
QUICK = {"profile": "smoke", "instances": ["toy1"]}


def without_times(report):
    plain = report.model_dump(mode="json")
    plain.pop("seconds")
    for result in plain["results"]:
        result.pop("seconds")
    return json.dumps(plain, sort_keys=True)


def test_the_same_seed_gives_the_same_report_for_one_worker_and_for_two():
    chosen = ["bias-bound/T3", "variance-bound/per-sample", "variance-bound/f-noise-only"]
    one = verify.run(chosen, profile="smoke", seed=7, jobs=1)
    two = verify.run(chosen, profile="smoke", seed=7, jobs=2)
    assert without_times(one) == without_times(two)
    other = verify.run(chosen[1:], profile="smoke", seed=8, jobs=1, instances=["toy1"])
    keys = [result.key for result in other.results]
    assert [r.measured for r in one.results if r.key in keys] != [r.measured for r in other.results]


def test_a_result_does_not_depend_on_what_else_is_run():
    alone = verify.run(["variance-bound/per-sample"], **QUICK)
    among = verify.run(["variance-bound/f-noise-only", "variance-bound/per-sample"], **QUICK)
    (a,) = [r for r in alone.results if r.reading == "repaired"]
    (b,) = [r for r in among.results if r.reading == "repaired" and r.claim == a.claim]
    assert a.measured == b.measured


def test_a_claim_brings_its_steps_and_each_choice_is_isolated():
    tasks = plan(["bias-bound"], ["as-written", "repaired"], [], find_profile("ci"), "reference", 0)
    assert {t.claim for t in tasks} >= {"bias-bound", "bias-bound/T1", "bias-bound/T2", "bias-bound/T3"}
    whole = {t.reading for t in tasks if t.claim == "bias-bound"}
    alone = {"only:dual_term", "only:inner_stop", "only:ramp_width"}
    assert whole > {"as-written", "repaired", *alone, "choose:dual_term=map", "choose:dual_term=both-maps"}
    statement = find("bias-bound")
    points = {*statement.literal_readings, *statement.repairs.values(), *statement.kept.values()}
    assert whole == {"repaired", *alone, *points}
    # Where the bound is another, or a hypothesis added, the repaired text keeps some of the choices.
    plain = {
        t.reading for t in plan(["bias-bound/ramp"], ["as-written", "repaired"], [], find_profile("ci"), "reference", 0)
    }
    kept = {"as-written", "repaired", "choose:ramp_width=delta", "keep:ramp_width=tau-delta"}
    assert plain == kept | set(find("bias-bound/ramp").literal_readings)
    of_the_step = {t.reading for t in tasks if t.claim == "bias-bound/T1"}
    own = {"as-written", "repaired", "choose:inner_stop=gradient", "keep:inner_stop=distance"}
    assert of_the_step == own | set(find("bias-bound/T1").literal_readings)
    longer = plan(["inner-cost/total"], ["as-written", "repaired"], [], find_profile("ci"), "reference", 0)
    assert not any(t.reading.startswith("keep:") for t in longer)
    foreign = plan(["bias-bound"], ["as-written", "repaired"], [], find_profile("ci"), "a:b", 0)
    assert {t.reading for t in foreign if t.claim == "bias-bound"} == {"as-written", "repaired", *alone}
    assert len({t.key for t in tasks}) == len(tasks)


def test_unchecked_claims_are_visible_and_carry_no_verdict():
    report = verify.run(["background", "bias-bound/T3"], **QUICK)
    rows = {row.claim: row for row in report.summary}
    assert rows["background"].status == "NOT_CHECKED"
    assert all(result.claim != "background" for result in report.results)


def test_a_claim_falls_with_a_part_of_its_statement():
    report = verify.run(["solution-error"], profile="smoke", instances=["mildly-concave"])
    (row,) = [r for r in report.summary if r.claim == "solution-error" and r.reading == "as-written"]
    assert row.status == Verdict.REFUTED
    assert "solution-error/strong-convexity" in row.sentence


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"claims": ["bias-boundd"]}, "bias-bound"),
        ({"readings": ["literal"]}, "as-written"),
        ({"readings": ["only:nothing"]}, "only:FIELD"),
        ({"instances": ["toy7"]}, "toy1"),
        ({"profile": "fast"}, "smoke, ci, full"),
        ({"seed": -1}, "seed"),
        ({"jobs": 0}, "jobs"),
        ({"subject": "nowhere:Thing"}, "subject"),
        ({"subject": "json"}, "package.module:Attribute"),
        ({"subject": "json:dumps"}, "stages"),
    ],
)
def test_wrong_names_say_what_is_right(arguments, says):
    with pytest.raises(InvalidInputError, match=says):
        verify.run(**arguments)


class OnlyHypergradient:
    """A stranger with one stage."""

    name = "one-stage"

    def hypergradient(self, problem, x, call: Call, rng):
        return ReferenceSubject().hypergradient(problem, x, call, rng)


def test_a_missing_stage_is_not_applicable_with_the_reason():
    report = verify.run(
        ["solution-error", "bias-bound/T3"], subject=OnlyHypergradient(), readings=["repaired"], **QUICK
    )
    by_claim = {r.claim: r for r in report.results}
    assert by_claim["bias-bound/T3"].verdict is Verdict.SUPPORTED
    assert by_claim["solution-error"].verdict is Verdict.NOT_APPLICABLE
    assert "penalty_minimiser" in by_claim["solution-error"].sentence


class Crashing(ReferenceSubject):
    name = "crashing"

    def hypergradient(self, problem, x, call: Call, rng):
        raise RuntimeError("no such luck")


class ReturningNan(ReferenceSubject):
    name = "nan"

    def hypergradient(self, problem, x, call: Call, rng):
        return np.full_like(x, np.nan)


class WrongShape(ReferenceSubject):
    name = "shape"

    def hypergradient(self, problem, x, call: Call, rng):
        return np.zeros(len(x) + 1)


@pytest.mark.parametrize(
    ("subject", "says"), [(Crashing(), "no such luck"), (ReturningNan(), "finite"), (WrongShape(), "shape")]
)
def test_a_failing_subject_is_a_fault_never_a_verdict(subject, says):
    report = verify.run(["bias-bound/T3", "lipschitz-solution"], subject=subject, readings=["repaired"], **QUICK)
    by_claim = {r.claim: r for r in report.results}
    assert by_claim["bias-bound/T3"].verdict is None
    assert says in by_claim["bias-bound/T3"].fault
    assert by_claim["lipschitz-solution"].verdict is Verdict.SUPPORTED
    assert report.exit_code == 3
    (row,) = [r for r in report.summary if r.claim == "bias-bound/T3"]
    assert row.status == "FAULT"


def test_an_interrupted_run_keeps_what_is_done_and_goes_on(tmp_path):
    store = tmp_path / "store.sqlite"
    whole = verify.run(["bias-bound/T3"], profile="smoke")

    def stop(done, total, what):
        if done == 2:
            raise KeyboardInterrupt

    partial = verify.run(["bias-bound/T3"], profile="smoke", store=store, progress=stop)
    assert not partial.complete
    assert len(partial.results) == 2
    assert partial.exit_code == 3
    seen = []
    resumed = verify.run(["bias-bound/T3"], profile="smoke", store=store, progress=lambda d, t, w: seen.append(d))
    assert seen[0] == 3
    assert without_times(resumed) == without_times(whole)


def test_findings_compare_with_a_record():
    right = verify.run(["bias-bound/T3"], record={"bias-bound/T3|repaired|toy1": "SUPPORTED"}, **QUICK)
    assert right.exit_code == 0
    wrong = verify.run(["bias-bound/T3"], record={"bias-bound/T3|repaired|toy1": "REFUTED"}, **QUICK)
    assert wrong.exit_code == 1
    assert "on record REFUTED" in wrong.findings[0]


def test_the_shipped_record_is_what_a_run_finds():
    # Its verdicts are those of the default profile; a smoke run leaves out what cannot shrink.
    smoke = PROFILES["smoke"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PROFILES, "smoke", replace(smoke, skips=(*smoke.skips, *LONGEST)))
        report = kept.run(profile="smoke", readings=["repaired"])
    assert len({result.claim for result in report.results}) > 100
    assert report.findings == ()
    assert report.exit_code == 0
    assert all(result.expected is not None for result in report.results)


def test_a_report_is_pleasant_in_python(tmp_path):
    report = verify.run(["bias-bound/T3"], **QUICK)
    assert "bias-bound" in str(report)
    assert "<table" in report._repr_html_()
    row = report.records()[0]
    assert row["claim"] == "bias-bound/T3"
    assert "evidence" not in row
    names = {path.name for path in report.write(tmp_path)}
    assert names >= {"report.json", "evidence.json", "report.html", "bias-bound.html", "report.md", "times.json"}
    again = load_report(tmp_path, "report")
    assert without_times(again) == without_times(report)


class BiasedElsewhere(ReferenceSubject):
    """Right where n = 1, and biased elsewhere."""

    name = "biased-elsewhere"

    def hypergradient_samples(self, problem, x, call, rng, replications):
        drawn = super().hypergradient_samples(problem, x, call, rng, replications)
        return drawn if len(x) == 1 else drawn + 0.5


def test_a_hypothesis_is_met_by_one_problem_and_a_program_right_on_all():
    report = verify.run(["smoothness/f-lipschitz"], readings=["as-written"])
    verdicts = {result.verdict for result in report.results}
    assert verdicts == {Verdict.SUPPORTED, Verdict.REFUTED}
    assert [row.status for row in report.summary] == [Verdict.SUPPORTED]
    claim = "stochastic-oracles/unbiasedness"
    assert find(claim).question == "can-be-met"
    report = verify.run([claim], subject=BiasedElsewhere(), readings=["repaired"])
    # Where it is right by itself it is held to problems where it is not.
    assert {result.verdict for result in report.results} == {Verdict.REFUTED}
    assert [row.status for row in report.summary] == [Verdict.REFUTED]
    assert report.coverage.held == 0


def test_what_a_text_does_not_say_still_counts_repaired():
    silent = set(find("goldstein-convergence").parts("repaired"))
    assert silent > set(find("goldstein-convergence").parts("as-written"))


def test_what_the_text_does_not_say_fells_no_claim():
    instances = ["absolute-fixed", "kink"]
    report = kept.run(["goldstein-convergence"], profile="ci", readings=["as-written"], instances=instances)
    rows = {row.claim: row for row in report.summary}
    silent = [f"goldstein-convergence/{s.id}" for s in find("goldstein-convergence").steps if s.relation != "said"]
    assert any(rows[step].status == Verdict.REFUTED for step in silent if step in rows)
    assert rows["goldstein-convergence"].status == Verdict.SUPPORTED


@pytest.mark.parametrize("name", ["choose:", "choose:foo=bar", "choose:ramp_width=delta", "choose:dual_term=thawed"])
def test_a_point_that_no_statement_asked_for_has_is_refused(name):
    with pytest.raises(InvalidInputError):
        plan(["bias-bound/T3"], [name], [], find_profile("ci"), "reference", 0)
