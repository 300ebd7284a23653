"""Load a subject by name: here, where it is a Python object, or in a process of its own."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from spec.errors import InvalidInputError
from verify.subjects.protocol import Subject
from verify.subjects.subject_names import COMMAND, REFERENCE, load_here, split_name

if TYPE_CHECKING:
    from verify.subjects.wire.client import WireSubject


def load_subject(name: str, *, time_limit: float | None = None) -> Subject:
    """Load a subject.

    Args:
        name: ``reference``, ``package.module:Attribute`` naming a class (called without arguments) or an object, or
            ``command:COMMAND LINE``, a program that speaks the wire (docs/wire.md), started when first needed.
        time_limit: Seconds one stage call of a program may take; its default if ``None``.

    Raises:
        InvalidInputError: If it is not there or offers no stage, or the command line is none.
        LoadingFaultError: If it raises while it is imported and made.
    """
    if name.startswith(COMMAND):
        from verify.subjects.wire.client import WireSubject

        return WireSubject(name.removeprefix(COMMAND), time_limit=time_limit)
    return load_here(name)


def load_apart(name: str, *, time_limit: float | None = None) -> Subject:
    """Load a subject where it can only answer: what is no part of this package, in a process of its own.

    Args:
        name: As for :func:`load_subject`.
        time_limit: Seconds one stage call may take; the default of its kind if ``None``.

    Raises:
        InvalidInputError: As :func:`load_subject` does.
        LoadingFaultError: The same; also if it ends its process while it is loaded, or hangs.
    """
    if name == REFERENCE or name.startswith(COMMAND):
        return load_subject(name, time_limit=time_limit)
    split_name(name)
    if os.name != "posix":
        raise InvalidInputError("subject", "needs a POSIX system for a process of its own; or --in-process", name)
    from verify.subjects.wire.python_subject import loaded_apart

    return loaded_apart(name, time_limit=time_limit)


def end(subject: object) -> None:
    """End the process of a subject that has one of its own."""
    apart = as_program(subject)
    if apart is not None:
        apart.close()


def as_program(subject: object) -> WireSubject | None:
    """A subject that runs in a process of its own; ``None`` for any other."""
    # Whoever has one has the module; nobody else should wait for it to load.
    module = sys.modules.get("verify.subjects.wire.client")
    return subject if module is not None and isinstance(subject, module.WireSubject) else None


def offered(subject: object) -> str:
    """The stages that a subject of its own process announces; nothing of any other."""
    program = as_program(subject)
    return "" if program is None else ", ".join(sorted(program.hello.capabilities))
