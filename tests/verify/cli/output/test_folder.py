"""What a run finds in the folder it writes into: nobody else's file is lost, nor a report that holds more."""

from __future__ import annotations

import json

import pytest

from spec import InvalidInputError
from verify.cli.main import invoke
from verify.cli.output.folder import FILES, PAGES, PART, STORE, folder_for

QUICK = ("verify", "--profile", "smoke", "--instance", "toy1", "--jobs", "1")


def ran(out, *claims):
    return invoke([*QUICK, *claims, "--out", str(out)])


@pytest.mark.parametrize("name", [*FILES, STORE])
def test_somebody_elses_file_is_refused_and_kept(tmp_path, capsys, name):
    (tmp_path / name).write_text("mine")
    assert ran(tmp_path, "bias-bound/T3") == 2
    assert f"{name} that f2csa did not write" in capsys.readouterr().err
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: "mine"}


def test_other_files_are_left_alone(tmp_path):
    (tmp_path / "notes.md").write_text("mine")
    assert ran(tmp_path, "bias-bound/T3") == 0
    assert (tmp_path / "notes.md").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"notes.md", PAGES, STORE, *FILES}


def test_a_narrower_run_goes_beside_the_report_and_a_wider_one_replaces_it(tmp_path, capsys):
    assert ran(tmp_path, "bias-bound/T3", "bias-bound/T1") == 0
    whole = (tmp_path / "report.json").read_bytes()
    assert ran(tmp_path, "bias-bound/T3") == 0
    assert "holds results beyond these" in capsys.readouterr().out
    assert (tmp_path / "report.json").read_bytes() == whole
    part = json.loads((tmp_path / PART / "report.json").read_text())
    assert {row["claim"] for row in part["results"]} == {"bias-bound/T3"}
    assert ran(tmp_path, "bias-bound/T3", "bias-bound/T1", "bias-bound/T2") == 0
    assert {row["claim"] for row in json.loads((tmp_path / "report.json").read_text())["results"]} == {
        "bias-bound/T1", "bias-bound/T2", "bias-bound/T3",
    }  # fmt: skip


def test_a_report_from_before_there_were_pages_gets_them(tmp_path):
    for name in FILES:
        (tmp_path / name).write_text(OURS + ', <meta name="generator" content="f2csa-verify">')
    assert ran(tmp_path, "bias-bound/T3") == 0
    assert {path.name for path in (tmp_path / PAGES).iterdir()} >= {"matrix.html", "bias-bound.html", "style.css"}


def test_pages_of_an_earlier_run_go_and_anybody_elses_stay(tmp_path):
    pages = tmp_path / PAGES
    assert ran(tmp_path, "solution-error/monotonicity") == 0
    assert (pages / "solution-error.html").exists()
    (pages / "notes.html").write_text("mine")
    (pages / "picture.svg").write_text("<!-- f2csa-verify -->")
    (tmp_path / "report.json").unlink()
    assert ran(tmp_path, "bias-bound/T3") == 0
    names = {path.name for path in pages.iterdir()}
    assert names >= {"matrix.html", "bias-bound.html", "style.css", "site.js", "notes.html", "picture.svg"}
    assert "solution-error.html" not in names


@pytest.mark.parametrize("name", ["matrix.html", "bias-bound.html", "style.css", "cause-1.html"])
def test_somebody_elses_page_is_refused_before_the_run(tmp_path, capsys, name):
    (tmp_path / PAGES).mkdir()
    (tmp_path / PAGES / name).write_text("mine")
    assert ran(tmp_path, "bias-bound/T3") == 2
    assert f"{name} that f2csa did not write" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [PAGES]


def test_a_file_where_the_pages_go_is_refused(tmp_path, capsys):
    (tmp_path / PAGES).write_text("mine")
    assert ran(tmp_path, "bias-bound/T3") == 2
    assert "must be a folder" in capsys.readouterr().err
    assert (tmp_path / PAGES).read_text() == "mine"


def test_the_same_run_again_leaves_its_pages_as_they_are_and_mends_a_broken_one(tmp_path):
    page = tmp_path / PAGES / "bias-bound.html"
    assert ran(tmp_path, "bias-bound/T3") == 0
    text, when = page.read_bytes(), page.stat().st_mtime_ns
    assert ran(tmp_path, "bias-bound/T3") == 0
    assert page.stat().st_mtime_ns == when
    page.unlink()
    assert ran(tmp_path, "bias-bound/T3") == 0
    assert page.read_bytes() == text


def test_a_users_own_results_are_left_alone(tmp_path):
    (tmp_path / "results.jsonl").write_text("mine")
    assert ran(tmp_path, "bias-bound/T3") == 0
    assert (tmp_path / "results.jsonl").read_text() == "mine"


OURS = '{"schema": "f2csa-report/1"'


@pytest.mark.parametrize("content", ["", OURS, OURS + ', "results": [1, {}]}', OURS + ', "results": ' + "[" * 9999])
def test_a_broken_report_holds_nothing(tmp_path, content):
    (tmp_path / "report.json").write_text(content)
    assert folder_for(tmp_path, []) == tmp_path


@pytest.mark.parametrize("name", ["report.md", "report.html", "junit.xml", "report.json", STORE])
def test_a_file_that_only_speaks_of_us_is_somebody_elses(tmp_path, name):
    (tmp_path / name).write_text("My notes on f2csa, the F2CSA paper and f2csa-verify.")
    with pytest.raises(InvalidInputError, match="that f2csa did not write"):
        folder_for(tmp_path, [])


def test_an_interrupted_run_leaves_the_report_of_a_whole_one(tmp_path, capsys, monkeypatch):
    assert ran(tmp_path, "bias-bound/T3") == 0
    whole = (tmp_path / "report.json").read_bytes()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("verify.campaign.workers.perform", interrupted)
    assert ran(tmp_path, "bias-bound/T3", "--fresh") == 3
    assert "keeps the report of an earlier run; what is done is kept: run it again to go on" in capsys.readouterr().out
    assert (tmp_path / "report.json").read_bytes() == whole
    assert (tmp_path / STORE).exists()
