"""The table ``examples.toml``: what examples presuppose, and which are run otherwise than as printed, and why."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from tests.documents.pages import Example

TABLE = Path(__file__).with_name("examples.toml")


@dataclass(frozen=True)
class Row:
    """What is special about one example; ``why`` says the reason in a line.

    Args:
        page: Where it stands.
        example: Its text; of more than one line the first.
        why: The reason.
        not_run: It is not run at all.
        elsewhere: The test that runs it, ``file.py::test_name``; that test has its text.
        same_as: The page that has the same example, and runs it.
        instead: Commands to run in its place.
        put: Of Python and scripts: what is put in the place of what, each there once.
        exit: The exit code, where not 0; ``says`` are the page's words for it.
        names: What that test calls it.
        files: What is put into the folder before, by name: a file of ``given/`` or of the repository, or a page's
            (``PAGE#NAME`` corrected, ``PAGE##NAME`` as first shown, ``PAGE#problem``, ``PAGE#python``); + joins them.
        prelude: Of Python: such a file that is executed before it.
        before: Commands that are run before; a number and a colon before one are its exit code.
        needs: The program without which it is not run.
        without: The program with which it is not run.
        tested_by: Of Python that pytest collects: the command that runs its tests, FILE for the file's name.
    """

    page: str
    example: str
    why: str
    not_run: bool = False
    elsewhere: str = ""
    same_as: str = ""
    instead: tuple[str, ...] = ()
    put: dict[str, str] = field(default_factory=dict)
    exit: int = 0
    says: str = ""
    names: str = ""
    prelude: str = ""
    files: dict[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    needs: str = ""
    without: str = ""
    tested_by: str = ""

    @property
    def is_left_out(self) -> bool:
        """Whether the example is not run on its page, here."""
        lacking = self.needs and shutil.which(self.needs) is None
        return bool(self.not_run or self.elsewhere or self.same_as or lacking or shutil.which(self.without or " "))

    def fits(self, example: Example) -> bool:
        return example.page == self.page and example.text.strip().splitlines()[0] == self.example


def rows(text: str | None = None) -> list[Row]:
    """The rows, one for each page that a row of the file names.

    Raises:
        ValueError: If a row has an unknown field, no reason, or says nothing.
    """
    found: list[Row] = []
    for each in tomllib.loads(TABLE.read_text(encoding="utf-8") if text is None else text).get("example", []):
        said: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in each.items()
        }
        if unknown := set(said) - {known.name for known in fields(Row)}:
            raise ValueError(f"a row's fields must be those of Row; got {sorted(unknown)}")
        if not said.get("why") or len(said) < 4:
            raise ValueError(f"a row must have page, example, why and what is special; got {each}")
        pages = said.pop("page")
        found += [Row(page=page, **said) for page in ((pages,) if isinstance(pages, str) else pages)]
    return found


def row_of(example: Example, table: Sequence[Row]) -> Row | None:
    """The one row about an example, if any.

    Raises:
        ValueError: If two rows are about it.
    """
    fitting = [row for row in table if row.fits(example)]
    if len(fitting) > 1:
        raise ValueError(f"one example must have one row; got {len(fitting)} for {example.place}: {fitting[0].example}")
    return fitting[0] if fitting else None
