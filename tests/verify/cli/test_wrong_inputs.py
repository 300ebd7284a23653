"""Inputs that are wrong, over the commands: each ends in one clear line that names what is wrong, and exit code 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from verify.cli.main import invoke

GOOD = {"kind": "quadratic", "g": {"yy": [[1]]}, "constraints": {"A": [[1]], "B": [[1]], "b": [0]}}
PROBLEMS = {
    "empty.json": {}, "shapes.json": GOOD | {"constraints": {"A": [[1]], "B": [[1], [1]], "b": [0]}},
    "entry.json": GOOD | {"g": {"yy": [["x/y"]]}},
    "infeasible.json": GOOD | {"constraints": {"A": [[0]], "B": [[0]], "b": [-1]}},
    "leaves.json": GOOD | {"f": {"x": [0, 0], "y": [1]},
                           "constraints": {"A": [[1, 0], [-1, 0]], "B": [[0], [0]], "b": [0, 0]}},
}  # fmt: skip
WRONG: list[tuple[list[str], str]] = [
    (["goldstein", "infeasible.json", "--x", "0", "--radius", "0.2"], "x: the lower level is infeasible here"),
    (["goldstein", "leaves.json", "--x", "0,0", "--radius", "0.2"], "radius: must keep the ball where the lower level"),
    (["goldstein", "atlas:toy1", "--x", "1", "--radius", "0"], "--radius: must be > 0; got 0"),
    (["goldstein", "atlas:toy1", "--x", "nan", "--radius", "0.1"], "--x[0]: must be an integer, a decimal"),
    (["goldstein", "atlas:toy1", "--x", "1,2", "--radius", "0.1"], "--x: must have 1 number(s); got 2"),
    (["hypergradient", "broken.json", "--x", "0", "--alpha", "0.1"], "broken.json: is not valid JSON"),
    (["hypergradient", "empty.json", "--x", "0", "--alpha", "0.1"], "empty.json: needs a kind"),
    (["hypergradient", "shapes.json", "--x", "0", "--alpha", "0.1"], "shapes.json.constraints.A: must have shape"),
    (["hypergradient", "entry.json", "--x", "0", "--alpha", "0.1"], "entry.json.g.yy[0][0]: must be an integer"),
    (["hypergradient", "infeasible.json", "--x", "0", "--alpha", "0.1"], "x: the lower level is infeasible here"),
    (["hypergradient", "atlas:toy1", "--alpha", "-1"], "--alpha: must be > 0; got -1"),
    (["hypergradient", "atlas:toy1", "--alpha", "0.1", "--choose", "dual_term"], "--choose: must have the form"),
    (
        ["hypergradient", "atlas:toy1", "--alpha", "0.1", "--choose", "dual_term=no"],
        "dual_term: must be one of",
    ),
    (["solve", "atlas:toy1", "--method", "sgd"], "--method: must be one of"),
    (["solve", "atlas:toy1", "--calls", "-5"], "--calls: must be >= 1; got -5"),
    (["solve", "atlas:toy1", "--calls", "9", "--plot", "nowhere/run.svg"], "--plot: must be in a folder that exists"),
    (["verify", "bias-bound/T33"], "did you mean bias-bound/T3"),
    (["verify", "--shard", "5/4"], "--shard: must be I/K with 1 <= I <= K"),
    (["verify", "--effort", "3"], "effort: must be a power of 4"),
    (["verify", "bias-bound/T3", "--table", "--out", "file"], "--out: must be a folder; got file"),
    (["verify", "bias-bound/T3", "--baseline", "empty.json"], "--baseline: must hold at least one verdict"),
    (["conform"], "subject: must be given by one of --python"),
    (["conform", "--python", "nothing:Subject", "--out", "o"], "subject: cannot be loaded (ModuleNotFoundError"),
    (["conform", "--command", "no-such-program", "--out", "o"], "command: must begin with a program that is there"),
    (["report", "file"], "STORE: must be a store that f2csa wrote, and whole; got file"),
    (["report", "folder"], "STORE: must be a store, or a folder with one; got folder"),
    (["merge", "a", "--out", "c"], "STORE: must be a store, or a folder with one; got a"),
    (["board", "folder"], "REPORTS: must hold a report.json or a conform.json; got folder"),
    (["board", "nowhere"], "REPORTS: must be there; got nowhere"),
    (["history", "broken.json"], "files: is not valid JSON"),
    (["baseline", "compare", "broken.json"], "FILE: is not valid JSON"),
    (["instances", "--stratum", "nothing"], "--stratum: must be one of"),
    (["refute", "related-rates"], "claim: must be one with a search"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, problem in PROBLEMS.items():
        (tmp_path / name).write_text(json.dumps(problem))
    (tmp_path / "broken.json").write_text('{"kind": "quadratic"')
    (tmp_path / "file").write_text("somebody's")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("asked", "said"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_a_wrong_input_ends_in_one_clear_line(
    asked: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(asked) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("f2csa: ")
    assert said in line
    assert "Traceback" not in err


def test_a_file_among_several_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["history", "broken.json"]) == 2
    assert capsys.readouterr().err.rstrip().endswith("got broken.json")
