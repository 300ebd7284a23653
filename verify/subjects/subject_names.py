"""What a subject is called, and one by its name in this process: the reference, or ``package.module:Attribute``."""

from __future__ import annotations

import importlib
from typing import Any

from spec.errors import InvalidInputError
from spec.neighbours import working_folder_first
from verify.subjects.faults import LoadingFaultError, described
from verify.subjects.protocol import TRUSTED, Subject, offers
from verify.subjects.stage_table import CAPABILITIES, END_TO_END

REFERENCE = "reference"
"""The name of the reference, which nothing else goes by."""
COMMAND = "command:"
"""What the name of a program begins with."""


def load_here(name: str) -> Subject:
    """Import a subject, or take the reference; raises as :func:`verify.subjects.loading.load_subject` does."""
    if name == REFERENCE:
        from verify.subjects.reference import ReferenceSubject

        return ReferenceSubject()
    module_name, attribute = split_name(name)
    named: Any = None
    try:
        # A file beside the user's shell is what they mean by `my_solver:Subject`.
        with working_folder_first():
            named = importlib.import_module(module_name)
            for part in attribute.split("."):
                named = getattr(named, part)
            subject = named() if isinstance(named, type) else named
            is_one = _has_stages(subject)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # exit() as well: loading a subject must not end the run with a success
        rule = f"cannot be loaded ({described(error)})"
        kind = InvalidInputError if _is_absent(error, module_name, named) else LoadingFaultError
        raise kind("subject", rule, name) from None
    if not is_one:
        raise _without_stages(name)
    return subject  # type: ignore[no-any-return]  # any object with some stages is a Subject


def split_name(name: str) -> tuple[str, str]:
    """The module and the attribute of ``package.module:Attribute``."""
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        rule = 'must be "reference", "package.module:Attribute" or "command:COMMAND LINE"'
        raise InvalidInputError("subject", rule, name)
    return module, attribute


def require_stages(subject: object, name: str) -> None:
    """Refuse what has no stage that can be called; where asking for one is an error already, that is a fault."""
    if not _has_stages(subject):
        raise _without_stages(name)


def _has_stages(subject: object) -> bool:
    return any(offers(subject, stage) for stage in (*CAPABILITIES, END_TO_END))


def _without_stages(name: str) -> InvalidInputError:
    return InvalidInputError("subject", f"must offer one of the stages {', '.join(CAPABILITIES)}", name)


def _is_absent(error: BaseException, module: str, holder: object) -> bool:
    """Whether it is the module that nobody finds, or the attribute that it lacks; not what these lack in turn."""
    if isinstance(error, ModuleNotFoundError):
        missing = str(error.name)
        return holder is None and f"{module}.".startswith(f"{missing}.")
    if isinstance(error, AttributeError):
        return holder is not None and error.obj is holder
    # Of a name that Python cannot look for, such as one that begins with a dot, nothing was run.
    return not all(module.split("."))


def name_of(subject: object) -> str:
    """What a report calls an object given as subject: its name if it has one, else its type's."""
    name = getattr(subject, "name", None)
    own = isinstance(name, str) and name and (name != REFERENCE or type(subject) in TRUSTED)
    return str(name) if own else type(subject).__name__


def version_of(subject: object) -> str:
    """The version a subject states, or the empty string."""
    version = getattr(subject, "version", None)
    return version if isinstance(version, str) else ""
