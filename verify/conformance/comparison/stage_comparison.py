"""Every offered stage alone, on given correct inputs: which one diverges first, and by how much."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, get_args

from verify.conformance import outer, random_stages
from verify.conformance.comparison.consequences import consequences
from verify.conformance.comparison.end_to_end import is_offered, judge_end_to_end
from verify.conformance.comparison.runs_together import Group, compare_together, watch_together
from verify.conformance.found import Divergence, StageFinding
from verify.conformance.probes.answers import INSIDE, Asked, StageAnswer
from verify.conformance.probes.probes import WHOLE, Probe, probes
from verify.conformance.random_stages import RUN_STAGES, Sampled, Signature, Statistic, distance
from verify.method.lines import Stage
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls, offers

Probed = Literal["lower_level", "activation", "penalty_minimiser", "hypergradient"]
PROBED: tuple[Probed, ...] = get_args(Probed)
FAULTS = 3
"""A stage that failed so often is not asked again."""
CHUNK = 8
"""Probes of one kind asked in a row, so that every kind is reached early."""


@dataclass
class Seen:
    """Everything a subject showed, stage by stage, and what is to be said about it.

    Answers to the probes of the deterministic stages, samples of the oracle call, runs of the inner solvers, and the
    record of Algorithm 2.
    """

    stages: StageCalls
    answers: list[StageAnswer] = field(default_factory=list)
    broken: list[tuple[Probe, SubjectFaultError]] = field(default_factory=list)
    follow: list[StageAnswer] = field(default_factory=list)
    """Wrong estimates that are right for the subject's own wrong stages."""
    sampled: Sampled | None = None
    runs: dict[str, Statistic] = field(default_factory=dict)
    record: outer.LoopRecord | None = None
    together: tuple[Group, ...] = ()
    miscounted: str = ""
    """That runs made together ask for another number of gradients, in a sentence."""
    findings: list[StageFinding] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    ended: bool = False
    """Whether it was interrupted."""

    @property
    def first(self) -> Stage | None:
        """The first stage that diverges."""
        return next((finding.stage for finding in self.findings if finding.status == "diverges"), None)

    @property
    def is_silent(self) -> bool:
        """Whether no stage answered anything."""
        return bool(self.findings) and all(finding.status == "not offered" for finding in self.findings)

    def of(self, stage: Stage) -> list[StageAnswer]:
        """Answers of one stage."""
        return [answer for answer in self.answers if answer.probe.stage == stage]


def look(
    stages: StageCalls,
    *,
    extra: Sequence[Probe] = (),
    only: Sequence[Stage] = get_args(Stage),
    questions: Sequence[Probe] | None = None,
) -> Seen:
    """Compare all offered stages; ``extra`` probes are asked after the built-in ones, ``questions`` instead of these.

    After an interrupt, and where the time is up, what was seen so far is kept and nothing more is asked.
    """
    seen, questions = Seen(stages), (*(probes() if questions is None else questions), *extra)
    looks: dict[Stage, Callable[[Seen], StageFinding]] = {
        stage: partial(_probed, stage, _spread([probe for probe in questions if probe.stage == stage]))
        for stage in PROBED
    }
    looks |= {"samples": _sampled, "runs": _run, "optimise": _optimised}
    for stage, find in looks.items():
        if stage not in only:
            continue
        try:
            finding = _unasked(stage) if seen.ended else find(seen)
        except KeyboardInterrupt:
            seen.ended, finding = True, _unasked(stage)
        except MissingCapabilityError as refusal:
            finding = _not_offered(stage, refusal)
        except SubjectFaultError as error:
            seen.faults.append(f"{stage}: {error}")
            finding = StageFinding(stage=stage, status="fault", sentence=str(error))
        seen.findings.append(finding)
    return seen


def _unasked(stage: Stage) -> StageFinding:
    return StageFinding(stage=stage, status="undecided", sentence="Not judged: nothing more was asked.")


def _not_offered(stage: Stage, why: object, refused: int = 0) -> StageFinding:
    """Of a stage that is there and refuses every call, ``refused`` is how many."""
    return StageFinding(stage=stage, status="not offered", sentence=f"Not applicable: {why}.", refused=refused)


def _spread(unordered: list[Probe]) -> list[Probe]:
    """Probes in an order that reaches every kind early, problems of equal kind still one after another."""
    kinds: dict[str, list[Probe]] = {}
    for probe in unordered:
        kinds.setdefault(probe.given, []).append(probe)
    longest = max((len(kind) for kind in kinds.values()), default=0)
    return [p for start in range(0, longest, CHUNK) for kind in kinds.values() for p in kind[start : start + CHUNK]]


def ask(stages: StageCalls, questions: Iterable[Probe]) -> Asked:
    """Ask until nothing comes back, or until an interrupt.

    As long as nothing is answered, what has a kind and a problem that were both refused is put off, for good if nothing
    ever is: a subject may be slow to refuse.
    """
    replies, refused, put_off = Asked(), set[object](), list[Probe]()
    queue = deque(probe for probe in questions if stages.use_draws or probe.call.draws is None)
    while queue:
        probe = queue.popleft()
        if not replies.answers and {probe.given, id(probe.problem)} <= refused:
            put_off.append(probe)
            continue
        if replies.ended or len(replies.broken) >= FAULTS:
            replies.late += 1
            continue
        try:
            replies.answers.append(StageAnswer(probe, probe.ask(stages)))
            queue.extend(put_off)
            put_off.clear()
        except KeyboardInterrupt:
            replies.ended, replies.late = True, replies.late + 1
        except MissingCapabilityError as refusal:
            replies.refusals.append(str(refusal))
            refused |= {probe.given, id(probe.problem)}
        except SubjectFaultError as fault:
            replies.broken.append((probe, fault))
    return replies


def _probed(stage: Probed, spread: list[Probe], seen: Seen) -> StageFinding:
    """A stage whose right answers are known number by number."""
    if not seen.stages.offers(stage):
        return _not_offered(stage, f"the subject offers no {stage}")
    replies = ask(seen.stages, spread)
    seen.ended = seen.ended or replies.ended
    answers, count = replies.answers, len(replies.answers)
    seen.answers += answers
    seen.broken += replies.broken
    fault = "".join(f"{probe.id}: {fault}" for probe, fault in replies.broken[:1])
    seen.faults += [fault] if fault else []
    wrong = [answer for answer in answers if not answer.excess <= 1]
    # Only a stage that was itself found wrong can be the cause: else nothing would say that they are off.
    caused = stage == "hypergradient" and any(earlier.status == "diverges" for earlier in seen.findings)
    follow = consequences(seen.stages, wrong) if caused else []
    seen.follow += follow
    wrong = [answer for answer in wrong if answer not in follow]
    worst = max((answer.excess for answer in answers if answer not in follow), default=0.0)
    finding = partial(StageFinding, stage=stage, compared=count, refused=len(replies.refusals), worst=worst)
    if wrong:
        # Inner work is named innermost first: line 6 alone, then the solve before it, and so on.
        first = min(wrong, key=lambda answer: [*INSIDE].index(answer.probe.given))
        probe, inside = first.probe, INSIDE[first.probe.given]
        where = f" ({inside})" if inside else ""
        return finding(
            status="diverges", diverging=len(wrong),
            sentence=f"{len(wrong)} of {count} answers are off; first {probe.id}{where}: {_numbers(first)}",
            divergence=Divergence(
                probe=probe.id, what=inside or f"{stage} on given inputs", expected=tuple(probe.expected.tolist()),
                got=tuple(first.got.tolist()), tolerance=tuple(probe.tolerance.tolist()), excess=first.excess,
            ),
        )  # fmt: skip
    if fault:
        rest = f" {count} other answer{' agrees' if count == 1 else 's agree'}." if count else ""
        return finding(status="fault", sentence=f"{fault}.{rest}")
    if not count and not replies.late and replies.refusals:
        return _not_offered(stage, replies.refusals[0], len(replies.refusals))
    sentence = f"{count - len(follow)} answers agree; the largest difference is {worst:.2g} of its tolerance."
    sentence += f" {len(follow)} more are off as its own stages are: given what those answer, they are right." * bool(
        follow
    )
    sentence += _besides(replies.refusals)
    sentence += f" {replies.late} more were not asked." if replies.late else ""
    return finding(status="undecided" if replies.late else "agrees", sentence=sentence)


def _besides(refusals: Sequence[str]) -> str:
    """What is added where a stage does not support some of what it is asked."""
    if not refusals:
        return ""
    words = re.sub(r"^the subject does not support this \w+: ", "", refusals[0])
    return f" {len(refusals)} more it says it does not support ({words})."


def _numbers(answer: StageAnswer) -> str:
    probe = answer.probe
    at = int((abs(answer.got - probe.expected) / probe.tolerance).argmax())
    vector = "it is a published test vector; " if probe.published else ""
    entry = f"entry {at + 1} is" if len(answer.got) > 1 else "it is"
    return vector + (
        f"{entry} {answer.got[at]:.9g}, must be {probe.expected[at]:.9g} (tolerance {probe.tolerance[at]:.1e})."
    )


def _sampled(seen: Seen) -> StageFinding:
    if not seen.stages.offers("hypergradient"):
        return _not_offered("samples", "the subject offers no hypergradient")
    return sampled_finding(seen, random_stages.sample(seen.stages, own_mean=shifted(seen)))


def shifted(seen: Seen) -> bool:
    """Whether line 6 is wrong, which shifts every mean: noise is then judged beside its own answer without noise."""
    return any(a.probe.given == WHOLE and not (a.probe.needs_draws or a.excess <= 1) for a in seen.answers)


def sampled_finding(seen: Seen, sampled: Sampled) -> StageFinding:
    """What samples show, which are kept with what was seen."""
    seen.sampled = sampled
    seen.ended = seen.ended or sampled.ended
    worst, count = distance(sampled.signature, sampled.law), sum(sampled.counts.values())
    if worst > 1:
        return _unlike("samples", sampled.signature, sampled.law, f"{count} estimates")
    sentence = f"Mean, variance and correlation of {count} estimates are as they should be." if count else "Not judged."
    sentence += " The other settings were not asked." if sampled.ended else ""
    sentence += _besides([*sampled.refused.values()])
    return StageFinding(stage="samples", status="undecided" if sampled.ended else "agrees", sentence=sentence,
                        compared=len(sampled.signature), worst=worst)  # fmt: skip


def _run(seen: Seen) -> StageFinding:
    offered = [stage for stage in RUN_STAGES if seen.stages.offers(stage)]
    if not offered:
        return _not_offered("runs", "the subject offers no stochastic inner solver")
    low, refusals = "", []
    statistics: dict[str, Statistic] = {}
    for setting in random_stages.run_settings():
        if setting.stage not in offered:
            continue
        try:
            signature = setting.of_runs(seen.stages)
        except MissingCapabilityError as error:
            refusals.append(str(error))
            continue
        seen.runs |= signature
        statistics |= signature if setting.settled else {}
        fewest, count = setting.fewest_gradients, signature.get(f"{setting.id}: samples")
        if count is not None and count.value < fewest:
            low = f"{setting.id}: a run reports {count.value:g} samples where its lower level alone takes {fewest:g}."
    if not seen.runs:
        return _not_offered("runs", refusals[0])
    law = random_stages.reference_runs()
    statistics = random_stages.held_to(statistics, law)
    worst = distance(statistics, law)
    if worst > 1:
        return _unlike("runs", statistics, law, f"{random_stages.RUNS} runs")
    if low:
        return StageFinding(stage="runs", status="diverges", sentence=low, compared=len(seen.runs), diverging=1,
                            worst=2.0)  # fmt: skip
    sentence = "The protocol leaves the laws of its results open"
    if statistics:
        sentence = f"{len(statistics)} means and spreads agree with the protocol's iteration"
    sentence += "; counts of samples are possible ones." + _besides(refusals)
    return StageFinding(stage="runs", status="agrees", sentence=sentence, compared=len(statistics), worst=worst)


def _unlike(stage: Stage, signature: Signature, law: Signature, where: str) -> StageFinding:
    """A stage whose statistics are not those of the right law."""
    excesses = {
        name: signature[name].apart(law[name])
        for name in signature
        if name in law and signature[name].apart(law[name]) > 1
    }
    name, excess = next(iter(excesses.items()))
    got, right = signature[name], law[name]
    return StageFinding(
        stage=stage, status="diverges", compared=len(signature), diverging=len(excesses), worst=max(excesses.values()),
        sentence=f"{len(excesses)} of {len(signature)} statistics of {where} are off; first {name}: {got.value:.4g} ± "
        f"{got.error:.2g}, must be {right.value:.4g} ({got.shown}).",
        divergence=Divergence(probe=name, what=got.shown, expected=(right.value,), got=(got.value,), excess=excess),
    )  # fmt: skip


def _optimised(seen: Seen) -> StageFinding:
    single, lines, refusals = seen.stages.offers("optimise"), list[outer.LoopComparison](), list[str]()
    if not single and is_offered(seen.stages):
        return judge_end_to_end(seen.stages)
    if not single and not offers(seen.stages.subject, "optimise_runs"):
        return _not_offered("optimise", "the subject offers no optimise")
    if single:
        try:
            seen.record = outer.watch(seen.stages)
        except outer.WrongNumberOfCallsError as error:
            return StageFinding(stage="optimise", status="diverges", sentence=f"{error}.", compared=1, diverging=1,
                                worst=2.0)  # fmt: skip
        lines = outer.compare(seen.record, outer.RIGHT)
    wrong = [comparison for comparison in lines if comparison.excess > 1]
    if not wrong:
        # Where single runs are off, those made together are expected to be.
        try:
            seen.together = watch_together(seen.stages)
        except MissingCapabilityError as refusal:
            refusals.append(str(refusal))
        except outer.WrongNumberOfCallsError as error:
            seen.miscounted = f"{'Single runs are right. ' if single else ''}{error}."
            return StageFinding(stage="optimise", status="diverges", sentence=f"{error}.", compared=len(lines) + 1,
                                diverging=1, worst=2.0)  # fmt: skip
        lines += compare_together(seen.together)
        if not lines:
            return _not_offered("optimise", refusals[0])
        wrong = [comparison for comparison in lines if comparison.excess > 1]
    numbers: dict[str, Any] = {"compared": len(lines), "worst": max(comparison.excess for comparison in wrong or lines)}
    if not wrong:
        laws = "s_t and the output's block are" if single else "s_t is"
        sentence = f"Steps, queried points and block means follow Algorithm 2; {laws} uniform."
        sentence += "" if single else " It makes runs together alone, which have no output."
        sentence += _besides(refusals)
        return StageFinding(stage="optimise", status="agrees", sentence=sentence, **numbers)
    first = wrong[0]
    return StageFinding(
        stage="optimise", status="diverges", diverging=len(wrong), **numbers,
        sentence=f"Its {first.part} {'is' if first.part == 'start' else 'are'} off on {first.trial}: {first.said}.",
        divergence=Divergence(probe=first.trial, what=first.sentence, expected=first.expected, got=first.got,
                              excess=first.excess),
    )  # fmt: skip
