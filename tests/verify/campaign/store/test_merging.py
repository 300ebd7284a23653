"""A run cut into shares and merged is the run: the same files, byte for byte, apart from times."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

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
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.store.database import NAME
from verify.campaign.store.kept_results import Store
from verify.campaign.store.merging import ContradictionError, merge
from verify.campaign.store.shards import Shard
from verify.campaign.store.stored_report import fullest, report_of
from verify.cli.main import invoke
from verify.report.formats import times

QUICK = ["--profile", "smoke", "--instance", "toy1", "--instance", "toy2", "--jobs", "1"]


def replayed(store: Path, **asked: object) -> str:
    with Store(store, to_read=True) as kept:
        return text(report_of(kept, fullest(kept, **asked), shipped_record()))


def files(folder: Path) -> dict[str, bytes]:
    left = (path for path in folder.iterdir() if path.is_file() and path.name not in (NAME, times.FILE))
    return {path.name: path.read_bytes() for path in left}


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shares_are_even_and_together_the_run(count: int, tmp_path: Path) -> None:
    done: list[str] = []
    sizes = []
    for number in range(1, count + 1):
        with performer() as share:
            report = run(tmp_path / f"{number}.sqlite", shard=Shard(number, count))
        done += share.performed
        sizes.append(len(share.performed))
        assert report.changes == (f"shard {number}/{count} of a run: {sizes[-1]} of its {len(made())} results",)
    assert sorted(done) == sorted(made())
    assert max(sizes) - min(sizes) <= 1
    shares = [tmp_path / f"{number}.sqlite" for number in range(1, count + 1)]
    random.Random(count).shuffle(shares)
    assert merge(shares, tmp_path / "all.sqlite").results == len(made())
    assert replayed(tmp_path / "all.sqlite") == whole()


def test_half_shares_merged_give_the_files_of_one_run_byte_for_byte(tmp_path: Path) -> None:
    out = {name: tmp_path / name for name in ("one", "a", "b", "c", "again")}
    with performer():
        code = invoke(["verify", *CLAIMS, *QUICK, "--out", str(out["one"])])
        assert invoke(["verify", *CLAIMS, *QUICK, "--shard", "1/2", "--out", str(out["a"])]) in (0, 1)
        assert invoke(["verify", *CLAIMS, *QUICK, "--shard", "2/2", "--out", str(out["b"])]) in (0, 1)
    assert invoke(["report", str(out["a"]), "--out", str(tmp_path / "half")]) == 3
    assert invoke(["merge", str(out["b"]), str(out["a"]), "--out", str(out["c"])]) == 0
    assert invoke(["report", str(out["c"])]) == code
    assert files(out["c"]) == files(out["one"])
    assert invoke(["report", str(out["one"]), "--out", str(out["again"])]) == code
    assert files(out["again"]) == files(out["one"])
    told = json.loads((out["c"] / times.FILE).read_text())
    assert told["results"].keys() == made().keys()
    assert told["seconds"] == pytest.approx(0.25 * len(made()))
    with performer() as after:
        assert invoke(["verify", *CLAIMS, *QUICK, "--out", str(out["c"])]) == code
    assert after.performed == []
    assert files(out["c"]) == files(out["one"])


def test_a_share_leaves_a_fuller_report_where_it_is(tmp_path: Path) -> None:
    with performer():
        invoke(["verify", *CLAIMS, *QUICK, "--out", str(tmp_path)])
        before = files(tmp_path)
        invoke(["verify", *CLAIMS, *QUICK, "--out", str(tmp_path), "--shard", "1/2"])
    assert files(tmp_path) == before
    assert files(tmp_path / "part").keys() == before.keys()


def files_of(path: Path) -> dict[str, bytes]:
    return {child.name: child.read_bytes() for child in path.iterdir()}


def test_merging_again_or_into_itself_adds_nothing(tmp_path: Path) -> None:
    store = tmp_path / STORE
    with performer():
        run(store)
    assert merge([store, store], tmp_path / "c.sqlite").added == len(made())
    before = rows(store)
    assert merge([tmp_path / "c.sqlite", store], store).added == 0
    assert rows(store) == before


def test_stores_of_different_claims_make_one_report(tmp_path: Path) -> None:
    with performer():
        run(tmp_path / "a", NARROW)
        run(tmp_path / "b", CLAIMS[1:])
    for order in (["a", "b"], ["b", "a"]):
        merge([tmp_path / name for name in order], tmp_path / "".join(order))
    both = [json.loads(replayed(tmp_path / name)) for name in ("ab", "ba")]
    assert both[0] == both[1]
    assert {row["claim"] for row in both[0]["summary"]} == {key.split("|")[0] for key in made()}
    assert len(both[0]["results"]) == len(made())


def test_a_narrower_run_afterwards_hides_nothing_of_a_fuller_one(tmp_path: Path) -> None:
    with performer():
        run(tmp_path / STORE)
        run(tmp_path / STORE, NARROW)
        run(tmp_path / STORE, NARROW, seed=3)
        run(tmp_path / STORE, NARROW, subject=Stranger(), readings=["repaired"])
    assert replayed(tmp_path / STORE) == whole()
    assert json.loads(replayed(tmp_path / STORE, seed=3))["seed"] == 3
    assert json.loads(replayed(tmp_path / STORE, subject="stranger"))["subject"] == "stranger"
    with pytest.raises(InvalidInputError, match="must hold a run of profile full"):
        replayed(tmp_path / STORE, profile="full")


def test_other_evidence_of_the_same_is_a_clear_fault_and_nothing_is_merged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b, c = (tmp_path / f"{name}.sqlite" for name in "abc")
    with performer():
        run(a)
        run(b)
    row = next(row for row in rows(b) if "bias-bound/T3" in row.name)
    lie = forged(row, reproduce="otherwise")
    assert lie.result != row.result
    assert lie.read()[0] is not None
    edit(b, row, digest=lie.digest, result=lie.result)
    with pytest.raises(ContradictionError, match="different evidence"):
        merge([a, b], c)
    assert not c.exists()
    before = rows(a)
    assert invoke(["merge", str(b), "--out", str(a)]) == 3
    said = f"f2csa: {row.name}: two stores hold different evidence of the same run (reproduce); nothing was merged\n"
    assert capsys.readouterr().err == said
    assert rows(a) == before
    # What came before the contradiction is not merged either.
    with performer():
        run(tmp_path / "new.sqlite", seed=3)
    with pytest.raises(ContradictionError):
        merge([tmp_path / "new.sqlite", b], a)
    assert rows(a) == before


def test_a_result_replaces_a_fault_whatever_the_order(tmp_path: Path) -> None:
    a, b = tmp_path / "a.sqlite", tmp_path / "b.sqlite"
    with performer():
        run(a)
        run(b)
    for row in rows(b):
        lie = forged(row, verdict=None, fault="no luck", sentence="Fault: no luck", evidence=[], rung=None)
        edit(b, row, digest=lie.digest, result=lie.result)
    for order in ([a, b], [b, a]):
        merge(order, tmp_path / "c.sqlite")
        assert replayed(tmp_path / "c.sqlite") == whole()
        (tmp_path / "c.sqlite").unlink()


def test_an_edited_result_is_not_merged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with performer():
        run(tmp_path / "a.sqlite")
    row = rows(tmp_path / "a.sqlite")[0]
    edit(tmp_path / "a.sqlite", row, result=row.result.replace("SUPPORTED", "REFUTED").replace("holds", "held", 1))
    assert invoke(["merge", str(tmp_path / "a.sqlite"), "--out", str(tmp_path / "c.sqlite")]) == 3
    assert f"note: {row.name}: the result kept in" in capsys.readouterr().out
    assert len(rows(tmp_path / "c.sqlite")) == len(made()) - 1
    assert invoke(["report", str(tmp_path / "c.sqlite")]) == 3


@pytest.mark.parametrize("content", [None, b"", b"mine", b"SQLite format 3\0" * 100])
@pytest.mark.parametrize("command", [["report"], ["merge", "--out", "c"]])
def test_what_is_no_store_is_refused(
    command: list[str], content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("a.sqlite").write_bytes(content)
    assert invoke([command[0], "a.sqlite", *command[1:]]) == 2
    err = capsys.readouterr().err
    assert err.startswith("f2csa: STORE: must ")
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ([] if content is None else ["a.sqlite"])


def test_a_store_is_read_where_nothing_can_be_written(tmp_path: Path) -> None:
    with performer():
        run(tmp_path / STORE)
    before = files_of(tmp_path)
    assert replayed(tmp_path / STORE) == whole()
    assert files_of(tmp_path) == before
