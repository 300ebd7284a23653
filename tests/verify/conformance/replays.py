"""Scripts run in this process, for tests that have no time for one of their own; the subject is loaded anew."""

from __future__ import annotations

import contextlib
import io
from typing import Any

from verify.conformance.repro.replay import Replay
from verify.conformance.repro.scripts import AGREES


def played_here(code: str) -> Replay:
    """What :func:`verify.conformance.repro.replay.replay` says, but for what this process remembers."""
    printed, names = io.StringIO(), dict[str, Any]()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "repro", "exec"), names)
        right = bool(eval(AGREES, names))
    return Replay(not right, printed.getvalue().strip().splitlines()[-1])
