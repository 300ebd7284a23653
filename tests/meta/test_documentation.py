"""What the documents say is what the project does."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from spec import CHOICES
from spec.claims import find, load_claims
from spec.reading import Reading
from spec.text.assertions import load_assertions
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.summary import summarise
from verify.report.findings.outline import outline
from verify.report.model import ReportData, Result
from verify.report.prose import tallied
from verify.verdict import Verdict

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FINDINGS = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
LONGEST = 90
"""Lines of the README, at most: it is read whole, or not at all."""


def command(marker: str) -> str:
    (block,) = [b for b in re.findall(r"```sh\n(.*?)```", README, re.S) if marker in b]
    return block.splitlines()[-1]


def test_ci_runs_the_test_command_of_the_readme() -> None:
    assert command("# run the tests") in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_the_readme_is_short_and_opens_three_doors() -> None:
    assert len(README.splitlines()) <= LONGEST
    assert README.index("story.ipynb") < README.index("docs/report.png")
    for door in ("docs/report.md", "docs/ten-minutes.md", "docs/ci.md"):
        assert f"({door})" in README.split("## Three doors")[1]


def test_both_commands_set_themselves_up() -> None:
    for marker in ("# verify the paper", "# run the tests"):
        assert command(marker).startswith("python3 -m venv .venv && .venv/bin/pip install -q -c constraints.txt ")
    assert "docs/report.png" in README.split("## What it finds")[0]
    assert (ROOT / "docs" / "report.png").is_file()


@pytest.mark.parametrize("row", re.findall(r"^\| .*?\(`([\w/-]+)`\) \| (.*?) \| (.*?) \|$", FINDINGS, re.M))
def test_the_findings_told_are_the_verdicts_on_record(row: tuple[str, str, str]) -> None:
    claim, as_written, repaired = row
    find(claim)
    verdicts = {
        reading: {
            v
            for key, v in shipped_record().items()
            if key.startswith((f"{claim}|{reading}|", f"{claim}/strong-convexity|{reading}|"))
        }
        for reading in ("as-written", "repaired")
    }
    assert "REFUTED" in verdicts["as-written"], as_written
    assert "SUPPORTED" in verdicts["repaired"], repaired
    assert "REFUTED" not in verdicts["repaired"], repaired


HOLDING = {
    "bias-bound/T3": 8, "variance-bound/per-sample": 0, "bias-bound/ramp": 12, "dual-extraction": 4,
    "convergence-experiment": 2, "bias-bound/uniformity": 1,
}  # fmt: skip
"""Literal readings under which docs/findings.md says that a statement holds."""


@pytest.mark.parametrize(("claim", "holding"), HOLDING.items())
def test_the_readings_told_are_the_verdicts_on_record(claim: str, holding: int) -> None:
    verdicts: dict[str, set[str]] = {}
    for key, verdict in shipped_record().items():
        if key.startswith(f"{claim}|"):
            verdicts.setdefault(key.split("|")[1], set()).add(verdict)
    literal = [verdicts[name] for name in find(claim).literal_readings]
    assert sum("SUPPORTED" in found and "REFUTED" not in found for found in literal) == holding
    row = next(line for line in FINDINGS.splitlines() if f"(`{claim}`)" in line)
    assert ("holds with" in row) == (holding > 0)


def test_the_readings_document_lists_every_choice() -> None:
    text = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    for choice in CHOICES:
        assert f"`{choice.field}` | `{choice.as_written}`" in text
        assert f"`{choice.repaired}`" in text


WORDS = ("eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
         "eighteen", "nineteen", "twenty", "twenty-one", "twenty-two", "twenty-three",
         "twenty-four", "twenty-five")  # fmt: skip


def test_the_counts_of_the_documents_are_those_of_the_data() -> None:
    text = " ".join((ROOT / "docs" / "paper.md").read_text(encoding="utf-8").split())
    of_a_program = sum(choice.field in Reading.model_fields for choice in CHOICES)
    counts = [WORDS[number - 8] for number in (len(CHOICES), of_a_program, len(CHOICES) - of_a_program)]
    told = "The text leaves {} choices open, {} that a program makes and {} in the sense of its words."
    assert told.format(*counts) in text
    rows = load_assertions().assertions
    kinds = Counter(row.kind for row in rows)
    granted = Counter(row.granted for row in rows if row.kind == "said")
    statements = [full for claim in load_claims().values() for full, _ in claim.statements()]
    judging = len(load_assertions().covering)
    assert (
        f"{len(rows)} rows tell the paper, {kinds['said']} that it says, {kinds['implied']} that it takes for "
        f"granted, {kinds['silent']} on what it leaves open and {kinds['consequence']} of ours; "
        f"{granted['definition']} of those said are definitions and {granted['hypothesis']} hypotheses. "
        f"{judging} of the {len(statements)} statements, in {len(load_claims())} claims, judge the rows; the others "
        f"stand beside the text. Each statement is asked under its readings, of {len(CHOICES)} choices, and on its "
        f"problems: {len(shipped_record()):,} verdicts in the record"
    ) in text
    front, findings = " ".join(README.split()), " ".join(FINDINGS.split())
    assert f"{kinds['said']} rows, each with the lines of its sentence" in front
    assert f"those of the {len(statements)} statements that say it" in front
    theorems = (ROOT / "docs" / "theorems.md").read_text(encoding="utf-8")
    proven = re.search(r"repaired statements (\d+) are proven \((\d+) with a premise more\), (\d+) in part", theorems)
    assert proven is not None
    assert f"Of {proven[1]} repaired statements the sentence itself" in front
    assert f"{proven[2]} of these with a premise more: the bias lemma asks for quadratic f and g" in front
    assert f"and {proven[3]} are proven in part" in front
    assert f"{kinds['said']} rows, each with the lines of its sentence" in findings
    assert f"those of the {len(statements)} statements that say it" in findings
    assert f"Of {proven[1]} repaired statements the sentence itself" in findings
    assert f"{proven[2]} of these with a premise more: the bias lemma asks for quadratic f and g" in findings
    assert f"and {proven[3]} are proven in part" in findings


def test_the_verdicts_counted_in_a_document_are_those_of_the_record() -> None:
    """What the text says and what it takes for granted apart, in the very sentence that the pages print."""
    results = [
        Result(claim=claim, reading=reading, instance=instance, verdict=Verdict(verdict), sentence="")
        for key, verdict in shipped_record().items() for claim, reading, instance in [key.split("|")]
    ]  # fmt: skip
    summary = tuple(summarise(results, search=lambda _: None))
    report = ReportData(
        environment={}, seed=1, profile="ci", subject="reference", results=tuple(results), summary=summary
    )  # fmt: skip
    assert tallied(outline(report)) in " ".join(FINDINGS.split())


def test_every_local_link_leads_somewhere() -> None:
    for name in ("README.md", "CONTRIBUTING.md", *(f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md"))):
        # What code shows is no link.
        text = re.sub(r"```.*?```|`[^`\n]*`", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.S)
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
            assert ((ROOT / name).parent / target).exists(), (name, target)


def test_no_index_host_and_no_machine_path_is_committed() -> None:
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert "://" not in pinned
    assert "--" not in pinned
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        re.split(r"[<>=\[ ]", d)[0].lower()
        for d in [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    ]
    names = {line.split("==")[0].lower() for line in pinned.splitlines() if "==" in line}
    assert set(wanted) <= names
