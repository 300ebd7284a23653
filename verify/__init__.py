"""Whether the paper holds: subjects, checks, evidence, verdicts and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.campaign import run
    from verify.conformance import Conformance, conform
    from verify.pytest_plugin import parametrize_with_claims
    from verify.results import Report, Result
    from verify.subjects import Call, MissingCapabilityError, Subject

__all__ = [
    "Call",
    "Conformance",
    "MissingCapabilityError",
    "Report",
    "Result",
    "Subject",
    "conform",
    "parametrize_with_claims",
    "run",
]

_HOMES = {
    "run": "verify.campaign",
    "conform": "verify.conformance",
    "Conformance": "verify.conformance",
    "Call": "verify.subjects",
    "MissingCapabilityError": "verify.subjects",
    "Subject": "verify.subjects",
    "Report": "verify.results",
    "Result": "verify.results",
    "parametrize_with_claims": "verify.pytest_plugin",
}


def __getattr__(name: str) -> Any:
    # Imported on first use: `f2csa --help` and `import verify.exact` stay fast.
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
