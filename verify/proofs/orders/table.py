"""Orders of all proofs in a table, and where each proof first breaks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from graphlib import TopologicalSorter
from itertools import chain, product
from typing import get_args

from spec.base_orders import BaseOrders, load_base_orders
from spec.claims import Claim, ReadingName, find, load_claims
from spec.errors import InvalidInputError
from spec.files import Frozen
from verify.proofs.orders.inference import Following, Judge, OrderRow
from verify.proofs.orders.ledger import OrderLedger


class FirstBreak(Frozen):
    """Where one proof, of so many inferences judged, first breaks under one reading; ``None`` if all follow."""

    claim: str
    title: str
    reading: ReadingName
    steps: int
    broken: OrderRow | None = None


def order_table(
    claim: str | None = None, *, claims: Mapping[str, Claim] | None = None, base: BaseOrders | None = None
) -> tuple[OrderRow, ...]:
    """Judge every inference of the proofs, under both readings.

    Rows in the claims' order, as written first; within a claim each step after those it rests on, the claim's own
    conclusion last. ``claim`` asks for the rows of one claim or step only, refused if it is not on record; claims by id
    and what proofs start from are those of ``spec`` by default.
    """
    ours = (claims is None or claims is load_claims()) and base is None
    rows = _stored() if ours else _rows(claims or load_claims(), base or load_base_orders())
    if claim is None:
        return rows
    known = {full for one in (claims or load_claims()).values() for full, _ in one.statements()}
    if claim not in known:
        find(claim)  # raises with the nearest known ids
        raise InvalidInputError("claim", "must be one of the claims given", claim)
    return tuple(row for row in rows if claim in (row.claim, row.step))


def first_breaks(
    *, claims: Mapping[str, Claim] | None = None, base: BaseOrders | None = None
) -> tuple[FirstBreak, ...]:
    """Where each proof first breaks, claim by claim, as written and repaired; claims without orders are left out."""
    rows = order_table(claims=claims, base=base)
    breaks = []
    for claim, reading in product((claims or load_claims()).values(), get_args(ReadingName)):
        judged = [row for row in rows if (row.claim, row.reading) == (claim.id, reading)]
        # The first that breaks by itself; else the first that inherits a break, then from another claim.
        own = (row for row in judged if row.following in (Following.CONTRADICTION, Following.DOES_NOT_FOLLOW))
        inherited = (row for row in judged if row.following == Following.INHERITS)
        if judged:
            broken, steps = next(chain(own, inherited), None), len(judged)
            breaks.append(FirstBreak(claim=claim.id, title=claim.title, reading=reading, steps=steps, broken=broken))
    return tuple(breaks)


@lru_cache(maxsize=1)
def _stored() -> tuple[OrderRow, ...]:
    return _rows(load_claims(), load_base_orders())


def _rows(claims: Mapping[str, Claim], base: BaseOrders) -> tuple[OrderRow, ...]:
    by_statement: dict[tuple[str, str], list[OrderRow]] = {}
    for reading in get_args(ReadingName):
        judge = Judge(OrderLedger(claims, base, reading))
        for entry in judge.ledger.entries:
            by_statement.setdefault((entry.full_id, reading), []).append(judge.row(entry))
    return tuple(
        row
        for claim in claims.values()
        for reading in get_args(ReadingName)
        for full_id in _proof_order(claim)
        for row in by_statement.get((full_id, reading), ())
    )


def _proof_order(claim: Claim) -> Iterator[str]:
    """Full ids, each after those of the same claim it rests on, otherwise as in the text; the claim last."""
    graph: dict[str, set[str]] = {}
    ids = [f"{claim.id}/{step.id}" for step in claim.steps]
    for full_id, step in zip(ids, claim.steps, strict=True):
        graph[full_id] = {other for other in step.rests_on if other in ids}
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    ready: list[str] = []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()], key=ids.index)
        sorter.done(ready[0])
        yield ready.pop(0)
    yield claim.id
