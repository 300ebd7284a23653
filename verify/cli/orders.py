"""``f2csa orders``: where each proof first breaks, or the orders of one claim's proof."""

from __future__ import annotations

import json
import sys

from rich.console import Console

from spec.claims import find
from verify.proofs.orders.inference import Following, OrderRow
from verify.proofs.orders.table import first_breaks, order_table

_STYLES = {
    Following.CONTRADICTION: "red",
    Following.DOES_NOT_FOLLOW: "red",
    Following.INHERITS: "yellow",
    Following.FOLLOWS: "green",
}


def execute(claim: str | None, *, as_json: bool) -> None:
    """Print the first broken steps of all proofs, or every inference of one claim or step."""
    if as_json:
        rows = [row.model_dump(mode="json") for row in order_table(claim)]
        sys.stdout.write(json.dumps(rows, ensure_ascii=False, indent=1) + "\n")
        return
    from rich.console import Console

    console = Console(highlight=False, emoji=False)
    if claim is None:
        _breaks(console)
    else:
        _proof(console, claim)


def _breaks(console: Console) -> None:
    for found in first_breaks():
        reading = found.reading.replace("-", " ")
        console.print(f"[bold]{found.claim}[/], {reading}", end=": ")
        if found.broken is None:
            console.print(f"all {found.steps} orders follow" if found.steps > 1 else "its order follows", style="green")
            continue
        step = found.broken.step.partition("/")[2] or "its conclusion"
        console.print(f"first breaks at [red]{step}[/]")
        _why(console, found.broken)
    console.print("\nf2csa orders CLAIM shows every inference of one proof.", style="dim")


def _proof(console: Console, claim: str) -> None:
    rows = order_table(claim)
    if not rows:
        console.print(f"{claim} ({find(claim).title}): no order is inferred here.")
    for reading in dict.fromkeys(row.reading for row in rows):
        console.print(f"{reading.replace('-', ' ').capitalize()}", style="bold")
        for row in (row for row in rows if row.reading == reading):
            asserted = f"{row.quantity} = {row.asserted}, " if row.quantity else ""
            console.print(f" {row.step}: {asserted}", end="", markup=False)
            console.print(str(row.following), style=_STYLES[row.following])
            _why(console, row)


def _why(console: Console, row: OrderRow) -> None:
    from rich.padding import Padding

    console.print(Padding(row.why, (0, 0, 0, 4)), style="dim")
