"""The page as text: small, whole without its script, and from the record alone."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from spec.reading import CHOICES
from tests.verify.report.site.browser import CHROMIUM, printed
from tests.verify.report.site.parsed import Parsed, dangling, html_of
from tests.verify.report.site.story_reports import failing, holding
from verify.report.report_files import Report
from verify.report.rows.letter import Letter, StageTold, WrongTold
from verify.report.site.frame import LIVING, Page, SiteFrame
from verify.report.site.living.algorithm_page import SCRIPT, STYLE, pages
from verify.report.site.living.erring_stages import LEAST, MOST
from verify.report.site.living.orders_table import NO_MAP, other_rows, reading_rows, unswitched
from verify.report.site.living.page_data import START, alphas, place_data, spelt
from verify.report.site.living.phrases import switches, tabs
from verify.report.site.living.states_of_alpha import PLACES, living_places

MOST_BYTES = 300_000


@pytest.fixture(scope="module")
def plain(texts: dict[str, str]) -> str:
    """What a reader without the script sees, tags taken away."""
    shown = re.sub(r"<(script|style)\b.*?</\1>", " ", texts[LIVING], flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", "", shown))


def test_it_is_small_and_needs_nothing_but_the_files_beside_it(texts: dict[str, str]) -> None:
    own = [LIVING, STYLE, SCRIPT]
    assert sum(len(texts[name].encode()) for name in own) <= MOST_BYTES
    sources = re.findall(r'(?:src|<link[^>]*href)="([^"]+)"', texts[LIVING])
    assert sorted(sources) == ["algorithm.css", "algorithm.js", "site.js", "style.css"]
    assert all("fetch(" not in texts[name] and "import(" not in texts[name] for name in own)


def test_only_a_report_of_the_paper_that_shows_a_cause_has_it() -> None:
    assert [page.file for page in pages(SiteFrame.of(failing()))] == [LIVING]
    assert pages(SiteFrame.of(holding())) == []
    assert pages(SiteFrame.of(failing().model_copy(update={"subject": "other.py:Solver"}))) == []


def of_a_program(*choices: str) -> Report:
    wrong = [WrongTold(stage="hypergradient", sentence=one, effect="", choices=(one,)) for one in choices]
    letter = Letter(stages=(StageTold(stage="hypergradient", status="diverges", sentence="Off."),), wrong=tuple(wrong))
    return failing().model_copy(update={"subject": "other.py:Solver"}).with_letter(letter)


def test_a_program_that_makes_a_phrase_as_written_is_one_more_start() -> None:
    (made,) = pages(SiteFrame.of(of_a_program("dual_term", "outer_batch")))
    text = str(made.body)
    assert '<button type="button" data-preset="program">other.py:Solver</button>' in text
    assert '"program":{"dual_term":"frozen"}' in text
    # What its run took is not the paper's cost.
    assert '"costs":{}' in text
    assert "not in this run" in text
    assert pages(SiteFrame.of(of_a_program("outer_batch"))) == []


@pytest.mark.parametrize("choice", [one.field for one in switches()])
def test_the_letter_leads_to_the_phrase(choice: str) -> None:
    files = html_of(of_a_program(choice))
    assert dangling(files) == []
    (one,) = [one for one in switches() if one.field == choice]
    assert f'href="pages/algorithm.html#repaired&amp;{choice}={one.as_written}"' in files["report.html"]


def test_every_cause_and_the_paper_lead_to_it_and_its_links_land() -> None:
    files = html_of(failing())
    assert dangling(files) == []
    for name, text in files.items():
        assert LIVING.removeprefix("pages/") in text, name
    for one in switches():
        address = f"algorithm.html#repaired&amp;{one.field}={one.as_written}"
        assert address in files[f"pages/cause-{one.cause.name}.html"]
        assert f"repaired&{one.field}={one.as_written}" in Parsed(files[LIVING]).ids


def test_the_data_are_the_states_and_nothing_that_a_script_element_could_end(page: Page) -> None:
    found = re.search(r'id="living-data">(.*?)</script>', str(page.body), re.DOTALL)
    assert found is not None
    data = json.loads(found[1].replace("<\\/", "</"))
    assert list(data["places"]) == list(PLACES)
    assert data["places"] == json.loads(json.dumps({one.place.name: place_data(one) for one in living_places()}))
    assert data["alphas"][data["start"]] == START
    assert {name: tab["claimed"] for name, tab in data["tabs"].items()} == {tab.id: tab.claimed for tab in tabs()}


def test_alphas_run_from_the_largest_to_the_smallest_as_short_decimals() -> None:
    values = [Fraction(text) for text in alphas()]
    assert (values[0], values[-1]) == (MOST, LEAST)
    assert values == sorted(values, reverse=True)
    assert all(len(text) <= len("0.00112") for text in alphas())


def test_what_is_spelt_is_the_function() -> None:
    def value(text: str, at: Fraction) -> Fraction:
        top, bottom = (sum(int(c) * at**k for k, c in enumerate(side.split())) for side in text.split("/"))
        return Fraction(top) / bottom

    for living in living_places():
        for state in living.states.values():
            for function in (state.stages.y, state.stages.rho, state.stages.penalty):
                for at in (Fraction(1, 3), Fraction(1, 100)):
                    assert tuple(value(text, at) for text in spelt(function)) == function(at)


def test_without_the_script_a_table_has_every_order(texts: dict[str, str], plain: str) -> None:
    rows = reading_rows(living_places())
    assert len(rows) == 4 * 2 * 2 * 2
    for row in rows:
        found = re.search(rf'<tr data-state="{row.key}".*?</tr>', texts[LIVING])
        assert found is not None
        cells = [re.sub("<[^>]+>", "", cell) for cell in re.findall(r"<td data-l.*?</td>", found[0])]
        for (_, order), cell in zip(row.orders, cells, strict=True):
            if order == NO_MAP:
                assert cell == "no map at a kink"
                continue
            said = "0" if order is None else "α" if order == 1 else f"α{order}".replace("-", "−")
            word = "refuted" if isinstance(order, int) and order < 1 else "holds"
            assert cell == f"{word}: {said}"
    assert "of 32 readings 8 hold on every instance" in plain.lower()


def test_readings_that_hold_are_told_the_literal_one_with_the_narrow_ramp_among_them() -> None:
    holding_ = [row for row in reading_rows(living_places()) if row.holds(1)]
    addresses = {row.address for row in holding_}
    assert "#repaired" in addresses
    assert "#repaired&dual_term=both-maps&ramp_width=tau-delta" in addresses
    assert "#repaired&dual_term=map&ramp_width=tau-delta" not in addresses


def test_the_other_claims_have_a_row_for_every_value() -> None:
    rows = other_rows(living_places(), ())
    assert [(row.tab.id, row.value, row.order) for row in rows] == [
        ("variance", "independent", -4), ("variance", "common", 0),
        ("cost", "constant-step", None), ("cost", "averaged", None), ("cost", "shared-sample", None),
        ("gradient", "shrinking", -4), ("gradient", "fixed", -1),
    ]  # fmt: skip
    assert [row.bad for row in rows] == [True, False, False, False, False, True, False]
    assert [row.known for row in rows] == [row.tab.id != "cost" for row in rows]


def test_choices_without_a_switch_are_told_with_the_statements_that_turn_on_them(plain: str) -> None:
    told = {choice.field for choice, _ in unswitched()}
    assert told | {one.field for one in switches()} == {choice.field for choice in CHOICES}
    statements = {choice.field: names for choice, names in unswitched()}
    assert "sfo-complexity" in statements["outer_batch"]
    for field in told:
        assert field.replace("_", " ") in plain


def test_it_states_the_adversary_and_what_repaired_means(plain: str) -> None:
    assert "Of the eight patterns of signs each dual term meets the one that hurts it most" in plain
    assert "every error is a lower bound of the worst" in plain
    assert "the reading under which all four claims hold" in plain


def test_every_switch_is_told_with_its_readings_theorems_and_code(texts: dict[str, str], plain: str) -> None:
    for one in switches():
        section = re.search(rf'<section class="why" data-why="{one.field}".*?</section>', texts[LIVING], re.DOTALL)
        assert section is not None
        assert one.cause.title in section[0]
        assert "f2csa_ref/algorithm_1.py" in section[0]
        assert re.search(r"(Proven|Refuted)[^<]*, (as written|repaired)</h3>", section[0]), one.field
        assert section[0].count("<li><b>") == len(one.values)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_it_prints_on_few_sheets(folder: Path, tmp_path: Path) -> None:
    assert 1 < printed(folder / LIVING, tmp_path) <= 8
