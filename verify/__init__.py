"""Whether the paper holds: subjects, checks, evidence, verdicts and reports."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spec.settings import load_settings
    from verify.campaign.baseline.storage import load_report
    from verify.campaign.run import run
    from verify.cli.pytest_plugin import parametrize_with_claims
    from verify.conformance.judge import conform
    from verify.conformance.model import Conformance
    from verify.report.model import Result
    from verify.report.report_files import Report
    from verify.subjects import Call, MissingCapabilityError, Subject


def _refuse_others() -> None:
    """Say in one line what is taken for one of our packages and is not."""
    import importlib.util
    from pathlib import Path

    ours = importlib.util.spec_from_file_location("_neighbours", Path(__file__).parents[1] / "spec" / "neighbours.py")
    assert ours is not None
    assert ours.loader is not None
    neighbours = importlib.util.module_from_spec(ours)
    ours.loader.exec_module(neighbours)
    if message := neighbours.shadowed():
        if sys.argv[:1] == ["-m"]:  # python -m verify: nothing of ours has begun
            sys.stderr.write(f"f2csa: {message}\n")
            sys.exit(2)
        raise ImportError(message)


_refuse_others()

__all__ = [
    "Call",
    "Conformance",
    "MissingCapabilityError",
    "Report",
    "Result",
    "Subject",
    "conform",
    "load_report",
    "load_settings",
    "parametrize_with_claims",
    "run",
]

_HOMES = {
    "run": "verify.campaign.run",
    "load_settings": "spec.settings",
    "load_report": "verify.campaign.baseline.storage",
    "conform": "verify.conformance.judge",
    "Conformance": "verify.conformance.model",
    "Call": "verify.subjects",
    "MissingCapabilityError": "verify.subjects",
    "Subject": "verify.subjects",
    "Report": "verify.report.report_files",
    "Result": "verify.report.model",
    "parametrize_with_claims": "verify.cli.pytest_plugin",
}


def __getattr__(name: str) -> Any:
    # Imported on first use: `f2csa --help` and `import verify.truth` stay fast.
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
