"""The SARIF log has the form of the standard, and leads to where each issue is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from spec.claims import load_claims
from verify.report.findings.found_issues import Issue, SourceLine
from verify.report.formats.sarif import About, render_sarif

ROOT = Path(__file__).parents[4]
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
PLACE = {
    "type": "object",
    "required": ["artifactLocation", "region"],
    "additionalProperties": False,
    "properties": {
        "artifactLocation": {
            "type": "object",
            "required": ["uri", "uriBaseId"],
            "additionalProperties": False,
            "properties": {
                "uri": {"type": "string", "pattern": r"^[^/\\ :?#][^\\ :?#]*$"},  # a relative reference (RFC 3986)
                "uriBaseId": {"enum": ["SRCROOT", "F2CSA_VERIFY"]},
            },
        },
        "region": {
            "type": "object",
            "required": ["startLine"],
            "additionalProperties": False,
            "properties": {"startLine": {"type": "integer", "minimum": 1}},
        },
    },
}
RESULT = {
    "type": "object",
    "required": ["ruleId", "ruleIndex", "level", "kind", "message", "locations", "partialFingerprints"],
    "additionalProperties": False,
    "properties": {
        "ruleId": {"type": "string", "minLength": 1},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "kind": {"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
        "message": TEXT,
        "locations": {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": {
                "type": "object",
                "required": ["physicalLocation"],
                "additionalProperties": False,
                "properties": {
                    "physicalLocation": PLACE,
                    "logicalLocations": {"type": "array", "uniqueItems": True, "items": {
                        "type": "object", "additionalProperties": False,
                        "properties": {"fullyQualifiedName": {"type": "string"}},
                    }},
                },
            },
        },
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
        "properties": {"type": "object"},
    },
}  # fmt: skip
RULE = {
    "type": "object",
    "required": ["id", "shortDescription"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "minLength": 1},
        "shortDescription": TEXT,
        "fullDescription": TEXT,
        "help": TEXT,
        "properties": {"type": "object"},
    },
}
LOG = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "pattern": r"sarif-schema-2\.1\.0\.json$"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "items": {
            "type": "object",
            "required": ["tool", "results", "invocations"],
            "additionalProperties": False,
            "properties": {
                "tool": {"type": "object", "required": ["driver"], "additionalProperties": False, "properties": {
                    "driver": {
                        "type": "object", "required": ["name", "rules"], "additionalProperties": False,
                        "properties": {
                            "name": {"type": "string"},
                            "version": {"type": "string"},
                            "rules": {"type": "array", "uniqueItems": True, "items": RULE},
                        },
                    },
                }},
                "invocations": {"type": "array", "items": {
                    "type": "object", "required": ["executionSuccessful"], "additionalProperties": False,
                    "properties": {"executionSuccessful": {"type": "boolean"}, "exitCode": {"type": "integer"}},
                }},
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "originalUriBaseIds": {"type": "object", "additionalProperties": {
                    "type": "object", "additionalProperties": False, "properties": {"description": TEXT},
                }},
                "results": {"type": "array", "items": RESULT},
                "properties": {"type": "object"},
            },
        }},
    },
}  # fmt: skip
"""What the standard says of the objects that we write, no object open to what it does not name."""
ABOUT = About("mine:Subject", "ci", 7, 3)
ISSUES = [
    Issue("error", "fault", "bias-bound/T3", "no", "repaired", "toy1", SourceLine("src/my solver.py", 17), "again"),
    Issue("error", "finding", "bias-bound/T3", "off", "repaired", "toy1"),
    Issue("error", "finding", "dual-extraction", "off", "repaired", "toy2"),
    Issue("error", "finding", "stage/activation", "off"),
    Issue("warning", "refuted", "a-claim-of-later", "no", "repaired", "toy1"),
    Issue("error", "run", "run", "nothing compared"),
]


def log(issues: list[Issue] = ISSUES) -> Any:
    text = render_sarif(issues, ABOUT)
    assert text == render_sarif(issues, ABOUT)
    return json.loads(text)


@pytest.mark.parametrize("issues", [ISSUES, []])
def test_it_has_the_form_of_the_standard(issues: list[Issue]) -> None:
    Draft7Validator.check_schema(LOG)
    Draft7Validator(LOG).validate(log(issues))


def test_there_is_one_rule_a_claim_and_step_and_results_point_at_theirs() -> None:
    (run,) = log()["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    known = [full for claim in load_claims().values() for full, _ in claim.statements()]
    assert rules[: len(known)] == known
    assert len(set(rules)) == len(rules) == len(known) + 3
    assert [rules[result["ruleIndex"]] for result in run["results"]] == [issue.rule for issue in ISSUES]
    assert len({result["partialFingerprints"]["f2csaResult/v1"] for result in run["results"]}) == len(ISSUES)


def test_a_fault_is_at_its_line_and_all_else_where_the_claim_is_told() -> None:
    places = [result["locations"][0]["physicalLocation"] for result in log()["runs"][0]["results"]]
    assert places[0]["artifactLocation"] == {"uri": "src/my%20solver.py", "uriBaseId": "SRCROOT"}
    assert places[0]["region"]["startLine"] == 17
    for place, begins in zip(places[1:3], ('id = "T3"', 'id = "dual-extraction"'), strict=True):
        lines = (ROOT / place["artifactLocation"]["uri"]).read_text(encoding="utf-8").splitlines()
        assert lines[place["region"]["startLine"] - 1].strip() == begins


def test_every_claim_and_step_has_its_own_line() -> None:
    known = [full for claim in load_claims().values() for full, _ in claim.statements()]
    results = log([Issue("error", "finding", name, "off", "repaired", "toy1") for name in known])["runs"][0]["results"]
    for name, result in zip(known, results, strict=True):
        place = result["locations"][0]["physicalLocation"]
        lines = (ROOT / place["artifactLocation"]["uri"]).read_text(encoding="utf-8").splitlines()
        assert lines[place["region"]["startLine"] - 1] == f'id = "{name.rpartition("/")[2]}"'


def test_a_fault_is_no_successful_execution() -> None:
    assert log()["runs"][0]["invocations"] == [{"executionSuccessful": False, "exitCode": 3}]
    assert log(ISSUES[1:])["runs"][0]["invocations"][0]["executionSuccessful"] is True
