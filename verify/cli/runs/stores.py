"""``f2csa merge`` and ``f2csa report``: stores joined, and a report made from one."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from spec.errors import InvalidInputError
from spec.files import write_files
from verify.campaign.baseline.judging import judge
from verify.campaign.baseline.model import Baseline
from verify.campaign.baseline.storage import load, shipped_record
from verify.campaign.store.database import NAME
from verify.campaign.store.kept_results import Store
from verify.campaign.store.merging import merge as join
from verify.campaign.store.stored_report import fullest, report_of
from verify.cli.arguments import store_options
from verify.cli.output.console import print_json_text, print_lines
from verify.cli.output.folder import folder_for, holds_complete, require_folder
from verify.cli.runs.run_summary import Ending, show
from verify.report.formats.take_away import plots_of
from verify.report.report_files import Report, render_json, write
from verify.report.site.frame import SiteFrame


def merge(options: store_options.Merge) -> int:
    """Join stores; returns the exit code, 3 where a result was not believed."""
    done = join([_store(path) for path in options.stores], _store(options.out, new=True))
    lines = [f"note: {line}" for line in done.dropped]
    lines.append(f"{done.results:,} results in {_store(options.out)}: {done.added:,} of them added")
    print_lines(lines)
    return 3 if done.dropped else 0


def report(options: store_options.ReportOptions) -> int:
    """Write and print a report; returns the exit code."""
    path = _store(options.store)
    out = path.parent if options.out is None else options.out
    if options.plots is not None:
        require_folder(options.plots, "--plots")
    on_record = load(options.baseline, "--baseline") if options.baseline is not None else None
    with Store(path, "STORE", to_read=True) as store:
        plan = fullest(store, subject=options.subject, profile=options.profile, seed=options.seed)
        stored_report = report_of(store, plan, shipped_record() if on_record is None else on_record.verdicts)
        notices = list(store.notices)
    if on_record is not None:
        stored_report = _held(stored_report, on_record, dict(plan.cells))
    if not stored_report.complete:
        notices.append(f"{len(stored_report.results):,} of the {len(plan.cells):,} results of the run are in {path}")
    folder = folder_for(out, [result.key for result in stored_report.results])
    paths = [] if not stored_report.complete and holds_complete(folder) else write(stored_report, folder)
    if options.plots is not None:
        write_files(options.plots, plots_of(SiteFrame.of(stored_report.timeless)), "--plots")
    if options.as_json:
        print_json_text(render_json(stored_report))
    else:
        show(stored_report.after(0, notices), Ending(paths, folder), table=options.table)
    return stored_report.exit_code


def _held(report: Report, on_record: Baseline, planned: Collection[str]) -> Report:
    """The report compared with what is on record of the results that the run was asked for."""
    entries = tuple(entry for entry in on_record.results if entry.key in planned)
    if not entries:
        raise InvalidInputError("--baseline", "must hold a result of the store's run; none is")
    if on_record.verdicts_only:
        return report
    held = judge(report, on_record.model_copy(update={"results": entries}))[0]
    return held.model_copy(update={"changes": (*report.changes, *held.changes)})


def _store(path: Path, *, new: bool = False) -> Path:
    """The file that is meant by a file or its folder; a new one is a file if it is named like one."""
    is_folder = path.is_dir() or (new and not path.exists() and path.suffix != Path(NAME).suffix)
    if not is_folder and not new and not path.is_file():
        raise InvalidInputError("STORE", "must be a store, or a folder with one", str(path))
    return path / NAME if is_folder else path
