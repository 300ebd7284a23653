"""Implementations under test: what they may offer, the default one, and how to load another."""

from __future__ import annotations

from verify.subjects.loading import load_subject, name_of, require_stages
from verify.subjects.protocol import Call, MissingCapabilityError, Subject, SubjectFaultError
from verify.subjects.reference import ReferenceSubject
from verify.subjects.stage_table import CAPABILITIES, Capability

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
