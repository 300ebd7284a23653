"""The gates a statement about a solver passes, and that each of them can be failed."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from spec.claims import Bound
from verify.cli.main import invoke
from verify.conformance.bugs import gates
from verify.conformance.bugs.gates import about_solvers, fools, killer, page, passage, raised
from verify.conformance.bugs.null_subjects import null_subjects
from verify.subjects import ReferenceSubject

LONG = ("sfo-complexity", "goldstein-convergence")
PUBLISHED = Path(__file__).parents[4] / "docs" / "gates.md"


@pytest.mark.parametrize("claim", about_solvers())
def test_nothing_that_knows_nothing_is_supported(claim):
    # Whole runs of Section 5 take long: what tells most here, all of them in ``f2csa gate`` and test_null_optimisers.
    nulls = ("zero", "random", "noise-unaided", "deaf") if not claim.startswith(LONG) else ("zero",)
    assert [null for null in nulls if fools(null, claim)] == []


@pytest.mark.parametrize("null", ["constant", "nan", "echo", "unmoved", "missing"])
@pytest.mark.parametrize("claim", ["bias-bound/T1", "lipschitz-solution/lipschitz-F", "goldstein-convergence/clip"])
def test_nor_is_any_other(claim, null):
    assert not fools(null, claim)


def test_the_null_gate_can_be_failed(monkeypatch):
    monkeypatch.setattr(gates, "null_subjects", lambda: {"right": ReferenceSubject()})
    assert fools("right", "bias-bound/T3")


def test_a_bug_is_refuted_and_none_is_said_where_there_is_none(monkeypatch):
    assert re.fullmatch(r"\S+ on \S+", killer("bias-bound/T3"))
    monkeypatch.setattr(gates, "recorded", dict)
    monkeypatch.setattr(gates, "CATALOGUE", ())
    assert killer("bias-bound/T3") == ""


@pytest.mark.parametrize(
    ("tag", "toward", "power"),
    [("upper", "zero", "3/2"), ("lower", "zero", "1/2"), ("upper", "infinity", "1/2"), ("lower", "infinity", "3/2")],
)
def test_raising_makes_a_bound_stronger(tag, toward, power):
    bound = Bound(quantity="q", exponents={"alpha": "1"}, tag=tag, toward=toward)
    assert raised(bound, "alpha").exponents == {"alpha": Fraction(power)}


def test_a_bound_with_room_is_still_supported_half_an_order_stronger(monkeypatch):
    assert passage("bias-bound/T3").passed
    monkeypatch.setattr(gates, "HALF", Fraction(0))
    loose = passage("bias-bound/T3")
    assert loose.raised == ("alpha^2",)
    assert not loose.passed


def test_the_published_table_has_every_statement_and_all_pass():
    rows = re.findall(r"^\| (.) \| `([^`]+)` \|", PUBLISHED.read_text(encoding="utf-8"), re.M)
    assert [claim for _, claim in rows] == about_solvers()
    assert {mark for mark, _ in rows} == {"✓"}


def test_the_command_prints_writes_and_refuses(tmp_path, capsys):
    out = tmp_path / "gates.md"
    assert invoke(["gate", "bias-bound/T3", "bias-bound/L-H-y", "--jobs", "1", "--out", str(out)]) == 0
    assert "2 of 2 statements about a solver pass all three gates" in capsys.readouterr().out
    assert out.read_text().startswith(page([passage("bias-bound/L-H-y"), passage("bias-bound/T3")], {}))
    assert all(null in out.read_text() for null in null_subjects())
    out.write_text("mine")
    assert invoke(["gate", "bias-bound/T3", "--out", str(out)]) == 2
    assert out.read_text() == "mine"
    assert invoke(["gate", "related-rates"]) == 2
    assert "must say something about a solver" in capsys.readouterr().err
