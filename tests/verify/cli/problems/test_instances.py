"""``f2csa instances`` and ``f2csa refute`` without a claim: lists that say what there is."""

from __future__ import annotations

import json

import pytest

from spec import parse_problem
from spec.atlas import ORDER, atlas
from tests.verify.cli.test_main import run
from verify.proofs.refutation.search import readings_searched, refutable


def test_the_atlas_is_listed_with_sizes_strata_and_purpose(capsys):
    code, out, _ = run(capsys, "instances")
    assert code == 0
    said = " ".join(out.split())
    for name, instance in atlas().items():
        assert name in said
        assert " ".join(instance.purpose.split()[:2]) in said
    assert "random-2x3x4 2 3 4" in said
    assert f"{len(ORDER)} instances." in said


def test_as_json_an_instance_is_whole(capsys):
    _, out, _ = run(capsys, "instances", "--json")
    found = {entry["name"]: entry for entry in json.loads(out)}
    assert list(found) == list(ORDER)
    for name, instance in atlas().items():
        entry = found[name]
        assert parse_problem(entry["problem"]) == instance.problem
        assert set(entry["strata"]) == instance.strata
        assert len(entry["x"]) == entry["n"]
    assert (found["random-3x5x4"]["n"], found["random-3x5x4"]["m"], found["random-3x5x4"]["p"]) == (3, 5, 4)
    assert "bias-bound/T3" in found["toy1"]["statements"]


def test_strata_filter_all_at_once(capsys):
    _, out, _ = run(capsys, "instances", "--stratum", "weakly-active", "--json")
    names = [entry["name"] for entry in json.loads(out)]
    assert names == [name for name, instance in atlas().items() if "weakly-active" in instance.strata]
    _, out, _ = run(capsys, "instances", "--stratum", "weakly-active", "--stratum", "A-zero", "--json")
    both = [name for name, instance in atlas().items() if {"weakly-active", "A-zero"} <= instance.strata]
    assert [entry["name"] for entry in json.loads(out)] == both


def test_one_by_name_says_all_that_is_known(capsys):
    code, out, _ = run(capsys, "instances", "atlas:toy1")
    assert code == 0
    assert out.startswith("toy1: n = 1, m = 1, p = 1")
    assert "hypergradient = 1" in out
    assert "x = (1)" in out


@pytest.mark.parametrize("arguments", [("toy9",), ("--stratum", "narrow"), ("--stratum", "")])
def test_unknown_names_are_refused_in_one_line(capsys, arguments):
    code, out, err = run(capsys, "instances", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_without_a_claim_refute_lists_what_it_can_refute(capsys):
    code, out, _ = run(capsys, "refute")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1 : 1 + len(refutable())]] == list(refutable())
    assert f"{len(refutable())} claims and steps have a search" in out
    _, out, _ = run(capsys, "refute", "--json")
    assert {row["claim"]: tuple(row["readings"]) for row in json.loads(out)} == {
        claim: readings_searched(claim) for claim in refutable()
    }
    for option in (("--out", "file.json"), ("--weight", "1"), ("--reading", "nope")):
        code, out, err = run(capsys, "refute", *option)
        assert (code, out, err.count("\n")) == (2, "", 1)
