"""``f2csa badge``: a report in one line, for a README."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from spec.errors import InvalidInputError
from verify.campaign.baseline.storage import load_report
from verify.report.badge import badge_of


def execute(report: Path, *, out: Path | None, label: str) -> None:
    """Write ``badge.svg`` and ``badge.json``, and say what they say."""
    if not label.strip() or not label.isprintable():
        raise InvalidInputError("--label", "must be printable text", label)
    made = badge_of(load_report(report, "REPORT"), label.strip())
    folder = out if out is not None else report if report.is_dir() else report.parent
    files = {"badge.svg": made.svg(), "badge.json": json.dumps(made.endpoint(), ensure_ascii=False) + "\n"}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInputError("--out", f"must be a writable folder ({error.strerror})", str(folder)) from None
    sys.stdout.write(f"{made.label}: {made.message}\n{folder / 'badge.svg'}\n{folder / 'badge.json'}\n")
