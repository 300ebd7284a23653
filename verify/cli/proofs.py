"""``f2csa orders`` and ``f2csa refute``: the proofs themselves, judged without running anything."""

from __future__ import annotations

import sys
from typing import cast, get_args

from rich.console import Console
from rich.padding import Padding

from spec.claims import ReadingName, find
from verify.cli import options
from verify.cli.console import plain_console, print_json
from verify.cli.sources import require_one_of
from verify.proofs.orders.inference import Following, OrderRow
from verify.proofs.orders.table import first_breaks, order_table
from verify.proofs.refutation.search import minimal_counterexample

_STYLES = {
    Following.CONTRADICTION: "red",
    Following.DOES_NOT_FOLLOW: "red",
    Following.INHERITS: "yellow",
    Following.FOLLOWS: "green",
}


def orders(asked: options.Orders) -> None:
    """Print the first broken steps of all proofs, or every inference of one claim or step."""
    if asked.as_json:
        print_json([row.model_dump(mode="json") for row in order_table(asked.claim)])
    elif asked.claim is None:
        _breaks(plain_console())
    else:
        _proof(plain_console(), asked.claim)


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
    console.print(Padding(row.why, (0, 0, 0, 4)), style="dim")


def refute(asked: options.Refute) -> None:
    """Search, print what was found, and write the problem file if asked to."""
    reading = cast("ReadingName", require_one_of("--reading", asked.reading, get_args(ReadingName)))
    found = minimal_counterexample(asked.claim, reading, weight=asked.weight, tries=asked.tries, seed=asked.seed)
    if asked.out is not None and found is not None:
        asked.out.write_text(found.file, encoding="utf-8")
    if asked.as_json:
        sys.stdout.write("null\n" if found is None else found.model_dump_json(indent=1) + "\n")
        return
    asked_about = f"{asked.claim}, {asked.reading.replace('-', ' ')}:"
    if found is None:
        sys.stdout.write(
            f"{asked_about} no counterexample among the one-dimensional problems whose integers add up to at most "
            f"{asked.weight}, nor among {asked.tries} larger ones. That proves nothing; `f2csa verify {asked.claim}` "
            "weighs the evidence.\n"
        )
        return
    how = "no smaller integer problem breaks it" if found.exhaustive else "shrunk until no smaller neighbour breaks it"
    lines = [
        f"{asked_about} broken; {how} ({found.examined} examined).",
        f"Claim: {find(asked.claim).assertion(found.reading).text}",
        "",
        *(f"  {k}. {line}" for k, line in enumerate(found.derivation, 1)),
        "",
        "Reproduce:" if asked.out is None else f"Problem written to {asked.out}. Reproduce:",
        f"  {found.command if asked.out is None else found.command_with(str(asked.out))}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
