"""Standard streams that are closed or full: one line and its exit code, and no file is printed into."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from verify.cli import main as command_line
from verify.cli.main import invoke
from verify.cli.output.outlets import without_commands

PROGRAM = ("-c", "from verify.cli.main import main; main()")
CLOSED = "f2csa: standard output: must be open; > /dev/null throws what is printed away\n"


def run(redirected: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["sh", "-c", f'exec "$@" {redirected}', "sh", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


STARTED = ("<&- >&-", ">/dev/full")
"""Where an interpreter's own start is tried as well, once each; else the command is a copy of a process."""


@pytest.mark.parametrize(
    ("redirected", "arguments", "code", "out", "err"),
    [
        (">&-", ("claims",), 2, "", CLOSED),
        ("<&- >&-", ("claims",), 2, "", CLOSED),
        ("<&- >&- 2>&-", ("claims",), 2, "", ""),
        ("2>&-", ("claims", "nope"), 2, "", ""),
        ("2>/dev/full", ("claims", "nope"), 2, "", ""),
        (">/dev/full", ("claims",), 3, "", "f2csa: output was lost: No space left on device\n"),
        (">/dev/full", ("--version",), 3, "", "f2csa: output was lost: No space left on device\n"),
        ("2>/dev/full", ("claims", "nope"), 2, "", ""),
        ("<&-", ("hypergradient", "-", "--x", "0"), 2, "", "f2csa: standard input: is not valid JSON"),
    ],
)
def test_a_stream_that_is_closed_or_full_is_one_line(copied, redirected, arguments, code, out, err):
    starts = [[*copied, "-m", "verify"]]
    if redirected in STARTED and arguments == ("claims",):
        starts.append([sys.executable, *PROGRAM])
    for start in starts:
        made = run(redirected, *start, *arguments)
        assert (made.returncode, made.stdout) == (code, out)
        assert made.stderr.startswith(err)
        assert made.stderr.count("\n") == bool(err)


REFUTED = ("verify", "bias-bound/T3", "--subject", "null_here:Zero", "--causes", "0", "--instance", "toy1",
           "--reading", "repaired", "--profile", "smoke", "--out", "out")  # fmt: skip
ZERO = "class Zero:\n    name = 'zero'\n\n    def hypergradient(self, problem, x, call, rng):\n        return 0 * x\n"


@pytest.mark.parametrize("reader", ["true", "head -c 1 > /dev/null", "cat > /dev/null"])
def test_a_reader_that_leaves_changes_no_exit_code(copied, tmp_path, reader):
    (tmp_path / "null_here.py").write_text(ZERO)
    script = f'set -o pipefail; "$@" | {reader}'
    for arguments, code in ((REFUTED, 1), (("claims",), 0), (("claims", "nope"), 2)):
        command = ["bash", "-c", script, "bash", *copied, "-m", "verify", *arguments]
        made = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
        assert made.returncode == code, made.stderr


def test_an_executor_that_quits_is_a_fault(copied, tmp_path):
    (tmp_path / "quitting.py").write_text("import os\n\n\ndef now():\n    os._exit(0)\n")
    command = [*copied, "-m", "verify", "verify", "bias-bound/T3", "--instance", "toy1", "--profile", "smoke",
               "--executor", "quitting:now", "--out", "out"]  # fmt: skip
    made = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert made.returncode == 3
    assert made.stderr.endswith("ended its process before the run was over (exit code 0)\n")


def test_an_executor_that_works_has_its_own_exit_code(copied, tmp_path):
    (tmp_path / "working.py").write_text(
        "from concurrent.futures import ThreadPoolExecutor\n\n\ndef pool():\n    return ThreadPoolExecutor(1)\n"
    )
    (tmp_path / "null_here.py").write_text(ZERO)
    command = [*copied, "-m", "verify", *REFUTED, "--executor", "working:pool"]
    made = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert made.returncode == 1, made.stderr


def test_no_file_takes_the_number_of_a_closed_stream(tmp_path):
    opened = f"import os; print(os.open({str(tmp_path / 'file')!r}, os.O_CREAT | os.O_WRONLY))"
    program = f"from verify.cli.main import _hold_closed; print(_hold_closed()); {opened}"
    made = run("<&- 2>&-", sys.executable, "-c", program)
    assert made.returncode == 0
    said, number = made.stdout.split("\n")[:2]
    assert said == ""
    assert int(number) > 2


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (RuntimeError(), 3, "RuntimeError, without a word"),
        (RuntimeError(" \n "), 3, "RuntimeError, without a word"),
        (RuntimeError("the solver gave up"), 3, "the solver gave up"),
        (OSError("no number"), 2, "input/output: no number"),
        (OSError(), 2, "input/output: OSError, without a word"),
        (OSError(errno.EIO, "I/O error", "store"), 2, "store: I/O error"),
        (KeyError(), 3, "internal fault: KeyError (set F2CSA_TRACEBACK=1 to see where)"),
    ],
)
def test_an_error_always_has_a_line(capsys, monkeypatch, error, code, line):
    def fail(_: object) -> None:
        raise error

    monkeypatch.setattr(command_line, "_run", fail)
    assert invoke(["claims"]) == code
    assert capsys.readouterr().err == f"f2csa: {line}\n"


LOUD = """class Loud:
    name = "loud"

    def hypergradient(self, problem, x, call, rng):
        raise ValueError("  ::stop-commands::x ##[error]y")
"""


@pytest.mark.parametrize("annotations", ["github", "none"])
def test_what_a_subject_says_is_no_command_to_a_runner(copied, tmp_path, annotations):
    (tmp_path / "loud.py").write_text(LOUD)
    asked = (*REFUTED[:2], "--subject", "loud:Loud", *REFUTED[4:], "--annotations", annotations)
    made = subprocess.run(
        [*copied, "-m", "verify", *asked], capture_output=True, text=True, timeout=120, check=False,
        cwd=tmp_path, env={**os.environ, "GITHUB_ACTIONS": "true"},
    )  # fmt: skip
    printed = f"{made.stdout}{made.stderr}"
    assert made.returncode == 3
    assert "stop-commands" in printed
    assert "##[" not in printed
    meant = [line for line in printed.splitlines() if line.lstrip().startswith("::")]
    assert all(line.startswith("::error ") for line in meant)
    assert bool(meant) == (annotations == "github")


def test_no_command_is_left_in_a_line():
    assert without_commands("  ::a::b\n::c\nd::e ##[f]") == "  : :a::b\n: :c\nd::e # #[f]"


def test_an_ignored_signal_stays_ignored():
    program = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + (
        "from verify.cli.output.console import ended_politely\n"
        "with ended_politely(): signal.raise_signal(signal.SIGHUP); print('goes on')\n"
    )
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (made.returncode, made.stdout) == (0, "goes on\n")
