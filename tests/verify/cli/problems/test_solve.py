from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from f2csa_ref import SmoothObjectives
from verify.cli.main import invoke

SHORT = ("--calls", "120", "--radius", "0.2")


def run(capsys, *arguments):
    code = invoke(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_it_says_the_cost_first_and_reports_certified_stationarity(capsys, tmp_path):
    code, out, err = run(capsys, "solve", "atlas:experiment-1d", *SHORT, "--plot", "picture.svg")
    found = json.loads(out)
    assert code == 0
    assert "oracle calls, about" in err
    assert "(estimated)" in err
    assert found["stationarity"]["certified"] == {"lower": True, "upper": True}
    assert found["stationarity"]["lower"] <= found["stationarity"]["upper"]
    assert found["calls"] == found["schedule"]["T"] <= 120
    assert (tmp_path / "picture.svg").read_text().startswith("<?xml")
    assert json.loads((tmp_path / "trace.jsonl").read_text().splitlines()[0])["kind"] == "header"


def test_the_same_seed_gives_the_same_result(capsys):
    first, second = (run(capsys, "solve", "atlas:experiment-1d", *SHORT, "--seed", "3")[1] for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--schedule", "repaired", "--epsilon", "0.001"], "must take at most --max-calls"),
        (["--schedule", "paper", "--epsilon", "2", "--lipschitz", "1"], "M = floor(radius / D) is 0"),
        (["--schedule", "repaired"], "epsilon: is required"),
        (["--schedule", "best"], "schedule: must be one of"),
        (["--radius", "0"], "--radius: must be > 0"),
        (["--alpha", "-1"], "--alpha: must be > 0"),
        (["--alpha", "1e99"], "--alpha: must be > 0, in [1e-30, 1000]; got 1e99"),
        (["--output", "last"], "--output: must be one of"),
        (["--seed", "-1"], "--seed: must be >= 0"),
        (["--gap", "-1"], "--gap: must be >= 0"),
        (["--samples", "0"], "--samples: must be in"),
        (["--calls", "0"], "calls: must be >= 1"),
    ],
)
def test_wrong_input_is_one_clear_line(capsys, arguments, message):
    code, out, err = run(capsys, "solve", "atlas:toy1", *arguments)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epsilon", "0.1"], "--epsilon: is for --schedule repaired or paper"),
        (["--schedule", "repaired", "--epsilon", "1", "--calls", "9"], "--calls: is for --schedule budget only"),
        (["--lipschitz", "0"], "--lipschitz: must be > 0"),
        (["--eta", "nan"], "--eta: must be > 0"),
        (["--blocks", "0"], "--blocks: must be >= 1"),
        (["--trace", "."], "--trace: must be a file"),
        (["--trace", "none/trace.jsonl"], "--trace: must be in a folder that exists"),
        (["--plot", "folder.svg"], "--plot: must be a file"),
    ],
)
def test_what_is_not_used_or_cannot_be_is_refused_before_any_work(capsys, tmp_path, arguments, message):
    (tmp_path / "folder.svg").mkdir()
    code, out, err = run(capsys, "solve", "atlas:toy1", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"f2csa: {message}")
    assert err.count("\n") == 1


def test_what_is_there_is_kept_whatever_it_is(capsys, tmp_path):
    for number in range(3):
        (tmp_path / "trace.jsonl").write_text(f"notes {number}")
        assert run(capsys, "solve", "atlas:toy1", "--calls", "4")[0] == 0
    kept = {path.name: path.read_text() for path in tmp_path.glob("*.bak*")}
    assert kept == {"trace.jsonl.bak": "notes 0", "trace.jsonl.bak1": "notes 1", "trace.jsonl.bak2": "notes 2"}


def test_a_schedule_without_end_says_how_long_it_would_take(capsys):
    _, _, err = run(capsys, "solve", "atlas:toy1", "--schedule", "repaired", "--epsilon", "1e-4")
    assert "years" in err
    assert "oracle calls" in err


def test_divergence_is_a_fault_with_its_remedy(capsys):
    code, _, err = run(capsys, "solve", "atlas:toy1", *SHORT, "--lipschitz", "1e-4", "--bias", "0")
    assert code == 3
    assert "give a larger L_F" in err


def test_resuming_a_finished_run_repeats_its_result(capsys):
    _, first, _ = run(capsys, "solve", "atlas:experiment-1d", *SHORT)
    _, second, err = run(capsys, "solve", "atlas:experiment-1d", "--resume")
    assert "goes on from trace.jsonl" in err
    strip = lambda text: {k: v for k, v in json.loads(text).items() if k != "resumed_at"}  # noqa: E731  # a comparison
    assert strip(first) == strip(second)


def test_killed_outright_and_resumed_it_ends_the_same(capsys, tmp_path):
    command = [sys.executable, "-m", "verify", "solve", "atlas:experiment-1d", "--calls", "1200", "--trace", "a.jsonl"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)  # fmt: skip
    trace = tmp_path / "a.jsonl"
    while process.poll() is None and (not trace.exists() or trace.stat().st_size < 4000):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    _, resumed, _ = run(capsys, "solve", "atlas:experiment-1d", "--trace", "a.jsonl", "--resume")
    _, whole, _ = run(capsys, "solve", "atlas:experiment-1d", "--calls", "1200", "--trace", "b.jsonl")
    resumed, whole = json.loads(resumed), json.loads(whole)
    assert resumed.pop("resumed_at") < 1200
    whole.pop("resumed_at")
    assert resumed == whole
    assert trace.read_bytes() == (tmp_path / "b.jsonl").read_bytes()


OBJECTIVES = SmoothObjectives(
    grad_x_f=lambda x, y: np.zeros(1), grad_y_f=lambda x, y: y - 2, grad_x_g=lambda x, y: -y,
    grad_y_g=lambda x, y: y + 0.1 * np.sin(y) - x, A=np.zeros((1, 1)), B=np.ones((1, 1)), b=np.zeros(1),
    mu_g=0.9, C_g=1.1, C_f=1.0, f_value=lambda x, y: float(0.5 * (y - 2) @ (y - 2)),
)  # fmt: skip


def test_smooth_objectives_come_from_python(capsys, tmp_path, monkeypatch):
    (tmp_path / "smooth_case.py").write_text(
        "from tests.verify.cli.problems.test_solve import OBJECTIVES\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    code, out, _ = run(capsys, "solve", "python:smooth_case:OBJECTIVES", "--calls", "300", "--radius", "0.5")
    found = json.loads(out)
    assert code == 0
    # y* = 2 is best, reached at x = 2 + sin(2)/10; stationarity is estimated by the mean answer alone.
    assert found["smallest"]["x"][0] == pytest.approx(2.09, abs=0.4)
    assert found["stationarity"]["upper"] is None
    assert found["stationarity"]["mean_answer"] >= 0


def test_a_python_problem_that_cannot_be_loaded_is_said(capsys):
    code, _, err = run(capsys, "solve", "python:no_such_module:thing")
    assert code == 2
    assert "cannot be loaded" in err


QUIET = ("solve", "atlas:experiment-1d")


@pytest.mark.parametrize(("eta", "moves"), [("1e300", True), ("1e-300", False)])
def test_a_step_size_at_the_edge_of_doubles_moves_or_says_that_nothing_did(capsys, eta, moves):
    code, out, _ = run(capsys, *QUIET, *SHORT, "--eta", eta)
    found = json.loads(out)
    assert code == 0
    assert any(note.startswith("x stayed within") for note in found["notes"]) != moves
    assert (found["x_out"] != [0.0]) == moves or not moves


def test_what_the_numbers_given_refuse_is_refused_before_anything_is_estimated(capsys, monkeypatch):
    monkeypatch.setattr("verify.cli.problems.solve.constants_by", None)
    code, _, err = run(capsys, *QUIET, "--schedule", "paper", "--epsilon", "5", "--lipschitz", "1")
    assert code == 2
    assert err.splitlines()[-1].startswith("f2csa: epsilon: must be <= lipschitz_F")


@pytest.mark.parametrize("method", ["f2csa", "ssigd", "dsblo-2"])
def test_a_billion_samples_are_not_drawn_to_say_what_they_cost(capsys, noisy_file, method):
    started, target = time.process_time(), ("--epsilon", "1") if method == "dsblo-2" else ()
    asked = ("--method", method, "--samples", str(10**9), "--calls", "500", "--max-calls", "10", *target)
    code, _, err = run(capsys, "solve", str(noisy_file), *asked)
    assert code == 2
    assert "must take at most --max-calls = 10" in err
    assert time.process_time() - started < 10


@pytest.fixture
def noisy_file(tmp_path):
    file = tmp_path / "noisy.json"
    file.write_text(json.dumps({
        "kind": "quadratic", "f": {"xx": [[1]], "x": [1], "y": [1]}, "g": {"yy": [[1]]},
        "constraints": {"A": [[1]], "B": [[1]], "b": [0]},
        "noise": {"model": "additive", "sigma_f": "1/10", "sigma_g": "1/10"},
    }))  # fmt: skip
    return file


@pytest.mark.parametrize("body", ["", "    def __str__(self): return ' \\n'\n", "    def __str__(self): raise self\n"])
def test_an_error_without_a_word_is_named(capsys, tmp_path, monkeypatch, body):
    source = f"class MuteError(RuntimeError):\n    pass\n{body}def make():\n    raise MuteError\n"
    (tmp_path / "mute_case.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mute_case", raising=False)
    code, _, err = run(capsys, "solve", "python:mute_case:make")
    assert code == 2
    assert err.startswith("f2csa: problem: cannot be loaded (MuteError")
