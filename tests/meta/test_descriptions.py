"""Whoever hovers over a field, or reads a schema, is told what it is."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from pydantic import BaseModel

import spec
import verify.campaign.baseline
import verify.evidence
import verify.experiments
import verify.report
from spec.files import Frozen, described_in
from verify.cli.implementations.exports import schemas

ROOMS = (spec, verify.report, verify.evidence, verify.experiments, verify.campaign.baseline)
SINGLE = ("verify.conformance.model", "verify.conformance.found", "verify.conformance.comparison.error_parts")


def kinds(kind: type[BaseModel] = Frozen) -> Iterator[type[BaseModel]]:
    for below in kind.__subclasses__():
        yield below
        yield from kinds(below)


def modules() -> list[str]:
    found = [
        module.name for room in ROOMS for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}.")
        if not module.name.endswith("__main__")
    ]  # fmt: skip
    return [*found, *SINGLE]


def test_every_field_of_the_public_models_is_described() -> None:
    for name in modules():
        importlib.import_module(name)
    public = {kind for kind in kinds() if kind.__module__ in modules()}
    assert len(public) > 60
    bare = {
        f"{kind.__module__}.{kind.__name__}.{name}"
        for kind in public for name, field in kind.model_fields.items() if not field.description
    }  # fmt: skip
    assert bare == set()


@pytest.mark.parametrize(
    "name", ["report", "evidence", "baseline", "claim", "conformance", "oracle-parameters", "reading"]
)
def test_so_is_every_property_of_their_schemas(name: str) -> None:
    schema = schemas()[name]
    bare = [
        f"{title}.{field}"
        for title, kind in {**schema.get("$defs", {}), name: schema}.items()
        for field, content in kind.get("properties", {}).items()
        if "description" not in content
    ]
    assert bare == []


def test_descriptions_come_from_the_docstring() -> None:
    doc = """Something.

    Args:
        first: What it is,
            in two lines.
        as-written: Of a name with a hyphen.

    Raises:
        other: No field.
    """
    assert described_in(doc) == {"first": "What it is, in two lines.", "as-written": "Of a name with a hyphen."}
    assert described_in("No arguments.") == {}
