"""The example of CONTRIBUTING is followed, word by word: one entry in one file is a statement that is judged."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLAIM = "dual-extraction"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages with the example's entry at the end of its file."""
    folder = tmp_path_factory.mktemp("checkout")
    for package in ("spec", "f2csa_ref", "verify"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    (entry,) = re.findall(r"```toml\n(\[\[steps\]\]\nid.*?)```", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.S)
    file = folder / "spec" / "claims" / f"{CLAIM}.toml"
    file.write_text(f"{file.read_text('utf-8')}\n{entry}", "utf-8")
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "verify", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def edited(folder: Path, old: str, new: str) -> subprocess.CompletedProcess[str]:
    """What the claims' command says of the file with one edit."""
    file = folder / "spec" / "claims" / f"{CLAIM}.toml"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")
    try:
        return run(folder, "verify", f"{CLAIM}/row-norms", "--profile", "smoke", "--out", "edited")
    finally:
        file.write_text(text, "utf-8")


def test_the_entry_alone_is_a_statement_that_is_judged(checkout: Path) -> None:
    judged = run(checkout, "verify", f"{CLAIM}/row-norms", "--profile", "smoke", "--out", "report")
    assert judged.returncode in (0, 1), judged.stderr  # on no record yet, which a run says
    results = json.loads((checkout / "report" / "report.json").read_text("utf-8"))["results"]
    assert {(row["reading"], row["instance"]) for row in results} == {
        (reading, instance) for reading in ("as-written", "repaired") for instance in ("toy1", "random-3x5x4")
    }
    assert {row["verdict"] for row in results} == {"SUPPORTED"}
    shown = run(checkout, "claims", f"{CLAIM}/row-norms")
    assert "as a formula: ‖∇h‖ ≤ ‖A‖ + ‖B‖" in shown.stdout
    assert "decided as: |I| ≥ 1" in shown.stdout


def test_a_false_formula_is_refuted(checkout: Path) -> None:
    judged = edited(checkout, '"norm(jac_h) <= norm(A) + norm(B)"', '"norm(jac_h) <= norm(A) / 2"')
    assert judged.returncode == 1
    results = json.loads((checkout / "edited" / "report.json").read_text("utf-8"))["results"]
    assert {row["verdict"] for row in results} == {"REFUTED"}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("<= norm(A) + norm(B)", "<= norm(A) + nrm(B)", "calls an unknown function; did you mean norm?; got nrm"),
        ("<= norm(A) + norm(B)", "<= norm(A + B)", "applies + to shapes that do not fit"),
        ("<= norm(A) + norm(B)", "<=", "is no formula"),
        ("count(active) >= 1", "count(active) >= 100", "must be met by one of the instances"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_file_and_key(checkout: Path, old: str, new: str, words: str) -> None:
    refused = edited(checkout, old, new)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert refused.stderr.startswith(f"f2csa: claims/{CLAIM}.toml")
    assert words in refused.stderr
