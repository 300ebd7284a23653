"""What explanations leave unexplained: of the answers that are off, those that all of them together do not give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.explanations.explanation import Blame, Explanation
from verify.conformance.blame.inner_stages import WholeCall
from verify.conformance.blame.whole_calls import play
from verify.conformance.comparison.stage_comparison import PROBED, Seen
from verify.conformance.probes.answers import StageAnswer
from verify.method.lines import Stage

COMPUTED: Mapping[Stage, str] = {"lower_level": "y_star", "activation": "rho", "penalty_minimiser": "y_penalty"}
"""Stages that an oracle call computes where it is not given what they make."""
AS_SAID = 10.0
"""Tolerances within which an answer is what an explanation says."""
RELATIVELY = 1e-9
"""The same, relative to how far the answer is off: both are rounded."""


def left_over(seen: Seen, blames: Sequence[Blame], stage: Stage) -> str:
    """How many of a stage's answers that are off its explanation does not give, and how much is left of them.

    Where it gives all, how closely: a smaller mistake beside it would not show.

    An oracle call is played with the explanations of all its stages. Empty where the stage has no explanation, or none
    of its answers can be foreseen.
    """
    wrong = {blame.stage: blame.explanations[0] for blame in reversed(blames) if blame.explanations}
    named: dict[str, Explanation] = {name: explanation for name, explanation in wrong.items() if name in PROBED}
    if stage not in named:
        return ""
    # Where noise has an explanation of its own, answers under given normals follow it.
    noise = "samples" in wrong
    off = [a for a in seen.of(stage) if not a.excess <= 1 and not (noise and a.probe.needs_draws)]
    dark, hanging = set[Stage](), 0
    if stage == "hypergradient":
        dark = {name for name in COMPUTED if name not in named and any(not a.excess <= 1 for a in seen.of(name))}
        in_the_dark = [a for a in off if any(a.probe.call.stages[COMPUTED[name]] is None for name in dark)]
        hanging, off = len(in_the_dark), [a for a in off if not any(a is other for other in in_the_dark)]
        named = _by_stage(named)
    played = [(answer, prediction) for answer in off if (prediction := _said(answer, stage, named)) is not None]
    if not played:
        return ""
    misses = [float(np.abs(answer.got - prediction).max()) for answer, prediction in played]
    rest = [miss for miss, (answer, prediction) in zip(misses, played, strict=True) if not _is(answer, prediction)]
    silent = len(off) - len(played)
    unforeseen = f"; {silent} more it does not foresee" if silent else ""
    if hanging:
        words = " and ".join(name.replace("_", " ") for name in COMPUTED if name in dark)
        unforeseen += f"; {hanging} more compute their {words}, which nothing here explains"
    said_off = _said_off(seen, named) if stage == "lower_level" else []
    blame = next(blame for blame in blames if blame.stage == stage and blame.explanations)
    further = [
        float(np.abs(a.got - prediction).max())
        for a in blame.left
        if (prediction := _said(a, stage, named)) is not None
    ]
    if blame.left:
        size = f", off what it says by up to {max(further):.2g}" if further else ""
        unforeseen += f"; beside these, {_are(len(blame.left))} not as it says of what was asked for besides{size}"
    if said_off:
        unforeseen += f"; {_are(len(said_off))} right where it says otherwise, by up to {max(said_off):.2g}"
    if not rest and not blame.left and not said_off:
        return f"It gives all {len(played)} answers that are off, to within {max(misses):.1g}{unforeseen}."
    if not rest:
        return f"This is not all: all {len(played)} judged answers that are off are as it says{unforeseen}."
    verb = "is" if len(rest) == 1 else "are"
    return (
        f"This is not all: {len(rest)} of the {len(played)} answers that are off {verb} not as it says, and up to "
        f"{max(rest):.2g} is left unexplained{unforeseen}."
    )


def _are(count: int) -> str:
    return f"{count} {'answer is' if count == 1 else 'answers are'}"


def _said_off(seen: Seen, named: Mapping[str, Explanation]) -> list[float]:
    """By how much right answers of a lower level are off what is said of them."""
    right = [a for a in seen.of("lower_level") if a.excess <= 1]
    told = [(a, prediction) for a in right if (prediction := _said(a, "lower_level", named)) is not None]
    return [float(np.abs(a.got - prediction).max()) for a, prediction in told if not _is(a, prediction)]


def _by_stage(named: dict[str, Explanation]) -> dict[str, Explanation]:
    """An explanation of whole calls as what it says of each stage: calls with stages given show the rest alone."""
    whole = named.get("hypergradient")
    if not isinstance(whole, WholeCall):
        return named
    return {name: explanation for name, explanation in named.items() if name != "hypergradient"} | dict(whole.stages)


@np.errstate(all="ignore")
def _said(answer: StageAnswer, stage: Stage, named: Mapping[str, Explanation]) -> Vector | None:
    prediction = play(answer.probe, named) if stage == "hypergradient" else named[stage].answer(answer.probe)
    return None if prediction is None or not np.isfinite(prediction).all() else prediction


def _is(answer: StageAnswer, prediction: Vector) -> bool:
    off = float(np.abs(answer.got - answer.probe.expected).max())
    limit = AS_SAID * answer.probe.tolerance + RELATIVELY * off
    return bool((np.abs(answer.got - prediction) <= limit).all())
