"""Every offered stage alone, on given correct inputs: which one diverges first, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from verify.conformance import inner_runs, outer, sampling
from verify.conformance.answers import Seen, ask
from verify.conformance.model import Divergence, StageFinding, Status
from verify.conformance.probe_set import probes
from verify.conformance.probes import Probe
from verify.conformance.signatures import Statistic, distance
from verify.conformance.stage_findings import besides, fault_line, judged, law_finding, missing, refused
from verify.mutants.entry import Stage
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
