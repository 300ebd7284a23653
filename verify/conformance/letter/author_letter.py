"""What a conformance run found, as the page of its report tells it."""

from __future__ import annotations

from collections.abc import Sequence

from verify.conformance.bugs.catalogue import BY_ID
from verify.conformance.found import Diagnosis
from verify.conformance.model import Conformance, effect_of, placed_lines
from verify.conformance.trace.model import TracedLine
from verify.report.rows.letter import Letter, StageTold, WrongTold


def told(conformance: Conformance) -> Letter:
    """Stages, what each that is off computes instead, and the smallest instance that shows it."""
    stages = tuple(
        StageTold(
            stage=one.stage, status=one.status, sentence=one.sentence, compared=one.compared, diverging=one.diverging
        )
        for one in conformance.stages
    )
    smallest = conformance.reproduction
    return Letter(
        stages=stages, first=conformance.first or "",
        wrong=tuple(map(_wrong, conformance.diagnoses, placed_lines(conformance))),
        error=(conformance.error_split.sentence,) if conformance.error_split is not None else (),
        smallest=smallest.sentence if smallest else "", code=smallest.code if smallest else "",
        is_whole=conformance.complete,
        notes=(*conformance.notes, *(conformance.trace.notes() if conformance.trace else ())),
    )  # fmt: skip


def _wrong(diagnosis: Diagnosis, traced: Sequence[tuple[TracedLine, str]]) -> WrongTold:
    known = tuple((match.id, match.effect) for match in diagnosis.matches or diagnosis.partial)
    effect = "" if diagnosis.effect is None else effect_of(diagnosis)
    # Where several mistakes answer alike, which of them it is nobody can tell.
    known_choices = [BY_ID[match.id].choice for match in diagnosis.matches]
    choices = tuple(one for one in known_choices if one is not None) if len(known_choices) == 1 else ()
    lines = tuple((line.place, "" if line.is_loop else line.text, line.words + beside) for line, beside in traced)
    return WrongTold(
        stage=diagnosis.stage, sentence=diagnosis.sentence, effect=effect, rest=diagnosis.rest, known=known,
        choices=choices, lines=lines, is_explained=bool(diagnosis.explanations or known),
    )  # fmt: skip
