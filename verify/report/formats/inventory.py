"""The paper's assertions in reading order: ``python -m verify.report.formats.inventory > docs/assertions.md``."""

from __future__ import annotations

import sys
from itertools import groupby

from spec.text.assertions import IN_THE_TEXT, Inventory, PaperAssertion, load_assertions
from verify.report.findings.judged_assertions import KINDS, decided
from verify.report.formats.markdown import escape

HEAD = """\
<!-- f2csa-verify -->
# What the paper asserts

Every assertion of the paper in reading order, in our words, with the lines of the sentence that it stands for, the
claims and steps that judge it, and how. The sentence's digest is on record: `f2csa paper check` holds a source
against it; what has no lines is ours alone. Whether it holds is not written here: `f2csa verify` computes it, and its
report lists these with their verdicts; `f2csa claims ID` explains a statement. What nothing decides says why; a
definition names the statements that build on it. The page is made from `spec/assertions.toml`.
"""


def page(inventory: Inventory) -> str:
    """The page as Markdown."""
    entries = inventory.assertions
    open_ones = sum(bool(entry.reason) for entry in entries)
    covered = sum(bool(entry.covered_by) for entry in entries)
    stated, implied = (sum(entry.kind == kind for entry in entries) for kind in IN_THE_TEXT)
    counts = (
        f"{len(entries)} rows: {stated} that the words say, {implied} that they take for granted, the others open in "
        f"them or ours; statements cover {covered}; of {open_ones} the reason is given why nothing decides them."
    )
    parts = [HEAD + "\n" + counts + "\n"]
    for section, group in groupby(entries, key=lambda entry: entry.section):
        rows = "\n".join(map(_row, group))
        table = f"| # | Place | Lines | Asserts | Statements | Decided by |\n|---|---|---|---|---|---|\n{rows}\n"
        parts.append(f"## {escape(section)}\n\n{table}")
    parts.append(f"## Statements beside the text\n\n{_beside(inventory)}")
    return "\n".join(parts)


def _row(entry: PaperAssertion) -> str:
    statements = ", ".join(f"`{full}`" for full in entry.covered_by) or "none yet"
    asserts = escape(entry.asserts) + (f" *{KINDS[entry.kind]}*" if KINDS[entry.kind] else "")
    lines = "–".join(map(str, dict.fromkeys(entry.quote.lines))) if entry.quote else "none"
    return f"| {entry.number} | {escape(entry.place)} | {lines} | {asserts} | {statements} | {escape(decided(entry))} |"


def _beside(inventory: Inventory) -> str:
    rows = "\n".join(f"| `{full}` | {escape(why)} |" for full, why in inventory.beside.items())
    return f"No assertion of the paper asks for these.\n\n| Statement | Why it is here |\n|---|---|\n{rows}\n"


if __name__ == "__main__":
    sys.stdout.write(page(load_assertions()))
