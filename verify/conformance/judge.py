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
from spec.errors import unwritable
from spec.files import write_files
from verify.campaign.run_options import takes_keywords_of
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
from verify.conformance.further_questions.judging_options import ConformOptions
from verify.conformance.letter.author_letter import told
from verify.conformance.letter.diagnosis import diagnose, suspect, with_memories
from verify.conformance.model import Conformance
from verify.conformance.places.places import place_of
from verify.conformance.probes import probes
from verify.conformance.probes.pacing import Clock, Timed
from verify.conformance.probes.probes import Probe
from verify.conformance.random_stages import StageSetting, run_settings
from verify.conformance.repro.repro import reproduce, reproduce_stage
from verify.conformance.repro.scripts import load_code
from verify.conformance.trace.model import Trace
from verify.report.report_files import Report
from verify.subjects import (
    CAPABILITIES,
    Capability,
    MissingCapabilityError,
    Subject,
    SubjectFaultError,
    load_subject,
    require_stages,
)
from verify.subjects.loading import end, load_apart
from verify.subjects.protocol import StageCalls
from verify.subjects.stage_table import END_TO_END
from verify.subjects.time_limits import timed_here
from verify.truth.formulas import as_float

WITH_VECTORS: tuple[Capability, ...] = ("lower_level", "activation", "hypergradient")
"""Stages that published vectors are about; making them takes a few seconds."""


@takes_keywords_of(ConformOptions)
def conform(options: ConformOptions) -> Conformance:
    """Hold an implementation against Algorithms 1 and 2 and say what is wrong with it.

    Its keywords are the fields of :class:`~verify.conformance.further_questions.judging_options.ConformOptions`, of
    which ``subject`` is the first.

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
    return carry_out(options)


def carry_out(options: ConformOptions) -> Conformance:
    """As :func:`conform`, of options that are there already."""
    started, limit = time.perf_counter(), options.time_limit
    load = load_subject if options.in_process else load_apart
    loaded = load(options.subject, time_limit=limit) if isinstance(options.subject, str) else options.subject
    out = None if options.out is None else Path(options.out)
    try:
        require_stages(loaded, options.name)
        if out is not None:
            _make(out)
        # One clock for all of it: a stage that hung twice is not called again.
        with timed_here(loaded, limit) as timed:
            asking = Asking(options, load_code(loaded, options.name, options.is_loadable))
            conformance = _judge(JudgedClaims(timed, options, Clock(options.seconds)), asking, started)
    finally:
        if options.is_loadable:
            end(loaded)
    if out is not None:
        write(conformance, out)
    return conformance


def _judge(request: JudgedClaims, asking: Asking, started: float) -> Conformance:
    options = request.options
    stages = StageCalls(Timed(request.subject, options.name, request.clock))
    with one_thread(), asked_under(options.paper_reading):
        own = asking.prepare()
        seen = asking.look(stages, own, _vectors(stages, request.clock))
        reproduction, error_split = None, None
        diagnoses: tuple[Diagnosis, ...] = ()
        ignored: tuple[str, ...] = ()
        case_notes: tuple[str, ...] = ()
        lines: Trace | None = None
        accuracy, proposed = EXACT, ""
        try:
            renew = copies_of(options.name, request.subject, request.clock) if options.is_loadable else None
            accuracy = accuracy_of(stages, seen)
            blames = explain_all(stages, seen, accuracy, renew)
            with_memories(seen, blames)
            diagnoses = diagnose(seen, blames)
            proposed = "" if any(blame.explanations for blame in blames) else to_declare(seen)
            lead = diagnoses[0].stage if diagnoses else seen.first
            reproduction = reproduce(seen, asking.load) if lead is None else reproduce_stage(seen, lead, asking.load)
            case_notes = asking.keep(seen, {lead: reproduction})
            lines = asking.trace_lines(seen, accuracy)
            error_split = split_error(seen) if options.is_repaired else None
            if options.is_repaired and seen.first not in ("hypergradient", "samples"):
                ignored = ignored_choices(stages)
        except KeyboardInterrupt:
            seen.ended = True
    if seen.ended:
        request.clock.end()
    first, findings = seen.first, tuple(seen.findings)
    enough = options.exitfirst and (first is not None or bool(seen.faults))
    report = (
        run_claims(request, ignored, silent=seen.is_silent)
        if options.judges_claims and not enough
        else without_claims(options)
    )
    suspected = suspect(seen) if first is None and not diagnoses and _runs_fail(report) else None
    if suspected is not None:
        diagnoses, first, findings = (suspected,), "runs", _with_suspicion(findings, suspected)
    if first is None:
        failed = [(result.claim, result.instance) for result in report.results if finding(result)]
        case_notes += asking.keep_claims(failed)
    return Conformance(
        environment=report.environment, seed=options.seed, subject=options.name, profile=options.profile,
        stages=findings, first=first, diagnoses=diagnoses, trace=lines,
        error_split=error_split, reproduction=reproduction,
        claims=claim_findings(report, _deviating(seen, findings)),
        notes=(
            *unheard(ignored),
            *(left_out(options, stages) if options.judges_claims else ()),
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
