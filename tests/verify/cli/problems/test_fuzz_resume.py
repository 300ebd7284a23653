"""A resumed file in any state: the uninterrupted run's result, or one line; nothing else, and nothing lost."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spec import InvalidInputError
from verify.cli.main import invoke
from verify.experiments.work_cells import Bench, Cell

HEADER = {"experiment": "squares", "seed": 1}
CELLS = [Cell("work_cells:least_seconds", {"call": None, "repeats": 0, "most_seconds": float(k)}) for k in range(4)]
VALUES = [
    "null",
    "NaN",
    '"x"',
    "1e308",
    "1e999",
    "9" * 5000,
    "-1",
    "[]",
    "{}",
    "true",
    '"\\ud800"',
    "[" * 2000 + "]" * 2000,
]

Damage = Callable[[bytes], bytes]


def _swapped(text: bytes, line: int, place: int, value: str) -> bytes:
    """One value of one line, at any depth, replaced by another."""
    lines = text.split(b"\n")
    number = line % max(1, len(lines) - 1)
    mark = '"<here>"'
    try:
        entry: Any = json.loads(lines[number])
    except ValueError:
        return text
    holder: Any = {"all": entry}
    key: Any = "all"
    while isinstance(holder[key], dict | list) and holder[key] and place % 7:
        holder, steps = holder[key], place // 7
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key, place = keys[steps % len(keys)], place // 2
    before = holder[key]
    holder[key] = mark.strip('"')
    made = json.dumps(entry if before is not entry else mark.strip('"')).replace(mark, value)
    lines[number] = made.encode()
    return b"\n".join(lines)


def _moved(text: bytes, order: list[int]) -> bytes:
    """Some of the lines, in some order, some of them twice."""
    lines = text.splitlines(keepends=True)
    return b"".join(lines[number % len(lines)] for number in order) if lines else text


def _without(text: bytes, line: int) -> bytes:
    lines = text.splitlines(keepends=True)
    del lines[line % max(1, len(lines)) : line % max(1, len(lines)) + 1]
    return b"".join(lines)


def _struck(text: bytes, at: int, byte: int) -> bytes:
    at %= max(1, len(text))
    return text[:at] + bytes([byte]) + text[at + 1 :]


numbers = st.integers(0, 10**6)
damages: st.SearchStrategy[Damage] = st.one_of(
    st.builds(lambda at: lambda text: text[: at % (len(text) + 1)], numbers),
    st.builds(lambda line: lambda text: _without(text, line), st.integers(0, 60)),
    st.builds(lambda order: lambda text: _moved(text, order), st.lists(st.integers(0, 60), max_size=12)),
    st.builds(lambda *how: lambda text: _swapped(text, *how), st.integers(0, 60), numbers, st.sampled_from(VALUES)),
    st.builds(lambda *how: lambda text: _struck(text, *how), numbers, st.integers(0, 255)),
    st.builds(lambda more: lambda text: text + more, st.binary(max_size=6)),
)


def cut_header(text: bytes) -> bytes:
    return text.replace(b'"K": 3', b'"K": 4', 1)


ASKED = ("solve", "atlas:holder-1-2", "--calls", "6", "--blocks", "3", "--block-length", "2", "--radius", "0.2")
LOCAL = ("--x", "0.5", "--lipschitz", "5", "--gap", "1", "--bias", "0", "--variance", "0", "--trace")


def solved(trace: Path, *more: str) -> tuple[int, dict[str, Any], str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = invoke([*ASKED, *LOCAL, str(trace), *more])
    result = json.loads(out.getvalue()) if code == 0 else {}
    return code, {name: value for name, value in result.items() if name != "resumed_at"}, err.getvalue()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes, dict[str, Any]]:
    """A trace's path, its bytes as they should be, and the result."""
    trace = tmp_path_factory.mktemp("fuzz") / "trace.jsonl"
    code, result, err = solved(trace)
    assert code == 0, err
    return trace, trace.read_bytes(), result


@settings(max_examples=15)
@given(damage=damages)
@example(damage=cut_header)
@example(damage=lambda text: _without(text, 1))
@example(damage=lambda text: _without(text, 4))
@example(damage=lambda text: text.replace(b'"grad_mean": [', b'"grad_mean": [NaN, '))
@example(damage=lambda text: text.replace(b'"x_bar": [', b'"x_bar": [0.0, '))
@example(damage=lambda text: text.replace(b'"PCG64"', b'"MT19937"'))
@example(damage=lambda text: text + b"[" * 100_000 + b"\n")
def test_any_trace_goes_on_to_the_same_end_or_is_refused(
    finished: tuple[Path, bytes, dict[str, Any]], damage: Damage
) -> None:
    trace, whole, expected = finished
    for old in trace.parent.glob("trace.jsonl*"):
        old.unlink()
    trace.write_bytes(damaged := damage(whole))
    code, result, err = solved(trace, "--resume")
    if code == 0:
        assert result == expected
        assert trace.read_bytes() == whole
        return
    assert code == 2, err
    assert err.count("\n") == 1
    assert "internal fault" not in err
    assert trace.read_bytes() == damaged


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A file of finished cells, and its bytes."""
    path = tmp_path_factory.mktemp("cells") / "squares.cells.jsonl"
    Bench(path, HEADER).perform("all", CELLS)
    return path, path.read_bytes()


@settings(max_examples=60)
@given(damage=damages)
@example(damage=lambda text: text.replace(b"Infinity", b"null", 1))
@example(damage=lambda text: text.replace(b"Infinity", b"{}", 1))
@example(damage=lambda text: text + b"[" * 100_000 + b"\n")
def test_any_file_of_cells_gives_the_same_answers_or_is_refused(cells: tuple[Path, bytes], damage: Damage) -> None:
    path, whole = cells
    path.write_bytes(damaged := damage(whole))
    try:
        bench = Bench(path, HEADER, resume=True)
    except InvalidInputError as error:
        assert "\n" not in str(error)
        assert path.read_bytes() == damaged
        return
    assert bench.perform("all", CELLS) == [float("inf")] * 4
    assert sorted(set(path.read_bytes().splitlines())) == sorted(whole.splitlines())
