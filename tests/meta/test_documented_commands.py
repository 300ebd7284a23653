"""Every command that the documents show is one that the program takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from verify.cli.main import COMMANDS, PROGRAM, _parser

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", *sorted(f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md")))
ENDS = ("&&", "||", "|", ">", ">>", ";", "2>&1")
"""Words of the shell at which the command's own words end."""


def commands() -> list[tuple[str, str]]:
    """Page and line of all that shell blocks and workflows show of ``f2csa``, continued lines joined."""
    found = []
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8").replace("\\\n", " ")
        for block in re.findall(r"^```(?:sh|bash)\n(.*?)^```", text, re.S | re.M):
            found += [(page, match[1]) for match in re.finditer(r"(?:^|&& |; |\n)\s*(f2csa [^\n]+)", block)]
    return found


FOUND = commands()


def test_there_are_commands_on_many_pages() -> None:
    assert len(FOUND) > 60
    assert len({page for page, _ in FOUND}) > 6


@pytest.mark.parametrize(("page", "line"), FOUND, ids=lambda value: value if value.startswith("f2csa") else "")
def test_a_documented_command_is_taken(page: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "report").mkdir()  # some commands take a folder that is there for another word
    monkeypatch.chdir(tmp_path)
    _, *words = shlex.split(line, comments=True)
    end = next((k for k, word in enumerate(words) if word in ENDS), len(words))
    asked = _parser()(words[:end] or ["--help"], prog_name=PROGRAM, standalone_mode=False)
    assert type(asked) in COMMANDS or asked == 0 or "--version" in words, (page, asked)
