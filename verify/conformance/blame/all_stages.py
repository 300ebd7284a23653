"""Every stage that deviates, explained where it can be: what ``f2csa conform`` says is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from spec import REPAIRED
from verify.conformance.blame.accuracy.accuracy import EXACT, DeclaredAccuracy
from verify.conformance.blame.algorithm_2.loop import explain_loop
from verify.conformance.blame.algorithm_2.loop_together import beside_single_runs, explain_together
from verify.conformance.blame.algorithm_2.whole_optimisers import explain_whole_optimiser
from verify.conformance.blame.explain import explain
from verify.conformance.blame.explanations.explanation import Blame, Explanation
from verify.conformance.blame.inner_stages import WholeCall
from verify.conformance.blame.memory.state import explain_by_values, explain_state
from verify.conformance.blame.memory.state_of_runs import Renew
from verify.conformance.blame.memory.state_rules import Remembers, StateRule
from verify.conformance.blame.noise.noise_blame import explain_noise
from verify.conformance.blame.noise.noise_draws import JUMP, MODELS, NoiseFormula, drawn_call
from verify.conformance.blame.noise.noise_elsewhere import NoiseElsewhere, explain_elsewhere
from verify.conformance.blame.noise.noise_matrix import MatrixLaw
from verify.conformance.blame.noise.noise_terms import RIGHT_TERMS, NoiseTerm
from verify.conformance.blame.questions import reading_asked
from verify.conformance.blame.stage_effects import AsAnswered, effect_of
from verify.conformance.blame.sums.edited_stage import EditedStage
from verify.conformance.blame.sums.right_sums import RIGHT_PARTS
from verify.conformance.comparison.end_to_end import is_offered
from verify.conformance.comparison.runs_together import one_by_one
from verify.conformance.comparison.stage_comparison import PROBED, Seen
from verify.conformance.outer import RIGHT, WrongNumberOfCallsError, compare, watch
from verify.conformance.probes.pacing import Clock, Timed
from verify.conformance.probes.probes import FROM_SCRATCH
from verify.method.lines import Stage
from verify.subjects import MissingCapabilityError, Subject, SubjectFaultError, load_subject
from verify.subjects.loading import as_program, end
from verify.subjects.protocol import StageCalls
from verify.subjects.subject_names import COMMAND
from verify.subjects.time_limits import timed_alike
from verify.subjects.wire.client import WireSubject

NOISY = (650, 651, 652)
"""Seeds of calls with given normals that an explanation of line 6 is held against."""


def explain_all(
    stages: StageCalls, seen: Seen, accuracy: DeclaredAccuracy = EXACT, renew: Renew | None = None
) -> tuple[Blame, ...]:
    """What each deviating stage computes instead; stages that nothing is known to explain have none or an empty entry.

    Whether answers depend on earlier calls is asked whatever was seen: a stage with a memory deviates, be it that no
    probe met it, and nothing else is said of it. Beside another reading than the repaired one (:func:`asked_under`)
    memories, noise and what a call does with its own stages are not looked for.

    Args:
        stages: The subject; it is asked further questions.
        seen: What it showed so far.
        accuracy: How exactly its solvers work.
        renew: Makes new copies of the subject.
    """
    # A lower level that ends in errors on the first problems may answer others, and show there what is wrong.
    off = [finding.stage for finding in seen.findings if finding.status == "diverges"
           or (finding.status == "fault" and finding.stage == "lower_level")]  # fmt: skip
    remembering = _remembered(stages, renew, off)
    memories = {blame.stage for blame in remembering}
    blames = [_asked_again(stages, seen, blame) for blame in _found(stages, seen, accuracy, off)]
    blames = _with_kept_noise(stages, blames, renew)
    others = (b for b in blames if b.stage not in memories or (b.stage == "optimise" and b.explanations))
    if memories & {*PROBED} - {"hypergradient"}:
        # Calls that make such a stage themselves remember what it does.
        others = (b for b in others if not any(isinstance(one, Remembers) for one in b.explanations))
    all_blames = (
        *(_with_effect(blame, stages) for blame in remembering),
        *_without_echoes([*others], remembering, stages),
    )
    return tuple(_as_judged(blame, seen, stages) for blame in all_blames)


def _without_echoes(blames: Sequence[Blame], remembering: Sequence[Blame], stages: StageCalls) -> list[Blame]:
    """What is wrong without what follows from it: a line 6 that is explained has matrix noise of g of its own size."""
    lines = [e for b in (*blames, *remembering) if b.stage == "hypergradient" for e in b.explanations]
    noise = [b for b in blames if b.stage == "samples" and b.explanations]
    if not lines or not noise:
        return [*blames]
    if stages.use_draws and any(_makes_noise(line, stages) for line in lines):
        # What it adds where no noise belongs is no line's.
        return [b for b in blames if b.stage != "samples" or any(isinstance(e, NoiseElsewhere) for e in b.explanations)]
    return [
        b for b in blames
        if b.stage != "samples" or not b.explanations or not all(_is_echo(e, lines) for e in b.explanations)
    ]  # fmt: skip


def _makes_noise(line: Explanation, stages: StageCalls) -> bool:
    """Whether an explanation of line 6 gives answers with given normals too, so that their noise is as it must be."""
    for model, seed in product((*MODELS, JUMP), NOISY):
        probe = drawn_call(seed, model)
        try:
            prediction, got = line.answer(probe), probe.ask(stages)
        except (SubjectFaultError, MissingCapabilityError):
            if model == JUMP:
                continue  # a model that not every subject makes
            return False
        if prediction is None or not (np.abs(prediction - got) <= probe.tolerance).all():
            return False
    return True


def _is_echo(explanation: Explanation, lines: Sequence[Explanation]) -> bool:
    """Whether an explanation of noise is about what line 6 may change of it: matrix noise of g, its α₁, ỹ and ỹ*."""
    if isinstance(explanation, MatrixLaw):
        own = explanation.power != 1 or explanation.of_size != 1 or bool(explanation.batch.words)
        return explanation.source == "g" and not own and _is_length(explanation.size) and any(map(_is_of_g, lines))
    if not isinstance(explanation, NoiseFormula):
        return False
    right = RIGHT_TERMS["matrix", "g"]
    for model, slot, term in explanation.replaced:
        if (model, slot) != ("matrix", "g") or right is None:
            return False
        if term is not None and (_without_alpha(term) != _without_alpha(right) or not _is_length(term.size)):
            return False
    return any(map(_is_of_g, lines))


def _is_length(size: str) -> bool:
    """Whether a size of noise is a Euclidean length, of whatever points."""
    return size.endswith("‖")


def _without_alpha(term: NoiseTerm) -> NoiseTerm:
    """A term without what follows from line 6: its number, its power of α, and its points."""
    a, b, _, d = term.powers
    return replace(term, number=1.0, powers=(a, b, 0.0, d), size="")


def _is_of_g(line: Explanation) -> bool:
    """Whether an explanation of a call may change more of its line 6 than summands of f and of the penalty."""
    if isinstance(line, WholeCall):
        return "hypergradient" in line.stages and _is_of_g(line.stages["hypergradient"])
    if not isinstance(line, EditedStage) or line.exchanged or line.changed is not None or line.summed.added:
        return True
    return any(RIGHT_PARTS["x"][j].group == "g" for j in line.summed.dropped)


def copies_of(name: str, like: Subject | None = None, clock: Clock | None = None) -> Renew | None:
    """What makes new copies of a subject by the name that loads it; ``None`` of a program that cannot renew itself.

    Args:
        name: ``"package.module:Attribute"`` or ``"command:COMMAND LINE"``.
        like: The subject itself; where its stages are limited in time, those of its copies are, too.
        clock: After which nothing more is asked of a copy either.
    """
    program = as_program(like)
    clock = clock or Clock(math.inf)
    if program is not None:
        return partial(_fresh, program, name, clock) if program.renews else None
    return None if name.startswith(COMMAND) else partial(_copy_of, name, like, clock)


@contextmanager
def _fresh(program: WireSubject, name: str, clock: Clock) -> Iterator[StageCalls]:
    with program.fresh() as copy:
        yield StageCalls(Timed(copy, name, clock))


@contextmanager
def _copy_of(name: str, like: Subject | None, clock: Clock) -> Iterator[StageCalls]:
    loaded = load_subject(name)
    try:
        yield StageCalls(Timed(timed_alike(loaded, like), name, clock))
    finally:
        end(loaded)


def _remembered(stages: StageCalls, renew: Renew | None, off: Sequence[Stage]) -> list[Blame]:
    """What survives from call to call; without copies nothing tells that from an answer that is always wrong."""
    with suppress(SubjectFaultError, MissingCapabilityError):
        return [] if renew is None else _innermost(explain_state(stages, renew, off))
    return []


def _with_kept_noise(stages: StageCalls, blames: list[Blame], renew: Renew | None) -> list[Blame]:
    """Noise that nothing explains may be made of values of an earlier call."""
    unexplained = [blame for blame in blames if blame.stage == "samples"]
    if renew is None or not stages.use_draws or not unexplained or any(b.explanations for b in unexplained):
        return blames
    with suppress(SubjectFaultError, MissingCapabilityError):
        by_values = explain_by_values("samples", renew)
        return blames if by_values is None else [*(b for b in blames if b.stage != "samples"), by_values]
    return blames


def _innermost(blames: Sequence[Blame]) -> list[Blame]:
    """Memories without those that only show another stage's: an oracle call remembers what a stage of its own does."""
    own = [blame for blame in blames if blame.stage in PROBED and blame.stage != "hypergradient"]
    innermost = [blame for blame in blames if blame.stage != "hypergradient" or not own or _takes_problem_over(blame)]
    return [
        blame if blame.explanations else replace(blame, explanations=(_kept_somehow(blame),)) for blame in innermost
    ]


def _takes_problem_over(blame: Blame) -> bool:
    return any(isinstance(one, StateRule) and one.of_problem for one in blame.explanations)


def _kept_somehow(blame: Blame) -> Remembers:
    """That something is kept in no way known, with what the answers show beside it."""
    return Remembers(f"{Remembers.sentence}. Beside that, {blame.described}") if blame.described else Remembers()


def _found(stages: StageCalls, seen: Seen, accuracy: DeclaredAccuracy, off: Sequence[Stage]) -> Iterator[Blame]:
    has_noise = reading_asked() == REPAIRED and ("samples" in off or _is_noise_off(seen))
    blames: list[Blame] = []
    explained: tuple[Callable[[], Iterable[Blame]], ...] = (
        (lambda: explain(stages, seen, accuracy)) if any(stage in PROBED for stage in off) else tuple,
        (lambda: explain_noise(stages, seen.sampled, is_explained=_is_explained(blames))) if has_noise else tuple,
        (lambda: explain_elsewhere(stages, seen.of("hypergradient"))) if has_noise else tuple,
        (lambda: _of_algorithm_2(stages, seen)) if "optimise" in off else tuple,
    )
    for explaining in explained:
        with suppress(SubjectFaultError, MissingCapabilityError):
            for blame in explaining():
                blames.append(blame)
                yield _with_effect(blame, stages)


def _of_algorithm_2(stages: StageCalls, seen: Seen) -> tuple[Blame, ...]:
    """Of an optimiser that is asked through its oracle, or of one that computes its hypergradients itself."""
    if is_offered(stages):
        return explain_whole_optimiser(stages)
    if seen.miscounted:
        return (Blame("optimise", described=seen.miscounted),)
    if not seen.together:
        return explain_loop(stages, seen.record)
    if seen.record is None:
        alone = one_by_one(stages)
        try:
            record = watch(alone)
        except WrongNumberOfCallsError as error:
            return (Blame("optimise", described=f"Of one run at a time {error}."),)
        if any(line.excess > 1 for line in compare(record, RIGHT)):
            return beside_single_runs(explain_loop(alone, record), stages, seen.together)
    return explain_together(stages, seen.together)


def _is_explained(blames: Sequence[Blame]) -> bool:
    """Whether it is known what line 6 is."""
    return any(blame.stage == "hypergradient" and blame.explanations for blame in blames)


def _asked_again(stages: StageCalls, seen: Seen, blame: Blame) -> Blame:
    """A stage that nothing explains and that answers the same question twice in a row in two ways is told so."""
    wrong = [a for a in seen.of(blame.stage) if not (a.excess <= 1 or a.probe.needs_draws)]
    if blame.explanations or blame.described or blame.stage not in PROBED or not wrong:
        return blame
    with suppress(SubjectFaultError, MissingCapabilityError):
        first, again = (wrong[0].probe.ask(stages) for _ in range(2))
        if not (np.abs(first - again) <= wrong[0].probe.tolerance).all():
            return replace(blame, explanations=(Remembers(),))
    return blame


def _is_noise_off(seen: Seen) -> bool:
    """Whether an answer under given normals is off."""
    return any(a.probe.needs_draws and not a.excess <= 1 for a in seen.answers)


def _as_judged(blame: Blame, seen: Seen, stages: StageCalls) -> Blame:
    """With the largest effect on any estimate of ∇F that was judged, as the table of causes shows it.

    Estimates that compute every stage themselves count alone where one of them is off: of others it is not ∇F's; those
    next to kinks only where no other is off. Where an explanation has no answer it is as the subject answers.
    """
    if blame.stage not in PROBED:
        return blame
    off = [a for a in seen.of("hypergradient") if not (a.excess <= 1 or a.probe.needs_draws)]
    off = [a for a in off if a.probe.given == FROM_SCRATCH] or off
    off = [a for a in off if "@" not in a.probe.id] or off
    judged = [a.probe for a in off]
    told = [e for e in blame.explanations if not isinstance(e, Remembers)][:1]
    effects = [effect_of(blame.stage, e, judged) for e in told]
    if blame.stage == "hypergradient" and not isinstance(next(iter(told), None), EditedStage):
        effects += [float(np.linalg.norm(a.got - a.probe.expected)) for a in off]
    elif not told or any(effect is None for effect in effects):
        effects.append(effect_of(blame.stage, AsAnswered(stages), judged))
    largest = max((effect for effect in effects if effect is not None), default=0.0)
    return replace(blame, effect=largest if largest > TINY else blame.effect)


TINY = 1e-9
"""Effects up to this are rounding."""


def _with_effect(blame: Blame, stages: StageCalls) -> Blame:
    """With the error that the stage makes as it answers, where none is known and there is one of an estimate."""
    return (
        blame
        if blame.effect is not None or blame.stage not in PROBED
        else replace(blame, effect=effect_of(blame.stage, AsAnswered(stages)))
    )
