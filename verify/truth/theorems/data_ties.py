"""Each theorem held against data: the kernel's own sentence, evaluated where its letters are the suite's exact stages.

A tie is broken where a place inside the premises breaks the conclusion, a place recorded as near to equality is not, or
a place recorded outside the premises is not kept out by them.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from flint import fmpq

from spec import InvalidInputError
from verify.truth.theorems.gallina import GallinaNode, parse
from verify.truth.theorems.library import scale
from verify.truth.theorems.place_kinds import KINDS
from verify.truth.theorems.posed_problems import Draft
from verify.truth.theorems.repair import bound, equations
from verify.truth.theorems.statement_values import StatementOutcome, TheoremStatement, Values

HERE = Path(__file__).parent
KERNEL = HERE.parents[1] / "proofs" / "kernel"
"""The kernel's list of theorems and its record of their sentences."""
NEAR = 0.9
ROUNDING = 1e-12
MOST_CHANGED = 4000
_CHANGED: dict[tuple[Any, ...], Values] = {}
Role = Literal["inside", "near", "outside"]


Change: TypeAlias = tuple[str, str, fmpq]
"""A letter, what is done to it, and by how much; ``("r", "solved", 7)`` makes it anew from premise 7."""


@dataclass(frozen=True)
class TiedPlace:
    """A draft of some kind; outside the premises, with letters changed: ``(("mu", "*", 1/2),)``.

    ``leaf`` names the relation of the conclusion that is near to equality, where it is not the theorem's bound.
    """

    kind: str
    draft: Draft
    role: Role = "inside"
    changes: tuple[Change, ...] = ()
    leaf: int | None = None

    @property
    def values(self) -> Values:
        """Its letters before any change, made once."""
        return _values(self.kind, self.key)

    @cached_property
    def key(self) -> str:
        """Its draft as text."""
        return json.dumps(spelt(self.draft), sort_keys=True)


@dataclass(frozen=True)
class Tie:
    """A theorem with its sentence, its places and how near to equality it comes."""

    name: str
    tree: GallinaNode
    kinds: tuple[str, ...]
    floor: float = NEAR
    ceiling: float = 1.0
    reason: str = ""
    places: tuple[TiedPlace, ...] = ()
    seeds: tuple[TiedPlace, ...] = ()
    definitions: Mapping[str, GallinaNode] = field(default_factory=dict)

    def statement(self, tree: GallinaNode | None = None) -> TheoremStatement:
        """The sentence, or another in its place, with what its words mean."""
        return TheoremStatement(tree or self.tree, self.definitions)

    def faults(self) -> list[str]:
        """What breaks the tie."""
        statement = self.statement()
        outcomes = [(k, place, self.fault(place, statement)) for k, place in enumerate(self.places)]
        return [f"{self.name}, place {k} ({place.kind}): {fault}" for k, place, fault in outcomes if fault]

    def told_by(self, tree: GallinaNode) -> int | None:
        """The first place that breaks the tie of another sentence."""
        statement = self.statement(tree)
        return next((k for k, place in enumerate(self.places) if self.fault(place, statement)), None)

    def fault(self, place: TiedPlace, statement: TheoremStatement) -> str:
        """What is wrong at one place, if anything."""
        outcome = statement.at(self.letters(place))
        return judged(outcome, place, self.floor, self.ceiling)

    def letters(self, place: TiedPlace) -> Values:
        """The letters at a place, its changes made one after another."""
        if not place.changes:
            return place.values
        key = (self.name, place.kind, place.key, place.changes)
        if key not in _CHANGED:
            if len(_CHANGED) > MOST_CHANGED:
                _CHANGED.clear()
            before = self.letters(replace(place, changes=place.changes[:-1]))
            _CHANGED[key] = self.changed(before, place.changes[-1])
        return _CHANGED[key]

    def changed(self, values: Values, change: Change) -> Values:
        """The letters with one of them changed."""
        name, sign, by = change
        if sign == "collapsed":
            return collapsed(values, name, dict(bound(self.tree)))
        if sign != "solved":
            return changed(values, name, sign, by)
        given = next((e for e in equations(self.tree) if (e.name, e.premise) == (name, int(by.p))), None)
        if given is None:
            raise InvalidInputError("changes", "must name a premise that gives the letter", f"{name}, premise {by}")
        return values | {name: given.solved(self.statement(), values)}

    @property
    def largest_ratio(self) -> float | None:
        """Largest value over bound at its places inside the premises; ``None`` for an identity."""
        statement = self.statement()
        ratios = [statement.at(self.letters(place)).ratio for place in self.places if place.role != "outside"]
        return max((ratio for ratio in ratios if ratio is not None), default=None)


def judged(outcome: StatementOutcome, place: TiedPlace, floor: float = NEAR, ceiling: float = 1.0) -> str:
    """What is wrong with an outcome, in words; nothing if nothing is."""
    if place.role == "outside":
        broken = not outcome.missed and not outcome.true and not outcome.error
        return "a place outside the premises is let in, and breaks the conclusion" if broken else ""
    if outcome.missed:
        return f"premise {outcome.missed[0]} fails"
    if not outcome.true:
        return outcome.error or "the conclusion fails"
    ratio = outcome.ratio
    if ratio is not None and ratio > ceiling + ROUNDING:
        return f"value over bound {ratio:.4f} above {ceiling}"
    if place.role == "near":
        floor, ratio = (floor, ratio) if place.leaf is None else (NEAR, outcome.ratio_of(place.leaf))
        if ratio is None or ratio < floor:
            return f"value over bound {ratio} below {floor}: slack"
    return ""


def changed(values: Values, name: str, sign: str, by: fmpq) -> Values:
    """The letters with one of them changed: scaled; a number or an entry moved, entries shifted, a sequence held."""
    old = values[name]
    if sign == "+":
        return values | {name: int(old + by) if isinstance(old, int) else old + by}
    if sign.startswith("+"):
        return values | {name: tuple(a + by if i == int(sign) else a for i, a in enumerate(old))}
    if sign == "turned":
        return values | {name: old[1:] + old[:1]}
    if sign == "first":
        return values | {name: lambda *given: old(*(0 for _ in given))}
    return values | {name: _times(old, by)}


def collapsed(values: Values, space: str, letters: Mapping[str, str]) -> Values:
    """A space made to have no vector but 0: its samples, letters in it, and maps into it."""
    samples = space.replace("'", "_prime")
    zero = [scale(fmpq(0), v) for v in list(values[samples])[:1]]
    into = {name for name, kind in letters.items() if kind.split(" -> ")[-1] == f"point {space}" and name in values}
    return values | {name: _times(values[name], fmpq(0)) for name in into} | {samples: zero}


def _times(old: Any, by: fmpq) -> Any:
    if callable(old):
        return lambda *given: _scaled(old(*given), by)
    return int(by * old) if isinstance(old, int) else _scaled(old, by)


def _scaled(value: Any, by: fmpq) -> Any:
    return scale(by, value) if isinstance(value, tuple) else by * value


@lru_cache(maxsize=4096)
def _values(kind: str, key: str) -> Values:
    return KINDS[kind].values(read(json.loads(key)))


def spelt(draft: Any) -> Any:
    """A draft as plain data."""
    if isinstance(draft, dict):
        return {name: spelt(value) for name, value in draft.items()}
    return [spelt(value) for value in draft] if isinstance(draft, tuple) else str(draft)


def read(data: Any) -> Any:
    """A draft from plain data."""
    if isinstance(data, dict):
        return {name: value if name == "atlas" else read(value) for name, value in data.items()}
    if isinstance(data, list):
        return tuple(read(value) for value in data)
    up, _, down = data.partition("/")
    return fmpq(int(up), int(down or 1))


@lru_cache(maxsize=1)
def ties() -> dict[str, Tie]:
    """Every tie by the theorem's name."""
    table = tomllib.loads((HERE / "ties.toml").read_text(encoding="utf-8"))
    sentences = kernel_sentences() | table["beyond"]
    recorded = json.loads((HERE / "places.json").read_text(encoding="utf-8"))["places"]
    known = json.loads((HERE / "seeds.json").read_text(encoding="utf-8"))
    definitions = {name: parse(text) for name, text in table["definitions"].items()}
    by_name = {}
    for row in table["tie"]:
        more = {name: row[name] for name in ("floor", "ceiling", "reason") if name in row}
        for name in row["theorems"]:
            if name in by_name or name not in sentences:
                raise InvalidInputError("ties.toml", "must tie each statement once", name)
            places = tuple(_place(data) for data in recorded.get(name, ()))
            rows = (*table["seeds"].get(name, ()), *known.get(name, ()))
            seeds = tuple(_place({"role": "inside"} | data) for data in rows)
            tree, kinds = parse(sentences[name]), tuple(row["kinds"])
            by_name[name] = Tie(name, tree, kinds, places=places, seeds=seeds, definitions=definitions, **more)
    return by_name


def _place(data: dict[str, Any]) -> TiedPlace:
    changes = tuple((name, sign, read(by)) for name, sign, by in data.get("changes", ()))
    return TiedPlace(data["kind"], read(data["draft"]), data["role"], changes, data.get("leaf"))


@lru_cache(maxsize=1)
def reason_rows() -> tuple[dict[str, str], ...]:
    """Reasons for what goes unnoticed, the first that fits first."""
    return tuple(tomllib.loads((HERE / "ties.toml").read_text(encoding="utf-8"))["unnoticed"])


def reason_row(name: str, mistyping: str) -> dict[str, str] | None:
    """The row that says why a mistyping of a theorem goes unnoticed."""
    fit = (
        row for row in reason_rows() if re.fullmatch(row["theorem"], name) and re.fullmatch(row["mistyping"], mistyping)
    )
    return next(fit, None)


def reason(name: str, mistyping: str) -> str:
    """Why a mistyping of a theorem goes unnoticed; nothing if nobody said."""
    return (reason_row(name, mistyping) or {}).get("reason", "")


def kernel_sentences() -> dict[str, str]:
    """The kernel's own sentences, as it prints them."""
    recorded = json.loads((KERNEL / "proofs.json").read_text(encoding="utf-8"))["theorems"]
    return {name: row["statement"].split(" : ", 1)[1] for name, row in recorded.items()}
