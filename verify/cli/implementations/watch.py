"""``f2csa conform --watch``: judge again whenever the subject's source changes, and say what that changed."""

from __future__ import annotations

import io
import json
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import replace
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, TypeAlias

from spec.errors import InvalidInputError
from verify.cli.arguments.conform_options import Conform
from verify.conformance.model import MARKS
from verify.conformance.repro.saved_cases import is_case

EVERY = 0.5
"""Seconds between two looks at the files."""
SHOWN = 8
"""Claims that came out otherwise, named one by one."""
Stamps: TypeAlias = dict[Path, tuple[int, int]]
"""When each file was written last, and its size."""
Found: TypeAlias = dict[str, Any]


def watch(options: Conform, judge: Callable[[Conform], int], wait: Callable[[float], None] = time.sleep) -> int:
    """Judge, then again after each change, until interrupted; returns the exit code of the last complete run.

    Raises:
        InvalidInputError: If there is no source to watch, or the first run is asked for what cannot be done.
    """
    once = replace(options, watch=False)
    _ = sources(options)
    before = stamps(options)
    code = 3
    with interrupts() as interrupted:
        try:
            code, text, contents = _judged(once, judge)
            if interrupted:
                return code
            sys.stdout.write(text)
            if code == 2:
                return code
            while True:
                _say("waiting for a change (Ctrl-C ends)")
                changed, before = _changed(options, before, wait)
                last, earlier = code, contents
                now, _, contents = _judged(once, judge)
                if interrupted:
                    return last
                code = now
                for line in difference(earlier, contents, changed):
                    sys.stdout.write(f"{line}\n")
                sys.stdout.write(f"exit code {code}\n")
                contents = contents or earlier
        except KeyboardInterrupt:
            return code


def _say(line: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(f"f2csa: {line}\n")
    sys.stderr.flush()


def _judged(options: Conform, judge: Callable[[Conform], int]) -> tuple[int, str, Found]:
    """Exit code, letter, and what conform.json holds; nothing where it was not written."""
    file, told = options.out / "conform.json", io.StringIO()
    written = _stamp(file)
    try:
        with redirect_stdout(told):
            code = judge(options)
    except InvalidInputError as error:
        _say(" ".join(str(error).split()))
        return 2, "", {}
    contents: Found = {}
    if _stamp(file) != written:
        with suppress(OSError, ValueError):
            contents = json.loads(file.read_text(encoding="utf-8"))
    return code, told.getvalue(), contents


@contextmanager
def interrupts() -> Iterator[list[int]]:
    """Interrupts that came meanwhile: a run in a process of its own hears them first, and ends politely."""
    seen: list[int] = []

    def interrupt(number: int, _frame: object) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, interrupt) if main else None
    try:
        yield seen
    finally:
        if main:
            signal.signal(signal.SIGINT, before)


def _changed(options: Conform, before: Stamps, wait: Callable[[float], None]) -> tuple[list[Path], Stamps]:
    """Wait until files differ, and then until they are the same twice: an editor may write several."""
    now = before
    while now == before:
        wait(EVERY)
        now = stamps(options)
    while True:
        wait(EVERY)
        then, now = now, stamps(options)
        if then == now:
            return sorted(path for path in {*before, *now} if before.get(path) != now.get(path)), now


def stamps(options: Conform) -> Stamps:
    """What the source files look like; one that is gone is left out."""
    return {path: stamp for path in sources(options) if (stamp := _stamp(path)) is not None}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size


def sources(options: Conform) -> list[Path]:
    """The subject's files: those of its package or beside its module, or those that its command names.

    Raises:
        InvalidInputError: If there are none.
    """
    files = _of_command(options.command) if options.command is not None else _of_module(str(options.python))
    if not files:
        raise InvalidInputError("--watch", "finds no source file of the subject", options.command or options.python)
    return files


def _of_module(name: str) -> list[Path]:
    top = name.partition(":")[0].partition(".")[0]
    spec = PathFinder.find_spec(top, [str(Path.cwd()), *sys.path]) if top else None
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        return _own(path for folder in spec.submodule_search_locations for path in Path(folder).rglob("*.py"))
    return _own(Path(spec.origin).parent.glob("*.py")) if spec.origin is not None else []


def _own(paths: Iterable[Path]) -> list[Path]:
    """Without the tests that this program keeps there itself."""
    return sorted(path for path in paths if not is_case(path))


def _of_command(line: str) -> list[Path]:
    try:
        words = shlex.split(line)
    except ValueError:
        return []
    return [Path(word) for word in words if Path(word).is_file()]


def difference(before: Found, now: Found, changed: Iterable[Path]) -> Iterator[str]:
    """What a run found otherwise than the one before, line by line."""
    names = ", ".join(path.name for path in changed)
    if not now:
        yield f"{names} changed: not judged."
        return
    lines = [*_stages(before, now), *_claims(before, now)]
    yield f"{names} changed:" if lines else f"{names} changed: nothing came out otherwise."
    yield from lines


def _stages(before: Found, now: Found) -> Iterator[str]:
    was = {stage["stage"]: stage for stage in before.get("stages", ())}
    for stage in now["stages"]:
        old = was.get(stage["stage"], {"status": "not judged", "sentence": ""})
        if old["status"] != stage["status"]:
            told = f"{stage['status']} now ({old['status']} before). {stage['sentence']}"
        elif stage["status"] in ("diverges", "fault") and old["sentence"] != stage["sentence"]:
            told = f"still {stage['status']}, otherwise. {stage['sentence']}"
        else:
            continue
        yield f"  {MARKS[stage['status']]} {stage['stage']}: {told}"


def _claims(before: Found, now: Found) -> Iterator[str]:
    was = {claim["claim"]: claim["status"] for claim in before.get("claims", ())}
    lines = [
        f"  {claim['claim']}: {claim['status']} ({was.get(claim['claim'], 'not judged')} before)"
        for claim in now["claims"] if was.get(claim["claim"]) != claim["status"]
    ]  # fmt: skip
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        yield f"  … and {len(lines) - SHOWN} more claims."
