"""``f2csa paper``: a TeX source held against itself, its extract, and the corrected statements with their evidence."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from spec.errors import InvalidInputError
from spec.files import write_files
from spec.text.argument import load_argument, misquoted, quoted_places
from spec.text.extract import Extract, dumps_extract, load_extract
from verify.campaign.baseline.storage import load_report
from verify.cli.arguments import paper_options
from verify.cli.output.console import print_json, print_lines
from verify.proofs.paper.extraction import extract_of
from verify.proofs.paper.findings import PaperFinding, quoted
from verify.proofs.paper.linting import MISSING_FILE, RULES, lint, missing_files
from verify.proofs.paper.tex import read_source
from verify.report import wording
from verify.report.findings.corrections import corrections_in, corrections_json, corrections_markdown

REPORT = "must be a report.json, or a folder with one, such as `f2csa verify --out DIR` writes"
DIFFERENCES = 5
"""Passages shown where an extract is another one than that on record."""


def lint_paper(options: paper_options.PaperLint) -> int:
    """Print what does not go together in a source, by line; 1 where there is anything."""
    rules = _rules(options.rule)
    extract = extract_of(read_source(options.file))
    findings = lint(extract, [rule for rule in rules if rule != MISSING_FILE])
    if MISSING_FILE in rules:
        findings = sorted([*findings, *missing_files(extract, options.file.parent)], key=lambda finding: finding.line)
    if options.as_json:
        print_json([_entry(finding) for finding in findings])
    else:
        for finding in findings:
            there = finding.there
            lines = [
                f"{options.file}:{finding.line}: {finding.rule}: {finding.why}",
                f"    here: {quoted(finding.here)}",
            ]
            print_lines([*lines, *([] if there is None else [f"    line {there.line}: {quoted(there)}"])])
        print_lines([f"{len(findings)} finding{'' if len(findings) == 1 else 's'} in {extract.lines} lines"])
    return int(bool(findings))


def _rules(names: list[str] | None) -> list[str]:
    known = [*RULES, MISSING_FILE]
    for rule in names or ():
        if rule not in known:
            raise InvalidInputError("--rule", f"must be one of {', '.join(known)}", rule)
    return [rule for rule in known if not names or rule in names]


def _entry(finding: PaperFinding) -> dict[str, Any]:
    there = finding.there
    return {
        "rule": finding.rule, "line": finding.line, "subject": finding.subject, "why": finding.why,
        "here": quoted(finding.here),
        "there": None if there is None else {"line": there.line, "says": quoted(there)},
    }  # fmt: skip


def extract_paper(options: paper_options.PaperExtract) -> int:
    """Make the extract of a source and say how it differs from the one on record; 1 where it does."""
    extract = extract_of(read_source(options.file))
    if options.out is not None:
        write_files(options.out.parent, {options.out.name: dumps_extract(extract)})
    differences = _differences(extract, load_extract())
    if options.as_json:
        print_json(extract.model_dump(mode="json", exclude_defaults=True) | {"differences": differences})
        return int(bool(differences))
    print_lines(differences)
    if not differences:
        print_lines([f"{len(extract.passages)} passages, as on record; sha256 {extract.sha256}"])
    return int(bool(differences))


def _differences(extract: Extract, record: Extract) -> list[str]:
    lines = []
    if extract.sha256 != record.sha256:
        lines.append(f"another source: sha256 {extract.sha256}, on record {record.sha256}")
    for passages, others, words in ((extract, record, "not on record"), (record, extract, "on record alone")):
        known = {passage.model_dump_json() for passage in others.passages}
        apart = [passage for passage in passages.passages if passage.model_dump_json() not in known]
        lines += [f"{words}: line {one.line}, {one.kind} {quoted(one)}" for one in apart[:DIFFERENCES]]
        if len(apart) > DIFFERENCES:
            lines.append(f"{words}: {len(apart) - DIFFERENCES} more")
    return lines


def check_paper(options: paper_options.PaperCheck) -> int:
    """Say which of the words that the annotated paper stands for a source has otherwise; 1 where there are any."""
    argument = load_argument()
    misquotations = list(misquoted(argument, read_source(options.file).text.split("\n")))
    if options.as_json:
        print_json([asdict(one) for one in misquotations])
        return int(bool(misquotations))
    for one in misquotations:
        first, last = one.lines
        of = f"; assertion{'s' if len(one.numbers) > 1 else ''} {wording.listing(map(str, one.numbers))}"
        print_lines([f"{options.file}:{first}-{last}: {one.what}: not the words on record{of if one.numbers else ''}"])
    quoted_ones = quoted_places(argument)
    print_lines([f"{quoted_ones - len(misquotations)} of {quoted_ones} quoted places are as on record"])
    return int(bool(misquotations))


def corrections(options: paper_options.PaperCorrections) -> None:
    """Print the statements whose literal text fails while the repaired one holds, as a diff with its evidence."""
    labels = {}
    if options.file is not None:
        extract = extract_of(read_source(options.file))
        labels = {passage.name: passage.line for passage in extract.of("label")}
    where = report_file(options.report, "--report")
    reported = corrections_in(load_report(where, "--report", "say what its corrections rest on"), labels)
    if options.as_json:
        print_json(corrections_json(reported))
    else:
        sys.stdout.write(corrections_markdown(reported))


def report_file(path: Path, argument: str) -> Path:
    """The ``report.json`` that is meant by a file or its folder.

    Raises:
        InvalidInputError: If there is none.
    """
    where = path / "report.json" if path.is_dir() else path
    if not where.is_file():
        raise InvalidInputError(argument, REPORT, str(path))
    return where
