"""The work of an experiment in pieces: each a function's name and plain arguments, run once and kept."""

from __future__ import annotations

import hashlib
import importlib
import json
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from f2csa_ref.libraries.one_thread import one_thread
from spec.errors import InvalidInputError

SCHEMA = "f2csa-cells/1"
SEAL = "sha256"
ROOM = "verify.experiments."


@dataclass(frozen=True)
class Cell:
    """One piece of work: ``module:function`` of this room, and what it is called with, as plain data.

    It must answer with plain data, the same whenever it is called with the same arguments, but for what it timed.
    """

    work: str
    arguments: dict[str, Any]

    @cached_property
    def key(self) -> str:
        """What it is kept under."""
        text = json.dumps([self.work, self.arguments], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def perform(self) -> Any:
        """Do it here."""
        module, _, function = self.work.partition(":")
        with one_thread():
            return getattr(importlib.import_module(ROOM + module), function)(**self.arguments)


Show = Callable[[int, int, str], None]
"""Told how many cells of a stage are done, of how many, and the stage's name."""


def _silent(_done: int, _total: int, _stage: str) -> None:
    """Nobody is told."""


class Bench:
    """Where an experiment's cells are performed: finished ones are kept in a file, if there is one, and not repeated.

    Args:
        path: File of finished cells, JSON lines; ``None`` keeps nothing.
        header: What all of them depend on besides their arguments; a file with another header is refused.
        jobs: Worker processes for cells that are not timed.
        resume: Whether finished cells are taken from the file; otherwise it must not hold any.
        show: Told of the progress.

    Raises:
        InvalidInputError: If the file is of another run, or would be overwritten.
    """

    _pool: ProcessPoolExecutor | None = None

    def __init__(
        self,
        path: Path | None,
        header: dict[str, Any],
        *,
        jobs: int = 1,
        resume: bool = False,
        show: Show | None = None,
    ) -> None:
        self.path, self.jobs, self.show = path, jobs, show or _silent
        self.kept: dict[str, Any] = {}
        self._found: set[str] = set()
        self._used: set[str] = set()
        if path is None:
            return
        header = json.loads(json.dumps({"schema": SCHEMA, **header}))
        if path.exists() and path.stat().st_size:
            if not resume:
                raise InvalidInputError("--out", "holds finished cells: give --resume or another folder", str(path))
            self.kept = dict(_read(path, header))
        self._found = set(self.kept)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(header), *(_line(key, answer) for key, answer in self.kept.items())]
        # Replaced whole: who is killed here loses nothing.
        part = path.with_name(f".{path.name}.part")
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")
        part.replace(path)

    def perform(self, stage: str, cells: Sequence[Cell], *, timed: bool = False) -> list[Any]:
        """The answers of these cells, in their order; timed ones are performed one after another in this process."""
        left = {cell.key: cell for cell in cells if cell.key not in self.kept}
        self._used |= self._found & {cell.key for cell in cells}
        done = len(cells) - len(left)
        self.show(done, len(cells), stage)
        runs = self._here if timed or self.jobs == 1 else self._elsewhere
        for key, answer in runs(list(left.values())):
            self._keep(key, answer)
            done += 1
            self.show(done, len(cells), stage)
        return [self.kept[cell.key] for cell in cells]

    @property
    def reused(self) -> int:
        """How many cells were there, finished, and were asked for."""
        return len(self._used)

    def _keep(self, key: str, answer: Any) -> None:
        line = _line(key, answer)
        # What is read back is what is used, so that a run that was interrupted ends with the same bytes.
        self.kept[key] = json.loads(line)["answer"]
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")

    @staticmethod
    def _here(cells: Sequence[Cell]) -> Iterator[tuple[str, Any]]:
        for cell in cells:
            yield cell.key, cell.perform()

    def _elsewhere(self, cells: Sequence[Cell]) -> Iterator[tuple[str, Any]]:
        # Workers stay for the next stage: starting them takes longer than many a stage.
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self.jobs, mp_context=multiprocessing.get_context("spawn"))
        running: dict[Future[Any], str] = {self._pool.submit(Cell.perform, cell): cell.key for cell in cells}
        try:
            while running:
                for ended in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(ended), ended.result()
        finally:
            if running:
                self._pool.shutdown(wait=True, cancel_futures=True)
                self._pool = None


def _line(key: str, answer: Any) -> str:
    """A finished cell on a line, with the hash of what it says."""
    return _sealed(json.dumps({"key": key, "answer": answer})[:-1])


def _sealed(text: str) -> str:
    return f'{text}, "{SEAL}": "{hashlib.sha256(text.encode()).hexdigest()[:16]}"}}'


def _read(path: Path, header: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Finished cells; a torn last line is dropped."""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    head = _parsed(lines[0])
    if head.get("schema") != SCHEMA:
        raise InvalidInputError("--resume", "must find a file of finished cells", path.name)
    different = [name for name in header if head.get(name) != header[name]]
    if different:
        raise InvalidInputError("--resume", f"must continue the same run; it differs in {', '.join(different)}")
    # What follows the last end of a line is torn, or nothing.
    for number, line in enumerate(lines[1:-1], start=2):
        entry = _parsed(line)
        if not {"key", "answer"} <= entry.keys() or line != _sealed(line.rpartition(f', "{SEAL}": ')[0]):
            rule = f"must find cells as they were written: line {number} of {path.name} is not"
            raise InvalidInputError("--resume", f"{rule}; remove it, or take another folder")
        yield entry["key"], entry["answer"]


def _parsed(line: str) -> dict[str, Any]:
    """A line's object; an empty one where there is none."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def least_seconds(call: Callable[[], Any], *, repeats: int, most_seconds: float) -> float:
    """Processor seconds of the fastest of up to ``repeats`` calls, which a busy machine disturbs least.

    At least one call is made, and no further one after ``most_seconds`` in all.
    """
    spent, best = 0.0, float("inf")
    for _ in range(repeats):
        started = time.process_time()
        call()
        took = time.process_time() - started
        best, spent = min(best, took), spent + took
        if spent > most_seconds:
            break
    return best
