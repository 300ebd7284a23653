"""Tables of ``hypergradient`` and ``goldstein``: every number is the JSON's, and exact values are fractions."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import fractions
from tests.verify.cli.test_main import run
from verify.cli.arguments.point_options import HypergradientOptions
from verify.cli.problems import error_bound, point
from verify.cli.problems.point_tables import _outwards

TOY = ("hypergradient", "atlas:toy1", "--x", "1/3", "--alpha", "1/10")


def rows(out):
    """The table's cells by the first one."""
    return {line.split("  ")[0].strip(): [cell.strip() for cell in line.split("  ") if cell.strip()][1:]
            for line in out.splitlines()}  # fmt: skip


def test_the_table_has_every_stage_beside_the_exact_value(capsys):
    code, out, err = run(capsys, *TOY, "--reading", "as-written")
    assert (code, err) == (0, "")
    found = rows(out)
    assert found["y*"] == ["0.3333333", "1/3 = 0.3333333", "0"]
    assert found["ρ"] == ["1"]
    computed, exact, difference = found["∇F"]
    assert (exact, float(computed)) == ("1", pytest.approx(34.32343, rel=1e-6))
    assert float(difference) == pytest.approx(float(computed) - 1, rel=1e-2)
    assert "x = (1/3), α = 0.1, N_g = 1; as written" in out
    assert "strictly active rows 0" in out


def test_json_has_the_fractions_too(capsys):
    found = json.loads(run(capsys, *TOY, "--json")[1])
    assert found["exact"]["rational"] == {"x": ["1/3"], "y_star": ["1/3"], "lam": ["1/3"], "hypergradient": ["1"]}
    kink = json.loads(run(capsys, "hypergradient", "atlas:toy1", "--x", "0", "--json")[1])["exact"]
    assert kink["rational"]["kink_gradients"] == [["0"], ["1"]]
    assert "hypergradient" not in kink["rational"]


def test_a_changed_choice_and_a_kink_are_said(capsys):
    _, out, _ = run(capsys, "hypergradient", "atlas:toy1", "--x", "0", "--choose", "dual_term=frozen")
    assert "repaired but for dual_term=frozen" in out
    assert "F has no gradient here: the adjoining pieces have (0), (1)" in out
    assert "note: " in out


def test_a_long_vector_is_cut_and_says_by_how_much(capsys, tmp_path):
    file = tmp_path / "long.json"
    eye = [[int(i == j) for j in range(12)] for i in range(12)]
    file.write_text(json.dumps({"kind": "quadratic", "f": {"y": [1] * 12}, "g": {"yy": eye},
                                "constraints": {"A": [[0] * 12], "B": [[1] * 12], "b": [5]}}))  # fmt: skip
    code, out, _ = run(capsys, "hypergradient", str(file), "--x", ",".join("1" * 12))
    assert code == 0
    assert "… 4 more" in out
    assert "y*[7]" in out
    assert "y*[8]" not in out


def test_the_certificates_table_follows(capsys):
    _, out, _ = run(capsys, *TOY, "--certify")
    assert "y*" in rows(out)
    assert "in balls" in rows(out)
    _, alone, _ = run(capsys, *TOY, "--certify", "--table")
    assert "y*" not in rows(alone)
    assert out.endswith(alone)


def test_a_distance_is_a_table_with_its_proof(capsys):
    code, out, _ = run(capsys, "goldstein", "atlas:experiment-1d", "--x", "2.3", "--radius", "0.2")
    assert code == 0
    found = rows(out)
    assert found["exactly"] == ["11/10", "proven, a rational"]
    assert float(found["at least"][0]) <= 1.1 <= float(found["at most"][0])
    assert found["1"] == ["(21/10)", "(1.1)"]
    made = json.loads(run(capsys, "goldstein", "atlas:experiment-1d", "--x", "2.3", "--radius", "0.2", "--json")[1])
    assert made["proof"]["exact_points"] == [["21/10"]]
    _, out, _ = run(capsys, "goldstein", "atlas:experiment-5d", "--radius", "1/2")
    assert rows(out)["at least"][-1] == "an estimate"
    assert "note: n > 4" in out


@given(st.floats(0, 1e300, allow_nan=False))
def test_a_bound_is_printed_outwards(bound):
    assert float(_outwards(bound, "lower")) <= bound <= float(_outwards(bound, "upper"))


@settings(max_examples=25)
@given(x=fractions())
def test_whatever_the_point_the_exact_value_is_a_fraction(x):
    import contextlib
    import io

    from verify.cli.main import invoke

    held = io.StringIO()
    with contextlib.redirect_stdout(held):
        assert invoke(["hypergradient", "atlas:toy1", f"--x={x}", "--json"]) == 0
    rational = json.loads(held.getvalue())["exact"]["rational"]
    assert [Fraction(value) for value in rational["y_star"]] == [max(x, Fraction(0))]


WEAK = ("hypergradient", "atlas:weakly-active", "--alpha", "1/10", "--given=lam=1/1000")


def test_the_width_of_the_multipliers_ramp_can_be_given(capsys):
    fixed = json.loads(run(capsys, *WEAK, "--json")[1])
    narrow = json.loads(run(capsys, *WEAK, "--lam-width=1/1000", "--json")[1])
    half = json.loads(run(capsys, *WEAK, "--lam-width=0.002", "--json")[1])
    assert [found["lam_width"] for found in (fixed, narrow, half)] == [0.1, 0.001, 0.002]
    assert [found["rho"][0] for found in (fixed, narrow, half)] == pytest.approx([0.01, 1.0, 0.5])
    assert fixed["terms"]["penalty"] != narrow["terms"]["penalty"]


def test_another_width_than_usual_is_said(capsys):
    assert "ε_λ = 0.001" in run(capsys, *WEAK, "--lam-width=1/1000")[1]
    assert "ε_λ" not in run(capsys, *WEAK)[1]


@pytest.mark.parametrize("width", ["0", "-1/10", "wide", "nan", "1e400", "1/0", ""])
def test_a_width_that_is_none_is_refused_in_one_line(capsys, width):
    code, out, err = run(capsys, *WEAK, f"--lam-width={width}")
    assert (code, out) == (2, "")
    assert err.startswith("f2csa: --lam-width: must ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("option", [field.name for field in fields(HypergradientOptions)])
def test_no_option_is_taken_that_nothing_reads(option):
    source = inspect.getsource(point) + inspect.getsource(error_bound)
    assert f"options.{option}" in source or f"request.{option}" in source


def test_an_option_of_another_command_is_refused(capsys):
    code, out, err = run(capsys, *TOY, "--step-size", "1")
    assert (code, out, err) == (2, "", "f2csa: No such option: --step-size\n")
