"""What line 6 or the penalty minimiser computes instead, confirmed on probes asked after it was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.accuracy.accuracy import EXACT, DeclaredAccuracy
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.blame.questions import HELD_OUT, Part, line_6_question, minimiser_question, noisy_question
from verify.conformance.blame.stage_effects import AsAnswered, effect_of
from verify.conformance.blame.sums.call_points import CallPoint
from verify.conformance.blame.sums.edited_stage import STAGE_OF, EditedStage
from verify.conformance.blame.sums.right_sums import Space, right_sum
from verify.conformance.blame.sums.stage_search import StageSearch, Witness, apart, explained, witness_of
from verify.conformance.places.places import place_of
from verify.conformance.probes.answers import StageAnswer
from verify.conformance.probes.probes import GRADIENT_NORM, PLACES, Probe, penalty_probe
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls
from verify.subjects.stated_accuracy import FACTOR

FIRST = range(10)
"""Seeds of the probes on which explanations are looked for."""
BY_PART = range(300, 308)
"""Seeds of those that leave one part of the formula."""
LATER = range(100, 100 + HELD_OUT)
"""Seeds of those that are held out."""
TELLING = range(200, 230)
"""Seeds of those among which rivals are told apart."""
NOISY = range(500, 504)
"""Seeds of those under noise, for subjects that take their normals from the call."""
MOST_CALLS = 150
"""Further calls of one stage, while explanations are looked for."""
CONFIRMING = 60
"""Further calls that hold explanations of one level against new answers, and tell them apart."""
SMALL = 1 / 16
"""The alpha at which a solve that ends too soon elsewhere has ended: its steps leave less and less of the way."""
ILL_CONDITIONED = 1 / 64
"""The alpha of questions to a minimiser that answers all others rightly."""
SOON = 0.02
"""Part of the gradient at its start that a solve leaves at most which is on its way."""
MOST_SOON = 0.75
"""Share of the answers that are off of which that is so."""
ENOUGH = 3
"""Answers without which nothing is looked for."""


@dataclass
class Asker:
    """Puts probes to a subject, up to a number; faults and refusals are no answers."""

    stages: StageCalls
    left: int = MOST_CALLS

    def __call__(self, probe: Probe) -> Vector | None:
        """The answer, ``None`` without one."""
        if self.left <= 0:
            return None
        self.left -= 1
        try:
            return probe.ask(self.stages)
        except (SubjectFaultError, MissingCapabilityError):
            return None


@np.errstate(all="ignore")
def explain_sum(
    space: Space,
    stages: StageCalls,
    answers: Sequence[StageAnswer],
    accuracy: DeclaredAccuracy = EXACT,
    *,
    off: bool = False,
) -> Blame:
    """Line 6 with every stage given, or the penalty minimiser, from answers that deviate.

    ``off`` says that the minimiser does, though no answer shows it: calls that it is made in are.
    """
    # A sum is as exact as doubles allow; only what is solved has an accuracy.
    left = 0.0 if space == "x" else FACTOR * accuracy.value
    stage = STAGE_OF[space]
    question: Callable[[int, Part], Probe] = line_6_question if space == "x" else minimiser_question
    search = StageSearch(space, Asker(stages), question, left, is_noisy=space == "x" and stages.use_draws)
    base = search.gather(FIRST)
    if space == "y" and all_right(base) and (off or any(not answer.excess <= 1 for answer in answers)):
        # What is skipped without weights, or is cut off or ends too soon where the Hessian is ill-conditioned, shows.
        for search.question in (_weightless, _ill_conditioned):
            base = search.gather(FIRST)
            if not all_right(base):
                break
    before = [w for w in (witness_of(a.probe, a.got, left) for a in answers) if w is not None]
    noisy = [w for w in before if w.probe.call.draws is not None]
    before = [w for w in before if not w.probe.needs_draws]
    if search.is_noisy:
        noisy += search.put(noisy_question(seed) for seed in NOISY)
    blame = Blame(stage)
    # Right wherever it is asked to many digits: only where it stops by itself it is off, and no term says why.
    ends_soon = unfinished([*base, *before]) if space == "y" else ""
    elsewhere = space == "y" and all_right(base) and sum(not _is_right(w) for w in before) >= ENOUGH
    if elsewhere:
        # What is off shows on the judged problems alone.
        base, before = before, []
    if len(base) < ENOUGH or says_nothing(base) or (space == "y" and all_right(base)):
        return replace(blame, effect=effect_of(stage, AsAnswered(stages)), described=ends_soon)
    told = _confirmed(search, base, (before, noisy), elsewhere=elsewhere)
    if told is None and ends_soon and not elsewhere:
        # Steps with the right Hessian towards the zero of a wrong gradient end before it, but not where alpha is small.
        search = replace(search, ask=Asker(stages), question=_at_small_alpha)
        near = search.gather(FIRST)
        is_off = len(near) >= ENOUGH and not all_right(near)
        told = _confirmed(search, near, (before, noisy), base, elsewhere=False) if is_off else None
    if told is None:
        return replace(blame, effect=effect_of(stage, AsAnswered(stages)), described=ends_soon)
    return replace(told, effect=effect_of(stage, told.explanations[0]))


def _confirmed(
    search: StageSearch,
    base: Sequence[Witness],
    beside: tuple[Sequence[Witness], Sequence[Witness]],
    others: Sequence[Witness] = (),
    *,
    elsewhere: bool,
) -> Blame | None:
    """Explanations of answers that hold on questions asked since then, and on those seen before without noise.

    They need not hold on others: those that are not as the first one says are told beside it.
    """
    held: list[Witness] = []
    before, noisy = beside
    for candidates in search_levels(search, base):
        if not candidates:
            continue
        # Iterations that end too soon may have used up what was to be asked while they were looked for.
        search = replace(search, ask=Asker(search.ask.stages, CONFIRMING)) if isinstance(search.ask, Asker) else search
        held = held or (search.put(_judged_later()) if elsewhere else search.gather(LATER))
        if elsewhere and all_right(held):
            break
        explanations = [edit for edit in candidates if explained(edit, held) and explained(edit, before)]
        # Noise tells explanations apart, but may be wrong itself.
        explanations = [edit for edit in explanations if explained(edit, noisy)] or explanations
        explanations = told_apart(search, explanations)
        if explanations and held:
            first, agreeing = explanations[0], [*base, *held, *before]
            return Blame(
                STAGE_OF[search.space], tuple(explanations), len(agreeing), len(held),
                max(apart(first, w) for w in agreeing),
                left=[StageAnswer(w.probe, w.got) for w in others if apart(first, w) > 1],
            )  # fmt: skip
    return None


def _weightless(seed: int, part: Part) -> Probe:
    """A question to the minimiser, every second one without a weight on any row."""
    return minimiser_question(seed, "f" if part == "all" and seed % 2 else part)


def _at_small_alpha(seed: int, part: Part) -> Probe:
    return minimiser_question(seed, part, SMALL)


def _ill_conditioned(seed: int, part: Part) -> Probe:
    return minimiser_question(seed, part, ILL_CONDITIONED)


def _judged_later() -> Iterator[Probe]:
    """Questions at the judged problems, at points and weights of their own."""
    for name in PLACES:
        yield penalty_probe(place_of(name).moved(0.0625), 0.07, tol=GRADIENT_NORM, name="later", off_pair=True)


def unfinished(witnesses: Sequence[Witness]) -> str:
    """That penalty solves which are off, but for a few, leave a small part of the gradient that they start from."""
    off = [w for w in witnesses if not _is_right(w)]
    sizes = [[_slope(w.answered), _slope(w.point.at(w.point.y_star)), w.point.tol] for w in off]
    soon = [(now, start, tol) for now, start, tol in sizes if now <= SOON * start]
    if not soon or len(soon) < MOST_SOON * len(off):
        return _stops_relatively(witnesses)
    now, start, tol = max(soon, key=lambda one: one[0] / one[1])
    asked_for = f", where at most {tol:.1g} may be left" if tol else ""
    return (
        f"no term says why. {len(soon)} of the {len(off)} answers that are off leave at most {now / start:.1g} of "
        f"the gradient at ỹ*, such as {now:.2g} of {start:.2g}{asked_for}: as a solve leaves it that ends too soon"
    )


def _stops_relatively(witnesses: Sequence[Witness]) -> str:
    """That solves leave the part of their right side that they may leave of the gradient itself."""
    left = [(_slope(w.answered), w.point.tol, _slope(w.point.at(0 * w.point.y_star))) for w in witnesses if w.point.tol]
    over = [(now, tol, side) for now, tol, side in left if now > tol]
    if len(over) < ENOUGH or any(now > tol * max(side, 1.0) for now, tol, side in left):
        return ""
    now, tol, side = max(over, key=lambda one: one[0] / one[1])
    return (
        f"no term says why. All {len(left)} answers leave at most tol·‖∇_yL(x,0)‖ of the gradient, {len(over)} of them "
        f"more than tol, such as {now:.2g} where tol is {tol:.1g} and ‖∇_yL(x,0)‖ {side:.2g}: as a solve leaves it "
        "whose stop is relative to its right side"
    )


def _slope(point: CallPoint) -> float:
    return float(np.linalg.norm(right_sum("y", point)))


def all_right(witnesses: Sequence[Witness]) -> bool:
    """Whether no answer is off: every edit that changes nothing there would explain them."""
    return all(map(_is_right, witnesses))


def _is_right(witness: Witness) -> bool:
    return bool((np.abs(witness.got - witness.probe.expected) <= witness.limits).all())


def search_levels(search: StageSearch, base: Sequence[Witness]) -> Iterator[list[EditedStage]]:
    """Explanations that give every answer: of one edit, of some in each group of the formula, of two."""
    yield search.single(base)
    yield search.by_groups(base, BY_PART)
    yield search.pairs(base)


def says_nothing(witnesses: Sequence[Witness]) -> bool:
    """Whether answers do not depend on what is asked: zero, or a constant."""
    entries = np.concatenate([w.got for w in witnesses])
    return bool(np.ptp(entries) <= 1e-12 * np.abs(entries).max(initial=0.0))


def told_apart(search: StageSearch, edits: Sequence[EditedStage]) -> list[EditedStage]:
    """Those that further probes leave, asked where they differ; of those that nowhere differ the likeliest."""
    rivals: list[EditedStage] = []
    for edit in edits:
        same = next((i for i, other in enumerate(rivals) if _differing(search, edit, other) is None), None)
        if same is None:
            rivals.append(edit)
        else:
            rivals[same] = both_ways(rivals[same], edit)
    while len(rivals) > 1:
        seed = _differing(search, rivals[0], rivals[1])
        witnesses = [] if seed is None else search.gather([seed])
        if search.is_noisy and seed is not None and seed % 10 == 0:
            witnesses = search.put([noisy_question(seed)])
        if not witnesses:
            break
        left = [edit for edit in rivals if explained(edit, witnesses)]
        if len(left) == len(rivals):
            break
        rivals = left
    return rivals


def both_ways(one: EditedStage, two: EditedStage) -> EditedStage:
    """Of two ways to say the same the likelier; a formula is said beside words, and first."""
    formula = next((edit for edit in (one, two) if edit.summed.edits and not edit.exchanged and not edit.changed), None)
    words = next((edit for edit in (one, two) if edit.exchanged and not edit.summed.edits and not edit.changed), None)
    step = next((edit for edit in (one, two) if edit.changed and not edit.summed.edits and not edit.exchanged), None)
    if formula is not None and step is not None and formula.edits == step.edits == 1 and not formula.also:
        return replace(formula, also=step.sentence)
    short = formula is not None and len(formula.summed.units) <= 1 and len(formula.summed.added) <= 1
    if formula is None or words is None or formula.also or words.also or not short or one.edits != two.edits:
        return one
    return replace(formula, also=words.words)


def _differing(search: StageSearch, one: EditedStage, two: EditedStage) -> int | None:
    """The seed of a probe that tells two edits apart."""
    for seed in TELLING:
        probe = noisy_question(seed) if search.is_noisy and seed % 10 == 0 else search.question(seed, "all")
        a = witness_of(probe, probe.expected)
        if a is None:
            continue
        predicted = one.beside(a.point, probe.expected)
        if predicted is None:
            continue
        if apart(two, replace(a, got=predicted)) > 2:
            return seed
    return None
