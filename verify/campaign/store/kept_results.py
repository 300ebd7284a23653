"""Finished results in a store, by address: written as they come, and believed only where they prove themselves."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from pydantic import ConfigDict, ValidationError

from spec.atlas import is_file, know_instance
from spec.expectations import ExpectedFailure, Skip
from spec.files import Frozen
from verify.campaign.recheck.rechecking import follows
from verify.campaign.run_environment import MACHINE
from verify.campaign.store import database, notes
from verify.campaign.store.addresses import address_of
from verify.campaign.store.database import StoreError, one_transaction
from verify.campaign.store.notes import digest
from verify.campaign.store.packing import packed, unpacked
from verify.report.model import Result

_BATCH = 500


class Request(Frozen):
    """What a run was asked, and by which code and versions it was answered."""

    claims: tuple[str, ...]
    subject: str
    subject_version: str
    profile: str
    seed: int
    effort: int
    environment: dict[str, str]
    code: str
    draws: int = 0
    skips: tuple[Skip, ...] = ()
    skipped: tuple[str, ...] = ()
    expected_failures: tuple[ExpectedFailure, ...] = ()

    @property
    def kind(self) -> str:
        """Runs of one kind may share a report: all but the claims, what of them was skipped, and the machine is one."""
        where = {name: value for name, value in self.environment.items() if name not in MACHINE}
        return self.model_copy(update={"claims": (), "skipped": (), "environment": where}).model_dump_json()


class Plan(Frozen):
    """The results a run was to produce, in order: key and address of each."""

    request: Request
    cells: tuple[tuple[str, str], ...]

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def texts(self) -> tuple[str, str]:
        """Request and results as they are kept."""
        return self.request.model_dump_json(), json.dumps(self.cells)

    @property
    def digest(self) -> str:
        """Identifies it; the same in every store."""
        return digest(*self.texts)


class StoreRow(NamedTuple):
    """One result as it is kept."""

    address: str
    inputs: str
    result: str
    seconds: float
    digest: str

    @classmethod
    def of(cls, inputs: str, result: Result) -> Self:
        """A result found from these inputs; its time is no part of it, and what is on record neither."""
        text = result.model_copy(update={"seconds": None, "expected": None}).model_dump_json()
        address = address_of(inputs)
        seconds = result.seconds or 0.0
        return cls(address, inputs, text, seconds, digest(address, inputs, text, repr(seconds)))

    @property
    def packed(self) -> tuple[str, bytes, bytes, float, str]:
        """As its columns hold it."""
        return self.address, packed(self.inputs), packed(self.result), self.seconds, self.digest

    @classmethod
    def unpacked(cls, columns: Sequence[Any]) -> Self:
        """From its columns; one that :func:`packed` did not make stays as it is, for :meth:`read` to refuse."""
        address, inputs, result, seconds, digest = columns
        return cls(address, unpacked(inputs), unpacked(result), seconds, digest)

    @property
    def asked(self) -> dict[str, Any]:
        """The inputs as data; empty if they are none."""
        try:
            inputs = json.loads(self.inputs)
        except (ValueError, RecursionError, TypeError):
            return {}
        return inputs if isinstance(inputs, dict) else {}

    @property
    def name(self) -> str:
        """Whose result it says it is, for a message."""
        inputs = self.asked
        if not {"claim", "reading", "instance"} <= inputs.keys():
            return f"result {str(self.address)[:12]}"
        return "{claim} [{reading}] on {instance}".format_map(inputs)

    def read(self) -> tuple[Result | None, str]:
        """The result, or why it cannot be believed."""
        kinds = tuple(type(column) for column in self)
        if kinds != (str, str, str, float, str) or self.digest != digest(
            self.address, self.inputs, self.result, repr(self.seconds)
        ):
            return None, "it is not what was written"
        if self.address != address_of(self.inputs):
            return None, "its address is not of its inputs"
        try:
            result = Result.model_validate_json(self.result)
        except (ValidationError, RecursionError):
            return None, "it is no result"
        inputs = self.asked
        if {**result.named, "effort": result.effort} != {name: inputs.get(name) for name in (*result.named, "effort")}:
            return None, "it is of other inputs"
        if is_file(result.instance):
            know_instance(result.instance, str(inputs.get("problem")))
        if (result.verdict is None) == (result.fault is None):
            return None, "it must have a verdict or a fault"
        broken = follows(result)
        return (None, broken) if broken else (result.model_copy(update={"seconds": self.seconds}), "")


class Store:
    """A store that is open; ``notices`` says which results were not believed, one line each.

    Args:
        path: The file, made where there is none.
        argument: What a message about it names.
        to_read: Whether nothing is to be written.

    Raises:
        InvalidInputError: If it is not ours, broken, in use, or cannot be opened.
    """

    def __init__(self, path: Path, argument: str = "store", *, to_read: bool = False) -> None:
        self.path = path
        self.notices: list[str] = []
        self._believed: dict[str, tuple[str, Result]] = {}
        self._written: dict[str, str] = {}
        self._connection = (database.opened_to_read if to_read else database.opened)(path, argument)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def keep(self, inputs: str, result: Result) -> None:
        """Keep one more result, instead of an earlier one at the same address.

        Raises:
            StoreError: If it cannot be written.
        """
        row = StoreRow.of(inputs, result)
        with self._guarded():
            self._connection.execute("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?)", row.packed)
        self._believed.pop(row.address, None)
        self._written[row.address] = row.digest

    @contextmanager
    def together(self) -> Iterator[None]:
        """All that is added inside, or nothing."""
        with self._guarded(), one_transaction(self._connection):
            yield

    def add(self, rows: Iterable[StoreRow], plans: Iterable[Plan]) -> None:
        """Take over rows and plans."""
        with self._guarded():
            packed = (row.packed for row in rows)
            self._connection.executemany("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?)", packed)
            for plan in plans:
                self._put(plan)

    def count(self) -> int:
        """How many results there are."""
        with self._guarded():
            return int(self._connection.execute("SELECT count(*) FROM cells").fetchone()[0])

    def plan(self, plan: Plan) -> None:
        """Keep what a run is to produce; it counts as the latest."""
        with self._guarded():
            self._put(plan)

    def _put(self, plan: Plan) -> None:
        request, cells = plan.texts
        row = (plan.digest, request, packed(cells), time.time())
        self._connection.execute("INSERT OR REPLACE INTO plans VALUES (?, ?, ?, ?)", row)

    def plans(self) -> list[Plan]:
        """All plans, the latest first; one that is not what was written is named and left out."""
        with self._guarded():
            rows = self._connection.execute("SELECT digest, request, cells FROM plans ORDER BY at DESC").fetchall()
        plans = []
        for named, request, cells in rows:
            try:
                plan = Plan(request=Request.model_validate_json(request), cells=json.loads(unpacked(cells)))
            except (ValueError, RecursionError, TypeError):
                plan = None
            if plan is None or plan.digest != named:
                self.notices.append("a run's plan was dropped: it is not what was written")
            else:
                plans.append(plan)
        return plans

    def results(self, addresses: Iterable[str]) -> dict[str, Result]:
        """Results by address, as far as they are here and follow from their evidence; others are named."""
        by_address: dict[str, Result] = {}
        for row, result in self._read(addresses):
            self._believed[row.address] = row.digest, result
            by_address[row.address] = result
        return by_address

    def by_address(self, addresses: Iterable[str]) -> Iterator[tuple[str, Result]]:
        """The same in any order, none of them held in memory."""
        return ((row.address, result) for row, result in self._read(addresses))

    def in_order(self, addresses: Sequence[str]) -> Iterator[Result]:
        """The same one after the other, in this order, few of them in memory at once."""
        for start in range(0, len(addresses), _BATCH):
            some = addresses[start : start + _BATCH]
            by_address = {row.address: result for row, result in self._read(some)}
            yield from (by_address[address] for address in some if address in by_address)

    def _read(self, addresses: Iterable[str]) -> Iterator[tuple[StoreRow, Result]]:
        for row in self.rows(addresses):
            known = self._believed.get(row.address)
            if known is not None and known[0] == row.digest:
                yield row, known[1]
                continue
            mine = self._written.get(row.address) == row.digest
            result, why = (self._own(row), "") if mine else row.read()
            if result is None:
                self.notices.append(f"{row.name}: the kept result was dropped: {why}")
            else:
                yield row, result

    @staticmethod
    def _own(row: StoreRow) -> Result | None:
        """What this very run decided and wrote."""
        return Result.model_validate_json(row.result).model_copy(update={"seconds": row.seconds})

    def rows(self, addresses: Iterable[str] | None = None) -> Iterator[StoreRow]:
        """Rows as they are kept, unread; all of them unless some are asked for."""
        if addresses is None:
            with self._guarded():
                wanted: Sequence[str] = [a for (a,) in self._connection.execute("SELECT address FROM cells")]
            addresses = wanted
        left = iter(dict.fromkeys(addresses))
        while batch := list(islice(left, _BATCH)):
            marks = ",".join("?" * len(batch))
            with self._guarded():
                rows = self._connection.execute(f"SELECT * FROM cells WHERE address IN ({marks})", batch).fetchall()
            yield from map(StoreRow.unpacked, rows)

    def remembered(self, what: str) -> dict[str, str]:
        """What was remembered under a name; nothing if nothing was, or another text than what was written."""
        with self._guarded():
            return notes.remembered(self._connection, what)

    def remember(self, kind: str, name: str, what: dict[str, str]) -> None:
        """Remember something of a kind, and of that kind nothing else; where the disk is full, nothing."""
        notes.remember(self._connection, kind, name, what)

    def _guarded(self) -> _Guard:
        return _Guard(self.path)


class _Guard:
    """Says which store it was that SQLite failed on."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: Any) -> None:
        if isinstance(value, sqlite3.Error):
            raise StoreError(f"{self.path} failed ({value}); what was finished before is kept in it") from None
