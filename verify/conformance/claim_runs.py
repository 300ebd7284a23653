"""The claims under the repaired reading: verdicts of a subject beside those on record for the reference.

A slow subject is kept within a time: what it cannot afford is left undecided.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from spec import REPAIRED
from spec.exact import Vector
from verify.campaign import run as campaign
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.summary import summarise
from verify.checks.measuring.case import checks, find_profile
from verify.conformance.model import MARK, ClaimFinding
from verify.conformance.places import place_of
from verify.conformance.probes import off_truth
from verify.conformance.random_stages import ADDITIVE, under_noise
from verify.report.faces import Report
from verify.report.model import Result
from verify.subjects import Call, MissingCapabilityError, Subject, SubjectFaultError, name_of
from verify.subjects.protocol import Stages, offers
from verify.verdict import Verdict

ASKS_FOR: dict[str, frozenset[str]] = {
    "dual_term": frozenset(),
    "noise_pairing": frozenset({
        "stochastic-oracles", "stochastic-oracles/unbiasedness", "stochastic-oracles/bounded-variance",
        "stochastic-oracles/noise-reaches-gradient",
    }),
}  # fmt: skip
"""Checks that ask ``hypergradient`` for a choice as written though they judge the repaired claim."""
SAMPLES = 16
"""Enough to tell standard deviations apart that differ by 100 times and more."""
PATIENCE = 8
"""Estimates, or oracle calls, after which one's time is known."""
SLICE = 256
"""Estimates, or oracle calls, between two looks at the clock."""
OUTER = 4.0
"""Time for runs of Algorithm 2, in times of that for estimates: a few claims need thousands of long runs."""


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
        setting = under_noise("pairing", probe, ADDITIVE, 1)
        paired = replace(setting.call, reading=REPAIRED.choose(noise_pairing="independent"))
        rng = np.random.default_rng(0)
        estimates = stages.hypergradient_samples(setting.problem, probe.x, paired, rng, SAMPLES)
        # Independent draws have a standard deviation larger by 2 alpha**-2 = 141 times and more.
        if estimates.std() < 3 * setting.deviation:
            found.append("noise_pairing")
    except (SubjectFaultError, MissingCapabilityError):
        return tuple(found)
    return tuple(found)


@dataclass(frozen=True)
class Judged:
    """A subject and how it is to be judged; ``loadable`` says whether its name loads it.

    ``jobs`` count where workers can load it and it needs no pacing, ``seconds`` for single estimates where it does;
    ``time_limit`` is for one stage call.
    """

    subject: Subject
    name: str
    loadable: bool
    claims: Sequence[str]
    profile: str
    seed: int
    jobs: int
    seconds: float
    time_limit: float | None
    progress: Callable[[int, int, str], None] | None


def run_claims(asked: Judged, ignored: Sequence[str]) -> Report:
    """Run the repaired claims on a subject; checks that ask for a choice it ignores are left out."""
    run = partial(campaign.run, asked.claims, readings=["repaired"], profile=asked.profile, seed=asked.seed)
    if needs_pacing(asked.subject):
        paced = Paced(asked.subject, asked.name, asked.seconds)
        sampled, outer = _which_take_time(asked)

        def start(done: int, total: int = 0, what: str = "") -> None:
            paced.estimates.start(sum(sampled[done:]))
            paced.runs.start(sum(outer[done:]))
            if done and asked.progress is not None:
                asked.progress(done, total, what)

        start(0)
        found = run(subject=paced, progress=start)
    elif asked.loadable and asked.jobs > 1:
        found = run(subject=asked.name, jobs=asked.jobs, progress=asked.progress, time_limit=asked.time_limit)
    else:
        # Commands that repeat a result load the subject by the name it was given by.
        own_name = asked.name == name_of(asked.subject)
        named: Any = asked.subject if own_name else Renamed(asked.subject, asked.name)
        found = run(subject=named, progress=asked.progress)
    return _put_right(found, asked, ignored)


def _which_take_time(asked: Judged) -> tuple[list[bool], list[bool]]:
    """Which of a run's results, in its order, are decided by sampled estimates, and which by runs of Algorithm 2."""
    tasks = campaign.plan(asked.claims, ["repaired"], [], find_profile(asked.profile), asked.name, asked.seed)
    found = [checks()[task.claim] for task in tasks]
    sampled = [check.decisions > 0 and check.needs == ("hypergradient",) for check in found]
    return sampled, ["optimise" in check.needs for check in found]


def _put_right(report: Report, asked: Judged, ignored: Sequence[str]) -> Report:
    """Undecided where there was no time; not applicable where a choice is asked for that the subject does not make."""
    results = tuple(_decided(result, ignored) for result in report.results)
    findings = tuple(line for result in results if (line := finding(result)) is not None)
    summary = tuple(summarise(results, list(asked.claims), asked.name))
    changed = {"results": results, "summary": summary, "findings": findings, "subject": asked.name}
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


def finding(result: Result) -> str | None:
    """A line for a repaired claim that fails although it is not refuted for the reference."""
    recorded = shipped_record().get(result.key)
    if result.verdict is not Verdict.REFUTED or recorded == str(Verdict.REFUTED):
        return None
    beside = f" ({recorded.lower().replace('_', ' ')} for the reference)" if recorded else ""
    return f"{result.claim} on {result.instance}: refuted{beside}. {result.sentence}"


def claim_findings(report: Report) -> tuple[ClaimFinding, ...]:
    """One line a claim or step."""
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


class UnaffordableError(MissingCapabilityError):
    """A check asks for more than its time allows."""


class Budget:
    """Time shared by results to come, what a cheap one leaves going to those after it; each may take a least share."""

    def __init__(self, seconds: float, least: float = 0.0) -> None:
        self._left = seconds
        self._least = least
        self._spent = 0.0
        self.share = seconds

    def start(self, tasks_left: int) -> None:
        """Begin another result."""
        self._left = max(0.0, self._left - self._spent)
        self.share, self._spent = self._left * max(self._least, 1 / max(1, tasks_left)), 0.0

    def spend(self, used: float) -> None:
        """Take time off."""
        self._spent += used

    def require(self, used: float, whole: float, what: str, instead: str) -> None:
        """Refuse what would take ``whole`` seconds where that exceeds the share; ``used`` ones are taken off then."""
        if self._spent + whole > self.share:
            self._spent += used
            raise UnaffordableError(
                f"{what} take {whole:.1f} s, {MARK} ({self.share:.1f} s); a longer --seconds, or {instead}, decides it"
            )


class Renamed:
    """Passes every stage on, under the name that reports call it and load it by."""

    def __init__(self, subject: Subject, name: str) -> None:
        self._subject = subject
        self.name = name

    def __getattr__(self, stage: str) -> Any:
        return getattr(self._subject, stage)


class Paced(Renamed):
    """Makes many estimates, and runs of Algorithm 2, as long as the time lasts.

    ``seconds`` are for the estimates of all results together; single calls have half of that besides, runs of
    Algorithm 2 :data:`OUTER` times that.
    """

    def __init__(self, subject: Subject, name: str, seconds: float) -> None:
        super().__init__(subject, name)
        self._singly = estimates_singly(subject)
        self._single, self._for_singles = 0.0, seconds / 2
        self._fastest = 0.0
        self.estimates, self.runs = Budget(seconds), Budget(OUTER * seconds, least=0.25)

    def __getattr__(self, stage: str) -> Any:
        if stage == "hypergradient_samples" and self._singly:
            return self._estimates
        found = getattr(self._subject, stage)
        if stage == "hypergradient":
            return self._alone
        return self._run(found, stage) if stage in ("optimise", "optimise_runs") else found

    def _alone(self, *asked: Any) -> Any:
        if self._single > self._for_singles:
            raise UnaffordableError(f"single calls took {self._single:.1f} s, {MARK}; a longer --seconds decides it")
        started, one = time.perf_counter(), self._subject.hypergradient  # type: ignore[attr-defined]  # it is offered
        try:
            return one(*asked)
        finally:
            self._single += time.perf_counter() - started

    def _estimates(self, problem: Any, x: Vector, call: Call, rng: Any, replications: int) -> Vector:
        least = f"{replications:,} estimates at {self._fastest * 1e3:.2g} ms each"
        self.estimates.require(0.0, self._fastest * replications, least, "hypergradient_samples")
        started, rows, done = time.perf_counter(), [], 0
        while done < replications:
            count = min(replications - done, PATIENCE if done == 0 else SLICE)
            rows.append(self._some(problem, x, call, rng, count))
            done += count
            used = time.perf_counter() - started
            self._fastest = min(self._fastest or used / done, used / done)
            what = f"{replications:,} estimates at {used / done * 1e3:.2g} ms each"
            self.estimates.require(used, used / done * replications, what, "hypergradient_samples")
        self.estimates.spend(time.perf_counter() - started)
        return np.concatenate(rows)

    def _some(self, problem: Any, x: Vector, call: Call, rng: Any, count: int) -> Vector:
        if offers(self._subject, "hypergradient_samples"):
            found: Any = self._subject
            return np.asarray(found.hypergradient_samples(problem, x.copy(), call, rng, count))
        one = self._subject.hypergradient  # type: ignore[attr-defined]  # it is offered, else nobody asks
        return np.array([np.asarray(one(problem, x.copy(), call, rng)) for _ in range(count)])

    def _run(self, found: Callable[..., Any], stage: str) -> Callable[..., Any]:
        def run(oracle: Callable[[Any], Any], x0: Vector, parameters: Any, *others: Any) -> Any:
            started, asked = time.perf_counter(), 0

            def watched(z: Any) -> Any:
                nonlocal asked
                asked += 1
                if asked == PATIENCE or asked % SLICE == 0:
                    used = time.perf_counter() - started
                    what = f"{parameters.T:,} steps of Algorithm 2 at {used / asked * 1e3:.2g} ms each"
                    instead = "a faster optimise_runs" if stage == "optimise_runs" else "optimise_runs"
                    self.runs.require(used, used / asked * parameters.T, what, instead)
                return oracle(z)

            answer = found(watched, x0, parameters, *others)
            self.runs.spend(time.perf_counter() - started)
            return answer

        return run


def estimates_singly(subject: Subject) -> bool:
    """Whether estimates come one at a time; a program may say so itself."""
    if not offers(subject, "hypergradient"):
        return False
    return not offers(subject, "hypergradient_samples") or getattr(subject, "estimates_singly", False) is True


def needs_pacing(subject: Subject) -> bool:
    """Whether estimates, or runs of Algorithm 2, come one at a time or through a pipe."""
    slow_runs = offers(subject, "optimise") and (
        not offers(subject, "optimise_runs") or getattr(subject, "keeps_time", False) is True
    )
    return estimates_singly(subject) or slow_runs
