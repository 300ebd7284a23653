"""The examples of every page, each run where it is shown first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.documents.pages import PAGES, ROOT, SOURCES, Example, of_page
from tests.documents.playing import Player
from tests.documents.table import rows
from tests.whole import digest

TABLE = rows()
SHOWN = {page: of_page(page) for page in (*PAGES, *SOURCES)}
FIRST = {example.text: example.place for page in reversed(SHOWN) for example in reversed(SHOWN[page])}
"""Where a command is shown first, those in blocks before those in running text."""
FIRST |= {e.text: e.place for page in reversed(SHOWN) for e in reversed(SHOWN[page]) if not e.inline}


def own(page: str) -> list[Example]:
    """A page's examples but commands in running text that another place has."""
    return [example for example in SHOWN[page] if not example.inline or FIRST[example.text] == example.place]


WITH_EXAMPLES = [page for page in SHOWN if any(example.kind != "form" for example in own(page))]


def played(page: str, folder: Path, python: Sequence[str]) -> None:
    """Run the examples of a page in an empty folder."""
    (folder / "folder").mkdir()
    Player(folder / "folder", TABLE, python).play(own(page))


def about(page: str) -> str:
    """A digest of a page and of the rows about it."""
    rows_about = [repr(row) for row in TABLE if row.page == page]
    return digest([(ROOT / page).read_text(encoding="utf-8"), *rows_about])
