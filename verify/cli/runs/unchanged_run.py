"""A run that nothing changed since: told again from what its store remembers of it; nothing is planned or rendered.

It is told where the code, its libraries, the machine, the command, its settings and baseline, every result and plan in
the store and every file of the report are what they were when the last run ended; else the run goes its whole way. Few
modules are imported here: to import what a run needs takes longer than all this.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType

from spec.atlas import is_file
from spec.errors import InvalidInputError
from spec.files import write_files
from verify.campaign.run_environment import environment
from verify.campaign.store import database, notes
from verify.campaign.store.dependencies import installed
from verify.cli.arguments.options import Verify
from verify.cli.output.console import plain_console
from verify.cli.output.folder import FRONT, require_ours
from verify.cli.output.outlets import ON_GITHUB
from verify.cli.project import with_settings
from verify.report.formats import times
from verify.report.paragraphs import Headline, Paragraph
from verify.subjects.subject_names import REFERENCE

if TYPE_CHECKING:
    from verify.report.report_files import Report

KIND, FILES = "last run by ", "files of "
"""How the names begin of what a store remembers of a run, and of the report's files."""


@dataclass(frozen=True)
class RunWords:
    """What a run says when it ends: its answer, if it is to be said, lines, and what the closing line counts."""

    answer: RenderableType | None
    lines: Sequence[str]
    counted: str

    def show(self, front: Path | None, seconds: float | None) -> None:
        """Print them: ``1,912 results in 55 s; report: report/report.html`` at the end."""
        console = plain_console()
        if self.answer is not None:
            console.print(self.answer)
        for line in [*self.lines, closing_line(self.counted, front, seconds)]:
            console.print(line, soft_wrap=True, markup=False)

    @property
    def text(self) -> str:
        """As a store remembers them; empty where the answer is a table."""
        if not (self.answer is None or isinstance(self.answer, Headline)):
            return ""
        paragraphs = None if self.answer is None else [asdict(one) for one in self.answer.paragraphs]
        return json.dumps([paragraphs, self.lines, self.counted])

    @classmethod
    def read(cls, text: str) -> RunWords:
        """From the text of :attr:`text`."""
        paragraphs, lines, counted = json.loads(text)
        answer = None if paragraphs is None else Headline(tuple(Paragraph(**one) for one in paragraphs))
        return cls(answer, lines, counted)


def closing_line(counted: str, front: Path | None, seconds: float | None) -> str:
    """``1,912 results in 55 s; report: report/report.html``; no seconds where nothing was run."""
    took = "" if seconds is None else f" in {seconds:.1f} s" if seconds < 10 else f" in {seconds:.0f} s"
    return f"{counted}{took}{'' if front is None else f'; report: {front}'}"


def about(options: Verify) -> str:
    """A digest of what a run depends on beside its store; empty where not all is known, or it says more than words.

    Raises:
        InvalidInputError: If settings are broken.
    """
    options, settings = with_settings(options, options.subject)
    github = options.annotations or ("github" if os.environ.get(ON_GITHUB) == "true" else "none")
    more = (
        options.executor, options.shard, options.skips_file, options.xfails_file, options.record_to,
        options.old_record_to, options.sarif, options.force, options.fresh, options.exitfirst, options.table,
        options.as_json, github != "none",
        options.subject not in (None, REFERENCE), settings.is_of_another, any(map(is_file, options.instance or ())),
        options.jobs is not None and options.jobs < 1,
    )  # fmt: skip
    if any(more):
        return ""
    baseline = b""
    if options.baseline is not None:
        if not options.baseline.is_file():
            return ""
        baseline = options.baseline.read_bytes()
    told = repr((replace(options, jobs=None, out=Path()), settings, environment()))
    return notes.digest(told, hashlib.sha256(baseline).hexdigest(), installed().whole)


def told_again(options: Verify, key: str, started: float) -> int | None:
    """Tell the last run again, with its exit code; ``None``, and nothing is said or written, where anything changed.

    Args:
        options: The command.
        key: What :func:`about` says of it; where that is empty, or no store is there, nothing is told.
        started: When the command began, by :func:`time.monotonic`.

    Raises:
        InvalidInputError: If the folder holds somebody else's file under one of our names.
    """
    if not (key and (options.out / database.NAME).is_file()):
        return None
    known: dict[str, str] = {}
    # What is wrong with a store is for the run itself to say.
    with (
        suppress(InvalidInputError, RuntimeError, sqlite3.Error),
        closing(database.opened(options.out / database.NAME, "store")) as connection,
    ):
        known = notes.remembered(connection, KIND + key)
        if known and known.pop("state") != notes.state(connection):
            known = {}
        known |= notes.remembered(connection, FILES + known["files"]) if known else {}
    if not known:
        return None
    words, code, spent, _ = (known.pop(name) for name in ("words", "code", "spent", "files"))
    held = times.read(options.out / times.FILE)
    if held is None or _digest_of(held) != spent or not are_there(options.out, known):
        return None
    require_ours(options.out)
    seconds = time.monotonic() - started
    write_files(options.out, {times.FILE: times.text_of(held.model_copy(update={"seconds": seconds}))})
    RunWords.read(words).show(options.out / FRONT, seconds)
    return int(code)


def remember(report: Report, words: RunWords, key: str, folder: Path, files: str) -> None:
    """Remember how a run ended, for the next one of which nothing changed; where it would not end so again, nothing.

    Args:
        report: Its report.
        words: What a run says that takes all results from the store.
        key: What :func:`about` said of it before it began.
        folder: Where its files and its store are.
        files: The digest that the store remembers the report's files by.
    """
    held = times.read(folder / times.FILE)
    if not (key and words.text and report.complete) or report.faults or report.draws is not None or held is None:
        return
    with closing(database.opened(folder / database.NAME, "store")) as connection:
        requests = connection.execute("SELECT request FROM plans").fetchall()
        # Results of another machine are named by the next run, if not by this one.
        if any(json.loads(request)["environment"] != report.environment for (request,) in requests):
            return
        known = {"words": words.text, "code": str(report.exit_code), "spent": _digest_of(held), "files": files}
        notes.remember(connection, KIND, key, known | {"state": notes.state(connection)})


def are_there(folder: Path, known: dict[str, str]) -> bool:
    """Whether files are in a folder as they were, by name and digest; never where none is known."""
    return bool(known) and all(digest(folder / name) == known[name] for name in known)


def digest(path: Path) -> str:
    """SHA-256 of a file's content; empty where it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _digest_of(held: times.Times) -> str:
    return notes.digest(times.text_of(held.model_copy(update={"seconds": 0.0})))
