"""A report as SARIF 2.1.0, what code scanning reads: one rule a claim or step, one result an issue.

The form is that of the OASIS standard "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from typing import Any

from spec.claims import Statement, load_claims
from spec.files import package_text
from verify.report.findings.found_issues import RUN, STAGE, Issue

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
VERSION = "2.1.0"
SOURCE, CLAIMS = "SRCROOT", "F2CSA_VERIFY"
"""What file names are relative to: the checkout, and this package."""
FINGERPRINT = "f2csaResult/v1"


@dataclass(frozen=True)
class About:
    """What a log says of its run beside the issues.

    Args:
        subject: Who was judged.
        profile: How much work was done.
        seed: Seed of all randomness.
        exit_code: What the command exits with.
        complete: Whether the run reached its end.
    """

    subject: str
    profile: str
    seed: int
    exit_code: int
    complete: bool = True


def render_sarif(issues: Sequence[Issue], about: About) -> str:
    """The issues as one indented JSON text; the same issues give the same bytes."""
    rules = _rules(issues)
    index = {rule["id"]: k for k, rule in enumerate(rules)}
    driver = {"name": "f2csa-verify", "version": metadata.version("f2csa-verify"), "rules": rules}
    bases = {
        SOURCE: {"description": {"text": "The root of the source that was judged."}},
        CLAIMS: {"description": {"text": "The folder of the packages spec, f2csa_ref and verify."}},
    }
    ran = about.complete and not any(issue.kind == "fault" for issue in issues)
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": ran, "exitCode": about.exit_code}],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": bases,
        "results": [
            _result(issue, index[issue.rule], sum(_key(other) == _key(issue) for other in issues[:k]))
            for k, issue in enumerate(issues)
        ],
        "properties": {"subject": about.subject, "profile": about.profile, "seed": about.seed},
    }
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]}, indent=1, ensure_ascii=False) + "\n"


def _rules(issues: Sequence[Issue]) -> list[dict[str, Any]]:
    """All claims and steps in the paper's order, then what else issues name."""
    statements = _statements()
    beside = sorted({issue.rule for issue in issues} - statements.keys())
    return [_rule(name, entry) for name, entry in statements.items()] + [_plain_rule(name) for name in beside]


def _rule(name: str, entry: Statement) -> dict[str, Any]:
    told = {
        "id": name,
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": " ".join(entry.statement.split())},
        "properties": {"about": entry.about, "location": entry.location},
    }
    refuted = " ".join(entry.refuted_by.split())
    return told | ({"help": {"text": f"What would refute it: {refuted}"}} if refuted else {})


def _plain_rule(name: str) -> dict[str, Any]:
    if name.startswith(STAGE):
        text = f"The stage {name.removeprefix(STAGE)}, asked by itself, answers what Algorithms 1 and 2 give."
    elif name == RUN:
        text = "The run reaches its end, compares something, and finds what is on record."
    else:
        text = f"{name} is on record."
    return {"id": name, "shortDescription": {"text": text}}


def _key(issue: Issue) -> str:
    """What an issue is known by from run to run: of a stage not its message, which has a search's counts in it."""
    what = issue.instance or ("" if issue.rule.startswith(STAGE) else issue.message)
    return "|".join((issue.kind, issue.rule, issue.reading, what))


def _result(issue: Issue, index: int, before: int) -> dict[str, Any]:
    """``before``: how many issues before it are known by the same."""
    held = {"kind": issue.kind, "reading": issue.reading, "instance": issue.instance, "reproduce": issue.reproduce}
    text = f"{issue.reading}, on {issue.instance}: {issue.message}" if issue.reading else issue.message
    key = f"{_key(issue)}|{before}" if before else _key(issue)
    excuse = {"suppressions": [{"kind": "external", "justification": issue.excuse}]} if issue.excuse else {}
    return excuse | {
        "ruleId": issue.rule,
        "ruleIndex": index,
        "level": issue.level,
        "kind": "fail",
        "message": {"text": text},
        "locations": [_location(issue)],
        "partialFingerprints": {FINGERPRINT: hashlib.sha256(key.encode()).hexdigest()},
        "properties": {name: value for name, value in held.items() if value},
    }


def _location(issue: Issue) -> dict[str, Any]:
    """The line of the user's source that a fault names, else where the package says what the claim is."""
    if issue.place is not None:
        file, line, base = issue.place.file, issue.place.line, SOURCE
    else:
        file, line, base = *_claim_line(issue.rule), CLAIMS
    place = {"artifactLocation": {"uri": _uri(file), "uriBaseId": base}, "region": {"startLine": line}}
    return {"physicalLocation": place, "logicalLocations": [{"fullyQualifiedName": issue.where}]}


def _uri(file: str) -> str:
    from urllib.parse import quote

    return quote(file)


@lru_cache(maxsize=1)
def _statements() -> dict[str, Statement]:
    return {full: entry for claim in load_claims().values() for full, entry in claim.statements()}


@lru_cache(maxsize=512)
def _claim_line(rule: str) -> tuple[str, int]:
    """The file and line where a claim or step begins; where stages are told, for what is neither."""
    if rule not in _statements():
        return "verify/subjects/protocol.py", 1
    claim, _, step = rule.partition("/")
    lines = package_text(f"claims/{claim}.toml").splitlines()
    header = ""
    for number, line in enumerate(lines, 1):
        if line.startswith("["):
            header = line.strip()
        elif step and header == "[[steps]]" and line.strip() == f'id = "{step}"':
            return f"spec/claims/{claim}.toml", number
    return f"spec/claims/{claim}.toml", 1
