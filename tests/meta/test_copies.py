"""Commands in copies of a process: words, folder, environment, streams, exit codes and ends are those of a start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import copies

MODULE = """
import os, sys
what, *words = sys.argv[1:]
if what == "say":
    print(words, os.getcwd(), os.environ.get("SAID"), __name__, sys.stdin.read().strip())
    print("aside", file=sys.stderr)
elif what == "end":
    os._exit(int(words[0]))
elif what == "kill":
    os.kill(os.getpid(), int(words[0]))
elif what == "keep":
    sys.modules["spec"].kept = True
    os.environ["SAID"] = "kept"
print(getattr(sys.modules["spec"], "kept", None), sys.stdout is None, "sympy" in sys.modules)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "told.py").write_text(MODULE)
    return tmp_path


def ran(copied: list[str], folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*copied, "-m", "told", *words], cwd=folder, env=os.environ | environment, input="asked\n",
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_copy_has_the_words_the_folder_the_environment_and_the_streams(copied: list[str], folder: Path) -> None:
    done = ran(copied, folder, "say", "a b", "ü", SAID="it")
    first, second = done.stdout.splitlines()
    assert first == f"['a b', 'ü'] {folder} it __main__ asked"
    assert second.startswith("None False")
    assert (done.returncode, done.stderr) == (0, "aside\n")


def test_it_ends_as_the_command_does(copied: list[str], folder: Path) -> None:
    assert [ran(copied, folder, "end", code).returncode for code in ("0", "7", "255")] == [0, 7, 255]
    assert ran(copied, folder, "kill", str(int(signal.SIGKILL))).returncode == -signal.SIGKILL
    assert ran(copied, folder, "end", "none").returncode == 1


def test_what_one_does_is_not_there_for_the_next(copied: list[str], folder: Path) -> None:
    assert ran(copied, folder, "keep").stdout.startswith("True")
    assert ran(copied, folder, "say").stdout.splitlines()[-1].startswith("None")


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="nothing is copied here")
def test_it_is_a_copy_and_its_time_is_counted(copied: list[str], folder: Path) -> None:
    before = copies.spent()
    # An interpreter that has just started has not imported this.
    assert ran(copied, folder, "do").stdout.endswith("True\n")
    assert copies.spent() >= before > 0
    started = ran([sys.executable], folder, "say")
    assert started.returncode == 1
    assert "KeyError: 'spec'" in started.stderr
