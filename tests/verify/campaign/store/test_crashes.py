"""Killed, cut off or out of disk at any write: nothing finished is lost, and the next run ends in the same report."""

from __future__ import annotations

import errno
import resource
import shutil
import signal
from pathlib import Path

import pytest

from spec import InvalidInputError
from spec.files import write_files
from tests.verify.campaign.store.tiny_runs import (
    NARROW,
    STORE,
    full_disk,
    in_a_child,
    keys_of,
    killed_run,
    made,
    performer,
    run,
    text,
    whole,
)  # fmt: skip
from verify.campaign.store.database import LOG, StoreError
from verify.campaign.store.kept_results import Store
from verify.campaign.store.merging import merge
from verify.cli.main import invoke


def kept(store: Path) -> set[str]:
    """Keys of the results that a store holds, all of them believed."""
    with Store(store) as found:
        results = found.results(row.address for row in found.rows())
        assert found.notices == []
    return {result.key for result in results.values()}


def test_a_run_that_is_killed_has_all_that_it_finished(tmp_path: Path) -> None:
    total = len(keys_of(NARROW))
    for done in (0, 1, total // 2, total - 1, total):
        store = tmp_path / str(done) / STORE
        assert killed_run(store, done, NARROW) == (-signal.SIGKILL if done < total else 0)
        with performer() as rest:
            assert text(run(store, NARROW)) == whole(NARROW)
        assert len(rest.performed) == total - done
        assert {path.name for path in store.parent.iterdir()} == {STORE}


def test_whatever_part_of_the_log_was_written_the_results_before_it_are_there(tmp_path: Path) -> None:
    store, copy = tmp_path / "a" / STORE, tmp_path / "b" / STORE
    copy.parent.mkdir()
    order: list[str] = []

    def look(done: int, total: int, key: str) -> None:
        order.append(key)
        if done == total:
            for ending in ("", LOG):
                shutil.copy(f"{store}{ending}", f"{copy}{ending}")

    with performer():
        run(store, NARROW, progress=look)
    log, main = Path(f"{copy}{LOG}").read_bytes(), copy.read_bytes()
    frame = 24 + 4096
    ends = [32 + k * frame for k in range((len(log) - 32) // frame + 1)]
    assert ends[-1] == len(log)
    counts = []
    for end in sorted({0, 1, 31, *ends, *(end - 1 for end in ends[1:]), *(end + frame // 2 for end in ends[:-1:7])}):
        copy.write_bytes(main)
        Path(f"{copy}{LOG}").write_bytes(log[:end])
        found = kept(copy)
        assert found == set(order[: len(found)])
        counts.append(len(found))
    assert counts == sorted(counts)
    assert set(counts) == set(range(len(order) + 1))


def test_a_disk_that_is_full_at_any_write_loses_nothing_finished(tmp_path: Path) -> None:
    store, writes = tmp_path / STORE, 0
    while True:
        store.unlink(missing_ok=True)
        with full_disk(writes), performer() as first:
            try:
                report = run(store, NARROW)
            except (StoreError, InvalidInputError) as error:
                assert "disk is full" in str(error)
            else:
                break
        assert [path.name for path in tmp_path.iterdir()] in ([], [STORE])
        with performer() as rest:
            assert text(run(store, NARROW)) == whole(NARROW)
        # What could not be written is the only one to be found twice.
        assert len(first.performed) + len(rest.performed) in (len(keys_of(NARROW)), len(keys_of(NARROW)) + 1)
        writes += 1
    assert text(report) == whole(NARROW)
    # The three tables, what is remembered of the code, two commits, the plan and every result.
    assert writes == 8 + len(keys_of(NARROW))


def test_a_merge_that_fails_at_any_write_leaves_what_was_there(tmp_path: Path) -> None:
    with performer():
        run(tmp_path / "a.sqlite", NARROW)
        run(tmp_path / "b.sqlite", ("solution-error",))
    before = kept(tmp_path / "a.sqlite")
    for writes in range(3):
        with full_disk(writes), pytest.raises((StoreError, InvalidInputError), match="disk is full"):
            merge([tmp_path / "b.sqlite"], tmp_path / "a.sqlite")
        assert kept(tmp_path / "a.sqlite") == before
    merge([tmp_path / "b.sqlite"], tmp_path / "a.sqlite")
    assert kept(tmp_path / "a.sqlite") == set(made())


@pytest.mark.parametrize("size", [0, 1, 4096, 20_000, 40_000, 60_000, 120_000])
def test_files_that_cannot_grow_beyond_any_size_lose_nothing_finished(size: int, tmp_path: Path) -> None:
    store = tmp_path / STORE

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        with performer():
            run(store)

    code = in_a_child(limited)
    before = kept(store) if store.exists() else set()
    assert (code == 0) == (before == set(made()))
    with performer() as rest:
        assert text(run(store)) == whole()
    assert set(rest.performed) == set(made()) - before


def test_the_command_says_in_one_line_that_the_disk_is_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["verify", "bias-bound/T3", "--profile", "smoke", "--instance", "toy1", "--jobs", "1"]
    with full_disk(9), performer():
        assert invoke([*arguments, "--out", str(tmp_path)]) == 3
    said = capsys.readouterr().err
    assert (
        said == f"f2csa: {tmp_path / STORE} failed (database or disk is full); what was finished before is kept in it\n"
    )
    assert not (tmp_path / "report.json").exists()
    with performer() as rest:
        assert invoke([*arguments, "--out", str(tmp_path)]) == 0
    assert len(rest.performed) == 12  # of fifteen: the texts, partial repairs, and the other literal readings


def test_a_disk_that_fills_when_the_report_is_written_is_a_fault_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with performer():
        for command in ("verify", "baseline record"):
            out = tmp_path / command.replace(" ", "-")
            asked = [*command.split(), "bias-bound/T3", "--profile", "smoke", "--instance", "toy1", "--jobs", "1"]
            with monkeypatch.context() as patch:
                patch.setattr(Path, "write_text", _full)
                assert invoke([*asked, "--out", str(out)]) == 3
            said = capsys.readouterr().err
            assert said == f"f2csa: {out}: No space left on device\n"
            assert invoke([*asked, "--out", str(out)]) == 0
            capsys.readouterr()


def _full(path: Path, *_: str, **__: str) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


OLD, NEW = dict.fromkeys("abc", "old"), dict.fromkeys("abc", "new " * 2000)


@pytest.mark.parametrize("action", ["write_text", "replace"])
@pytest.mark.parametrize("failing", [1, 2, 3])
def test_each_file_of_a_report_is_old_or_new_and_whole(
    action: str, failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, OLD)
    plain, calls = getattr(Path, action), []

    def fails(path: Path, *given: str, **how: str) -> object:
        calls.append(path)
        if len(calls) == failing:
            if action == "write_text":
                plain(path, "cut", **how)
            raise OSError(28, "No space left on device")
        return plain(path, *given, **how)

    with monkeypatch.context() as patch:
        patch.setattr(Path, action, fails)
        with pytest.raises(OSError, match="No space left"):
            write_files(tmp_path, NEW)
    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    new = failing - 1 if action == "replace" else 0
    assert found == OLD | {name: NEW[name] for name in "abc"[:new]}


def test_a_report_that_does_not_fit_leaves_the_old_one(tmp_path: Path) -> None:
    write_files(tmp_path, OLD)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
        write_files(tmp_path, NEW)

    assert in_a_child(limited) == 1
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == OLD


def test_a_folder_within_is_old_or_new_and_none_is_left_by_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(path: Path, *_: str, **__: str) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", fails)
        with pytest.raises(OSError, match="No space left"):
            write_files(tmp_path, {"a": "new", "in/b": "new"})
    assert list(tmp_path.iterdir()) == []
    write_files(tmp_path, {"a": "old", "in/b": "old"})
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", fails)
        with pytest.raises(OSError, match="No space left"):
            write_files(tmp_path, {"a": "new", "in/b": "new", "in/c": "new"})
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "in"]
    assert (tmp_path / "in" / "b").read_text() == "old"
