"""Statements asked at a problem of the user's own: by its kind, in the store, checked again, and the same elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from spec import InvalidInputError
from spec.atlas import find, read_instance
from spec.drawn import FAMILIES, draw, name_of
from verify import run
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.recheck.rechecking import recheck
from verify.campaign.soak.instance_text import instance_text
from verify.campaign.store.kept_results import Store
from verify.campaign.store.stored_report import fullest, report_of
from verify.checks.measuring.where_asked import DEGENERATE, kinds_of
from verify.report.report_files import render_json

CLAIM = "dual-extraction/weighted-rows"


def written(path: Path, name: str) -> str:
    path.write_text(instance_text(find(name), "A copy."))
    return str(path)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_draw_is_of_its_own_familys_kind(family: str) -> None:
    for seed in range(5):
        assert family in kinds_of(find(name_of(family, seed)))


@pytest.mark.parametrize("stratum", sorted(DEGENERATE))
def test_a_degenerate_problem_is_like_no_other(stratum: str) -> None:
    ensured = {name for name in FAMILIES if stratum in draw(name_of(name, 0))[1].strata}
    assert set(kinds_of(find(stratum))) == ensured == {stratum}


def test_the_same_problem_gives_the_same_numbers(tmp_path: Path) -> None:
    paths = [written(tmp_path / name, "drawn:rows:0") for name in ("one.toml", "two.toml")]
    report = run([CLAIM], instances=[*paths, "drawn:rows:0"], readings=["repaired"], profile="smoke")
    drawn, *files = report.results if report.results[0].instance == "drawn:rows:0" else report.results[::-1]
    assert {result.instance for result in files} == set(paths)
    assert all(result.measured == drawn.measured and result.verdict == drawn.verdict for result in files)
    assert f"--instance {paths[0]} " in next(result for result in files if result.instance == paths[0]).reproduce


def test_results_are_kept_with_their_problem_and_decided_again(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.toml", "drawn:rows:0")
    how = {"instances": [path], "profile": "smoke", "store": tmp_path / "store.sqlite"}
    first = run([CLAIM], readings=["repaired"], **how)  # type: ignore[arg-type]  # keyword arguments of several types
    again = run([CLAIM], readings=["repaired"], **how)  # type: ignore[arg-type]  # as above
    assert (first.kept, again.kept) == (0, 1)
    assert not recheck(first).refusals
    written(tmp_path / "mine.toml", "drawn:rows:1")
    other = run([CLAIM], readings=["repaired"], **how)  # type: ignore[arg-type]  # as above
    assert other.kept == 0
    Path(path).unlink()
    with Store(tmp_path / "store.sqlite") as store:
        assert render_json(report_of(store, fullest(store), shipped_record())) == render_json(other)


def test_what_nothing_chosen_is_asked_about_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.toml", "weakly-active")
    assert kinds_of(read_instance(path)) == ("weakly-active",)
    with pytest.raises(InvalidInputError, match=rf"instance: must be of a kind that {CLAIM} is asked about without"):
        run([CLAIM], instances=[path], profile="smoke")
    (tmp_path / "bent.json").write_text('{"kind": "holder", "s": "1/2", "x": [0]}')
    with pytest.raises(InvalidInputError, match="instance: must be quadratic"):
        run([CLAIM], instances=[str(tmp_path / "bent.json")], profile="smoke")
