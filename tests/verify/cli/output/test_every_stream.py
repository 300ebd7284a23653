"""Every command's exit code, whatever becomes of what it prints: its own or 3, and never 0 for a failure."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from verify.cli.main import COMMANDS

FAILING = {
    "verify": "nope",
    "merge": "nowhere --out all",
    "report": "nowhere",
    "claims": "nope",
    "hypergradient": "nowhere.json",
    "goldstein": "nowhere.json --x 1 --radius 1",
    "instances": "nope",
    "solve": "nowhere.json",
    "orders": "nope",
    "refute": "nope",
    "calibrate": "--runs 0",
    "gate": "nope",
    "prove": "nope",
    "recheck": "nowhere",
    "badge": "nowhere",
    "board": "nowhere",
    "soak": "nope",
    "vectors": "--check nowhere",
    "conform": "--python nowhere:Subject",
    "history": "nowhere.json",
    "init": "cobol",
    "doctor": "nope",
    "settings": "nope",
    "schema": "nope",
    "baseline record": "nope",
    "baseline compare": "nowhere.json",
    "experiment board": "--seed -1",
    "experiment convergence": "--seed -1",
    "experiment scaling": "--seed -1",
    "experiment kinks": "--seed -1",
    "paper annotate": "nowhere",
    "paper check": "nowhere.tex",
    "paper lint": "nowhere.tex",
    "paper extract": "nowhere.tex",
    "paper corrections": "--report nowhere",
}
"""Arguments that each command refuses at once."""
PRINTING = {
    "claims": 0, "claims bias-bound": 0, "instances": 0, "schema problem": 0, "orders": 0, "settings": 0, "--help": 0,
    "doctor": 0, "--version": 0, "refute bias-bound/T3": 0, "hypergradient atlas:toy1 --alpha 1/10 --json": 0,
    "paper lint wrong.tex": 1, "conform --self-test --python raising:Subject": 3,
    "conform --python raising:Module --self-test": 2,
}  # fmt: skip
"""Commands that say something on standard output, and the exit code of each."""
STREAMS = ("kept", "left", "full", "closed")
"""Standard output: a file; a pipe whose reader has left; a full disk; closed."""

RAISING = """
class Subject:
    def hypergradient(self, problem, x, call, rng):
        raise ValueError("no")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A working folder with what the commands name."""
    folder = tmp_path_factory.mktemp("streams")
    (folder / "raising.py").write_text(RAISING)
    (folder / "wrong.tex").write_text(
        "\\documentclass{article}\n\\begin{document}\nSee~\\ref{none}.\n\\end{document}\n"
    )
    return folder


def codes(copied: list[str], folder: Path, line: str) -> list[int]:
    """Exit codes of a command line, by stream."""
    found = []
    command = [*copied, "-m", "verify", *line.split()]
    for stream in STREAMS:
        reads, writes = os.pipe()
        os.close(reads)
        out = {"kept": folder / "kept", "full": Path("/dev/full")}.get(stream)
        with out.open("w") if out else os.fdopen(writes, "w") as given:
            started = ["sh", "-c", 'exec "$@" >&-', "sh", *command] if stream == "closed" else command
            ended = subprocess.run(started, stdout=given, stderr=subprocess.DEVNULL, cwd=folder, check=False)
        found.append(ended.returncode)
        if out:
            os.close(writes)
    return found


def test_every_command_is_asked():
    assert set(FAILING) == {name for name, _ in COMMANDS.values()}


@pytest.mark.parametrize("name", FAILING)
def test_a_failure_is_never_a_success(copied, folder, name):
    assert codes(copied, folder, f"{name} {FAILING[name]}") == [2, 2, 2, 2]


@pytest.mark.parametrize("line", PRINTING)
def test_what_is_printed_into_nothing_leaves_its_exit_code(copied, folder, line):
    own = PRINTING[line]
    assert codes(copied, folder, line) == [own, own, own or 3, 2]
