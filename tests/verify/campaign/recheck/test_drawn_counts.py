"""What a report counts on drawn problems: how many were asked about is on record, so that none can be cut out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from verify import run
from verify.campaign.recheck.drawn_counts import miscounted, unasked
from verify.cli.main import invoke
from verify.report.model import ReportData

ASKED = "dual-extraction/weighted-rows"
Edit = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn")
    run([ASKED], draws=2, profile="smoke").write(folder)
    return folder


@pytest.fixture
def rechecked(written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[Edit], tuple[int, str]]:
    """The exit code and what is said of the report after an edit."""

    def after(edit: Edit) -> tuple[int, str]:
        data = json.loads((written / "report.json").read_text(encoding="utf-8"))
        edit(data)
        (tmp_path / "report.json").write_text(json.dumps(data), encoding="utf-8")
        (tmp_path / "evidence.json").write_bytes((written / "evidence.json").read_bytes())
        code = invoke(["recheck", str(tmp_path / "report.json")])
        said = capsys.readouterr()
        return code, said.out + said.err

    return after


def test_a_report_on_draws_says_how_many_it_was_asked_about(written: Path) -> None:
    for name in ("report.json", "evidence.json"):
        assert json.loads((written / name).read_text(encoding="utf-8"))["draws_asked"] == 2


def test_one_without_draws_says_none_and_its_evidence_nothing(tmp_path: Path) -> None:
    run([ASKED], instances=["toy1"], profile="smoke").write(tmp_path)
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["draws_asked"] == 0
    assert "draws_asked" not in json.loads((tmp_path / "evidence.json").read_text(encoding="utf-8"))


def test_counts_as_they_were_written_follow(rechecked: Callable[[Edit], tuple[int, str]]) -> None:
    code, said = rechecked(lambda data: None)
    assert code == 0
    assert "results on drawn problems are counted: each can be run again by its name, as 12 were" in said
    assert "all follow" in said


def cut_all(data: dict[str, Any]) -> None:
    data["draws"] = None


def cut_key(data: dict[str, Any]) -> None:
    del data["draws"]


def cut_row(data: dict[str, Any]) -> None:
    del data["draws"]["rows"][3]


def cut_rows(data: dict[str, Any]) -> None:
    data["draws"]["rows"] = []


def cut_result(data: dict[str, Any]) -> None:
    verdicts = data["draws"]["rows"][0]["verdicts"]
    verdicts[min(verdicts)] -= 1


def add_result(data: dict[str, Any]) -> None:
    data["draws"]["rows"][0]["verdicts"]["INCONCLUSIVE"] = 1


def owe_result(data: dict[str, Any]) -> None:
    verdicts = data["draws"]["rows"][0]["verdicts"]
    verdicts |= {"SUPPORTED": 3, "REFUTED": -1}


def twice(data: dict[str, Any]) -> None:
    data["draws"]["rows"].append(data["draws"]["rows"][0])


def fewer(data: dict[str, Any]) -> None:
    data["draws"]["each"] = 1
    for row in data["draws"]["rows"]:
        row["verdicts"] = dict.fromkeys(list(row["verdicts"])[:1], 1)


def better(data: dict[str, Any]) -> None:
    """Every outcome turned into another, names and sums along."""
    for row in data["draws"]["rows"]:
        row["verdicts"] = {"INCONCLUSIVE": 2}
        row["named"] = {"INCONCLUSIVE": [f"drawn:{row['family']}:{seed}" for seed in range(2)]}


def other_names(data: dict[str, Any]) -> None:
    data["draws"]["rows"][0]["named"] = {
        outcome: [f"{name}7" for name in names] for outcome, names in data["draws"]["rows"][0]["named"].items()
    }


def no_names(data: dict[str, Any]) -> None:
    data["draws"]["rows"][0]["named"] = {}


def stratum(data: dict[str, Any]) -> None:
    data["draws"]["strata"][0]["problems"] += 1


def another_statement(data: dict[str, Any]) -> None:
    data["draws"]["rows"].append(data["draws"]["rows"][0] | {"claim": "consistency/figures"})


def wrong_and_not_shown(data: dict[str, Any]) -> None:
    row = next(row for row in data["draws"]["rows"] if row["reading"] == "repaired")
    names = [name for named in row["named"].values() for name in named]
    row |= {"verdicts": {"REFUTED": 2}, "named": {"REFUTED": sorted(names)}}


@pytest.mark.parametrize(
    ("edit", "line"),
    [
        (better, "verdict must be SUPPORTED, run again; it is INCONCLUSIVE"),
        (other_names, "named must be the first 3 draws of each outcome"),
        (no_names, "named must be the first 3 draws of each outcome"),
        (stratum, "draws: strata "),
        (another_statement, "must not have this row: the statement is not asked there"),
        (wrong_and_not_shown, "results must hold the draws that went wrong"),
        (cut_all, "refused: draws: draws must not be left out: 2 problems of each family were asked about"),
        (cut_key, "refused: draws: draws must not be left out: 2 problems of each family were asked about"),
        (cut_row, "draws must have this row"),
        (cut_rows, "draws must have this row"),
        (cut_result, "verdicts must add up to 2, a draw each; they add up to 1"),
        (add_result, "verdicts must add up to 2, a draw each; they add up to 3"),
        (owe_result, "verdicts must add up to 2, a draw each; they add up to"),
        (twice, "draws must have this row once"),
        (fewer, "refused: draws: each must be 2, as many as were asked about; it is 1"),
    ],
)
def test_what_is_cut_out_or_changed_is_found(
    rechecked: Callable[[Edit], tuple[int, str]], edit: Edit, line: str
) -> None:
    code, said = rechecked(edit)
    assert code == 1
    assert line in said


@pytest.mark.parametrize("asked", [0, 1, None])
def test_the_number_cannot_be_cut_out_with_them(
    rechecked: Callable[[Edit], tuple[int, str]], asked: int | None
) -> None:
    def cut(data: dict[str, Any]) -> None:
        del data["draws"]
        if asked is None:
            del data["draws_asked"]
        else:
            data["draws_asked"] = asked

    code, said = rechecked(cut)
    assert code == 2
    assert "must say as its evidence.json that 2 drawn problems of each family were asked about" in said


def test_a_report_from_before_the_number_was_kept_is_held_to_its_own_counts() -> None:
    report = run([ASKED], draws=2, profile="smoke")
    older = ReportData.model_validate(report.model_dump(by_alias=True, exclude={"draws_asked"}))
    assert older.draws_asked == 0
    assert not list(miscounted(older))
    rows = older.draws.rows if older.draws is not None else ()
    cut = older.model_copy(update={"draws": older.draws and older.draws.model_copy(update={"rows": rows[1:]})})
    assert [field for _, field, _ in miscounted(cut)] == ["draws"]


def test_an_interrupted_run_may_have_fewer_and_never_more() -> None:
    report = run([ASKED], draws=2, profile="smoke").model_copy(update={"complete": False})
    assert report.draws is not None
    fewer = report.draws.model_copy(update={"rows": report.draws.rows[2:]})
    assert not list(miscounted(report.model_copy(update={"draws": fewer})))
    row = report.draws.rows[0].model_copy(update={"verdicts": {"SUPPORTED": 5}})
    more = report.draws.model_copy(update={"rows": (row,)})
    assert [field for _, field, _ in miscounted(report.model_copy(update={"draws": more}))] == ["verdicts"]


def test_that_a_profile_asks_about_draws_and_a_run_did_not_is_said() -> None:
    full = run([ASKED], instances=["toy1"], profile="full", effort=1)
    assert list(unasked(full)) == [
        "the profile asks about 1000 drawn problems of each family; this run asked about none"
    ]
    assert not list(unasked(run([ASKED], instances=["toy1"], profile="smoke")))
