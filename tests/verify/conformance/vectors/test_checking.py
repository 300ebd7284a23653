"""A folder of vectors is checked: each way of being wrong gives one line that says how."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from spec import InvalidInputError
from verify.cli.main import invoke
from verify.conformance.vectors.checking import VectorFinding, check
from verify.conformance.vectors.release import MANIFEST, contents, write


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The vectors, written once: nobody may change them here."""
    folder = tmp_path_factory.mktemp("written") / "vectors"
    write(folder)
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """A copy of them, to be changed."""
    return Path(shutil.copytree(written, tmp_path / "vectors"))


def rewrite(folder: Path, name: str, change: Any, *, honest: bool = True) -> None:
    """Change one file; honest, the manifest's hash follows."""
    data = json.loads((folder / name).read_text(encoding="utf-8"))
    change(data)
    text = json.dumps(data).encode()
    (folder / name).write_bytes(text)
    if honest and name != MANIFEST:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        manifest["files"][name] |= {"sha256": hashlib.sha256(text).hexdigest(), "bytes": len(text)}
        (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def finding(folder: Path) -> str:
    with pytest.raises(VectorFinding) as caught:
        check(folder)
    line = str(caught.value)
    assert "\n" not in line
    return line


def test_a_fresh_folder_passes_and_is_the_same_every_time(folder: Path) -> None:
    assert check(folder).counts.vectors >= 300
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    write(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before == contents()


def test_a_changed_byte(folder: Path) -> None:
    rewrite(folder, "activation.json", lambda data: None, honest=False)
    assert finding(folder).startswith("activation.json: has sha256 ")


def test_a_missing_file(folder: Path) -> None:
    (folder / "oracle.json").unlink()
    assert finding(folder) == "oracle.json: is missing"


def test_a_file_that_is_not_json(folder: Path) -> None:
    (folder / "oracle.json").write_bytes(b"{")
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    manifest["files"]["oracle.json"]["sha256"] = hashlib.sha256(b"{").hexdigest()
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    assert finding(folder).startswith("oracle.json: is not valid JSON")


def drop_tolerance(data: Any) -> None:
    del data["vectors"][0]["expected"]["rho"]["tolerance"]


def move_value(data: Any) -> None:
    data["vectors"][0]["expected"]["rho"]["value"][0] += 0.5


def move_input(data: Any) -> None:
    data["vectors"][0]["given"]["h"] = {"value": [-0.25] * 2, "exact": ["-1/4"] * 2}


def invent_flag(data: Any) -> None:
    data["vectors"][0]["flags"].append("invented")


def repeat(data: Any) -> None:
    data["vectors"][1] = data["vectors"][0]


def rename(data: Any) -> None:
    data["vectors"][0]["id"] = "activation/renamed"


def misplace(data: Any) -> None:
    data["vectors"][0]["id"] = "oracle/elsewhere"


def drop(data: Any) -> None:
    data["vectors"].pop()


def shorten(data: Any) -> None:
    data["vectors"][0]["expected"]["rho"]["tolerance"].pop()


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (drop_tolerance, "expected.rho.tolerance"),
        (move_value, "double that is not the one nearest"),
        (move_input, "the id was released for other input"),
        (invent_flag, "flag invented is not explained"),
        (repeat, "occurs more than once"),
        (rename, "is not among the released ids"),
        (misplace, "belongs into oracle.json"),
        (drop, "vectors, the manifest says"),
        (shorten, "different lengths"),
    ],
)
def test_a_folder_that_lies_consistently_is_found_out(folder: Path, change: Any, line: str) -> None:
    rewrite(folder, "activation.json", change)
    assert line in finding(folder)


def test_a_manifest_that_was_edited(folder: Path) -> None:
    rewrite(folder, MANIFEST, lambda data: data["flags"]["dual-term"].update(effect="none"))
    assert finding(folder) == "manifest.json: differs from the one released with generator 1"


def test_a_name_that_leads_out_of_the_folder_is_refused(folder: Path) -> None:
    def lead_out(data: Any) -> None:
        data["files"]["../elsewhere.json"] = data["files"].pop("oracle.json")

    rewrite(folder, MANIFEST, lead_out)
    assert "elsewhere" in finding(folder)


def test_no_folder_no_manifest(tmp_path: Path) -> None:
    for bad in (tmp_path / "absent", tmp_path):
        with pytest.raises(InvalidInputError, match="--check"):
            check(bad)


def test_the_command_writes_lists_and_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "made" / "here"
    assert invoke(["vectors", "--out", str(out)]) == 0
    assert "vectors of 5 stages in 7 files" in capsys.readouterr().out
    assert invoke(["vectors", "--check", str(out)]) == 0
    assert capsys.readouterr().out.endswith("as released\n")
    assert invoke(["vectors", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "hypergradient/toy1/alpha-1-10\thypergradient" in "\n".join(lines)
    (out / "oracle.json").unlink()
    assert invoke(["vectors", "--check", str(out)]) == 1
    assert capsys.readouterr().out == "oracle.json: is missing\n"


@pytest.mark.parametrize("arguments", [[], ["--list", "--out", "x"], ["--check", "absent"], ["--unknown"]])
def test_wrong_input_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["vectors", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_out_must_be_a_folder_that_can_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for bad in (file, file / "below"):
        assert invoke(["vectors", "--out", str(bad)]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_a_file_nobody_listed(folder: Path) -> None:
    (folder / "more.json").write_text('{"vectors": []}', encoding="utf-8")
    assert finding(folder) == "more.json: is not in the manifest"


@pytest.mark.parametrize("spelt", ["1/0", "9" * 4400, "1" + "0" * 400])
def test_exact_numbers_that_are_none(folder: Path, spelt: str) -> None:
    def change(data: Any) -> None:
        data["vectors"][0]["expected"]["hypergradient"]["exact"][0] = spelt

    rewrite(folder, "hypergradient.json", change)
    assert "has a double that is not the one nearest to its exact number" in finding(folder)


def test_vectors_of_another_generator_are_not_called_released(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rewrite(folder, MANIFEST, lambda data: data.update(generator="2"))
    assert invoke(["vectors", "--check", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "of generator 2" in said
    assert not said.strip().endswith("vectors as released")
