"""The trace of a run as JSON lines, and how a run goes on from one."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from spec.errors import InvalidInputError
from spec.exact import Vector

SCHEMA = "f2csa-trace/1"
"""First line: a header with this name. Then one line a block, and one a state from which the run can go on.

A header and a state end with ``sha256``: the first 16 digits of the hash of all that stands before it in the file.
"""
SEAL = "sha256"


@dataclass(frozen=True)
class TraceBlock:
    """What a trace says of block k, from 0: the oracle calls up to its end, its mean point and mean answer, both (n,).

    ``F`` is its value at the mean point, where values of f are offered; ``error`` what is certified of the errors of
    the block's calls, where that was wanted (:class:`f2csa_ref.whole_solve.certified_steps.StepErrors`).
    """

    k: int
    calls: int
    x_bar: Vector
    grad_mean: Vector
    F: float | None
    error: dict[str, Any] | None = None

    @property
    def grad_norm(self) -> float:
        """Length of the mean answer: an estimate of the distance from Goldstein stationarity at ``x_bar``."""
        return float(np.linalg.norm(self.grad_mean))


class TraceWriter:
    """Appends lines to a trace, each flushed whole; writes nothing without a file."""

    def __init__(self, path: Path | None, header: dict[str, Any], *, append: bool) -> None:
        self.path, self.header, self.append = path, header, append
        self.file: IO[str] | None = None
        self.hashed = hashlib.sha256()

    def __enter__(self) -> TraceWriter:
        if self.path is not None:
            if self.append:
                with self.path.open("rb") as before:
                    self.hashed = hashlib.file_digest(before, "sha256")
            self.file = self.path.open("a" if self.append else "w", encoding="utf-8", newline="\n")
            if not self.append:
                self._line(self.header, sealed=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self.file is not None:
            self.file.close()

    def block(self, block: TraceBlock) -> None:
        """Write a finished block."""
        entry = {"kind": "block", "k": block.k, "calls": block.calls, "x_bar": block.x_bar.tolist(),
                 "grad_mean": block.grad_mean.tolist(), "grad_norm": block.grad_norm, "F": block.F}  # fmt: skip
        self._line(entry if block.error is None else entry | {"error": block.error})

    def state(self, state: dict[str, Any], rng: np.random.Generator, counts: Counter[str]) -> None:
        """Write where the run stands: the method's state as plain data, the generator's, and the counts."""
        entry = {"kind": "state", **state, "counts": dict(counts), "rng": rng.bit_generator.state}
        self._line(entry, sealed=True)

    def _line(self, entry: dict[str, Any], *, sealed: bool = False) -> None:
        if self.file is None:
            return
        text = json.dumps(entry)
        if sealed:
            text = text[:-1] + ", "
            self.hashed.update(text.encode())
            rest = f'"{SEAL}": "{self.hashed.hexdigest()[:16]}"}}\n'
        else:
            rest = "\n"
            self.hashed.update(text.encode())
        self.hashed.update(rest.encode())
        self.file.write(text + rest)
        self.file.flush()


def has_header(path: Path) -> bool:
    """Whether a trace was begun: a run killed before its first line was whole left nothing to go on from."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        return file.readline().endswith(b"\n")


def read_header(path: Path) -> dict[str, Any]:
    """First line of a trace; refused if it is not one of ours, or is not as it was written."""
    with path.open("rb") as file:
        first = file.readline()
    header = _parsed(first)
    if header is None or header.get("schema") != SCHEMA or header.get("kind") != "header":
        raise InvalidInputError(path.name, f"must be a trace of {SCHEMA}")
    if SEAL not in header:
        raise InvalidInputError(path.name, f"has no {SEAL} in its header, as an earlier version's: begin the run anew")
    if not _sealed(first, hashlib.sha256()):
        raise _damaged(path, 1)
    return {name: value for name, value in header.items() if name != SEAL}


def restore(
    path: Path, header: dict[str, Any], rng: np.random.Generator
) -> tuple[dict[str, Any], list[TraceBlock], Counter[str]] | None:
    """The last state on record, with the blocks before it; the file is cut after it, the generator set to it.

    Raises:
        InvalidInputError: If the trace is another run's, or a line before its last is not as it was written.
    """
    recorded = read_header(path)
    if recorded != json.loads(json.dumps(header)):
        different = [key for key in header | recorded if recorded.get(key) != json.loads(json.dumps(header.get(key)))]
        raise InvalidInputError(path.name, f"must continue the same run; it differs in {', '.join(different)}")
    end, last, blocks, count = 0, None, [], 0
    for entry, position in _lines(path):
        if entry["kind"] == "block":
            blocks.append(entry)
        else:
            end, last, count = position, entry, len(blocks)
    if last is None:
        return None
    restored = _checked(path, header, last, blocks[:count], rng)
    with path.open("r+b") as file:
        file.truncate(end)
    return restored


def _checked(
    path: Path, header: dict[str, Any], last: dict[str, Any], lines: list[dict[str, Any]], rng: np.random.Generator
) -> tuple[dict[str, Any], list[TraceBlock], Counter[str]]:
    """A state and its blocks as values, where they fit together; the generator is set to it."""
    rule = "must hold blocks and states that fit together: begin the run anew"
    n, outer = len(header["x_0"]), header["outer"]
    try:
        blocks = [TraceBlock(line["k"], line["calls"], np.array(line["x_bar"]), np.array(line["grad_mean"]), line["F"],
                        line.get("error")) for line in lines]  # fmt: skip
        places = [(block.k, block.calls) for block in blocks]
        whole = [(k, (k + 1) * outer["M"]) for k in range(last["t"] // outer["M"])]
        vectors = [last["x"], *(vector for block in blocks for vector in (block.x_bar, block.grad_mean))]
        fits = places == whole and last["t"] <= outer["M"] * outer["K"]
        fits = fits and all(np.shape(vector) == (n,) and bool(np.isfinite(vector).all()) for vector in vectors)
        counts = Counter({str(name): int(number) for name, number in last["counts"].items()})
        rng.bit_generator.state = last["rng"]
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
        fits = False
    if not fits:
        raise InvalidInputError(path.name, rule)
    return last, blocks, counts


def _lines(path: Path) -> Iterator[tuple[dict[str, Any], int]]:
    """Whole lines after the header, with the position after each; a torn last one ends the reading."""
    position, hashed = 0, hashlib.sha256()
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            position += len(line)
            if number == 1:
                hashed.update(line)
                continue
            entry = _parsed(line)
            kind = None if entry is None else entry.get("kind")
            if entry is None or kind not in ("block", "state") or (kind == "state" and not _sealed(line, hashed)):
                raise _damaged(path, number)
            hashed.update(line)
            yield entry, position


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _sealed(line: bytes, before: Any) -> bool:
    """Whether a line ends with the hash of all that stands before it."""
    text, mark, seal = line.rpartition(f'"{SEAL}": '.encode())
    hashed = before.copy()
    hashed.update(text)
    return bool(mark) and seal == f'"{hashed.hexdigest()[:16]}"}}\n'.encode()


def _damaged(path: Path, number: int) -> InvalidInputError:
    rule = f"must be as it was written: up to line {number} something was changed; cut it before that, or begin anew"
    return InvalidInputError(path.name, rule)
