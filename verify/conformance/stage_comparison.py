"""Every offered stage alone, on given correct inputs: which one diverges first, and by how much."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from verify.conformance import inner_runs, outer, sampling
from verify.conformance.model import Divergence, StageFinding, Status
from verify.conformance.probe_set import probes
from verify.conformance.probes import FROM_PAIR, FROM_RHO, FROM_SCRATCH, WHOLE, Probe
from verify.conformance.signatures import Signature, Statistic, distance
from verify.mutants.entry import Stage
from verify.subjects import MissingCapabilityError, ReferenceSubject, SubjectFaultError
from verify.subjects.protocol import Stages

if TYPE_CHECKING:
    from verify.subjects.protocol import Capability, Vector

Probed = Literal["lower_level", "activation", "penalty_minimiser", "hypergradient"]
PROBED: tuple[Probed, ...] = ("lower_level", "activation", "penalty_minimiser", "hypergradient")
RUNS: tuple[Capability, ...] = ("lower_level_runs", "penalty_runs", "hypergradient_runs")
SECONDS = 4.0
"""Time a stage may take; a slow subject is compared on fewer points, which is then said."""
FAULTS = 3
"""A stage that failed so often is not asked again."""
INSIDE = {
    WHOLE: "with every stage given, line 6 alone",
    FROM_RHO: "given ỹ*, λ̃ and ρ: its own penalty solve and line 6",
    FROM_PAIR: "given ỹ* and λ̃: its own activation, penalty solve and line 6",
    FROM_SCRATCH: "given nothing: its own lower level and all that follows",
    "": "",
}


@dataclass(frozen=True)
class Answer:
    """What came back from one probe."""

    probe: Probe
    got: Vector

    @property
    def excess(self) -> float:
        """Largest difference from the right value, in tolerances."""
        return self.probe.excess(self.got)


@dataclass
class Seen:
    """Everything a subject showed, stage by stage, and what is to be said about it.

    Args:
        stages: The subject's.
        answers: To the probes of the deterministic stages.
        sampled: Samples of the oracle call.
        runs: Signatures of the inner solvers.
        record: Runs of Algorithm 2.
        findings: By stage.
        faults: One line each.
    """

    stages: Stages
    answers: list[Answer] = field(default_factory=list)
    sampled: sampling.Sampled | None = None
    runs: dict[str, Statistic] = field(default_factory=dict)
    record: outer.Record | None = None
    findings: list[StageFinding] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def first(self) -> Stage | None:
        """The first stage that diverges."""
        return next((found.stage for found in self.findings if found.status == "diverges"), None)

    def of(self, stage: Stage) -> list[Answer]:
        """Answers of one stage."""
        return [answer for answer in self.answers if answer.probe.stage == stage]


def ask(stages: Stages, asked: Iterable[Probe], seconds: float, faults: list[str]) -> tuple[list[Answer], int]:
    """Ask until the time is up; returns the answers and how many probes were left out."""
    found: list[Answer] = []
    started, failed, left = time.perf_counter(), 0, 0
    for probe in asked:
        if probe.needs_draws and not stages.use_draws:
            continue
        if failed >= FAULTS or time.perf_counter() - started > seconds:
            left += 1
            continue
        try:
            found.append(Answer(probe, probe.ask(stages)))
        except MissingCapabilityError:
            left += 1
        except SubjectFaultError as error:
            failed += 1
            if failed == 1:
                faults.append(f"{probe.stage} on {probe.id}: {error}")
            left += 1
    return found, left


def look(
    stages: Stages, *, seconds: float = SECONDS, extra: Sequence[Probe] = (), only: Sequence[Stage] = get_args(Stage)
) -> Seen:
    """Compare all offered stages.

    Args:
        stages: The subject's.
        seconds: Time for each stage.
        extra: Further probes, asked after the built-in ones.
        only: Stages to look at.
    """
    seen = Seen(stages)
    all_probes = (*probes(), *extra)
    for stage in PROBED:
        if stage not in only:
            continue
        if not stages.offers(stage):
            seen.findings.append(_missing(stage))
            continue
        before = len(seen.faults)
        asked = _spread([probe for probe in all_probes if probe.stage == stage])
        answers, left = ask(stages, asked, seconds, seen.faults)
        seen.answers += answers
        seen.findings.append(_judged(stage, answers, left, seen.faults[before:]))
    if "samples" in only:
        _sampled(seen, seconds)
    if "runs" in only:
        _run(seen)
    if "optimise" in only:
        _optimised(seen)
    return seen


def _spread(asked: list[Probe]) -> list[Probe]:
    """Probes in an order that reaches every kind early, problems of equal kind still one after another."""
    kinds: dict[str, list[Probe]] = {}
    for probe in asked:
        kinds.setdefault(probe.given, []).append(probe)
    chunk = 8
    longest = max((len(kind) for kind in kinds.values()), default=0)
    return [p for start in range(0, longest, chunk) for kind in kinds.values() for p in kind[start : start + chunk]]


def _missing(stage: Stage) -> StageFinding:
    return StageFinding(stage=stage, status="not offered", sentence=f"Not applicable: the subject offers no {stage}.")


def _judged(stage: Stage, answers: list[Answer], left: int, faults: list[str]) -> StageFinding:
    wrong = [answer for answer in answers if not answer.excess <= 1]
    worst = max((answer.excess for answer in answers), default=0.0)
    count = len(answers)
    if wrong:
        # Inner work is named innermost first: line 6 alone, then the solve before it, and so on.
        order = [*INSIDE]
        shown = min(wrong, key=lambda answer: order.index(answer.probe.given))
        where = f", {INSIDE[shown.probe.given]}" if shown.probe.given else ""
        sentence = f"{len(wrong)} of {count} answers are off; first {shown.probe.id}{where}: {_numbers(shown)}"
        return StageFinding(
            stage=stage, status="diverges", sentence=sentence, compared=count, diverging=len(wrong), worst=worst,
            divergence=Divergence(
                probe=shown.probe.id, what=(INSIDE[shown.probe.given] or f"{stage} on given inputs"),
                expected=tuple(shown.probe.expected.tolist()), got=tuple(shown.got.tolist()),
                tolerance=tuple(shown.probe.tolerance.tolist()), excess=shown.excess,
            ),
        )  # fmt: skip
    if faults:
        return StageFinding(stage=stage, status="fault", sentence=faults[0], compared=count, worst=worst)
    if left:
        sentence = f"{count} of {count + left} answers agree; there was no time or no support for the others."
        return StageFinding(stage=stage, status="undecided", sentence=sentence, compared=count, worst=worst)
    sentence = f"{count} answers agree; the largest difference is {worst:.2g} of its tolerance."
    return StageFinding(stage=stage, status="agrees", sentence=sentence, compared=count, worst=worst)


def _numbers(answer: Answer) -> str:
    apart = abs(answer.got - answer.probe.expected)
    at = int((apart / answer.probe.tolerance).argmax())
    vector = "it is a published test vector; " if answer.probe.published else ""
    return vector + (
        f"entry {at + 1} is {answer.got[at]:.9g}, must be {answer.probe.expected[at]:.9g} "
        f"(tolerance {answer.probe.tolerance[at]:.1e})."
    )


def _sampled(seen: Seen, seconds: float) -> None:
    stages = seen.stages
    if not stages.offers("hypergradient"):
        seen.findings.append(StageFinding(stage="samples", status="not offered",
                                          sentence="Not applicable: the subject offers no hypergradient."))  # fmt: skip
        return
    try:
        seen.sampled = sampling.sample(stages, seconds)
    except (SubjectFaultError, MissingCapabilityError) as error:
        _gave_up(seen, "samples", error)
        return
    made = seen.sampled
    worst = distance(made.signature, made.law)[0]
    count, short = sum(made.counts.values()), [k for k, v in made.counts.items() if v < sampling.SAMPLES]
    if worst > 1:
        seen.findings.append(_law_finding("samples", made.signature, made.law, f"{count} estimates"))
        return
    status: Status = "undecided" if short else "agrees"
    rest = (
        f" {len(short)} of {len(made.counts)} settings have fewer than the {sampling.SAMPLES} it takes: one estimate "
        f"takes {made.seconds_a_call * 1e3:.3g} ms." if short else ""
    )  # fmt: skip
    seen.findings.append(
        StageFinding(stage="samples", status=status, compared=len(made.signature), worst=worst,
                     sentence=f"Mean, variance and correlation of {count} estimates are as they should be.{rest}")
    )  # fmt: skip


def _law_finding(stage: Stage, found: Signature, law: Signature, where: str) -> StageFinding:
    wrong = [name for name in found if name in law and found[name].apart(law[name]) > 1]
    name = wrong[0]
    got, right = found[name], law[name]
    excess = got.apart(right)
    sentence = (
        f"{len(wrong)} of {len(found)} statistics of {where} are off; first {name}: {got.value:.4g} ± "
        f"{got.error:.2g}, must be {right.value:.4g} ({got.shown})."
    )
    return StageFinding(
        stage=stage, status="diverges", sentence=sentence, compared=len(found), diverging=len(wrong),
        worst=max(found[n].apart(law[n]) for n in wrong),
        divergence=Divergence(probe=name, what=got.shown, expected=(right.value,), got=(got.value,), excess=excess),
    )  # fmt: skip


def _gave_up(seen: Seen, stage: Stage, error: Exception) -> None:
    if isinstance(error, MissingCapabilityError):
        seen.findings.append(StageFinding(stage=stage, status="not offered", sentence=f"Not applicable: {error}."))
        return
    seen.faults.append(f"{stage}: {error}")
    seen.findings.append(StageFinding(stage=stage, status="fault", sentence=str(error)))


def reference_runs() -> dict[str, Statistic]:
    """What the inner solvers' results look like; drawn from streams of its own."""
    return _reference_runs(inner_runs.RUNS + 1)


def _reference_runs(runs: int) -> dict[str, Statistic]:
    reference = Stages(ReferenceSubject())
    return {k: v for setting in inner_runs.settings() for k, v in setting.signature(reference, runs).items()}


def _run(seen: Seen) -> None:
    offered = [stage for stage in RUNS if seen.stages.offers(stage)]
    if not offered:
        sentence = "Not applicable: the subject offers no stochastic inner solver."
        seen.findings.append(StageFinding(stage="runs", status="not offered", sentence=sentence))
        return
    low = ""
    settled: set[str] = set()
    for setting in inner_runs.settings():
        if setting.stage not in offered:
            continue
        try:
            made = setting.signature(seen.stages)
        except (SubjectFaultError, MissingCapabilityError) as error:
            _gave_up(seen, "runs", error)
            return
        seen.runs |= made
        settled |= set(made) if setting.settled else set()
        fewest, count = inner_runs.fewest_samples(setting), made.get(f"{setting.id}: samples")
        if fewest is not None and count is not None and count.value < fewest:
            low = f"{setting.id}: a run reports {count.value:g} samples where its lower level alone takes {fewest:g}."
    law = reference_runs()
    kept = {name: value for name, value in seen.runs.items() if name in settled}
    worst = distance(kept, law)[0]
    if worst > 1:
        seen.findings.append(_law_finding("runs", kept, law, f"{inner_runs.RUNS} runs"))
    elif low:
        seen.findings.append(StageFinding(
            stage="runs", status="diverges", sentence=low, compared=len(seen.runs), diverging=1, worst=2.0,
        ))  # fmt: skip
    else:
        sentence = f"{len(kept)} means and spreads agree with the protocol's iteration; counts are possible ones."
        seen.findings.append(StageFinding(stage="runs", status="agrees", compared=len(kept), worst=worst,
                                          sentence=sentence))  # fmt: skip


def _optimised(seen: Seen) -> None:
    if not seen.stages.offers("optimise"):
        seen.findings.append(_missing("optimise"))
        return
    try:
        seen.record = outer.watch(seen.stages)
    except outer.WrongNumberOfCallsError as error:
        seen.findings.append(StageFinding(stage="optimise", status="diverges", sentence=f"{error}.", compared=1,
                                          diverging=1, worst=2.0))  # fmt: skip
        return
    except (SubjectFaultError, MissingCapabilityError) as error:
        _gave_up(seen, "optimise", error)
        return
    found = outer.compare(seen.record, outer.right())
    wrong = [c for c in found if c.excess > 1]
    if not wrong:
        sentence = "Steps, queried points and block means follow Algorithm 2; s_t and the output's block are uniform."
        seen.findings.append(StageFinding(stage="optimise", status="agrees", compared=len(found), sentence=sentence,
                                          worst=max(c.excess for c in found)))  # fmt: skip
        return
    shown = wrong[0]
    numbers = f" {_list(shown.got)}, must be {_list(shown.expected)}" if shown.difference and not _is_law(shown) else ""
    seen.findings.append(StageFinding(
        stage="optimise", status="diverges", compared=len(found), diverging=len(wrong),
        worst=max(c.excess for c in wrong),
        sentence=f"Its {shown.part} are off on {shown.trial}: {shown.sentence}{numbers}.",
        divergence=Divergence(probe=shown.trial, what=shown.sentence, expected=shown.expected, got=shown.got,
                              excess=shown.excess),
    ))  # fmt: skip


def _is_law(comparison: outer.Comparison) -> bool:
    return "where uniform" in comparison.sentence


def _list(values: tuple[float, ...]) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in values) + ")"
