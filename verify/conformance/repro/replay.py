"""Scripts run once more, in a process that knows nothing of this one, and the earlier calls that a deviation needs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from spec.neighbours import not_from_here
from verify.conformance.probes.probes import Probe
from verify.conformance.repro.scripts import AGREES
from verify.subjects.wire.guarded import Guarded

RIGHT, OFF = 40, 41
"""Exit codes by which a script tells what it saw."""
SECONDS = 120.0
"""Time for one run of a script; a subject that hangs shows that it does."""
RUNS = 14
"""Runs at most, in the search for the calls that are needed."""


@dataclass(frozen=True)
class Replay:
    """What a fresh process saw: whether the deviation shows, ``None`` where it could not run, and its last line."""

    shows: bool | None
    last_line: str


Again: TypeAlias = Callable[[str], Replay]


def replay(code: str, seconds: float = SECONDS) -> Replay:
    """Run a script in a fresh process."""
    # One thread, as in the judging process.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    told = f"{code}\nraise SystemExit({RIGHT} if {AGREES} else {OFF})\n"
    run = Guarded([sys.executable, *not_from_here(), "-"], environment)
    try:
        out, errors = run.guard.communicate(told.encode(), timeout=seconds)
    except subprocess.TimeoutExpired:
        return Replay(True, f"it did not answer within {seconds:g} s")
    finally:
        run.ended()
        run.end()
    ended = -1 if run.code is None else run.code
    lines = (out if ended in (RIGHT, OFF) else errors).decode(errors="replace").strip().splitlines()
    last = re.sub(r"^(\w+\.)+(?=\w+: )", "", lines[-1]) if lines else f"exit code {ended}"
    return Replay({RIGHT: False, OFF: True}.get(ended), last)


def needed_before(shows: Callable[[Sequence[Probe]], bool], earlier: Sequence[Probe]) -> list[Probe] | None:
    """A short list of earlier calls after which a deviation shows; ``None`` if it does not even after all of them."""
    left = RUNS

    def tried(calls: Sequence[Probe]) -> bool:
        nonlocal left
        left -= 1
        return shows(calls)

    count = len(earlier)
    starts = [earlier[-1:], earlier[:1], earlier[-8:], earlier[:8], earlier]
    shortest = next((list(calls) for calls in starts[: 1 if count == 1 else 5] if calls and tried(calls)), None)
    if shortest is None:
        return None
    size = len(shortest)
    while len(shortest) > 1 and size > 1 and left > 0:
        size = (size + 1) // 2
        at = 0
        while at < len(shortest) and left > 0:
            fewer = shortest[:at] + shortest[at + size :]
            if fewer and tried(fewer):
                shortest = fewer
            else:
                at += size
    return shortest
