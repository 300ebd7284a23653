"""The claims under the repaired reading: verdicts of a subject beside those on record for the reference.

One that answers one question at a time is kept within counts: what asks for more is left undecided.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from spec import REPAIRED
from spec.claims import find as find_claim
from verify.campaign import run as campaign
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.plan import Task
from verify.campaign.summary import selected, summarise
from verify.checks.measuring.case import checks, find_profile, of_family
from verify.checks.measuring.long_runs import OTHER_LAWS
from verify.conformance.found import MARK, ClaimFinding, Stopped
from verify.conformance.further_questions.judging_options import ConformOptions
from verify.conformance.places.places import place_of
from verify.conformance.probes.pacing import Clock, Paced, Timed, needs_pacing
from verify.conformance.probes.probes import off_truth
from verify.conformance.random_stages import ADDITIVE, under_noise
from verify.report.model import Result
from verify.report.report_files import Report
from verify.subjects import MissingCapabilityError, Subject, SubjectFaultError
from verify.subjects.loading import offered
from verify.subjects.protocol import StageCalls
from verify.verdict import Verdict

ASKS_FOR: dict[str, frozenset[str]] = {
    "dual_term": frozenset(),
    "noise_pairing": frozenset({
        "stochastic-oracles", "stochastic-oracles/unbiasedness", "stochastic-oracles/bounded-variance",
        "stochastic-oracles/noise-reaches-gradient", "stochastic-oracles/draws-as-stated",
    }),
}  # fmt: skip
"""Checks that ask ``hypergradient`` for a choice as written though they judge the repaired claim."""
SAMPLES = 16
"""Enough to tell standard deviations apart that differ by 100 times and more."""


def ignored_choices(stages: StageCalls) -> tuple[str, ...]:
    """Choices of the reading that a subject's ``hypergradient`` answers as if they were the repaired ones."""
    if not stages.offers("hypergradient"):
        return ()
    ignored = []
    try:
        probe = off_truth(place_of("toy1"), 0.1)
        frozen = REPAIRED.choose(dual_term="frozen")
        call = replace(probe.call, reading=frozen)
        if replace(probe, call=call).excess_of(stages) <= 1:
            ignored.append("dual_term")
        setting = under_noise("pairing", probe, ADDITIVE, 1)
        paired = replace(setting.call, reading=REPAIRED.choose(noise_pairing="independent"))
        rng = np.random.default_rng(0)
        estimates = stages.hypergradient_samples(setting.problem, probe.x, paired, rng, SAMPLES)
        # Independent draws have a standard deviation larger by 2 alpha**-2 = 141 times and more; 0 is no choice.
        if setting.deviation / 3 < estimates.std() < 3 * setting.deviation:
            ignored.append("noise_pairing")
    except (SubjectFaultError, MissingCapabilityError):
        return tuple(ignored)
    return tuple(ignored)


def unheard(choices: Sequence[str]) -> tuple[str, ...]:
    """One sentence on the choices of a reading that a subject does not listen to."""
    if not choices:
        return ()
    phrase = " and ".join(f"call.reading.{choice}" for choice in choices)
    says, asks = ("says", "the other choice") if len(choices) == 1 else ("say", "another choice")
    repaired = "it answers as the repaired reading does. That is enough; what asks for"
    return (f"Whatever {phrase} {says}, {repaired} {asks} is not applicable.",)


@dataclass(frozen=True)
class JudgedClaims:
    """A subject that is loaded, what it is to be asked, and the clock for asking at all.

    Of the options ``jobs`` count where workers can load it and it needs no pacing, ``estimates`` where it does.
    """

    subject: Subject
    options: ConformOptions
    clock: Clock

    def stopped(self, report: Report) -> Stopped | None:
        """What was left out because the time was up, if it was."""
        if report.complete or not self.clock.is_up or self.clock.was_ended:
            return None
        planned = len(_tasks(self))
        done = len(report.results)
        spent = report.seconds or 0.0
        # What all would take if the rest cost what these did, with half as much again to spare.
        enough = 1.5 * (self.clock.spent + spent * (planned - done) / done) if 10 * done > planned else None
        return Stopped(after=self.clock.seconds, asked=done, planned=planned, enough=enough)

    def exited(self, report: Report) -> str:
        """Where the first fault or finding ended the claims, if it was to and did; empty else."""
        ended = self.options.exitfirst and not report.complete
        return next((result.where for result in report.results if ended and _fails(result)), "")

    def told(self, done: int, total: int, what: str) -> None:
        """Pass on how much is done, and stop where the time is up."""
        if self.options.progress is not None:
            self.options.progress(done, total, what)
        if done < total:
            self.clock.check()


def run_claims(request: JudgedClaims, ignored: Sequence[str], *, silent: bool = False) -> Report:
    """Run the repaired claims on a subject; checks that ask for a choice it ignores are left out.

    One that is ``silent``, refusing every call of every stage, is asked here: to start workers, each with a subject of
    its own, takes far longer than to be refused.
    """
    options = request.options
    run = partial(
        campaign.run, options.claims, readings=["repaired"], profile=options.profile, seed=options.seed,
        until=_fails if options.exitfirst else None,
    )  # fmt: skip
    if needs_pacing(request.subject):
        paced = Paced(request.subject, options.name, options.estimates, request.clock)
        sampled, outer = _which_are_counted(request)

        def start(done: int, total: int = 0, what: str = "") -> None:
            paced.estimates.start(sum(sampled[done:]))
            paced.steps.start(sum(outer[done:]))
            if done:
                request.told(done, total, what)

        start(0)
        report = run(subject=paced, progress=start)
    elif options.is_loadable and options.jobs > 1 and (options.in_process or not silent):
        report = run(
            subject=options.name, jobs=options.jobs, progress=request.told, watch=request.clock.check,
            time_limit=options.time_limit, in_process=options.in_process,
        )  # fmt: skip
    else:
        # Commands that repeat a result load the subject by the name it was given by.
        report = run(subject=Timed(request.subject, options.name, request.clock), progress=request.told)
    if silent and (stages := offered(request.subject)):
        # As workers would have said.
        report = report.model_copy(update={"environment": report.environment | {"subject offers": stages}})
    return _put_right(report, options, ignored)


def left_out(options: ConformOptions, stages: StageCalls) -> tuple[str, ...]:
    """What the subject could be asked about and the profile leaves out: a sentence for each reason."""
    profile, chosen = find_profile(options.profile), set(selected(options.claims))
    names = [
        full_id for full_id, check in checks().items()
        if full_id in chosen and profile.leaves_out(full_id, options.claims)
        and find_claim(full_id).about == "subject" and all(map(stages.offers, check.needs))
    ]  # fmt: skip
    laws, names = [name for name in names if name in OTHER_LAWS], [name for name in names if name not in OTHER_LAWS]
    told = [_LEFT_OUT.format("noise may be of another law than the problem states", ", ".join(laws))] if laws else []
    families = {name.split("/")[0] for name in names if of_family(name, profile.skips)}
    parts = [*(f"{name} and its steps" for name in sorted(families)),
             *(name for name in sorted(names) if not of_family(name, profile.skips))]  # fmt: skip
    if parts:
        told.insert(0, _LEFT_OUT.format("they take thousands of runs", ", ".join(parts)))
    return tuple(told)


_LEFT_OUT = "Left out, for {}: {}. --profile ci judges that; so does naming it."


def without_claims(options: ConformOptions) -> Report:
    """The report of a run that judges none."""
    return Report(environment=campaign.environment(), seed=options.seed, profile=options.profile, subject=options.name,
                  results=(), summary=())  # fmt: skip


def _which_are_counted(request: JudgedClaims) -> tuple[list[bool], list[bool]]:
    """Which of a run's results, in its order, are decided by sampled estimates, and which by runs of Algorithm 2."""
    counted = [checks()[task.claim] for task in _tasks(request)]
    sampled = [check.decisions > 0 and check.needs == ("hypergradient",) for check in counted]
    return sampled, ["optimise" in check.needs for check in counted]


def _tasks(request: JudgedClaims) -> list[Task]:
    options = request.options
    return campaign.plan(options.claims, ["repaired"], [], find_profile(options.profile), options.name, options.seed)


def _put_right(report: Report, options: ConformOptions, ignored: Sequence[str]) -> Report:
    """Undecided beyond a share; not applicable where a choice is asked for that the subject does not make."""
    results = tuple(_decided(result, ignored) for result in report.results)
    findings = tuple(line for result in results if (line := finding(result)) is not None)
    summary = tuple(summarise(results, list(options.claims), options.name))
    changed = {"results": results, "summary": summary, "findings": findings, "subject": options.name}
    return report.model_copy(update=changed)


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


def _fails(result: Result) -> bool:
    return result.fault is not None or finding(result) is not None


def finding(result: Result) -> str | None:
    """A line for a repaired claim that fails although it is not refuted for the reference."""
    recorded = shipped_record().get(result.key)
    if result.verdict is not Verdict.REFUTED or recorded == str(Verdict.REFUTED):
        return None
    beside = f" ({recorded.lower().replace('_', ' ')} for the reference)" if recorded else ""
    return f"{result.claim} on {result.instance}: refuted{beside}. {result.sentence}"


MADE_OF: dict[str, str] = {"samples": "hypergradient", "lower_level_runs": "runs", "penalty_runs": "runs",
                          "hypergradient_runs": "runs", "hypergradient_samples": "hypergradient"}  # fmt: skip
"""Where a stage that a check needs, or that deviates, is judged under another name."""


def claim_findings(report: Report, deviating: Collection[str] = ()) -> tuple[ClaimFinding, ...]:
    """One line a claim or step; nothing is supported whose check rests on a stage that deviates."""
    return tuple(_doubted(claim, deviating) for claim in _claim_findings(report))


def _doubted(claim: ClaimFinding, deviating: Collection[str]) -> ClaimFinding:
    off = {MADE_OF.get(stage, stage): stage for stage in deviating}
    needs = checks()[claim.claim].needs if claim.claim in checks() else ()
    rests = [off[name] for need in needs if (name := MADE_OF.get(need, need)) in off]
    if not rests:
        return claim
    if claim.status != Verdict.SUPPORTED:
        return claim.model_copy(update={"asks": rests[0]})
    sentence = f"Its numbers hold, but {rests[0]}, which it is measured on, deviates. {claim.sentence}"
    return claim.model_copy(update={"status": str(Verdict.INCONCLUSIVE), "sentence": sentence, "asks": rests[0]})


def _claim_findings(report: Report) -> tuple[ClaimFinding, ...]:
    clear, record = (Verdict.SUPPORTED, Verdict.REFUTED, Verdict.VACUOUS), shipped_record()
    findings = []
    for row in report.summary:
        own = [result for result in report.results if result.claim == row.claim and result.verdict in clear]
        compared = [str(result.verdict) == record[result.key] for result in own if result.key in record]
        findings.append(
            ClaimFinding(claim=row.claim, status=str(row.status), on_record=all(compared) if compared else None,
                         sentence=row.sentence, reproduce=row.reproduce)
        )  # fmt: skip
    return tuple(findings)
