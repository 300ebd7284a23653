"""The process between a runner and a subject: starts it, says how it ended, and ends everything it started.

Started as ``python guard.py MARK CONTROL STATUS COMMAND…``. CONTROL is a pipe from the runner that never says
anything: its end means that the runner is done or gone, be it by ``kill -9``. On STATUS it writes ``started PID`` or
``failed REASON``, later ``ended CODE``. On Linux whatever the subject starts, in whatever session and environment, is
handed to the guard when its own parent ends, so the guard finds all of it among its descendants.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

VARIABLE = "F2CSA_SUBJECT"
"""Environment variable that marks a subject and all its children, wherever they hide."""
PATIENCE = 3.0
"""Seconds to go on killing what goes on starting processes."""
_DUMPABLE, _SUBREAPER = 4, 36  # PR_SET_DUMPABLE and PR_SET_CHILD_SUBREAPER of linux/prctl.h
_adopting = False


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends (Linux; elsewhere nothing changes).

    Nor can another process of the same user write into this one's pipes or memory from now on, unless it may trace all.
    """
    global _adopting  # so it is with the process itself
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            prctl = ctypes.CDLL(None).prctl
            prctl(_DUMPABLE, 0, 0, 0, 0)
            _adopting = prctl(_SUBREAPER, 1, 0, 0, 0) == 0


def end_strays(guards: set[int]) -> None:
    """Kill what was left to this process, if it adopts orphans: what is below it in other sessions, under no guard."""
    until = time.monotonic() + PATIENCE
    while _adopting and time.monotonic() < until:
        seen, session = processes(), os.getsid(0)
        guarded = guards.union(*(descendants(pid, seen) for pid in guards))
        strays = [pid for pid in descendants(os.getpid(), seen) if pid not in guarded and seen[pid][1] != session]
        if not strays:
            return
        for pid in strays:
            end(pid)
        time.sleep(0.002)


def processes() -> dict[int, tuple[int, int, int]]:
    """Every process with its parent, its session and its resident pages (Linux; elsewhere none)."""
    names = os.listdir("/proc") if os.path.isdir("/proc") else []  # noqa: PTH208, PTH112  # quick to start
    looked_at = {int(name): _status(int(name)) for name in names if name.isdigit()}
    return {pid: status for pid, status in looked_at.items() if status is not None}


def _status(pid: int) -> tuple[int, int, int] | None:
    """Parent, session and resident pages of a process that runs; ``None`` of any other."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  # quick to start
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    alive = len(fields) > 21 and fields[0] != b"Z"
    return (int(fields[1]), int(fields[3]), int(fields[21])) if alive else None


def children(pid: int) -> list[int]:
    """The processes that one started or adopted; one that begins or ends meanwhile may be missing.

    Raises:
        OSError: If it is gone, or the kernel keeps no such list.
    """
    pids = []
    for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  # quick to start
        with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123  # quick to start
            pids += [int(number) for number in file.read().split()]
    return pids


def memory_below(root: int) -> dict[int, int]:
    """The same as :func:`descendants`, quick: by the kernel's lists of children where it keeps them.

    Good enough to hold limits, not to end what hides.
    """
    seen: dict[int, tuple[int, int, int]] = {}
    new = [root]
    while new:
        pid = new.pop()
        try:
            below = children(pid)
        except OSError:
            if pid == root:
                return descendants(root)
            continue
        new += below
        seen |= {child: status for child in below if (status := _status(child)) is not None}
    return _memory(seen)


def _memory(seen: dict[int, tuple[int, int, int]]) -> dict[int, int]:
    """Bytes of memory by process."""
    size = os.sysconf("SC_PAGE_SIZE")
    return {pid: pages * size for pid, (_, _, pages) in seen.items()}


def descendants(root: int, seen: dict[int, tuple[int, int, int]] | None = None) -> dict[int, int]:
    """All processes below one, with the bytes of memory each has."""
    seen = processes() if seen is None else seen
    below: set[int] = set()
    new = {root}
    while new:
        new = {pid for pid, (parent, *_) in seen.items() if parent in new} - below
        below |= new
    return _memory({pid: seen[pid] for pid in below})


def marked(mark: str) -> list[int]:
    """Processes that carry the mark in their environment (Linux; elsewhere none are found)."""
    wanted = f"{VARIABLE}={mark}".encode()
    pids = []
    for number in processes():
        try:
            with open(f"/proc/{number}/environ", "rb") as file:  # noqa: PTH123  # quick to start
                if wanted in file.read():
                    pids.append(number)
        except OSError:
            continue
    return pids


def end(pid: int) -> None:
    """Kill a process; one that is gone already, or is not ours, is left alone."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def end_group(group: int) -> None:
    """Kill a process group."""
    if group > 1:
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)


def end_below(root: int) -> None:
    """Kill everything below a process, until nothing is."""
    until = time.monotonic() + PATIENCE
    while (below := descendants(root)) and time.monotonic() < until:
        for pid in below:
            # Stopped first, none of them starts another one meanwhile.
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP)
        for pid in below:
            end(pid)
        _reap()
        time.sleep(0.001)


def _reap() -> dict[int, int]:
    """Codes of the processes that ended, negative for signals; they are gone then."""
    ended = {}
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            ended[pid] = os.waitstatus_to_exitcode(status)
    return ended


def _start(command: list[str], mark: str, status: int) -> int | None:
    """Start the subject in a session of its own, with the guard's standard streams, which the guard gives up."""
    failed, says = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            with contextlib.suppress(ImportError, OSError, ValueError):
                import resource

                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.execvpe(command[0], command, {**os.environ, VARIABLE: mark})
        except OSError as error:
            os.write(says, (error.strerror or str(error)).encode())
        finally:
            os._exit(127)
    os.close(says)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    reason = os.read(failed, 400)
    if reason:
        os.write(status, b"failed " + reason + b"\n")
        return None
    os.write(status, b"started %d\n" % pid)
    return pid


def main() -> None:
    """Start, wait for the end of the subject or of the runner, kill what is left."""
    mark, control, status = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for descriptor in (control, status):
        os.set_inheritable(descriptor, False)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    adopt_orphans()
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    pid = _start(sys.argv[4:], mark, status)
    while pid is not None:
        ready = select.select([control, woken], [], [])[0]
        if woken in ready:
            os.read(woken, 4096)
        code = _reap().get(pid)
        if code is not None or control in ready:
            # Everything it started dies before anybody hears of its end.
            end_group(pid)
            end_below(os.getpid())
            if code is not None:
                with contextlib.suppress(OSError):
                    os.write(status, b"ended %d\n" % code)
            return


if __name__ == "__main__":
    main()
