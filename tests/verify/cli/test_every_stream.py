"""Every command's exit code, whatever becomes of what it prints: its own or 3, and never 0 for a failure."""

from __future__ import annotations

import json
import subprocess
import sys

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

# One process imports the package, and each command runs in a copy of it.
RUNNER = """
import gc, json, os, sys
from importlib import import_module
from spec.claims import load_claims
from verify.cli import main as command_line

for place in {place for _, place in command_line.COMMANDS.values()}:
    import_module(place.partition(":")[0])
load_claims()
# What all copies share none of them looks through for garbage as it ends.
gc.collect()
gc.freeze()
found = []
for arguments, stream in json.load(sys.stdin):
    child = os.fork()
    if child == 0:
        reads, writes = os.pipe()
        os.close(reads)
        out = {"kept": os.open("kept", os.O_WRONLY | os.O_CREAT), "left": writes,
               "full": os.open("/dev/full", os.O_WRONLY), "closed": None}[stream]
        if out is None:
            os.close(1)
            sys.stdout = None
        else:
            os.dup2(out, 1)
        os.dup2(os.open("errors", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
        sys.argv = ["f2csa", *arguments.split()]
        command_line.main()
    found.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(json.dumps(found))
"""
RAISING = """
class Subject:
    def hypergradient(self, problem, x, call, rng):
        raise ValueError("no")
"""


@pytest.fixture(scope="module")
def codes(tmp_path_factory) -> dict[tuple[str, str], int]:
    """Exit codes by command line and stream."""
    folder = tmp_path_factory.mktemp("streams")
    (folder / "raising.py").write_text(RAISING)
    (folder / "wrong.tex").write_text(
        "\\documentclass{article}\n\\begin{document}\nSee~\\ref{none}.\n\\end{document}\n"
    )
    lines = [*(f"{name} {given}" for name, given in FAILING.items()), *PRINTING]
    asked = [(line, stream) for line in lines for stream in STREAMS]
    made = subprocess.run(
        [sys.executable, "-c", RUNNER], input=json.dumps(asked), capture_output=True, text=True, cwd=folder,
        timeout=300, check=True,
    )  # fmt: skip
    return dict(zip(asked, json.loads(made.stdout), strict=True))


def test_every_command_is_asked():
    assert set(FAILING) == {name for name, _ in COMMANDS.values()}


@pytest.mark.parametrize("name", FAILING)
def test_a_failure_is_never_a_success(codes, name):
    assert [codes[f"{name} {FAILING[name]}", stream] for stream in STREAMS] == [2, 2, 2, 2]


@pytest.mark.parametrize("line", PRINTING)
def test_what_is_printed_into_nothing_leaves_its_exit_code(codes, line):
    own = PRINTING[line]
    assert [codes[line, stream] for stream in STREAMS] == [own, own, own or 3, 2]
