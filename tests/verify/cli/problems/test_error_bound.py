"""``f2csa hypergradient --certify``: JSON, table, kinks, noise, wrong input."""

from __future__ import annotations

import json

import pytest

from tests.verify.cli.test_main import run

CALL = ("hypergradient", "atlas:toy1", "--alpha", "1/10", "--certify")


def certificate(capsys, *arguments):
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    return json.loads(out)["certificate"]


@pytest.mark.parametrize("more", [(), ("--gradients-alone",)])
def test_a_rational_problem_gets_a_rigorous_enclosure(capsys, more):
    said = certificate(capsys, *CALL, "--x", "1", *more)
    error = 1 / 101  # 1 - 0.990099…
    assert said["rigorous"]["lower"] == pytest.approx(error)
    assert said["rigorous"]["lower"] <= said["rigorous"]["upper"] <= said["bound"] <= 1.01 * error
    assert (said["standing"], said["rigorous"]["of"]) == ("up to rounding", "the estimate printed")
    assert ("factorisations" in said["counts"]) == (not more)
    _, out, _ = run(capsys, *CALL[:-1], "--x", "1", "--json")
    assert "certificate" not in json.loads(out)


def test_the_frozen_term_shows_as_its_cause(capsys):
    said = certificate(capsys, *CALL, "--x", "1", "--reading", "as-written")
    assert said["rigorous"]["upper"] == pytest.approx(100 - 1 / 101)
    assert said["parts"]["dual"] == [pytest.approx(100)]


def test_at_a_kink_there_is_no_bound(capsys):
    said = certificate(capsys, *CALL, "--x", "0")
    assert (said["applies"], said["bound"], said["rigorous"]["applies"]) == (False, None, False)
    _, out, _ = run(capsys, *CALL, "--x", "0", "--table")
    assert out.count("no bound") == 2
    assert said["hull"]["distance"] < 1e-12
    assert said["hull"]["pieces"] == [[], [0]]
    said_in_words = " ".join(out.split())
    assert "distance of the estimate from the segment between the gradients of the two pieces" in said_in_words
    assert "this bounds no error" in said_in_words


def test_where_there_is_no_distance_the_reason_is_said(capsys):
    _, out, _ = run(capsys, "hypergradient", "atlas:licq-fails", "--certify", "--table")
    assert "linearly dependent" in " ".join(out.split())


def test_with_noise_the_bound_has_a_level(capsys, tmp_path):
    file = tmp_path / "noisy.json"
    noise = '{"model": "additive", "sigma_f": "1/10", "sigma_g": 0}'
    rows = '{"A": [[1]], "B": [[1]]}'
    file.write_text(f'{{"kind": "quadratic", "f": {{"y": [1]}}, "g": {{"yy": [[1]]}}, "constraints": {rows}, '
                    f'"noise": {noise}}}')  # fmt: skip
    arguments = ("hypergradient", str(file), "--x", "1", "--certify", "--level", "0.9")
    said = certificate(capsys, *arguments)
    assert said["noise"] == {"radius": pytest.approx(0.1644854), "level": 0.9, "law": "gaussian"}
    assert said["bound"] == pytest.approx(1 / 101 + 0.1644854)
    assert "without noise" in said["rigorous"]["of"]
    assert said["rigorous"]["upper"] == pytest.approx(1 / 101)
    code, out, _ = run(capsys, *arguments, "--table")
    assert code == 0
    assert "at level 0.9 (gaussian)" in out


def test_hoelder_problems_have_a_bound_in_doubles_alone(capsys, tmp_path):
    file = tmp_path / "holder.json"
    file.write_text('{"kind": "holder", "s": "1/2"}')
    said = certificate(capsys, "hypergradient", str(file), "--x", "0", "--alpha", "1/20", "--certify")
    assert said["rigorous"] is None
    assert 0.05 <= said["bound"] <= 0.15


@pytest.mark.parametrize("arguments", [("--table",), ("--gradients-alone",), ("--certify", "--level", "1"),
                                       ("--certify", "--level", "0"), ("--certify", "--level", "x")])  # fmt: skip
def test_wrong_input_is_one_line(capsys, arguments):
    code, out, err = run(capsys, "hypergradient", "atlas:toy1", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
