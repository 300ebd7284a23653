"""``f2csa solve --error``: what is promised, kept, said and refused."""

from __future__ import annotations

import json

import pytest

from tests.verify.cli.test_main import run

SHORT = ("--calls", "40", "--radius", "0.2", "--trace", "t.jsonl")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_trace_carries_the_bound_and_the_result_the_largest(capsys, tmp_path):
    code, out, err = run(capsys, "solve", "atlas:experiment-1d", *SHORT, "--error", "1/100")
    said = json.loads(out)["error"]
    assert code == 0
    assert said["wanted"] == 0.01
    assert said["largest"] <= 0.01
    assert said["steps"] == said["met"] == json.loads(out)["calls"]
    assert said["without"] == 0
    assert "level" not in said
    blocks = [entry for line in (tmp_path / "t.jsonl").read_text().splitlines()
              if (entry := json.loads(line))["kind"] == "block"]  # fmt: skip
    assert max(block["error"]["largest"] for block in blocks) == said["largest"]
    assert "bias = 0.01 (by --error)" in err
    assert "times a plain one's seconds" in err
    assert f"largest certified bound {said['largest']:.3g}; 40 of 40 steps met what was wanted; 1." in err
    assert json.loads(out)["constants"]["bias"] == 0.01


def test_with_noise_the_level_is_said(capsys, tmp_path):
    file = tmp_path / "noisy.json"
    noise = '{"model": "additive", "sigma_f": "1/10", "sigma_g": 0}'
    file.write_text(f'{{"kind": "quadratic", "f": {{"y": [1]}}, "g": {{"yy": [[1]]}}, "noise": {noise}, '
                    '"constraints": {"A": [[1]], "B": [[1]]}}')  # fmt: skip
    code, out, _ = run(capsys, "solve", str(file), *SHORT, "--x", "1", "--error", "0.1", "--level", "0.9")
    said = json.loads(out)["error"]
    assert code == 0
    assert said["level"] == 0.9
    assert said["N_g"][0] > 1
    assert 0 < json.loads(out)["constants"]["variance"] < 0.01


def test_what_cannot_be_certified_is_never_silent(capsys):
    code, out, err = run(
        capsys, "solve", "atlas:licq-fails", *SHORT, "--error", "1/100", "--lipschitz", "5", "--gap", "1"
    )
    found = json.loads(out)
    assert code == 0
    assert found["error"]["without"] > 0
    assert found["error"]["why_not"]
    assert any("are not certified to an error of 0.01" in note for note in found["notes"])
    assert "had no bound" in err
    assert "at the start the error is not certified" in err


def test_too_small_for_doubles_is_one_line(capsys):
    code, out, err = run(capsys, "solve", "atlas:experiment-1d", *SHORT, "--error", "1e-15")
    assert (code, out) == (2, "")
    assert "--error: is too small for doubles: at the start no bound below" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--error", "0"], "--error: must be > 0"),
        (["--error", "x"], "--error: must"),
        (["--error", "0.1", "--alpha", "0.1"], "--alpha: must be left out with --error"),
        (["--error", "0.1", "--samples", "2"], "--samples: must be left out with --error"),
        (["--error", "0.1", "--bias", "0"], "--bias: must be left out with --error"),
        (["--error", "0.1", "--variance", "0"], "--variance: must be left out with --error"),
        (["--error", "0.1", "--choose", "inner_stop=distance"], "--choose: must leave out inner_stop"),
        (["--error", "0.1", "--oracle", "fast"], "--oracle: must be plain with --error"),
        (["--error", "0.1", "--method", "ssigd"], "--error: is for f2csa only, not ssigd"),
        (["--error", "0.1", "--level", "1"], "--level: must be in (0, 1)"),
        (["--error", "0.1", "--assume", "C_f=1"], "--assume: must be NAME=VALUE, NAME one of L_y, f_xy"),
        (["--error", "0.1", "--assume", "holder=1"], "--assume: must be holder=H,S"),
        (["--error", "0.1", "--assume", "holder=1,2"], "--assume: holder must be H >= 0 and s in (0, 1]"),
        (["--error", "0.1", "--assume", "L_y=x"], "--assume: must"),
        (["--assume", "L_y=1"], "--assume: must go with --error"),
        (["--level", "0.9"], "--level: must go with --error"),
    ],
)
def test_wrong_input_is_one_clear_line(capsys, arguments, message):
    code, out, err = run(capsys, "solve", "atlas:toy1", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"f2csa: {message}")
    assert err.count("\n") == 1


def test_smooth_problems_are_certified_once_their_constants_are_stated(capsys, tmp_path, monkeypatch):
    text = "from tests.f2csa_ref.certificate.test_certificate_premises import smooth\nOBJECTIVES = smooth(True)\n"
    (tmp_path / "smooth_error_case.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    call = ("solve", "python:smooth_error_case:OBJECTIVES", *SHORT, "--x", "0.2", "--gap", "1", "--lipschitz", "2")
    _, out, err = run(capsys, *call, "--error", "0.01")
    found = json.loads(out)["error"]
    assert found["without"] == found["steps"]
    assert found["why_not"] == {"holder must be given for a g that is not known to be quadratic": found["steps"]}
    assert "no bound" in err
    _, out, _ = run(capsys, *call, "--error", "0.01", "--assume", "holder=0.77,1", "--assume", "f_xy=1")
    found = json.loads(out)["error"]
    assert found["met"] == found["steps"]
    code, _, err = run(capsys, *call[:2], "--trace", "t.jsonl", "--resume", "--error", "0.01", "--assume", "f_xy=2")
    assert code == 2
    assert "--assume: must be the run's that goes on, f_xy = 1.0" in err


def test_a_run_goes_on_with_its_own_error_alone(capsys):
    _, first, _ = run(capsys, "solve", "atlas:experiment-1d", *SHORT, "--error", "0.02", "--level", "0.9")
    for options in ((), ("--error", "1/50"), ("--error", "0.02", "--level", "0.9")):
        code, second, _ = run(capsys, "solve", "atlas:experiment-1d", "--trace", "t.jsonl", "--resume", *options)
        assert code == 0
        assert json.loads(second)["error"] == json.loads(first)["error"]
    for options, message in (
        (("--error", "0.01"), "--error: must be the run's that goes on, 0.02; got 0.01"),
        (("--error", "0.02", "--level", "0.8"), "--level: must be the run's that goes on, 0.9; got 0.8"),
        (("--alpha", "0.3"), "--alpha: must be the run's that goes on"),
    ):
        code, _, err = run(capsys, "solve", "atlas:experiment-1d", "--trace", "t.jsonl", "--resume", *options)
        assert code == 2
        assert message in err
    run(capsys, "solve", "atlas:experiment-1d", *SHORT)
    _, _, err = run(capsys, "solve", "atlas:experiment-1d", "--trace", "t.jsonl", "--resume", "--error", "0.1")
    assert "--error: must be the run's that goes on, without --error" in err
