"""What is wrong with the noise of a subject's estimates: its size, its mean, or what draws have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import numpy as np

from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.blame.noise.estimate_laws import NoiseRule, of_f, of_g, of_mean
from verify.conformance.blame.noise.noise_draws import explain_draws
from verify.conformance.blame.noise.noise_jumps import explain_jumps
from verify.conformance.blame.noise.noise_matrix import (
    ADDITIVE_SCALE,
    FIRST,
    LATER,
    NORMALS_APART,
    SHARED_NORMALS,
    SOURCES,
    TAKEN_SCALES,
    MatrixLaw,
    SharedNormals,
    Source,
    TakenScale,
    matrix_laws,
    matrix_spots,
)
from verify.conformance.blame.noise.noise_spots import (
    BOTH,
    COUNTED_F,
    COUNTED_G,
    COUNTS,
    EXACTLY,
    HELD_OUT_F,
    HELD_OUT_G,
    OF_F,
    OF_G,
    DrawnSpot,
    Spot,
    knows_the_stage,
)
from verify.conformance.blame.noise.noise_structure import OF_DRAWS, PATTERNS, PatternRule, patterns
from verify.conformance.blame.noise.noise_structure import ROWS as PATTERN_ROWS
from verify.conformance.random_stages import Sampled, distance
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls, offers

NoiseLaw = NoiseRule | MatrixLaw | TakenScale | SharedNormals
MANY = 3000
"""Estimates a spot where the usual number shows nothing, of subjects that answer many at once."""
RIVALS = 3
"""Explanations that are listed where nothing drawn tells them apart."""


def explain_noise(
    stages: StageCalls, sampled: Sampled | None = None, *, is_explained: bool = False
) -> tuple[Blame, ...]:
    """Name what is wrong with the noise of the oracle call, largest effect first.

    Args:
        stages: The subject, asked for estimates with one gradient noisy at a time, and for its answers without noise,
            around which the noise is judged.
        sampled: What the comparison saw; where that is off and nothing here explains it, one entry without explanations
            says so. Where it is right only what is made of given normals is looked at.
        is_explained: Whether it is known what the subject answers without noise, however far that is off.

    Returns:
        One entry a fault; of a subject that takes its normals from the call it is the formula of its noise. An
        explanation was found on some spots and confirmed on others. None where the noise is right, where the answers
        without noise are not of this stage at all or are random themselves, or where the subject does not support
        noise.
    """
    off = sampled is not None and distance(sampled.signature, sampled.law) > 1
    blames: list[Blame] = []
    of_draws: Blame | None = None
    with suppress(SubjectFaultError, MissingCapabilityError):
        is_known = knows_the_stage(stages, is_explained=is_explained)
        of_draws = explain_draws(stages) if is_known else None
        of_jumps = explain_jumps(stages) if is_known else None
        formulas = tuple(one for one in (of_draws, of_jumps) if one is not None and one.explanations)
        if formulas:
            return (*formulas, *(_of_draws(stages, OF_DRAWS) if off else ()))
        of_draws = of_draws or of_jumps
        if is_known and (off or sampled is None):
            blames = [*_explained(stages)]
            if not blames and off and offers(stages.subject, "hypergradient_samples"):
                blames = [*_small_shift(stages)]
    if not blames and (off or of_draws is not None):
        blames = [of_draws or Blame("samples", ())]
    return tuple(sorted(blames, key=lambda blame: -(blame.effect or 0.0)))


def _explained(stages: StageCalls) -> Iterator[Blame]:
    f, g = [spot.draw(stages) for spot in OF_F], [spot.draw(stages) for spot in OF_G]
    means = _confirmed(stages, of_mean(f), f, HELD_OUT_F)
    if means is not None:
        yield means
        if any("added up" in explanation.sentence for explanation in means.explanations):
            return
    both = [*f, *g]
    taken = _confirmed(
        stages, [ADDITIVE_SCALE] if ADDITIVE_SCALE.predicts(both) else [], both, (*HELD_OUT_F, *HELD_OUT_G)
    )
    if taken is not None:
        yield taken
    still = any(one.variance == 0 for one in f)
    shared = [] if still else _of_draws(stages)
    yield from shared
    if any(isinstance(rule, PatternRule) and rule.blurs_size for blame in shared for rule in blame.explanations):
        return
    named: set[Source] = set()
    searches: tuple[
        tuple[Source, Callable[[Sequence[DrawnSpot]], Sequence[NoiseLaw]], Sequence[DrawnSpot], Sequence[Spot]], ...
    ]
    searches = (("f", of_f, f, (*HELD_OUT_F, *COUNTED_F)), ("g", of_g, g, (*HELD_OUT_G, *COUNTED_G)))
    for source, search, drawn, spots in searches if taken is None else ():
        if still and source == "f" and means is not None:
            # One draw shared by all would look the same.
            continue
        blame = _confirmed(stages, search(drawn), drawn, spots)
        if blame is not None:
            named.add(source)
            yield blame
    with suppress(MissingCapabilityError):
        yield from _of_matrices(stages, [source for source in SOURCES if source not in named and means is None])


def _of_draws(stages: StageCalls, among: Sequence[PatternRule] = PATTERNS) -> list[Blame]:
    """What draws have in common that they must not."""
    rules = patterns(stages, among)
    return [Blame("samples", rules, 2 * PATTERN_ROWS, PATTERN_ROWS, 0.0, BOTH.setting.deviation)] if rules else []


def _of_matrices(stages: StageCalls, sources: Sequence[Source]) -> Iterator[Blame]:
    """What is wrong with matrix noise alone: σ of the other gradient, the law of one, or normals that two share."""
    drawn_of = {source: [spot.draw(stages) for spot in matrix_spots(source, FIRST)] for source in sources}
    if {*sources} == {*SOURCES}:
        every = [one for drawn in drawn_of.values() for one in drawn]
        later = [spot for source in SOURCES for spot in matrix_spots(source, LATER, COUNTS)]
        taken = _confirmed(stages, [rule for rule in TAKEN_SCALES if rule.predicts(every)], every, later)
        if taken is not None:
            yield taken
            return
    laws = {source: matrix_laws(source, drawn) for source, drawn in drawn_of.items()}
    for source, drawn in drawn_of.items():
        blame = _confirmed(stages, laws[source], drawn, matrix_spots(source, LATER, COUNTS))
        if blame is not None:
            yield blame
    if {*sources} == {*SOURCES} and not any(laws.values()):
        both = [spot.draw(stages) for spot in matrix_spots("both", FIRST)]
        shared = [] if NORMALS_APART.predicts(both) else [rule for rule in SHARED_NORMALS if rule.predicts(both)]
        blame = _confirmed(stages, shared, both, matrix_spots("both", LATER, COUNTS))
        if blame is not None:
            yield blame


def _small_shift(stages: StageCalls) -> Iterator[Blame]:
    """What only many estimates show."""
    f = [spot.draw(stages, MANY) for spot in OF_F]
    blame = _confirmed(stages, of_mean(f), f, HELD_OUT_F)
    if blame is not None:
        yield blame


def _confirmed(
    stages: StageCalls, rules: Sequence[NoiseLaw], drawn: Sequence[DrawnSpot], spots: Sequence[Spot]
) -> Blame | None:
    """Rules that draws made since then follow too; ``None`` where there are none."""
    if not rules:
        return None
    usual = len(drawn[0].rows)
    exactly = EXACTLY if offers(stages.subject, "hypergradient_samples") else usual
    counted = (*COUNTED_F, *COUNTED_G)
    fresh = [spot.draw(stages, exactly if spot in counted else usual, stream=7) for spot in spots]
    laws = [rule for rule in rules if rule.predicts(fresh)][:RIVALS]
    if not laws:
        return None
    new = sum(len(one.rows) for one in fresh)
    effect = max(max(_size(one), float(np.abs(one.shift).max())) for one in drawn)
    return Blame("samples", laws, new + sum(len(one.rows) for one in drawn), new, laws[0].excess(fresh), effect)


def _size(one: DrawnSpot) -> float:
    """How far estimates lie off what they should be, as far as noise does it."""
    return float(abs(np.sqrt(one.variance) - one.spot.setting.deviation))
