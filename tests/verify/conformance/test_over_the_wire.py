"""Mutants are named over the wire as they are in process."""

from __future__ import annotations

import shlex
import sys

import pytest

import verify
from verify.conformance.bugs.catalogue import find


@pytest.mark.parametrize("id_", ["shifted-rows", "queries-the-middle"])
def test_a_mutant_is_named_over_the_wire(id_: str) -> None:
    mutant = find(id_)
    command = shlex.join([sys.executable, "-m", "verify.subjects.wire.serve", mutant.source])
    found = verify.conform(f"command:{command}", claims=["dual-extraction/ramp-slope"])
    assert found.first == mutant.stage, found.faults
    assert found.diagnosis is not None
    assert [match.id for match in found.diagnosis.matches] == [id_]
    assert found.exit_code == 1
