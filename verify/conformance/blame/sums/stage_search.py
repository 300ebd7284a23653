"""Search for the edits that explain a stage's answers: one, then one a group of the formula, then two."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, product

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.questions import PARTS, SOLVED_TO, Part
from verify.conformance.blame.sums.answer_changes import FIXED, AnswerChange, Seen, fitted_changes
from verify.conformance.blame.sums.call_points import CallPoint, point_of
from verify.conformance.blame.sums.edited_stage import EditedStage, ScopedExchange
from verify.conformance.blame.sums.exchanges import exchanges
from verify.conformance.blame.sums.minimiser_rules import RULES, counted_steps, cut_values, fitted_rules, newton_steps
from verify.conformance.blame.sums.other_alphas import other_alphas
from verify.conformance.blame.sums.right_sums import RIGHT_PARTS, Space, right_sum, solved_rounding, summed_sizes
from verify.conformance.blame.sums.sparse_sums import (
    ROUNDING,
    Sheet,
    SumEdit,
    drops,
    paired_sums,
    plain_drops,
    single_sums,
)
from verify.conformance.blame.sums.stopped_solves import stopped_solves
from verify.conformance.places.sizes import ANY_PROGRAM
from verify.conformance.probes.probes import Probe

PER_GROUP = 4
"""Explanations kept of each group of the formula."""
FEW = 12
"""Explanations of a whole stage that are put to further probes."""
PAIRED_EXCHANGES = 60
"""Exchanges, the most usual first, that are tried two by two."""


@dataclass(frozen=True, eq=False)
class Witness:
    """One answer: where, the right one and what came, and what it may be off."""

    probe: Probe
    point: CallPoint
    got: Vector
    limits: Vector

    @cached_property
    def answered(self) -> CallPoint:
        """The point with what came as its y."""
        return self.point.at(self.got)

    @property
    def seen(self) -> Seen:
        """Without the limits."""
        return self.point, self.probe.expected, self.got


def witness_of(probe: Probe, got: Vector, accuracy: float = 0.0) -> Witness | None:
    """An answer as a witness, where its stages are given."""
    point = point_of(probe)
    if point is None:
        return None
    size = np.abs(probe.expected) + np.abs(got)
    limits = 4.0 * probe.tolerance + accuracy * size + ROUNDING * size
    return Witness(probe, point, got, limits)


def explained(edit: EditedStage, witnesses: Iterable[Witness]) -> bool:
    """Whether an edit gives every answer."""
    return all(apart(edit, witness) <= 1 for witness in witnesses)


def apart(edit: EditedStage, witness: Witness) -> float:
    """How far an edit's answer is from one that came, in tolerances."""
    answer, distance = edit.beside(witness.point, witness.probe.expected), np.inf
    if answer is not None and answer.shape == witness.got.shape:
        size = np.abs(answer) + (summed_sizes("x", edit.moved(witness.point)) if edit.space == "x" else 0.0)
        limits = witness.limits + ROUNDING * size
        if edit.space == "x" and any(scoped.exchange.solves for scoped in edit.exchanged):
            limits = limits + solved_rounding(edit.moved(witness.point))
        distance = float(np.max(np.abs(answer - witness.got) / limits, initial=0.0))
    elif not any(scoped.exchange.of_y for scoped in edit.exchanged):
        return np.inf
    # Where it kinks close by, that an answer solves the edited problem is seen though it is not solved here.
    return distance if edit.space == "x" or edit.changed is not None else min(distance, _unsolved(edit, witness))


def _unsolved(edit: EditedStage, witness: Witness) -> float:
    """How far an answer is from solving the edited problem, in what was asked for: it may be flatter than the right."""
    others = (witness.probe.expected, witness.point.y_star)
    elsewhere = [y for y in others if (np.abs(y - witness.got) > witness.limits).any()]
    if any(_left(edit, witness, y) <= 1 for y in elsewhere):
        # What is so flat that other points solve it, too, says nothing of where it is zero.
        return np.inf
    return _left(edit, witness, witness.got)


def _left(edit: EditedStage, witness: Witness, y: Vector) -> float:
    """What the edited gradient is at a point, in what was asked for."""
    at, tol = witness.point.at(y), witness.probe.tol
    left = edit.total(at)
    if left is None or not np.isfinite(left).all():
        return np.inf
    size = summed_sizes("y", at)
    limit = ANY_PROGRAM.stop * (edit.moved(witness.point).alpha if tol is None else tol)
    return float(np.linalg.norm(left) / (limit + ROUNDING * np.linalg.norm(size)))


@dataclass
class StageSearch:
    """Everything known of one stage while it is searched; ``ask`` puts further probes to the subject.

    ``question`` makes one from a seed and the part of the formula that it leaves non-zero; ``is_noisy`` says that noise
    can be handed over.
    """

    space: Space
    ask: Callable[[Probe], Vector | None]
    question: Callable[[int, Part], Probe]
    accuracy: float = 0.0
    is_noisy: bool = False

    def gather(self, seeds: Iterable[int], part: Part = "all") -> list[Witness]:
        """Put further probes to the subject; those without an answer are left out."""
        return self.put(self.question(seed, part) for seed in seeds)

    def put(self, probes: Iterable[Probe]) -> list[Witness]:
        """The same for probes of other kinds."""
        witnesses = []
        for probe in probes:
            got = self.ask(probe)
            witness = None if got is None else witness_of(probe, got, self.accuracy)
            if witness is not None:
                witnesses.append(witness)
        return witnesses

    def sheet(self, witnesses: Sequence[Witness], offset: EditedStage | None = None) -> Sheet:
        """Answers as values of sums; in the space of y the gradients at the answers, which are zero."""
        if self.space == "x":
            points = [w.point for w in witnesses]
            got = np.concatenate([w.got for w in witnesses])
            limits = np.concatenate([w.limits for w in witnesses])
        else:
            points = [w.answered for w in witnesses]
            got = np.zeros(sum(len(w.got) for w in witnesses))
            limits = np.concatenate([self._gradient_limits(w) for w in witnesses])
        moved = np.zeros(len(got))
        if offset is not None:
            totals = [offset.total(c) for c in points]
            if all(t is not None for t in totals):
                right = [right_sum(self.space, c) for c in points]
                moved = np.concatenate(totals) - np.concatenate(right)  # type: ignore[arg-type]  # none is None
        return Sheet(self.space, points, got, limits, moved)

    def _gradient_limits(self, w: Witness) -> Vector:
        c, key = w.answered, f"limits of the gradient for answers of accuracy {self.accuracy}"
        if key not in c.table:
            H = np.abs(c.q.f_yy) + c.alpha_1 * np.abs(c.q.g_yy) + c.alpha_2 * (np.abs(c.q.B.T) * c.rho) @ np.abs(c.q.B)
            off = self.accuracy * (np.abs(w.got) + 1e-3)
            c.table[key] = np.asarray(3.0 * SOLVED_TO + 3.0 * H @ off + np.zeros(len(w.got)))
        limits: Vector = c.table[key]
        return limits

    def single(self, witnesses: Sequence[Witness]) -> list[EditedStage]:
        """Single edits that give every answer."""
        edits = [edit for edit in self._unsummed(witnesses) if explained(edit, witnesses)]
        sheet = self.sheet(witnesses)
        sums = [*plain_drops(sheet), *single_sums(sheet, drops(self.space, pairs=False))]
        sums += single_sums(sheet, [tuple(range(len(RIGHT_PARTS["x"])))]) if self.space == "x" else []
        edits += self._checked((EditedStage(self.space, summed=s) for s in sums), witnesses)
        return _by_cost(edits)

    def _unsummed(self, witnesses: Sequence[Witness]) -> Iterator[EditedStage]:
        """Changes of the answer and exchanges, anywhere or in one group."""
        nothing = SumEdit(self.space)
        seen = [w.seen for w in witnesses]
        changes: list[AnswerChange] = [*FIXED, *fitted_changes(seen)]
        if self.space == "y":
            changes += [*RULES, *newton_steps(), *cut_values(seen), *fitted_rules(seen), *counted_steps(seen)]
            changes += stopped_solves(seen, Further(self))
        for change in changes:
            yield EditedStage(self.space, (), nothing, change)
        some = witnesses[:3]
        at = [w.point if self.space == "x" else w.answered for w in some]
        sums = [w.got if self.space == "x" else np.zeros(len(w.got)) for w in some]
        alphas = [alpha.exchange for alpha in other_alphas(self.space, at, sums)]
        for group in ("", "f", "g", "penalty"):
            for exchange in (*exchanges(), *(alphas if not group else ())):
                edit = EditedStage(self.space, (ScopedExchange(exchange, group),), nothing)
                if self.space == "x" or self._vanishes(edit, witnesses[:4]):
                    yield edit

    def _vanishes(self, edit: EditedStage, witnesses: Sequence[Witness]) -> bool:
        """Whether an edited gradient is zero at the answers: cheaper than solving for its zero."""
        for w in witnesses:
            c = w.answered
            total = edit.total(c)
            if total is None:
                return False
            if not (np.abs(total) <= 4 * self._gradient_limits(w) + 1e-9 * summed_sizes("y", c)).all():
                return False
        return True

    def _checked(self, edits: Iterable[EditedStage], witnesses: Sequence[Witness]) -> list[EditedStage]:
        """The cheapest few that give every answer."""
        return [*islice((edit for edit in _by_cost(edits) if explained(edit, witnesses)), FEW)]

    def by_groups(self, witnesses: Sequence[Witness], seeds: Sequence[int]) -> list[EditedStage]:
        """Edits group by group, each found where the others vanish, that together give every answer."""
        order: tuple[Part, ...] = PARTS if self.space == "x" else ("g", "f", "penalty")
        edits: dict[Part, list[EditedStage]] = {}
        lower = EditedStage(self.space, summed=SumEdit(self.space))
        for part in order:
            group_witnesses = self.gather(seeds, part)
            if len(group_witnesses) < 2:
                return []
            base = lower if self.space == "y" else EditedStage(self.space, summed=SumEdit(self.space))
            edits[part] = self._of_group(part, group_witnesses, base)[:PER_GROUP]
            if not edits[part]:
                return []
            if self.space == "y":
                lower = joined([lower, edits[part][0]])
        whole = (joined(choice) for choice in product(*edits.values()))
        return self._checked(whole, witnesses)

    def _of_group(self, part: Part, witnesses: Sequence[Witness], base: EditedStage) -> list[EditedStage]:
        """Edits of one group beside those of ``base``; an empty one if nothing is wrong with it."""
        space = self.space
        nothing = EditedStage(space, summed=SumEdit(space))
        if explained(base, witnesses):
            return [nothing]
        sheet = self.sheet(witnesses, base)
        here = (part, "dual") if part == "penalty" else (part,)
        members = [j for j, p in enumerate(RIGHT_PARTS[space]) if p.group in here]
        subsets = [s for s in drops(space, pairs=True) if set(s) <= set(members)]
        edits: list[EditedStage] = []
        for sums in (plain_drops(sheet), single_sums(sheet, subsets)):
            edits += (EditedStage(space, summed=s) for s in sums)
        for exchange in exchanges():
            edit = EditedStage(space, (ScopedExchange(exchange, part),), SumEdit(space))
            if explained(joined([base, edit]), witnesses):
                edits.append(edit)
        if not edits:
            edits += (EditedStage(space, summed=s) for s in paired_sums(sheet, subsets[:9]))
        return [edit for edit in _by_cost(edits) if explained(joined([base, edit]), witnesses)]

    def pairs(self, witnesses: Sequence[Witness]) -> list[EditedStage]:
        """Two edits of whatever kind that together give every answer."""
        edits = self._changed_after(witnesses)
        if not edits:
            sheet = self.sheet(witnesses)
            sums = paired_sums(sheet, drops(self.space, pairs=False)[:9])
            edits = self._checked((EditedStage(self.space, summed=s) for s in sums), witnesses)
        if not edits:
            edits = self._two_exchanges(witnesses)
        return _by_cost(edits)

    def _two_exchanges(self, witnesses: Sequence[Witness]) -> list[EditedStage]:
        some = exchanges()[:PAIRED_EXCHANGES]
        edits = []
        for i, one in enumerate(some):
            for two in some[:i]:
                edit = EditedStage(self.space, (ScopedExchange(two), ScopedExchange(one)), SumEdit(self.space))
                if (self.space == "x" or self._vanishes(edit, witnesses[:1])) and explained(edit, witnesses):
                    edits.append(edit)
        return edits

    def _changed_after(self, witnesses: Sequence[Witness]) -> list[EditedStage]:
        """An exchange or a dropped summand, and then a change of the answer that needs no number."""
        inner = [EditedStage(self.space, (ScopedExchange(e),), SumEdit(self.space)) for e in exchanges()]
        inner += [EditedStage(self.space, summed=SumEdit(self.space, d)) for d in drops(self.space, pairs=False)[1:]]
        changes = [*FIXED, *(RULES if self.space == "y" else ())]
        first, edits = witnesses[0], []
        near = 1e-9 + 1e-6 * np.abs(first.got)
        for edit in inner:
            plain = edit.beside(first.point, first.probe.expected)
            if plain is None:
                continue
            for change in changes:
                if (np.abs(change.change(plain, first.point) - first.got) <= near).all():
                    whole = EditedStage(self.space, edit.exchanged, edit.summed, change)
                    edits += [whole] if explained(whole, witnesses) else []
        return edits


@dataclass(frozen=True)
class Further:
    """Questions of a search, for iterations that end too soon."""

    search: StageSearch
    points: dict[int, CallPoint | None] = field(default_factory=dict)

    def point(self, seed: int) -> CallPoint | None:
        """What a question gives, made once with all that is computed of it."""
        if seed not in self.points:
            self.points[seed] = point_of(self.search.question(seed, "all"))
        return self.points[seed]

    def answer(self, seed: int) -> Seen | None:
        """What the subject makes of it."""
        witnesses = self.search.gather([seed])
        return witnesses[0].seen if witnesses else None


def joined(edits: Iterable[EditedStage]) -> EditedStage:
    """All edits at once; a summand that several of them add is added once."""
    stages = list(edits)
    exchanged = tuple(dict.fromkeys(e for edit in stages for e in edit.exchanged))
    dropped = tuple(sorted({j for edit in stages for j in edit.summed.dropped}))
    added = tuple(dict.fromkeys(a for edit in stages for a in edit.summed.added))
    return EditedStage(stages[0].space, exchanged, SumEdit(stages[0].space, dropped, added))


def _by_cost(edits: Iterable[EditedStage]) -> list[EditedStage]:
    return sorted(edits, key=lambda edit: (edit.edits, edit.cost))
