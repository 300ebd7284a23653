"""A Python subject in a process of its own: whatever it does there, it can only answer."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from spec.errors import InvalidInputError
from verify.subjects.faults import LoadingFaultError
from verify.subjects.protocol import StageFaultError, Subject
from verify.subjects.wire.client import WireSubject
from verify.subjects.wire.conversation import START_LIMIT
from verify.subjects.wire.messages import UNSTATED, Hello, printable

TIME_LIMIT = 120.0
"""Seconds one stage call may take unless another limit is given: it may well be slow, as prototypes are."""
LEAST_START = 15.0
"""Least time to be loaded in, seconds."""


class PythonSubject(WireSubject):
    """``package.module:Attribute``, imported by a child process and asked over the wire.

    Args:
        source: The name; what it names is not imported here.
        time_limit: Seconds one stage call may take; 120 if ``None``.
    """

    def __init__(self, source: str, *, time_limit: float | None = None) -> None:
        limit = TIME_LIMIT if time_limit is None else time_limit
        start = START_LIMIT if time_limit is None else max(time_limit, LEAST_START)
        super().__init__(served(source), time_limit=limit, start_limit=start, environment=as_importable_as_here())
        self.source = source
        self._again: Callable[[], WireSubject] = partial(PythonSubject, source, time_limit=limit)

    def load(self) -> None:
        """Start it.

        Raises:
            InvalidInputError: If it is not there, or offers no stage.
            LoadingFaultError: If it raises, ends its process or takes too long.
        """
        try:
            _ = self.hello
        except StageFaultError as error:
            self.close()
            rule = str(error).removeprefix("initialize ")
            rule = rule.replace("ended its process", "ended its process while it was loaded")
            rule = rule.replace("did not answer within", "was not loaded within")
            kind = InvalidInputError if error.kind == "absent" else LoadingFaultError
            raise kind("subject", rule, self.source) from None

    @property
    def version(self) -> str:
        """The version it states, or the empty string."""
        return "" if self.hello.version == UNSTATED else printable(self.hello.version)

    def _called(self, hello: Hello) -> str:
        return printable(hello.name)


def served(source: str) -> str:
    """The command that serves a Python subject over the wire."""
    return shlex.join([sys.executable, "-P", "-m", "verify.subjects.wire.serve", source])


def as_importable_as_here() -> dict[str, str]:
    """An environment in which a child imports what this process would."""
    paths = [str(Path(entry).resolve()) for entry in sys.path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)), "OPENBLAS_NUM_THREADS": "1"}


def loaded_apart(source: str, *, time_limit: float | None = None) -> Subject:
    """The subject of this name, started in a process of its own; raises as :meth:`PythonSubject.load` does."""
    subject = PythonSubject(source, time_limit=time_limit)
    subject.load()
    return subject
