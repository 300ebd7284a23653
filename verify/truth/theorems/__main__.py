"""``python -m verify.truth.theorems [BUDGET] [NAME…]``: search for places anew and record them."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

from verify.truth.theorems.adversary import SEED, Found, search
from verify.truth.theorems.data_ties import HERE, Tie, TiedPlace, spelt, ties
from verify.truth.theorems.mistypings import mistypings

RECORD = HERE / "places.json"
BUDGET = 150
"""Places tried in each stage of a search."""


def row(place: TiedPlace) -> dict[str, Any]:
    """A place as plain data."""
    data: dict[str, Any] = {"kind": place.kind, "role": place.role, "draft": spelt(place.draft)}
    if place.leaf is not None:
        data["leaf"] = place.leaf
    changes = [[name, sign, str(by)] for name, sign, by in place.changes]
    return data | ({"changes": changes} if changes else {})


def entry(tie: Tie, hunt: Found) -> dict[str, Any]:
    """What is recorded of a search."""
    tie = replace(tie, places=tuple(hunt.places))
    ratio = tie.largest_ratio
    told = {wrong.name: tie.told_by(wrong.tree) for wrong in mistypings(tie.tree)}
    return {
        "told": {name: place for name, place in told.items() if place is not None},
        "survivors": [name for name, place in told.items() if place is None],
        "ratio": None if ratio is None else round(ratio, 6), "mistypings": hunt.mistypings, "tried": hunt.tried,
    }  # fmt: skip


def main(words: list[str]) -> int:
    """Search, print a line for each theorem, write the record; 1 if a theorem was broken."""
    budget = next((int(word) for word in words if word.isdigit()), BUDGET)
    names, broken = [word for word in words if not word.isdigit()], 0
    for name, tie in ties().items():
        if names and name not in names:
            continue
        outcome = search(tie, budget)
        broken += len(outcome.broken)
        summary = entry(tie, outcome)
        keep(name, summary, [row(place) for place in outcome.places], budget)
        sys.stdout.write(
            f"{name}: ratio {summary['ratio']}, {outcome.mistypings} mistypings, {len(outcome.survivors)} unnoticed, "
            f"{len(outcome.places)} places of {outcome.tried} tried{', BROKEN' if outcome.broken else ''}\n"
        )
        sys.stdout.flush()
    return 1 if broken else 0


def keep(name: str, summary: dict[str, Any], rows: list[dict[str, Any]], budget: int) -> None:
    """Put one theorem's search on record."""
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {"found": {}, "places": {}}
    record |= {"seed": SEED, "budget": budget}
    record["found"][name], record["places"][name] = summary, rows
    for part in ("found", "places"):
        record[part] = {known: record[part][known] for known in ties() if known in record[part]}
    RECORD.write_text(written(record), encoding="utf-8")


def written(record: dict[str, Any]) -> str:
    """The record, a line for each place."""
    lines = [f'  "{name}": {json.dumps(value, sort_keys=True)}' for name, value in record["found"].items()]
    places = []
    for name, rows in record["places"].items():
        listed = ",\n".join("    " + json.dumps(value, sort_keys=True) for value in rows)
        places.append(f'  "{name}": [\n{listed}\n  ]')
    both = (",\n".join(lines), ",\n".join(places))
    head = f'"seed": {record["seed"]},\n"budget": {record["budget"]}'
    return f'{{\n{head},\n"found": {{\n{both[0]}\n}},\n"places": {{\n{both[1]}\n}}\n}}\n'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
