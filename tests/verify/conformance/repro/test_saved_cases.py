"""Repros as tests of the user's project: red for what is wrong, green for what is right, and nobody's file is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import verify
from spec import InvalidInputError
from tests.verify.conformance.replays import played_here
from verify.campaign.run import run
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.further_questions.asking import Asking
from verify.conformance.further_questions.judging_options import ConformOptions
from verify.conformance.repro.repro import reproduce
from verify.conformance.repro.saved_cases import MARK, file_of, is_case, prepare, save, save_claims
from verify.subjects import load_subject
from verify.subjects.protocol import StageCalls

WRONG = "verify.conformance.bugs.bent_subject:ShiftedRows"


def run_tests(file: Path) -> int:
    """How many tests a file holds, run; raises where one fails."""
    names: dict[str, Any] = {}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), names)
    tests = [value for name, value in names.items() if name.startswith("test_")]
    for test in tests:
        test()
    return len(tests)


def case() -> Any:
    seen = look(StageCalls(by_id("shifted-rows")), only=["activation"])
    return reproduce(seen, f"load_subject({WRONG!r})", played_here)


def test_a_case_is_red_now_and_green_when_right(tmp_path: Path) -> None:
    (file,) = save(tmp_path, WRONG, {"activation": case()})
    assert file.name == "test_verify_conformance_bugs_bent_subject_shiftedrows_activation.py"
    assert is_case(file)
    with pytest.raises(AssertionError, match="must be in"):
        run_tests(file)
    file.write_text(file.read_text(encoding="utf-8").replace(WRONG, "reference"), encoding="utf-8")
    assert run_tests(file) == 1


def test_failed_claims_are_tests_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def here(claims: Any, subject: str, **options: Any) -> Any:
        return run(claims, subject=load_subject(subject), **options)  # no worker is started for it

    monkeypatch.setattr(verify, "run", here)
    wrong = "verify.conformance.bugs.bent_subject:KeepsDualTerm"
    (file,) = save_claims(tmp_path, wrong, [("bias-bound/T3", "toy1")], ("smoke", 0))
    with pytest.raises(AssertionError, match=r"claimed O\(α²\)"):
        run_tests(file)
    file.write_text(file.read_text(encoding="utf-8").replace(wrong, "reference"), encoding="utf-8")
    assert run_tests(file) == 1
    assert save_claims(tmp_path, wrong, [], ("smoke", 0)) == []


def test_somebody_s_file_is_not_lost(tmp_path: Path) -> None:
    theirs = file_of(tmp_path, WRONG, "activation")
    theirs.write_text("mine\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"must hold no file of yours .* --force"):
        prepare(tmp_path, WRONG)
    assert not is_case(theirs)
    prepare(tmp_path, WRONG, force=True)
    theirs.write_text(f"{MARK}\nold\n", encoding="utf-8")
    prepare(tmp_path, WRONG)
    assert save(tmp_path, WRONG, {"activation": case()}) == [theirs]
    assert "old" not in theirs.read_text(encoding="utf-8")


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="--save-cases: must be a folder that can be made"):
        prepare(tmp_path / "file", WRONG)


def test_commands_are_named_and_ended(tmp_path: Path) -> None:
    (file,) = save(tmp_path, "command:node 'my subject.mjs'", {"activation": case()})
    assert file.name == "test_node_my_subject_mjs_activation.py"
    assert "    end(loaded)\n" in file.read_text(encoding="utf-8")
    compile(file.read_text(encoding="utf-8"), "case", "exec")


def test_what_no_name_loads_has_no_cases(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="needs a subject that can be loaded by its name"):
        Asking(ConformOptions("mine", save_cases=tmp_path), "your_subject  # an instance of Mine").prepare()
    seen = look(StageCalls(by_id("shifted-rows")), only=["activation"])
    load = f"load_subject({WRONG!r})"
    (note,) = Asking(ConformOptions(WRONG, save_cases=tmp_path), load).keep(seen, {"activation": case()})
    assert note == f"Kept as a test: {file_of(tmp_path, WRONG, 'activation')}"
    assert Asking(ConformOptions(WRONG), load).keep(seen, {}) == ()
