"""Find a subject by name: the reference, or ``package.module:Attribute``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from spec.errors import InvalidInputError
from verify.subjects.protocol import CAPABILITIES, Subject


def load_subject(name: str) -> Subject:
    """Load a subject.

    Args:
        name: ``reference``, or ``package.module:Attribute`` naming a class (called without arguments) or an object.

    Raises:
        InvalidInputError: If it cannot be imported or offers no stage.
    """
    if name == "reference":
        from verify.subjects.reference import ReferenceSubject

        return ReferenceSubject()
    module_name, colon, attribute = name.partition(":")
    if not colon or not module_name or not attribute:
        raise InvalidInputError("subject", 'must be "reference" or "package.module:Attribute"', name)
    # A file beside the user's shell is what they mean by `my_solver:Subject`.
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
        subject = found() if isinstance(found, type) else found
    except Exception as error:
        rule = f"cannot be loaded ({type(error).__name__}: {error})"
        raise InvalidInputError("subject", rule, name) from None
    if not any(callable(getattr(subject, stage, None)) for stage in CAPABILITIES):
        raise InvalidInputError("subject", f"must offer one of the stages {', '.join(CAPABILITIES)}", name)
    if not isinstance(getattr(subject, "name", None), str):
        subject.name = name
    return subject  # type: ignore[no-any-return]  # any object with a name and some stages is a Subject
