"""Stores of several machines made one: all that each holds, or nothing where they contradict one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from verify.campaign.store.contradictions import contradiction
from verify.campaign.store.kept_results import Store, StoreRow
from verify.report.model import Result


class ContradictionError(RuntimeError):
    """Two stores hold results of the same inputs and the same code that contradict each other."""


@dataclass
class Merged:
    """What came of it: results in the store by now, of which so many were added; what was not believed, a line each."""

    results: int = 0
    added: int = 0
    dropped: list[str] = field(default_factory=list)


def merge(sources: Sequence[Path], out: Path) -> Merged:
    """Add to a store, made where there is none, what others hold. They are only read.

    A fault gives way to a result. Of two faults, and of two results that differ by no more than processors do, the same
    one stays whatever the order.

    Raises:
        InvalidInputError: If one is no store, or in use.
        ContradictionError: If two hold results of the same inputs that no rounding explains; then nothing is merged.
        StoreError: If the store cannot be written.
    """
    new = not out.exists()
    done = Merged()
    # All that are no stores are found before anything is made.
    for source in sources:
        with Store(source, "STORE", to_read=True):
            pass
    try:
        with Store(out, "--out") as target, target.together():
            for source in sources:
                if not source.samefile(out):
                    _add(source, target, done)
            done.results = target.count()
    except BaseException:
        if new:
            out.unlink(missing_ok=True)
        raise
    return done


def _add(source: Path, target: Store, done: Merged) -> None:
    with Store(source, "STORE", to_read=True) as given:
        rows = list(_better(given, target, done, source))
        done.added += len(rows)
        target.add(rows, reversed(given.plans()))
        done.dropped += given.notices


def _better(given: Store, target: Store, done: Merged, source: Path) -> Iterator[StoreRow]:
    """Rows that the target is to take."""
    for row in given.rows():
        result, why = row.read()
        if result is None:
            done.dropped.append(f"{row.name}: the result kept in {source} was dropped: {why}")
            continue
        there = next(target.rows([row.address]), None)
        held = None if there is None else there.read()[0]
        if there is None or held is None or _gives_way(there, held, row, result):
            yield row


def _gives_way(there: StoreRow, held: Result, row: StoreRow, result: Result) -> bool:
    """Whether what is held makes place for what comes."""
    if there.result == row.result:
        return False
    if held.fault is not None and result.fault is not None:
        return row.result < there.result
    if held.fault is None and result.fault is None:
        if apart := contradiction(held, result):
            message = f"{row.name}: two stores hold different evidence of the same run ({apart}); nothing was merged"
            raise ContradictionError(message)
        return row.result < there.result  # of several machines: the same one stays whatever the order
    return held.fault is not None
