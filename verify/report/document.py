"""The report as JSON, and the schema it keeps to."""

from __future__ import annotations

from typing import Any

from verify.results import Report

_INFINITIES = {"enum": ["Infinity", "-Infinity", "NaN"]}


def render_json(report: Report) -> str:
    """The report as indented JSON; infinities are the strings ``"Infinity"`` and ``"-Infinity"``.

    Raises:
        ValueError: If the text does not read back as the same report; then a field cannot survive JSON.
    """
    text = report.model_dump_json(by_alias=True, indent=2)
    if Report.model_validate_json(text).model_dump_json(by_alias=True, indent=2) != text:
        raise ValueError("the report does not survive being written as JSON")
    return text + "\n"


def report_schema() -> dict[str, Any]:
    """JSON Schema of ``report.json``, as written: numbers may be infinite, and then are strings."""
    schema = Report.model_json_schema(by_alias=True, mode="serialization")
    made = with_infinities(schema)
    assert isinstance(made, dict)  # as given
    return made


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
