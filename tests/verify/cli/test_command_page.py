"""The page of commands is what the parser has, and its examples are lines that it takes."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from verify.cli.command_page import EXAMPLES, page
from verify.cli.main import COMMANDS, _parser

ROOT = Path(__file__).parents[3]


def test_the_page_is_made_from_the_parser():
    made = "`python -m verify.cli.command_page > docs/commands.md` makes it anew"
    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == page(), made


def test_each_command_has_one_line_and_an_example():
    names = [name for name, _ in COMMANDS.values()]
    assert list(EXAMPLES) == names
    assert len({line for line in page().splitlines() if line.startswith("| `")}) == len(names)


@pytest.mark.parametrize(("asked", "name"), [(asked, name) for asked, (name, _) in COMMANDS.items()])
def test_the_parser_takes_the_example(asked, name):
    found = _parser()(shlex.split(EXAMPLES[name]), prog_name="f2csa", standalone_mode=False)
    assert type(found) is asked
