"""A report's faces: files, notebook, terminal and JSON, all drawn from one :class:`verify.report.model.ReportData`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import PrivateAttr
from rich.console import Console, ConsoleOptions, RenderResult

from spec.files import write_files
from verify.evidence.model import Point
from verify.report.formats import times
from verify.report.formats.data_files import data_files
from verify.report.formats.terminal import told
from verify.report.model import ReportData

if TYPE_CHECKING:
    from pandas import DataFrame

_NESTED = ("points", "pictures", "continuation")
POINT = ("claim", "reading", "instance", "quantity", "variable", "rung", "role", *Point.model_fields)
"""Columns of a data frame of points."""

# The other modules that draw are imported on first use: only the page needs templates and matplotlib.


class Report(ReportData):
    """A finished run that can show itself."""

    _kept: int = PrivateAttr(default=0)
    _notices: tuple[str, ...] = PrivateAttr(default=())

    @property
    def kept(self) -> int:
        """How many results were taken from an earlier run."""
        return self._kept

    @property
    def notices(self) -> tuple[str, ...]:
        """What the run has to say of its store, one line each; no part of what was found."""
        return self._notices

    def after(self, count: int, notices: Iterable[str]) -> Self:
        """The same, with what the run has to say of its store."""
        told = self.model_copy()
        told._kept, told._notices = count, tuple(notices)
        return told

    def write(self, out: str | Path) -> list[Path]:
        """Write :func:`rendered`'s files: ``report.html``, ``pages``, ``report.json``, ``evidence.json``, ..."""
        return write(self, Path(out))

    def to_pandas(self, *, points: bool = False) -> DataFrame:
        """The results as a data frame, a row a result; or, with ``points``, a row a measured point of a sweep.

        Raises:
            ModuleNotFoundError: If pandas is not installed.
        """
        try:
            import pandas
        except ModuleNotFoundError as error:
            if error.name != "pandas":
                raise
            raise ModuleNotFoundError("to_pandas needs pandas: pip install pandas", name="pandas") from None
        if not points:
            return pandas.DataFrame([{k: v for k, v in row.items() if k not in _NESTED} for row in self.records()])
        rows = [result.named | point for result in self.results for point in result.points]
        return pandas.DataFrame(rows, columns=list(POINT))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield told(self)

    def __str__(self) -> str:
        console = Console(width=120, record=False, file=None)
        with console.capture() as capture:
            console.print(self)
        return capture.get()

    def _repr_html_(self) -> str:
        from verify.report.site.notebook import html_fragment

        return html_fragment(self)


def write(report: ReportData, out: Path) -> list[Path]:
    """Write the report's files into a folder (:func:`rendered` says which); returns their paths.

    Returns their paths.
    """
    # Rendered before any old file is touched, so that an error leaves no half report.
    return write_files(out, rendered(report))


def rendered(report: ReportData) -> dict[str, str]:
    """The files' texts by name: data and evidence, pages, Markdown, JUnit; only ``times.json`` says how long it took.

    Raises:
        InvalidInputError: If the report was read without its evidence.
    """
    from verify.report.formats.junit import render_junit
    from verify.report.formats.markdown import render_markdown
    from verify.report.site.all_pages import site_files

    timeless = report.timeless
    return data_files(report) | site_files(timeless) | {
        "report.md": render_markdown(timeless), "junit.xml": render_junit(timeless),
        times.FILE: times.render_times(report),
    }  # fmt: skip


_INFINITIES = {"enum": ["Infinity", "-Infinity", "NaN"]}


def render_json(report: ReportData) -> str:
    """The report with its evidence as one indented JSON text, without times; infinities are ``"Infinity"`` and so on.

    Raises:
        ValueError: If the text does not read back as the same report; then a field cannot survive JSON.
    """
    text = report.timeless.model_dump_json(by_alias=True, indent=2)
    if ReportData.model_validate_json(text).model_dump_json(by_alias=True, indent=2) != text:
        raise ValueError("the report does not survive being written as JSON")
    return text + "\n"


def report_schema() -> dict[str, Any]:
    """JSON Schema of ``report.json``, and of a report as one text with its evidence: infinite numbers are strings."""
    return dict(with_infinities(ReportData.model_json_schema(by_alias=True, mode="serialization")))


def with_infinities(node: Any) -> Any:
    """A schema whose numbers may be infinite, and then are strings."""
    if isinstance(node, list):
        return [with_infinities(item) for item in node]
    if not isinstance(node, dict):
        return node
    schema = {key: with_infinities(item) for key, item in node.items()}
    if schema.get("type") == "number":
        labels = {key: schema.pop(key) for key in ("title", "description", "default") if key in schema}
        return labels | {"anyOf": [schema, _INFINITIES]}
    return schema
