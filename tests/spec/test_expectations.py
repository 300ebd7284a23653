"""Lists of what is expected to fail or not to be asked: exact names, each with a reason, or one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.errors import InvalidInputError
from spec.expectations import LARGEST, ExpectedFailure, Skip, listed, read_list, reason_of


def test_names_cover_what_they_say_and_no_steps() -> None:
    (claim, text, one) = listed(
        Skip, {"bias-bound": "a", "bias-bound/T1|as-written": "b", "bias-bound/T1|repaired|toy1": "c"}, "skips"
    )
    assert claim.covers("bias-bound", "as-written", "toy1")
    assert not claim.covers("bias-bound/T1", "repaired", "toy1")
    assert text.covers("bias-bound/T1", "as-written", "drawn:ties:7")
    assert not text.covers("bias-bound/T1", "repaired", "toy1")
    assert one.covers("bias-bound/T1", "repaired", "toy1")
    assert not one.covers("bias-bound/T1", "repaired", "toy2")


def test_a_failure_without_a_reading_is_of_the_repaired_text_alone() -> None:
    (entry,) = listed(ExpectedFailure, {"bias-bound/T1": "why"}, "x")
    assert entry.covers("bias-bound/T1", "repaired", "toy1")
    assert not entry.covers("bias-bound/T1", "as-written", "toy1")


def test_the_narrowest_reason_is_told() -> None:
    entries = listed(ExpectedFailure, {"bias-bound/T1|repaired|toy1": "narrow", "bias-bound/T1": "wide"}, "x")
    assert reason_of(entries, "bias-bound/T1", "repaired", "toy1") == "narrow"
    assert reason_of(entries, "bias-bound/T1", "repaired", "toy2") == "wide"
    assert reason_of(entries, "bias-bound/T2", "repaired", "toy2") == ""


@pytest.mark.parametrize(
    ("name", "reason", "said"),
    [
        ("bias-bound/T9", "r", "known claim or step"),
        ("bias-bound/*", "r", "known claim or step"),
        ("bias-bound/T1|fixed", "r", "reading"),
        ("bias-bound/T1|repaired|toy9", "r", "instance"),
        ("bias-bound/T1|repaired|drawn:ties:7", "r", "draws are counted"),
        ("bias-bound/T1||toy1", "r", "CLAIM|READING|INSTANCE"),
        ("bias-bound/T1|repaired|toy1|x", "r", "CLAIM|READING|INSTANCE"),
        ("", "r", "CLAIM|READING|INSTANCE"),
        ("bias-bound/T1", " ", "reason"),
        ("bias-bound/T1", "two\nlines", "reason"),
        ("bias-bound/T1", "r" * 501, "reason"),
    ],
)
def test_what_means_nothing_is_refused_in_one_line(name: str, reason: str, said: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        listed(Skip, {name: reason}, "skips")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith("skips")


def test_a_file_has_a_name_and_a_reason_on_each_line(tmp_path: Path) -> None:
    file = tmp_path / "xfails.txt"
    file.write_text("\ufeff# ours\n\nbias-bound/T1  # constant step # see 12\n bias-bound/T2|repaired|toy1 #b\n")
    assert [(entry.id, entry.reason) for entry in read_list(ExpectedFailure, file, "--xfails-file")] == [
        ("bias-bound/T1", "constant step # see 12"),
        ("bias-bound/T2|repaired|toy1", "b"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"bias-bound/T1\n", "line 1: must be NAME  # REASON"),
        (b"bias-bound/T1 # a\nbias-bound/T1 # b\n", "line 2: must not name the same twice"),
        (b"\nbias-bound/T77 # a\n", "line 2"),
        (b"\xff\xfe", "UTF-8"),
        (b"# harmless\x0cbias-bound/T1 # hidden\n", "line 1: must hold printable"),
        ("# harmless\u2028bias-bound/T1 # hidden\n".encode(), "line 1: must hold printable"),
        (b"#" * (LARGEST + 1), "at most"),
    ],
)
def test_a_broken_file_names_its_line(tmp_path: Path, text: bytes, said: str) -> None:
    file = tmp_path / "skips.txt"
    file.write_bytes(text)
    with pytest.raises(InvalidInputError, match=said):
        read_list(Skip, file, "--skips-file")


def test_no_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(InvalidInputError, match="cannot be read"):
            read_list(Skip, path, "--skips-file")


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_is_an_entry_or_one_clear_line(name: str, reason: str) -> None:
    try:
        (entry,) = listed(Skip, {name: reason}, "skips")
    except InvalidInputError as error:
        assert "\n" not in str(error)
    else:
        assert entry.claim == name.split("|")[0]
