"""The messages that the page on the wire shows are messages of the wire."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest

from tests.documents.pages import of_page
from verify.subjects.wire.methods import to_runner_schema, to_subject_schema

SCHEMAS = {"→": to_subject_schema(), "←": to_runner_schema()}
SHOWN = [example for example in of_page("docs/wire.md") if example.kind == "shown"]


def messages() -> list[tuple[str, str]]:
    """Direction and text of every message shown; a line that goes on is indented."""
    found = []
    for example in SHOWN:
        text = example.text.replace(", …}", "}")  # fields left out of a problem's file
        found += re.findall(r"^([→←]) (.*(?:\n +.*)*)", text, re.M)
    return [(way, text) for way, text in found if "…" not in text]


def test_there_are_messages_both_ways() -> None:
    assert {way for way, _ in messages()} == {"→", "←"}
    assert len(messages()) >= 6


@pytest.mark.parametrize(("way", "text"), messages())
def test_a_message_shown_is_one_of_the_wire(way: str, text: str) -> None:
    jsonschema.validate(json.loads(text), SCHEMAS[way])


def request_with(call: dict[str, object]) -> dict[str, object]:
    params = {"problem": "p1", "x": [1.0], "call": call, "seed": None}
    return {"jsonrpc": "2.0", "id": 3, "method": "hypergradient", "params": params}


def test_a_call_shown_is_one_of_the_wire() -> None:
    (call,) = (json.loads(example.text) for example in SHOWN if example.text.startswith('{"alpha"'))
    jsonschema.validate(request_with(call), SCHEMAS["→"])
    (parts,) = (example.text for example in SHOWN if example.text.startswith('"draws"'))
    draws = [json.loads(f"{{{line}}}") for line in parts.splitlines()]
    assert len(draws) == 2
    for each in draws:
        jsonschema.validate(request_with(call | each), SCHEMAS["→"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(request_with(call | {"draws": {"f_x": "many"}}), SCHEMAS["→"])
    del call["h_width"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(request_with(call), SCHEMAS["→"])
