"""``f2csa history``: recorded baselines in order, and what moved from one to the next."""

from __future__ import annotations

import sys

from rich.markup import escape
from rich.table import Table

from spec.errors import InvalidInputError
from spec.files import refuse_to_replace, write_files
from verify.campaign.baseline.history import History, VerdictCourse, history_of, read_commits, read_files
from verify.campaign.baseline.history_page import history_page, said_of, verdicts_said
from verify.cli.arguments import skeleton_options
from verify.cli.output.console import plain_console, print_json_text
from verify.report.wording import counted


def history(options: skeleton_options.HistoryOptions) -> None:
    """Print the history, and write its page where one is asked for."""
    if options.commits and len(options.files) != 1:
        raise InvalidInputError("--commits", "must go with one file", len(options.files))
    if options.out is not None:
        if options.out.is_dir():
            raise InvalidInputError("--out", "must be a file, not a folder", str(options.out))
        refuse_to_replace(options.out)
    timeline = history_of(read_commits(options.files[0]) if options.commits else read_files(options.files))
    if options.out is not None:
        (path,) = write_files(options.out.parent, {options.out.name: history_page(timeline)})
        sys.stderr.write(f"{path}\n")
    if options.as_json:
        print_json_text(timeline.model_dump_json(indent=1))
    else:
        _print(timeline)


def _print(timeline: History) -> None:
    console = plain_console()
    records = _table("record", "verdicts", "worse", "other")
    for record in timeline.records:
        verdicts = ", ".join(f"{count} {name}" for name, count in record.verdicts.items())
        records.add_row(escape(record.name), verdicts, str(len(record.worse)), str(len(record.other)))
    console.print(records)
    moved = _table("moved", "over the records")
    for line in timeline.moved:
        where = f"{line.claim} [{line.reading}] on {line.instance}"
        moved.add_row(escape(where), verdicts_said(line.verdicts))
        for course in filter(_varies, line.courses):
            moved.add_row(escape(f"  {course.quantity}, {course.what}"), said_of(course.values))
    if timeline.moved:
        console.print(moved)
    console.print(
        f"{counted(len(timeline.moved), 'result')} of {len(timeline.lines)} moved over {len(timeline.records)} records."
    )


def _varies(course: VerdictCourse) -> bool:
    return len(set(course.values)) > 1


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading)
    return table
