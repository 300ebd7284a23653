"""Numbers held to a cell of a grid: what another processor rounds is let through, a millionth is not.

The same seed gives the same bytes on one machine; another processor differs in last digits, and by more where a number
is a small difference of large ones. Rounded digits cannot be compared by digest, for some always lie at an edge. So
each number has a grid of its own, laid so that the recorded value is near the middle of a cell: two letters say which
grid, the cell's index goes into the digest. What moves by less than three eighths of a cell is the same number; what
moves by more than five eighths is another.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

FINEST = 2.0**-23
"""Width of a cell relative to its number is at least this, and below four times this: a third of a millionth."""
SPREAD_FACTOR = 32.0
"""A cell is this many times wider than what the recorded processors differ by."""
SPREAD_BESIDE, MOST_BESIDE = 4.0, 2.0**-10
"""The same for the numbers beside the one that differs, relative; and the most that they are let off."""
EXACT = "=="
"""Instead of a grid: the value itself goes into the digest."""
LOOSE = "~~"
"""Instead of a grid: recorded processors differ, or nothing hangs on the value."""
WIDTH = len(EXACT)
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_LOWEST = -512
"""Cells are powers of 4; as doubles go, none is narrower."""
_SHIFTS = 4
_MOVED = 5 / 8


@dataclass(frozen=True)
class SketchLeaf:
    """One value of what a result holds, with the width that is rounding in it.

    Args:
        value: A number, or a word.
        slack: A cell is at least this wide; infinite where nothing hangs on the value.
    """

    value: object
    slack: float = 0.0

    @property
    def is_sketched(self) -> bool:
        """Whether the record says how it is held; all other words are held as they are."""
        return isinstance(self.value, float) or (isinstance(self.value, str) and any(map(str.isdigit, self.value)))


def sketch(leaves: Sequence[SketchLeaf], beside: float = 0.0) -> str:
    """How the same leaf of one or several runs is to be held: two letters.

    ``beside`` is by how much the numbers beside it differ, relative.
    """
    values = [leaf.value for leaf in leaves]
    slack = max(leaf.slack for leaf in leaves)
    if math.isinf(slack):
        return LOOSE
    numbers = [value for value in values if isinstance(value, float) and math.isfinite(value)]
    if len(numbers) < len(values):
        return EXACT if len(set(map(repr, values))) == 1 else LOOSE
    size = abs(numbers[0])
    least = max(size * FINEST, size * beside, SPREAD_FACTOR * (max(numbers) - min(numbers)), slack)
    if least == 0.0:
        return EXACT
    power = max(math.ceil(math.log2(least) / 2), _LOWEST)
    at = math.ldexp(numbers[0], -2 * power)
    shift = max(range(_SHIFTS), key=lambda k: 0.5 - abs((at + k / _SHIFTS) % 1.0 - 0.5))
    code = (power - _LOWEST) * _SHIFTS + shift
    return _ALPHABET[code // 64] + _ALPHABET[code % 64]


def held(leaf: SketchLeaf, how: str) -> object:
    """What of a leaf goes into a digest: its cell, itself, or nothing."""
    value = leaf.value
    if how == LOOSE:
        return None
    if not isinstance(value, float):
        return value
    if how == EXACT or not math.isfinite(value):
        return repr(value + 0.0)
    code = _ALPHABET.index(how[0]) * 64 + _ALPHABET.index(how[1])
    power, shift = code // _SHIFTS + _LOWEST, code % _SHIFTS
    try:
        return math.floor(math.ldexp(value, -2 * power) + shift / _SHIFTS)
    except OverflowError:
        return repr(value)


def width(how: str) -> float:
    """How far apart two values of a leaf may be that is held so: what moves it by more is another number."""
    if how in (EXACT, LOOSE):
        return 0.0 if how == EXACT else math.inf
    code = _ALPHABET.index(how[0]) * 64 + _ALPHABET.index(how[1])
    return _MOVED * math.ldexp(1.0, 2 * (code // _SHIFTS + _LOWEST))


def sketches(runs: Sequence[Sequence[SketchLeaf]]) -> str:
    """Those of all leaves that have one, where the same leaves come out of several runs.

    Where rounding moved one number of a piece of evidence by more than it may, on another processor it may move others.
    """
    rows = [leaves for leaves in zip(*runs, strict=True) if leaves[0].is_sketched]
    beside = min(max(map(_moved, rows), default=0.0), MOST_BESIDE)
    return "".join(sketch(leaves, beside) for leaves in rows)


def _moved(leaves: Sequence[SketchLeaf]) -> float:
    """By how much a number without rounding of its own differs between runs, relative."""
    values = [leaf.value for leaf in leaves if isinstance(leaf.value, float) and math.isfinite(leaf.value)]
    if not values or values[0] == 0.0 or any(leaf.slack for leaf in leaves):
        return 0.0
    return SPREAD_BESIDE * (max(values) - min(values)) / abs(values[0])


def cells(leaves: Sequence[SketchLeaf], how: str) -> str | None:
    """What of leaves goes into a digest, in one text; ``None`` where the sketches are those of other leaves."""
    out: list[object] = []
    place = 0
    for leaf in leaves:
        if leaf.is_sketched:
            one = how[place : place + WIDTH]
            place += WIDTH
            if len(one) < WIDTH:
                return None
            out.append(held(leaf, one))
        else:
            out.append(leaf.value)
    return json.dumps(out, ensure_ascii=False, default=str) if place == len(how) else None


def digest(text: str, letters: int = 16) -> str:
    """The first letters of a text's SHA-256, six bits each."""
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode()[:letters]
