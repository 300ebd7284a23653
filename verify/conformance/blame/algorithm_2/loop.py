"""Which rule of Algorithm 2 a subject has instead: found on some runs, confirmed on others, line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from verify.conformance.blame.algorithm_2.loop_calls import aligned, call_rule, extra_points, search_calls
from verify.conformance.blame.algorithm_2.loop_draws import (
    line_sentence,
    means_of_others,
    search_outputs,
    search_queries,
)
from verify.conformance.blame.algorithm_2.loop_lines import FIRST_STEP, MEAN, STEP
from verify.conformance.blame.algorithm_2.loop_moves import (
    RIGHT_STEP,
    kept_once,
    moved_runs,
    search_moves,
    with_iterates,
)
from verify.conformance.blame.algorithm_2.loop_rule import LoopRule, Part
from verify.conformance.blame.algorithm_2.loop_search import search
from verify.conformance.blame.algorithm_2.loop_trials import MORE, Heard, listen_to, outputs_of_two
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.outer import (
    OUTPUT_TRIAL,
    OUTPUTS,
    RIGHT,
    LoopComparison,
    LoopRecord,
    RecordedLoop,
    compare,
    compare_lines,
    listen,
)
from verify.method.loop_edits import STEP_BEFORE, LineEdit
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls

RIVALS = 3
"""Explanations that are listed where no run tells them apart."""
FIRST_OUTPUTS = 4
"""Short runs whose steps are looked at too."""


WORDS: dict[Part, str] = {
    "calls": "Its calls are", "first step": "Its first step is", "steps": "Its steps are",
    "queries": "Its queried points are", "means": "Its block means are", "outputs": "Its outputs are",
}  # fmt: skip
"""Lines of Algorithm 2 in sentences."""


@dataclass(frozen=True)
class WrongLine:
    """One wrong line of Algorithm 2: how it differs from the right one, and how rules for it are looked for."""

    part: Part
    comparison: LoopComparison
    search: Callable[[Sequence[RecordedLoop]], list[LoopRule]]
    rows: Callable[[RecordedLoop], int]


def explain_loop(stages: StageCalls, record: LoopRecord | None = None) -> tuple[Blame, ...]:
    """Name the lines of Algorithm 2 that a subject has otherwise, largest effect first.

    Args:
        stages: The subject, asked for more runs: some to find rules on, others, on oracles and schedules of their own,
            to confirm what was found.
        record: What it was seen to do already; without it the comparison's own runs are made again.

    Returns:
        One entry a line that is wrong, without explanations where no rule known here was confirmed; none where all
        are right or the runs end in a fault.
    """
    try:
        blames = sorted(_explained(stages, record), key=lambda blame: -(blame.effect or 0.0))
        # Of one line that nothing explains, what is nearest in the catalogue is told.
        return tuple(blames if len(blames) > 1 else [replace(blame, described="") for blame in blames])
    except (SubjectFaultError, MissingCapabilityError):
        return ()


def _explained(stages: StageCalls, record: LoopRecord | None) -> Iterator[Blame]:
    runs = listen_to(stages) if record is None else [*record.runs, *listen_to(stages, MORE)]
    outputs = [*record.outputs] if record is not None else []
    heard, surplus = Heard(stages, runs), None
    if any(len(one.z) != one.trial.parameters.T for one in runs):
        surpluses = search_calls(runs)
        surplus = _most_right(surpluses, runs)
        yield _count_blame(surpluses, surplus, heard)
        if surplus is None:
            return
    align = _aligner(surplus)
    if not outputs:
        outputs = _short_runs(stages)
    if outputs and not any(np.ptp(one.run.x_bar, axis=0).any() for one in outputs):
        outputs = outputs_of_two(stages)
    outputs = align(outputs)
    runs = [*align(runs), *outputs[:FIRST_OUTPUTS]]
    if any(len(one.z) != one.trial.parameters.T for one in (*runs, *outputs)):
        return
    once = kept_once(runs)
    if once is not None and once.predicts(fresh := align(heard.held_out)):
        yield _path_blame(once, runs, fresh)
        shown, short = with_iterates(runs), with_iterates(outputs)
        if shown is None or short is None:
            return
        runs, outputs = shown, short
        align = _shown(align)
    for move, rule in search_moves(runs):
        fresh = align(heard.held_out)
        if rule.predicts(fresh):
            yield _move_blame(rule, runs, fresh)
            align = _behind(align, move)
            runs, outputs = moved_runs(runs, move), moved_runs(outputs, move)
            break
    covered: list[LoopRule] = []
    for line in _wrong_lines(runs, outputs):
        if line.part == "first step" and any(rule.makes_first for rule in covered):
            continue
        many = line.part == "outputs"
        searched = [*runs, *outputs] if many else runs
        blame = _confirmed(line, searched, partial(_held_out, heard, many, align))
        if line.part == "queries" and _follows_from(covered, blame):
            continue
        covered += [rule for rule in blame.explanations if isinstance(rule, LoopRule)]
        yield blame


def _behind(
    align: Callable[[Sequence[RecordedLoop]], list[RecordedLoop]], move: LineEdit
) -> Callable[[Sequence[RecordedLoop]], list[RecordedLoop]]:
    """Runs aligned, and with the steps that lie behind a move."""
    return lambda some: moved_runs(align(some), move)


def _shown(
    align: Callable[[Sequence[RecordedLoop]], list[RecordedLoop]],
) -> Callable[[Sequence[RecordedLoop]], list[RecordedLoop]]:
    """Runs aligned, and with the iterates that their path does not keep."""
    return lambda some: with_iterates(align(some)) or []


def _path_blame(rule: LoopRule, runs: Sequence[RecordedLoop], fresh: Sequence[RecordedLoop]) -> Blame:
    """What is said of a path that is one array."""
    effect = max(float(np.abs(np.array(one.trial.x0) - one.run.path).max()) for one in runs)
    new = sum(len(one.z) for one in fresh)
    return Blame("optimise", [rule], new + sum(len(one.z) for one in runs), new, rule.excess(fresh), effect)


def _move_blame(rule: LoopRule, runs: Sequence[RecordedLoop], fresh: Sequence[RecordedLoop]) -> Blame:
    """What is said of another way to move x."""
    effect = max(float(np.abs(RIGHT_STEP.made(one)[:-1] - one.steps[1:]).max(initial=0.0)) for one in runs)
    new = sum(len(one.z) for one in fresh)
    return Blame("optimise", [rule], new + sum(len(one.z) for one in runs), new, rule.excess(fresh), effect)


def _held_out(
    heard: Heard, many: bool, align: Callable[[Sequence[RecordedLoop]], list[RecordedLoop]]
) -> list[RecordedLoop]:
    return align(heard.outputs if many else heard.held_out)


def _follows_from(covered: list[LoopRule], blame: Blame) -> bool:
    """Whether queried points are off only because x moves by the next step already."""
    words = [explanation.sentence for explanation in blame.explanations]
    return any(rule.makes_first for rule in covered) and words == [line_sentence(STEP_BEFORE)]


def _short_runs(stages: StageCalls) -> list[RecordedLoop]:
    """The comparison's many short runs; none where the subject cannot make blocks of one step."""
    try:
        return [listen(stages, OUTPUT_TRIAL, 1000 + k) for k in range(OUTPUTS)]
    except SubjectFaultError:
        return []


def _aligner(surplus: LineEdit | None) -> Callable[[Sequence[RecordedLoop]], list[RecordedLoop]]:
    return lambda runs: list(runs) if surplus is None else (aligned(runs, surplus) or [])


def _most_right(surpluses: list[LineEdit], runs: list[RecordedLoop]) -> LineEdit | None:
    """The surplus without which most lines are right; ``None`` where too few calls were made."""
    there = [surplus for surplus in surpluses if aligned(runs, surplus) is not None]
    return min(there, key=lambda surplus: len(_wrong_lines(aligned(runs, surplus) or [], [])), default=None)


def _count_blame(surpluses: list[LineEdit], best: LineEdit | None, heard: Heard) -> Blame:
    chosen = [best] if best is not None else surpluses
    named = []
    for surplus in chosen:
        rule = call_rule(surplus)
        if not rule.predicts(heard.held_out):
            continue
        where = {extra_points(one, surplus) for one in (*heard.training, *heard.held_out)}
        words = where.pop() if len(where) == 1 else ""
        named.append(LoopRule("calls", rule.sentence + words, 1, rule.excess))
    runs = [*heard.training, *heard.held_out] if named else heard.training
    return Blame("optimise", named, len(runs) if named else 0, len(heard.held_out) if named else 0, 0.0,
                 float(max(abs(len(one.z) - one.trial.parameters.T) for one in runs)))  # fmt: skip


def _wrong_lines(runs: list[RecordedLoop], outputs: list[RecordedLoop]) -> list[WrongLine]:
    """The lines that differ from Algorithm 2's, in its order."""
    steps, queries, means = compare_lines(runs, RIGHT)
    wrong = []
    first = max(runs, key=lambda one: float(np.abs(one.steps[0]).max()))
    if RIGHT_STEP.excess(runs) > 1:
        size = max(float(np.abs(RIGHT_STEP.made(one)[:-1] - one.steps[1:]).max(initial=0.0)) for one in runs)
        wrong.append(WrongLine("steps", replace(steps, difference=size), _search_steps, _steps))
    if steps.excess > 1 and first.steps[0].any():
        size = float(np.abs(first.steps[0]).max())
        at_start = LoopComparison("steps", first.trial.id, steps.excess, size, "step Δ_1 = x_1 - x_0")
        if size > 1e-9 * float(np.abs(first.run.path).max()):
            wrong.append(WrongLine("first step", at_start, _search_first, _once))
    if queries.excess > 1:
        longest = max(float(np.linalg.norm(one.steps, axis=1).max()) for one in runs)
        queries = replace(queries, difference=longest) if queries.is_law else queries
        wrong.append(WrongLine("queries", queries, search_queries, _calls))
    if means.excess > 1:
        wrong.append(WrongLine("means", means, _search_means, _blocks))
    output = compare(LoopRecord(tuple(runs), tuple(outputs)), RIGHT)[3] if outputs else None
    if output is not None and output.excess > 1:
        widest = max(float(np.ptp(one.run.x_bar, axis=0).max()) for one in outputs)
        output = replace(output, difference=widest) if output.is_law else output
        wrong.append(WrongLine("outputs", output, search_outputs, _once))
    return wrong


def _steps(one: RecordedLoop) -> int:
    return len(one.z) - 1


def _calls(one: RecordedLoop) -> int:
    return len(one.z)


def _blocks(one: RecordedLoop) -> int:
    return len(one.run.x_bar)


def _once(one: RecordedLoop) -> int:  # noqa: ARG001  # as the others
    return 1


def _search_steps(runs: Sequence[RecordedLoop]) -> list[LoopRule]:
    return search(STEP, runs) if any(one.steps[1:].any() for one in runs) else []


def _search_first(runs: Sequence[RecordedLoop]) -> list[LoopRule]:
    return search(FIRST_STEP, runs)[:RIVALS]


def _search_means(runs: Sequence[RecordedLoop]) -> list[LoopRule]:
    if not any(np.ptp(one.run.x_bar) for one in runs):
        return []
    return search(MEAN, [one for one in runs if one.trial.parameters.M > 1]) or means_of_others(runs)


def _confirmed(line: WrongLine, runs: list[RecordedLoop], held: Callable[[], list[RecordedLoop]]) -> Blame:
    """Look for rules, and keep those that runs made since then follow too."""
    rules, effect = line.search(runs), line.comparison.difference
    fresh = held() if rules else []
    by_sentence = {rule.sentence: rule for rule in rules if rule.predicts(fresh)}
    named = [*by_sentence.values()][:RIVALS]
    if not named:
        described = f"{WORDS[line.part]} off in no way known here: {line.comparison.said}."
        return Blame("optimise", (), 0, 0, 0.0, effect, described)
    new = sum(line.rows(one) for one in fresh)
    return Blame("optimise", named, new + sum(line.rows(one) for one in runs), new, named[0].excess(fresh), effect)
