"""Implementations under test: what they may offer, the default one, and how to load another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.subjects.loading import load_subject, name_of, require_stages
from verify.subjects.protocol import Call, MissingCapabilityError, Subject, SubjectFaultError
from verify.subjects.stage_table import CAPABILITIES, Capability

if TYPE_CHECKING:
    from verify.subjects.reference import ReferenceSubject

__all__ = [
    "CAPABILITIES",
    "Call",
    "Capability",
    "MissingCapabilityError",
    "ReferenceSubject",
    "Subject",
    "SubjectFaultError",
    "load_subject",
    "name_of",
    "require_stages",
]


def __getattr__(name: str) -> Any:
    """The reference, which brings the whole algorithm: a process that serves another subject does without."""
    if name == "ReferenceSubject":
        from verify.subjects.reference import ReferenceSubject

        return ReferenceSubject
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
