"""A report's faces: files, notebook, terminal and JSON, all drawn from one :class:`verify.report.model.ReportData`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult

from spec.errors import InvalidInputError
from verify.report.model import ReportData

# The drawing modules are imported on first use: a terminal summary needs no templates, only the page needs matplotlib.


class Report(ReportData):
    """A finished run that can show itself."""

    def write(self, out: str | Path) -> list[Path]:
        """Write ``report.json``, ``report.html``, ``report.md`` and ``junit.xml`` into a folder."""
        return write(self, Path(out))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from verify.report.terminal import summary_table

        yield summary_table(self)

    def __str__(self) -> str:
        console = Console(width=120, record=False, file=None)
        with console.capture() as capture:
            console.print(self)
        return capture.get()

    def _repr_html_(self) -> str:
        from verify.report.page import html_fragment

        return html_fragment(self)


def write(report: ReportData, out: Path) -> list[Path]:
    """Write ``report.json``, ``report.html``, ``report.md`` and ``junit.xml`` into a folder; returns their paths.

    Raises:
        InvalidInputError: If the folder cannot be written.
    """
    from verify.report.junit import render_junit
    from verify.report.markdown import render_markdown
    from verify.report.page import render_html

    renderers: dict[str, Callable[[ReportData], str]] = {
        "report.json": render_json, "report.html": render_html, "report.md": render_markdown, "junit.xml": render_junit,
    }  # fmt: skip
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, render in renderers.items():
            # Rendered before the old file is touched, so that an error leaves no half report.
            text = render(report)
            (out / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInputError("--out", f"must be a writable folder ({error.strerror})", str(out)) from None
    return [out / name for name in renderers]


_INFINITIES = {"enum": ["Infinity", "-Infinity", "NaN"]}


def render_json(report: ReportData) -> str:
    """The report as indented JSON; infinities are the strings ``"Infinity"`` and ``"-Infinity"``.

    Raises:
        ValueError: If the text does not read back as the same report; then a field cannot survive JSON.
    """
    text = report.model_dump_json(by_alias=True, indent=2)
    if ReportData.model_validate_json(text).model_dump_json(by_alias=True, indent=2) != text:
        raise ValueError("the report does not survive being written as JSON")
    return text + "\n"


def report_schema() -> dict[str, Any]:
    """JSON Schema of ``report.json``, as written: numbers may be infinite, and then are strings."""
    schema: dict[str, Any] = with_infinities(ReportData.model_json_schema(by_alias=True, mode="serialization"))
    return schema


def with_infinities(node: Any) -> Any:
    """A schema whose numbers may be infinite, and then are strings."""
    if isinstance(node, list):
        return [with_infinities(item) for item in node]
    if not isinstance(node, dict):
        return node
    made = {key: with_infinities(item) for key, item in node.items()}
    if made.get("type") == "number":
        kept = {key: made.pop(key) for key in ("title", "description", "default") if key in made}
        return kept | {"anyOf": [made, _INFINITIES]}
    return made
