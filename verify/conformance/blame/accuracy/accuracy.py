r"""How exactly a subject's solvers work: as it declares, or as its answers show; and what that does to later answers.

An accuracy is relative: what is left of the optimality conditions, over the size of what they add up. It is passed on
through the right formulas, where :math:`\alpha^{-2}` and :math:`\alpha^{-4}` amplify it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from spec import Quadratic
from spec.exact import Vector
from verify.conformance.blame.accuracy.lower_residuals import (
    relative_residual,
    row_residual,
    stationarity_residual,
    terms_of,
)
from verify.conformance.comparison.stage_comparison import Seen
from verify.conformance.places.sizes import ANY_PROGRAM, Allowance, Sizing
from verify.conformance.places.tolerances import Penalty
from verify.conformance.probes.answers import StageAnswer, setting_of
from verify.conformance.probes.probes import Probe
from verify.conformance.vectors import known_answers as known
from verify.subjects.protocol import StageCalls
from verify.subjects.stated_accuracy import FACTOR, stated_accuracy
from verify.truth.stages import ExactSetting, evaluate

LARGEST_PART = 0.01
"""Of an answer's largest entry, of a penalty minimiser's largest distance from ỹ*: no larger error is allowed,
whatever the accuracy does to later stages."""
GRANTED = 1e-4
"""Coarsest accuracy that is taken from the answers themselves."""
USUAL = 1e-8
"""Residuals up to this are those of exact solvers."""
LEFT_BY_A_TERM = 0.3
"""A term that explains all but this part of the residuals is a mistake, not accuracy."""
DECLARABLE = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
"""Accuracies that a letter may propose to declare, up to :data:`GRANTED`."""
ANSWERS = 4
"""Fewest answers that an accuracy is measured on."""


@dataclass(frozen=True)
class DeclaredAccuracy:
    """How exactly a subject's solvers work, relative; 0 for as exact as doubles allow.

    A declared one widens what counts as right; a measured one only what counts as explained.
    """

    value: float = 0.0
    declared: bool = False
    sentence: str = "Its solvers are as exact as doubles allow."


EXACT = DeclaredAccuracy()


def accuracy_of(stages: StageCalls, seen: Seen | Sequence[StageAnswer]) -> DeclaredAccuracy:
    """A subject's accuracy: its attribute ``accuracy``, or what its pairs leave of the optimality conditions.

    Raises:
        InvalidInputError: If it declares something that is no number from 0 to 0.001.
    """
    declared = declared_accuracy(stages)
    if declared.declared:
        return declared
    answers = seen.of("lower_level") if isinstance(seen, Seen) else seen
    pairs = [answer for answer in answers if isinstance(answer.probe.problem, Quadratic)]
    residuals = np.array([relative_residual(answer.probe, answer.got) for answer in pairs])
    if len(residuals) < ANSWERS or not USUAL < residuals.max() <= GRANTED or _has_a_cause(pairs):
        return EXACT
    value = float(residuals.max())
    words = (
        f"Its solver leaves up to {value:.1g} of the optimality conditions, relative, and no term explains that: it is "
        "taken for its accuracy where mistakes are named."
    )
    return DeclaredAccuracy(value, False, words)


def declared_accuracy(stages: StageCalls) -> DeclaredAccuracy:
    """What a subject's attribute ``accuracy`` says; exact where it has none.

    Raises:
        InvalidInputError: If that is no number from 0 to 0.001.
    """
    value = stated_accuracy(stages.subject)
    if value is None:
        return EXACT
    words = f"It declares an accuracy of {value:.1g}; {FACTOR:g} times that is allowed to its solvers."
    return DeclaredAccuracy(value, True, words)


def to_declare(seen: Seen) -> str:
    """The accuracy that a subject would have to declare for every answer that is off to be right, in a sentence.

    Empty where it declares one, nothing is off, or none that may be declared would do.
    """
    off = [answer for answer in seen.answers if not answer.excess <= 1 and answer not in seen.follow]
    if not off or declared_accuracy(seen.stages).declared:
        return ""
    for value in DECLARABLE:
        stated = DeclaredAccuracy(value, declared=True)
        if all(widened(answer.probe, stated).excess(answer.got) <= 1 for answer in off):
            answers = "the answer that is" if len(off) == 1 else f"the {len(off)} answers that are"
            return (
                f"With accuracy = {value:g} on the subject, which says how exactly its solvers work, {answers} off "
                "would be right: declare it if they stop at a tolerance."
            )
    return ""


def _has_a_cause(pairs: Sequence[StageAnswer]) -> bool:
    """Whether one term of the method explains most of what is left of either equation."""
    for equation, residual in (("stationarity", stationarity_residual), ("rows", row_residual)):
        left = np.concatenate([residual(pair.probe, pair.got) for pair in pairs])
        length = float(np.linalg.norm(left))
        if length == 0 or len(left) < ANSWERS:
            continue
        named = [terms_of(pair.probe, pair.got)[equation] for pair in pairs]
        for name in set.intersection(*(set(terms) for terms in named)):
            term = np.concatenate([terms[name] for terms in named])
            size = float(term @ term)
            if size > 0 and np.linalg.norm(left - (term @ left) / size * term) < LEFT_BY_A_TERM * length:
                return True
    return False


def widened(probe: Probe, accuracy: DeclaredAccuracy) -> Probe:
    """A probe that allows for the accuracy: of its own solve and of what it has to solve before.

    What is given, and closed formulas, stay as exact as they are. No entry is allowed more than ``LARGEST_PART`` beyond
    what it was allowed before.
    """
    extra = _tolerance(probe, accuracy)
    if extra is None:
        return probe
    return replace(probe, tolerance=np.clip(extra, probe.tolerance, probe.tolerance + _most(probe)))


def _most(probe: Probe) -> float:
    """What is allowed at most: a minimiser that has not left ỹ* at all is wrong."""
    y_star = probe.call.y_star if probe.stage == "penalty_minimiser" else None
    told = probe.expected if y_star is None else probe.expected - y_star
    return LARGEST_PART * float(np.max(np.abs(told), initial=0.0))


def _tolerance(probe: Probe, accuracy: DeclaredAccuracy) -> Vector | None:
    """What the accuracy makes of a probe's tolerance, without a limit; ``None`` where nothing is solved."""
    solved = probe.stage in ("lower_level", "penalty_minimiser", "hypergradient") and probe.call.y_penalty is None
    if accuracy.value == 0 or not solved or not isinstance(probe.problem, Quadratic):
        return None
    setting, left = setting_of(probe), FACTOR * accuracy.value
    allowance = replace(ANY_PROGRAM, residual=max(ANY_PROGRAM.residual, left))
    if probe.stage == "lower_level":
        return _limits(known.lower_level(setting, allowance))
    return _of_a_solve(probe, setting, allowance, left)


def _of_a_solve(probe: Probe, setting: ExactSetting, allowance: Allowance, left: float) -> Vector:
    """Where a penalty Lagrangian is minimised: its gradient is left relative to the sizes of what it adds up."""
    unsolved = left * float(max(Penalty(Sizing(setting, allowance), evaluate(setting)).naive_gradient))
    if probe.stage == "penalty_minimiser":
        gradient_norm = (float(setting.alpha) if probe.tol is None else probe.tol) + unsolved
        return _limits(known.penalty_minimiser(setting, allowance, gradient_norm))
    by_gradient = setting.reading.inner_stop == "gradient"
    stop = float(setting.alpha if by_gradient else setting.alpha**3)
    return _limits(known.hypergradient(setting, replace(allowance, stop=allowance.stop + unsolved / stop)))


def _limits(answer: known.KnownAnswers) -> Vector:
    return np.concatenate([answer.limits[name] for name in answer.outputs])
