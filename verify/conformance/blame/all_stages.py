"""Every stage that deviates, explained where it can be: what ``f2csa conform`` says is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

from verify.conformance.blame.accuracy import EXACT, Accuracy
from verify.conformance.blame.explain import explain
from verify.conformance.blame.explanation import Blame
from verify.conformance.blame.loop import explain_loop
from verify.conformance.blame.noise import explain_noise
from verify.conformance.blame.stage_effects import AsAnswered, effect_of
from verify.conformance.blame.state import explain_state
from verify.conformance.blame.state_of_runs import Renew
from verify.conformance.bugs.model import Stage
from verify.conformance.stage_comparison import PROBED, Seen
from verify.subjects import MissingCapabilityError, SubjectFaultError, load_subject
from verify.subjects.loading import end
from verify.subjects.protocol import Stages


def explain_all(
    stages: Stages, seen: Seen, accuracy: Accuracy = EXACT, renew: Renew | None = None
) -> tuple[Blame, ...]:
    """What each deviating stage computes instead; stages that nothing is known to explain have none or an empty entry.

    Args:
        stages: The subject; it is asked further questions.
        seen: What it showed so far.
        accuracy: How exactly its solvers work.
        renew: Makes new copies of the subject. Where it is there and answers depend on earlier calls, that is said in
            place of what the stage would seem to compute.
    """
    off = [found.stage for found in seen.findings if found.status == "diverges"]
    kept = [blame for blame in _remembered(stages, renew) if blame.stage in off] if off else []
    stale = {blame.stage for blame in kept}
    found = _found(stages, seen, accuracy, off)
    return (*kept, *(b for b in found if b.stage not in stale or (b.stage == "optimise" and b.explanations)))


def copies_of(name: str, time_limit: float | None = None) -> Renew | None:
    """What makes new copies of a Python subject by the name that loads it; ``None`` of a program, which starts slowly.

    Args:
        name: ``"package.module:Attribute"``.
        time_limit: Seconds one stage call may take.
    """
    return None if name.startswith("command:") else partial(_copy_of, name, time_limit)


@contextmanager
def _copy_of(name: str, time_limit: float | None) -> Iterator[Stages]:
    loaded = load_subject(name, time_limit=time_limit)
    try:
        yield Stages(loaded)
    finally:
        end(loaded)


def _remembered(stages: Stages, renew: Renew | None) -> tuple[Blame, ...]:
    """What survives from call to call; without copies nothing tells that from an answer that is always wrong."""
    if renew is None:
        return ()
    try:
        return tuple(blame for blame in explain_state(stages, renew) if blame.explanations)
    except (SubjectFaultError, MissingCapabilityError):
        return ()


def _found(stages: Stages, seen: Seen, accuracy: Accuracy, off: Sequence[Stage]) -> Iterator[Blame]:
    explained: tuple[Callable[[], Iterable[Blame]], ...] = (
        (lambda: explain(stages, seen, accuracy)) if any(stage in PROBED for stage in off) else tuple,
        (lambda: explain_loop(stages, seen.record)) if "optimise" in off else tuple,
        (lambda: explain_noise(stages, seen.sampled)) if "samples" in off else tuple,
    )
    for explaining in explained:
        with suppress(SubjectFaultError, MissingCapabilityError):
            yield from (_with_effect(blame, stages) for blame in explaining())


def _with_effect(blame: Blame, stages: Stages) -> Blame:
    """With the error that the stage makes as it answers, where none is known."""
    return blame if blame.effect is not None else replace(blame, effect=effect_of(blame.stage, AsAnswered(stages)))
