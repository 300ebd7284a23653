"""A copy of the proofs that a test may edit, with the record's hash renewed as whoever edits it would renew it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from verify.proofs.kernel import proof_record
from verify.proofs.kernel.coq_sources import FOLDER


@pytest.fixture
def renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever record is put in, the package knows its hash."""
    monkeypatch.setattr(proof_record, "digest", lambda _: proof_record.DIGEST)


@pytest.fixture
def folder(tmp_path: Path, renewed: None) -> Path:
    """The sources, to be edited."""
    return Path(shutil.copytree(FOLDER, tmp_path / "coq"))
