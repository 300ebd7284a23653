"""What a page shows, in reading order: Python, commands, files, corrections, and what comes out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md", "CONTRIBUTING.md", "benchmarks/README.md",
    *sorted(f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md")),
)  # fmt: skip
"""Pages in Markdown. The changelog tells what was, and its commands are those of its day."""
SOURCES = tuple(
    sorted(
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "examples").rglob("*")
        if path.suffix in (".py", ".mjs", ".cpp", ".rs")
    )
)
"""Examples that say how they are run, in their first lines."""
PROGRAMS = "f2csa|python|pip|pytest|mpiexec|cat|g\\+\\+|rustc|node"
_FENCE = re.compile(r"^(```+)(\w*)\n(.*?)^\1$", re.S | re.M)
_SPAN = re.compile(r"(?<!`)(``?)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
_NAMED = re.compile(r"(?://|#) ([\w.]+\.(?:py|mjs))\n")
_STEP = re.compile(r"^( *)(?:- )?run: (\|\n((?:\1 +.*\n)+)|.*\n)", re.M)

Kind = Literal["python", "file", "command", "correction", "shown", "data", "settings", "form"]


@dataclass(frozen=True)
class Example:
    """One example: where it stands, of which kind it is, its text; ``name`` of a file.

    A ``form`` is a command with something to fill in, such as ``f2csa claims ID``; ``correction`` is a diff, ``shown``
    what comes out, ``data`` a problem, and ``settings`` an ``f2csa.toml``.
    """

    page: str
    line: int
    kind: Kind
    text: str
    name: str = ""
    inline: bool = False

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def of_page(page: str) -> list[Example]:
    """The examples of a page of this repository."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return list(in_comments(page, text) if page in SOURCES else in_markdown(page, text))


def in_markdown(page: str, text: str) -> Iterator[Example]:
    """The examples of a page in Markdown.

    Raises:
        ValueError: If a block is in a language nobody decided on.
    """
    end = 0
    for block in _FENCE.finditer(text):
        yield from _spans(page, text, end, block.start())
        yield from _block(page, _line(text, block.start()) + 1, block[2], block[3])
        end = block.end()
    yield from _spans(page, text, end, len(text))


def in_comments(page: str, text: str) -> Iterator[Example]:
    """The commands in a source's comments: quoted, or a line that begins with a program's name."""
    for number, line in enumerate(text.splitlines(), 1):
        said = re.match(rf"//!? (?:Run )?((?:{PROGRAMS}) .+)", line)
        quoted = [said[1]] if said else re.findall(rf"``((?:{PROGRAMS}) .+?)``", line)
        yield from (Example(page, number, "command", found) for found in quoted)


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _block(page: str, line: int, language: str, text: str) -> Iterator[Example]:
    named = _NAMED.match(text)
    if language in ("python", "js") and named:
        yield Example(page, line, "file", text, name=named[1])
    elif language == "python":
        yield Example(page, line, "python", text)
    elif language in ("sh", "bash"):
        yield from _commands(page, line, text)
    elif language == "yaml":
        for step in _STEP.finditer(text):
            script = re.sub(r"^ +", "", step[3], flags=re.M) if step[3] else step[2]
            yield from _commands(page, line + _line(text, step.start()) - 1, script)
    elif language == "toml" and text.lstrip().startswith(("[[steps]]", "[repaired]")):
        return  # an entry of a claim's file: tests/meta/test_contributing.py follows it
    elif language in ("diff", "json", "toml", ""):
        kind: dict[str, Kind] = {"diff": "correction", "json": "data", "toml": "settings", "": "shown"}
        yield Example(page, line, kind[language], text)
    else:
        raise ValueError(f"a block's language must be one that is run or compared; got {language!r} at {page}:{line}")


def _commands(page: str, line: int, text: str) -> Iterator[Example]:
    """One for each line, continued ones joined, without remarks; a script with a first line of its own is one."""
    if text.startswith("#!"):
        yield Example(page, line, "command", text)
        return
    for number, each in enumerate(text.replace("\\\n", " \0").splitlines(), line):
        words = re.sub(r"(^|\s)#\s.*$", "", each).replace("\0", "")
        if words.strip():
            yield Example(page, number, "command", words.strip())


def _spans(page: str, text: str, start: int, end: int) -> Iterator[Example]:
    """Commands in the running text that have an argument: a command's name alone is no example."""
    for span in _SPAN.finditer(text, start, end):
        words = " ".join(span[2].split())
        if re.match(rf"(?:{PROGRAMS}) \S", words) and (is_form(words) or len(arguments(words)) > 0):
            kind: Kind = "form" if is_form(words) else "command"
            yield Example(page, _line(text, span.start()), kind, words, inline=True)


GROUPS = ("baseline", "experiment", "paper")


def arguments(command: str) -> list[str]:
    """The words of a command after the program's and, of ``f2csa``, the command's name."""
    program, *words = shlex.split(command, comments=True)
    if program == "f2csa":
        words = words[2 if words[0] in GROUPS and len(words) > 1 and words[1].isalpha() else 1 :]
    return words


def is_form(words: str) -> bool:
    """Whether there is something to fill in: a word in capitals, brackets, or an ellipsis."""
    return bool(re.search(r"…|\[[A-Z]|(?<![\w$/.-])(?:[A-Z]+(?:/[A-Z])?|[A-Z]+\.\w+)(?![\w:])", words))
