"""A class that ends or never leaves its process is a fault of its own, be it in the judge's process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from verify.cli.main import invoke

HERE = "tests.verify.conformance.ending_subjects"
CLAIM = "dual-extraction/activation-locality"


@pytest.mark.parametrize("where", [[], ["--in-process"]], ids=["apart", "in-process"])
def test_ending_the_process_is_no_success(where: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["conform", "--python", f"{HERE}:Exits", CLAIM, "--out", str(tmp_path), "--jobs", "1", *where]
    code = invoke(arguments)
    said = capsys.readouterr()
    assert code == 3
    assert ("ended the process it was judged in" in said.err) == bool(where)
    assert "activation ended its process (exit code 0)" in said.out


def test_a_stage_that_hangs_costs_its_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["conform", "--python", f"{HERE}:Spins", CLAIM, "--out", str(tmp_path), "--time-limit", "0.3", "--json"]
    assert invoke(arguments) == 3
    found = json.loads(capsys.readouterr().out)
    assert "activation did not answer within 0.3 s" in " ".join(found["faults"])


def test_wrong_input_is_told_by_the_judging_process_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["conform", "--python", f"{HERE}:Exits", "no-such-claim", "--out", str(tmp_path), "--in-process"]
    assert invoke(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "no-such-claim" in said.err
