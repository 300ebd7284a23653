"""Every offered stage alone, on given correct inputs: which one diverges first, and by how much."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, get_args

from verify.conformance import inner_runs, outer
from verify.conformance import sampled_stages as sampling
from verify.conformance.answers import Answer, Asked, Seen, ask
from verify.conformance.bugs.model import Stage
from verify.conformance.model import Divergence, StageFinding, Status
from verify.conformance.probe_set import probes
from verify.conformance.probes import FROM_PAIR, FROM_RHO, FROM_SCRATCH, WHOLE, Probe
from verify.conformance.signatures import Signature, Statistic, distance
from verify.subjects import Capability, MissingCapabilityError, ReferenceSubject, SubjectFaultError
from verify.subjects.protocol import Stages

Probed = Literal["lower_level", "activation", "penalty_minimiser", "hypergradient"]
PROBED: tuple[Probed, ...] = ("lower_level", "activation", "penalty_minimiser", "hypergradient")
RUNS: tuple[Capability, ...] = ("lower_level_runs", "penalty_runs", "hypergradient_runs")
SECONDS = 4.0
"""Time a stage may take; a slow subject is compared on fewer points, which is then said."""


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
            seen.findings.append(missing(stage))
            continue
        asked = ask(stages, _spread([probe for probe in all_probes if probe.stage == stage]), seconds)
        seen.answers += asked.answers
        seen.broken += asked.broken
        if asked.broken:
            seen.faults.append(fault_line(asked))
        seen.findings.append(judged(stage, asked))
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
    count = sum(made.counts.values())
    short = [k for k, v in made.counts.items() if v < sampling.SAMPLES and k not in made.refused]
    if worst > 1:
        seen.findings.append(law_finding("samples", made.signature, made.law, f"{count} estimates"))
        return
    status: Status = "undecided" if short else "agrees"
    rest = (
        f" {len(short)} of {len(made.counts)} settings have fewer than the {sampling.SAMPLES} it takes: one estimate "
        f"takes {made.seconds_a_call * 1e3:.3g} ms." if short else ""
    )  # fmt: skip
    rest += besides(len(made.refused), next(iter(made.refused.values()), ""))
    seen.findings.append(
        StageFinding(stage="samples", status=status, compared=len(made.signature), worst=worst,
                     sentence=_of_estimates(count) + rest)
    )  # fmt: skip


def _of_estimates(count: int) -> str:
    return f"Mean, variance and correlation of {count} estimates are as they should be." if count else "Not judged."


def _gave_up(seen: Seen, stage: Stage, error: Exception) -> None:
    if isinstance(error, MissingCapabilityError):
        seen.findings.append(refused(stage, error))
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
    low, refusals = "", []
    settled: set[str] = set()
    for setting in inner_runs.settings():
        if setting.stage not in offered:
            continue
        try:
            made = setting.signature(seen.stages)
        except MissingCapabilityError as error:
            refusals.append(str(error))
            continue
        except SubjectFaultError as error:
            _gave_up(seen, "runs", error)
            return
        seen.runs |= made
        settled |= set(made) if setting.settled else set()
        fewest, count = inner_runs.fewest_samples(setting), made.get(f"{setting.id}: samples")
        if fewest is not None and count is not None and count.value < fewest:
            low = f"{setting.id}: a run reports {count.value:g} samples where its lower level alone takes {fewest:g}."
    if not seen.runs:
        seen.findings.append(refused("runs", refusals[0]))
        return
    law = reference_runs()
    kept = {name: value for name, value in seen.runs.items() if name in settled}
    worst = distance(kept, law)[0]
    if worst > 1:
        seen.findings.append(law_finding("runs", kept, law, f"{inner_runs.RUNS} runs"))
    elif low:
        seen.findings.append(StageFinding(
            stage="runs", status="diverges", sentence=low, compared=len(seen.runs), diverging=1, worst=2.0,
        ))  # fmt: skip
    else:
        sentence = f"{len(kept)} means and spreads agree with the protocol's iteration" if kept else (
            "The protocol leaves the laws of its results open"
        )  # fmt: skip
        sentence += "; counts of samples are possible ones."
        sentence += besides(len(refusals), "".join(refusals[:1]))
        seen.findings.append(StageFinding(stage="runs", status="agrees", compared=len(kept), worst=worst,
                                          sentence=sentence))  # fmt: skip


def _optimised(seen: Seen) -> None:
    if not seen.stages.offers("optimise"):
        seen.findings.append(missing("optimise"))
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


INSIDE = {
    WHOLE: "with every stage given: line 6 alone",
    FROM_RHO: "given ỹ*, λ̃ and ρ: its own penalty solve and line 6",
    FROM_PAIR: "given ỹ* and λ̃: its own activation, penalty solve and line 6",
    FROM_SCRATCH: "given nothing: its own lower level and all that follows",
    "": "",
}
"""What a call computes by itself, innermost first."""


def missing(stage: Stage) -> StageFinding:
    """A stage that is not there."""
    return StageFinding(stage=stage, status="not offered", sentence=f"Not applicable: the subject offers no {stage}.")


def refused(stage: Stage, refusal: MissingCapabilityError | str) -> StageFinding:
    """A stage that says it does not do this."""
    return StageFinding(stage=stage, status="not offered", sentence=f"Not applicable: {refusal}.")


def besides(count: int, refusal: str) -> str:
    """What is added where a stage does not support some of what it is asked; nothing for ``count`` 0."""
    words = re.sub(r"^the subject does not support this \w+: ", "", refusal)
    return f" {count} more it says it does not support ({words})." if count else ""


def judged(stage: Stage, asked: Asked) -> StageFinding:
    """A stage whose right answers are known number by number."""
    answers, count = asked.answers, len(asked.answers)
    wrong = [answer for answer in answers if not answer.excess <= 1]
    worst = max((answer.excess for answer in answers), default=0.0)
    if wrong:
        # Inner work is named innermost first: line 6 alone, then the solve before it, and so on.
        order = [*INSIDE]
        shown = min(wrong, key=lambda answer: order.index(answer.probe.given))
        where = f" ({INSIDE[shown.probe.given]})" if shown.probe.given else ""
        sentence = f"{len(wrong)} of {count} answers are off; first {shown.probe.id}{where}: {_numbers(shown)}"
        return StageFinding(
            stage=stage, status="diverges", sentence=sentence, compared=count, diverging=len(wrong), worst=worst,
            divergence=Divergence(
                probe=shown.probe.id, what=(INSIDE[shown.probe.given] or f"{stage} on given inputs"),
                expected=tuple(shown.probe.expected.tolist()), got=tuple(shown.got.tolist()),
                tolerance=tuple(shown.probe.tolerance.tolist()), excess=shown.excess,
            ),
        )  # fmt: skip
    if asked.broken:
        rest = f" {count} other answer{' agrees' if count == 1 else 's agree'}." if count else ""
        return StageFinding(stage=stage, status="fault", sentence=f"{fault_line(asked)}.{rest}", compared=count,
                            worst=worst)  # fmt: skip
    if not count and not asked.late and asked.refused:
        return refused(stage, asked.refusal)
    sentence = f"{count} answers agree; the largest difference is {worst:.2g} of its tolerance."
    sentence += besides(asked.refused, asked.refusal)
    if asked.late:
        sentence += f" There was no time for {asked.late} more."
    return StageFinding(stage=stage, status="undecided" if asked.late else "agrees", sentence=sentence, compared=count,
                        worst=worst)  # fmt: skip


def fault_line(asked: Asked) -> str:
    """The first fault and where it was."""
    probe, fault = asked.broken[0]
    return f"{probe.id}: {fault}"


def _numbers(answer: Answer) -> str:
    apart = abs(answer.got - answer.probe.expected)
    at = int((apart / answer.probe.tolerance).argmax())
    vector = "it is a published test vector; " if answer.probe.published else ""
    entry = f"entry {at + 1} is" if len(answer.got) > 1 else "it is"
    return vector + (
        f"{entry} {answer.got[at]:.9g}, must be {answer.probe.expected[at]:.9g} "
        f"(tolerance {answer.probe.tolerance[at]:.1e})."
    )


def law_finding(stage: Stage, found: Signature, law: Signature, where: str) -> StageFinding:
    """A stage whose statistics are not those of the right law."""
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
