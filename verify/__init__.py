"""Whether the paper holds: subjects, checks, evidence, verdicts and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify import own_place

if TYPE_CHECKING:
    from verify.campaign.baseline.storage import load_report
    from verify.campaign.pytest_plugin import parametrize_with_claims
    from verify.campaign.run import run
    from verify.conformance.judge import conform
    from verify.conformance.model import Conformance
    from verify.report.faces import Report
    from verify.report.model import Result
    from verify.subjects import Call, MissingCapabilityError, Subject

__all__ = [
    "Call",
    "Conformance",
    "MissingCapabilityError",
    "Report",
    "Result",
    "Subject",
    "conform",
    "load_report",
    "parametrize_with_claims",
    "run",
]

own_place.pin()

_HOMES = {
    "run": "verify.campaign.run",
    "load_report": "verify.campaign.baseline.storage",
    "conform": "verify.conformance.judge",
    "Conformance": "verify.conformance.model",
    "Call": "verify.subjects",
    "MissingCapabilityError": "verify.subjects",
    "Subject": "verify.subjects",
    "Report": "verify.report.faces",
    "Result": "verify.report.model",
    "parametrize_with_claims": "verify.campaign.pytest_plugin",
}


def __getattr__(name: str) -> Any:
    # Imported on first use: `f2csa --help` and `import verify.truth` stay fast.
    if name in _HOMES:
        import importlib

        if strange := own_place.shadow():
            raise ImportError(strange)
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
