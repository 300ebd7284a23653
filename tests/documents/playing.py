"""Play a page: its Python in one namespace, its commands in one folder, what it shows against what comes out."""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spec.errors import InvalidInputError
from spec.settings import load_settings
from tests.copies import script
from tests.documents.pages import ROOT, Example, of_page
from tests.documents.table import Row, row_of
from tests.kept import served
from verify.cli.main import COMMANDS, PROGRAM, invoke

GIVEN = Path(__file__).parent / "given"
TOOLS = (
    "node",
    "git",
    "g++",
    "cc",
    "as",
    "ld",
    "rustc",
    "cargo",
    "sh",
    "cat",
    "dirname",
    "uname",
    "sed",
    "test",
    "mkdir",
)
"""Programs that the shell finds."""
_OF_SHELL = re.compile(r"[|&;<>$`*\n]|^\w+=|^(?:if|for) ")


class FalseExampleError(AssertionError):
    """An example does not do what its page says."""


@dataclass
class Player:
    """A folder in which the examples of one page are played, one after the other.

    Args:
        folder: Where everything is run; empty at first.
        table: Rows about the page's examples.
        python: Words that run a module, ``[*python, "-m", MODULE]``.
    """

    folder: Path
    table: Sequence[Row] = ()
    python: Sequence[str] = (sys.executable,)
    namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "page"})
    prepared: list[Row] = field(default_factory=list)
    printed: str = ""
    """What the last command printed."""

    def play(self, examples: Sequence[Example]) -> list[Example]:
        """Play examples in order; answers with those that ran.

        Raises:
            FalseExampleError: If one does not do what its page says.
        """
        played = []
        for number, example in enumerate(examples):
            row = row_of(example, self.table)
            if row is not None and row.is_left_out:
                if example.kind == "file" and not row.not_run:
                    self._put(example.name, example.text)
                continue
            self._prepare(row, example)
            self._play_one(example, row)
            if example.kind == "file" and not _named_later(example.name, examples[number:]):
                self._import(example)
            played.append(example)
        return played

    def _prepare(self, row: Row | None, example: Example) -> None:
        if row is None or row in self.prepared:
            return
        self.prepared.append(row)
        for name, source in row.files.items():
            self._put(name, given(source))
        for each in row.before:
            code, _, command = each.rpartition(": ") if re.match(r"\d: ", each) else ("0", "", each)
            self._run(command, int(code), example.place)

    def _play_one(self, example: Example, row: Row | None) -> None:
        instead, code = (row.instead, row.exit) if row else ((), 0)
        text = replaced(example, row.put if row else {})
        if example.kind == "python":
            if row is not None and row.prelude:
                self._execute(replace(example, text=given(row.prelude), line=1, page=row.prelude))
            self._execute(replace(example, text=text))
            if row is not None and row.tested_by:
                self._put("test_of_page.py", text)
                self._run(row.tested_by.replace("FILE", "test_of_page.py"), code, example.place)
        elif example.kind == "file":
            self._put(example.name, text)
        elif example.kind == "correction":
            self._correct(example)
        elif example.kind == "command":
            for command in instead or (text,):
                self._run(command, code, example.place)
        elif example.kind == "settings":
            # Read, and not left there for the commands that follow, which are of other subjects.
            self._put("settings/f2csa.toml", text)
            try:
                load_settings(self.folder / "settings")
            except InvalidInputError as error:
                raise FalseExampleError(f"{example.place}: {error}") from error
        elif example.kind == "shown":
            for command in instead:
                self._run(command, code, example.place)
            held_against(example, self.printed)

    def _put(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")

    def _execute(self, example: Example) -> None:
        # Lines are counted as on the page, so that an error's place is the page's.
        code = compile("\n" * (example.line - 1) + example.text, example.page, "exec")
        with self._entered():
            try:
                exec(code, self.namespace)
            except Exception as error:
                raise FalseExampleError(f"{example.place}: {type(error).__name__}: {error}") from error

    def _import(self, example: Example) -> None:
        with self._entered():
            try:
                runpy.run_path(str(self.folder / example.name))
            except Exception as error:
                raise FalseExampleError(f"{example.place}: {type(error).__name__}: {error}") from error

    def _correct(self, example: Example) -> None:
        """Apply a diff to the one file that has its lines."""
        out, put = sides(example.text)
        files = [file for file in self.folder.iterdir() if file.is_file() and out in file.read_text(encoding="utf-8")]
        if not out or len(files) != 1:
            raise FalseExampleError(f"{example.place}: {len(files)} files have the lines that are taken out")
        files[0].write_text(files[0].read_text(encoding="utf-8").replace(out, put), encoding="utf-8")

    def _run(self, command: str, wanted: int, place: str) -> None:
        code, self.printed, error = self._outcome(command)
        if code != wanted:
            said = f"{self.printed[-1000:]}\n{error[-2000:]}"
            raise FalseExampleError(f"{place}: exit code must be {wanted}; got {code} of {command!r}\n{said}")

    def _outcome(self, command: str) -> tuple[int, str, str]:
        """Exit code, output and errors of a command: in this process where it is one of ours, else by the shell."""
        with self._entered():
            if not _OF_SHELL.search(_unquoted(command)) and command.split()[0] == PROGRAM:
                out, error = io.StringIO(), io.StringIO()
                words = with_one_job(shlex.split(command)[1:])
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error), served():
                    code = invoke(words)
                return code, out.getvalue(), error.getvalue()
            environment = {**os.environ, "PATH": str(self._tools()), "PYTHONPATH": str(ROOT)}
            ended = subprocess.run(
                ["sh", "-c", command],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            return ended.returncode, ended.stdout, ended.stderr

    @contextlib.contextmanager
    def _entered(self) -> Iterator[None]:
        """The folder as working directory and first place for modules; its modules are forgotten afterwards."""
        paths, known = list(sys.path), set(sys.modules)
        sys.path.insert(0, str(self.folder))
        try:
            with contextlib.chdir(self.folder):
                yield
        finally:
            sys.path[:] = paths
            for name in set(sys.modules) - known:
                if str(getattr(sys.modules[name], "__file__", None)).startswith(str(self.folder)):
                    del sys.modules[name]

    def _tools(self) -> Path:
        """Programs for the shell: ours, this Python, and :data:`TOOLS`."""
        tools = self.folder.with_name(f"{self.folder.name}-programs")
        if not tools.exists():
            tools.mkdir()
            modules = {PROGRAM: "-m verify", "pytest": "-m pytest -p no:cacheprovider"}
            scripts = {name: script(self.python, words) for name, words in modules.items()}
            scripts["python"] = f'[ "$1" = -m ] && exec {shlex.join(self.python)} "$@"\n{script([sys.executable])}'
            for name, text in scripts.items():
                (tools / name).write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}", encoding="utf-8")
                (tools / name).chmod(0o755)
            for name in TOOLS:
                if (found := shutil.which(name)) is not None:
                    (tools / name).symlink_to(found)
        return tools


def _unquoted(command: str) -> str:
    """The command without what stands in quotes."""
    return re.sub(r"'[^']*'|\"[^\"$`]*\"", "", command)


def with_one_job(words: list[str]) -> list[str]:
    """The same in this process, where the command takes a number of them: answers are the same with any."""
    taking = [name.split() for options, (name, _) in COMMANDS.items() if "jobs" in options.__dataclass_fields__]
    takes = any(words[: len(name)] == name for name in taking) and not {"--jobs", "--with"} & set(words)
    return [*words, "--jobs", "1"] if takes else words


def _named_later(name: str, examples: Sequence[Example]) -> bool:
    """Whether a command names a file or its module."""
    stem = name.partition(".")[0]
    commands = [example.text for example in examples if example.kind == "command"]
    return any(re.search(rf"(?<![\w-]){re.escape(stem)}(?![\w-])", command) for command in commands)


def held_against(example: Example, printed: str) -> None:
    """Hold what a page shows against what was printed; an ellipsis stands for anything, a line break for a space.

    Raises:
        FalseExampleError: If a piece is not there, or not in this order.
    """
    there, at = " ".join(printed.split()), 0
    pieces = [" ".join(piece.split()) for piece in example.text.split("…")]
    if not any(pieces):
        raise FalseExampleError(f"{example.place}: nothing is shown")
    for piece in pieces:
        found = there.find(piece, at)
        if found < 0:
            raise FalseExampleError(f"{example.place}: shown, and not printed: {piece!r}\nprinted: {printed[-3000:]}")
        at = found + len(piece)


def replaced(example: Example, put: Mapping[str, str]) -> str:
    """The example's text with some of it put otherwise.

    Raises:
        FalseExampleError: If what is replaced is not there once.
    """
    text = example.text
    for old, new in put.items():
        if text.count(old) != 1:
            raise FalseExampleError(f"{example.place}: what is put otherwise must be there once; got {old!r}")
        text = text.replace(old, new)
    return text


def given(source: str) -> str:
    """The text of a file that a row names, as :class:`tests.documents.table.Row` says."""
    if " + " in source:
        return "\n\n".join(given(part) for part in source.split(" + "))
    page, mark, name = re.fullmatch(r"([^#]+)(#*)(.*)", source).groups()  # type: ignore[union-attr]  # it fits all
    if not mark:
        return ((GIVEN if (GIVEN / source).is_file() else ROOT) / source).read_text(encoding="utf-8")
    examples = of_page(page)
    (text,) = (example.text for example in examples if name in (example.name, GIVEN_KINDS.get(example.kind)))
    for example in examples if mark == "#" else ():
        if example.kind == "correction":
            out, put = sides(example.text)
            text = text.replace(out, put)
    return text


GIVEN_KINDS = {"data": "problem", "python": "python"}
"""Names for what has none on its page."""


def sides(diff: str) -> tuple[str, str]:
    """The lines that a diff takes out, and those that it puts in."""
    out, put = ("".join(f"{line[1:]}\n" for line in diff.splitlines() if line.startswith(sign)) for sign in "-+")
    return out, put
