"""Calls of the stages of Algorithm 1, drawn ones and the judge's, with every quantity on the way to their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.noise.noise_draws import MODELS, drawn_call
from verify.conformance.blame.questions import chain_question, drawn_place, line_6_question, minimiser_question
from verify.conformance.probes.probes import (
    FROM_PAIR,
    FROM_RHO,
    FROM_SCRATCH,
    WHOLE,
    Probe,
    activation_probe,
    lower_level_probe,
)
from verify.conformance.trace.named_values import Each, Named
from verify.conformance.trace.seen_values import ValueWatch
from verify.conformance.trace.traced_questions.call_quantities import quantities_of
from verify.subjects.protocol import StageCalls

SEEDS = (0, 1, 5, 8, 9, 3, 11)
"""Of the drawn calls: sizes n, m, p that differ, among them square ones, and none of them 1."""
CHAIN_SEEDS = (0, 1, 2, 4)
NOISE_SEEDS = (602, 603, 607)
FURTHER = 8
"""Drawn calls of each kind that are asked only about what was found."""
JUDGED = 4
"""Wrong calls of the judge's that are looked at beside the drawn ones, of each kind."""


@dataclass(frozen=True, eq=False)
class TracedQuestion:
    """One call, or run, of a stage, and what is known of it.

    Args:
        stage: The stage that is judged by it.
        kind: Questions of one kind are looked at together; the inner ones first.
        name: What is asked, in a word.
        run: Asks it; a subject as new each time.
        parts: How far each part of an answer is off, in what is allowed.
        named: The quantities on the way, from the answer that was given.
        is_general: Whether no two of them are alike: a name is found there.
        sizes: n, m and p of a problem; empty without one.
        expected: The right answer, where there is one.
        steps: Of a run, those of a block.
        is_further: Whether it is asked only about what was found.
    """

    stage: str
    kind: str
    name: str
    run: Callable[[StageCalls, ValueWatch], Any]
    parts: Callable[[Any], tuple[float, ...]]
    named: Callable[[Any], list[Named]]
    is_general: bool = True
    sizes: tuple[int, ...] = ()
    expected: Vector | None = None
    steps: int = 0
    is_further: bool = False


def questions_of(stage: str, judged: Sequence[Probe], widen: Callable[[Probe], Probe]) -> list[TracedQuestion]:
    """Questions about a stage: drawn ones, those of the judge that it failed, and pairs of calls of one subject.

    Args:
        stage: ``lower_level``, ``activation``, ``penalty_minimiser``, ``hypergradient`` or ``samples``.
        judged: Calls that the judge found wrong.
        widen: A call with what the subject's declared accuracy allows.
    """
    drawn = [widen(probe) for probe in _drawn(stage)]
    own = [widen(probe) for probe in _chosen(judged)]
    alone = [of_probe(probe, stage, is_general=True) for probe in drawn]
    alone += [of_probe(probe, stage, is_general=False) for probe in own]
    pairs = [_twice(a, b, stage) for a, b in (*_followed(drawn), *_at_other_alphas(stage, widen))]
    further = [of_probe(widen(probe), stage, is_general=True) for probe in _drawn(stage, first=100)]
    return alone + pairs + [replace(question, is_further=True) for question in further if 1 not in question.sizes]


def _drawn(stage: str, first: int = 0) -> Iterator[Probe]:
    """Calls by seed; from ``first`` on where that is given."""
    more = range(first, first + FURTHER)
    if stage == "lower_level":
        yield from (lower_level_probe(place) for place in _solvable(first))
    elif stage == "activation":
        yield from _weights(first)
    elif stage == "penalty_minimiser":
        yield from (minimiser_question(seed) for seed in (more if first else SEEDS))
    elif stage == "hypergradient":
        yield from (line_6_question(seed) for seed in (more if first else SEEDS))
        yield from (
            chain_question(seed, given)
            for given in (FROM_RHO, FROM_PAIR, FROM_SCRATCH)
            for seed in (more if first else CHAIN_SEEDS)
        )
    elif stage == "samples":
        yield from (drawn_call(seed, model) for model in MODELS for seed in (more if first else NOISE_SEEDS))


def _solvable(first: int) -> Iterator[Any]:
    count = 0
    for seed in range(first, first + 40):
        place = drawn_place(seed * 8 + (0, 1, 3, 5)[seed % 4], ((2, 3, 2), (3, 2, 4), (2, 2, 2), (2, 3, 3))[seed % 4])
        if place.has_one_pair and (place.lam > 0.05).any():
            count += 1
            yield place
        if count == 6:
            return


def _weights(first: int) -> Iterator[Probe]:
    for seed, (h_width, lam_width) in enumerate(((0.5, 0.25), (0.125, 0.75), (1.5, 0.5), (0.25, 2.0)), first):
        rng = np.random.default_rng([seed, 11])
        size = 5 + seed % 10
        h, lam = h_width * rng.uniform(-1.3, 0.4, size), lam_width * rng.uniform(-0.3, 1.3, size)
        # Each ramp inside, above and below, so that no two of its parts are alike.
        h[:5] = h_width * np.array([-0.4, 0.3, -0.7, -1.2, -0.3])
        lam[:5] = lam_width * np.array([0.6, 0.3, 1.2, 0.5, -0.4])
        yield activation_probe(f"traced-{seed}", np.round(h, 6), np.round(lam, 6), h_width, lam_width)


def _chosen(judged: Sequence[Probe]) -> list[Probe]:
    """A few wrong ones of each kind: the first of each size, then others."""
    kinds: dict[object, dict[object, list[Probe]]] = {}
    for probe in judged:
        sizes = kinds.setdefault((probe.given, probe.needs_draws and probe.problem.noise.model), {})
        sizes.setdefault((len(probe.x), len(probe.expected)), []).append(probe)
    chosen: list[Probe] = []
    for sizes in kinds.values():
        ranked = sorted((rank, k) for k, group in enumerate(sizes.values()) for rank in range(len(group)))
        groups = [*sizes.values()]
        chosen += [groups[k][rank] for rank, k in ranked[:JUDGED]]
    return chosen


def _followed(probes: Iterable[Probe]) -> Iterator[tuple[Probe, Probe]]:
    """Calls of one kind and of equal sizes, one after another."""
    before: dict[object, Probe] = {}
    for probe in probes:
        sizes = (probe.given, len(probe.x), len(probe.expected), _count(probe.call.lam), probe.needs_draws)
        if sizes in before:
            yield before.pop(sizes), probe
        else:
            before[sizes] = probe


def _at_other_alphas(stage: str, widen: Callable[[Probe], Probe]) -> Iterator[tuple[Probe, Probe]]:
    """The same call at two alphas: what is kept of matrices shows."""
    for seed in CHAIN_SEEDS[:2]:
        if stage == "penalty_minimiser":
            yield widen(minimiser_question(seed, alpha=0.25)), widen(minimiser_question(seed, alpha=0.125))
        elif stage == "hypergradient":
            yield widen(line_6_question(seed, alpha=0.25)), widen(line_6_question(seed, alpha=0.125))
            yield widen(chain_question(seed, FROM_RHO)), widen(chain_question(seed, FROM_RHO, 0.125))


def _count(values: Vector | None) -> int:
    return -1 if values is None else len(values)


def of_probe(probe: Probe, stage: str, *, is_general: bool) -> TracedQuestion:
    """One call of the judge's."""
    kind: str = probe.given if probe.given not in ("", WHOLE) else ""
    kind = f"{kind} {probe.problem.noise.model}" if probe.needs_draws else kind
    return TracedQuestion(
        stage, kind, probe.id, lambda stages, _watch: probe.ask(stages), lambda got: (probe.excess(got),),
        lambda _answer: quantities_of(probe), is_general, _sizes(probe), probe.expected,
    )  # fmt: skip


def _sizes(probe: Probe) -> tuple[int, ...]:
    return () if probe.problem is None else (len(probe.x), probe.problem.m, probe.problem.p)


def _twice(first: Probe, second: Probe, stage: str) -> TracedQuestion:
    """Two calls of one subject: what is kept from the first shows in the second."""
    size = len(first.expected)

    def parts(got: Vector) -> tuple[float, ...]:
        return first.excess(got[:size]), second.excess(got[size:])

    def named(_answer: Any) -> list[Named]:
        others = {one.name: one for one in quantities_of(second)}
        both = ((one, others[one.name]) for one in quantities_of(first) if one.name in others)
        return [replace(a, value=Each([a.value, b.value])) for a, b in both]

    kind = of_probe(first, stage, is_general=True).kind
    return TracedQuestion(
        stage, f"{kind} twice", f"{first.id}, then {second.id}",
        lambda stages, _watch: np.concatenate([first.ask(stages), second.ask(stages)]), parts, named,
    )  # fmt: skip
