"""Whether what is said of a mistake is true: explanations and names are held against answers nobody has seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np

from spec.exact import Vector
from verify.conformance import outer, random_stages
from verify.conformance.blame.explanation import Blame, Explanation
from verify.conformance.blame.noise_spots import Drawn, Spot
from verify.conformance.blame.state_questions import Question
from verify.conformance.blame.state_rules import Alone, Asked, StateRule
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.bugs.generated.mistakes import Mistake, answered
from verify.conformance.bugs.generated.step_player import PlainMethod
from verify.conformance.bugs.generated.unseen import SAME_RUN, Unseen
from verify.conformance.bugs.model import Stage
from verify.conformance.bugs.outer_loop import OuterLoop
from verify.conformance.diagnosis import LIKELY
from verify.conformance.probes import Probe
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import Stages

Mark = Literal["exact", "one-of", "wrong", "unnamed"]
ENOUGH = 20
"""Unseen answers that an explanation must give before it counts as exact."""
ROW = 40
"""Unseen questions asked in a row of what seems to have a memory."""
RELATIVE = 1e-6
"""Difference of two answers, relative to their size, that is no difference; chains of solves lose digits."""
EIGHTH, NONE = Fraction(1, 8), Fraction(0)
STREAM = 77
"""Random stream that no other look at samples uses."""
ALSO: dict[str, tuple[Stage, ...]] = {"noise": ("hypergradient",), "widths": ("activation",)}
"""Stages that may be named besides the one whose code was changed: noise from given normals shows in the oracle call
itself, and a width is the activation's as much as the call's."""


@dataclass(frozen=True, eq=False)
class Unheld:
    """A wrong subject's own answers, runs and samples that nobody has seen."""

    mistake: Mistake
    unseen: Unseen

    @cached_property
    def stages(self) -> frozenset[Stage]:
        """Stages that may be named."""
        also = (stage for edit in self.mistake.edits for stage in ALSO.get(edit.procedure, ()))
        return frozenset((*self.mistake.stages, *also))

    @cached_property
    def answers(self) -> dict[str, Vector | None]:
        """Its answers by probe."""
        return self._of(self.mistake)

    def alone(self, stage: Stage) -> dict[str, Vector | None]:
        """Answers of a subject with the edits of one stage alone: where they are the same, no other edit matters."""
        edits = tuple(edit for edit in self.mistake.edits if stage in (edit.stage, *ALSO.get(edit.procedure, ())))
        if len(edits) in (0, len(self.mistake.edits)):
            return self.answers
        return self._of(self.mistake.model_copy(update={"edits": edits}))

    def _of(self, mistake: Mistake) -> dict[str, Vector | None]:
        # Stages are asked one after another, as conformance does: some answers depend on what came before.
        found = answered(mistake.subject(), self.unseen.probes)
        return {probe.id: got for probe, got in zip(self.unseen.probes, found, strict=True)}

    @cached_property
    def runs(self) -> tuple[outer.Recorded, ...]:
        """Runs of Algorithm 2 with generators that no other look uses."""
        return unheld_runs(self.mistake.subject())

    @cached_property
    def drawn(self) -> tuple[tuple[Drawn, ...], ...]:
        """Estimates under noise of f, of g and of both, on spots of their own."""
        return unheld_draws(self.mistake.subject())

    def samples(self) -> random_stages.Signature:
        """Statistics of its estimates, drawn from a stream of its own."""
        return random_stages.sample(Stages(self.mistake.subject()), stream=STREAM).signature


def unheld_runs(subject: Any) -> tuple[outer.Recorded, ...]:
    """Three runs of every trial, and thirty for the output."""
    stages, trials = Stages(subject), (*outer.TRIALS, outer.OUTPUT_TRIAL)
    counts = {outer.OUTPUT_TRIAL.id: 30}
    return tuple(
        outer.record(stages, trial, 50_000 + 100 * i + k)
        for i, trial in enumerate(trials) for k in range(counts.get(trial.id, 3))
    )  # fmt: skip


def unheld_draws(subject: Any) -> tuple[tuple[Drawn, ...], ...]:
    """Four spots for each kind of noise."""
    spots = [(f, g, N_g) for f, g in ((EIGHTH, NONE), (NONE, EIGHTH), (EIGHTH, EIGHTH)) for N_g in (1, 2, 5, 8)]
    found = [Spot(0.09, f, g, N_g).draw(Stages(subject), stream=STREAM) for f, g, N_g in spots]
    return tuple(tuple(found[k : k + 4]) for k in range(0, len(found), 4))


@lru_cache(maxsize=1)
def right_draws() -> tuple[tuple[Drawn, ...], ...]:
    """The same of the right implementation."""
    return unheld_draws(PlainMethod())


@lru_cache(maxsize=1)
def right_runs() -> tuple[outer.Recorded, ...]:
    """The same of the right implementation."""
    return unheld_runs(PlainMethod())


def marked(unheld: Unheld, blames: Iterable[Blame]) -> dict[Stage, Mark]:
    """What each stage that is explained is worth; a stage whose code is right can only be named wrongly."""
    marks: dict[Stage, Mark] = {}
    for blame in blames:
        if not blame.explanations:
            continue
        hit = blame.stage in unheld.stages and any(_held(unheld, blame.stage, e) for e in blame.explanations)
        mark: Mark = ("exact" if len(blame.explanations) == 1 else "one-of") if hit else "wrong"
        marks[blame.stage] = "wrong" if "wrong" in (mark, marks.get(blame.stage)) else mark
    return marks


def _held(unheld: Unheld, stage: Stage, explanation: Explanation) -> bool:
    """As :func:`holds`; what ends in a fault of the subject is not held."""
    try:
        return holds(unheld, stage, explanation)
    except (SubjectFaultError, MissingCapabilityError, outer.WrongNumberOfCallsError):
        return False


def holds(unheld: Unheld, stage: Stage, explanation: Explanation) -> bool:
    """Whether an explanation gives the unseen answers, and the right implementation does not give all of them."""
    predicts: Callable[[Any], bool] | None = getattr(explanation, "predicts", None)
    if stage == "optimise":
        return predicts is not None and predicts(unheld.runs) and not predicts(right_runs())
    if stage == "samples" and predicts is not None:
        pairs = zip(unheld.drawn, right_draws(), strict=True)
        return any(predicts(own) and not predicts(right) for own, right in pairs)
    if isinstance(explanation, StateRule):
        return not explanation.misses(_in_a_row(unheld, stage, unheld.mistake.subject())) and bool(
            explanation.misses(_in_a_row(unheld, stage, PlainMethod()))
        )
    return _agreement(unheld, stage, explanation.answer)


def _in_a_row(unheld: Unheld, stage: Stage, subject: PlainMethod) -> list[Asked]:
    """Unseen questions of one stage, one after another and then again from the end, with a subject's answers."""
    probes = [probe for probe in unheld.unseen.of(stage) if not probe.needs_draws][:ROW]
    asked, nobody = [*probes, *probes[::-1]], Alone(None)
    got = answered(subject, asked)
    return [
        Asked(Question(probe), answer, probe.expected, probe.tolerance, nobody)
        for probe, answer in zip(asked, got, strict=True) if answer is not None
    ]  # fmt: skip


def _agreement(
    unheld: Unheld, stage: Stage, answer: Callable[[Probe], Vector | None], same: Callable[..., bool] | None = None
) -> bool:
    asked_at = "hypergradient" if stage == "samples" else stage
    # What line 6 makes of a term says nothing about the term's noise, unless the noise is what is wrong.
    of_noise = any(edit.procedure == "noise" for edit in unheld.mistake.edits)
    alone, compared, apart, same = unheld.alone(stage), 0, False, same or _same
    for probe in unheld.unseen.of(asked_at):
        if probe.needs_draws and not of_noise:
            continue
        theirs, own = unheld.answers[probe.id], answer(probe)
        if own is None or theirs is None or not _same(probe, theirs, alone[probe.id]):
            continue
        if not same(probe, theirs, own):
            return False
        compared += 1
        apart = apart or not probe.excess(own) <= 1
    return compared >= ENOUGH and apart


def _same(probe: Probe, first: Vector | None, second: Vector | None) -> bool:
    if first is None or second is None:
        return first is second
    size = 1.0 + float(np.abs(first).max(initial=0.0))
    return bool((np.abs(first - second) <= np.minimum(probe.tolerance, RELATIVE * size) + SAME_RUN * size).all())


def _near(probe: Probe, first: Vector, second: Vector) -> bool:
    """To within what conformance allows: wrong subjects of the catalogue solve by their own stopping rule."""
    size = 1.0 + float(np.abs(first).max(initial=0.0))
    return bool((np.abs(first - second) <= probe.tolerance + RELATIVE * size).all())


def named(unheld: Unheld, stage: Stage, ids: Sequence[str]) -> Mark:
    """What names from the catalogue are worth: the wrong subjects that they stand for are asked the same."""
    if not ids:
        return "unnamed"
    if not any(_plays(unheld, stage, by_id(id_)) for id_ in ids) or stage not in unheld.stages:
        return "wrong"
    return "exact" if len(ids) == 1 else "one-of"


def _plays(unheld: Unheld, stage: Stage, subject: Any) -> bool:
    if stage == "optimise":
        if not isinstance(subject, OuterLoop):
            return False
        found = outer.compare(outer.Record(unheld.runs[:9], unheld.runs[9:]), subject)
        return max((c.excess for c in found), default=math.inf) <= 1
    if stage == "samples":
        law = random_stages.sample(Stages(subject), stream=STREAM + 1).signature
        return random_stages.distance(unheld.samples(), law) <= LIKELY
    stages = Stages(subject)
    return _agreement(unheld, stage, lambda probe: probe.ask(stages), _near)
