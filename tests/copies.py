"""Commands in copies of one process, which imports the package once: a start costs milliseconds instead of seconds.

``python -m MODULE …`` is asked of a program of a few lines that hands its words, environment, folder and open streams
to that process, which forks, and ends as the copy ends. The copy is a process like any other: its own streams, exit
code and end. What no fork can show is how an interpreter starts: tests about that start one.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import runpy
import selectors
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLIENT = """
import json, os, sys

def there(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True

streams = [number for number in (0, 1, 2) if there(number)]
import socket
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect(sys.argv[1])
    told = {"words": sys.argv[2:], "environment": dict(os.environ), "folder": os.getcwd(), "streams": streams}
    text = json.dumps(told).encode()
    socket.send_fds(asked, [len(text).to_bytes(8, "big")], streams)
    asked.sendall(text)
    code = int.from_bytes(asked.recv(4), "big", signed=True)
if code < 0:
    import signal
    if -code not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 1
_SERVING: list[int] = []
"""The process that is copied, by its number."""


def spent() -> float:
    """Processor seconds of that process and of the copies that have ended."""
    total = 0
    for number in _SERVING:
        with contextlib.suppress(OSError):
            # After the program's name, in brackets, which may hold anything: user, system, and of ended children.
            told = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            total += sum(map(int, told[11:15]))
    return total / _TICKS


@contextlib.contextmanager
def copying(folder: Path) -> Iterator[list[str]]:
    """The words to put in place of a Python's path: ``[*words, "-m", MODULE, …]``.

    Args:
        folder: An empty folder, for the socket and the program.
    """
    if not hasattr(os, "pidfd_open"):  # nowhere but on Linux
        yield [sys.executable]
        return
    address, program = folder / "socket", folder / "client.py"
    program.write_text(CLIENT, encoding="utf-8")
    code = "import sys; from tests.copies import serve; serve(sys.argv.pop())"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(address)], env=environment, cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    _SERVING.append(process.pid)
    try:
        assert process.stdout.readline() == b"ready\n"
        yield [sys.executable, "-I", "-S", str(program), str(address)]
    finally:
        process.stdout.close()
        process.terminate()
        process.wait()
        _SERVING.remove(process.pid)


def script(words: Sequence[str], arguments: str = "") -> str:
    """A shell script that runs these words, then its own."""
    return f'#!/bin/sh\nexec {shlex.join(words)} {arguments} "$@"\n'


def serve(address: str) -> None:
    """Wait for commands until this process is ended; returns in a copy, whose end is the command's."""
    _import_all()
    # What all copies share none of them looks through for garbage as it ends.
    gc.collect()
    gc.freeze()
    asking = socket.socket(socket.AF_UNIX)
    asking.bind(address)
    asking.listen()
    waiting = selectors.DefaultSelector()
    waiting.register(asking, selectors.EVENT_READ)
    print("ready", flush=True)
    while True:
        for key, _ in waiting.select():
            if key.data is not None:
                child, asked = key.data
                waiting.unregister(key.fd)
                os.close(key.fd)
                code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                with asked, contextlib.suppress(OSError):  # who asked may have been ended
                    asked.sendall(code.to_bytes(4, "big", signed=True))
                continue
            asked, _ = asking.accept()
            head, streams, _, _ = socket.recv_fds(asked, 8, 3)
            told = json.loads(_read(asked, int.from_bytes(head, "big")))
            child = os.fork()
            if child == 0:
                for other in (asked, asking, waiting):
                    other.close()
                _become(told, streams)
                return
            for number in streams:
                os.close(number)
            waiting.register(os.pidfd_open(child), selectors.EVENT_READ, (child, asked))


def _read(asked: socket.socket, size: int) -> bytes:
    text = b""
    while len(text) < size and (more := asked.recv(size - len(text))):
        text += more
    return text


def _import_all() -> None:
    """What commands import when they run."""
    import pytest  # noqa: F401  # a command of ours runs it, and so do tests

    import f2csa_command  # noqa: F401  # with what it imports
    import verify
    from spec.claims import load_claims
    from verify.cli.main import COMMANDS

    for place in {place for _, place in COMMANDS.values()}:
        import_module(place.partition(":")[0])
    import_module("verify.cli.runs.verify")
    import_module("verify.cli.pytest_plugin")
    load_claims()
    # What a run imports only when it gets there, and the compiled templates of its report.
    with tempfile.TemporaryDirectory() as folder:
        verify.run(["bias-bound/T3"], instances=["toy1"], profile="smoke").write(Path(folder))


def _become(told: dict[str, object], streams: Sequence[int]) -> None:
    """Run a command as an interpreter would that was started with these words."""
    words, numbers = told["words"], told["streams"]
    assert isinstance(words, list)
    assert isinstance(numbers, list)
    os.environ.clear()
    os.environ.update(told["environment"])  # type: ignore[call-overload]  # names and values
    folder = str(told["folder"])
    os.chdir(folder)
    for number in (0, 1, 2):
        # Numbers of what was handed over are above these.
        if number in numbers:
            os.dup2(streams[numbers.index(number)], number)
        else:
            os.close(number)
    for number in streams:
        os.close(number)
    sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False)) if 0 in numbers else None  # type: ignore[assignment]  # noqa: SIM115  # as where it is closed
    for number, name in ((1, "stdout"), (2, "stderr")):
        if number not in numbers:
            setattr(sys, name, None)
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    for number, name, usual in ((1, "stdout", "strict"), (2, "stderr", "backslashreplace")) if encoding else ():
        if number in numbers:
            raw = open(number, "wb", closefd=False)  # noqa: SIM115  # to the end
            usually = errors if errors and name == "stdout" else usual
            setattr(sys, name, io.TextIOWrapper(raw, encoding, usually, line_buffering=name == "stderr"))
    own = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    sys.path[:] = [folder, *dict.fromkeys([*own, *sys.path[1:]])]
    flag, module, *arguments = words
    assert flag == "-m", words
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
