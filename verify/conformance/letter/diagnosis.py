"""Which catalogued deviation explains what was seen: each wrong implementation is asked the same."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from spec.exact import Vector
from verify.conformance import outer, random_stages
from verify.conformance.blame.explanations.explanation import Blame, Explanation
from verify.conformance.blame.known_names import confirmed_names
from verify.conformance.blame.left_over import left_over
from verify.conformance.blame.memory.state_rules import Remembers, StateRule
from verify.conformance.blame.noise.noise_elsewhere import is_at_random, with_all
from verify.conformance.blame.noise.noise_matrix import shares_as_told
from verify.conformance.blame.sums.call_points import point_of
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.bugs.catalogue import CATALOGUE, find
from verify.conformance.bugs.model import Bug
from verify.conformance.comparison.stage_comparison import PROBED, Seen
from verify.conformance.found import Diagnosis, Explained, Match
from verify.conformance.letter.sentences import (
    NEAR,
    NONE,
    ONE_NUMBER,
    SHOWN,
    always_alike,
    by_laws,
    by_rules,
    by_terms,
    by_values,
)
from verify.conformance.probes.answers import INSIDE, StageAnswer
from verify.conformance.probes.probes import WHOLE, Probe
from verify.conformance.random_stages import RUN_STAGES, Signature, distance
from verify.method.lines import Stage
from verify.method.plain_subject import PlainLoop
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls

SINGLE_ROUNDINGS = 4.0
"""Roundings of its own precision by which two evaluations of a mutant may differ, relative to the size of the terms."""
ROUNDS = 0.02
"""Share of its own precision that an evaluation errs by in the middle, at least, where its size leads."""
LIKELY = 0.75
"""Share of what chance allows, 4.5 standard errors, within which two laws are taken for the same."""


def diagnose(seen: Seen, blames: Sequence[Blame] = ()) -> tuple[Diagnosis, ...]:
    """What is wrong with every stage that diverges, largest effect first; stages without a measured effect last.

    What a stage does instead is told by its blame; beside it, or where it has none, by the catalogue.
    """
    diagnoses: list[Diagnosis] = []
    off = [finding.stage for finding in seen.findings if finding.status == "diverges"]
    told = {blame.stage for blame in blames if blame.explanations or blame.described}
    blames = [b for b in blames if b.explanations or b.described or (b.stage in off and b.stage not in told)]
    # A stage that only the oracle call shows is wrong in the call's place.
    inside = {stage for stage in told if stage in PROBED} - {*off}
    for stage in dict.fromkeys([*off, *(blame.stage for blame in blames)]):
        if stage == "hypergradient" and stage not in told and (inside or _is_noise_alone(seen, blames)):
            continue
        own = [blame for blame in blames if blame.stage == stage]
        first = own[0] if own else None
        diagnoses.append(_merged(_catalogued(seen, stage, first), first))
        diagnoses += [_merged(Diagnosis(stage=stage, sentence=NONE), blame) for blame in own[1:]]
    if any(d.stage == "hypergradient" and d.sentence.startswith(ONE_NUMBER) for d in diagnoses):
        diagnoses = [d for d in diagnoses if d.stage != "samples"]  # what answers one number has no noise either
    if any(d.stage == "hypergradient" and d.explanations for d in diagnoses):
        # Noise that nothing explains beside a line 6 that is explained tells nothing to do: its stage still deviates.
        diagnoses = [d for d in diagnoses if d.stage != "samples" or d.explanations or d.matches]
    diagnoses = [
        d.model_copy(update={"rest": left_over(seen, blames, d.stage)}) if d.explanations else d for d in diagnoses
    ]
    return tuple(sorted(diagnoses, key=lambda d: -math.inf if d.effect is None else d.effect, reverse=True))


def _is_noise_alone(seen: Seen, blames: Sequence[Blame]) -> bool:
    """Whether estimates, but those made of a stage that remembers, are off as the noise is said to be, and only so."""
    inner = any(_keep(blame.explanations) for blame in blames if blame.stage != "hypergradient")
    own = [a for a in seen.of("hypergradient") if a not in seen.follow]
    wrong = [a for a in own if not a.excess <= 1 and (a.probe.given == WHOLE or not inner)]
    noises = [blame.explanations[0] for blame in blames if blame.stage == "samples" and blame.explanations]
    if not noises or not wrong or any(not answer.probe.needs_draws for answer in wrong):
        return False
    told = [(a, with_all(noises, a.probe)) for a in wrong if not any(is_at_random(one, a.probe) for one in noises)]
    return all(t is not None and (np.abs(t - a.got) <= 2 * a.probe.tolerance).all() for a, t in told)


def _merged(known: Diagnosis, blame: Blame | None) -> Diagnosis:
    """What the catalogue says with what a stage's own answers say."""
    if blame is None:
        return known
    sentence = by_terms(blame) if blame.explanations else blame.described or known.sentence
    explained = tuple(Explained(sentence=one.sentence, edits=one.edits) for one in blame.explanations)
    return known.model_copy(
        update={"sentence": sentence, "explanations": explained, "agrees": blame.agrees, "held_out": blame.held_out,
                "effect": blame.effect}
    )  # fmt: skip


def _keep(explanations: Iterable[Explanation]) -> bool:
    return any(isinstance(one, StateRule | Remembers) for one in explanations)


def with_memories(seen: Seen, blames: Sequence[Blame]) -> None:
    """Stages that remember earlier calls diverge, though no probe met it; calls made of them follow."""
    remembering = [blame for blame in blames if _keep(blame.explanations)]
    for k, finding in enumerate(seen.findings):
        own = [blame.explanations[0].sentence for blame in remembering if blame.stage == finding.stage]
        inner = [blame.stage for blame in remembering if blame.stage in PROBED and blame.stage != "hypergradient"]
        if own and finding.status == "agrees":
            sentence = f"{own[0]}; asked in another order it answers otherwise."
            seen.findings[k] = finding.model_copy(update={"status": "diverges", "sentence": sentence})
        elif finding.stage == "hypergradient" and finding.status == "diverges" and inner and not own:
            wrong = [answer for answer in seen.of("hypergradient") if not answer.excess <= 1]
            if not any(answer.probe.given == WHOLE for answer in wrong):
                seen.follow += [answer for answer in wrong if answer not in seen.follow]
                sentence = f"{finding.compared - len(wrong)} answers agree; {len(wrong)} more are off: "
                sentence += f"{inner[0]}, which they are made of, remembers earlier calls."
                seen.findings[k] = finding.model_copy(update={"status": "agrees", "sentence": sentence})


def _catalogued(seen: Seen, stage: Stage, blame: Blame | None) -> Diagnosis:
    """What a stage's answers are beside the catalogue's."""
    if not any(finding.stage == stage and finding.status == "diverges" for finding in seen.findings):
        return Diagnosis(stage=stage, sentence=NONE)
    if stage in PROBED:
        return _by_values(seen, stage, blame)
    return _by_rules(seen) if stage == "optimise" else _by_laws(seen, stage, blame)


def suspect(seen: Seen) -> Diagnosis | None:
    """What the counts and spreads of inner solvers point to where only their claims fail."""
    diagnosis = _by_laws(seen, "runs") if seen.runs else None
    return diagnosis if diagnosis is not None and diagnosis.matches else None


def _by_values(seen: Seen, stage: Stage, blame: Blame | None) -> Diagnosis:
    """Number by number: first on the stage itself, then on the later stages, which tell equals apart."""
    answers = [answer for answer in seen.of(stage) if not answer.probe.published]
    if all(answer.excess <= 1 for answer in answers):
        # Only published vectors show it: then they are what tells the candidates apart.
        answers = seen.of(stage)
    if all(answer.excess <= 1 for answer in answers):
        # It remembers earlier calls, though nothing that was compared shows it.
        return Diagnosis(stage=stage, sentence=NONE)
    wrong = [answer for answer in answers if not answer.excess <= 1]
    # Beside an explanation only a name is told, not how far the others are.
    explained = blame is not None and bool(blame.explanations)
    mutants = [mutant for mutant in _candidates(PROBED) if not explained or _answers_alike(mutant, answers)]
    own = [_beside(mutant, answers, wrong) for mutant in mutants]
    matches = [match for match in own if match.matches]
    matches = confirmed_names(seen.stages, stage, matches, blame)
    if len(matches) > 1:
        position = PROBED.index(stage)
        later = [a for a in seen.answers if not a.probe.published and PROBED.index(a.probe.stage) > position]
        closer = [match for match in matches if _beside(find(match.id), later, []).distance <= 1]
        matches = closer or matches
    others = [] if explained else _nearest_first(m for m in own if not m.matches and _is_wrong(m.id, answers))
    where, partial = ("", []) if matches else _innermost(answers, wrong)
    sentence = by_values(matches, others, answers, where, partial)
    if not matches and not partial and (words := always_alike(answers)):
        return Diagnosis(stage=stage, sentence=words)
    return Diagnosis(stage=stage, sentence=sentence, matches=tuple(matches), partial=tuple(partial),
                     nearest=tuple(others[:SHOWN]))  # fmt: skip


def _innermost(answers: list[StageAnswer], wrong: list[StageAnswer]) -> tuple[str, list[Match]]:
    """What explains the calls that leave the least to the subject; two mistakes at once are told one after another."""
    for given, where in INSIDE.items():
        there = [answer for answer in wrong if answer.probe.given == given]
        if there and given:
            given_answers = [answer for answer in answers if answer.probe.given == given]
            alike = (mutant for mutant in _candidates(PROBED) if _answers_alike(mutant, given_answers))
            matches = (_beside(mutant, given_answers, there) for mutant in alike)
            return where, [match for match in matches if match.matches]
    return "", []


def _nearest_first(matches: Iterable[Match]) -> list[Match]:
    return sorted(matches, key=lambda match: match.distance)


def _is_wrong(mutant_id: str, answers: list[StageAnswer]) -> bool:
    """Whether a mutant itself goes wrong on these probes; one that is wrong elsewhere is near to nothing here."""
    return not all(_answers(mutant_id, tuple(answer.probe for answer in answers)).right)


def _candidates(stages: Iterable[Stage]) -> list[Bug]:
    wanted = set(stages)
    return [mutant for mutant in CATALOGUE if mutant.stage in wanted]


@dataclass(frozen=True)
class _Theirs:
    """A mutant's answers, in the order of the probes; ``right`` are those within the tolerance."""

    given: tuple[Vector | None, ...]
    right: tuple[bool, ...]


@lru_cache(maxsize=1024)
def _answers(mutant_id: str, probes: tuple[Probe, ...]) -> _Theirs:
    """A mutant's answers, in the order in which the subject gave its own: some depend on what came before."""
    stages = StageCalls(by_id(mutant_id))
    given = tuple(_answer(stages, probe) for probe in probes)
    pairs = zip(probes, given, strict=True)
    return _Theirs(given, tuple(t is not None and probe.excess(t) <= 1 for probe, t in pairs))


def _answer(stages: StageCalls, probe: Probe) -> Vector | None:
    try:
        return probe.ask(stages)
    except (SubjectFaultError, MissingCapabilityError):
        return None


def _answers_alike(mutant: Bug, answers: list[StageAnswer]) -> bool:
    """Whether a mutant may answer all as the subject does: asked as it was, until an answer is another."""
    stages = StageCalls(by_id(mutant.id))
    return mutant.roundoff is not None or all(
        (given := _answer(stages, answer.probe)) is not None
        and bool((np.abs(answer.got - given) <= _allowed(answer)).all())
        for answer in answers
    )


def _allowed(answer: StageAnswer) -> Vector:
    """How far a subject's and a mutant's answer may be apart: where both stop a solve of their own, both may be off."""
    return np.asarray(answer.probe.tolerance * (1.0 if answer.probe.given in ("", WHOLE) else 2.0))


def _beside(mutant: Bug, answers: list[StageAnswer], wrong: list[StageAnswer]) -> Match:
    """A subject's answers beside a mutant's, those that it has."""
    known = _answers(mutant.id, tuple(answer.probe for answer in answers))
    both = [(a, t, right) for a, t, right in zip(answers, known.given, known.right, strict=True) if t is not None]
    worst, difference = (0.0 if len(both) == len(answers) else math.inf), 0.0
    seen_wrong = not wrong or any(not right and not a.excess <= 1 for a, _, right in both)
    if both:
        apart = np.abs(_joined(a.got - t for a, t, _ in both))
        allowed = _joined(_allowed(a) for a, _, _ in both)
        if mutant.roundoff is not None and not _of_rounding_size(answers, mutant.roundoff):
            # Not a matter of rounding: then it is compared like any other.
            allowed, worst = _joined(a.probe.tolerance for a, _, _ in both), 0.0
        elif mutant.roundoff is not None:
            allowed = allowed + SINGLE_ROUNDINGS * mutant.roundoff * _joined(_scale(a.probe) for a, _, _ in both)
        # What is no number is like nothing.
        worst = max(worst, float(np.nan_to_num(apart / allowed, nan=np.inf).max(initial=0.0)))
        difference = float(apart.max(initial=0.0))
    return _match(mutant, worst <= 1 and seen_wrong, worst, difference, len(answers))


def _joined(blocks: Iterable[Vector]) -> Vector:
    return np.concatenate([*blocks])


def _scale(probe: Probe) -> Vector:
    return np.zeros_like(probe.tolerance) if probe.scale is None else np.asarray(probe.scale)


def _of_rounding_size(answers: list[StageAnswer], roundoff: float) -> bool:
    """Whether line 6 alone errs by this rounding and no more."""
    whole = [a for a in answers if a.probe.scale is not None]
    if not whole:
        return False
    allowed = SINGLE_ROUNDINGS * roundoff
    within = (
        np.abs(a.got - a.probe.expected) <= a.probe.tolerance + allowed * np.asarray(a.probe.scale) for a in whole
    )
    return all(one.all() for one in within) and _errs_in_rows(whole, roundoff)


def _errs_in_rows(answers: Iterable[StageAnswer], roundoff: float) -> bool:
    """Whether the rows' summand, where it leads, errs by about this rounding: what is far more exact has another cause.

    Differences of values, or decimals left out, err in line 6 too, and by less than single precision where rows lead.
    """
    shares = []
    for a in answers:
        c, scale = point_of(a.probe), np.asarray(a.probe.scale)
        if c is not None:
            leads = (scale > 0) & (c.alpha_2 * np.abs(c.q.A.T) @ (c.rho * np.abs(c.h)) >= scale / 2)
            shares += [*(np.abs(a.got - a.probe.expected)[leads] / (roundoff * scale[leads]))]
    return bool(shares) and float(np.median(shares)) >= ROUNDS


def _match(mutant: Bug, matches: bool, worst: float, difference: float | None, compared: int) -> Match:
    return Match(
        id=mutant.id, bug_type=mutant.type, effect=mutant.effect, matches=matches, distance=worst,
        caught_by=tuple(dict.fromkeys(c.claim for c in mutant.caught_by)), difference=difference, compared=compared,
    )  # fmt: skip


def _by_rules(seen: Seen) -> Diagnosis:
    if seen.record is None:
        return Diagnosis(stage="optimise", sentence=NONE, matches=(), nearest=())
    candidates = []
    for mutant in _candidates(["optimise"]):
        rules = by_id(mutant.id)
        if not isinstance(rules, PlainLoop):
            continue
        compared = outer.compare(seen.record, rules)
        worst = max(c.excess for c in compared)
        # Where a law alone tells them apart there is no number to show.
        numbers = [c.difference for c in compared if not c.is_law and (worst <= 1 or c.excess > 1)]
        candidates.append(_match(mutant, worst <= 1, worst, max(numbers, default=None), len(compared)))
    matches = [match for match in candidates if match.matches]
    others = _nearest_first(match for match in candidates if not match.matches)
    sentence = by_rules(matches, others, len(seen.record.runs) + len(seen.record.outputs))
    return Diagnosis(stage="optimise", sentence=sentence, matches=tuple(matches), nearest=tuple(others[:SHOWN]))


def _by_laws(seen: Seen, stage: Stage, blame: Blame | None = None) -> Diagnosis:
    if stage == "samples":
        sampled = seen.sampled
        assert sampled is not None  # the stage diverged, so it was sampled
        own, right = sampled.signature, sampled.law
        counts = tuple(sorted(sampled.counts.items()))
        theirs = {mutant.id: _samples_of(mutant.id, counts) for mutant in _candidates(["samples"])}
    else:
        own, right = seen.runs, random_stages.reference_runs()
        offered = tuple(name for name in RUN_STAGES if seen.stages.offers(name))
        theirs = {mutant.id: _runs_of(mutant.id, offered) for mutant in _candidates(["runs"])}
        # A mutant whose solvers the subject does not offer looks like the reference here.
        theirs = {mutant_id: runs for mutant_id, runs in theirs.items() if distance(runs, right) > 1}
    off, candidates = distance(own, right), []
    for mutant_id, signature in theirs.items():
        worst = distance(own, signature)
        # A law between two others is neither; one that is alike only where it was compared is another, too.
        alike = worst <= min(LIKELY, NEAR * off) and shares_as_told(blame, StageCalls(by_id(mutant_id)))
        candidates.append(_match(find(mutant_id), alike, worst, None, len(own)))
    matches = _nearest_first(match for match in candidates if match.matches)
    others = _nearest_first(match for match in candidates if not match.matches)
    sentence = by_laws(matches, others, len(own), off)
    return Diagnosis(stage=stage, sentence=sentence, matches=tuple(matches), nearest=tuple(others[:SHOWN]))


@lru_cache(maxsize=64)
def _samples_of(mutant_id: str, counts: tuple[tuple[str, int], ...]) -> Signature:
    return random_stages.sample(StageCalls(by_id(mutant_id)), dict(counts), stream=1).signature


@lru_cache(maxsize=64)
def _runs_of(mutant_id: str, offered: tuple[str, ...]) -> Signature:
    return random_stages.known_runs(StageCalls(by_id(mutant_id)), offered)
