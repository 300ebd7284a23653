"""What every deviating stage computes instead of what it should, the one with the largest effect first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from spec import REPAIRED
from verify.conformance.blame.accuracy.accuracy import EXACT, DeclaredAccuracy
from verify.conformance.blame.activation.weights_blame import explain_activation
from verify.conformance.blame.call_blame import INSIDE_STAGE, asked_later, explain_calls, misfit
from verify.conformance.blame.explanations.explanation import Blame, Explanation
from verify.conformance.blame.lower_level.lower_blame import explain_lower
from verify.conformance.blame.questions import reading_asked
from verify.conformance.blame.stage_effects import AsAnswered, effect_of
from verify.conformance.blame.sums.edited_stage import EditedStage
from verify.conformance.blame.sums.exchanges import OtherAlpha
from verify.conformance.blame.sums.other_alphas import CallWithAlpha
from verify.conformance.blame.sums.sparse_sums import SumEdit
from verify.conformance.blame.sums.sum_blame import Asker, explain_sum
from verify.conformance.comparison.stage_comparison import PROBED, Probed, Seen
from verify.conformance.probes.answers import StageAnswer
from verify.conformance.probes.probes import WHOLE
from verify.method.lines import Stage
from verify.subjects.protocol import StageCalls

MOST = 0.75
"""Share of the answers that are off beyond which a call with another alpha is told for its line 6."""

NEAR = 2.0
"""Tolerances within which it gives an answer: both may stop a solve of their own."""


def explain(stages: StageCalls, seen: Seen, accuracy: DeclaredAccuracy = EXACT) -> tuple[Blame, ...]:
    """Find what every deviating stage computes; each is judged on probes that give it all earlier stages.

    Asks at most some 300 further calls. What deviates in oracle calls that compute stages themselves is looked for
    where the subject's own stages do not explain it.

    Args:
        stages: The subject; it is asked further probes.
        seen: What it showed.
        accuracy: How exact its solvers are.

    Returns:
        One blame a stage, that with the largest effect on an estimate first; those without a known effect last.
    """
    blames: list[Blame] = []
    known: dict[Stage, Explanation] = {}
    for stage in PROBED:
        answers = _own_answers(seen, stage)
        broken = stage == "lower_level" and not answers and _ends_in_errors(seen, stage)
        if all(answer.excess <= 1 for answer in answers) and not broken:
            continue
        blame = _explained(stage, stages, answers, accuracy)
        if broken and not blame.explanations:
            continue
        if blame.effect is None:
            shown = blame.explanations[0] if blame.explanations else AsAnswered(stages)
            blame = replace(blame, effect=effect_of(stage, shown))
        blames.append(blame)
        if blame.explanations:
            known[stage] = blame.explanations[0]
        elif stage != "hypergradient":
            known[stage] = AsAnswered(stages)
    wrong = [a for a in seen.of("hypergradient") if not (a.excess <= 1 or a.probe.needs_draws)]
    told = all(blame.explanations for blame in blames) and "penalty_minimiser" not in known
    left = [a for a in wrong if _off(known, a) > NEAR] if told and seen.of("penalty_minimiser") else []
    if left:
        # The solve is right where it is asked by itself: where it is not, it must make all that others leave.
        solve = explain_sum("y", stages, _own_answers(seen, "penalty_minimiser"), accuracy, off=True)
        beside = known | ({"penalty_minimiser": solve.explanations[0]} if solve.explanations else {})
        if beside != known and all(_off(beside, answer) <= NEAR for answer in left):
            blames, known = [*blames, solve], beside
    blames, known = _with_whole_call(blames, known, wrong, Asker(stages))
    # Widths that a call makes itself, and what it does with its own stages, are known of the repaired text.
    is_whole = isinstance(known.get("hypergradient"), CallWithAlpha)
    inside = explain_calls(stages, seen, known) if reading_asked() == REPAIRED and not is_whole else None
    # That nothing explains the stage is said once.
    known_stages = {blame.stage for blame in blames}
    if inside is not None and (inside.explanations or inside.described or inside.stage not in known_stages):
        # An oracle call that is explained as a whole has its line 6 in it.
        whole = inside.stage == "hypergradient" and bool(inside.explanations)
        blames = [*(blame for blame in blames if not (whole and blame.stage == "hypergradient")), inside]
    return tuple(sorted(blames, key=lambda blame: 1.0 if blame.effect is None else -blame.effect))


def _with_whole_call(
    blames: list[Blame], known: dict[Stage, Explanation], wrong: Sequence[StageAnswer], asker: Asker
) -> tuple[list[Blame], dict[Stage, Explanation]]:
    """Where line 6 has another alpha and so do all stages that calls make themselves: that the whole call has it.

    It must give more answers than line 6 alone, and than line 6 and the solve together, which have widths of their own
    alpha; of calls asked for now, too. Where such a call ends its solve is allowed to be further off, so that not all
    answers need be as it says.
    """
    line = known.get("hypergradient")
    if not isinstance(line, EditedStage) or line.edits > 1 or len(line.exchanged) != 1:
        return blames, known
    alpha = line.exchanged[0].exchange.change
    (blame,) = (one for one in blames if one.stage == "hypergradient")
    if not isinstance(alpha, OtherAlpha) or len(blame.explanations) > 1:
        return blames, known
    whole = known | {"hypergradient": CallWithAlpha(alpha)}
    solved = EditedStage("y", line.exchanged, SumEdit("y"))
    held = [answer for given in INSIDE_STAGE for answer in asked_later(asker, given)]

    def given_by(one: dict[Stage, Explanation], answers: Sequence[StageAnswer]) -> list[float]:
        return [off for answer in answers if (off := _off(one, answer)) <= NEAR]

    answers = [*wrong, *held]
    by_whole = given_by(whole, answers)
    most = max(len(given_by(one, answers)) for one in (known, known | {"penalty_minimiser": solved}))
    if not len(by_whole) > max(MOST * len(answers), most):
        return blames, known
    told = replace(
        blame, explanations=(whole["hypergradient"],), agrees=len(by_whole), held_out=len(given_by(whole, held)),
        apart=max(by_whole),
    )  # fmt: skip
    return [told if one is blame else one for one in blames], whole


def _off(known: Mapping[Stage, Explanation], answer: StageAnswer) -> float:
    """How far a call whose stages are as explained is from its answer, in tolerances."""
    return misfit({str(stage): one for stage, one in known.items()}, answer)


def _ends_in_errors(seen: Seen, stage: Probed) -> bool:
    """Whether nothing was answered because of errors: other problems may get answers that say why."""
    return any(finding.stage == stage and finding.status == "fault" for finding in seen.findings)


def _own_answers(seen: Seen, stage: Probed) -> list[StageAnswer]:
    """A stage's answers to calls that compute nothing else, noise apart."""
    return [
        a for a in seen.of(stage) if not a.probe.needs_draws and (stage != "hypergradient" or a.probe.given == WHOLE)
    ]


def _explained(stage: Probed, stages: StageCalls, answers: Sequence[StageAnswer], accuracy: DeclaredAccuracy) -> Blame:
    if stage == "lower_level":
        return replace(explain_lower(stages, answers, accuracy), stage=stage)
    if stage == "activation":
        return replace(explain_activation(stages, answers, accuracy), stage=stage)
    return explain_sum("x" if stage == "hypergradient" else "y", stages, answers, accuracy)
