"""The simulation of docs/scaling.md keeps the bounds that every schedule keeps."""

from __future__ import annotations

import pytest

from benchmarks.scaling import HANDOVER, longest, main, ordered, simulate, tasks_of
from verify.campaign.executors.remote_workers import cut
from verify.report.formats.times import Times

COSTS = {f"bias-bound/T3|repaired|i{k}": 0.01 * (1 + k % 7) for k in range(300)}
SHARED = {f"goldstein-convergence|only:{k}|absolute-fixed": 0.6 for k in range(3)}


@pytest.fixture
def shares():
    return list(cut(tasks_of(COSTS | SHARED)))


def test_one_worker_takes_all_the_time_and_none_is_faster_than_its_share(shares):
    costs = COSTS | SHARED
    work = sum(costs.values())
    found = {workers: simulate(costs, shares, workers) for workers in (1, 2, 5, 1000)}
    assert work < found[1] < work + HANDOVER * len(costs)
    assert found[1] > found[2] > found[5] >= found[1000]
    assert all(seconds > max(work / workers, longest(costs, shares)) for workers, seconds in found.items())
    assert longest(costs, shares) == pytest.approx(1.8)


def test_one_process_hands_over_one_chunk_after_the_other(shares):
    many = ordered(shares, 50)
    assert simulate(COSTS | SHARED, many, 10**6) > HANDOVER * len(many)


def test_the_command_prints_a_table(tmp_path, capsys):
    file = tmp_path / "times.json"
    file.write_text(Times(seconds=1.0, results=COSTS | SHARED).model_dump_json(by_alias=True))
    assert main([str(file), "10"]) == 0
    head, _, _, _, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("3,030 results")
    assert [row.split(" | ")[0] for row in rows] == ["| 1", "| 2", "| 10", "| 100", "| 1,000", "| 10,000"]
    assert rows[4].count("|") == 6
    assert main([]) == 2
