"""Where the commands print: JSON, lines, one console, and a progress bar over a run that ends politely."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rich.console import Console


def print_json(value: Any) -> None:
    """Write JSON to standard output."""
    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def printable(text: str) -> str:
    """The text, unable to steer a terminal: what a file holds may be quoted in it."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def plain_console(*, errors: bool = False) -> Console:
    """A console that adds no colours or pictures of its own."""
    return Console(stderr=errors, highlight=False, emoji=False)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def memory() -> float:
    """Memory of this machine, or of the container it runs in, in bytes; 0 where it cannot be told."""
    try:
        whole = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return 0.0
    with suppress(OSError, ValueError):
        whole = min(whole, float(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return whole


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int, str], None]]:
    """A bar on a terminal, nothing elsewhere; told how much is done, of how much, and what is next."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _done, _total, _what: None
        return
    # Slow to import, for those alone who see it.
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda done, total, what: bar.update(
            task, completed=done, total=total, description=what.replace("|", " ")
        )


@contextmanager
def ended_politely() -> Iterator[None]:
    """Treat a request to terminate like Ctrl-C: workers are stopped and what is done is kept."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    main = threading.current_thread() is threading.main_thread()
    before = {name: signal.signal(getattr(signal, name), interrupt) for name in names} if main else {}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
