"""``f2csa claims --assertions``: what the paper asserts, in order, and the statements that cover it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.padding import Padding

from spec.claims import Claim, find
from spec.text.assertions import PaperAssertion, load_assertions
from verify.cli.arguments import options
from verify.cli.output.console import plain_console, print_json
from verify.report.findings.judged_assertions import decided


def assertions(request: options.Claims) -> None:
    """Print all, or those that a claim with its steps, or a step, covers."""
    entries = load_assertions().assertions if request.claim is None else _covered_by(request.claim)
    if request.as_json:
        print_json([entry.model_dump(mode="json") for entry in entries])
        return
    console = plain_console()
    section = ""
    for entry in entries:
        if entry.section != section:
            section = entry.section
            console.print(f"\n{section}", style="bold", markup=False)
        console.print(f"{entry.number:3}. {entry.asserts} ({entry.place})", markup=False)
        kind = "" if entry.kind == "said" else f"{entry.kind}; "
        judging = [full for full in entry.covered_by if full not in entry.beside]
        covered = ", ".join(judging + [f"beside it {full}" for full in entry.beside]) or "no statement yet"
        console.print(Padding(f"{covered}; {kind}{decided(entry)}", (0, 0, 0, 5)), style="dim", markup=False)
    open_ones = sum(bool(entry.reason) for entry in entries)
    covered_ones = sum(bool(entry.covered_by) for entry in entries)
    told = f"\n{len(entries)} assertions; statements cover {covered_ones}; {open_ones} are left open for a reason."
    console.print(told, style="dim")


def _covered_by(full_id: str) -> Sequence[PaperAssertion]:
    statement = find(full_id)
    wanted = {full_id}
    if isinstance(statement, Claim):
        wanted |= {full for full, _ in statement.statements()}
    return [entry for entry in load_assertions().assertions if wanted.intersection(entry.covered_by)]
