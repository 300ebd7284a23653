"""The search for lines in a process of its own, which is ended where it runs on, C calls included."""

from __future__ import annotations

import json
import os
import pickle
import select
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from verify.conformance.comparison.stage_comparison import Seen
from verify.conformance.probes.probes import Probe
from verify.conformance.trace.model import Say, Trace, TracedLine
from verify.method.lines import Stage
from verify.subjects.wire.guarded import Guarded
from verify.subjects.wire.messages import printable
from verify.subjects.wire.python_subject import as_importable_as_here

SECONDS = 20.0
"""For the whole search, the start of its process included."""
TRACED: tuple[Stage, ...] = (
    "lower_level", "activation", "penalty_minimiser", "hypergradient", "samples", "optimise",
)  # fmt: skip
"""In the order in which they are looked at: the inner ones first."""
LINE_BYTES = 1 << 20
"""Longest message that is read."""


def trace(source: str, seen: Seen, accuracy: float, say: Say = lambda _: None, seconds: float = SECONDS) -> Trace:
    """Look for the line of each stage that was found wrong.

    Args:
        source: ``package.module:Attribute``.
        seen: What the judge saw: the stages that deviate, and its wrong questions.
        accuracy: What the subject declares; 0 without.
        say: Told what is done now, in a few words.
        seconds: Time for all of it, > 0.
    """
    wrong = [finding.stage for finding in seen.findings if finding.status in ("diverges", "fault")]
    stages = [stage for stage in TRACED if stage in wrong]
    if not stages:
        return Trace()
    judged: dict[str, list[Probe]] = {
        stage: [_bare(a.probe) for a in seen.of(stage) if not a.excess <= 1] for stage in stages
    }
    return search(source, judged, accuracy, say, seconds)


def search(
    source: str, judged: Mapping[str, Sequence[Probe]], accuracy: float, say: Say = lambda _: None,
    seconds: float = SECONDS,
) -> Trace:  # fmt: skip
    """The same for stages by name, with wrong questions about each beside those that are asked anyhow."""
    started = time.monotonic()
    command = [sys.executable, "-P", "-m", "verify.conformance.trace.trace_worker"]
    process = Guarded(command, as_importable_as_here() | {"PYTHONDONTWRITEBYTECODE": "1"})
    heard = _Heard(say)
    try:
        request = {"source": source, "judged": dict(judged), "accuracy": accuracy, "seconds": 0.9 * seconds}
        _send(process, pickle.dumps(request))
        heard.listen(process, started + seconds)
    finally:
        process.end()
    return heard.trace(time.monotonic() - started, list(judged))


def _bare(probe: Probe) -> Probe:
    return replace(probe, elsewhere=None)


def _send(process: Guarded, data: bytes) -> None:
    stdin = process.streams[0]
    assert stdin is not None  # a pipe
    try:
        stdin.write(data)
        stdin.close()
    except OSError:
        return  # it ended; that is heard where it is listened to


class _Heard:
    """What the process said: untrusted, for the user's code runs there."""

    def __init__(self, say: Say) -> None:
        self.say = say
        self.lines: list[TracedLine] = []
        self.no_line: list[str] = []
        self.left_out: list[str] = []
        self.is_done = False
        self.late = False

    def listen(self, process: Guarded, until: float) -> None:
        """Until it has said all, ends, or time is over."""
        _, stdout, stderr = process.streams
        assert stdout is not None  # a pipe
        assert stderr is not None  # a pipe
        rest, open_ones = b"", [stdout.fileno(), stderr.fileno()]
        while not self.is_done and open_ones:
            left = until - time.monotonic()
            if left <= 0:
                self.late = True
                return
            for descriptor in select.select(open_ones, [], [], left)[0]:
                data = os.read(descriptor, 1 << 16)
                if not data:
                    open_ones.remove(descriptor)
                elif descriptor == stdout.fileno():
                    *complete, rest = (rest + data).split(b"\n")
                    for line in complete:
                        self._hear(line)
                    rest = b"" if len(rest) > LINE_BYTES else rest

    def _hear(self, line: bytes) -> None:
        try:
            message = json.loads(line)
            kind, content = message["kind"], message["content"]
            if kind == "line":
                self.lines.append(_clean(TracedLine.model_validate(content)))
            elif kind in ("no_line", "left_out", "says") and isinstance(content, str):
                text = printable(content)
                {"no_line": self.no_line.append, "left_out": self.left_out.append, "says": self.say}[kind](text)
            elif kind == "done":
                self.is_done = True
        except (ValueError, KeyError, TypeError, ValidationError):
            return  # not a message of ours

    def trace(self, seconds: float, stages: Sequence[str]) -> Trace:
        """All of it."""
        no_line = list(self.no_line)
        if not self.is_done and not self.late:
            told = {line.stage for line in self.lines}
            no_line += [f"{stage}: the search's process ended" for stage in stages if stage not in told][:1]
        return Trace(
            lines=tuple(self.lines), no_line=tuple(no_line), left_out=tuple(self.left_out), seconds=round(seconds, 1),
            stopped=self.late,
        )  # fmt: skip


def _clean(line: TracedLine) -> TracedLine:
    texts: dict[str, Any] = {
        name: printable(getattr(line, name)) for name in ("file", "text", "quantity", "instead", "where", "unknown")
    }
    return line.model_copy(update=texts)
