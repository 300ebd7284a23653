"""The claims under the repaired reading: verdicts of a subject beside those on record for the reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from spec import REPAIRED
from verify.campaign import run as campaign
from verify.campaign.baseline.record import shipped_record
from verify.campaign.summary import selected, summarise
from verify.checks.measuring.case import checks
from verify.checks.measuring.profiles import find_profile
from verify.conformance.model import ClaimFinding
from verify.conformance.pacing import MARK, Paced, Renamed, needs_pacing
from verify.conformance.places import place_of
from verify.conformance.probe_set import off_truth
from verify.conformance.sampled_stages import ADDITIVE, Setting
from verify.report.faces import Report
from verify.report.model import Result
from verify.subjects import MissingCapabilityError, Subject, SubjectFaultError, name_of
from verify.subjects.protocol import Stages
from verify.verdict import Verdict

ASKS_FOR: dict[str, frozenset[str]] = {
    "dual_term": frozenset({"dual-extraction/linear-term", "dual-extraction/active-rows"}),
    "noise_pairing": frozenset({
        "stochastic-oracles", "stochastic-oracles/unbiasedness", "stochastic-oracles/bounded-variance",
        "stochastic-oracles/noise-reaches-gradient",
    }),
}  # fmt: skip
"""Checks that ask ``hypergradient`` for a choice as written though they judge the repaired claim."""
SAMPLES = 16
"""Enough to tell standard deviations apart that differ by 100 times and more."""


def ignored_choices(stages: Stages) -> tuple[str, ...]:
    """Choices of the reading that a subject's ``hypergradient`` answers as if they were the repaired ones."""
    if not stages.offers("hypergradient"):
        return ()
    found = []
    try:
        probe = off_truth(place_of("toy1"), 0.1)
        frozen = REPAIRED.choose(dual_term="frozen")
        call = replace(probe.call, reading=frozen)
        if replace(probe, call=call).excess_of(stages) <= 1:
            found.append("dual_term")
        setting = Setting("pairing", probe, ADDITIVE, 1)
        paired = replace(setting.call, reading=REPAIRED.choose(noise_pairing="independent"))
        rng = np.random.default_rng(0)
        made = stages.hypergradient_samples(setting.problem, probe.x, paired, rng, SAMPLES)
        # Independent draws have a standard deviation larger by 2 alpha**-2 = 141 times and more.
        if made.std() < 3 * setting.deviation:
            found.append("noise_pairing")
    except (SubjectFaultError, MissingCapabilityError):
        return tuple(found)
    return tuple(found)


def run_claims(
    subject: Subject,
    name: str,
    *,
    claims: Sequence[str],
    profile: str,
    seed: int,
    jobs: int,
    seconds: float,
    time_limit: float | None,
    loadable: bool,
    ignored: Sequence[str],
    progress: Callable[[int, int, str], None] | None,
) -> Report:
    """Run the repaired claims on a subject.

    Args:
        subject: The subject.
        name: How it was given.
        claims: Full ids; all if empty.
        profile: Profile.
        seed: Seed of all randomness.
        jobs: Worker processes, where the subject can be loaded in them and needs no pacing.
        seconds: Time for single estimates, where it needs pacing.
        time_limit: Seconds one stage call may take.
        loadable: Whether ``name`` loads it.
        ignored: Choices it answers as repaired; checks that ask for them are left out.
        progress: Called after each result.
    """
    common = {"readings": ["repaired"], "profile": profile, "seed": seed}
    if needs_pacing(subject):
        paced = Paced(subject, name, seconds)

        sampled, outer = _which_take_time(claims, profile, name, seed)

        def start(done: int) -> None:
            paced.estimates.start(sum(sampled[done:]))
            paced.runs.start(sum(outer[done:]))

        def report(done: int, total: int, what: str) -> None:
            start(done)
            if progress is not None:
                progress(done, total, what)

        start(0)
        found = campaign.run(claims, subject=paced, progress=report, **common)  # type: ignore[arg-type]  # stages are passed on
    elif loadable and jobs > 1:
        found = campaign.run(claims, subject=name, jobs=jobs, progress=progress, time_limit=time_limit, **common)  # type: ignore[arg-type]  # as declared
    else:
        # Commands that repeat a result load the subject by the name it was given by.
        named = subject if name == name_of(subject) else Renamed(subject, name)
        found = campaign.run(claims, subject=named, progress=progress, **common)  # type: ignore[arg-type]  # as declared
    return _put_right(found, claims, name, ignored)


def _which_take_time(claims: Sequence[str], profile: str, name: str, seed: int) -> tuple[list[bool], list[bool]]:
    """Which of a run's results, in its order, are decided by sampled estimates, and which by runs of Algorithm 2."""
    tasks = campaign.plan(claims, ["repaired"], [], find_profile(profile), name, seed)
    found = [checks()[task.claim] for task in tasks]
    sampled = [check.decisions > 0 and check.needs == ("hypergradient",) for check in found]
    return sampled, ["optimise" in check.needs for check in found]


def _put_right(report: Report, claims: Sequence[str], name: str, ignored: Sequence[str]) -> Report:
    """Undecided where there was no time; not applicable where a choice is asked for that the subject does not make."""
    results = tuple(_decided(result, ignored) for result in report.results)
    findings = tuple(line for result in results if (line := finding(result)) is not None)
    summary = tuple(summarise(results, list(claims), name))
    return report.model_copy(update={"results": results, "summary": summary, "findings": findings, "subject": name})


def _decided(result: Result, ignored: Sequence[str]) -> Result:
    if result.verdict is Verdict.NOT_APPLICABLE and MARK in result.sentence:
        sentence = result.sentence.replace("Not applicable", "Inconclusive")
        return result.model_copy(update={"verdict": Verdict.INCONCLUSIVE, "sentence": sentence, "expected": None})
    for choice in ignored:
        if result.claim in ASKS_FOR[choice] and result.verdict is not None:
            sentence = f"Not applicable: the subject does not make the choice {choice}, which this check asks for."
            return result.model_copy(update={"verdict": Verdict.NOT_APPLICABLE, "sentence": sentence, "expected": None,
                                             "counterexample": None})  # fmt: skip
    return result


def finding(result: Result) -> str | None:
    """A line for a repaired claim that fails although it is not refuted for the reference."""
    on_record = shipped_record().get(f"{result.claim}|{result.reading}|{result.instance}")
    if result.verdict is not Verdict.REFUTED or on_record == str(Verdict.REFUTED):
        return None
    beside = f" ({on_record.lower().replace('_', ' ')} for the reference)" if on_record else ""
    return f"{result.claim} on {result.instance}: refuted{beside}. {result.sentence}"


def claim_findings(report: Report) -> tuple[ClaimFinding, ...]:
    """One line a claim or step."""
    made = []
    for row in report.summary:
        own = [r for r in report.results if r.claim == row.claim and r.verdict is not None]
        compared = [
            str(r.verdict) == on_record
            for r in own
            if r.verdict in (Verdict.SUPPORTED, Verdict.REFUTED, Verdict.VACUOUS)
            and (on_record := shipped_record().get(f"{r.claim}|{r.reading}|{r.instance}")) is not None
        ]
        made.append(
            ClaimFinding(claim=row.claim, status=str(row.status), on_record=all(compared) if compared else None,
                         sentence=row.sentence, reproduce=row.reproduce)
        )  # fmt: skip
    return tuple(made)


__all__ = ["ASKS_FOR", "claim_findings", "finding", "ignored_choices", "run_claims", "selected"]
