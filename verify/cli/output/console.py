"""Where the commands print: JSON, lines, one console, and a progress bar over a run that ends politely."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rich.console import Console

from verify.cli.output.pace import Pace
from verify.cli.output.spelling import can_show, in_ascii


def print_json(value: Any) -> None:
    """Write JSON to standard output."""
    print_json_text(json.dumps(value, indent=1, ensure_ascii=False))


def print_json_text(text: str) -> None:
    """Write JSON that is made already; where the paper's letters cannot be shown they are escaped, never spelt."""
    sys.stdout.write((text if can_show(sys.stdout) else _escaped(text)).rstrip("\n") + "\n")


def _escaped(text: str) -> str:
    """The same JSON in ASCII: what is not stands within strings, where an escape means the same."""
    return text if text.isascii() else "".join(c if c.isascii() else json.dumps(c)[1:-1] for c in text)


def printable(text: str) -> str:
    """The text, unable to steer a terminal: what a file holds may be quoted in it."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def print_lines(lines: Iterable[str]) -> None:
    """Write lines to standard output, each unable to steer a terminal."""
    for line in lines:
        sys.stdout.write(printable(line) + "\n")


class PlainConsole(Console):
    """A console that adds no pictures of its own, and spells symbols that its stream cannot show."""

    def print(self, *objects: Any, **how: Any) -> None:
        """Print, as :meth:`rich.console.Console.print`; what is spelt is laid out as it is spelt."""
        super().print(*(objects if can_show(self.file) else map(in_ascii, objects)), **how)  # type: ignore[arg-type]  # a text stream


def say(text: str) -> None:
    """What is looked for, while it is."""
    sys.stderr.write(f"f2csa: {text}\n")


def plain_console() -> PlainConsole:
    """Standard output as a console."""
    return PlainConsole(highlight=False, emoji=False)


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


EVERY = 30.0
"""Seconds between two lines of progress where nobody watches a bar."""


class ProgressLines(Pace):
    """What is done and how long the rest takes, a line now and then."""

    def say(self, until: threading.Event, every: float = EVERY) -> None:
        """Write the line every so often."""
        while not until.wait(every):
            with suppress(OSError, ValueError):  # whoever listened left
                sys.stderr.write(f"f2csa: {self.line}\n")
                sys.stderr.flush()


@contextmanager
def progress_lines(seconds: float | None = None) -> Iterator[ProgressLines]:
    """Lines on standard error while the run lasts, ``seconds`` if that is known."""
    lines, ended = ProgressLines(), threading.Event()
    lines.ends = None if seconds is None else lines.started + seconds
    speaker = threading.Thread(target=lines.say, args=(ended,), daemon=True)
    speaker.start()
    try:
        yield lines
    finally:
        ended.set()
        speaker.join()


@contextmanager
def progress_bar(*, quiet: bool = False, seconds: float | None = None) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on a terminal, lines elsewhere, or neither; told how much is done, of how much, and what was done last.

    ``seconds``: how long the run lasts, where that is known before.
    """
    console = Console(stderr=True)
    if quiet:
        yield lambda _done, _total, _what: None
        return
    if not console.is_terminal:
        with progress_lines(seconds) as lines:
            yield lines
        return
    # Slow to import, for those alone who see it.
    from verify.cli.output.bar import Bar

    bar = Bar(console)
    bar.pace.ends = None if seconds is None else bar.pace.started + seconds
    with bar.shown:
        yield bar


@contextmanager
def ended_politely() -> Iterator[None]:
    """Treat a request to terminate like Ctrl-C: workers are stopped and what is done is kept.

    A signal that is ignored stays ignored: ``nohup`` asks for that.
    """

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    known = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    names = [name for name in known if signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN]
    main = threading.current_thread() is threading.main_thread()
    before = {name: signal.signal(getattr(signal, name), interrupt) for name in names} if main else {}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
