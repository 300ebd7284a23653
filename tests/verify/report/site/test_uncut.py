"""Pages on a phone and on a desk: no formula and no table is cut; the front page mailed alone says what it lacks."""

from __future__ import annotations

import pytest

from spec.claims import load_claims
from spec.files import write_files
from tests.verify.report.formats.test_experiment_page import FOUND
from tests.verify.report.site.browser import CHROMIUM, DESK, PHONE, Seen, Visit, visit
from tests.verify.report.site.story_reports import FELL, both, failing, report
from verify.report.formats.experiment_page import files
from verify.report.site.all_pages import site_files

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
EVERY = ("bias-bound", "solution-error", "convergence-experiment", "scaling-experiment", "goldstein-convergence")
"""Claims whose pages have the longest formulas, and the paper's experiments."""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Seen]:
    folder, scratch = tmp_path_factory.mktemp("whole"), tmp_path_factory.mktemp("scratch")
    statements = [full for name in EVERY for full, _ in load_claims()[name].statements()]
    write_files(folder, site_files(report([one for full in statements for one in both(full, FELL, -2.0)])))
    alone = folder / "alone"
    alone.mkdir()
    (alone / "report.html").write_text(site_files(failing())["report.html"])
    write_files(folder, files(FOUND))
    names = [*(f"pages/{name}.html" for name in EVERY), "scaling.html"]
    visits = [Visit(name, width) for name in names for width in (PHONE, DESK)]
    found, console = visit(folder, [*visits, Visit("report.html"), Visit("alone/report.html")], scratch)
    assert [line for line in console if "ERR_FILE_NOT_FOUND" not in line] == []
    return found


def test_no_formula_and_no_table_is_cut(seen: list[Seen]) -> None:
    assert {page.width for page in seen} == {PHONE, DESK}
    assert [(page.name, page.width, page.cut) for page in seen if page.cut] == []
    assert [(page.name, page.width, page.over) for page in seen if page.over > 0] == []


def test_a_front_page_beside_its_folder_has_its_links(seen: list[Seen]) -> None:
    (whole,) = [page for page in seen if page.name == "report.html"]
    assert whole.leading > 0
    assert (whole.away, whole.alone) == (0, "")


def test_a_front_page_mailed_alone_has_no_dead_link_and_says_so(seen: list[Seen]) -> None:
    (alone,) = [page for page in seen if page.name == "alone/report.html"]
    assert alone.leading == 0
    assert alone.away > 0
    assert f"the {alone.away} passages underlined with dots lead there" in alone.alone
