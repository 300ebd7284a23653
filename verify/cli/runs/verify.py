"""``f2csa verify`` and ``baseline``: run checks, write the report, and hold it against what is on record."""

from __future__ import annotations

import gc
import hashlib
import sys
import time
from dataclasses import replace
from pathlib import Path

from spec.errors import InvalidInputError
from spec.expectations import reason_of
from spec.files import refuse_to_replace, write_files
from spec.settings import FoundSettings
from verify.campaign.baseline.comparison import Comparison
from verify.campaign.baseline.judging import judge
from verify.campaign.baseline.model import Baseline, Selection, replay
from verify.campaign.baseline.moved import render_comment
from verify.campaign.baseline.storage import load, load_report, refuse_to_overwrite, shipped_record
from verify.campaign.baseline.storage import store as keep
from verify.campaign.store.database import NAME as STORE
from verify.campaign.store.dependencies import installed
from verify.campaign.store.kept_results import Store
from verify.campaign.store.shards import Shard
from verify.cli.arguments import options
from verify.cli.output.ci_output import CiOutput
from verify.cli.output.console import print_json_text, print_lines
from verify.cli.output.folder import folder_for, holds_complete
from verify.cli.project import lists_of, settings_of, with_settings
from verify.cli.runs.run_request import options_of, selected, watched
from verify.cli.runs.run_summary import NONE_HOLDS, NOTHING, Ending, FirstBad, show, words_of
from verify.cli.runs.stage_causes import causes, require_causes, with_causes
from verify.cli.runs.unchanged_run import FILES, are_there, digest, remember
from verify.report.formats import times
from verify.report.model import NAMED
from verify.report.report_files import Report, render_json, write
from verify.report.wording import counted
from verify.subjects.subject_names import REFERENCE


def verify(request: options.Verify, key: str, started: float) -> int:
    """Run, write the files, print the summary; returns the exit code.

    Args:
        request: The command.
        key: What :func:`verify.cli.runs.unchanged_run.about` says of it.
        started: When it began, by :func:`time.monotonic`.
    """
    gc.freeze()  # what is imported stays: not to be looked through for garbage again and again
    own_baseline = request.baseline is not None
    request, settings = with_settings(request, request.subject)
    lists = lists_of(settings, request.xfails_file, request.skips_file)
    if settings.is_of_another and (request.quiet or request.as_json):
        sys.stderr.write(f"f2csa: {lists.notice}\n")
    shard = None if request.shard is None else Shard.parse(request.shard)
    record_to = _record_to(request)
    ci_output = CiOutput(request.annotations, request.sarif, as_json=request.as_json)
    not_asked = {"--shard": shard is not None, "--quiet": request.quiet, "--json": request.as_json}
    traced = (request.subject or REFERENCE) if request.trace else None
    require_causes(request.causes, traced=traced, but=next((name for name, given in not_asked.items() if given), ""))
    named = "--baseline" if own_baseline else f"{settings.source} baseline"
    if not own_baseline and request.baseline is not None and not request.baseline.exists():
        raise InvalidInputError(named, "must be there: f2csa baseline record writes it", str(request.baseline))
    on_record = load(request.baseline, named) if request.baseline is not None else None
    selection = selected(request)
    run = options_of(request, skips=lists.skips, expected_failures=lists.expected_failures, shard=shard)
    folder = folder_for(request.out, [task.key for task in run.planned])
    compared = None if on_record is None else selection.narrow(on_record)
    if on_record is not None and compared is None and not own_baseline and (request.claims or request.instance):
        # A part that the settings' baseline holds nothing of is compared with what ships, and that is said.
        on_record = None
        lists = lists._replace(
            notice=f"{lists.notice}; {request.baseline} holds nothing of this part: not compared with it"
        )
    if compared is not None and all(reason_of(lists.skips, **entry.named) for entry in compared.results):
        raise InvalidInputError(
            named, "must hold a result of what is to be run; the skips leave none", str(request.baseline)
        )
    if on_record is not None and compared is None:
        # Compared with nothing, nothing would ever differ.
        raise InvalidInputError(named, "must hold a result of what is to be run; none is", str(request.baseline))
    store = request.out / STORE
    record = None if on_record is None else on_record.verdicts
    held = shipped_record() if record is None else record
    first = FirstBad(held, lists.expected_failures) if request.exitfirst else None
    report = watched(replace(run, store=store, record=record, until=first), quiet=request.quiet)
    if compared is not None and not compared.verdicts_only:
        dropped, report = report.changes, judge(report, compared)[0]
        report = report.model_copy(update={"changes": (*dropped, *report.changes)})
    if shard is not None:
        # Which results are its own was not known before.
        folder = folder_for(request.out, [result.key for result in report.results])
    if shard is None and not (request.quiet or request.as_json):
        report = with_causes(report, request.causes, request.time_limit, trace=request.trace)
    # An interrupted run leaves the report of a whole one; what it finished is kept to go on from.
    files = _digest_of(report)
    paths = [] if not report.complete and holds_complete(folder) else written(report, files, folder, store)
    judged = report.has_verdicts and not report.nothing_compared
    if record_to is not None and report.complete and judged:
        keep(Baseline.of(report).bare, record_to, argument=RECORD_TO)
    ci_output.report(report)
    stopped_at = None if first is None or report.complete else first.result
    if request.as_json:
        print_json_text(render_json(report))
    else:
        if folder != request.out:
            beyond = f"{request.out} holds results beyond these and was left as it is"
            report = report.after(report.kept, (*report.notices, beyond))
        if lists.notice:
            report = report.after(report.kept, (*report.notices, lists.notice))
        ending = Ending(paths, folder, time.monotonic() - started, stopped_at)
        show(report, ending, quiet=request.quiet, table=request.table)
        if folder == request.out:
            again = report.after(len(report.results), [lists.notice] if lists.notice else [])
            remember(report, words_of(again, ending, quiet=request.quiet), key, folder, files)
    return report.exit_code if stopped_at is None else 3 if report.faults else 1


RECORD_TO = "--record-to"
"""The option's name in errors."""


def _record_to(request: options.Verify) -> Path | None:
    """The file to write the verdicts found to; refused, before any run, where it holds anything else."""
    if request.old_record_to is not None:
        if request.record_to is not None:
            raise InvalidInputError("--record", f"must not be given together with {RECORD_TO}, its new name")
        sys.stderr.write(f"f2csa: --record writes its file; {RECORD_TO} is its new name\n")
    path = request.record_to or request.old_record_to
    if path is None and request.force:
        raise InvalidInputError("--force", f"must go with {RECORD_TO}")
    if path is not None:
        refuse_to_overwrite(path, force=request.force, argument=RECORD_TO)
    return path


def _digest_of(report: Report) -> str:
    """Of a report and of the code that writes its files."""
    return hashlib.sha256(f"{installed().whole} {render_json(report)} {report.letter or ''}".encode()).hexdigest()


def written(report: Report, about: str, folder: Path, store: Path) -> list[Path]:
    """Write the files; where they are there already, as the store remembers, only their times."""
    with Store(store) as open_store:
        known = open_store.remembered(FILES + about)
        if are_there(folder, known):
            write_files(folder, {times.FILE: times.render_times(report)})
            return [folder / name for name in (*known, times.FILE)]
        paths = write(report, folder)
        timeless = [path for path in paths if path.name != times.FILE]
        open_store.remember(FILES, about, {path.relative_to(folder).as_posix(): digest(path) for path in timeless})
    return paths


def record(request: options.RecordOptions) -> int:
    """Record a run, or a report of one; returns the exit code."""
    refuse_to_overwrite(request.out, force=request.force)
    report = _report(request, "--from")
    if report is None:
        request, settings = with_settings(request, request.subject)
        report = _rerun(request, selected(request), settings)
    if not report.complete:
        sys.stderr.write("f2csa: the run was interrupted; nothing was recorded\n")
        return 3
    if report.nothing_compared:
        print_lines([f"{NOTHING}: nothing was recorded"])
        return 3
    faults = [f"{result.where}: {result.fault}" for result in report.faults]
    baseline = Baseline.of(report) if report.has_verdicts else None
    baseline = selected(request).narrow(baseline) if baseline is not None else None
    if baseline is not None:
        keep(baseline, request.out)
    print_lines([f"fault, not recorded: {line}" for line in faults])
    if baseline is None:
        if faults:
            print_lines(["every result is a fault: nothing was recorded"])
            return 3
        named = ", ".join(request.claims or ())
        raise InvalidInputError("claims", "must select at least one result of the report", named)
    how = f"profile {baseline.profile}, seed {baseline.seed}"
    left = f", {counted(len(report.skipped), 'result')} skipped on request not" if report.skipped else ""
    print_lines(
        [f"{counted(len(baseline.results), 'result')} of {baseline.subject} ({how}) recorded{left}: {request.out}"]
    )
    if report.nothing_holds:
        print_lines([NONE_HOLDS])
    return 3 if faults else int(report.nothing_holds)


def compare(request: options.Compare) -> int:
    """Compare a run, or a report of one, with a baseline; returns the exit code."""
    recorded = load(request.file, "FILE")
    if request.out is not None:
        folder_for(request.out, ())  # refused before the run, if at all
    ci_output = CiOutput(request.annotations, None, as_json=request.as_json)
    _require_causes(request, recorded)
    if request.comment is not None:
        refuse_to_replace(request.comment, "--comment")
    selection = selected(request)
    baseline = selection.narrow(recorded)
    if baseline is None:
        named = " ".join(request.claims or ()) or None
        raise InvalidInputError("claims", "must select at least one result on record", named)
    report = _report(request, "--with")
    is_run = report is None
    if report is None:
        again = _repeating(request, recorded)
        report = _rerun(again, replay(baseline), settings_of(again.subject or REFERENCE, unread=request.no_settings))
    # A claim brings its steps; what was not asked about says nothing here.
    judged, comparison = judge(report.model_copy(update={"results": selection.of(report.results)}), baseline)
    if not (comparison.compared or comparison.findings or comparison.faults) and report.complete:
        # Nothing compared is no success.
        rule = "must have at least one result in common with the run; none is"
        raise InvalidInputError("FILE", rule, str(request.file))
    if is_run and (request.comment is not None or not request.as_json):
        judged = with_causes(judged, request.causes, request.time_limit, trace=request.trace)
    if request.out is not None:
        write(judged, folder_for(request.out, [result.key for result in judged.results]))
    ci_output.report(judged)
    if request.comment is not None:
        new_baseline = Baseline.of(judged) if judged.has_verdicts else None
        comment = render_comment(comparison, baseline, new_baseline, complete=judged.complete, causes=causes(judged))
        write_files(request.comment.parent, {request.comment.name: comment}, "--comment")
    if request.as_json:
        print_json_text(comparison.model_dump_json(indent=1))
    else:
        _show_comparison(comparison, judged)
    return judged.exit_code


def _require_causes(request: options.Compare, recorded: Baseline) -> None:
    but = "--with" if request.source is not None else "--json" if request.as_json and request.comment is None else ""
    traced = (request.subject or recorded.subject or REFERENCE) if request.trace else None
    require_causes(request.causes, traced=traced, but=but)


def _report(request: options.RecordOptions | options.Compare, option: str) -> Report | None:
    """The report given instead of a run; it was run already, so nothing about how to run can be asked of it."""
    if request.source is None:
        return None
    for name in ("subject", "profile", "seed", "effort", "jobs", "executor", "time_limit"):
        if getattr(request, name) is not None:
            rule = f"must not be given together with {option}: that report was run already"
            raise InvalidInputError(f"--{name.replace('_', '-')}", rule)
    return load_report(request.source, option, "compare exponents and constants")


def _repeating(request: options.Compare, recorded: Baseline) -> options.Compare:
    """What was recorded, where nothing else is asked for."""
    return replace(
        request,
        subject=request.subject or recorded.subject or None,
        profile=request.profile or recorded.profile,
        seed=recorded.seed if request.seed is None and not recorded.verdicts_only else request.seed,
        effort=request.effort or recorded.effort,
    )


def _rerun(request: options.RecordOptions | options.Compare, selection: Selection, settings: FoundSettings) -> Report:
    lists = lists_of(settings)
    run = options_of(
        request, claims=selection.claims, readings=selection.readings or NAMED, instances=selection.instances,
        effort=request.effort or 1, record={}, skips=lists.skips, expected_failures=lists.expected_failures,
    )  # fmt: skip
    return watched(run)


def _show_comparison(comparison: Comparison, report: Report) -> None:
    lines = [f"finding: {line}" for line in comparison.findings] + [f"cause: {line}" for line in causes(report)]
    lines += [NONE_HOLDS] if report.nothing_holds else []
    lines += [f"fault: {line}" for line in comparison.faults]
    lines += [f"{'new' if c.kind == 'new' else 'improved'}: {c.line}" for c in comparison.changes if not c.worse]
    lines += [f"note: {line}" for line in comparison.notes]
    if not report.complete:
        lines.append("interrupted: only what was done was compared")
    counts = (len(comparison.findings), "finding"), (len(comparison.faults), "fault")
    tally = ", ".join(counted(count, noun) for count, noun in counts)
    compared = f"{counted(comparison.compared, 'result')} and {counted(comparison.numbers, 'number')} compared"
    print_lines([*lines, f"{compared}: {tally}"])
