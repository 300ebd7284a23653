"""A command line: split into a program that can be run and its arguments."""

from __future__ import annotations

import shlex
import shutil

from spec.errors import InvalidInputError


def split(command: str) -> list[str]:
    """Split a command line as a POSIX shell would; no shell ever sees it.

    Raises:
        InvalidInputError: If it is empty, its quotes are not closed, or it names nothing that can be run.
    """
    try:
        parts = shlex.split(command)
    except ValueError as error:
        reason = str(error)
        raise InvalidInputError("command", f"cannot be split ({reason[:1].lower()}{reason[1:]})", command) from None
    if not parts or not parts[0] or any("\0" in part for part in parts):
        raise InvalidInputError("command", "must name a program", command.strip())
    if shutil.which(parts[0]) is None:
        raise InvalidInputError("command", "must begin with a program that is there and may be run", parts[0])
    return parts
