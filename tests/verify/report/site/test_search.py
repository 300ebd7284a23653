"""One search over all pages: its index has every page, finds phrases, needs no server, and is reached by a key."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markupsafe import Markup

from spec.files import write_files
from tests.verify.report.site.browser import CHROMIUM, PHONE, Visit, visit
from tests.verify.report.site.story_reports import failing
from verify.report.site.all_pages import site_files
from verify.report.site.frame import Page
from verify.report.site.search_index import INDEX, index_script, passages

FOUND = ("strict complementarity", "line 6", "Coq", "alpha^-2")
"""What must find something, from any page."""
MOST = 1_500_000
"""Bytes of the index of a whole run would be a third of its pages; of this one far less."""


def read(script: str) -> list[list[object]]:
    """The index with its parts joined, as the page's script joins them."""
    _, said, made = (line.partition("=")[2].removesuffix(";") for line in script.splitlines())
    known = json.loads(said)
    return [
        [file, page, [[at, title, " ".join(known[p] if isinstance(p, int) else p for p in parts)]
                      for at, title, *parts in found]]
        for file, page, found in json.loads(made)
    ]  # fmt: skip


def test_every_page_is_in_the_index_but_rows_that_lead_elsewhere() -> None:
    texts = site_files(failing())
    index = read(texts[INDEX])
    assert {str(page[0]) for page in index} == {n for n in texts if n.endswith(".html")} - {"pages/matrix.html"}
    assert len(texts[INDEX].encode()) < MOST
    assert texts[INDEX] == site_files(failing())[INDEX]


def test_passages_begin_at_addresses_and_have_their_headings() -> None:
    body = Markup(
        '<h1 id="a">On <i>a</i></h1><p>First <svg><text>drawn</text></svg>words.</p><script>code()</script>'
        '<details class="step" id="a/T1"><summary><span class="t">Step</span></summary><p>line 6</p>'
        '<details class="reading" id="a/T1.r"><p>evidence</p></details><p>after</p></details><p id="p">end</p>'
    )
    found = [(one.anchor, one.title, " ".join(one.words)) for one in passages(Page("a.html", "A", body))]
    assert found == [("a", "On a", "First words."), ("a/T1", "Step", "line 6 after end")]
    script = index_script([Page("a.html", "A", Markup("<h1>x</h1><p>&lt;/script&gt;</p>"))])
    assert "</script" not in script
    assert read(script) == [["a.html", "A", [["", "x", "</script>"]]]]


def test_what_passages_have_in_common_is_said_once() -> None:
    pages = [
        Page(f"{k}.html", "A", Markup(f"<h1>x</h1><p>{k}, said by every page, a, a, {k}; said by every page,</p>"))
        for k in "bc"
    ]
    script = index_script(pages)
    assert script.count("said by every page,") == 1
    texts = [f"{k}, said by every page, a, a, {k}; said by every page," for k in "bc"]
    assert read(script) == [[f"{k}.html", "A", [["", "x", text]]] for k, text in zip("bc", texts, strict=True)]


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_a_key_and_a_phrase_lead_to_passages_of_other_pages(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    write_files(folder, site_files(failing()))
    names = ("report.html", "pages/glossary.html")
    visits = [Visit(name, search=text) for name in names for text in FOUND]
    visits += [Visit("report.html", PHONE, search="Coq"), Visit("report.html", search="zzzz")]
    (tmp_path / "alone").mkdir()
    (folder / "alone.html").write_text((folder / "report.html").read_text().replace("pages/search-", "nowhere/search-"))
    visits.append(Visit("alone.html", search="Coq"))
    seen, console = visit(folder, visits, tmp_path)
    *found, none, alone = seen
    for page in found:
        assert page.links, page
        assert page.over <= 0, page
        for link in page.links:
            path, anchor = unquote(urlsplit(link).path), unquote(urlsplit(link).fragment)
            text = Path(path).read_text()
            assert not anchor or f'id="{anchor}"' in text, link
    assert not none.links
    assert none.told == "Nothing found on any page."
    assert alone.told.startswith("The index lies in the folder “pages”")
    assert [line for line in console if "ERR_FILE_NOT_FOUND" not in line] == []
