"""A run that nothing changed since is told again, word for word; whatever changed, the run goes its whole way."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from verify.campaign import run_environment
from verify.cli.main import invoke
from verify.cli.output.folder import PAGES
from verify.cli.runs import unchanged_run
from verify.cli.runs import verify as whole_run
from verify.report.formats import times

ASKED = (
    "verify", "bias-bound/T3", "solution-error", "dual-extraction", "--profile", "smoke", "--jobs", "1",
    "--instance", "toy1", "--instance", "toy2",
)  # fmt: skip
"""More results than are told one by one."""


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, made once: nobody may change it here."""
    folder = tmp_path_factory.mktemp("first")
    assert invoke([*ASKED, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def folder(first: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(first, tmp_path / "report"))


class Asked:
    """Runs the command on a folder and counts the runs that went their whole way."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.capsys, self.whole = folder, capsys, 0
        watched = whole_run.watched

        def counting(*asked: Any, **how: Any) -> Any:
            self.whole += 1
            return watched(*asked, **how)

        monkeypatch.setattr(whole_run, "watched", counting)

    def __call__(self, *more: str) -> list[str]:
        """What it says, line by line, its seconds left out."""
        self.capsys.readouterr()
        assert invoke([*ASKED, *more, "--out", str(self.folder)]) == 0
        *lines, last = self.capsys.readouterr().out.splitlines()
        return [*lines, last.partition(" in ")[0], last.partition(" s; ")[2]]


@pytest.fixture
def asked(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(folder, capsys, monkeypatch)


def test_it_says_what_the_whole_way_says_and_writes_its_time_alone(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {path: path.read_bytes() for path in asked.folder.rglob("*") if path.is_file()}
    before = times.read(asked.folder / times.FILE)
    told = asked()
    assert asked.whole == 0
    assert {path.name for path, held in files.items() if path.read_bytes() != held} == {times.FILE}
    after = times.read(asked.folder / times.FILE)
    assert before is not None
    assert after is not None
    assert after.results == before.results
    assert 0 < after.seconds < before.seconds
    monkeypatch.setattr(unchanged_run, "about", lambda _asked: "")
    assert asked() == told
    assert asked.whole == 1
    assert told[-3].endswith("were kept from earlier runs")


@pytest.mark.parametrize("name", ["report.json", "report.html", "junit.xml", f"{PAGES}/matrix.html", times.FILE])
@pytest.mark.parametrize("gone", [False, True])
def test_a_file_that_somebody_damaged_or_deleted_is_made_anew(asked: Asked, name: str, gone: bool) -> None:
    file = asked.folder / name
    held = file.read_text(encoding="utf-8")
    if gone:
        file.unlink()
    else:
        file.write_text(held.replace("0", "1"), encoding="utf-8")
    asked()
    assert asked.whole == 1
    assert file.read_text(encoding="utf-8") == held or name == times.FILE
    asked()
    assert asked.whole == 1


def test_a_damaged_result_is_found_and_run_again(asked: Asked) -> None:
    with closing(sqlite3.connect(asked.folder / "store.sqlite")) as store, store:
        store.execute("UPDATE cells SET seconds = seconds + 1 WHERE address = (SELECT min(address) FROM cells)")
    assert any("the kept result was dropped: it is not what was written" in line for line in asked())
    assert asked.whole == 1


def test_what_is_remembered_of_a_run_and_was_edited_is_not_told(asked: Asked) -> None:
    with closing(sqlite3.connect(asked.folder / "store.sqlite")) as store, store:
        edited = "UPDATE notes SET text = replace(text, 'REFUTED', 'SUPPORTED') || ' ' WHERE name LIKE ?"
        assert store.execute(edited, (unchanged_run.KIND + "%",)).rowcount == 1
    asked()
    assert asked.whole == 1


def test_another_code_version_machine_or_command_goes_its_whole_way(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OtherHouse:
        whole = "0" * 64

    with monkeypatch.context() as changed:
        changed.setattr(unchanged_run, "installed", OtherHouse)
        asked()
    with monkeypatch.context() as changed:
        changed.setattr(unchanged_run, "environment", lambda: run_environment.environment() | {"libm": "another"})
        asked()
    version = metadata.version
    with monkeypatch.context() as changed:
        changed.setattr(metadata, "version", lambda name: "0.0" if name == "pydantic" else version(name))
        asked("--fresh")
    asked("--quiet")
    asked("--table")
    asked("--fresh")
    assert asked.whole == 6


def test_settings_and_a_baseline_that_changed_go_their_whole_way(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    record = {"bias-bound/T3|as-written|toy1": "REFUTED"}
    for changed, whole in ((record, 1), (record, 1), (record | {"bias-bound/T3|repaired|toy1": "SUPPORTED"}, 2)):
        Path("base.json").write_text(json.dumps(changed), encoding="utf-8")
        Path("f2csa.toml").write_text('baseline = "base.json"', encoding="utf-8")
        assert any("settings of" in line for line in asked())
        assert asked.whole == whole
    skips = 'subject = "reference"\nbaseline = "base.json"\n[skips]\n"solution-error" = "slow"'
    Path("f2csa.toml").write_text(skips, encoding="utf-8")
    asked()
    assert asked.whole == 3


def test_another_run_in_between_is_noticed(asked: Asked) -> None:
    assert invoke(["verify", "bias-bound/T3", "--profile", "smoke", "--jobs", "1", "--out", str(asked.folder)]) == 0
    asked()
    assert asked.whole == 2
    asked()
    assert asked.whole == 2


def test_somebody_elses_page_is_refused_though_nothing_changed(
    asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    (asked.folder / PAGES / "cause-99.html").write_text("mine", encoding="utf-8")
    assert invoke([*ASKED, "--out", str(asked.folder)]) == 2
    assert "cause-99.html that f2csa did not write" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [("--jobs", "0"), ("--time-limit", "-1"), ("--causes", "-1"), ("--seed", "-1")])
def test_wrong_input_is_refused_though_nothing_changed(
    folder: Path, wrong: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke([*ASKED, *wrong, "--out", str(folder)]) == 2
    assert capsys.readouterr().out == ""
