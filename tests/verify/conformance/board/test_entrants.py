"""A board of programs: what stands in it, what it warns of, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spec.errors import InvalidInputError
from tests.verify.report.site.browser import CHROMIUM, DESK, PHONE, Visit, visit
from tests.verify.report.site.story_reports import FELL, HELD, both, report
from verify.cli.main import invoke
from verify.conformance.board.board_page import board_markdown, board_page
from verify.conformance.board.entrants import board_of
from verify.conformance.found import StageFinding
from verify.conformance.model import Conformance
from verify.report.report_files import Report as Made
from verify.report.report_files import render_json, write


def made(name: str, folder: Path, *, falls: bool, stage: str = "", **more: object) -> Made:
    """A report of a program in a folder, with or without what its stages came out with."""
    found = [one for one in both("bias-bound/T1", HELD, 1.0) if one.reading == "repaired"]
    fallen = [one for one in both("dual-extraction", FELL, -4.0) if one.reading == "as-written"]
    fallen = [one.model_copy(update={"reading": "repaired"}) for one in fallen] if falls else [
        one for one in both("dual-extraction", HELD, -1.0) if one.reading == "repaired"]  # fmt: skip
    whole = report([*found, *fallen]).model_copy(update={"subject": name, "subject_version": "0.3", **more})
    write(whole, folder)
    if stage:
        asked = Conformance(
            environment={"f2csa-verify": "0.1.0"}, seed=whole.seed, subject=name, profile=whole.profile,
            stages=(StageFinding(stage="activation", status=stage, sentence="Seen.", compared=3, refused=0,
                                 diverging=0, worst=0.0, divergence=None),),
            first=None, reproduction=None, claims=(), findings=(), faults=(), seconds=1.0,
        )  # fmt: skip
        (folder / "conform.json").write_text(json.dumps(asked.content()))
    return whole


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    made("good:Subject", tmp_path / "good", falls=False, stage="agrees")
    made("bad:Subject", tmp_path / "bad", falls=True, stage="diverges")
    made("third <b>", tmp_path / "third", falls=False)
    return [tmp_path / name for name in ("good", "bad", "third")]


def test_programs_stand_side_by_side_with_stages_and_statements(folders: list[Path]) -> None:
    board = board_of(folders)
    assert [one.name for one in board.entrants] == ["good:Subject", "bad:Subject", "third <b>"]
    assert [one.coverage.held for one in board.entrants] == [2, 1, 2]
    assert [one.status_of.get("activation") for one in board.entrants] == ["agrees", "diverges", None]
    assert board.differing == ("dual-extraction",)
    assert {one.version for one in board.entrants} == {"0.3"}
    assert list(board.cautions) == []
    text = board_markdown(board)
    assert "| `activation` | ✓ agrees | ✗ diverges | not asked |" in text
    assert "| `dual-extraction` | ✓ holds | ✗ refuted | ✓ holds |" in text
    assert "1 statement comes out alike." in text
    page = board_page(board, folders[0].parent / "board")
    assert 'href="../good/report.html"' in page
    assert "third &lt;b&gt;" in page
    assert "third <b>" not in page


def test_runs_that_are_not_comparable_are_said_to_be(folders: list[Path], tmp_path: Path) -> None:
    made("good:Subject", tmp_path / "again", falls=False, profile="smoke", complete=False)
    board = board_of([*folders, tmp_path / "again" / "report.json"])
    assert [line.split(":")[0] for line in board.cautions] == [
        "The runs have different profiles", "The run of good",
    ]  # fmt: skip
    assert f"good:Subject ({tmp_path / 'again'})" in board_page(board, tmp_path)


def test_a_reports_file_alone_is_enough(tmp_path: Path) -> None:
    whole = made("mine:Subject", tmp_path / "a", falls=False)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "report.json").write_text(render_json(whole))
    (one,) = board_of([tmp_path / "a" / "report.json"]).entrants
    assert (one.name, one.page) == ("mine:Subject", str(tmp_path / "a" / "report.html"))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda at: [at / "nowhere"], "must be there"),
        (lambda at: [at], "must hold a report.json or a conform.json"),
        (lambda at: [at / "good", at / "good" / "report.json"], "must not hold a report twice"),
        (lambda at: [at / "good" / "report.html"], "must be a folder of a report"),
        (lambda at: [at / "broken"], "must be a report.json"),
        (lambda at: [at / "mixed"], "of one program"),
        (lambda at: [], "must be folders of reports"),
    ],
)  # fmt: skip
def test_what_is_no_report_is_refused_in_one_line(make, said: str, folders: list[Path], tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "report.json").write_text('{"schema": "other"}')
    made("one:Subject", tmp_path / "mixed", falls=False, stage="agrees")
    made("two:Subject", tmp_path / "other", falls=False)
    (tmp_path / "mixed" / "report.json").write_text((tmp_path / "other" / "report.json").read_text())
    (tmp_path / "mixed" / "evidence.json").write_text((tmp_path / "other" / "evidence.json").read_text())
    with pytest.raises(InvalidInputError, match=said):
        board_of(make(tmp_path))


def test_the_command_writes_both_files_and_refuses_in_one_line(folders: list[Path], tmp_path, capsys) -> None:
    assert invoke(["board", *map(str, folders), "--out", str(tmp_path / "b")]) == 0
    assert capsys.readouterr().out == (tmp_path / "b" / "board.md").read_text()
    assert (tmp_path / "b" / "board.html").is_file()
    assert invoke(["board", *map(str, folders), "--out", str(tmp_path / "b"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["entrants"]) == 3
    assert invoke(["board", str(tmp_path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    (tmp_path / "file").write_text("")
    assert invoke(["board", str(folders[0]), "--out", str(tmp_path / "file")]) == 2


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_the_page_fits_a_phone(folders: list[Path], tmp_path: Path) -> None:
    (tmp_path / "board").mkdir()
    (tmp_path / "board" / "board.html").write_text(board_page(board_of(folders), tmp_path / "board"))
    visits = [Visit("board.html", PHONE, audited=True), Visit("board.html", DESK)]
    seen, console = visit(tmp_path / "board", visits, tmp_path)
    assert [(page.width, page.over > 0, page.axe) for page in seen] == [(PHONE, False, ()), (DESK, False, ())]
    assert console == []
