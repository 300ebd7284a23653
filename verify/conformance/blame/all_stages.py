"""Every stage that deviates, explained where it can be: what ``f2csa conform`` says is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from verify.conformance.blame.accuracy import EXACT, Accuracy
from verify.conformance.blame.explain import explain
from verify.conformance.blame.explanation import Blame
from verify.conformance.blame.loop import explain_loop
from verify.conformance.blame.stage_effects import AsAnswered, effect_of
from verify.conformance.bugs.model import Stage
from verify.conformance.stage_comparison import PROBED, Seen
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
    explained: tuple[Callable[[], Iterable[Blame]], ...] = (
        (lambda: explain(stages, seen, accuracy)) if any(stage in PROBED for stage in off) else tuple,
        (lambda: explain_loop(stages, seen.record)) if "optimise" in off else tuple,
    )
    for explaining in explained:
        with suppress(SubjectFaultError, MissingCapabilityError):
            yield from (_with_effect(blame, stages) for blame in explaining())


def _with_effect(blame: Blame, stages: Stages) -> Blame:
    """With the error that the stage makes as it answers, where none is known."""
    return blame if blame.effect is not None else replace(blame, effect=effect_of(blame.stage, AsAnswered(stages)))
