"""Every example of the documents runs and does what its page says."""

from __future__ import annotations

import pytest

from tests.documents.pages import PAGES, SOURCES, Example, of_page
from tests.documents.playing import Player
from tests.documents.table import rows

TABLE = rows()
SHOWN = {page: of_page(page) for page in (*PAGES, *SOURCES)}
FIRST = {example.text: example.place for page in reversed(SHOWN) for example in reversed(SHOWN[page])}
"""Where a command is shown first, those in blocks before those in running text."""
FIRST |= {e.text: e.place for page in reversed(SHOWN) for e in reversed(SHOWN[page]) if not e.inline}


def own(page: str) -> list[Example]:
    """A page's examples but commands in running text that another place has."""
    return [example for example in SHOWN[page] if not example.inline or FIRST[example.text] == example.place]


@pytest.mark.parametrize("page", [page for page in SHOWN if any(e.kind != "form" for e in own(page))])
def test_the_examples_of_a_page_do_what_it_says(page, tmp_path):
    (tmp_path / "folder").mkdir()
    Player(tmp_path / "folder", TABLE).play(own(page))
