"""Implementations under test: what they may offer, the default one, and how to load another."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from verify.subjects.protocol import Call, MissingCapabilityError, Subject, SubjectFaultError
from verify.subjects.stage_table import CAPABILITIES, Capability
from verify.subjects.subject_names import name_of, require_stages

if TYPE_CHECKING:
    from verify.subjects.loading import load_subject
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


_LATE = {"ReferenceSubject": "verify.subjects.reference", "load_subject": "verify.subjects.loading"}
"""What is imported on first use: a process that serves another subject does without both."""


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
