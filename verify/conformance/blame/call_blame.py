"""Oracle calls that compute stages themselves: what is wrong inside, innermost line first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

import numpy as np

from verify.conformance.blame.explanations.explanation import Blame, Explanation
from verify.conformance.blame.inner_stages import (
    MULTIPLES,
    WORDS,
    ScaledMultipliers,
    WholeCall,
    calls_with_y,
)
from verify.conformance.blame.questions import chain_question, minimiser_question, width_questions
from verify.conformance.blame.stage_effects import AsAnswered, effect_of
from verify.conformance.blame.sums.edited_stage import EditedStage, ScopedExchange
from verify.conformance.blame.sums.exchanges import exchanges
from verify.conformance.blame.sums.handed_rows import HandedRows, handed_rows, measured_widths
from verify.conformance.blame.sums.minimiser_rules import RULES
from verify.conformance.blame.sums.own_weights import (
    OWN_WEIGHTS,
    MovingWeights,
    OverwrittenRows,
    OwnWeights,
    PairAnew,
    TwiceMadeWeights,
    overwritten_rows,
    twice_made,
)
from verify.conformance.blame.sums.scratch_calls import scratch_edits
from verify.conformance.blame.sums.single_edits import candidates
from verify.conformance.blame.sums.sparse_sums import SumEdit, drops
from verify.conformance.blame.sums.stage_search import StageSearch
from verify.conformance.blame.sums.sum_blame import Asker, all_right, search_levels, told_apart
from verify.conformance.blame.whole_calls import play
from verify.conformance.comparison.stage_comparison import PROBED, Probed, Seen
from verify.conformance.probes.answers import StageAnswer
from verify.conformance.probes.probes import FROM_PAIR, FROM_RHO, FROM_SCRATCH, WHOLE, Given
from verify.method.lines import Stage
from verify.subjects.protocol import StageCalls

INSIDE_STAGE: dict[Given, Probed] = {
    FROM_RHO: "penalty_minimiser", FROM_PAIR: "activation", FROM_SCRATCH: "lower_level",
}  # fmt: skip
"""The first stage that a call computes itself."""
HELD_CALLS = 12
"""Calls that are asked only after an explanation was found."""
CALL_ALPHAS = (0.25, 0.75, 0.125, 1.0, 0.5)
"""Values of alpha at which they are asked."""
EXACTLY = 1e-6
"""Relative difference of answers within which two programs that solve exactly agree."""
WIDTH_SEEDS = (412, 413)
"""Of the problems on which widths are told apart where solves are not exact."""
TELLING_CALLS = 10
"""Calls among which rivals are told apart."""
LEAST_SIZE = 1e-6
"""Size below which estimates count as zero where they are compared."""
MOST_SILENT = 0.1
"""Share of the answers of a kind for which an explanation may have none: weights too large to be solved with."""
MEASURING = 14
"""Calls that widths are measured on."""
NEAREST = 2
"""Explanations that an unsharp solver leaves standing beside each other; more are none."""


@np.errstate(all="ignore")
def explain_calls(stages: StageCalls, seen: Seen, known: Mapping[Stage, Explanation]) -> Blame | None:
    """What is wrong inside the oracle call beside the explained stages that the subject offers.

    ``known`` are explanations of its own stages, line 6 among them, or those stages themselves where nothing explains
    them. ``None`` where they explain every call, or where line 6 deviates without an explanation.
    """
    answers = [a for a in seen.of("hypergradient") if not (a.probe.needs_draws or a.probe.published)]
    wrong: dict[str, Explanation] = {name: known[name] for name in ("hypergradient",) if name in known}
    if not wrong and any(not a.excess <= 1 for a in answers if a.probe.given == WHOLE):
        return None
    asker, new = Asker(stages), list[str]()
    agreeing, held_out, explained = 0, 0, set[Given]()
    for given, stage in INSIDE_STAGE.items():
        here = [a for a in answers if a.probe.given == given]
        if fits(wrong, here):
            continue
        held = asked_later(asker, given)
        # As it answers: an explained solve that stops early is told no better than it is solved.
        is_right = stage == "lower_level" and stage not in known and stages.offers(stage)
        if is_right and sum(misfit(wrong, a) > 1 for a in here) <= MOST_SILENT * len(here):
            continue  # a last digit may switch what an explained stage does
        own = [known[stage], AsAnswered(stages)] if stage in known else [AsAnswered(stages)] if is_right else []
        fitting = (e for e in own if fits({**wrong, stage: e}, (*here, *held)))
        if (as_offered := next(fitting, None)) is not None:
            wrong[stage] = as_offered
            continue
        tried = _inner_candidates(stage, (stages, asker), wrong, is_right=is_right)
        if stage == "activation":
            tried = chain(
                tried,
                overwritten_rows(),
                [PairAnew()],
                twice_made(),
                measured_widths(partial(_off, wrong, _telling(here, held))),
            )
        explanation = _confirmed(tried, (wrong, stage), here, held)
        if explanation is not None and not _stands_alone(explanation, (wrong, stage, given), asker, here):
            explanation = None
        if explanation is None and new:
            # What is explained is told; what the rest is not, is told beside it.
            answers = [a for a in answers if a.probe.given in explained]
            break
        if explanation is None:
            return _from_scratch(answers, asker)
        explained.add(given)
        wrong[_place_of(explanation, stage)] = explanation
        new.append(_place_of(explanation, stage))
        agreeing, held_out = agreeing + len(here) + len(held), held_out + len(held)
    if not new:
        return None
    # A stage that is right by itself is not what is wrong with the call that uses it.
    whole = WholeCall({name: wrong[name] for name in WORDS if name in wrong and (name in new or name in known)})
    blamed: Stage = next((stage for stage in PROBED if stage == new[0] and not stages.offers(stage)), "hypergradient")
    effect = max(effect_of(name, whole.stages[name]) or 0.0 for name in new)
    apart = max(_misfits(wrong, (a for a in answers if a.probe.given != WHOLE)), default=0.0)
    return Blame(blamed, (whole,), agreeing, held_out, apart, effect)


def _from_scratch(answers: Sequence[StageAnswer], asker: Asker) -> Blame:
    """What is wrong where a subject takes no stage, so that no call shows less than all of them."""
    pair = None
    if all(answer.probe.given == FROM_SCRATCH for answer in answers):
        pair = scratch_edits(answers, asker)
    if pair is None:
        return Blame("hypergradient")
    edits, held = pair
    effect = max(effect_of(name, edit) or 0.0 for name, edit in edits.items())
    apart = max(_misfits(edits, answers), default=0.0)
    return Blame("hypergradient", (WholeCall(edits),), len(answers) + len(held), len(held), apart, effect)


def _telling(here: Sequence[StageAnswer], held: Sequence[StageAnswer]) -> list[StageAnswer]:
    """Answers that widths are measured on: those that are off most."""
    return sorted((*here, *held), key=lambda a: -a.excess)[:MEASURING]


def _off(wrong: Mapping[str, Explanation], answers: Sequence[StageAnswer], rows: HandedRows) -> float:
    """How far calls that hand over such rows are from answers, none counting more than any other."""
    choice = {**wrong, "rows": rows}
    return sum(min(_relative(choice, answer), 1.0) for answer in answers)


_BETWEEN: dict[type, str] = {
    MovingWeights: "moving", TwiceMadeWeights: "reweighed", OverwrittenRows: "overwritten", PairAnew: "pair",
    HandedRows: "rows",
}  # fmt: skip
"""Where explanations stand in a chain that are of no stage."""


def _place_of(explanation: Explanation, stage: Probed) -> str:
    """Where an explanation stands in a chain: in a stage, or between two."""
    return _BETWEEN.get(type(explanation), stage)


def asked_later(asker: Asker, given: Given) -> list[StageAnswer]:
    """Held-out calls of a kind."""
    answers = []
    probes = [chain_question(400 + k, given, CALL_ALPHAS[k % len(CALL_ALPHAS)]) for k in range(HELD_CALLS)]
    if given == FROM_PAIR:
        probes += [probe for seed in WIDTH_SEEDS for probe in width_questions(seed)]
    for probe in probes:
        got = asker(probe)
        answers += [] if got is None else [StageAnswer(probe, got)]
    return answers


def fits(wrong: Mapping[str, Explanation], answers: Sequence[StageAnswer]) -> bool:
    """Whether a call with explained stages gives all answers, but for a few where rounding leaves it without one."""
    left = MOST_SILENT * len(answers)
    for answer in answers:
        if misfit(wrong, answer) <= 1:
            continue
        left -= 1
        if left < 0 or play(answer.probe, wrong) is not None:
            return False
    return True


def _misfits(wrong: Mapping[str, Explanation], answers: Iterable[StageAnswer]) -> Iterator[float]:
    """How far a call is from each answer, those apart where it has none."""
    return (misfit(wrong, answer) for answer in answers if play(answer.probe, wrong) is not None)


def misfit(wrong: Mapping[str, Explanation], answer: StageAnswer) -> float:
    """How far a call with explained stages is from an answer, in tolerances."""
    predicted = play(answer.probe, wrong)
    if predicted is None or not np.isfinite(predicted).all():
        return np.inf
    allowed = answer.probe.tolerance + EXACTLY * np.abs(predicted)
    return float(np.max(np.abs(predicted - answer.got) / allowed, initial=0.0))


def _relative(wrong: Mapping[str, Explanation], answer: StageAnswer) -> float:
    predicted = play(answer.probe, wrong)
    if predicted is None or not np.isfinite(predicted).all():
        return np.inf
    size = float(np.abs(answer.got).max(initial=0.0) + np.abs(answer.probe.expected).max(initial=0.0))
    return float(np.abs(predicted - answer.got).max(initial=0.0)) / (size + LEAST_SIZE)


def _inner_candidates(
    stage: Probed, subject: tuple[StageCalls, Asker], wrong: Mapping[str, Explanation], *, is_right: bool
) -> Iterator[Explanation]:
    """``is_right``: whether the stage is offered, and right wherever it was asked by itself."""
    stages, asker = subject
    if stage == "penalty_minimiser":
        line_6 = wrong.get("hypergradient")
        if line_6 is None or (isinstance(line_6, EditedStage) and line_6.changed is None):
            yield from _by_the_y(asker, line_6 if isinstance(line_6, EditedStage) else None)
        yield from single_minimiser_edits()
    elif stage == "activation":
        own = [OwnWeights(words) for words in OWN_WEIGHTS]
        yield MovingWeights()
        if stages.offers("activation"):
            yield from handed_rows()
            yield from own
            yield from candidates("activation")
        else:
            yield from candidates("activation")
            yield from handed_rows()
            yield from own
    else:
        yield from (ScaledMultipliers(factor) for factor in MULTIPLES)
        yield from () if is_right else candidates("lower_level")


def _by_the_y(asker: Asker, line_6: EditedStage | None) -> Iterator[Explanation]:
    """Explanations of the y that line 6 was evaluated at, where one can be told."""
    search = StageSearch("y", calls_with_y(asker, line_6), minimiser_question)
    base = search.gather(range(10))
    if len(base) < 4 or all_right(base):
        return
    for level in search_levels(search, base):
        edits = told_apart(search, level)
        yield from edits
        if edits:
            return


def single_minimiser_edits() -> Iterator[EditedStage]:
    """Single edits of the penalty minimiser without a number to measure."""
    nothing = SumEdit("y")
    for rule in RULES:
        yield EditedStage("y", (), nothing, rule)
    for dropped in drops("y", pairs=False)[1:]:
        yield EditedStage("y", summed=SumEdit("y", dropped))
    for exchange in exchanges():
        yield EditedStage("y", (ScopedExchange(exchange),), nothing)


def _stands_alone(
    explanation: Explanation,
    place: tuple[Mapping[str, Explanation], Probed, Given],
    asker: Asker,
    here: Sequence[StageAnswer],
) -> bool:
    """Whether an explanation also foresees calls at which it differs from others that explain what was seen."""
    wrong, stage, given = place
    name = _place_of(explanation, stage)
    if name not in ("rows", "reweighed"):
        return True
    pool = [chain_question(450 + seed, given, CALL_ALPHAS[seed % len(CALL_ALPHAS)]) for seed in range(TELLING_CALLS)]
    mine = [play(probe, {**wrong, name: explanation}) for probe in pool]
    indices: set[int] = set()
    for rival in handed_rows() if name == "rows" else twice_made():
        if rival is explanation or any(misfit({**wrong, name: rival}, a) > 1 for a in here):
            continue
        for i, (probe, own) in enumerate(zip(pool, mine, strict=True)):
            other = play(probe, {**wrong, name: rival})
            if own is None or other is None or misfit({**wrong, name: explanation}, StageAnswer(probe, other)) <= 1:
                continue
            if i not in indices:
                indices.add(i)
                got = asker(probe)
                if got is None or misfit({**wrong, name: explanation}, StageAnswer(probe, got)) > 1:
                    return False
            break
    return True


def _confirmed(
    explanations: Iterable[Explanation], place: tuple[Mapping[str, Explanation], Probed], here: Sequence[StageAnswer],
    held: Sequence[StageAnswer],
) -> Explanation | None:  # fmt: skip
    """The explanation that gives every call, held-out ones included.

    Where solves are not exact many come near; then the nearest counts if few others do.
    """
    wrong, stage = place
    off = sorted(here, key=lambda a: -a.excess)
    fitting: list[tuple[float, Explanation]] = []
    for explanation in explanations:
        choice = {**wrong, _place_of(explanation, stage): explanation}
        if not fits(choice, off) or not fits(choice, held):
            continue
        exact = max((_relative(choice, a) for a in (*off, *held) if play(a.probe, choice) is not None), default=np.inf)
        if exact <= EXACTLY and held:
            return explanation
        fitting.append((exact, explanation))
    if not held or not fitting or len(fitting) > NEAREST:
        return None
    return min(fitting, key=lambda pair: pair[0])[1]
