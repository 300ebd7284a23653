"""The search for places: near to equality, and such that every mistyping of a statement breaks its tie.

Random places first, then hill climbing on value over bound, of the statement and of its mistypings; last, letters
changed so that exactly one premise fails and the conclusion with it. All from one seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from flint import fmpq

from spec import InvalidInputError
from verify.truth.theorems.kinds import KINDS
from verify.truth.theorems.meaning import Outcome, Statement
from verify.truth.theorems.mistypings import Mistyping, mistypings
from verify.truth.theorems.scenes import Draft
from verify.truth.theorems.ties import Place, Tie, judged

SEED = 20260
RANDOM_PLACES = 14
FACTORS = tuple(fmpq(*pair) for pair in ((2, 1), (1, 2), (9, 10), (11, 10), (-1, 1), (0, 1), (1, 8), (8, 1)))
MOVES = (fmpq(-1, 10), fmpq(1, 10), fmpq(-1), fmpq(1), fmpq(-10), fmpq(10))


@dataclass
class Found:
    """What a search found: places, mistypings no place tells apart, and any place that breaks the theorem."""

    places: list[Place] = field(default_factory=list)
    survivors: list[str] = field(default_factory=list)
    mistypings: int = 0
    broken: list[Place] = field(default_factory=list)
    tried: int = 0


def search(tie: Tie, budget: int = 2500, seed: int = SEED) -> Found:
    """Look for places that leave no mistyping of a theorem's statement unnoticed."""
    hunt = _Hunt(tie, random.Random(f"{seed} {tie.name}"), budget)
    hunt.start()
    every = mistypings(tie.tree)
    alive = [wrong for wrong in every if not hunt.told(wrong)]
    alive = hunt.outside(alive)
    for wrong in sorted(alive, key=lambda wrong: wrong.premise is not None):
        if not wrong.name.endswith("left out") and not hunt.told(wrong):
            hunt.climb(wrong)
    left = hunt.outside([wrong for wrong in alive if not hunt.told(wrong)])
    hunt.found.survivors, hunt.found.mistypings = [wrong.name for wrong in left], len(every)
    hunt.thin(every)
    return hunt.found


class _Hunt:
    def __init__(self, tie: Tie, rng: random.Random, budget: int) -> None:
        self.tie, self.rng, self.found = tie, rng, Found()
        self.stray: list[Place] = []
        self.budget, self.end = budget, 0.0
        self.again()
        self.right = tie.statement()
        self.statements: dict[str, Statement] = {}

    def again(self, share: float = 1.0) -> None:
        """Allow so many more evaluations."""
        self.end = self.found.tried + share * self.budget

    def wrong(self, mistyping: Mistyping) -> Statement:
        return self.statements.setdefault(mistyping.name, self.tie.statement(mistyping.tree))

    def told(self, mistyping: Mistyping) -> bool:
        """Whether a place found so far breaks the mistyped tie."""
        wrong = self.wrong(mistyping)
        return any(self.tie.fault(place, wrong) for place in self.found.places)

    def at(self, place: Place) -> Outcome | None:
        """The statement at a new place; ``None`` where there is none or a premise fails."""
        self.found.tried += 1
        try:
            outcome = self.right.at(place.values)
        except (InvalidInputError, ArithmeticError, ValueError):
            return None
        if outcome.missed:
            if len(outcome.missed) == 1 and not outcome.true and len(self.stray) < 40:
                self.stray.append(Place(place.kind, place.draft, "outside"))
            return None
        if not outcome.true and len(self.found.broken) < 3:
            self.found.broken.append(place)
        return outcome

    def start(self) -> None:
        for place in self.tie.seeds:
            outcome = self.at(place)
            if outcome is not None and outcome.true:
                self.keep(place, outcome)
        for name in self.tie.kinds:
            kept = 0
            for _ in range(12 * RANDOM_PLACES):
                place = Place(name, KINDS[name].draft(self.rng))
                outcome = self.at(place)
                if outcome is not None and outcome.true and kept < RANDOM_PLACES:
                    self.keep(place, outcome)
                    kept += 1
        self.again(0.5)
        if any(self.right.at(place.values).ratio is not None for place in self.found.places):
            self.ascend(lambda outcome, _: outcome.ratio or 0.0, lambda outcome: (outcome.ratio or 0.0) > 0.995, 4)

    def keep(self, place: Place, outcome: Outcome) -> None:
        near = outcome.ratio is not None and outcome.ratio >= self.tie.floor and self.tie.floor > 0
        self.found.places.append(Place(place.kind, place.draft, "near" if near else "inside"))

    def ascend(
        self, score: Callable[[Outcome, Place], float], enough: Callable[[Outcome], bool], starts: int, steps: int = 120
    ) -> None:
        """Climb from random places and from the best ones so far."""
        for k in range(starts):
            known = [place for place in self.found.places if place.role != "outside"]
            name = self.rng.choice(self.tie.kinds)
            from_known = k % 2 and known
            place = self.rng.choice(known) if from_known else Place(name, KINDS[name].draft(self.rng))
            best, outcome = place, self.at(place)
            height = -1.0 if outcome is None else score(outcome, place)
            for _ in range(steps):
                if self.found.tried > self.end:
                    break
                place = Place(best.kind, perturbed(best.draft, self.rng))
                outcome = self.at(place)
                if outcome is None or not outcome.true:
                    continue
                there = score(outcome, place)
                if there >= height:
                    best, height = place, there
                    if enough(outcome):
                        break
            outcome = self.at(best)
            if outcome is not None and outcome.true and (outcome.ratio or 0.0) > 0:
                self.keep(best, outcome)

    def climb(self, mistyping: Mistyping) -> bool:
        """Look for a place that tells this mistyping."""
        bounded = any(self.right.at(place.values).ratio is not None for place in self.found.places)
        starts = 6 if bounded and mistyping.premise is None else 2
        self.again(0.3)
        wrong, floor = self.wrong(mistyping), self.tie.floor
        hit: list[Place] = []

        def score(outcome: Outcome, place: Place) -> float:
            there = wrong.at(place.values)
            near = outcome.ratio is not None and outcome.ratio >= floor
            if judged(there, "near" if near else "inside", floor, self.tie.ceiling):
                hit.append(place)
                return 9.0
            right, other = outcome.ratio or 0.0, there.ratio or 0.0
            return other if other > right else min(right, floor) + 0.5 * (right - other)

        for _ in range(starts):
            self.ascend(score, lambda _: bool(hit), 1)
            if hit:
                outcome = self.at(hit[0])
                assert outcome is not None
                self.keep(hit[0], outcome)
                return True
            if self.found.tried > self.end:
                break
        return False

    def outside(self, alive: list[Mistyping]) -> list[Mistyping]:
        """Change letters until one premise alone fails, and the conclusion with it; keep what tells a mistyping."""
        waiting = [wrong for wrong in alive if wrong.premise is not None]
        if not waiting:
            return alive
        self.again()
        for place in chain(self.stray, self._changed()):
            self.found.tried += 1
            try:
                outcome = self.right.at(place.values)
            except (InvalidInputError, ArithmeticError, ValueError, LookupError, TypeError):
                continue
            if outcome.true or len(outcome.missed) != 1:
                continue
            told = [
                wrong
                for wrong in waiting
                if wrong.premise == outcome.missed[0] and self.tie.fault(place, self.wrong(wrong))
            ]
            if told:
                self.found.places.append(place)
                waiting = [wrong for wrong in waiting if wrong not in told]
            if not waiting or self.found.tried > self.end:
                break
        gone = {wrong.name for wrong in alive if wrong.premise is not None} - {wrong.name for wrong in waiting}
        return [wrong for wrong in alive if wrong.name not in gone]

    def _changed(self) -> Iterator[Place]:
        inside = [place for place in self.found.places if place.role != "outside"]
        inside.sort(key=lambda place: place.role != "near")
        for rank in range(len(FACTORS) + len(MOVES) + 1):
            for place in inside[:8]:
                values = place.values
                for name, kind in _bound(self.tie):
                    changes = list(_changes(values[name], kind)) if name in values else []
                    if rank < len(changes):
                        yield Place(place.kind, place.draft, "outside", (name, *changes[rank]))

    def thin(self, all_of_them: list[Mistyping]) -> None:
        """Keep the places that are needed: a few plain ones, and a cover of what was told."""
        wanted = [wrong for wrong in all_of_them if wrong.name not in self.found.survivors]
        table = [
            {k for k, wrong in enumerate(wanted) if self.tie.fault(place, self.wrong(wrong))}
            for place in self.found.places
        ]
        order = sorted(range(len(table)), key=lambda i: -len(table[i]))
        kept, covered = list(range(min(3, len(table)))), set[int]()
        for i in kept:
            covered |= table[i]
        while True:
            best = max(order, key=lambda i: len(table[i] - covered), default=None)
            if best is None or not table[best] - covered:
                break
            kept.append(best)
            covered |= table[best]
        ratios = [
            (self.right.at(place.values).ratio or 0.0, i)
            for i, place in enumerate(self.found.places)
            if place.role == "near"
        ]
        if ratios:
            kept.append(max(ratios)[1])
        self.found.places = [self.found.places[i] for i in dict.fromkeys(kept)]


def _bound(tie: Tie) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    node = tie.tree
    while node.kind in ("forall", "implies", "let"):
        found += node.binders if node.kind == "forall" else ()
        node = node.parts[-1]
    return [(name, kind) for name, kind in found if kind != "space" and not kind.endswith("expectation")]


def _changes(value: Any, kind: str) -> Iterator[tuple[str, fmpq]]:
    if not (isinstance(value, fmpq | tuple) or callable(value)):
        return
    if isinstance(value, tuple) and len(value) > 1:
        yield "turned", fmpq(1)
    if kind.startswith("nat ->"):
        yield "first", fmpq(1)
    for factor in FACTORS:
        yield "*", factor
    if isinstance(value, fmpq):
        for by in MOVES:
            yield "+", by


def perturbed(draft: Draft, rng: random.Random) -> Draft:
    """A draft with some of its numbers changed a little, or a lot."""
    share = rng.choice((0.1, 0.3, 0.6))
    size = rng.choice((1, 4, 30))

    def moved(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(moved(part) for part in value)
        if rng.random() > share:
            return value
        way = rng.random()
        if way < 0.1:
            return fmpq(0)
        if way < 0.2:
            return -value
        if way < 0.5:
            return _short(value * fmpq(rng.randint(1, 40), 20))
        return _short(value + fmpq(rng.randint(-10, 10), 10 * size))

    return {name: moved(value) for name, value in draft.items()}


def _short(value: fmpq) -> fmpq:
    """A number with a short denominator."""
    if int(value.q) < 5000:
        return value
    scaled = value * 2520
    return fmpq(int(scaled.p) // int(scaled.q), 2520)
