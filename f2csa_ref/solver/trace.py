"""The trace of a run as JSON lines, and how a run goes on from one."""

from __future__ import annotations

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
"""First line: a header with this name. Then one line a block, and one a state from which the run can go on."""


@dataclass(frozen=True)
class Block:
    """What a trace says of block k, from 0: the oracle calls up to its end, its mean point and mean answer, both (n,).

    ``F`` is its value at the mean point, where values of f are offered.
    """

    k: int
    calls: int
    x_bar: Vector
    grad_mean: Vector
    F: float | None

    @property
    def grad_norm(self) -> float:
        """Length of the mean answer: an estimate of the distance from Goldstein stationarity at ``x_bar``."""
        return float(np.linalg.norm(self.grad_mean))


class TraceWriter:
    """Appends lines to a trace, each flushed whole; writes nothing without a file."""

    def __init__(self, path: Path | None, header: dict[str, Any], *, append: bool) -> None:
        self.path, self.header, self.append = path, header, append
        self.file: IO[str] | None = None

    def __enter__(self) -> TraceWriter:
        if self.path is not None:
            self.file = self.path.open("a" if self.append else "w", encoding="utf-8")
            if not self.append:
                self._line(self.header)
        return self

    def __exit__(self, *_: object) -> None:
        if self.file is not None:
            self.file.close()

    def block(self, block: Block) -> None:
        """Write a finished block."""
        self._line({"kind": "block", "k": block.k, "calls": block.calls, "x_bar": block.x_bar.tolist(),
                    "grad_mean": block.grad_mean.tolist(), "grad_norm": block.grad_norm, "F": block.F})  # fmt: skip

    def state(self, state: dict[str, Any], rng: np.random.Generator, counts: Counter[str]) -> None:
        """Write where the run stands: the method's state as plain data, the generator's, and the counts."""
        entry = {"kind": "state", **state, "counts": dict(counts), "rng": rng.bit_generator.state}
        self._line(entry)

    def _line(self, entry: dict[str, Any]) -> None:
        if self.file is not None:
            self.file.write(json.dumps(entry) + "\n")
            self.file.flush()


def has_header(path: Path) -> bool:
    """Whether a trace was begun: a run killed before its first line was whole left nothing to go on from."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        return file.readline().endswith(b"\n")


def read_header(path: Path) -> dict[str, Any]:
    """First line of a trace; refused if it is not one of ours."""
    with path.open(encoding="utf-8") as file:
        first = file.readline()
    try:
        header = json.loads(first)
    except json.JSONDecodeError:
        header = None
    if not isinstance(header, dict) or header.get("schema") != SCHEMA:
        raise InvalidInputError(path.name, f"must be a trace of {SCHEMA}")
    return header


def restore(
    path: Path, header: dict[str, Any], rng: np.random.Generator
) -> tuple[dict[str, Any], list[Block], Counter[str]] | None:
    """The last state on record, with the blocks before it; the file is cut after it, the generator set to it."""
    found = read_header(path)
    if found != json.loads(json.dumps(header)):
        different = [key for key in header if found.get(key) != json.loads(json.dumps(header[key]))]
        raise InvalidInputError(path.name, f"must continue the same run; it differs in {', '.join(different)}")
    end, last, blocks, kept = 0, None, [], 0
    for entry, position in _lines(path):
        if entry["kind"] == "block":
            blocks.append(Block(entry["k"], entry["calls"], np.array(entry["x_bar"]), np.array(entry["grad_mean"]),
                                entry["F"]))  # fmt: skip
        elif entry["kind"] == "state":
            end, last, kept = position, entry, len(blocks)
    if last is None:
        return None
    with path.open("r+b") as file:
        file.truncate(end)
    blocks = blocks[:kept]
    rng.bit_generator.state = last["rng"]
    return last, blocks, Counter(last["counts"])


def _lines(path: Path) -> Iterator[tuple[dict[str, Any], int]]:
    """Whole lines with the position after each; a torn last one ends the reading."""
    position = 0
    with path.open("rb") as file:
        for line in file:
            position += len(line)
            try:
                entry = json.loads(line)
            except (json.JSONDecodeError, UnicodeDecodeError):
                return
            if not line.endswith(b"\n") or not isinstance(entry, dict) or "kind" not in entry:
                return
            yield entry, position
