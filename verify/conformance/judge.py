"""Judge another implementation: its stages alone, the claims, and what its deviation is."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from f2csa_ref.libraries.one_thread import one_thread
from spec import InvalidInputError
from spec.claims import ReadingName
from spec.errors import unwritable
from spec.files import write_files
from verify.campaign import run as campaign
from verify.campaign.summary import selected
from verify.checks.measuring.case import ProfileName, find_profile
from verify.conformance import outer
from verify.conformance.blame.accuracy.accuracy import EXACT, accuracy_of, to_declare
from verify.conformance.blame.all_stages import copies_of, explain_all
from verify.conformance.blame.questions import asked_under
from verify.conformance.claims.claim_faults import faults_of, notes_of
from verify.conformance.claims.claim_runs import (
    JudgedClaims,
    claim_findings,
    finding,
    ignored_choices,
    left_out,
    run_claims,
    unheard,
    without_claims,
)
from verify.conformance.comparison.end_to_end import is_offered, tried_end_to_end
from verify.conformance.comparison.error_splits import split_error
from verify.conformance.comparison.stage_comparison import Seen
from verify.conformance.found import Diagnosis, StageFinding
from verify.conformance.further_questions.asking import Asking
from verify.conformance.further_questions.own_problems import OwnProblem
from verify.conformance.letter.author_letter import told
from verify.conformance.letter.diagnosis import diagnose, suspect, with_memories
from verify.conformance.model import Conformance
from verify.conformance.places.places import place_of
from verify.conformance.probes import probes
from verify.conformance.probes.pacing import ESTIMATES, Clock, Timed, require_counts
from verify.conformance.probes.probes import Probe
from verify.conformance.random_stages import StageSetting, run_settings
from verify.conformance.repro.repro import reproduce, reproduce_stage
from verify.conformance.repro.scripts import load_code
from verify.conformance.trace.model import Say, Trace
from verify.report.report_files import Report
from verify.subjects import (
    CAPABILITIES,
    Capability,
    MissingCapabilityError,
    Subject,
    SubjectFaultError,
    load_subject,
    name_of,
    require_stages,
)
from verify.subjects.loading import end, load_apart
from verify.subjects.protocol import StageCalls
from verify.subjects.stage_table import END_TO_END
from verify.subjects.time_limits import check_limit, timed_here
from verify.truth.formulas import as_float

PROFILE: ProfileName = "conform"
WITH_VECTORS: tuple[Capability, ...] = ("lower_level", "activation", "hypergradient")
"""Stages that published vectors are about; making them takes a few seconds."""
SECONDS = 300.0
"""Time after which nothing more is asked."""


def conform(
    subject: str | Subject,
    *,
    claims: Sequence[str] = (),
    profile: ProfileName = PROFILE,
    seed: int = campaign.DEFAULT_SEED,
    jobs: int = 1,
    estimates: int = ESTIMATES,
    seconds: float = SECONDS,
    time_limit: float | None = None,
    out: str | Path | None = None,
    problems: Sequence[str | Path | OwnProblem] = (),
    reading: ReadingName = "repaired",
    save_cases: str | Path | None = None,
    force: bool = False,
    in_process: bool = False,
    exitfirst: bool = False,
    trace: bool | Say = False,
    stages_only: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> Conformance:
    """Hold an implementation against Algorithms 1 and 2 and say what is wrong with it.

    Args:
        subject: ``"package.module:Attribute"``, ``"command:COMMAND LINE"``, or an object with any of the stages.
        claims: Full ids of claims or steps to judge under the repaired reading; all if empty.
        profile: ``"conform"``, or one of the profiles of ``f2csa verify``.
        seed: Seed of all randomness, >= 0.
        jobs: Worker processes for the claims, >= 1; an object as subject runs in this process.
        estimates: How many, >= 0, the claims together may ask of a subject without ``hypergradient_samples``; a claim
            that asks for more than its share is INCONCLUSIVE.
        seconds: Time, > 0 and finite, after which nothing more is asked; what was not asked is not judged, and the run
            is not complete. It changes no verdict.
        time_limit: Seconds one stage call may take, > 0; longer is a fault.
        out: Folder for ``conform.json`` and the report's files.
        problems: Problems of your own that stages are compared on, too: files, ``atlas:NAME``, or ``OwnProblem(name,
            problem, x)``.
        reading: ``"repaired"``, or ``"as-written"`` to hold stages against the paper as written and judge no claims.
        save_cases: Folder for the repros as tests, a pytest file each.
        force: Whether these may replace files that are not of this program.
        in_process: Whether a Python subject given by name is imported here, where a debugger sees it and where it can
            end or deceive the judge; else it runs in a process of its own. The report names it.
        exitfirst: Whether no claim is judged once a stage deviates or faults, and none after the first that does; the
            run is then not complete, and says so.
        trace: Whether the line of each stage that deviates is looked for in a Python subject's own source, in up to
            20 s (docs/trace.md); a function is told what is looked for.
        stages_only: Whether stages are compared and explained, and no claim is judged.
        progress: Called with (done, in all, what) after each claim's result.

    Returns:
        The findings; ``print`` shows them as a letter, :attr:`Conformance.exit_code` sums them up.

    Raises:
        InvalidInputError: If a name is unknown, a number out of range, or the subject cannot be loaded.

    Example:
        >>> import verify
        >>> found = verify.conform("verify.conformance.bugs.bent_subject:KeepsDualTerm", claims=["bias-bound/T3"])
        >>> found.first, [match.id for match in found.diagnosis.matches]
        ('hypergradient', ['keeps-dual-term'])
    """
    claims = [claims] if isinstance(claims, str) else list(claims)
    require_askable(claims, profile, jobs, (estimates, seconds), time_limit)
    own = [problem if isinstance(problem, OwnProblem) else OwnProblem.read(problem) for problem in problems]
    cases = None if save_cases is None else Path(save_cases)
    asking = Asking(own, reading, cases, force, seed, trace, judges_claims=reading == "repaired" and not stages_only)
    started, loadable = time.perf_counter(), isinstance(subject, str)
    name = subject if isinstance(subject, str) else name_of(subject)
    load = load_subject if in_process else load_apart
    loaded = load(subject, time_limit=time_limit) if isinstance(subject, str) else subject
    try:
        require_stages(loaded, name)
        if out is not None:
            _make(Path(out))
        # One clock for all of it: a stage that hung twice is not called again.
        with timed_here(loaded, time_limit) as timed:
            clock = Clock(seconds)
            request = JudgedClaims(
                timed, name, loadable, claims, profile, seed, jobs, estimates, clock, time_limit, progress, in_process,
                exitfirst,
            )  # fmt: skip
            conformance = _judge(request, asking, load_code(loaded, name, loadable), started)
    finally:
        if loadable:
            end(loaded)
    if out is not None:
        write(conformance, Path(out))
    return conformance


def require_askable(
    claims: Sequence[str], profile: str, jobs: int, counts: tuple[int, float], time_limit: float | None
) -> None:
    """Refuse what cannot be asked of any subject; ``counts`` are estimates and seconds.

    Raises:
        InvalidInputError: If a name is unknown, or a number out of range.
    """
    require_counts(*counts)
    check_limit(time_limit)
    if jobs < 1:
        raise InvalidInputError("jobs", "must be >= 1", jobs)
    find_profile(profile)
    selected(claims)


def _judge(request: JudgedClaims, asking: Asking, load: str, started: float) -> Conformance:
    stages = StageCalls(Timed(request.subject, request.name, request.clock))
    with one_thread(), asked_under(asking.reading):
        own = asking.prepare(request.name, load, request.claims)
        seen = asking.look(stages, own, _vectors(stages, request.clock))
        reproduction, error_split = None, None
        diagnoses: tuple[Diagnosis, ...] = ()
        ignored: tuple[str, ...] = ()
        case_notes: tuple[str, ...] = ()
        lines: Trace | None = None
        accuracy, proposed = EXACT, ""
        try:
            renew = copies_of(request.name, request.subject, request.clock) if request.loadable else None
            accuracy = accuracy_of(stages, seen)
            blames = explain_all(stages, seen, accuracy, renew)
            with_memories(seen, blames)
            diagnoses = diagnose(seen, blames)
            proposed = "" if any(blame.explanations for blame in blames) else to_declare(seen)
            lead = diagnoses[0].stage if diagnoses else seen.first
            reproduction = reproduce(seen, load) if lead is None else reproduce_stage(seen, lead, load)
            case_notes = asking.keep(seen, request.name, load, {lead: reproduction})
            lines = asking.trace_lines(request.name, seen, accuracy)
            error_split = split_error(seen) if asking.is_repaired else None
            if asking.is_repaired and seen.first not in ("hypergradient", "samples"):
                ignored = ignored_choices(stages)
        except KeyboardInterrupt:
            seen.ended = True
    if seen.ended:
        request.clock.end()
    first, findings = seen.first, tuple(seen.findings)
    enough = request.exitfirst and (first is not None or bool(seen.faults))
    report = (
        run_claims(request, ignored, silent=seen.is_silent)
        if asking.judges_claims and not enough
        else without_claims(request)
    )
    suspected = suspect(seen) if first is None and not diagnoses and _runs_fail(report) else None
    if suspected is not None:
        diagnoses, first, findings = (suspected,), "runs", _with_suspicion(findings, suspected)
    if first is None:
        failed = [(result.claim, result.instance) for result in report.results if finding(result)]
        case_notes += asking.keep_claims(request.name, failed, (request.profile, request.seed))
    return Conformance(
        environment=report.environment, seed=request.seed, subject=request.name, profile=request.profile,
        stages=findings, first=first, diagnoses=diagnoses, trace=lines,
        error_split=error_split, reproduction=reproduction,
        claims=claim_findings(report, _deviating(seen, findings)),
        notes=(
            *unheard(ignored),
            *(left_out(request, stages) if asking.judges_claims else ()),
            *asking.notes(own, seen),
            *([accuracy.sentence] if accuracy.value else []),
            *filter(None, [proposed]),
            *notes_of(request, findings, report),
            *case_notes,
        ),
        findings=(*(f"{f.stage}: {f.sentence}" for f in findings if f.status == "diverges"), *report.findings),
        faults=(*seen.faults, *faults_of(request, findings, report)),
        seconds=time.perf_counter() - started, complete=report.complete and not seen.ended and not enough,
        report=report, stopped=request.stopped(report), exited="a stage" if enough else request.exited(report),
    )  # fmt: skip


def _vectors(stages: StageCalls, clock: Clock) -> Sequence[Probe]:
    """Published vectors, where a stage is offered that they are about."""
    try:
        return probes.vector_probes() if any(stages.offers(stage) for stage in WITH_VECTORS) else ()
    except KeyboardInterrupt:
        clock.end()
        return ()


def _deviating(seen: Seen, findings: Sequence[StageFinding]) -> list[str]:
    """Stages that are off, be it that others make them so."""
    own = [stage_finding.stage for stage_finding in findings if stage_finding.status == "diverges"]
    return [*own, "hypergradient"] if seen.follow else [*own]


def write(conformance: Conformance, out: Path) -> list[Path]:
    """Write ``conform.json`` and the report's files into a folder."""
    _make(out)
    text = json.dumps(conformance.content(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    written = write_files(out, {"conform.json": text})
    report = conformance.report
    return written if report is None else [*written, *report.with_letter(told(conformance)).write(out)]


def _make(out: Path) -> None:
    """Make the folder before anything is measured for it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(error, "out", "must be a folder that can be made", str(out)) from None
    if not os.access(out, os.W_OK | os.X_OK):
        raise InvalidInputError("out", "must be a folder that can be written to", str(out))


def _runs_fail(report: Report) -> bool:
    return any(line.split("/")[0].split(" ")[0] in ("inner-cost", "inner-loop-remark") for line in report.findings)


def _with_suspicion(findings: tuple[StageFinding, ...], diagnosis: Diagnosis) -> tuple[StageFinding, ...]:
    sentence = f"Its own claims fail, and its results have another law than the reference's. {diagnosis.sentence}"
    return tuple(
        f.model_copy(update={"status": "diverges", "sentence": sentence, "diverging": 1}) if f.stage == "runs" else f
        for f in findings
    )


def run_self_test(subject: Subject) -> list[tuple[str, bool | None, str]]:
    """What the author of a Python subject runs first: each stage once, on a problem whose sizes n, m, p all differ.

    Returns:
        One line a stage: its name, whether what it answered is well-formed, ``None`` where it offers or supports
        nothing, and what was found.
    """
    stages = StageCalls(subject)
    trials = _trials(stages)
    outcomes: list[tuple[str, bool | None, str]] = []
    for stage in CAPABILITIES:
        if not stages.offers(stage):
            outcomes.append((stage, None, "not offered; checks that need it will be not applicable"))
            continue
        outcomes.append(_tried(stage, trials[stage]))
    if is_offered(stages):
        outcomes.append(_tried(END_TO_END, partial(tried_end_to_end, stages)))
    return outcomes


def _tried(stage: str, trial: Callable[[], str]) -> tuple[str, bool | None, str]:
    try:
        return stage, True, trial()
    except MissingCapabilityError as error:
        return stage, None, f"says it does not support this: {error}"
    except (SubjectFaultError, outer.WrongNumberOfCallsError) as error:
        return stage, False, str(error)


def _trials(stages: StageCalls) -> dict[str, Callable[[], str]]:
    place = place_of("random-3x5x4")
    alone = (
        probes.lower_level_probe(place),
        probes.activation_probe("", as_float(place.lower.h), place.lam, 0.1, 0.1),
        probes.penalty_probe(place, 0.1, tol=probes.GRADIENT_NORM, name=""),
        probes.off_truth(place, 0.1),
    )

    def shapes(probe: Probe) -> str:
        blocks = probe.blocks(stages)
        return ", ".join(f"{'y' if name == 'y_penalty' else name} {block.shape}" for name, block in blocks.items())

    def optimise() -> str:
        run = outer.record(stages, outer.TRIALS[2], 0).run
        return f"x_out {run.x_out.shape}, x_bar {run.x_bar.shape}, path {run.path.shape}"

    def statistics(setting: StageSetting) -> str:
        return f"{len(setting.of_runs(stages, 16))} statistics of 16 runs"

    trials: dict[str, Callable[[], str]] = {"optimise": optimise}
    trials |= {probe.stage: partial(shapes, probe) for probe in alone}
    return trials | {setting.stage: partial(statistics, setting) for setting in run_settings()}
