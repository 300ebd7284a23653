"""What a user expects to fail is refuted still, and what they skip supports nothing; neither earns a success."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import verify
from spec.atlas import find
from spec.errors import InvalidInputError
from verify.campaign.baseline.judging import judge
from verify.campaign.baseline.model import Baseline
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.recheck.rechecking import recheck
from verify.campaign.store.kept_results import Store
from verify.campaign.store.stored_report import fullest, report_of
from verify.cli.main import invoke
from verify.report.findings.found_issues import SourceTree, issues_of
from verify.report.formats.badge import badge_of
from verify.report.formats.data_files import data_files
from verify.report.formats.junit import render_junit
from verify.report.formats.markdown import render_markdown
from verify.report.formats.sarif import About, render_sarif
from verify.report.model import SKIPPED, ReportData
from verify.report.report_files import Report, render_json
from verify.report.site.all_pages import site_files
from verify.subjects import Call, ReferenceSubject
from verify.verdict import Verdict

HERE = f"{__name__}:Mixed"
FAILS, HOLDS = "bias-bound/black-box", "solution-error/gradient-difference"
ASKED = [FAILS, HOLDS]


class Mixed:
    """A wrong hypergradient beside a right penalty minimiser."""

    version = "1"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        return ReferenceSubject().hypergradient(problem, x, call, rng) + 0.3

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float) -> Any:
        return ReferenceSubject().penalty_minimiser(problem, x, call, tol)


class Crashing(Mixed):
    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        raise RuntimeError("no")


class Null(Mixed):
    """Answers 0 to everything."""

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        return 0 * x

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float) -> Any:
        return 0 * call.y_star


def run(subject: Any = None, claims: list[str] = ASKED, **how: Any) -> Report:
    how = {"readings": ["repaired"], "profile": "smoke"} | how
    return verify.run(claims, subject=Mixed() if subject is None else subject, **how)


@pytest.fixture(scope="module")
def plain() -> Report:
    return run()


@pytest.fixture(scope="module")
def excused() -> Report:
    return run(expected_failures={FAILS: "our note 12"})


def test_a_refutation_that_is_expected_is_no_finding_and_refuted_still(plain: Report, excused: Report) -> None:
    assert plain.exit_code == 1
    assert len(plain.findings) == 2
    assert excused.findings == ()
    assert excused.exit_code == 0
    assert [result.verdict for result in excused.results] == [result.verdict for result in plain.results]
    assert excused.summary == plain.summary
    assert str(excused.coverage) == "1 of 2 statements about a solver hold"
    assert {excused.excuse(result) for result in excused.excused} == {"our note 12"}


def test_what_is_expected_and_holds_is_a_finding() -> None:
    found = run(claims=[HOLDS], expected_failures={HOLDS: "was broken"})
    assert found.findings == (
        f"{HOLDS} [repaired] is expected to fail (was broken), but holds on 2 instances; take it off the list",
    )
    assert found.exit_code == 1


def test_an_entry_of_all_instances_is_not_judged_by_one_of_them() -> None:
    found = run(claims=[HOLDS], instances=["toy1"], expected_failures={HOLDS: "was broken"})
    assert found.findings == ()
    narrow = run(claims=[HOLDS], instances=["toy1"], expected_failures={f"{HOLDS}|repaired|toy1": "was broken"})
    assert len(narrow.findings) == 1


def test_a_failure_on_one_instance_excuses_no_other(plain: Report) -> None:
    found = run(expected_failures={f"{FAILS}|repaired|toy1": "here"})
    assert found.findings == tuple(line for line in plain.findings if " on toy1:" not in line)
    assert len(found.findings) == 1


def test_a_fault_is_never_excused() -> None:
    found = run(Crashing(), expected_failures={FAILS: "why"})
    assert found.exit_code == 3
    assert not found.excused


def test_nothing_that_holds_is_a_finding_though_all_was_expected() -> None:
    found = run(Null(), expected_failures={FAILS: "a", HOLDS: "b"})
    assert len(found.excused) == len(found.results)
    assert found.nothing_holds
    assert found.exit_code == 1


def test_what_is_skipped_is_in_the_report_and_supports_nothing() -> None:
    found = run(skips={FAILS: "slow"})
    assert {result.sentence for result in found.skipped} == {f"{SKIPPED}slow"}
    assert {result.claim for result in found.skipped} == {FAILS}
    assert str(found.coverage) == "1 of 2 statements about a solver could be asked; it holds"
    assert found.exit_code == 0
    assert badge_of(found).colour != "brightgreen"


def test_who_skips_the_instances_that_fail_has_no_support() -> None:
    found = run(claims=[HOLDS], skips={f"{HOLDS}|repaired|toy1": "fails here"})
    (row,) = found.summary
    assert row.status is Verdict.INCONCLUSIVE
    assert "skipped on request: fails here" in row.sentence
    assert found.coverage.held == 0
    assert found.exit_code == 1


@pytest.mark.parametrize("subject", [HERE, "reference"])
def test_skipping_everything_is_a_fault(subject: str) -> None:
    found = run(subject, claims=[HOLDS], skips={HOLDS: "no"})
    assert found.nothing_compared
    assert found.exit_code == 3


def test_what_no_run_asks_of_the_subject_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="must name what is asked of"):
        run(skips={f"{HOLDS}|repaired|kink": "no instance of that check"})
    with pytest.raises(InvalidInputError, match="must say something about a solver"):
        run(expected_failures={"smoothness": "about mathematics"})


def test_against_a_baseline_the_same_holds(plain: Report, excused: Report) -> None:
    right = Baseline.of(run(ReferenceSubject()).model_copy(update={"subject": plain.subject}))
    assert any("REFUTED, on record SUPPORTED" in line for line in judge(plain, right)[0].findings)
    held, comparison = judge(excused, right)
    # A verdict that fell is excused, numbers that moved with it are compared no more.
    assert not [line for line in held.findings if "on record SUPPORTED" in line]
    assert any("Expected to fail: our note 12" in line for line in held.changes)
    assert all(change.worse is False for change in comparison.changes if change.kind in ("verdict", "new"))


def test_a_drift_of_an_expected_failure_is_a_finding() -> None:
    class Worse(Mixed):
        def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
            return super().hypergradient(problem, x, call, rng) + 0.3

    known = {FAILS: "our note 12"}
    recorded = Baseline.of(run(expected_failures=known))
    same, _ = judge(run(expected_failures=known), recorded)
    assert same.findings == ()
    drifted, _ = judge(run(Worse(), expected_failures=known).model_copy(update={"subject": recorded.subject}), recorded)
    assert drifted.findings
    assert all(FAILS in line for line in drifted.findings)


def test_what_is_skipped_is_not_missed_and_not_recorded() -> None:
    recorded = Baseline.of(run())
    left = run(skips={FAILS: "slow"})
    assert {entry.claim for entry in Baseline.of(left).results} == {HOLDS}
    held, _ = judge(left, recorded)
    assert held.findings == ()


def test_a_report_from_the_store_is_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    lists: dict[str, Any] = {"skips": {f"{HOLDS}|repaired|toy1": "later"}, "expected_failures": {FAILS: "note"}}
    made = run(HERE, store=path, **lists)
    with Store(path, to_read=True) as store:
        again = report_of(store, fullest(store), shipped_record())
    assert render_json(again) == render_json(made)
    assert len(again.skipped) == 1
    assert len(again.excused) == 2


def test_a_report_with_lists_can_be_decided_again(excused: Report) -> None:
    whole = run(skips={f"{HOLDS}|repaired|toy1": "later"}, expected_failures={FAILS: "note"})
    assert recheck(whole).refusals == ()
    said = " ".join(recheck(whole).notes)
    assert "1 result skipped on request" in said
    assert "2 refutations the user expects" in said
    (skipped,) = whole.skipped
    for lie in (
        whole.model_copy(update={"skips": ()}),
        whole.model_copy(update={
            "results": tuple(
                r.model_copy(update={"sentence": f"{SKIPPED}another"}) if r.key == skipped.key else r
                for r in whole.results
            )
        }),
    ):  # fmt: skip
        assert any("list of skips" in str(refusal) for refusal in recheck(lie).refusals)


def test_every_face_tells_of_the_lists() -> None:
    made = run(skips={f"{HOLDS}|repaired|toy1": "later"}, expected_failures={FAILS: "our note 12"})
    assert ReportData.model_validate_json(data_files(made)["report.json"]).skips == made.skips
    markdown, pages = render_markdown(made), site_files(made)
    assert f"`{FAILS} [repaired]`, expected to fail: our note 12 (refuted on 2 of 2 instances)" in markdown
    assert "2 results are refuted as the user expects" in markdown
    assert "our note 12" in pages["pages/archive.html"]
    assert "1 result was skipped on request" in pages["report.html"]
    junit = render_junit(made)
    assert junit.count("expected failure: our note 12") == 2
    # Of what holds, one instance was skipped: nothing is supported, and that is the one failure.
    assert 'failures="1"' in junit.splitlines()[1]
    assert badge_of(made).message.endswith("2 expected failures")
    assert pages["pages/bias-bound.html"].count("<b>Expected to fail:</b> our note 12.") == 2
    assert "not the verdict on record" not in str(made)
    assert str(made).count("expected to fail: our note 12") == 2
    issues = issues_of(made, SourceTree(Path.cwd(), Path.cwd()))
    assert [(issue.level, issue.excuse) for issue in issues] == [("error", ""), ("warning", "our note 12")]
    sarif = render_sarif(issues, About("x", "smoke", 0, 0))
    assert '"justification": "our note 12"' in sarif
    assert sarif.count("suppressions") == 1


def test_a_skip_of_a_statement_is_one_of_its_draws_too_and_of_one_instance_of_none() -> None:
    lists = {"skips": {f"{HOLDS}|repaired": "all", f"{FAILS}|repaired|toy1": "one"}}
    made = run("reference", instances=[], draws=1, **lists)
    assert made.draws is not None
    assert {row.claim for row in made.draws.rows} == {FAILS}
    assert recheck(made).refusals == ()
    less = made.model_copy(update={"skips": made.skips[1:]})
    assert any(refusal.field == "draws" for refusal in recheck(less).refusals)


def test_who_skips_all_that_is_asked_of_a_right_solver_is_judged_by_nothing() -> None:
    made = run(readings=["as-written", "repaired"], skips={FAILS: "a", f"{HOLDS}|repaired": "b"})
    assert made.nothing_compared
    assert made.exit_code == 3


def test_a_comparison_says_what_was_skipped() -> None:
    recorded = Baseline.of(run())
    held, comparison = judge(run(skips={FAILS: "slow"}), recorded)
    assert "2 results on record were skipped on request" in comparison.notes
    assert "2 results on record were skipped on request" in held.changes


def test_a_run_that_skips_everything_is_compared_without_a_fault_of_ours() -> None:
    recorded = Baseline.of(run())
    held, comparison = judge(run(skips={FAILS: "a", HOLDS: "b"}), recorded)
    assert comparison.compared == 0
    assert held.exit_code == 3
    crashed, comparison = judge(run(Crashing(), skips={HOLDS: "b"}), recorded)
    assert len(comparison.faults) == 2
    assert crashed.exit_code == 3


def test_junit_fails_where_nothing_holds() -> None:
    made = run(Null(), expected_failures={FAILS: "a", HOLDS: "b"})
    assert 'failures="1"' in render_junit(made).splitlines()[1]
    assert "That none holds is a finding." in render_markdown(made)


def test_a_skipped_result_says_nothing_but_its_reason(tmp_path: Path) -> None:
    whole = run(skips={f"{HOLDS}|repaired|toy1": "later"})
    (skipped,) = whole.skipped
    assert recheck(whole).verdicts == len(whole.results) - 1
    for more in ({"measured": 1.0, "rung": "certified"}, {"claimed": "O(α)"}, {"error_rates": {"x": 0.5}}):
        forged = tuple(r.model_copy(update=more) if r.key == skipped.key else r for r in whole.results)
        refused = recheck(whole.model_copy(update={"results": forged})).refusals
        assert any("list of skips" in str(refusal) for refusal in refused)
    nothing = run(skips={FAILS: "a", HOLDS: "b"})
    assert "nothing was decided" in recheck(nothing).said
    nothing.write(tmp_path)
    assert invoke(["recheck", str(tmp_path)]) == 2


def test_an_alert_is_suppressed_only_where_all_behind_it_is_expected() -> None:
    recorded = Baseline.of(run())
    for name, excuse in ((f"{FAILS}|repaired|toy1", ""), (FAILS, "only here")):
        held, _ = judge(run(expected_failures={name: "only here"}), recorded)
        (issue,) = issues_of(held, SourceTree(Path.cwd(), Path.cwd()))
        assert (issue.level, issue.excuse) == ("warning", excuse)


@pytest.mark.parametrize("given", [[FAILS], FAILS, None, {FAILS: 3}, {FAILS: ""}, [{"id": FAILS}]])
def test_lists_in_python_are_refused_in_one_line(given: Any) -> None:
    for name in ("skips", "expected_failures"):
        with pytest.raises(InvalidInputError) as refused:
            run(**{name: given})
        assert str(refused.value).startswith(name)
        assert "\n" not in str(refused.value)


def test_a_subject_has_no_words_of_its_own_to_be_left_unasked() -> None:
    class Choosy(Mixed):
        def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float) -> Any:
            if problem == find("weakly-active").problem:
                raise verify.MissingCapabilityError("the subject offers no penalty_minimiser")  # as ours would
            return super().penalty_minimiser(problem, x, call, tol)

    made = run(Choosy(), claims=[HOLDS])
    assert Verdict.SUPPORTED not in {row.status for row in made.summary}
    assert made.exit_code != 0
    assert all("does not support this penalty_minimiser" in row.sentence for row in made.summary)
