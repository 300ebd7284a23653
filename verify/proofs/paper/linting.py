"""All rules, held against an extract, and against the files beside a source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from spec.errors import InvalidInputError
from spec.text.extract import Extract
from verify.proofs.paper.findings import PaperFinding, Rule
from verify.proofs.paper.label_rules import LABEL_RULES
from verify.proofs.paper.order_rules import ORDER_RULES
from verify.proofs.paper.symbol_rules import SYMBOL_RULES

RULES: dict[str, Rule] = LABEL_RULES | SYMBOL_RULES | ORDER_RULES
MISSING_FILE = "file-missing"
"""The one rule that looks beside the source."""
_SUFFIXES = {
    "includegraphics": ("", ".pdf", ".png", ".jpg", ".jpeg", ".eps", ".svg"),
    "bibliography": ("", ".bib", ".bbl"),
    "addbibresource": ("", ".bib"),
}


def lint(extract: Extract, rules: Iterable[str] = ()) -> list[PaperFinding]:
    """What the rules find, by line; all rules if none is named.

    Raises:
        InvalidInputError: If a rule is unknown.
    """
    wanted = list(rules) or list(RULES)
    for rule in wanted:
        if rule not in RULES:
            raise InvalidInputError("rule", f"must be one of {', '.join(RULES)}", rule)
    findings = [finding for rule in wanted for finding in RULES[rule](extract)]
    return sorted(findings, key=lambda finding: (finding.line, finding.rule))


def missing_files(extract: Extract, folder: Path) -> Iterator[PaperFinding]:
    """Files that are included and are not there; a name with a macro in it names none."""
    for passage in extract.of("file"):
        if not passage.name or "\\" in passage.name or "#" in passage.name:
            continue
        endings = _SUFFIXES.get(passage.says, ("", ".tex"))
        try:
            there = any((folder / f"{passage.name}{ending}").is_file() for ending in endings)
        except (OSError, ValueError):
            there = False
        if not there:
            why = f"no file {passage.name} lies beside the source"
            yield PaperFinding(MISSING_FILE, passage.name, passage, None, why)
