"""Reports for people, notebooks, terminals, CI and machines, all from one :class:`verify.results.Report`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from rich.table import Table

    from verify.results import Report

__all__ = [
    "html_fragment",
    "render_html",
    "render_json",
    "render_junit",
    "render_markdown",
    "summary_table",
    "write",
]

# Imported on first use: a terminal summary needs no templates, and nothing but the page needs matplotlib.


def write(report: Report, out: Path) -> list[Path]:
    """Write ``report.json``, ``report.html``, ``report.md`` and ``junit.xml``.

    Args:
        report: What the run found.
        out: Folder; made if missing.

    Returns:
        The four paths, in that order.

    Raises:
        InvalidInputError: If the folder cannot be written.
    """
    from spec.errors import InvalidInputError

    renderers = (
        ("report.json", render_json),
        ("report.html", render_html),
        ("report.md", render_markdown),
        ("junit.xml", render_junit),
    )
    written = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, render in renderers:
            # Rendered before the old file is touched, so that an error leaves no half report.
            text = render(report)
            path = out / name
            path.write_text(text, encoding="utf-8")
            written.append(path)
    except OSError as error:
        raise InvalidInputError("--out", f"must be a writable folder ({error.strerror})", str(out)) from None
    return written


def render_json(report: Report) -> str:
    """The report as data, checked by reading it back."""
    from verify.report.document import render_json

    return render_json(report)


def render_html(report: Report) -> str:
    """The report as one self-contained page."""
    from verify.report.page import render_html

    return render_html(report)


def render_markdown(report: Report) -> str:
    """The summary and the refutations, short enough for a CI job's page."""
    from verify.report.markdown import render_markdown

    return render_markdown(report)


def render_junit(report: Report) -> str:
    """One test case a result; only what differs from the record fails."""
    from verify.report.junit import render_junit

    return render_junit(report)


def summary_table(report: Report) -> Table:
    """Claims and steps by readings, for a terminal."""
    from verify.report.terminal import summary_table

    return summary_table(report)


def html_fragment(report: Report) -> str:
    """Claims by readings as a compact table, for a notebook."""
    from verify.report.fragment import html_fragment

    return html_fragment(report)
