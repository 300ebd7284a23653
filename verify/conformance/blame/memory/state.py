"""Whether answers depend on earlier calls, and how: a memory keyed on too little, a start left over, a count."""

from __future__ import annotations

from collections.abc import Container, Sequence
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.blame.lower_level.negative_multipliers import negative_multipliers
from verify.conformance.blame.memory.alone import Alone
from verify.conformance.blame.memory.remembered_values import taken_over, value_questions, walk_of
from verify.conformance.blame.memory.state_of_runs import Renew, explain_runs_in_a_row
from verify.conformance.blame.memory.state_questions import Question, far_questions, near_questions, questions
from verify.conformance.blame.memory.state_rules import AskedState, StateRule, after_the_same, rules_of, same
from verify.conformance.blame.memory.warm_rows import warm_rules
from verify.conformance.comparison.stage_comparison import PROBED, Probed
from verify.conformance.probes.answers import StageAnswer
from verify.method.lines import Stage
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls

WALK = (0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 1, 5, 2, 1, 3, 1, 6, 0, 6, 4, 2, 3, 3, 0, 7, 2, 7)
"""The order of the questions, by number."""
FRESH = (6, 5, 4, 3, 2, 1, 0, 0, 2, 4, 6, 1, 5, 3, 0, 1, 1, 3, 5, 2, 4, 7)
"""Another one, asked after an explanation was found; those that know transitions alone are held against the walk."""
NEAR_WALK = (0, 10, 9, 8, 7, 1, 6, 0, 5, 2, 4, 3, 11, 0, 2, 1, 3, 10, 8, 6, 4, 7, 5, 9)
"""Questions close to each other, by number."""
NEAR_FRESH = (3, 2, 4, 0, 11, 5, 10, 7, 6, 8, 9, 1, 0, 7, 3, 6, 10, 5, 4, 8, 2, 9)
"""Another order, in which others of them come first."""
Walks = tuple[Sequence[Question], Sequence[int], Sequence[int]]
"""Questions, an order of them, and another one asked after an explanation was found."""
RIVALS = 3


def explain_state(stages: StageCalls, renew: Renew | None = None, off: Container[Stage] = ()) -> tuple[Blame, ...]:
    """Name what of a subject survives from call to call, stage by stage.

    Args:
        stages: The subject, asked questions that differ in one thing at a time, in an order that repeats them.
        renew: Makes new copies of it. What a question gets as a copy's first one is then what it must get; without
            copies the right answers stand for that.
        off: Stages known to deviate: their answers are looked at more closely.

    Returns:
        One entry a stage whose answers depend on earlier calls, without explanations where they do so in no way known
        here; none for stages that answer at random or always alike.
    """
    blames = []
    for stage in PROBED:
        if not stages.offers(stage):
            continue
        try:
            blame = _of_stage(stage, stages, renew, (questions(stage), WALK, FRESH))
            if blame is None and near_questions(stage):
                blame = _of_stage(stage, stages, renew, (near_questions(stage), NEAR_WALK, NEAR_FRESH))
            if blame is None and (far := far_questions(stage)):
                blame = _of_stage(stage, stages, renew, (far, walk_of(len(far), 1), walk_of(len(far), 2)))
            if blame is None and renew is not None and stage in off:
                blame = explain_by_values(stage, renew)
        except (SubjectFaultError, MissingCapabilityError):
            continue
        blames += [blame] if blame is not None else []
    return (*blames, *explain_runs_in_a_row(stages, renew))


def follows(stage: Probed, rule: StateRule, renew: Renew) -> bool:
    """Whether a new copy of a subject, asked in another order, answers as a rule says and not as one without a past.

    Args:
        stage: The stage that the rule is about.
        rule: An explanation found by :func:`explain_state`.
        renew: Makes new copies of the subject.
    """
    known, order = questions(stage), [*WALK[::-1], *FRESH[::-1]]
    with renew() as copy:
        got = [_one(copy, known, k) for k in order]
    own, alone = [], Alone(renew)
    for one in known:
        answer = alone.ask(one.probe.ask)
        own.append((answer, np.zeros(1)))
    states = [_asked(known, k, answer, own, alone) for k, answer in zip(order, got, strict=True)]
    return rule.fits(states) and not all(one.stands_alone for one in states)


def _of_stage(stage: Probed, stages: StageCalls, renew: Renew | None, walks: Walks) -> Blame | None:
    known, walk, fresh = walks
    with renew() if renew is not None else nullcontext(stages) as copy:
        got = [_one(copy, known, k) for k in walk]
        own = _alone((known, walk), got, renew)
        if own is None:
            return None
        alone = Alone(renew)
        walked = [_asked(known, k, answer, own, alone) for k, answer in zip(walk, got, strict=True)]
        if all(one.stands_alone for one in walked):
            return None
        rules = [rule for rule in (*rules_of(walked), *warm_rules(stage, walked)) if rule.fits(walked)]
        if renew is not None and all(rule.predict is after_the_same for rule in rules):
            by_value = explain_by_values(stage, renew)
            if by_value is not None:
                return by_value
        if not rules:
            if not _repeats(walked, (known, walk), renew):
                return None
            again = [_asked(known, k, _one(copy, known, k), own, alone) for k in fresh]
            return Blame(stage, (), described=_shown(walked, again))
        later = [*fresh, *walk]
        whole = [*walked, *(_asked(known, k, _one(copy, known, k), own, alone) for k in later)]
    explanations = [rule for rule in rules if rule.fits(whole, len(walked))]
    # That the call before matters is said only where nothing more particular is.
    explanations = [rule for rule in explanations if rule.predict is not after_the_same] or explanations
    explanations = [rule for rule in explanations if rule.parts == min(other.parts for other in explanations)]
    off = [float(np.abs(one.got - one.question.probe.expected).max(initial=0.0)) for one in whole]
    effect = max(off) if stage == "hypergradient" else None
    if not explanations:
        return Blame(stage, (), effect=effect, described=_shown(walked, whole[len(walked) :]))
    named = [_with_replay(rule, whole) for rule in explanations[:RIVALS]]
    return Blame(stage, named, len(whole), len(later), 0.0, effect)


def _shown(seen: Sequence[AskedState], later: Sequence[AskedState]) -> str:
    """What answers show by themselves where no rule gives them: of lower levels, multipliers of a wrong sign."""
    pairs = ([StageAnswer(one.question.probe, one.got) for one in part if one.got.size] for part in (seen, later))
    return negative_multipliers(*pairs) if seen[0].question.probe.stage == "lower_level" else ""


def explain_by_values(stage: Stage, renew: Renew) -> Blame | None:
    """Which value of an earlier call is used, found on one walk and confirmed on another; ``None`` if none is.

    Args:
        stage: A stage; of ``samples`` calls with given normals are asked.
        renew: Makes new copies of the subject.
    """
    known, alone = value_questions(stage), Alone(renew)
    first, later = walk_of(len(known), 1), walk_of(len(known), 2)
    with renew() as copy:
        got = [_one(copy, known, k) for k in first]
        own = _alone((known, first), got, renew)
        if own is None:
            return None
        walked = [_asked(known, k, answer, own, alone) for k, answer in zip(first, got, strict=True)]
        rules = taken_over(stage, walked)
        if not rules:
            return None
        whole = [*walked, *(_asked(known, k, _one(copy, known, k), own, alone) for k in later)]
    explanations = [rule for rule in rules if rule.fits(whole, len(walked))]
    if not explanations:
        return None
    off = [float(np.abs(one.got - one.question.probe.expected).max(initial=0.0)) for one in whole]
    effect = max(off) if stage == "hypergradient" else None
    return Blame(
        stage, [_with_replay(rule, whole) for rule in explanations[:RIVALS]], len(whole), len(later), 0.0, effect
    )


def _one(stages: StageCalls, known: Sequence[Question], k: int) -> Vector:
    return known[k % len(known)].probe.ask(stages)


def _asked(
    known: Sequence[Question], k: int, got: Vector, own: Sequence[tuple[Vector, Vector]], alone: Alone
) -> AskedState:
    answer, allowed = own[k % len(known)]
    return AskedState(known[k % len(known)], got, answer, allowed, alone)


def _alone(
    walk: tuple[Sequence[Question], Sequence[int]], got: Sequence[Vector], renew: Renew | None
) -> list[tuple[Vector, Vector]] | None:
    """What each question gets as a copy's first one, and how far off that may be; ``None`` for what is random.

    Copies are made for every question only where two of them, asked in different orders, differ.
    """
    known, order = walk
    if renew is None:
        return [(one.probe.expected, one.probe.tolerance) for one in known]
    count, exact = len(known), np.zeros(1)
    ways = []
    # One that comes late in the first order comes early in the other.
    for permutation in (range(count)[::-1], [*range(min(count, 3))[::-1], *range(3, count)]):
        with renew() as other:
            ways.append({k: known[k].probe.ask(other) for k in permutation})
    if all(same(answer, way[k % count]) for way in ways for k, answer in zip(order, got, strict=True)):
        return [(ways[0][k], exact) for k in range(count)]
    own = []
    for one in known:
        twice = []
        for _ in range(2):
            with renew() as fresh:
                twice.append(one.probe.ask(fresh))
        if not same(*twice):
            return None
        own.append((twice[0], exact))
    return own


def _repeats(
    walked: Sequence[AskedState], sequence: tuple[Sequence[Question], Sequence[int]], renew: Renew | None
) -> bool:
    """Whether the same calls get the same answers again, so that it is the past and not chance that tells."""
    if renew is None:
        return False
    known, walk = sequence
    with renew() as again:
        return all(same(one.got, _one(again, known, k)) for one, k in zip(walked, walk, strict=True))


def _with_replay(rule: StateRule, whole: Sequence[AskedState]) -> StateRule:
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
    return replace(rule, sentence=f"{rule.sentence} ({shown})", replay=(*first, last.question.probe))


def _alone_shows(rule: StateRule, before: AskedState, last: AskedState) -> bool:
    """Whether, by the rule, one call before is enough for this answer."""
    prediction = rule.predict([before, last], 1)
    return (last.is_near(prediction) if rule.near else last.is_like(prediction)) and prediction is not last.got
