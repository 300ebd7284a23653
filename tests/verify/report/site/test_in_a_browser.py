"""In a real browser: no complaint of a script, no sideways scrolling on a phone, nothing that axe finds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from spec.claims import load_claims
from spec.files import write_files
from tests.verify.report.conftest import make_report
from tests.verify.report.site.browser import AXE, CHROMIUM, DESK, PHONE, Seen, Visit, printed, visit
from tests.verify.report.site.story_reports import FELL, both, report
from verify.report.site.all_pages import site_files

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
ROWS = 8
"""Claims and steps of the report that these tests draw."""
STEP, ROW = "pages/bias-bound.html#bias-bound/T3", "pages/matrix.html#bias-bound/T1"
EVIDENCE = "pages/bias-bound.html#bias-bound/T3.repaired"
SEARCHES = {"alpha^-2 bias": 1, "α⁻² bias": 1, "α^-1": 1, "not checked": 3, "BIAS-bound/t3": 1}
"""What is typed, and how many rows it leaves."""


@dataclass(frozen=True)
class Found:
    """All that one start of the browser saw."""

    seen: list[Seen]
    console: list[str]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    folder, scratch = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("browser")
    texts = site_files(make_report(instances=("toy1", "toy2")))
    write_files(folder, texts)
    names = [name for name in texts if name.endswith(".html")]
    visits = [Visit(name, width, width == PHONE) for name in names for width in (PHONE, DESK)]
    visits += [Visit(address) for address in (STEP, ROW, EVIDENCE)]
    visits += [Visit("pages/matrix.html", search=text) for text in SEARCHES]
    return Found(*visit(folder, visits, scratch))


def test_no_page_scrolls_sideways_with_everything_open(found: Found) -> None:
    assert [(page.name, page.width, page.over, page.beyond) for page in found.seen if page.over > 0] == []
    assert {page.width for page in found.seen} == {PHONE, DESK}


def test_the_console_stays_empty(found: Found) -> None:
    assert found.console == []


def test_every_row_shows_until_something_is_asked_for(found: Found) -> None:
    matrix = [page for page in found.seen if page.name.startswith("pages/matrix.html")][: -len(SEARCHES)]
    assert {(page.rows, page.shown) for page in matrix} == {(ROWS, ROWS)}


def test_a_search_leaves_the_rows_that_say_it(found: Found) -> None:
    shown = [page.shown for page in found.seen[-len(SEARCHES) :]]
    assert dict(zip(SEARCHES, shown, strict=True)) == SEARCHES


def test_what_an_address_names_is_open(found: Found) -> None:
    opened = {page.name: page.opened for page in found.seen if "#" in page.name}
    assert opened == {STEP: True, ROW: True, EVIDENCE: True}


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not there: npm install --no-save axe-core")
def test_axe_finds_nothing(found: Found) -> None:
    assert {page.name: page.axe for page in found.seen if page.axe} == {}


def test_a_page_of_every_claim_and_step_prints_on_few_sheets(tmp_path: Path) -> None:
    statements = [full for claim in load_claims().values() for full, _ in claim.statements()]
    made = report([one for full in statements for one in both(full, FELL, -2.0)])
    write_files(tmp_path / "site", site_files(made))
    assert len(statements) > 200
    assert 1 < printed(tmp_path / "site" / "pages" / "matrix.html", tmp_path) <= 12
    # Each of its steps is told with the problem that refutes it, a plot and its hypotheses.
    assert 1 < printed(tmp_path / "site" / "pages" / "bias-bound.html", tmp_path) <= 20


BAD = """<!DOCTYPE html><html lang="en"><head><title>Bad</title></head><body><main><h1>Bad</h1>
<div style="width:2000px">wide</div><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="></main>
<script>console.error("a complaint")</script></body></html>"""


def test_the_browser_notices_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text(BAD)
    (page,), console = visit(tmp_path, [Visit("bad.html", PHONE, audited=True)], tmp_path)
    assert page.over > 1000
    assert any("wide" in each for each in page.beyond)
    assert any("a complaint" in line for line in console)
    if AXE.is_file():
        assert any(each.startswith("image-alt") for each in page.axe)
