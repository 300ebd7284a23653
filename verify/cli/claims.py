"""``f2csa claims``: list the claims, or explain one."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from spec import load_claims
from spec.claims import Claim, ProofStep, Statement, find
from verify.checks.measuring.case import checks
from verify.cli import options
from verify.cli.console import plain_console, print_json


def claims(asked: options.Claims) -> None:
    """Print the list, or one claim or step."""
    if asked.as_json:
        every = [_entry(claim.id, claim) for claim in load_claims().values()]
        print_json(every if asked.claim is None else _entry(asked.claim, find(asked.claim)))
    elif asked.claim is None:
        _list()
    else:
        _explain(asked.claim, find(asked.claim))


def _entry(full_id: str, statement: Statement) -> dict[str, Any]:
    entry = statement.model_dump(mode="json") | {"full_id": full_id, "checked": full_id in checks()}
    for step in entry.get("steps", []):
        step["full_id"] = f"{full_id}/{step['id']}"
        step["checked"] = step["full_id"] in checks()
    return entry


def _list() -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("claim", "kind", "steps", "checked", "title"):
        table.add_column(heading)
    for claim in load_claims().values():
        ids = [full_id for full_id, _ in claim.statements()]
        covered = sum(full_id in checks() for full_id in ids)
        shown = "not yet" if covered == 0 else f"{covered} of {len(ids)}"
        table.add_row(claim.id, claim.kind, str(len(claim.steps)), shown, claim.title)
    console = plain_console()
    console.print(table)
    console.print("\nf2csa claims CLAIM explains one; f2csa verify CLAIM checks it.", style="dim")


def _explain(full_id: str, statement: Statement) -> None:
    console = plain_console()

    def line(text: str, style: str = "") -> None:
        console.print(text, style=style, markup=False)

    line(f"{full_id}: {statement.title}", "bold")
    kind = f"{statement.kind}, " if isinstance(statement, Claim) else ""
    role = f", part of the {statement.role}" if isinstance(statement, ProofStep) else ""
    line(f"{kind}{statement.location}{role}", "dim")
    line(f"\n{statement.statement}")
    if statement.regime:
        line(f"Regime: {statement.regime}")
    for heading, assertion in (("As written", statement.as_written), ("Repaired", statement.repaired)):
        line(f"\n{heading}: {assertion.text}")
        bound = assertion.bound
        powers = " ".join(f"{name}^{power}" for name, power in bound.exponents.items())
        limit = "0" if bound.toward == "zero" else "∞"
        rate = f" ~ {powers}, {next(iter(bound.exponents))} → {limit}" if powers else ""
        line(f"  {bound.tag}: {bound.quantity}{rate}")
    if statement.premises:
        line("\nPremises:")
        for premise in statement.premises:
            where = "" if len(premise.readings) == 2 else f" ({', '.join(premise.readings)} only)"
            line(f"  {premise.id}: {premise.text}{where}")
    if statement.choices:
        line(f"\nIts own choices of reading: {', '.join(statement.choices)}")
    if statement.rests_on:
        line(f"Rests on: {', '.join(statement.rests_on)}")
    line(f"Would be refuted by: {statement.refuted_by}")
    if isinstance(statement, Claim) and statement.steps:
        line("\nSteps:")
        for step in statement.steps:
            checked = "" if f"{full_id}/{step.id}" in checks() else "  [not checked yet]"
            line(f"  {full_id}/{step.id}: {step.title}{checked}")
    found = checks().get(full_id)
    line(f"\nCheck: {'f2csa verify ' + full_id if found else 'not checked yet'}")
    if found:
        line(f"Instances: {', '.join(found.instances)}")
