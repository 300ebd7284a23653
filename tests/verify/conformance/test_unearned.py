"""Nobody is credited for where a suite looks: tables, sizes, grids and memories are supported in nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import verify
from tests.verify.conformance.unearned import unearned_subjects
from verify.campaign.plan import DEFAULT_SEED, Task, perform
from verify.checks.measuring.case import checks
from verify.cli.main import invoke
from verify.verdict import Verdict

SUBJECTS = unearned_subjects()
FOUR = ("table-unaided", "small-sizes", "round-alphas", "scalars")
"""A table and no stages; sizes below six; alphas of the suite's and every 0.2/2^k; n = m = 1."""
OTHERS = tuple(name for name in SUBJECTS if name not in (*FOUR, "few-calls", "given-only"))
QUICK = (
    "bias-bound/black-box", "bias-bound/black-box-kinks", "variance-bound/black-box", "bias-bound/T3",
    "lipschitz-solution", "dual-extraction/activation-locality", "goldstein-convergence/clip",
    "stochastic-oracles/unbiasedness", "inner-cost/primal-dual-sign", "bias-bound/hessian-lipschitz",
)  # fmt: skip
"""A few statements of each kind: own answers, every stage, samples, runs, and problems that are not quadratic."""
OWN = QUICK[:3]


def told(name, claims=QUICK, **more):
    return verify.run(claims, subject=SUBJECTS[name](), profile="smoke", **more)


@pytest.mark.parametrize("name", [*FOUR, *OTHERS])
def test_nothing_is_supported(name):
    report = told(name)
    assert [result.key for result in report.results if result.verdict is Verdict.SUPPORTED] == []
    assert report.exit_code in (1, 3)


def test_with_another_seed_neither():
    report = told("small-sizes", QUICK[:5], seed=7)
    assert Verdict.SUPPORTED not in {result.verdict for result in report.results}


def test_right_early_is_not_right():
    subject = SUBJECTS["few-calls"]()
    report = verify.run(QUICK[3:], subject=subject, profile="smoke")
    assert report.exit_code in (1, 3)
    again = verify.run(QUICK[3:], subject=subject, profile="smoke")
    assert Verdict.SUPPORTED not in {result.verdict for result in again.results}


def test_right_when_helped_is_credited_with_no_answer_of_its_own():
    report = told("given-only", QUICK[:4])
    own = {result.verdict for result in report.results if checks()[result.claim].unaided}
    assert Verdict.SUPPORTED not in own
    assert report.exit_code == 1


def test_the_counterexample_is_a_problem_where_it_is_wrong():
    result = perform(
        Task("lipschitz-solution", "repaired", "toy1", "small-sizes", "smoke", DEFAULT_SEED), SUBJECTS["small-sizes"]()
    )
    assert result.verdict is Verdict.REFUTED
    assert result.counterexample is not None
    problem = result.counterexample.problem
    assert problem["kind"] == "generated"
    assert max(problem["n"], problem["m"]) > 6
    assert len(result.counterexample.x) == problem["n"]


@pytest.mark.parametrize(
    ("name", "expected"), [("table-unaided", 1), ("table-unaided-refusing", 3), ("small-sizes", 1)]
)
def test_the_command_says_so(
    name: str, expected: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stranger.py").write_text(
        f"from tests.verify.conformance.unearned import unearned_subjects\nSubject = unearned_subjects()[{name!r}]()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    code = invoke([
        "verify", *OWN, "--subject", "stranger:Subject", "--profile", "smoke", "--in-process", "--jobs", "1",
        "--out", str(tmp_path / "report"), "--no-settings", "--causes", "0",
    ])  # fmt: skip
    capsys.readouterr()
    assert code == expected
    rows = json.loads((tmp_path / "report" / "report.json").read_text())["results"]
    assert "SUPPORTED" not in {row["verdict"] for row in rows}
