"""Catalogued mistakes held against what a subject does beyond the probes that suggested them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.activation.weighed_rows import drawn_rows
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.blame.lower_level.lower_places import drawn_problems
from verify.conformance.blame.questions import (
    chain_question,
    kept_by_reading,
    line_6_question,
    minimiser_question,
    width_questions,
)
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.bugs.catalogue import find
from verify.conformance.found import Match
from verify.conformance.probes.probes import FROM_SCRATCH, WHOLE, Probe
from verify.method.lines import Stage
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls

SEEDS = range(500, 508)
"""Of the problems drawn for this alone."""


@kept_by_reading(16)
def unseen_probes(stage: Stage) -> tuple[Probe, ...]:
    """Probes of a stage on problems drawn for this alone; none of a stage that is judged otherwise."""
    if stage == "hypergradient":
        whole = [line_6_question(seed) for seed in SEEDS]
        ramps = (probe for seed in SEEDS[:4] for probe in width_questions(seed))
        return (*whole, *(chain_question(seed, FROM_SCRATCH) for seed in SEEDS[:4]), *ramps)
    if stage == "penalty_minimiser":
        return tuple(minimiser_question(seed) for seed in SEEDS)
    if stage == "activation":
        return drawn_rows()[-len(SEEDS) :]
    return drawn_problems()[-len(SEEDS) :] if stage == "lower_level" else ()


def confirmed_names(stages: StageCalls, stage: Stage, matches: Sequence[Match], blame: Blame | None) -> list[Match]:
    """Matches that hold on unseen problems: beside an explanation of the stage, or else beside the subject's answers.

    Mistakes of rounding or of memory, and stages without unseen probes, are as they were.
    """
    probes = unseen_probes(stage)
    if not probes or not matches:
        return [*matches]
    explained = blame.explanations[0].answer if blame is not None and blame.explanations else None
    return [m for m in matches if _is_special(m.id) or _holds(m.id, stages, probes, explained)]


def _is_special(id_: str) -> bool:
    """Whether a mistake is one of rounding, or answers a question otherwise after others."""
    bug = find(id_)
    lines = (formula for steps in bug.formulas.values() for formula in steps.values())
    return bug.roundoff is not None or any("previous(" in line or "first(" in line for line in lines)


def _holds(
    id_: str, stages: StageCalls, probes: Sequence[Probe], explained: Callable[[Probe], Vector | None] | None
) -> bool:
    """Whether nothing speaks against a mistake; what no unseen probe shows is left to the answers that suggested it."""
    mutant = StageCalls(by_id(id_))
    for probe in probes:
        if explained is not None and probe.stage == "hypergradient" and probe.given != WHOLE:
            continue
        theirs, got = _asked(mutant, probe), _asked(stages, probe) if explained is None else explained(probe)
        if theirs is None or got is None:
            continue
        with np.errstate(invalid="ignore"):
            size = np.abs(theirs) + np.abs(got)
            if not (np.abs(theirs - got) <= 4 * probe.tolerance + 1e-9 * size).all():
                return False
    return True


def _asked(stages: StageCalls, probe: Probe) -> Vector | None:
    try:
        return probe.ask(stages)
    except (SubjectFaultError, MissingCapabilityError):
        return None
