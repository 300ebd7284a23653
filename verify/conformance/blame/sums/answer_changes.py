"""Right answers spoilt on their way out: clipped, scaled, rounded, their entries exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.sums.call_points import CallPoint
from verify.conformance.blame.sums.sparse_sums import SIMPLE, SNAP
from verify.conformance.blame.sums.term_basis import Power, powers
from verify.method.terms import ANSWERS, TERMS, changed_entries

Change = Callable[[Vector, CallPoint], Vector]
Seen = tuple[CallPoint, Vector, Vector]
"""Where it was asked, what must come out and what came."""


@dataclass(frozen=True, eq=False)
class AnswerChange:
    """What becomes of a right answer; ``{}`` in the name stands for it."""

    name: str
    cost: float
    change: Change


def _plain(change: Callable[[Vector], Vector]) -> Change:
    return lambda v, c: change(v)  # noqa: ARG005  # every change is given the point


def _length(v: Vector) -> float:
    return float(np.linalg.norm(v))


def _to_decimals(digits: int, v: Vector) -> Vector:
    return np.round(v, digits)


def _cast(precision: type[np.floating[Any]], v: Vector) -> Vector:
    """In another precision and back; what is too large for it is infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(v.astype(precision).astype(np.float64))


def _times(number: float, power: Power, v: Vector, c: CallPoint) -> Vector:
    return number * power.value(c) * v


def _by_size(power: int, which: int, v: Vector, c: CallPoint) -> Vector:
    return v * float(c.sizes[which]) ** power


def _shortened(most: float, power: Power, v: Vector, c: CallPoint) -> Vector:
    return v * min(1.0, most * power.value(c) / (_length(v) or 1.0))


FIXED: tuple[AnswerChange, ...] = (
    *(
        AnswerChange(name, 0.2 + cost, _plain(partial(changed_entries, change)))
        for name, (cost, change) in TERMS["entries"].items()
    ),
    *(
        AnswerChange(name, cost, _plain(partial(changed_entries, change)))
        for name, (cost, change) in ANSWERS["any"].items()
    ),
    *(AnswerChange(f"{{}} rounded to {d} decimals", 0.2, _plain(partial(_to_decimals, d))) for d in range(1, 10)),
    AnswerChange("{} in single precision", 0.1, _plain(partial(_cast, np.float32))),
    AnswerChange("{} in half precision", 0.2, _plain(partial(_cast, np.float16))),
    AnswerChange("{} less x", 0.3, lambda v, c: v - c.x if len(v) == len(c.x) else v),
    AnswerChange("x less {}", 0.3, lambda v, c: c.x - v if len(v) == len(c.x) else v),
)
"""Changes without a number in them."""


def fitted_changes(seen: Sequence[Seen]) -> Iterator[AnswerChange]:
    """Changes whose number is read off the answers: factors, bounds on the length or on each entry, constants added."""
    got = np.concatenate([g for _, _, g in seen])
    right = np.concatenate([e for _, e, _ in seen])
    for power in powers():
        factor = np.concatenate([np.full(len(g), power.value(c)) for c, _, g in seen])
        scaled = factor * right
        size = float(scaled @ scaled)
        if size > 0:
            number = near_number(float(scaled @ got) / size)
            name = spelt_factor(number, power.name) + " times {}"
            yield AnswerChange(name, 0.0 + power.cost, partial(_times, number, power))
    for size_name, count in (("n", 0), ("m", 1), ("p", 2)):
        yield AnswerChange(f"{{}} divided by {size_name}", 0.2, partial(_by_size, -1, count))
        yield AnswerChange(f"{{}} times {size_name}", 0.2, partial(_by_size, 1, count))
    longest = near_number(max(_length(g) for _, _, g in seen))
    yield AnswerChange(f"{{}} shortened to length {spelt_number(longest)}", 0.1,
                       _plain(lambda v: v * min(1.0, longest / (_length(v) or 1.0))))  # fmt: skip
    top, bottom = near_number(float(got.max())), near_number(float(got.min()))
    yield AnswerChange(
        f"{{}} with entries cut off at ±{spelt_number(top)}", 0.1, _plain(lambda v: np.clip(v, -top, top))
    )
    yield AnswerChange(f"{{}} with entries cut off at {spelt_number(top)}", 0.2, _plain(lambda v: np.minimum(v, top)))
    yield AnswerChange(f"{{}} with entries cut off below {spelt_number(bottom)}", 0.2,
                       _plain(lambda v: np.maximum(v, bottom)))  # fmt: skip
    yield AnswerChange(f"{{}} cut off to [{spelt_number(bottom)}, {spelt_number(top)}]", 0.2,
                       _plain(lambda v: np.clip(v, bottom, top)))  # fmt: skip
    yield from _shortened_by_alpha(seen)


def _shortened_by_alpha(seen: Sequence[Seen]) -> Iterator[AnswerChange]:
    """Lengths bounded by a multiple of a power of alpha."""
    for power in powers()[1:]:
        most = near_number(max(_length(g) / power.value(c) for c, _, g in seen))
        yield AnswerChange(
            f"{{}} shortened to length {spelt_number(most)}{power.name}", 0.2 + power.cost,
            partial(_shortened, most, power),
        )  # fmt: skip


def spelt_factor(number: float, power: str) -> str:
    """A number times a power as it is printed: ``2α₁``, ``−α``, ``3``."""
    digits = spelt_number(number)
    return digits.replace("1", "") + power if power and abs(number) == 1 else f"{digits}{power}"


def near_number(value: float) -> float:
    """The simple number it is, else itself."""
    for number in SIMPLE:
        if abs(abs(value) - float(number)) <= SNAP * abs(value):
            return float(np.copysign(float(number), value))
    return value


def spelt_number(value: float) -> str:
    """A coefficient as it is printed: ``2``, ``−½``, ``1/3``, ``1.37``."""
    sign, size = ("−" if value < 0 else ""), abs(value)
    for number in SIMPLE:
        if size == float(number):
            known = {"1/2": "½", "1/4": "¼", "3/4": "¾", "3/2": "1.5", "5/2": "2.5"}
            return sign + known.get(str(number), str(number))
    return f"{sign}{size:.6g}"
