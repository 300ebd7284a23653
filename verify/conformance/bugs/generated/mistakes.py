"""Random mistakes: drawn by how often programmers make their kind, those that change nothing left out by computing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np

from spec.exact import Vector
from spec.files import Frozen
from verify.conformance.bugs.generated.unseen import SAME_RUN, Unseen, UnseenTrial, draw_unseen, unseen_trials
from verify.conformance.probes.probes import Probe
from verify.method.alike import WEIGHTS, Kind
from verify.method.edits import Edit, all_edits
from verify.method.lines import FORMULAS, Formulas, Stage
from verify.method.plain_subject import PlainMethod
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls

Standing = Literal["changes", "equivalent", "breaks"]
"""What an edit does to answers on random problems: something, nothing, or it ends most calls in errors."""
MOST_ERRORS = 0.5
"""Share of the calls that an edit affects that may end in an error; beyond it nobody needs to be told of it."""
DRAWLESS: frozenset[Kind] = frozenset({"drop", "scale", "power", "divisor", "norm", "clip", "rule"})
"""Kinds of edits of the noise that show in its law too, so that the subject need not take its normals from the call."""
TRIES = 10_000
"""Draws after which no mistake is found at all."""


class Mistake(Frozen):
    """One edit, or several at once.

    Args:
        edits: What was changed.
        uses_draws: Whether the subject takes its normals from the call.
    """

    edits: tuple[Edit, ...]
    uses_draws: bool = True

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages whose code was changed, each once."""
        return tuple(dict.fromkeys(edit.stage for edit in self.edits))

    @property
    def stage(self) -> Stage:
        """The stage of the first edit."""
        return self.edits[0].stage

    @property
    def sentence(self) -> str:
        """What was changed, in one line."""
        return "; ".join(edit.sentence for edit in self.edits)

    @property
    def formulas(self) -> Formulas:
        """The implementation with the edits made."""
        changed = {procedure: dict(steps) for procedure, steps in FORMULAS.items()}
        for edit in self.edits:
            changed[edit.procedure][edit.step] = edit.formula
        return changed

    def subject(self) -> PlainMethod:
        """The wrong subject, ready to be judged, with no memory of earlier calls."""
        subject = PlainMethod(self.formulas)
        subject.uses_draws = self.uses_draws
        return subject


def draw_mistake(rng: np.random.Generator) -> Mistake:
    """One mistake that changes something: its kind by weight, then one edit of the kind, all alike."""
    return _with_draws(_draw_edit(rng)[0], rng)


def _draw_edit(rng: np.random.Generator) -> tuple[Edit, int]:
    """An edit that changes something, and how many were drawn that do not."""
    by_kind = edits_by_kind()
    kinds = [*by_kind]
    weights = np.array([WEIGHTS[kind] for kind in kinds])
    for skipped in range(TRIES):
        among = by_kind[kinds[int(rng.choice(len(kinds), p=weights / weights.sum()))]]
        edit = among[int(rng.integers(len(among)))]
        if standing(edit) == "changes":
            return edit, skipped
    raise RuntimeError("no edit changes anything")


def _with_draws(edit: Edit, rng: np.random.Generator) -> Mistake:
    drawless = edit.procedure == "noise" and edit.kind in DRAWLESS and rng.random() < 1 / 2
    return Mistake(edits=(edit,), uses_draws=not drawless)


def draw_pair(rng: np.random.Generator) -> Mistake:
    """Two mistakes at once, in different procedures."""
    first = draw_mistake(rng)
    while True:
        second = draw_mistake(rng)
        if second.edits[0].procedure != first.edits[0].procedure:
            return Mistake(edits=(*first.edits, *second.edits), uses_draws=first.uses_draws and second.uses_draws)


@lru_cache(maxsize=1)
def edits_by_kind() -> dict[Kind, tuple[Edit, ...]]:
    """All edits by kind, in the kinds' own order."""
    return {kind: tuple(edit for edit in all_edits() if edit.kind == kind) for kind in WEIGHTS}


@lru_cache(maxsize=1)
def _measure() -> tuple[Unseen, tuple[UnseenTrial, ...]]:
    """What edits are asked to find out whether they change anything; always the same."""
    rng = np.random.default_rng(20)
    return draw_unseen(rng, 2), unseen_trials(rng)


@cache
def standing(edit: Edit) -> Standing:
    """Whether an edit changes anything on 200 random probes, or on runs of Algorithm 2."""
    mistake, (unseen, trials) = Mistake(edits=(edit,)), _measure()
    if edit.stage == "optimise":
        return _standing_of_runs(mistake.subject(), trials)
    probes = [probe for probe in unseen.probes if probe.stage in (edit.stage, "hypergradient")]
    answers = answered(mistake.subject(), probes)
    errors = sum(got is None for got in answers)
    wrong = sum(got is not None and not probe.excess(got) <= 1 for probe, got in zip(probes, answers, strict=True))
    if errors > MOST_ERRORS * (errors + wrong):
        return "breaks"
    return "changes" if wrong else "equivalent"


def answered(subject: Any, probes: Sequence[Probe]) -> list[Vector | None]:
    """A subject's answers, one after another; ``None`` where a call ends in an error."""
    stages = StageCalls(subject)

    def answer(probe: Probe) -> Vector | None:
        try:
            with np.errstate(all="ignore"):
                return probe.ask(stages)
        except (SubjectFaultError, MissingCapabilityError):
            return None

    return [answer(probe) for probe in probes]


def _standing_of_runs(subject: PlainMethod, trials: Sequence[UnseenTrial]) -> Standing:
    traces, right = [trial.trace(subject) for trial in trials], [_right_trace(trial) for trial in trials]
    if sum(not len(trace) for trace in traces) > MOST_ERRORS * len(traces):
        return "breaks"
    same = (
        len(a) == len(b) and bool((np.abs(a - b) <= SAME_RUN * (1 + np.abs(b))).all())
        for a, b in zip(traces, right, strict=True)
    )  # fmt: skip
    return "equivalent" if all(same) else "changes"


@lru_cache(maxsize=64)
def _right_trace(trial: UnseenTrial) -> Vector:
    return trial.trace(PlainMethod())


def numbered(seed: int) -> Mistake:
    """The mistake of a seed."""
    return draw_mistake(np.random.default_rng(seed))


def draws(seed: Sequence[int], edits: int) -> tuple[Mistake, int]:
    """A mistake or a pair from a seed, and how many edits were passed over because they change nothing."""
    rng = np.random.default_rng(list(seed))
    if edits > 1:
        return draw_pair(rng), 0
    edit, skipped = _draw_edit(rng)
    return _with_draws(edit, rng), skipped
