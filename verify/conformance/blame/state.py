"""Whether answers depend on earlier calls, and how: a memory keyed on too little, a start left over, a count."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.explanation import Blame
from verify.conformance.blame.state_of_runs import Renew, explain_runs_in_a_row
from verify.conformance.blame.state_questions import Question, questions
from verify.conformance.probes import Probe
from verify.conformance.stage_comparison import PROBED, Probed
from verify.subjects import MissingCapabilityError, ReferenceSubject, SubjectFaultError
from verify.subjects.protocol import Stages

WALK = (0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 1, 5, 2, 1, 3, 1, 6, 0, 6, 4, 2, 3, 3, 0)
"""The order of the questions, by number."""
FRESH = (6, 5, 4, 3, 2, 1, 0, 0, 2, 4, 6, 1, 5, 3, 0, 1, 1, 3, 5, 2)
"""Another one, asked after an explanation was found; those that know transitions alone are held against the walk."""
EXACT = 1e-9
"""Relative difference below which two answers are one."""
RIVALS = 3
WORDS = {
    "problem": "the problem", "x": "x", "alpha": "α", "stages": "the given stages", "sizes": "the sizes n, m, p",
    "h": "h", "lam": "λ̃", "widths": "the widths",
}  # fmt: skip
"""What questions differ in."""


class Alone:
    """What a subject without a past answers: a new copy of it, or the reference where there are none."""

    def __init__(self, renew: Renew | None) -> None:
        self._renew = renew
        self._made: dict[tuple[int, int], Vector | None] = {}

    def ask(self, make: Callable[[Stages], Vector | None]) -> Vector | None:
        """Ask a copy that nothing was asked before."""
        with self._renew() if self._renew is not None else nullcontext(Stages(ReferenceSubject())) as fresh:
            return make(fresh)

    def with_pair_of(self, question: Question, other: Question) -> Vector | None:
        """The estimate a question gets on the lower-level pair of another; ``None`` where that does not fit."""
        key = (id(question), id(other))
        if key not in self._made:
            self._made[key] = self.ask(partial(_on_pair, question=question, other=other))
        return self._made[key]


def _on_pair(stages: Stages, question: Question, other: Question) -> Vector | None:
    there = other.probe
    if there.problem is None:
        return None
    solver = stages if stages.offers("lower_level") else Stages(ReferenceSubject())
    probe = question.with_pair_of(other, solver.lower_level(there.problem, there.x))
    return None if probe is None else probe.ask(stages)


@dataclass(frozen=True)
class Asked:
    """One question in a sequence: what came back, and what a subject without a past answers, to within ``allowed``."""

    question: Question
    got: Vector
    own: Vector
    allowed: Vector
    alone: Alone

    def is_like(self, answer: Vector | None) -> bool:
        """Whether this came back."""
        if answer is None or answer.shape != self.got.shape:
            return False
        return bool((np.abs(self.got - answer) <= self.allowed + EXACT * (np.abs(self.got) + np.abs(answer))).all())

    @property
    def stands_alone(self) -> bool:
        """Whether the past made no difference."""
        return self.is_like(self.own)


Predict = Callable[[Sequence[Asked], int], Vector | None]
"""The answer at a place of a sequence, from what came before."""


@dataclass(frozen=True)
class StateRule:
    """How answers seem to depend on earlier calls; ``replay`` is the shortest sequence that shows it."""

    sentence: str
    predict: Predict
    edits: int = 1
    replay: tuple[Probe, ...] = ()
    parts: int = 0
    """Things that a memory tells questions apart by."""

    def answer(self, probe: Probe) -> Vector | None:
        """What comes back where nothing was asked before: the right answer."""
        return probe.expected

    def misses(self, sequence: Sequence[Asked], start: int = 0) -> int:
        """Answers of a sequence, from a place on, that it does not predict."""
        return sum(not sequence[i].is_like(self.predict(sequence, i)) for i in range(start, len(sequence)))


def explain_state(stages: Stages, renew: Renew | None = None) -> tuple[Blame, ...]:
    """Name what of a subject survives from call to call, stage by stage.

    Args:
        stages: The subject, asked questions that differ in one thing at a time, in an order that repeats them.
        renew: Makes new copies of it. What a question gets as a copy's first one is then what it must get; without
            copies the right answers stand for that.

    Returns:
        One entry a stage whose answers depend on earlier calls, without explanations where they do so in no way known
        here; none for stages that answer at random or always alike.
    """
    found = []
    for stage in PROBED:
        if not stages.offers(stage):
            continue
        try:
            blame = _of_stage(stage, stages, renew)
        except (SubjectFaultError, MissingCapabilityError):
            continue
        found += [blame] if blame is not None else []
    return (*found, *explain_runs_in_a_row(stages, renew))


def _of_stage(stage: Probed, stages: Stages, renew: Renew | None) -> Blame | None:
    known = questions(stage)
    with renew() if renew is not None else nullcontext(stages) as copy:
        got = [_one(copy, known, k) for k in WALK]
        own = _alone(known, got, renew)
        if own is None:
            return None
        alone = Alone(renew)
        walked = [_asked(known, k, answer, own, alone) for k, answer in zip(WALK, got, strict=True)]
        if all(one.stands_alone for one in walked):
            return None
        rules = [rule for rule in _rules(walked) if not rule.misses(walked)]
        if not rules:
            return Blame(stage, ()) if _repeats(walked, known, renew) else None
        later = [*FRESH, *WALK]
        whole = [*walked, *(_asked(known, k, _one(copy, known, k), own, alone) for k in later)]
    kept = [rule for rule in rules if not rule.misses(whole, len(walked))]
    # That the call before matters is said only where nothing more particular is.
    kept = [rule for rule in kept if rule.predict is not _after] or kept
    kept = [rule for rule in kept if rule.parts == min(other.parts for other in kept)]
    off = [float(np.abs(one.got - one.question.probe.expected).max(initial=0.0)) for one in whole]
    effect = max(off) if stage == "hypergradient" else None
    if not kept:
        return Blame(stage, (), effect=effect)
    named = [_with_replay(rule, whole) for rule in kept[:RIVALS]]
    return Blame(stage, named, len(whole), len(later), 0.0, effect)


def _one(stages: Stages, known: Sequence[Question], k: int) -> Vector:
    return known[k % len(known)].probe.ask(stages)


def _asked(known: Sequence[Question], k: int, got: Vector, own: Sequence[tuple[Vector, Vector]], alone: Alone) -> Asked:
    answer, allowed = own[k % len(known)]
    return Asked(known[k % len(known)], got, answer, allowed, alone)


def _alone(known: Sequence[Question], got: Sequence[Vector], renew: Renew | None) -> list[tuple[Vector, Vector]] | None:
    """What each question gets as a copy's first one, and how far off that may be; ``None`` for what is random.

    Copies are made for every question only where two of them, asked in different orders, differ.
    """
    if renew is None:
        return [(one.probe.expected, one.probe.tolerance) for one in known]
    count, exact = len(known), np.zeros(1)
    orders = (range(count)[::-1], [1, 0, *range(2, count)])
    ways = []
    for order in orders:
        with renew() as other:
            ways.append({k: known[k].probe.ask(other) for k in order})
    if all(_same(answer, way[k % count]) for way in ways for k, answer in zip(WALK, got, strict=True)):
        return [(ways[0][k], exact) for k in range(count)]
    own = []
    for one in known:
        twice = []
        for _ in range(2):
            with renew() as fresh:
                twice.append(one.probe.ask(fresh))
        if not _same(*twice):
            return None
        own.append((twice[0], exact))
    return own


def _same(first: Vector, second: Vector) -> bool:
    return bool((np.abs(first - second) <= EXACT * (np.abs(first) + np.abs(second))).all())


def _repeats(walked: Sequence[Asked], known: Sequence[Question], renew: Renew | None) -> bool:
    """Whether the same calls get the same answers again, so that it is the past and not chance that tells."""
    if renew is None:
        return False
    with renew() as again:
        return all(_same(one.got, _one(again, known, k)) for one, k in zip(walked, WALK, strict=True))


def _key(question: Question, by: Sequence[str]) -> tuple[object, ...]:
    return tuple(question.attributes.get(name) for name in by)


def _first_alike(sequence: Sequence[Asked], i: int, by: Sequence[str]) -> int:
    wanted = _key(sequence[i].question, by)
    return next(j for j in range(i + 1) if _key(sequence[j].question, by) == wanted)


def _from_memory(sequence: Sequence[Asked], i: int, by: Sequence[str]) -> Vector | None:
    return sequence[_first_alike(sequence, i, by)].own


def _with_pair_from_memory(sequence: Sequence[Asked], i: int, by: Sequence[str]) -> Vector | None:
    j = _first_alike(sequence, i, by)
    return sequence[i].own if j == i else _on_pair_of(sequence[i], sequence[j])


def _on_pair_of(one: Asked, other: Asked | None) -> Vector | None:
    made = None if other is None else one.alone.with_pair_of(one.question, other.question)
    return one.own if made is None else made


def _before(sequence: Sequence[Asked], i: int) -> Asked | None:
    """The call before, of the same sizes."""
    wanted = _key(sequence[i].question, ("sizes",))
    return next((one for one in reversed(sequence[:i]) if _key(one.question, ("sizes",)) == wanted), None)


def _previous(sequence: Sequence[Asked], i: int) -> Vector | None:
    before = _before(sequence, i)
    return sequence[i].own if before is None else before.own


def _previous_pair(sequence: Sequence[Asked], i: int) -> Vector | None:
    return _on_pair_of(sequence[i], _before(sequence, i))


def _pulled(sequence: Sequence[Asked], i: int, share: float, answered: bool) -> Vector | None:
    before = _before(sequence, i)
    own = sequence[i].own
    if before is None:
        return own
    return own + share * ((before.got if answered else before.own) - own)


def _counted(sequence: Sequence[Asked], i: int, step: float, grows: bool) -> Vector | None:
    return sequence[i].own * (1 + step * i) if grows else sequence[i].own + step * i


def _after(sequence: Sequence[Asked], i: int) -> Vector | None:
    """What came back the first time that this question followed the same one."""
    for j in range(1, i):
        if sequence[j].question is sequence[i].question and sequence[j - 1].question is sequence[i - 1].question:
            return sequence[j].got
    return sequence[i].got


def _rules(walked: Sequence[Asked]) -> Iterator[StateRule]:
    """Everything that is known to survive; whether it fits is for the caller to see."""
    names = tuple(walked[0].question.attributes)
    seen: set[tuple[int, ...]] = set()
    for count in range(len(names)):
        for by in combinations(names, count):
            # Keys that mix up the same questions are one, by the name with the fewest parts.
            groups = tuple(_first_alike(walked, i, by) for i in range(len(walked)))
            if groups in seen:
                continue
            seen.add(groups)
            words = f"a memory keyed on {_listed(by)} alone" if by else "the first call, whatever is asked"
            yield StateRule(f"answers come from {words}", partial(_from_memory, by=by), parts=count)
            yield StateRule(f"the lower-level pair ỹ*, λ̃ comes from {words}", partial(_with_pair_from_memory, by=by),
                            parts=count)  # fmt: skip
    yield StateRule("the answer is that of the call before", _previous)
    yield StateRule("the lower-level pair ỹ*, λ̃ is that of the call before", _previous_pair)
    for answered in (False, True):
        share = _share(walked, answered)
        if share is not None:
            yield StateRule(
                f"the answer keeps {share:.3g} of its distance from the one before: the solver starts there and stops "
                "early", partial(_pulled, share=share, answered=answered),
            )  # fmt: skip
    for grows in (False, True):
        step = _growth(walked, grows)
        if step is not None:
            what = "times itself" if grows else "in every entry"
            yield StateRule(f"the answer grows by {step:.3g} {what} with every call", partial(
                _counted, step=step, grows=grows))  # fmt: skip
    if _differs_by_predecessor(walked):
        yield StateRule("the answer depends on the call before it", _after)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(WORDS[name] for name in names)


def _share(walked: Sequence[Asked], answered: bool) -> float | None:
    """The share of the way back to the answer before, the same in all calls."""
    ways, offs = [], []
    for i, one in enumerate(walked):
        before = _before(walked, i)
        if before is not None:
            ways.append((before.got if answered else before.own) - one.own)
            offs.append(one.got - one.own)
    way, off = np.concatenate(ways or [np.zeros(1)]), np.concatenate(offs or [np.zeros(1)])
    share = float(way @ off / max(float(way @ way), 1e-300))
    return share if EXACT < abs(share) < 1 - EXACT else None


def _growth(walked: Sequence[Asked], grows: bool) -> float | None:
    """What is added with every call, the same in all of them."""
    made = np.concatenate([i * (one.own if grows else np.ones_like(one.own)) for i, one in enumerate(walked)])
    off = np.concatenate([one.got - one.own for one in walked])
    step = float(made @ off / max(float(made @ made), 1e-300))
    return step if math.isfinite(step) and abs(step) > 1e-15 else None


def _differs_by_predecessor(walked: Sequence[Asked]) -> bool:
    """Whether a question got different answers, and the same one after the same call."""
    different = any(
        one.question is other.question and not _same(one.got, other.got) for one in walked for other in walked
    )
    return different and any(one.stands_alone for one in walked)


def _with_replay(rule: StateRule, whole: Sequence[Asked]) -> StateRule:
    """The rule with the shortest sequence that shows it, and that in words."""
    wrong = [i for i in range(1, len(whole)) if not whole[i].stands_alone]
    last = whole[wrong[0]]
    # The shortest: the call right before where that is enough to predict it, else all of them.
    before = [one.question.probe for one in whole[: wrong[0]]]
    pair = [j for j in range(wrong[0]) if _alone_shows(rule, whole[j], last)]
    first = [whole[pair[-1]].question.probe] if pair else before
    at = int(np.argmax(np.abs(last.got - last.own)))
    words = f"after {first[-1].id}" if len(first) == 1 else f"after {len(first)} calls"
    shown = f"{words}, {last.question.probe.id} gets {last.got[at]:.9g}, must be {last.own[at]:.9g}"
    return StateRule(f"{rule.sentence} ({shown})", rule.predict, rule.edits, (*first, last.question.probe))


def _alone_shows(rule: StateRule, before: Asked, last: Asked) -> bool:
    """Whether, by the rule, one call before is enough for this answer."""
    made = rule.predict([before, last], 1)
    return last.is_like(made) and made is not last.got
