"""Explanations put to the test: probes asked after they were found, where they and their rivals answer differently."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.explanations.explanation import Blame, Explanation
from verify.conformance.comparison.stage_comparison import ask
from verify.conformance.probes.answers import StageAnswer
from verify.conformance.probes.probes import Probe
from verify.method.lines import Stage
from verify.subjects.protocol import StageCalls

E = TypeVar("E", bound=Explanation)
Limits = Callable[[Probe], Vector]
"""How far an answer to a probe may be from what an explanation says."""
HELD_OUT = 12
"""Probes asked after an explanation was found."""
FEWEST = 6
"""Held-out probes that an explanation must answer, all of them rightly, to be told."""
FEWEST_WRONG = 2
"""Held-out answers that must be wrong, beyond what is allowed: an explanation of what is right explains nothing."""
SHARE = 0.05
"""Largest part of a deviation that an explanation may leave."""
SAME = 1e-10
"""Answers as close as this are the same in other words."""
LISTED = 4
"""Most explanations told where nothing tells them apart."""


def distance(explanation: Explanation, answers: Iterable[StageAnswer], limits: Limits) -> float:
    """Largest difference from a subject's answers in tolerances; infinite where a deviation is not explained.

    Answers of which it says nothing do not count, as long as there are others.
    """
    worst, compared = 0.0, 0
    for answer in answers:
        prediction = explanation.answer(answer.probe)
        if prediction is None:
            continue
        compared += 1
        off, limit = np.abs(prediction - answer.got), allowed_to(answer, limits)
        deviation = np.abs(answer.got - answer.probe.expected)
        # A deviation of a few tolerances is explained by what is much nearer, not by what is within tolerance too.
        allowed = np.where(deviation > limit, np.minimum(limit, SHARE * np.max(deviation, initial=0.0)), limit)
        worst = max(worst, float(np.max(off / allowed, initial=0.0)))
        if not worst <= 1:
            return np.inf
    return worst if compared else np.inf


def allowed_to(answer: StageAnswer, limits: Limits) -> Vector:
    """How far an answer may be from what is said of it: where it is larger than the right one, in proportion more."""
    right, size = (float(np.max(np.abs(values), initial=0.0)) for values in (answer.probe.expected, answer.got))
    return limits(answer.probe) * max(1.0, size / right if right > 0 else 1.0)


@dataclass
class HeldOutTrial:
    """What a stage answered, and the probes that are left to be asked."""

    stage: Stage
    stages: StageCalls
    answers: list[StageAnswer]
    pool: list[Probe]
    limits: Limits
    calls: int = 0
    kept_out: list[StageAnswer] = field(default_factory=list)

    def ask(self, probes: Sequence[Probe]) -> list[StageAnswer]:
        """Ask some of the pool; they leave it."""
        ids = {probe.id for probe in probes}
        self.pool = [probe for probe in self.pool if probe.id not in ids]
        self.calls += len(probes)
        answers = ask(self.stages, probes).answers
        self.answers += answers
        return answers

    def fit(self, explanations: Iterable[E]) -> list[E]:
        """Those that give every answer so far."""
        return [e for e in explanations if distance(e, self.answers, self.limits) <= 1]

    def confirm(self, candidates: Sequence[E]) -> Blame | None:
        """Ask what was held out, and keep the explanations that foresaw it; ``None`` where none did."""
        left = simplest(candidates, self.pool, self.limits)
        if not left:
            return None
        held = self.ask(self._telling(left))
        left = [e for e in left if _foresaw(e, held, self.limits)]
        if not left:
            return None
        left = simplest(left, [answer.probe for answer in self.answers] + self.pool, self.limits)[:LISTED]
        answers = [answer for answer in self.answers if left[0].answer(answer.probe) is not None]
        return Blame(self.stage, tuple(left), len(answers), sum(left[0].answer(a.probe) is not None for a in held),
                     distance(left[0], answers, self.limits))  # fmt: skip

    def _telling(self, rivals: Sequence[Explanation]) -> list[Probe]:
        """Probes of the pool where rivals differ, from each other and from the right answer: the most telling ones."""
        chosen: list[Probe] = []
        left = {id(probe): (probe, _partition(probe, rivals, self.limits)) for probe in self.pool}
        together = (0,) * (len(rivals) + 1)
        while left and len(chosen) < HELD_OUT:

            def gain(item: tuple[Probe, tuple[int, ...]], now: tuple[int, ...] = together) -> tuple[int, int]:
                return len(set(zip(now, item[1], strict=True))), len(set(item[1]))

            probe, classes = max(left.values(), key=gain)
            del left[id(probe)]
            chosen.append(probe)
            together = _joined(together, classes)
        return chosen


def _joined(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    names: dict[tuple[int, int], int] = {}
    return tuple(names.setdefault(pair, len(names)) for pair in zip(first, second, strict=True))


def _partition(probe: Probe, rivals: Sequence[Explanation], limits: Limits) -> tuple[int, ...]:
    """Which rivals answer alike, the right answer last."""
    limit, kinds, named = limits(probe), list[Vector | None](), list[int]()
    for answer in (*(rival.answer(probe) for rival in rivals), probe.expected):
        for k, kind in enumerate(kinds):
            if _alike(kind, answer, limit):
                named.append(k)
                break
        else:
            named.append(len(kinds))
            kinds.append(answer)
    return tuple(named)


def _alike(first: Vector | None, second: Vector | None, limit: Vector) -> bool:
    if first is None or second is None:
        return first is second
    return bool((np.abs(first - second) <= 2 * limit).all())


def _foresaw(explanation: Explanation, held: Sequence[StageAnswer], limits: Limits) -> bool:
    answers = [answer for answer in held if explanation.answer(answer.probe) is not None]
    wrong = [a for a in answers if not (np.abs(a.got - a.probe.expected) <= allowed_to(a, limits)).all()]
    return len(answers) >= FEWEST and len(wrong) >= FEWEST_WRONG and distance(explanation, answers, limits) <= 1


def simplest(candidates: Sequence[E], probes: Sequence[Probe], limits: Limits) -> list[E]:
    """Of explanations that answer every probe alike those with the fewest edits, simplest first.

    Those that answer alike to the last digits are one and the same in other words: the first of them stays.
    """
    explanations: list[E] = []
    for e in sorted(candidates, key=lambda explanation: explanation.edits):
        alike = [k for k in explanations if all(_alike(k.answer(p), e.answer(p), limits(p)) for p in probes)]
        same = any(all(_alike(k.answer(p), e.answer(p), SAME + 0 * p.tolerance) for p in probes) for k in alike)
        if not same and all(k.edits == e.edits for k in alike):
            explanations.append(e)
    return explanations
