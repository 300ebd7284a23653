"""Whether the paper holds: subjects, checks, evidence, verdicts and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.campaign import run
    from verify.results import Report, Result

__all__ = ["Report", "Result", "run"]

_HOMES = {"run": "verify.campaign", "Report": "verify.results", "Result": "verify.results"}


def __getattr__(name: str) -> Any:
    # Imported on first use: `f2csa --help` and `import verify.exact` stay fast.
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
