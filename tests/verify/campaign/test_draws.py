"""Runs over drawn problems: every result kept by its address, counted by statement, and never a success too many."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spec import InvalidInputError, Quadratic
from spec.claims import find as find_claim
from spec.drawn import FAMILIES
from verify import run
from verify.campaign.draws import drawn_tasks, gathered, status_of_draw
from verify.campaign.plan import Task, perform
from verify.campaign.recheck.rechecking import recheck
from verify.campaign.store.kept_results import Store
from verify.campaign.store.shards import Shard
from verify.campaign.store.stored_report import fullest, report_of
from verify.checks.measuring.case import checks, find_profile
from verify.checks.measuring.where_asked import ON_CHOSEN, can_draw
from verify.report.findings.drawn_problems import coverage, sentences, telling
from verify.report.formats.markdown import render_markdown
from verify.report.model import Result
from verify.report.report_files import Report, render_json
from verify.report.rows.draws_model import DrawnProblems
from verify.subjects import load_subject
from verify.subjects.reference import ReferenceSubject

ASKED = ["dual-extraction/weighted-rows"]


class Unshifted(ReferenceSubject):
    """Stops at the penalty minimiser for λ = 0, whatever it is given."""

    def penalty_minimiser(self, problem: Any, x: Any, call: Any, tol: Any) -> Any:
        return super().penalty_minimiser(problem, x, call, tol) + (0.1 if isinstance(problem, Quadratic) else 0.0)


def drawn_run(**how: Any) -> Report:
    return run(ASKED, draws=2, profile="smoke", **how)


def of(draws: DrawnProblems | None) -> DrawnProblems:
    assert draws is not None
    return draws


def test_every_draw_is_counted_once() -> None:
    draws = of(drawn_run().draws)
    families = [name for name, family in FAMILIES.items() if can_draw(checks()[ASKED[0]], family)]
    assert {row.family for row in draws.rows} == set(families)
    assert all(row.problems == draws.each == 2 for row in draws.rows)
    assert draws.asked == 2 * 2 * len(families)
    assert sum(row.problems for row in draws.strata if row.stratum in ("A-zero", "A-nonzero")) == 2 * len(families)


def test_a_wrong_subject_fails_on_draws_and_is_shown_there() -> None:
    report = drawn_run(subject=Unshifted())
    draws = of(report.draws)
    assert sum(row.verdicts.get("SUPPORTED", 0) for row in draws.rows) == 0
    shown = [result for result in report.results if result.instance.startswith("drawn:")]
    assert shown
    assert report.exit_code == 1 or report.faults
    assert telling(draws)


def test_the_store_shards_and_a_second_run_give_the_same_report(tmp_path: Path) -> None:
    whole = render_json(drawn_run(store=tmp_path / "one.sqlite"))
    assert render_json(drawn_run()) == whole
    again = drawn_run(store=tmp_path / "one.sqlite")
    assert render_json(again) == whole
    assert again.kept == len(again.results) + of(again.draws).asked
    for number in (1, 2):
        drawn_run(store=tmp_path / "two.sqlite", shard=Shard(number, 2))
    for name in ("one.sqlite", "two.sqlite"):
        with Store(tmp_path / name) as store:
            assert render_json(report_of(store, fullest(store), again_record())) == whole


def again_record() -> dict[str, str]:
    from verify.campaign.baseline.storage import shipped_record

    return shipped_record()


def test_more_draws_add_to_what_is_kept(tmp_path: Path) -> None:
    drawn_run(store=tmp_path / "s.sqlite")
    more = run(ASKED, draws=3, profile="smoke", store=tmp_path / "s.sqlite")
    assert all(row.problems == 3 for row in of(more.draws).rows)
    assert more.kept == len(more.results) + of(more.draws).asked * 2 // 3


def test_draws_by_name_are_results_like_others() -> None:
    report = run(ASKED, instances=["drawn:rows:0-1", "toy1"], profile="smoke")
    assert Counter(result.instance for result in report.results) == {"toy1": 2, "drawn:rows:0": 2, "drawn:rows:1": 2}
    assert report.draws is None
    assert not recheck(report).refusals


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"draws": -1}, "draws: must be >= 0"),
        ({"draws": 10**7}, "draws: must be >= 0"),
        ({"draws": 1, "instances": ["toy1"]}, "draws: must not be given together with instances"),
        ({"instances": ["drawn:nothing:1"]}, "instance: must be drawn:FAMILY:SEED"),
    ],
)
def test_wrong_numbers_are_refused(how: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        run(ASKED, profile="smoke", **how)


def test_what_is_asked_on_chosen_problems_alone_exists_and_is_not_drawn() -> None:
    for name in ON_CHOSEN:
        mine = [check for claim, check in checks().items() if name in (claim, claim.split("/")[0])]
        assert mine, name
        assert not any(can_draw(check, family) for check in mine for family in FAMILIES.values())


def test_nothing_that_samples_is_drawn() -> None:
    """Draws share no error budget: a decision that can refute falsely would refute often enough."""
    tasks = drawn_tasks([], ["repaired"], find_profile("full"), 1, Task("", "", "", "reference", "full", 0))
    assert tasks
    assert all(checks()[task.claim].decisions == 0 for task in tasks)


def test_a_sweep_that_contradicts_the_exact_law_is_no_support() -> None:
    found = perform(
        Task("bias-bound/T3", "repaired", "drawn:rows:0", "reference", "smoke", 0), load_subject("reference")
    )
    torn = found.model_copy(update={"verdict": None, "fault": "rungs disagree; exact: … measured: …"})
    assert status_of_draw(found) == "SUPPORTED"
    assert status_of_draw(torn) == "UNSETTLED"
    draws, shown = gathered([found, torn], 2)
    (row,) = draws.rows
    assert row.verdicts == {"SUPPORTED": 1, "UNSETTLED": 1}
    assert not shown
    broken = found.model_copy(update={"verdict": None, "fault": "it fell over"})
    assert gathered([broken], 1)[1] == [broken]


def test_words_and_tables_follow_the_counts() -> None:
    report = drawn_run()
    draws = of(report.draws)
    said = " ".join(sentences(draws))
    assert "2 problems of each of" in said
    assert f"Repaired, of {draws.asked // 2:,} results" in said
    head, *body = coverage(draws)
    assert all(len(row) == len(head) for row in body)
    assert "Drawn problems" in render_markdown(report)
    assert not sentences(None)
    assert "Drawn problems" not in render_markdown(report.model_copy(update={"draws": None}))


def test_a_thin_result_keeps_what_is_counted() -> None:
    found = perform(Task(ASKED[0], "repaired", "drawn:rows:0", "reference", "smoke", 0), load_subject("reference"))
    thin: Result = found.thin
    assert (thin.verdict, thin.measured, thin.key) == (found.verdict, found.measured, found.key)
    assert not thin.evidence


class Nothing(ReferenceSubject):
    """Answers zero to everything that it is asked."""

    def penalty_minimiser(self, problem: Any, x: Any, call: Any, tol: Any) -> Any:
        return np.zeros(problem.m)

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        return np.zeros(problem.n)


def test_a_subject_that_knows_nothing_is_supported_on_no_draw() -> None:
    asked = [*ASKED, "bias-bound/T3", "dual-extraction/T1", "solution-error/monotonicity"]
    about = [claim for claim in asked if find_claim(claim).about == "subject"]
    assert about
    draws = of(run(about, draws=3, profile="smoke", subject=Nothing()).draws)
    assert {row.claim for row in draws.rows} == set(about)
    repaired = draws.counts("repaired")
    assert repaired.get("REFUTED", 0) > 0
    assert repaired.get("SUPPORTED", 0) == 0


def test_a_stronger_claim_fails_on_draws() -> None:
    """T₃ is of order α² and of no higher order: a claim of α³ is refuted on draws that have it."""
    claimed = find_claim("bias-bound/T3").assertion("repaired").bound
    bound = claimed.model_copy(update={"exponents": {"alpha": Fraction(3)}})
    verdicts = Counter(
        str(perform(Task("bias-bound/T3", "repaired", f"drawn:rows:{seed}", "reference", "smoke", 0),
                    load_subject("reference"), bound).verdict)
        for seed in range(8)
    )  # fmt: skip
    assert verdicts["REFUTED"] >= 6
    assert verdicts["SUPPORTED"] <= 1


def test_draws_that_nothing_is_asked_about_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="draws: must be asked about by a statement that needs no samples"):
        run(["variance-bound/per-sample"], draws=2, profile="smoke")
