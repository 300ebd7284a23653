"""Every stage that deviates, explained where it can be: what ``f2csa conform`` says is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from verify.conformance.blame.accuracy import EXACT, Accuracy
from verify.conformance.blame.explain import explain
from verify.conformance.blame.explanation import Blame
from verify.conformance.blame.loop import explain_loop
from verify.conformance.blame.lower_blame import explain_lower
from verify.conformance.blame.stage_effects import AsAnswered, effect_of
from verify.conformance.blame.weights_blame import explain_activation
from verify.conformance.bugs.model import Stage
from verify.conformance.stage_comparison import Seen
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import Stages


def explain_all(stages: Stages, seen: Seen, accuracy: Accuracy = EXACT) -> tuple[Blame, ...]:
    """What each deviating stage computes instead; stages that nothing is known to explain have none or an empty entry.

    Args:
        stages: The subject; it is asked further questions.
        seen: What it showed so far.
        accuracy: How exactly its solvers work.
    """
    off = [found.stage for found in seen.findings if found.status == "diverges"]
    return tuple(_found(stages, seen, accuracy, off))


def _found(stages: Stages, seen: Seen, accuracy: Accuracy, off: Sequence[Stage]) -> Iterator[Blame]:
    explained: dict[Stage, Callable[[], Iterable[Blame]]] = {
        "lower_level": lambda: [explain_lower(stages, seen.of("lower_level"), accuracy)],
        "activation": lambda: [explain_activation(stages, seen.of("activation"), accuracy)],
        "penalty_minimiser": lambda: explain(stages, seen, accuracy.value),
        "hypergradient": lambda: explain(stages, seen, accuracy.value) if "penalty_minimiser" not in off else (),
        "optimise": lambda: explain_loop(stages, seen.record),
    }
    for stage in off:
        if stage in explained:
            with suppress(SubjectFaultError, MissingCapabilityError):
                yield from (_with_effect(blame, stages) for blame in explained[stage]() if blame.stage in off)


def _with_effect(blame: Blame, stages: Stages) -> Blame:
    """With the error that the stage makes as it answers, where none is known."""
    return blame if blame.effect is not None else replace(blame, effect=effect_of(blame.stage, AsAnswered(stages)))
