"""``f2csa experiment``: bad input is one line before any work, and nothing of anybody's is replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.cli.main import invoke


@pytest.mark.parametrize("options", [("--jobs", "0"), ("--seed", "-1"), ("--largest", "399")])
def test_numbers_below_their_least_are_refused(tmp_path: Path, options: tuple[str, str]) -> None:
    assert invoke(["experiment", "scaling", "--quick", "--out", str(tmp_path / "e"), *options]) == 2
    assert not (tmp_path / "e").exists()


@pytest.mark.parametrize("name", ["kinks.csv", "kinks.json", "kinks.html", "kinks.cells.jsonl"])
def test_a_file_that_is_not_ours_is_kept(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / name
    file.write_text("my own notes")
    assert invoke(["experiment", "kinks", "--quick", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert file.read_text() == "my own notes"


@pytest.mark.parametrize("name", ["kinks.csv", "kinks.json", "kinks.html", "kinks.cells.jsonl"])
def test_a_folder_in_a_files_place_is_found_before_any_work(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).mkdir()
    assert invoke(["experiment", "kinks", "--quick", "--resume", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"f2csa: --out: must hold no folder, pipe or device named {name}")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [(("--largest", "9"), "--largest"), (("--entrant", "nobody"), "--entrant: must be module:factory"),
     (("--entrant", "no_such_module:Mine"), "--entrant: cannot be made: ModuleNotFoundError")],
)  # fmt: skip
def test_the_board_refuses_before_any_work(
    tmp_path: Path, options: tuple[str, str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["experiment", "board", "--quick", "--out", str(tmp_path / "e"), *options]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "e").exists()
