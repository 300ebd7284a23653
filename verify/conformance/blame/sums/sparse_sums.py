"""Which few summands too many, too few or exchanged explain values: a sparse regression on the basis of terms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from spec.exact import FloatArray, Vector
from verify.conformance.blame.sums.call_points import CallPoint
from verify.conformance.blame.sums.right_sums import RIGHT_PARTS, Space, right_sum
from verify.conformance.blame.sums.term_basis import BasisTerm, Power, basis, powers

ROUNDING = 2e-13
"""Relative to what is added up: differences below it are rounding."""
SCREEN = 1e-9
"""Share of the squares that a sum may leave to be looked at closely; normal equations see no more."""
SIMPLE = sorted(
    {Fraction(a, b) for b in (1, 2, 3, 4, 5, 6, 8, 10) for a in range(1, 25)},
    key=lambda q: (q.denominator, q.numerator),
)
"""Numbers that somebody may have written."""
SNAP = 1e-7
"""Relative distance at which a coefficient that is known so well is taken for a simple number."""
USUAL = 0.32
"""Cost up to which terms take part in the search for pairs."""
MOST_COLUMNS = 2400
"""Columns in the search for pairs, the most usual first."""
CLOSE_LOOKS = 60
"""Sums that are looked at closely in one search."""

SHARED = ("f_xx", "f_xy", "f_yy", "f_x", "f_y", "g_xy", "g_yy", "g_y", "Aᵀ", "Bᵀ")
"""Blocks that make one summand stand for another."""


@dataclass(frozen=True)
class Added:
    """A summand that does not belong: ``coefficient * power * term``; ``simple`` if the coefficient is a number as
    people write it.
    """

    coefficient: float
    power: Power
    term: BasisTerm
    simple: bool

    @property
    def cost(self) -> float:
        """How unusual it is."""
        size = abs(self.coefficient)
        written = 0.0 if size == 1 else 0.05 if size in (0.5, 2) else 0.15 if self.simple else 0.7
        return 1.0 + written + self.power.cost + self.term.cost

    def value(self, c: CallPoint) -> Vector | None:
        """Its value at a point."""
        value = self.term.value(c)
        return None if value is None else self.coefficient * self.power.value(c) * value


@dataclass(frozen=True)
class SumEdit:
    """The right sum without some of its summands and with others."""

    space: Space
    dropped: tuple[int, ...] = ()
    added: tuple[Added, ...] = ()

    @property
    def units(self) -> list[tuple[str, tuple[int, ...]]]:
        """What is dropped: whole groups as one, with the group's name, else single summands with none."""
        parts = RIGHT_PARTS[self.space]
        units: list[tuple[str, tuple[int, ...]]] = []
        for group in dict.fromkeys(part.group for part in parts):
            whole = tuple(j for j, part in enumerate(parts) if part.group == group)
            here = tuple(j for j in whole if j in self.dropped)
            units += [(group, whole)] if here == whole else [("", (j,)) for j in here]
        return units

    @property
    def cost(self) -> float:
        """How unlikely such a mistake is."""
        return max(0.9 * bool(self.dropped), sum(a.cost for a in self.added) + 0.5 * len(self.units))

    @property
    def edits(self) -> int:
        """Single changes: a summand that a like one stands for is one."""
        return max(1, len(self.units)) if self.is_swap else len(self.units) + len(self.added)

    @property
    def is_swap(self) -> bool:
        """Whether the one new summand shares a block with the one that is dropped, and so stands for it."""
        if len(self.units) != 1 or len(self.added) != 1:
            return False
        (group, members), name = self.units[0], self.added[0].term.name
        parts = RIGHT_PARTS[self.space]
        if group == "dual":
            return "λ" in name
        if group and f"∇_{self.space} {group}" in name:
            return True
        return any(block in name and block in parts[j].name for j in members for block in SHARED)

    def value(self, c: CallPoint) -> Vector | None:
        """The sum at a point; ``None`` where a term does not exist."""
        total = right_sum(self.space, c, self.dropped)
        for added in self.added:
            value = added.value(c)
            if value is None:
                return None
            total = total + value
        return total


@dataclass(frozen=True, eq=False)
class Sheet:
    """Values of sums at points, one after another, with what they may be off.

    ``offset`` is what edits already found add to the right summands.
    """

    space: Space
    points: Sequence[CallPoint]
    got: Vector
    limits: Vector
    offset: Vector

    @cached_property
    def parts(self) -> FloatArray:
        """The right summands, shape (J, L)."""
        return np.array([np.concatenate([part.at(c) for c in self.points]) for part in RIGHT_PARTS[self.space]])

    @cached_property
    def factors(self) -> FloatArray:
        """Powers entry by entry, shape (K, L)."""
        lengths = [len(c.x) if self.space == "x" else len(c.y) for c in self.points]
        return np.array([np.repeat([power.value(c) for c in self.points], lengths) for power in powers()])

    @cached_property
    def columns(self) -> tuple[list[BasisTerm], FloatArray]:
        """Terms that exist at all points, are zero not everywhere and differ from each other; and values (N, L)."""
        terms, rows, seen = [], [], set[bytes]()
        for term in basis(self.space):
            row = self._joined(term.value)
            if row is None:
                continue
            top = float(np.abs(row).max(initial=0.0))
            if not 1e-9 < top < np.inf:
                continue
            key = np.round(row / row[np.abs(row) > 1e-3 * top][0], 9).tobytes()
            if key not in seen:
                seen.add(key)
                terms.append(term)
                rows.append(row)
        return terms, np.array(rows).reshape(len(rows), len(self.got))

    @cached_property
    def weights(self) -> Vector:
        """One over the tolerance of each entry."""
        size = np.abs(self.parts).sum(axis=0) + np.abs(self.got)
        return np.asarray(1.0 / (self.limits + ROUNDING * size + 1e-300))

    def target(self, dropped: Sequence[int]) -> Vector:
        """What the added summands must come to."""
        indices = [j for j in range(len(self.parts)) if j not in dropped]
        return np.asarray(self.got - self.offset - self.parts[indices].sum(axis=0))

    def misfit(self, edit: SumEdit) -> float:
        """Largest difference of a sum from the values, in tolerances."""
        total, size = np.zeros(len(self.got)), np.zeros(len(self.got))
        for added in edit.added:
            row = self._joined(added.value)
            if row is None:
                return np.inf
            total, size = total + row, size + np.abs(row)
        off = np.abs(self.target(edit.dropped) - total)
        return float(np.max(off / (1.0 / self.weights + ROUNDING * size), initial=0.0))

    def _joined(self, value: Callable[[CallPoint], Vector | None]) -> Vector | None:
        """Values at all points, one after another, if there is one at each."""
        values = [value(c) for c in self.points]
        there = [v for v in values if v is not None]
        return np.concatenate(there) if len(there) == len(values) else None

    def __len__(self) -> int:
        return len(self.got)


def drops(space: Space, *, pairs: bool) -> list[tuple[int, ...]]:
    """What may be dropped: nothing, a summand, a group, the rest beside one; with ``pairs`` two of those."""
    parts = RIGHT_PARTS[space]
    groups = [
        tuple(j for j, part in enumerate(parts) if part.group == g) for g in dict.fromkeys(p.group for p in parts)
    ]
    single: list[tuple[int, ...]] = [*((j,) for j in range(len(parts))), *groups]
    subsets = [(), *single]
    if pairs:
        subsets += [tuple(sorted({*a, *b})) for i, a in enumerate(single) for b in single[:i]]
        if space == "x":
            subsets.append(tuple(range(len(parts))))
    return list(dict.fromkeys(subsets))


def plain_drops(sheet: Sheet) -> Iterator[SumEdit]:
    """Sums that need no new summand."""
    for dropped in drops(sheet.space, pairs=True):
        edit = SumEdit(sheet.space, dropped)
        if len(dropped) < len(sheet.parts) and sheet.misfit(edit) <= 1:
            yield edit


def single_sums(sheet: Sheet, dropped_sets: Iterable[tuple[int, ...]]) -> Iterator[SumEdit]:
    """Sums with one new summand."""
    terms, rows = sheet.columns
    if not terms:
        return
    w2 = sheet.weights**2
    scaled = sheet.factors * w2
    sizes = (rows**2) @ (sheet.factors**2 * w2).T
    for dropped in dropped_sets:
        target = sheet.target(dropped)
        norm = float((target**2) @ w2)
        if norm <= len(sheet) * 0.5:
            continue
        along = rows @ (scaled * target).T
        with np.errstate(divide="ignore", invalid="ignore"):
            left = norm - along**2 / sizes
        near = np.argwhere(left <= max(SCREEN * norm, 4.0 * len(sheet))).tolist()
        near = sorted(near, key=lambda ik: terms[ik[0]].cost + powers()[ik[1]].cost)[:CLOSE_LOOKS]
        for i, k in near:
            edit = _closely(sheet, dropped, ((terms[i], powers()[k]),))
            if edit is not None:
                yield edit


def paired_sums(sheet: Sheet, dropped_sets: Iterable[tuple[int, ...]]) -> Iterator[SumEdit]:
    """Sums with two new summands, both of usual kinds."""
    pool, columns = _usual(sheet)
    if len(pool) < 2:
        return
    gram = columns @ columns.T
    spread = 1.0 - gram**2
    np.fill_diagonal(spread, 0.0)
    spread[spread < 1e-7] = np.inf
    for dropped in dropped_sets:
        target = sheet.target(dropped) * sheet.weights
        norm = float(target @ target)
        if norm <= len(sheet) * 0.5:
            continue
        p = columns @ target
        squares = p**2
        explained = (squares[:, None] + squares[None, :] - 2.0 * gram * np.outer(p, p)) / spread
        near = np.argwhere(np.triu(norm - explained <= max(SCREEN * norm, 4.0 * len(sheet)), 1)).tolist()
        near = sorted(near, key=lambda ij: sum(pool[i][0].cost + pool[i][1].cost for i in ij))[:CLOSE_LOOKS]
        for i, j in near:
            edit = _closely(sheet, dropped, (pool[i], pool[j]))
            if edit is not None:
                yield edit


def _usual(sheet: Sheet) -> tuple[list[tuple[BasisTerm, Power]], FloatArray]:
    """The most usual terms with the most usual factors, as columns of length 1."""
    terms, rows = sheet.columns
    picks = [
        (term.cost + power.cost, i, k)
        for i, term in enumerate(terms) for k, power in enumerate(powers())
        if term.cost + power.cost <= USUAL
    ]  # fmt: skip
    picks = sorted(picks)[:MOST_COLUMNS]
    matrix = np.array([rows[i] * sheet.factors[k] * sheet.weights for _, i, k in picks]).reshape(len(picks), len(sheet))
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return [(terms[i], powers()[k]) for _, i, k in picks], matrix / np.where(lengths > 0, lengths, 1.0)


def _closely(sheet: Sheet, dropped: tuple[int, ...], wanted: Sequence[tuple[BasisTerm, Power]]) -> SumEdit | None:
    """The sum with best coefficients, simple ones where they do, if it gives every value."""
    columns = []
    for term, power in wanted:
        values = [term.value(c) for c in sheet.points]
        factor = sheet.factors[powers().index(power)]
        columns.append(np.concatenate(values) * factor)  # type: ignore[arg-type]  # columns exist at every point
    matrix = (np.array(columns) * sheet.weights).T
    size = np.linalg.norm(matrix, axis=0)
    solved = np.linalg.lstsq(matrix / size, sheet.target(dropped) * sheet.weights, rcond=None)[0] / size
    free = tuple(Added(float(c), power, term, simple=False) for c, (term, power) in zip(solved, wanted, strict=True))
    neat = tuple(_neat(added, 10.0 / s) for added, s in zip(free, size, strict=True))
    for choice in (neat, free):
        edit = SumEdit(sheet.space, dropped, choice)
        if all(added.coefficient for added in choice) and sheet.misfit(edit) <= 1:
            return edit
    return None


def _neat(added: Added, error: float) -> Added:
    """With a simple number as coefficient, where one is within the error."""
    size = abs(added.coefficient)
    for number in SIMPLE:
        if abs(size - float(number)) <= max(error, SNAP * size):
            return Added(float(np.copysign(float(number), added.coefficient)), added.power, added.term, simple=True)
    return added
