"""What tests on edited proofs share: the record, an edit that mends its hash, and a refusal's lines."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from verify.proofs.kernel.coq_checking import CoqOutcome
from verify.proofs.kernel.coq_sources import read_sources
from verify.proofs.kernel.proof_record import ProofRecord, load_record

RECORD = load_record()
OPENING = "Local Open Scope R_scope."
needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not on the path")


def edit(folder: Path, name: str, *changes: tuple[str, str]) -> ProofRecord:
    """Change a file, and the record's hash with it, as someone would who wants the change unseen."""
    path = folder / f"{name}.v"
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")
    return RECORD.model_copy(update={"sources": RECORD.sources | {name: read_sources(folder)[name].digest}})


def lines(outcome: CoqOutcome) -> tuple[str, ...]:
    """Why it is refused, each in a line."""
    assert outcome.state == "refused"
    assert all("\n" not in line for line in outcome.refusals)
    return outcome.refusals
