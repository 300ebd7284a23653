"""Whether what is said of a mistake is true: explanations and names are held against answers nobody has seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np

from spec.exact import Vector
from verify.conformance import outer, random_stages
from verify.conformance.blame.explanations.explanation import Blame, Explanation
from verify.conformance.blame.memory.alone import Alone
from verify.conformance.blame.memory.state_questions import Question
from verify.conformance.blame.memory.state_rules import AskedState, Remembers, StateRule
from verify.conformance.blame.noise.noise_matrix import SOURCES, matrix_spots
from verify.conformance.blame.noise.noise_spots import DrawnSpot, Spot
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.bugs.generated.mistakes import Mistake, answered
from verify.conformance.bugs.generated.unseen import SAME_RUN, Unseen
from verify.conformance.letter.diagnosis import LIKELY
from verify.conformance.probes.probes import Probe
from verify.method.lines import Stage
from verify.method.plain_subject import PlainLoop, PlainMethod
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls

Mark = Literal["exact", "one-of", "wrong", "unnamed"]
ENOUGH = 20
"""Unseen answers that an explanation must give before it counts as exact."""
ROW = 40
"""Unseen questions asked in a row of what seems to have a memory."""
RELATIVE = 1e-6
"""Difference of two answers, relative to their size, that is no difference; chains of solves lose digits."""
OF_TRIALS = 3 * len(outer.TRIALS)
"""Unseen runs of all trials but the output's."""
WORST_FIRST: tuple[Mark, ...] = ("wrong", "one-of", "exact")
EIGHTH, NONE = Fraction(1, 8), Fraction(0)
UNHELD = range(780, 784)
"""Seeds of calls under matrix noise that nothing else asks."""
STREAM = 77
"""Random stream that no other look at samples uses."""
ALSO: dict[str, tuple[Stage, ...]] = {"noise": ("hypergradient",), "widths": ("activation",)}
"""Stages that may be named besides the one whose code was changed: noise from given normals shows in the oracle call
itself, and a width is the activation's as much as the call's."""


Kept = tuple[int, ...]
"""Edits of a mistake by number: a subject with these alone."""


@dataclass(frozen=True, eq=False)
class Unheld:
    """What a wrong subject answers, runs and draws that nobody has seen, and what it does with fewer of its edits."""

    mistake: Mistake
    unseen: Unseen
    cache: dict[tuple[str, Kept], Any] = field(default_factory=dict)

    @property
    def every(self) -> Kept:
        """All edits."""
        return tuple(range(len(self.mistake.edits)))

    def at(self, stage: Stage) -> Kept:
        """The edits that may be told of a stage."""
        return tuple(i for i, e in enumerate(self.mistake.edits) if stage in (e.stage, *ALSO.get(e.procedure, ())))

    def subject(self, part: Kept) -> PlainMethod:
        """The subject with some of its edits; right without any."""
        edits = tuple(self.mistake.edits[i] for i in part)
        return self.mistake.model_copy(update={"edits": edits}).subject()

    def _made(self, what: str, part: Kept, make: Callable[[PlainMethod], Any]) -> Any:
        if (what, part) not in self.cache:
            self.cache[what, part] = make(self.subject(part))
        return self.cache[what, part]

    def answers(self, part: Kept) -> dict[str, Vector | None]:
        """Answers by probe. All stages are asked, one after another: some answers depend on what came before."""

        def make(subject: PlainMethod) -> dict[str, Vector | None]:
            vectors = answered(subject, self.unseen.probes)
            return {probe.id: got for probe, got in zip(self.unseen.probes, vectors, strict=True)}

        answers: dict[str, Vector | None] = self._made("answers", part, make)
        return answers

    def runs(self, part: Kept) -> tuple[outer.RecordedLoop, ...]:
        """Runs of Algorithm 2 with generators that no other look uses."""
        runs: tuple[outer.RecordedLoop, ...] = self._made("runs", part, unheld_runs)
        return runs

    def drawn(self, part: Kept) -> tuple[tuple[DrawnSpot, ...], ...]:
        """Estimates under noise of f, of g and of both, on spots of their own."""
        drawn: tuple[tuple[DrawnSpot, ...], ...] = self._made("drawn", part, unheld_draws)
        return drawn

    def samples(self) -> random_stages.Signature:
        """Statistics of its estimates, drawn from a stream of its own."""
        return random_stages.sample(StageCalls(self.mistake.subject()), stream=STREAM).signature


def unheld_runs(subject: Any) -> tuple[outer.RecordedLoop, ...]:
    """Three runs of every trial, then thirty for the output."""
    stages, counts = StageCalls(subject), [3] * len(outer.TRIALS) + [30]
    return tuple(
        outer.record(stages, trial, 50_000 + 100 * i + k)
        for i, (trial, count) in enumerate(zip((*outer.TRIALS, outer.OUTPUT_TRIAL), counts, strict=True))
        for k in range(count)
    )  # fmt: skip


def unheld_draws(subject: Any) -> tuple[tuple[DrawnSpot, ...], ...]:
    """Four spots for each kind of additive noise, then some of matrix noise of f and of g."""
    spots = [(f, g, N_g) for f, g in ((EIGHTH, NONE), (NONE, EIGHTH), (EIGHTH, EIGHTH)) for N_g in (1, 2, 5, 8)]
    additive = [Spot(0.09, f, g, N_g).draw(StageCalls(subject), stream=STREAM) for f, g, N_g in spots]
    matrices = ([spot.draw(StageCalls(subject), stream=STREAM) for spot in matrix_spots(s, UNHELD)] for s in SOURCES)
    return (*(tuple(additive[k : k + 4]) for k in range(0, len(additive), 4)), *map(tuple, matrices))


@dataclass(frozen=True)
class Marked:
    """What each stage that is explained is worth, and the edits, by number, that are described."""

    marks: dict[Stage, Mark]
    described: frozenset[int]


def marked(unheld: Unheld, blames: Iterable[Blame]) -> Marked:
    """Hold all explanations against what nobody has seen; a stage whose code is right can only be named wrongly."""
    marks: dict[Stage, Mark] = {}
    described: set[int] = set()
    for blame in blames:
        if not blame.explanations or _only_remembers(unheld, blame):
            continue
        hits = [_described(unheld, blame.stage, explanation) for explanation in blame.explanations]
        mark: Mark = ("exact" if len(hits) == 1 else "one-of") if any(hits) else "wrong"
        marks[blame.stage] = min(mark, marks.get(blame.stage, mark), key=WORST_FIRST.index)
        described |= frozenset().union(*hits)
    return Marked(marks, frozenset(described))


def _only_remembers(unheld: Unheld, blame: Blame) -> bool:
    """Whether it says no more than that answers depend on earlier calls, which they do: true, but no description."""
    if not all(isinstance(explanation, Remembers) for explanation in blame.explanations):
        return False
    return not all(one.stands_alone for one in _in_a_row(unheld, blame.stage, unheld.every) if one.got.size)


def _described(unheld: Unheld, stage: Stage, explanation: Explanation) -> frozenset[int]:
    """As :func:`describes`; what ends in a fault of the subject describes nothing."""
    try:
        return describes(unheld, stage, explanation)
    except (SubjectFaultError, MissingCapabilityError, outer.WrongNumberOfCallsError):
        return frozenset()


def describes(unheld: Unheld, stage: Stage, explanation: Explanation) -> frozenset[int]:
    """The edits of a stage that an explanation accounts for.

    It is true of the subject, and no longer true of it where one of them is taken back.
    """
    edits, predicts = unheld.at(stage), getattr(explanation, "predicts", None)
    if not edits:
        return frozenset()
    if isinstance(explanation, StateRule):
        return _needed(unheld, edits, lambda part: _remembers(explanation, _in_a_row(unheld, stage, part)))
    if stage == "optimise":
        return frozenset() if predicts is None else _needed(unheld, edits, lambda part: predicts(unheld.runs(part)))
    if stage == "samples" and predicts is not None:
        kinds = (_needed(unheld, edits, partial(_drawn_so, unheld, predicts, kind)) for kind in range(5))
        return frozenset().union(*kinds)
    # What is said of a call that computes other stages may tell their edits too.
    parts = dict.fromkeys([edits, *((i,) for i in edits), *([unheld.every] if stage == "hypergradient" else [])])
    return frozenset().union(*(_accounted(unheld, stage, part, explanation.answer, _same) for part in parts))


def _needed(unheld: Unheld, edits: Kept, is_true: Callable[[Kept], bool]) -> frozenset[int]:
    if not is_true(unheld.every):
        return frozenset()
    return frozenset(i for i in edits if not is_true(_without(unheld, i)))


def _drawn_so(unheld: Unheld, predicts: Callable[[Any], bool], kind: int, part: Kept) -> bool:
    return predicts(unheld.drawn(part)[kind])


def _without(unheld: Unheld, i: int) -> Kept:
    return tuple(k for k in unheld.every if k != i)


def _remembers(rule: StateRule, sequence: Sequence[AskedState]) -> bool:
    """Whether a sequence is as a rule says, and not as if nothing had been asked before; errors are no answers."""
    answers = [one for one in sequence if one.got.size]
    if len(answers) < ENOUGH:
        return False
    return rule.fits(sequence) and not all(one.stands_alone for one in answers)


def _in_a_row(unheld: Unheld, stage: Stage, part: Kept) -> list[AskedState]:
    """Unseen questions of one stage, one after another and then again from the end, with a subject's answers.

    Those of ``samples`` are estimates with given normals.
    Beside each is what a new copy of the subject answers, as its first call.
    """
    noisy = stage == "samples"
    of_stage = unheld.unseen.of("hypergradient" if noisy else stage)
    probes = [probe for probe in of_stage if probe.needs_draws == noisy][:ROW]
    questions, alone = [*probes, *probes[::-1]], Alone(lambda: nullcontext(StageCalls(unheld.subject(part))))
    got, own = answered(unheld.subject(part), questions), {probe.id: alone.ask(probe.ask) for probe in probes}
    return [
        AskedState(Question(probe), np.zeros(0) if answer is None else answer, own[probe.id], np.zeros(1), alone)
        for probe, answer in zip(questions, got, strict=True)
    ]  # fmt: skip


def _accounted(
    unheld: Unheld, stage: Stage, part: Kept, answer: Callable[[Probe], Vector | None], same: Callable[..., bool]
) -> frozenset[int]:
    """Edits of a part that answers account for, on probes where no edit but the part's matters; none if they differ."""
    # What line 6 makes of a term says nothing about the term's noise, unless the noise is what is wrong.
    of_noise = any(unheld.mistake.edits[i].procedure == "noise" for i in part)
    # An explanation of noise is one of the noise alone, whatever line 6 makes beside it.
    whole = part if stage == "samples" else unheld.every
    theirs, alone = unheld.answers(whole), unheld.answers(part)
    compared = []
    for probe in unheld.unseen.of("hypergradient" if stage == "samples" else stage):
        if probe.needs_draws and not of_noise:
            continue
        own, right = answer(probe), theirs[probe.id]
        if own is None or right is None or not _same(probe, right, alone[probe.id]):
            continue
        if not same(probe, right, own):
            return frozenset()
        compared.append(probe)
    if len(compared) < ENOUGH:
        return frozenset()
    rests = {i: unheld.answers(tuple(k for k in whole if k != i)) for i in part}
    return frozenset(i for i in part if any(_moved(probe, theirs[probe.id], rests[i][probe.id]) for probe in compared))


def _moved(probe: Probe, first: Vector | None, second: Vector | None) -> bool:
    """Whether two answers differ by more than is allowed of a right one."""
    if first is None or second is None:
        return first is not second
    return not bool((np.abs(first - second) <= probe.tolerance).all())


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
    if not unheld.at(stage) or not any(_plays(unheld, stage, by_id(id_)) for id_ in ids):
        return "wrong"
    return "exact" if len(ids) == 1 else "one-of"


def _plays(unheld: Unheld, stage: Stage, subject: Any) -> bool:
    if stage == "optimise":
        if not isinstance(subject, PlainLoop):
            return False
        runs = unheld.runs(unheld.every)
        comparisons = outer.compare(outer.LoopRecord(runs[:OF_TRIALS], runs[OF_TRIALS:]), subject)
        return max((c.excess for c in comparisons), default=math.inf) <= 1
    if stage == "samples":
        law = random_stages.sample(StageCalls(subject), stream=STREAM + 1).signature
        return random_stages.distance(unheld.samples(), law) <= LIKELY
    stages, edits = StageCalls(subject), unheld.at(stage)
    parts = [edits] if len(edits) == 1 else [edits, *((i,) for i in edits)]
    return any(_accounted(unheld, stage, part, lambda probe: probe.ask(stages), _near) for part in parts)
