"""Finished results are kept as they come, taken where nothing changed, and believed where they prove themselves."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import InvalidInputError
from tests.verify.campaign.store.tiny_runs import (
    CLAIMS,
    NARROW,
    STORE,
    Stranger,
    edit,
    forged,
    made,
    performer,
    rows,
    run,
    text,
    whole,
)  # fmt: skip
from verify.campaign.store import database, packing
from verify.campaign.store.kept_results import Store, StoreRow
from verify.campaign.store.packing import packed, unpacked


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the store of a whole run, made once: nobody may change it here."""
    folder = tmp_path_factory.mktemp("kept")
    with performer():
        run(folder / STORE)
    return folder


@pytest.fixture
def store(kept: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(kept, tmp_path, dirs_exist_ok=True)) / STORE


def test_a_second_run_takes_everything(store: Path) -> None:
    with performer() as second:
        report = run(store)
    assert second.performed == []
    assert report.kept == len(made()) == len(report.results)
    assert text(report) == whole()


def test_a_wider_run_adds_and_a_narrower_one_takes_away_nothing(tmp_path: Path) -> None:
    store = tmp_path / STORE
    with performer() as first:
        assert text(run(store, NARROW)) == whole(NARROW)
    with performer() as second:
        assert text(run(store)) == whole()
    assert set(first.performed) | set(second.performed) == set(made())
    assert set(first.performed).isdisjoint(second.performed)
    with performer() as third:
        assert text(run(store, NARROW)) == whole(NARROW)
        assert text(run(store)) == whole()
    assert third.performed == []


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    store = tmp_path / STORE
    with performer() as first:
        first.ends = 3
        partial = run(store)
    assert not partial.complete
    assert partial.exit_code == 3
    assert len(partial.results) == 3
    seen: list[int] = []
    with performer() as second:
        report = run(store, progress=lambda done, _all, _what: seen.append(done))
    assert seen[0] == 4
    assert len(second.performed) == len(made()) - 3
    assert text(report) == whole()


def test_another_seed_profile_or_effort_is_another_result(store: Path) -> None:
    for how in ({"seed": 3}, {"effort": 4, "resume": False}):
        with performer() as other:
            run(store, NARROW, **how)
        assert len(other.performed) == len([key for key in made() if key.startswith(NARROW[0])])
    with performer() as same:
        run(store)
    assert same.performed == []


def test_everything_is_run_anew_on_demand_and_replaces_what_was_there(store: Path) -> None:
    with performer() as again:
        report = run(store, fresh=True)
    assert len(again.performed) == len(made())
    assert report.kept == 0
    assert len(rows(store)) == len(made())


def test_a_strangers_results_are_taken_only_when_asked_for(tmp_path: Path) -> None:
    store = tmp_path / STORE
    with performer() as first:
        run(store, subject=Stranger(), readings=["repaired"], resume=False)
    with performer() as second:
        report = run(store, subject=Stranger(), readings=["repaired"], resume=False)
    assert len(second.performed) == len(first.performed) > 0
    assert "not all that they depend on is known (--resume takes them)" in report.notices[0]
    with performer() as third:
        assert run(store, subject=Stranger(), readings=["repaired"]).kept == len(first.performed)
    newer = Stranger()
    newer.version = "2"
    with performer() as fourth:
        run(store, subject=newer, readings=["repaired"])
    assert third.performed == []
    assert len(fourth.performed) == len(first.performed)


def test_a_fault_is_kept_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from verify.campaign import workers
    from verify.campaign.plan import fault

    store = tmp_path / STORE
    with monkeypatch.context() as patch:
        patch.setattr(workers, "perform", lambda task, subject: fault(task, "no luck", 0.0))
        report = run(store)
    assert len(report.faults) == len(report.results) == len(rows(store))
    with performer() as second:
        assert text(run(store)) == whole()
    assert len(second.performed) == len(made())


EDITS = {
    '"verdict":"REFUTED"': '"verdict":"SUPPORTED"',
    '"verdict":"SUPPORTED"': '"verdict":"REFUTED"',
    '"premise":"licq","holds":true': '"premise":"licq","holds":false',
    '"sentence":"': '"sentence":"Not ',
}


@pytest.mark.parametrize("old", EDITS)
@pytest.mark.parametrize("with_digest", [False, True])
def test_an_edited_result_is_dropped_and_run_again(store: Path, old: str, with_digest: bool) -> None:
    row = next(row for row in rows(store) if old in row.result)
    changed = row.result.replace(old, EDITS[old], 1)
    if with_digest:
        edit(store, row, digest=forged(row, **json.loads(changed)).digest, result=changed)
    else:
        edit(store, row, result=changed)
    with performer() as again:
        report = run(store)
    assert [f"{row.name}: the kept result was dropped" in line for line in report.notices] == [True]
    assert len(again.performed) == 1
    assert text(report) == whole()
    with performer() as third:
        assert run(store).notices == ()
    assert third.performed == []


_LIE = {"claim": "bias-bound/T3", "reading": "repaired", "instance": "toy1", "verdict": "REFUTED", "sentence": "No."}
LIES = (
    {"result": ""}, {"result": "{"}, {"result": "[]"}, {"result": "[" * 100_000}, {"result": "9" * 5000},
    {"result": json.dumps(_LIE)}, {"result": b"\xff"}, {"inputs": "{}"}, {"inputs": "[" * 100_000},
    {"inputs": b"\xff\xfe"}, {"digest": ""}, {"digest": b"\x00"}, {"seconds": -1.0}, {"seconds": "long"},
    {"inputs": json.dumps(_LIE)},
)  # fmt: skip


@pytest.mark.parametrize("lie", LIES, ids=range(len(LIES)))
def test_what_is_no_finished_result_is_run_again(store: Path, lie: dict[str, object]) -> None:
    edit(store, rows(store)[0], **lie)
    if lie == LIES[-1]:
        with sqlite3.connect(store) as connection:
            held = packed(json.dumps(_LIE))
            connection.execute("UPDATE cells SET result = CAST(x'ff00ff' AS TEXT) WHERE inputs = ?", (held,))
        connection.close()
    with performer() as again:
        report = run(store)
    assert len(again.performed) == len(report.notices) == 1
    assert text(report) == whole()


@pytest.mark.parametrize(
    "change", [{"verdict": None}, {"fault": "both"}, {"instance": "toy2"}, {"effort": 4}, {"claim": "solution-error"}]
)
def test_a_result_of_something_else_is_run_again(store: Path, change: dict[str, object]) -> None:
    row = next(row for row in rows(store) if row.name == "bias-bound/T3 [repaired] on toy1")
    lie = forged(row, **change)
    edit(store, row, digest=lie.digest, result=lie.result)
    with performer() as again:
        report = run(store)
    assert len(again.performed) == 1
    assert "the kept result was dropped" in report.notices[0]
    assert text(report) == whole()


def test_a_result_under_another_ones_address_is_run_again(store: Path) -> None:
    first, second, *_ = rows(store)
    with sqlite3.connect(store) as connection:
        moved = second._replace(address=first.address)
        connection.execute("REPLACE INTO cells VALUES (?, ?, ?, ?, ?)", moved.packed)
    connection.close()
    with performer() as again:
        assert text(run(store)) == whole()
    assert len(again.performed) == 1


@given(st.text(st.characters()))
def test_a_text_comes_back_from_its_column(text: str) -> None:
    assert unpacked(packed(text)) == text


@pytest.mark.parametrize("column", [
    b"", b"plain", packed("whole")[:-1], packed("whole") + b"more", zlib.compress(b"\xff"), "a text", 1.0, None,
])  # fmt: skip
def test_a_column_that_nobody_packed_stays_as_it_is(column: object) -> None:
    assert unpacked(column) is column


def test_a_text_too_long_to_be_a_result_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    column = packed("0" * 1000)
    monkeypatch.setattr(packing, "_LONGEST", 999)
    assert unpacked(column) is column


def test_two_runs_on_one_store_are_one_and_a_clear_line(store: Path) -> None:
    with Store(store) as _:
        with pytest.raises(InvalidInputError, match="must not be in use: another run is writing to it"):
            run(store)
        with pytest.raises(InvalidInputError, match="in use"):
            Store(store, to_read=True)
    with performer() as after:
        assert text(run(store)) == whole()
    assert after.performed == []


def test_a_store_of_version_2_is_read_and_gone_on_from_and_is_then_of_this_version(store: Path) -> None:
    run(store)
    with sqlite3.connect(store) as connection:
        rows = connection.execute("SELECT address, inputs, result FROM cells").fetchall()
        for address, inputs, result in rows:
            alone = [zlib.compress(unpacked(each).encode()) for each in (inputs, result)]
            connection.execute("UPDATE cells SET inputs = ?, result = ? WHERE address = ?", (*alone, address))
        connection.execute("PRAGMA user_version=2")
    connection.close()
    content = store.read_bytes()
    with Store(store, to_read=True) as old:
        assert len(list(old.by_address(address for address, _, _ in rows))) == len(rows) > 0
        assert old.notices == []
    assert store.read_bytes() == content
    with performer() as after:
        assert text(run(store)) == whole()
    assert after.performed == []
    assert int.from_bytes(store.read_bytes()[60:64], "big") == database.VERSION


def test_a_text_that_needs_another_dictionary_stays_packed() -> None:
    stream = zlib.compressobj(zdict=b"another dictionary")
    column = stream.compress(b"another dictionary is needed") + stream.flush()
    assert unpacked(column) is column
    assert len(packing.dictionary()) <= 1 << 15
    assert len(packed(packing.dictionary().decode())) < 500


def changed(store: Path, at: int, value: bytes) -> bytes:
    content = bytearray(store.read_bytes())
    content[at : at + len(value)] = value
    store.write_bytes(content)
    return bytes(content)


@pytest.mark.parametrize(
    ("at", "value", "says"),
    [
        (60, (database.VERSION + 1).to_bytes(4, "big"), "version 2 or 3: another f2csa wrote it"),
        (68, b"\0\0\0\0", "f2csa did not write"),
        (0, b"X", "f2csa did not write"),
        (100, b"\xff" * 200, "damaged"),
        (4096, b"\xff" * 4096, "damaged"),
    ],
)
def test_a_store_that_is_not_ours_or_broken_is_refused_and_kept(store: Path, at: int, value: bytes, says: str) -> None:
    content = changed(store, at, value)
    for open_it in (lambda: run(store), lambda: Store(store, to_read=True)):
        with pytest.raises(InvalidInputError, match=says):
            open_it()
    assert store.read_bytes() == content


def test_a_store_with_more_in_it_is_not_ours(store: Path) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute("CREATE TRIGGER lie AFTER INSERT ON cells BEGIN DELETE FROM cells; END")
    connection.close()
    with pytest.raises(InvalidInputError, match="damaged"):
        run(store)


@pytest.mark.parametrize("part", [1, 50, 99, 100, 1000, 4096, 4097, 8192, -1])
def test_a_store_cut_off_anywhere_is_refused_and_kept(store: Path, part: int) -> None:
    content = store.read_bytes()[:part]
    store.write_bytes(content)
    with pytest.raises(InvalidInputError):
        run(store)
    assert store.read_bytes() == content


def test_an_empty_file_is_nobodys_unless_results_lie_beside(tmp_path: Path) -> None:
    store = tmp_path / STORE
    store.touch()
    with performer():
        assert text(run(store)) == whole()
    store.write_bytes(b"")
    (tmp_path / f"{STORE}-wal").write_bytes(b"results")
    with pytest.raises(InvalidInputError, match="must not be missing"):
        run(store)


def test_a_folder_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="in a folder that can be written"):
        run(Path("/proc/nowhere") / STORE)


def test_a_row_says_all_that_a_result_is_a_function_of(store: Path) -> None:
    asked = [row.asked for row in rows(store)]
    assert {entry["claim"].split("/")[0] for entry in asked} == {claim.split("/")[0] for claim in CLAIMS}
    assert all(StoreRow.of(row.inputs, row.read()[0]) == row for row in rows(store))
    assert all({"code", "problem", "statement", "seed", "environment", "decisions"} <= entry.keys() for entry in asked)


def test_what_is_remembered_is_forgotten_where_it_was_edited(store: Path) -> None:
    with Store(store) as kept:
        kept.remember("searches by ", "one", {"a": "1"})
        kept.remember("searches by ", "two", {"a": "2"})
        kept.remember("others by ", "one", {"a": "3"})
        assert kept.remembered("searches by one") == {}
        assert kept.remembered("searches by two") == {"a": "2"}
        assert kept.remembered("others by one") == {"a": "3"}
    with sqlite3.connect(store) as connection:
        connection.execute("""UPDATE notes SET text = '{"a": "4"}' WHERE name LIKE 'searches by%'""")
    connection.close()
    with Store(store) as kept:
        assert kept.remembered("searches by two") == {}


def test_the_pages_are_drawn_again_where_they_were_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from verify.cli.main import invoke
    from verify.cli.runs import verify as command

    arguments = ["verify", *NARROW, "--profile", "smoke", "--instance", "toy1", "--jobs", "1", "--out", str(tmp_path)]
    drawn: list[Path] = []
    plain = command.write
    monkeypatch.setattr(command, "write", lambda *given: drawn.append(given[1]) or plain(*given))
    with performer():
        invoke(arguments)
        first = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix in (".md", ".html", ".xml")}
        invoke(arguments)
        assert len(drawn) == 1
        (tmp_path / "report.md").write_text("<!-- f2csa-verify --> edited")
        invoke(arguments)
        (tmp_path / "pages" / "matrix.html").unlink()
        invoke(arguments)
        assert len(drawn) == 3
        invoke([*arguments, "--seed", "3"])
    assert len(drawn) == 4
    assert {name: (tmp_path / name).read_bytes() for name in first} != first
    with performer():
        invoke(arguments)
    assert {name: (tmp_path / name).read_bytes() for name in first} == first
