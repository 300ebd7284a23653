"""The search for places: near to equality, and such that every mistyping of a statement breaks its tie.

Random places first, then hill climbing on value over bound, of the statement and of its mistypings; last, letters
changed so that exactly one premise fails and the conclusion with it. All from one seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from flint import fmpq

from spec import InvalidInputError
from verify.truth.theorems.covering import cover
from verify.truth.theorems.data_ties import NEAR, Tie, TiedPlace, judged
from verify.truth.theorems.mistypings import Mistyping, mistypings
from verify.truth.theorems.perturbing import FACTORS, MOVES, changes, perturbed
from verify.truth.theorems.place_kinds import KINDS
from verify.truth.theorems.repair import Equation, bound, equations, flat
from verify.truth.theorems.statement_values import StatementOutcome, TheoremStatement

SEED = 20260
RANDOM_PLACES = 14
ENOUGH = 4
"""Seeds inside the premises from which on few places are drawn at random."""
CLOSE = 0.995
ASCENT = 480
STEPS = 120
MOST_CHANGES = 8
MOST_LEAVES = 6
"""Relations of a conclusion that are looked at one by one."""
Score = Callable[[StatementOutcome, TiedPlace], float]


@dataclass
class Found:
    """What a search found: places, mistypings no place tells apart, and any place that breaks the theorem."""

    places: list[TiedPlace] = field(default_factory=list)
    survivors: list[str] = field(default_factory=list)
    mistypings: int = 0
    broken: list[TiedPlace] = field(default_factory=list)
    tried: int = 0


def search(tie: Tie, budget: int = 2500, seed: int = SEED) -> Found:
    """Look for places that leave no mistyping of a theorem's statement unnoticed."""
    hunt = _Hunt(tie, random.Random(f"{seed} {tie.name}"), budget)
    hunt.start()
    every = mistypings(tie.tree)
    for wrong in sorted(every, key=lambda wrong: wrong.premise is not None):
        if not wrong.name.endswith("left out") and not hunt.told(wrong):
            hunt.climb(wrong)
    left = hunt.outside([wrong for wrong in every if not hunt.told(wrong)])
    hunt.found.survivors, hunt.found.mistypings = [wrong.name for wrong in left], len(every)
    hunt.thin(every)
    return hunt.found


class _Hunt:
    def __init__(self, tie: Tie, rng: random.Random, budget: int) -> None:
        self.tie, self.rng, self.found = tie, rng, Found()
        self.stray: list[TiedPlace] = []
        self.waiting: list[Mistyping] = []
        self.highest: dict[int | None, tuple[float, TiedPlace]] = {}
        self.budget, self.end = budget, 0.0
        self.again()
        self.right = tie.statement()
        self.statements: dict[str, TheoremStatement] = {}
        self.outcomes: dict[tuple[Any, ...], StatementOutcome] = {}

    def again(self, share: float = 1.0) -> None:
        """Allow so many more evaluations."""
        self.end = self.found.tried + share * self.budget

    def wrong(self, mistyping: Mistyping) -> TheoremStatement:
        return self.statements.setdefault(mistyping.name, self.tie.statement(mistyping.tree))

    def told(self, mistyping: Mistyping) -> bool:
        """Whether a place found so far breaks the mistyped tie."""
        return any(self.fault(place, mistyping) for place in self.found.places)

    def fault(self, place: TiedPlace, mistyping: Mistyping) -> str:
        """What breaks the mistyped tie at a place, with what is known there of the right one."""
        values = self.tie.letters(place)
        key = (place.kind, place.key, place.changes)
        if key not in self.outcomes:
            self.outcomes[key] = self.right.at(values)
        right = self.outcomes[key]
        if mistyping.premise is None:
            there = self.wrong(mistyping).at(values, right.missed)
        elif mistyping.name.endswith(": left out"):
            there = replace(right, missed=tuple(k for k in right.missed if k != mistyping.premise))
        else:
            there = self.wrong(mistyping).at(values)
        return judged(there, place, self.tie.floor, self.tie.ceiling)

    def at(self, place: TiedPlace) -> StatementOutcome | None:
        """The statement at a new place; ``None`` where there is none or a premise fails."""
        self.found.tried += 1
        try:
            outcome = self.right.at(self.tie.letters(place))
        except (InvalidInputError, ArithmeticError, ValueError):
            return None
        if outcome.missed:
            if len(outcome.missed) == 1 and not outcome.true and len(self.stray) < 40:
                self.stray.append(TiedPlace(place.kind, place.draft, "outside"))
            return None
        if not outcome.true and len(self.found.broken) < 3:
            self.found.broken.append(place)
        return outcome

    def start(self) -> None:
        for place in self.tie.seeds:
            self.plant(place)
        inside = sum(place.role != "outside" for place in self.found.places)
        for name in self.tie.kinds:
            count = 0
            for _ in range((12 if inside < ENOUGH else 3) * RANDOM_PLACES):
                place = TiedPlace(name, KINDS[name].draft(self.rng))
                outcome = self.at(place)
                if outcome is not None and outcome.true and count < RANDOM_PLACES:
                    self.keep(place, outcome)
                    count += 1
        for leaf in self.leaves():
            if self.near(leaf):
                continue
            self.end = self.found.tried + ASCENT
            self.ascend(*self.climbing(leaf), 4, leaf=leaf)

    def climbing(self, leaf: int | None) -> tuple[Score, Callable[[StatementOutcome], bool]]:
        """Value over bound of one relation, and whether it is close to 1."""

        def height(outcome: StatementOutcome) -> float:
            return outcome.ratio_of(leaf) or 0.0

        return lambda outcome, _: height(outcome), lambda outcome: height(outcome) > CLOSE

    def plant(self, place: TiedPlace) -> None:
        """Put a place that is known on the list, where it still says something."""
        if place.role != "outside":
            outcome = self.at(place)
            if outcome is not None and outcome.true:
                self.keep(place, outcome, place.leaf)
            return
        outcome = self._there(place)
        if outcome is not None and len(outcome.missed) == 1 and not outcome.true and not outcome.error:
            self.found.places.append(place)

    def near(self, leaf: int | None) -> bool:
        """Whether some place has one relation near enough to equality."""
        outcomes = (self.right.at(self.tie.letters(place)) for place in self.found.places if place.role == "near")
        return any((outcome.ratio_of(leaf) or 0.0) > CLOSE for outcome in outcomes)

    def leaves(self) -> list[int | None]:
        """Relations of the conclusion that can come near to equality; ``None`` for the theorem's bound."""
        inside = (place for place in self.found.places if place.role != "outside")
        outcomes = [self.right.at(self.tie.letters(place)) for place in inside]
        if not outcomes:
            return []
        bounds: list[int | None] = [None] if any(outcome.ratio is not None for outcome in outcomes) else []
        count = min(len(outcome.leaves) for outcome in outcomes)
        others = [k for k in range(count) if any((outcome.ratio_of(k) or 0) > 0 for outcome in outcomes)]
        return (
            [*bounds, *others] if 1 < count <= MOST_LEAVES and len({len(o.leaves) for o in outcomes}) == 1 else bounds
        )

    def keep(self, place: TiedPlace, outcome: StatementOutcome, leaf: int | None = None) -> None:
        """Put a place inside the premises on the list; near to equality where it is, in its named relation else."""
        ratio, floor = outcome.ratio_of(leaf), self.tie.floor if leaf is None else NEAR
        near = ratio is not None and ratio >= floor > 0
        self.found.places.append(
            TiedPlace(place.kind, place.draft, "near" if near else "inside", (), leaf if near else None)
        )

    def ascend(
        self, score: Score, enough: Callable[[StatementOutcome], bool], starts: int, leaf: int | None = None
    ) -> None:
        """Climb from random places and from the best ones so far."""
        for k in range(starts):
            known = [place for place in self.found.places if place.role != "outside"]
            name = self.rng.choice(self.tie.kinds)
            from_known = k % 2 and known
            place = self.rng.choice(known) if from_known else TiedPlace(name, KINDS[name].draft(self.rng))
            best, outcome = place, self.at(place)
            height = -1.0 if outcome is None else score(outcome, place)
            for _ in range(STEPS):
                if self.found.tried > self.end:
                    break
                place = TiedPlace(best.kind, perturbed(best.draft, self.rng))
                outcome = self.at(place)
                if outcome is None or not outcome.true:
                    continue
                there = score(outcome, place)
                if there >= height:
                    best, height = place, there
                    if enough(outcome):
                        break
            outcome = self.at(best)
            if outcome is not None and outcome.true and (outcome.ratio_of(leaf) or 0.0) > 0:
                self.keep(best, outcome, leaf)

    def climb(self, mistyping: Mistyping) -> bool:
        """Look for a place that tells this mistyping."""
        bounded = any(self.right.at(self.tie.letters(place)).ratio is not None for place in self.found.places)
        starts = 6 if bounded and mistyping.premise is None else 2
        self.again(0.3)
        wrong, leaf = self.wrong(mistyping), self.leaf_of(mistyping)
        floor = self.tie.floor if leaf is None else NEAR
        hit: list[TiedPlace] = []

        def score(outcome: StatementOutcome, place: TiedPlace) -> float:
            known = outcome.missed if mistyping.premise is None else None
            there = wrong.at(self.tie.letters(place), known)
            right, other = outcome.ratio_of(leaf) or 0.0, there.ratio_of(leaf) or 0.0
            there_too = TiedPlace(place.kind, place.draft, "near" if right >= floor else "inside", (), leaf)
            if judged(there, there_too, floor, self.tie.ceiling):
                hit.append(place)
                return 9.0
            return other if other > right else min(right, floor) + 0.5 * (right - other)

        for _ in range(starts):
            self.ascend(score, lambda _: bool(hit), 1)
            if hit:
                outcome = self.at(hit[0])
                assert outcome is not None
                self.keep(hit[0], outcome, leaf)
                return True
            if self.found.tried > self.end:
                break
        return False

    def leaf_of(self, mistyping: Mistyping) -> int | None:
        """The relation of the conclusion that a mistyping changes, where it is not the theorem's bound."""
        for place in [place for place in self.found.places if place.role != "outside"][:6]:
            right, wrong = (s.at(self.tie.letters(place)) for s in (self.right, self.wrong(mistyping)))
            if len(right.leaves) != len(wrong.leaves):
                return None
            for k, (a, b) in enumerate(zip(right.leaves, wrong.leaves, strict=True)):
                if a.ratio is not None and a.ratio != b.ratio:
                    last = max(i for i, leaf in enumerate(right.leaves) if leaf.ratio is not None)
                    return k if k != last or a.plain else None
        return None

    def outside(self, alive: list[Mistyping]) -> list[Mistyping]:
        """Change letters until one premise alone fails, and the conclusion with it; keep what tells a mistyping."""
        self.waiting = [wrong for wrong in alive if wrong.premise is not None]
        for places, share in ((iter(self.stray), 0.3), (self._changed(), 1.0), (self._wandering(), 2.5)):
            self.again(share)
            for place in places:
                outcome = self._there(place)
                if outcome is not None and len(outcome.missed) == 1 and not outcome.error:
                    self._tell(place, outcome)
                if not self.waiting or self.found.tried > self.end:
                    break
        gone = {wrong.name for wrong in alive if wrong.premise is not None} - {wrong.name for wrong in self.waiting}
        return [wrong for wrong in alive if wrong.name not in gone]

    def _tell(self, place: TiedPlace, outcome: StatementOutcome) -> None:
        """Put a place outside one premise on the list, if it tells a mistyping of that premise."""
        (premise,), ratio = outcome.missed, outcome.ratio or 0.0
        if outcome.true:
            if ratio > self.highest.get(premise, (0.0, place))[0]:
                self.highest[premise] = ratio, place
            return
        told = [wrong for wrong in self.waiting if wrong.premise == premise and self.fault(place, wrong)]
        if told:
            self.found.places.append(place)
            self.waiting = [wrong for wrong in self.waiting if wrong not in told]

    def _there(self, place: TiedPlace) -> StatementOutcome | None:
        self.found.tried += 1
        try:
            return self.right.at(self.tie.letters(place))
        except (InvalidInputError, ArithmeticError, ValueError, LookupError, TypeError):
            return None

    def _wandering(self) -> Iterator[TiedPlace]:
        """A letter or two changed at random, and others made anew from the premises that this broke."""
        inside = [place for place in self.found.places if place.role != "outside"]
        letters, given = _letters(self.tie), equations(self.tie.tree)
        while inside and self.waiting and self.found.tried <= self.end:
            target = self.rng.choice(self.waiting).premise
            base = self.highest[target][1] if target in self.highest else self.rng.choice(inside)
            if len(base.changes) > MOST_CHANGES or self.rng.random() < 0.5:
                base = self.rng.choice(inside)
            draft = base.draft if self.rng.random() < 0.6 else perturbed(base.draft, self.rng)
            place = TiedPlace(base.kind, draft, "outside", base.changes)
            try:
                values = place.values
                spaces = [name for name, kind in bound(self.tie.tree) if kind == "space"]
                if spaces and not place.changes and self.rng.random() < 0.2:
                    place = replace(place, changes=((self.rng.choice(spaces), "collapsed", fmpq(0)),))
                for _ in range(self.rng.choice((1, 1, 2, 3))):
                    name, kind = self.rng.choice(letters)
                    listed = list(changes(values[name], kind)) if name in values else []
                    if listed:
                        place = replace(place, changes=(*place.changes, (name, *self.rng.choice(listed))))
                place = self._repaired(place, target, given)
            except (InvalidInputError, ArithmeticError, ValueError, LookupError, TypeError):
                self.found.tried += 1
                continue
            yield place

    def _repaired(self, place: TiedPlace, target: int | None, given: tuple[Equation, ...]) -> TiedPlace:
        """Make letters anew, one for each broken premise but the one that is to break."""
        changed = {name for name, sign, _ in place.changes if sign != "solved"}
        for _ in range(4):
            outcome = self._there(place)
            broken = set() if outcome is None else set(outcome.missed) - {target}
            free = [e for e in given if e.premise in broken and e.name not in changed]
            free = [e for e in free if not e.slots or flat(self.tie.letters(place))]
            if not free:
                return place
            equation = self.rng.choice(free)
            changed.add(equation.name)
            place = replace(place, changes=(*place.changes, (equation.name, "solved", fmpq(equation.premise))))
        return place

    def _changed(self) -> Iterator[TiedPlace]:
        inside = [place for place in self.found.places if place.role != "outside"]
        inside.sort(key=lambda place: place.role != "near")
        for rank in range(len(FACTORS) + len(MOVES) + 1):
            for place in inside[:8]:
                values = place.values
                for name, kind in _letters(self.tie):
                    listed = list(changes(values[name], kind)) if name in values else []
                    if rank < len(listed):
                        yield TiedPlace(place.kind, place.draft, "outside", ((name, *listed[rank]),))

    def thin(self, all_of_them: list[Mistyping]) -> None:
        """Keep the places that are needed: a few plain ones, and a cover of what was told."""
        wanted = [wrong for wrong in all_of_them if wrong.name not in self.found.survivors]
        table = [{k for k, wrong in enumerate(wanted) if self.fault(place, wrong)} for place in self.found.places]
        indices = cover(table, list(range(min(3, len(table)))))
        ratios = [
            (self.right.at(self.tie.letters(place)).ratio or 0.0, i)
            for i, place in enumerate(self.found.places)
            if place.role == "near"
        ]
        if ratios:
            indices.append(max(ratios)[1])
        self.found.places = [self.found.places[i] for i in dict.fromkeys(indices)]


def _letters(tie: Tie) -> list[tuple[str, str]]:
    return [(name, kind) for name, kind in bound(tie.tree) if kind != "space" and not kind.endswith("expectation")]
