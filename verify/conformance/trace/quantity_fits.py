"""Which quantities an expression's values are, and which they could be instead: by shape, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.conformance.trace.named_values import ByAnswers, Each, Named
from verify.conformance.trace.seen_values import Exchange, SeenValues, by_answers, by_turn, in_form_of

ALIKE = 1e-9
"""Relative difference up to which two values are the same."""


@dataclass(frozen=True)
class Fit:
    """What an expression would have to be, each time, to be a quantity.

    ``how`` says how turns are counted: by the oracle's answers less 0 or 1, entry by entry, row by row, or not at all;
    ``by``, that it is moved by the wants.
    """

    named: Named
    how: str
    wants: Sequence[Any]

    @property
    def exchange(self) -> Exchange:
        """Computed values for these."""
        if isinstance(self.named.value, ByAnswers):
            return by_answers(self.named.value, 1 if self.how == "after" else 0)
        if self.how == "by":
            return lambda turn, _clock, value: value + np.reshape(self.wants[turn % len(self.wants)], np.shape(value))
        if self.how == "where it fits":
            return lambda _turn, _clock, value: (
                in_form_of(self.named.value, value) if _fits(self.named.value, value) else value
            )
        return by_turn(self.wants)


def fits_of(named: Named, seen: SeenValues) -> Iterator[Fit]:
    """All ways in which the values could be the quantity."""
    q, values, count = named.value, seen.values, len(seen.values)
    if isinstance(q, ByAnswers):
        for offset, how in enumerate(("before", "after")):
            at = [clock - offset for clock in seen.clocks]
            if all(0 <= t < len(q) for t in at) and _all_fit([q[t] for t in at], values):
                yield Fit(named, how, [q[t] for t in at])
        return
    if isinstance(q, Each):
        if count % len(q) == 0:
            per = count // len(q)
            wants = [q[i // per] for i in range(count)]
            if _all_fit(wants, values):
                yield Fit(named, "in turn", wants)
        return
    if _all_fit([q] * count, values):
        yield Fit(named, "", [q] * count)
    elif isinstance(q, np.ndarray) and count > 1 and q.ndim and count % len(q) == 0:
        # Entry by entry, or row by row; once, or in each of some loops.
        wants = [q[i % len(q)] for i in range(count)]
        if _all_fit(wants, values):
            yield Fit(named, "row by row", wants)


def partly(named: Named, seen: SeenValues) -> Iterator[Fit]:
    """The quantity where it has the shape of the value, as in a loop over sets of rows; elsewhere what is computed."""
    q, values = named.value, seen.values
    if len(values) < 2:
        return
    where = [isinstance(q, np.ndarray) and q.ndim > 0 and _fits(q, value) for value in values]
    # What is the quantity once is right where it counts.
    is_there = any(fits and is_same(value, q) for fits, value in zip(where, values, strict=True))
    if any(where) and not all(where) and not is_there:
        yield Fit(named, "where it fits", [q if fits else value for fits, value in zip(where, values, strict=True)])


def _all_fit(wants: Sequence[Any], values: Sequence[Any]) -> bool:
    return all(_fits(want, value) for want, value in zip(wants, values, strict=True))


def _fits(want: Any, value: Any) -> bool:
    if isinstance(want, tuple) or isinstance(value, tuple):
        both = isinstance(want, tuple) and isinstance(value, tuple) and len(want) == len(value)
        return both and _all_fit(want, value)
    return bare(want) == bare(value) and np.size(want) == np.size(value)


def bare(value: Any) -> tuple[int, ...]:
    """A shape without axes of length 1; of a tuple one that nothing else has."""
    if isinstance(value, tuple):
        return (-len(value),)
    return tuple(length for length in np.shape(value) if length != 1)


def is_same(a: Any, b: Any) -> bool:
    """Whether two values are the same but for rounding."""
    if isinstance(a, tuple):
        return all(map(is_same, a, b))
    left, right = np.ravel(np.asarray(a, dtype=np.float64)), np.ravel(np.asarray(b, dtype=np.float64))
    if left.shape != right.shape:
        return False
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.abs(left - right).max(initial=0.0) <= ALIKE * (1 + np.abs(right).max(initial=0.0)))


def multiplied(value: Any, factor: float) -> Any:
    """A value, a tuple or a list of values times a number."""
    if isinstance(value, tuple):
        return tuple(factor * part for part in value)
    if isinstance(value, Each | ByAnswers):
        return type(value)(multiplied(part, factor) for part in value)
    return factor * value


class Table:
    """The quantities of one question by shape, so that a value's names are found at once."""

    def __init__(self, named: Sequence[Named]) -> None:
        self.by_name = {one.name: one for one in named}
        shapes: dict[tuple[int, ...], list[Named]] = {}
        self.others: list[Named] = []
        for one in named:
            if isinstance(one.value, float) or (type(one.value) is np.ndarray):
                shapes.setdefault(bare(one.value), []).append(one)
            else:
                self.others.append(one)
        self.shapes: dict[tuple[int, ...], tuple[list[Named], Vector]] = {
            shape: (group, np.array([np.ravel(one.value) for one in group])) for shape, group in shapes.items()
        }
        self._alike: dict[str, list[Named]] = {}

    def alike(self, named: Named) -> list[Named]:
        """The quantity by all its names."""
        if named.name not in self._alike:
            value = self.by_name[named.name].value
            group, stacked = ([], None) if isinstance(value, list | tuple) else self.shapes[bare(value)]
            if stacked is None or not any(one.name == named.name for one in group):
                return [named]
            with np.errstate(invalid="ignore", over="ignore"):
                apart = np.abs(stacked - np.ravel(value)).max(axis=1, initial=0.0)
            limit = ALIKE * (1 + np.abs(np.ravel(value)).max(initial=0.0))
            self._alike[named.name] = [group[i] for i in np.flatnonzero(apart <= limit)]
        return self._alike[named.name]

    def candidates(self, seen: SeenValues) -> list[Named]:
        """What the values could be by their shapes."""
        first = seen.values[0]
        candidates = list(self.others)
        if not isinstance(first, tuple):
            candidates += self.shapes.get(bare(first), ([], None))[0]
        if len(seen.values) > 1:
            candidates += [one for group, _ in self.shapes.values() for one in group if bare(one.value) != bare(first)]
        return candidates

    def names_of(self, seen: SeenValues, sign: float = 1.0) -> list[Named]:
        """The quantities that the values are, each time."""
        first = seen.values[0]
        if isinstance(first, tuple):
            of_shape: list[Named] = []
        else:
            group, stacked = self.shapes.get(bare(first), ([], np.zeros((0, 0))))
            flat = sign * np.ravel(first)
            if len(group) and stacked.shape[1] == len(flat):
                with np.errstate(invalid="ignore", over="ignore"):
                    apart = np.abs(stacked - flat).max(axis=1, initial=0.0)
                    limit = ALIKE * (1 + np.abs(stacked).max(axis=1, initial=0.0))
                of_shape = [group[i] for i in np.flatnonzero(apart <= limit)]
            else:
                of_shape = []
        rest = self.others
        if len(seen.values) > 1:
            rest = [
                *rest,
                *(one for group, _ in self.shapes.values() for one in group if bare(one.value) != bare(first)),
            ]
        return [one for one in (*of_shape, *rest) if any(_is(fit, seen, sign) for fit in fits_of(one, seen))]

    def is_known_at(self, seen: SeenValues, turn: int, *, either_sign: bool) -> bool:
        """Whether a value is some quantity at one turn."""
        one = SeenValues([seen.values[turn]], [seen.when[turn]], [seen.clocks[turn]])
        if self.names_of(one) or (either_sign and self.names_of(one, -1.0)):
            return True
        return any(_is(fit, seen, 1.0, only=turn) for q in self.candidates(seen) for fit in fits_of(q, seen))


def _is(fit: Fit, seen: SeenValues, sign: float, only: int | None = None) -> bool:
    pairs = zip(seen.values, fit.wants, strict=True)
    if only is not None:
        pairs = zip(seen.values[only : only + 1], fit.wants[only : only + 1], strict=True)
    return all(is_same(multiplied(value, sign), want) for value, want in pairs)
