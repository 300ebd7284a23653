from __future__ import annotations

import json

import pytest

from verify.cli.main import invoke

SHORT = ("--calls", "60", "--radius", "0.2", "--output", "smallest")


def run(capsys, *arguments):
    code = invoke(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("method", "own", "second"),
    [
        ("ssigd", {"step_size", "decay", "perturbation", "linear_algebra"}, "yes"),
        ("dsblo-2", {"beta", "gamma_1", "gamma_2", "option"}, "yes"),
        ("pigd", {"step_size", "radius"}, "no"),
        ("parent", {"D", "eta"}, "no"),
        ("zeroth-order", {"smoothing", "D", "eta"}, "no"),
    ],
)
def test_a_rival_reports_as_f2csa_does(capsys, method, own, second):
    code, out, err = run(capsys, "solve", "atlas:experiment-1d", "--method", method, *SHORT)
    found = json.loads(out)
    assert code == 0
    assert "oracle calls, about" in err
    assert own <= found["schedule"].keys()
    assert found["method"] == method.removesuffix("-2")
    assert found["calls"] <= 60
    assert found["counts"]["quadratic_programs"] == found["calls"] * (2 if method == "zeroth-order" else 1)
    assert found["stationarity"]["certified"] is not None
    assert any(note.startswith(f"used second derivatives: {second}, factorisations:") for note in found["notes"])


def test_it_is_resumed_drawn_and_the_same_again(capsys, tmp_path):
    asked = ("--method", "dsblo", "--step-size", "0.01", "--momentum", "0.8", "--linear-algebra", "cg")
    _, first, _ = run(capsys, "solve", "atlas:experiment-1d", *asked, *SHORT)
    _, second, err = run(capsys, "solve", "atlas:experiment-1d", "--resume", "--plot", "run.svg")
    assert "goes on from trace.jsonl" in err
    first, second = json.loads(first), json.loads(second)
    assert second.pop("resumed_at") == first["calls"]
    first.pop("resumed_at")
    assert first == second
    assert (first["schedule"]["beta"], first["schedule"]["gamma_2"]) == (0.8, 100.0)
    assert (tmp_path / "run.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "best"], "--method: must be one of f2csa, ssigd"),
        (["--step-size", "1"], "--step-size: is for"),
        (["--method", "ssigd", "--momentum", "0.5"], "--momentum: is for dsblo"),
        (["--method", "ssigd", "--decay", "fast"], "--decay: must be one of"),
        (["--method", "dsblo", "--linear-algebra", "qr"], "--linear-algebra: must be one of naive"),
        (["--method", "dsblo", "--step-size", "-1"], "--step-size: must be > 0"),
        (["--method", "dsblo", "--momentum", "1"], "--momentum: must be < 1"),
        (["--method", "ssigd", "--eta", "1"], "--eta: is for f2csa, parent, zeroth-order only, not ssigd"),
        (["--method", "pigd", "--eta", "1"], "--eta: is for"),
        (["--method", "ssigd", "--alpha", "0.5"], "--alpha: is for f2csa, parent, pigd only, not ssigd"),
        (["--method", "parent", "--reading", "as-written"], "--reading: is for f2csa only, not parent"),
        (["--method", "parent", "--choose", "dual_term=frozen"], "--choose: is for f2csa only"),
        (["--method", "dsblo", "--samples", "2"], "--samples: is for f2csa, ssigd, dsblo-2 only"),
        (["--method", "pigd", "--epsilon", "1"], "--epsilon: is for --schedule repaired or paper"),
        (["--method", "pigd", "--oracle", "fast"], "--oracle: is for f2csa only"),
        (["--method", "zeroth-order", "--smoothing", "1"], "smoothing: must be below the radius"),
    ],
)
def test_wrong_input_is_one_clear_line(capsys, arguments, message):
    code, out, err = run(capsys, "solve", "atlas:toy1", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_dependent_rows_are_refused_in_one_line(capsys):
    code, out, err = run(capsys, "solve", "atlas:licq-fails", "--method", "ssigd", *SHORT)
    assert (code, out) == (2, "")
    assert "must be where active rows are independent" in err


ASKED = ("--method", "dsblo-2", "--step-size", "0.3", "--momentum", "0.8", "--samples", "2", "--seed", "4")


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    trace = tmp_path_factory.mktemp("begun") / "trace.jsonl"
    assert invoke(["solve", "atlas:experiment-1d", *ASKED, *SHORT, "--trace", str(trace)]) == 0
    return trace


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "dsblo"), "--method: must be the run's that goes on, dsblo-2; got dsblo"),
        (("--alpha", "0.3"), "--alpha: is for"),
        (("--radius", "0.3"), "--radius: must be the run's that goes on, 0.2; got 0.3"),
        (("--seed", "0"), "--seed: must be the run's that goes on, 4"),
        (("--samples", "1"), "--samples: must be the run's that goes on, 2"),
        (("--output", "uniform"), "--output: must be the run's that goes on, smallest"),
        (("--calls", "120"), "--calls: must be the run's that goes on, "),
        (("--block-length", "7000"), "--block-length: must be"),
        (("--step-size", "0.4"), "--step-size: must be the run's that goes on, 0.3"),
        (("--momentum", "0.7"), "--momentum: must be the run's that goes on, 0.8"),
        (("--gap", "99"), "--gap: must be the run's that goes on, "),
        (("--x", "7"), "--x: must be the run's that goes on, (2.5,)"),
        (("--project-onto", "0,9"), "--project-onto: must be the run's that goes on, None"),
        (("--linear-algebra", "cg"), "--linear-algebra: must be the run's that goes on, best"),
    ],
)
def test_what_contradicts_the_run_that_goes_on_is_refused(capsys, tmp_path, begun, arguments, message):
    before = begun.read_bytes()
    (tmp_path / "trace.jsonl").write_bytes(before)
    code, out, err = run(capsys, "solve", "atlas:experiment-1d", "--resume", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert (tmp_path / "trace.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--reading", "as-written"), "--reading: must be the run's that goes on, another reading; got as-written"),
        (("--choose", "dual_term=cancelled"), "--choose: must be the run's that goes on, another reading"),
        (("--oracle", "plain"), "--oracle: must be the run's that goes on, fast; got plain"),
        (("--epsilon", "19", "--schedule", "repaired"), "--epsilon: must be the run's that goes on, 20; got 19"),
        (("--smoothing", "0.01"), "--smoothing: is for zeroth-order only, not f2csa"),
    ],
)
def test_what_contradicts_a_run_of_f2csa_is_refused(capsys, arguments, message):
    asked = ("--oracle", "fast", "--choose", "dual_term=frozen", "--schedule", "repaired", "--epsilon", "20")
    assert run(capsys, "solve", "atlas:experiment-1d", *asked)[0] == 0
    code, out, err = run(capsys, "solve", "atlas:experiment-1d", *arguments, "--resume")
    assert (code, out) == (2, "")
    assert err.startswith(f"f2csa: {message}")


def test_the_same_options_go_on(capsys, tmp_path, begun):
    (tmp_path / "trace.jsonl").write_bytes(begun.read_bytes())
    assert run(capsys, "solve", "atlas:experiment-1d", *ASKED, *SHORT, "--resume", "--x", "2.5")[0] == 0
