from __future__ import annotations

import importlib
import json
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import get_type_hints

import numpy as np
import pytest

from spec import Generated, dumps_problem, load_claims
from verify.cli.implementations.exports import schemas
from verify.cli.main import COMMANDS, invoke
from verify.cli.output.folder import FILES


def run(capsys, *arguments):
    code = invoke(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(("reading", "value"), [("repaired", 0.990099), ("as-written", 100.990099)])
def test_hypergradient_of_the_smallest_example(capsys, reading, value):
    code, out, _ = run(
        capsys, "hypergradient", "atlas:toy1", "--x", "1", "--alpha", "1/10", "--reading", reading, "--json"
    )
    assert code == 0
    found = json.loads(out)
    assert found["hypergradient"][0] == pytest.approx(value, abs=1e-6)
    assert found["exact"]["hypergradient"] == [1.0]
    assert set(found) >= {"y_star", "lam", "rho", "y_penalty", "terms", "hypergradient", "exact", "counts"}
    assert sum(term[0] for term in found["terms"].values()) == pytest.approx(found["hypergradient"][0])


def test_one_changed_choice(capsys):
    _, out, _ = run(capsys, "hypergradient", "atlas:toy1", "--choose", "dual_term=frozen", "--json")
    assert json.loads(out)["hypergradient"][0] == pytest.approx(100.990099, abs=1e-6)


def test_hypergradient_reads_a_file_and_standard_input(capsys, tmp_path, monkeypatch):
    text = ('{"kind": "quadratic", "f": {"y": [1]}, "g": {"yy": [[1]]}, '
            '"constraints": {"A": [[1]], "B": [[1]], "b": [0]}}')  # fmt: skip
    file = tmp_path / "problem.json"
    file.write_text(text)
    code, out, _ = run(capsys, "hypergradient", str(file), "--x", "1/3", "--json")
    assert (code, json.loads(out)["exact"]["y_star"]) == (0, [pytest.approx(1 / 3)])
    command = [sys.executable, "-m", "verify", "hypergradient", "-", "--x", "[1]", "--json"]
    answer = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout)["exact"]["hypergradient"] == [1.0]


def test_exact_values_of_a_large_problem_are_right(capsys, tmp_path):
    problem = Generated(family="random-rows", n=200, m=200, p=50, seed=5).quadratic
    file = tmp_path / "large.json"
    file.write_text(dumps_problem(problem))
    x = np.linspace(-0.01, 0.01, 200)
    at = ",".join(map(repr, x.tolist()))
    code, out, err = run(capsys, "hypergradient", str(file), "--x", at, "--alpha", "0.05", "--json")
    assert code == 0, err
    exact = json.loads(out)["exact"]
    assert exact["error"] <= 1e-10
    a, lam = problem.arrays, np.array(exact["lam"])
    y = np.array(exact["y_star"])
    stationarity = a.g_yy @ y + a.g_xy.T @ x + a.g_y - a.B.T @ lam
    h = a.A @ x - a.B @ y - a.b
    assert np.abs(stationarity).max() <= 1e-9
    assert h.max() <= 1e-9
    assert np.abs(lam * h).max() <= 1e-9
    assert lam.min() >= 0


def test_samples_and_seed_make_the_noise(capsys, tmp_path):
    file = tmp_path / "noisy.json"
    noise = '{"model": "additive", "sigma_f": "1/10", "sigma_g": "1/10"}'
    rows = '{"A": [[1]], "B": [[1]]}'
    blocks = '"f": {"y": [1]}, "g": {"yy": [[1]]}'
    file.write_text(f'{{"kind": "quadratic", {blocks}, "constraints": {rows}, "noise": {noise}}}')
    values = [
        json.loads(
            run(capsys, "hypergradient", str(file), "--x", "1", "--seed", seed, "--samples", samples, "--json")[1]
        )["hypergradient"][0]
        for seed, samples in (("1", "1"), ("1", "1"), ("2", "1"), ("1", "4000"))
    ]
    assert values[0] == values[1] != values[2]
    assert values[3] == pytest.approx(0.990099, abs=0.01)


@pytest.mark.parametrize(
    "arguments",
    [
        ("hypergradient", "atlas:toy9"),
        ("hypergradient", "missing.json", "--x", "1"),
        ("hypergradient", "atlas:toy1", "--x", "1,2"),
        ("hypergradient", "atlas:toy1", "--x", "nan"),
        ("hypergradient", "atlas:toy1", "--alpha", "0"),
        ("hypergradient", "atlas:toy1", "--alpha", "1e99"),
        ("hypergradient", "atlas:toy1", "--samples", "0"),
        ("goldstein", "atlas:toy1", "--radius", "-1"),
        ("solve", "atlas:toy1", "--plot", "trace.txt"),
        ("hypergradient", "atlas:toy1", "--seed", "-1"),
        ("hypergradient", "atlas:toy1", "--reading", "literal"),
        ("hypergradient", "atlas:toy1", "--choose", "dual_term"),
        ("hypergradient", "atlas:toy1", "--choose", "dual_term=maybe"),
        ("hypergradient", "atlas:infeasible"),
        ("hypergradient", "atlas:toy1", "--no-such-option"),
        ("hypergradient",),
        ("no-such-command",),
        ("claims", "bias-bond"),
        ("schema", "everything"),
        ("verify", "nothing"),
        ("verify", "--profile", "fast"),
        ("verify", "--jobs", "0"),
        ("verify", "--seed", "-3"),
        ("verify", "scaling-experiment/quality"),
        ("verify", "--baseline", "missing.json"),
        ("verify", "--subject", "nowhere:Thing"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(capsys, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("f2csa: ")


def test_verify_writes_its_files_and_says_where(capsys, tmp_path):
    code, out, err = run(
        capsys, "verify", "bias-bound/T3", "--profile", "smoke", "--out", str(tmp_path / "r"), "--jobs", "1"
    )
    assert code == 0, err
    assert "report.html" in out
    names = {path.name for path in (tmp_path / "r").iterdir()}
    assert names == {*FILES, "pages", "store.sqlite"}


def test_verify_with_another_baseline_finds_the_difference(capsys, tmp_path):
    baseline = tmp_path / "old.json"
    baseline.write_text('{"bias-bound/T3|repaired|toy1": "REFUTED"}')
    arguments = ["verify", "bias-bound/T3", "--instance", "toy1", "--profile", "smoke", "--out", str(tmp_path / "r")]
    code, out, _ = run(capsys, *arguments, "--jobs", "1", "--baseline", str(baseline))
    assert code == 1
    assert "on record REFUTED" in out


def test_verify_as_json(capsys, tmp_path):
    arguments = ["verify", "bias-bound/T3", "--instance", "toy1", "--profile", "smoke", "--out", str(tmp_path / "r")]
    code, out, _ = run(capsys, *arguments, "--jobs", "1", "--json")
    assert code == 0
    assert json.loads(out)["schema"] == "f2csa-report/2"


def test_claims_lists_all_and_explains_each(capsys):
    code, out, _ = run(capsys, "claims")
    assert code == 0
    assert all(claim in out for claim in load_claims())
    heading, *lines = out.splitlines()
    opened = {line.split()[0]: line[heading.index("open") :].split()[:1] for line in lines if line[:1].strip()}
    assert opened["background"] == ["7"]
    assert opened["bias-bound"] != ["0"]
    for claim in load_claims().values():
        for full_id, statement in claim.statements():
            code, out, _ = run(capsys, "claims", full_id)
            assert code == 0
            assert statement.title.split()[0] in out
            assert out.count("not in the text, granted: ") == sum(bool(one.granted) for one in statement.premises)
    _, out, _ = run(capsys, "claims", "bias-bound/T1", "--json")
    assert json.loads(out)["full_id"] == "bias-bound/T1"


def test_schemas_describe_the_files_they_are_for(capsys, tmp_path):
    from jsonschema import Draft202012Validator

    code, _, _ = run(capsys, "schema", "--out", str(tmp_path))
    assert code == 0
    for name, schema in schemas().items():
        Draft202012Validator.check_schema(schema)
        assert json.loads((tmp_path / f"{name}.schema.json").read_text()) == schema
    problem = json.loads((Path(__file__).parent / "contract_problem.json").read_text())
    Draft202012Validator(schemas()["problem"]).validate(problem)


@pytest.mark.parametrize("asked", COMMANDS, ids=lambda asked: COMMANDS[asked][0])
def test_every_command_takes_its_own_options(asked):
    module, _, function = COMMANDS[asked][1].partition(":")
    taken = get_type_hints(getattr(importlib.import_module(module), function))
    taken.pop("return")
    assert list(taken.values()) == [asked]
    assert asked.__doc__


def test_help_is_light_and_spec_brings_no_heavy_library():
    code = (
        "import sys; import spec; heavy = {'scipy', 'sympy', 'matplotlib', 'daqp', 'flint'} & set(sys.modules); "
        "assert not heavy, heavy; import verify.cli.main; "
        "heavy = {'numpy.linalg', 'scipy', 'sympy', 'matplotlib', 'daqp', 'flint', 'jinja2'} & set(sys.modules); "
        "print(heavy - {'numpy.linalg'})"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "set()"


def test_the_record_ships_with_the_package():
    assert (resources.files("verify.campaign.baseline") / "records" / "reference.json").is_file()


def test_a_command_that_is_interrupted_says_so(capsys, monkeypatch):
    def interrupted(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("verify.cli.problems.point.distance", interrupted)
    code, out, err = run(capsys, "goldstein", "atlas:toy1", "--radius", "1")
    assert (code, out, err) == (3, "", "f2csa: interrupted\n")


def test_orders_takes_one_of_the_two_texts(capsys):
    assert invoke(["orders", "bias-bound/T2", "--reading", "repaired", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows
    assert {row["reading"] for row in rows} == {"repaired"}
    assert invoke(["orders", "--reading", "as-written"]) == 0
    shown = capsys.readouterr().out
    assert ", as written: " in shown
    assert ", repaired: " not in shown
    assert invoke(["orders", "--reading", "choose:dual_term=map"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--reading: must be one of as-written, repaired" in line
