"""The front page of a report on the paper, and the pages of its causes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from markupsafe import Markup

from spec.claims import load_claims
from spec.reading import find_choice
from tests.verify.report.site.story_reports import FELL, HELD, SMALLEST, both, failing, holding, rate, report, result
from verify.report.report_files import Report
from verify.report.site.all_pages import site_files
from verify.report.site.causes import cause_pages
from verify.report.site.causes.failure_causes import cause_texts, causes, findings, put
from verify.report.site.frame import SiteFrame
from verify.report.site.front_pages import story
from verify.report.site.front_pages.finding_rows import finding_rows

STATEMENTS = {full for claim in load_claims().values() for full, _ in claim.statements()}


def front(made: Report) -> str:
    (page,) = story.pages(SiteFrame.of(made))
    return str(page.body)


@pytest.fixture(scope="module")
def files() -> Mapping[str, str]:
    return site_files(failing())


def test_every_statement_shown_is_on_record() -> None:
    for text in cause_texts():
        assert {text.statement, text.repaired or text.statement, text.alone} <= STATEMENTS
        assert find_choice(text.choice).field == text.choice
    for row in findings():
        assert {row.written, row.repaired or row.written} <= STATEMENTS


def test_each_failing_statement_has_its_cause_with_its_page(files: Mapping[str, str]) -> None:
    names = [text.name for text in cause_texts()]
    assert [name for name in names if f"pages/cause-{name}.html" in files] == names
    for name in names:
        assert f'href="pages/cause-{name}.html"' in files["report.html"]


def test_links_lead_to_pages_that_are_there(files: Mapping[str, str]) -> None:
    for file in ("report.html", *(f"pages/cause-{text.name}.html" for text in cause_texts())):
        for href in re.findall(r'href="([^"#][^"#]*\.(?:html|css))', files[file]):
            folder = "" if file == "report.html" else "pages/"
            assert (folder + href).replace("pages/../", "") in files, (file, href)


def test_pages_have_no_raw_tex_and_no_empty_slot(files: Mapping[str, str]) -> None:
    for file in ("report.html", *(f"pages/cause-{text.name}.html" for text in cause_texts())):
        words = re.sub(r"<(style|script|math|code|pre|svg)\b.*?</\1>|<[^>]*>", "", files[file], flags=re.S)
        assert not re.search(r"\\[a-z]+|\{\w+\}|\bNone\b|\bnan\b|undefined", words), file


def test_a_cause_whose_statement_holds_is_left_out() -> None:
    made = report([*both("bias-bound/T3", FELL, -2.0), *both("bias-bound/T1", HELD, 1.0)])
    assert [cause.text.name for cause in causes(SiteFrame.of(made))] == ["frozen-term"]
    assert causes(SiteFrame.of(holding())) == ()
    page = front(holding())
    assert "What causes it" not in page
    assert "Not as written" not in page


def test_a_plot_is_drawn_once() -> None:
    page = front(failing())
    causes_part, found = page.split('<h2 id="findings">')
    assert causes_part.count('<svg class="spk') == len(causes(SiteFrame.of(failing())))
    for number in range(1, 6):
        assert f'<li id="cause-{number}">' in causes_part
        assert found.count(f'href="#cause-{number}"') == 1
    assert found.count('<svg class="spk') == 0
    alone = report(both("dual-extraction", FELL, -4.0))
    assert front(alone).count('<svg class="spk') == 1


def test_a_repaired_line_above_is_explained_at_its_plot() -> None:
    made = [result("sfo-complexity", "as-written", FELL, -9.0, variable="epsilon")]
    far = rate(-5.0, "epsilon")
    high = far.model_copy(
        update={
            "quantity": "samples",
            "points": tuple(point.model_copy(update={"measured": 1e9 * point.measured}) for point in far.points),
        }
    )
    made += [result("sfo-complexity/shared-sample", "repaired", HELD, -5.0, variable="epsilon", evidence=[high])]
    page = front(report(made))
    assert "The repaired line lies above all that was measured as written and grows more slowly" in page
    assert "extended at these slopes it is below from ε = 0.0056 on" in page
    assert "Upward: T3 as written, samples repaired." in Markup(page).striptags()
    assert "The repaired line lies above" not in front(failing())


def test_a_cause_is_drawn_in_one_unit() -> None:
    made = [result("sfo-complexity", "as-written", FELL, -9.0, variable="epsilon")]
    drawn = rate(-9.0, "epsilon").model_copy(update={"quantity": "samples"})
    made += [result("sfo-complexity/shared-sample", "as-written", FELL, -9.0, variable="epsilon", evidence=[drawn])]
    low = rate(-5.0, "epsilon").model_copy(update={"quantity": "samples"})
    made += [result("sfo-complexity/shared-sample", "repaired", HELD, -5.0, variable="epsilon", evidence=[low])]
    assert "Upward: samples." in Markup(front(report(made))).striptags()


def test_what_is_proven_is_told_with_its_premises() -> None:
    page = Markup(front(report([*both("bias-bound/T3", FELL, 1.0), *both("bias-bound", FELL, 1.0)]))).striptags()
    assert "Of the repaired statements 1 is proven for every problem that meets its premises and 1 in part" in page
    assert "f and g are quadratic (the last beyond the statement’s own premises) (measured on 1 instance)" in page
    assert "The other" not in page.split("What this does not say")[1]
    bare = Markup(front(report(both("related-rates", HELD, 1.0)))).striptags()
    assert "What is proven" not in bare
    assert "What holds here holds on the instances tried" in bare


def test_an_added_hypothesis_says_what_goes_wrong_without_it() -> None:
    page = Markup(front(report([*both("bias-bound/uniformity", FELL, 0.0), *both("bias-bound", HELD, 1.0)])))
    assert '<a href="#added">one hypothesis added</a>' in page
    assert 'id="added"' in page
    said = page.striptags()
    assert "Without it around points x where a row is just about to bind the largest bias is" in said
    assert "What must be added" not in front(holding())


def test_a_cause_says_what_was_measured() -> None:
    (cause,) = causes(SiteFrame.of(report(both("bias-bound/T1", FELL, -7.0))))
    assert "<sup>−7</sup>" in cause.brief
    assert "claimed O(α³)" in cause.brief.striptags()
    assert (
        "Then this part of the bias, T₁, is O(α) (derived; measured ≈ α), claim weakened to O(α)"
        in cause.repair.striptags()
    )


@pytest.mark.parametrize(
    ("repaired", "said"), [(FELL, "comes out as refuted, so this run shows no repair"), (None, "was not run")]
)
def test_a_repair_that_the_run_does_not_show_is_not_claimed(repaired: object, said: str) -> None:
    made = [result("bias-bound/T1", "as-written", FELL, -1.0)]
    made += [result("bias-bound/T1", "repaired", FELL, -1.0)] if repaired else []
    (cause,) = causes(SiteFrame.of(report(made)))
    assert said in cause.repair
    assert not cause.is_repaired


def test_a_page_of_a_cause_has_the_problem_to_follow_by_hand(files: Mapping[str, str]) -> None:
    page = files["pages/cause-frozen-term.html"]
    assert "every smaller one was tried" in page
    assert SMALLEST.command.split("|")[1].strip() in page
    assert 'class="slopes"' in page


def test_arithmetic_by_hand_is_computed() -> None:
    (cause,) = causes(SiteFrame.of(report([result("sfo-complexity", "as-written", FELL, -9.0, variable="epsilon")])))
    assert "250,000 samples for one outer step, where log(1/δ) is 6.9" in cause.hand.striptags()


def test_arithmetic_of_noise_is_computed() -> None:
    (cause,) = causes(SiteFrame.of(report([result("variance-bound/per-sample", "as-written", FELL, -4.0)])))
    assert "At α = 0.1 and σ = 0.1 that is 200, against σ² = 0.01." in cause.hand.striptags()


def test_rows_not_in_the_run_are_left_out() -> None:
    site = SiteFrame.of(report(both("bias-bound/T1", FELL, -1.0)))
    (row,) = finding_rows(site, causes(site))
    assert row.finding.written == "bias-bound/T1"
    assert finding_rows(SiteFrame.of(report([])), ()) == []


def test_what_fails_stands_before_what_holds() -> None:
    made = report([*both("bias-bound/T3", HELD, 1.0), *both("bias-bound/ramp", FELL, 0.0)])
    rows = finding_rows(SiteFrame.of(made), ())
    assert [row.finding.written for row in rows] == ["bias-bound/ramp", "bias-bound/T3"]


def test_both_cells_say_what_was_claimed() -> None:
    site = SiteFrame.of(report(both("bias-bound/T1", FELL, -1.0)))
    (row,) = finding_rows(site, ())
    assert row.written is not None
    assert row.repaired is not None
    assert row.written.claimed.striptags() == "claimed O(α³)"
    assert row.repaired.claimed.striptags() == "claim weakened to this"


def test_the_toy_problem_is_shown_where_the_run_shows_what_it_shows() -> None:
    assert 'id="toy-alpha"' in front(failing())
    assert 'id="toy-alpha"' not in front(holding())
    assert 'id="toy-alpha"' not in front(report(both("bias-bound/T1", FELL, -1.0)))


def test_a_report_on_a_program_is_no_story() -> None:
    made = failing().model_copy(update={"subject": "mine:Subject"})
    assert story.pages(SiteFrame.of(made)) == []
    assert cause_pages.pages(SiteFrame.of(made)) == []


def test_the_same_report_gives_the_same_bytes(files: Mapping[str, str]) -> None:
    again = site_files(failing())
    assert again["report.html"] == files["report.html"]
    assert again["pages/cause-frozen-term.html"] == files["pages/cause-frozen-term.html"]


def test_a_slot_without_a_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        put("{nothing}", {})


def test_an_empty_run_says_so() -> None:
    assert "Nothing was asked." in front(report([]))


def test_the_findings_of_the_documents_are_rows_here() -> None:
    text = (Path(__file__).parents[5] / "docs" / "findings.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| .*?\(`([\w/-]+)`\) \| ", text, re.M))
    rows = {name for row in findings() for name in (row.written, row.repaired)}
    assert told
    assert told <= rows


def test_a_partial_run_lists_what_it_asked() -> None:
    page = front(report([result("lipschitz-solution/lipschitz-F", "repaired", HELD)]))
    assert '<h2 id="asked">What was asked</h2>' in page
    assert "<code>lipschitz-solution/lipschitz-F</code>" in page
    assert "not asked</span>" in page


def test_what_differs_from_the_record_is_listed() -> None:
    line = "bias-bound/T3 on toy1: refuted (supported on record)"
    page = front(report(both("bias-bound/T3", FELL, -2.0), findings=(line,) * 21))
    assert "What differs from the record</h2>" in page
    assert page.count("refuted (supported on record)") == 20
    assert "The other 1 stand in" in page
    assert "What differs" not in front(failing())


def test_faults_are_named() -> None:
    page = front(report([result("bias-bound/T3", "as-written", None, fault="it crashed")]))
    assert "on toy1: it crashed" in page


def test_another_point_of_the_lattice_is_told_by_itself() -> None:
    page = front(report([result("bias-bound/T3", "choose:dual_term=map", HELD)]))
    assert "choose:dual_term=map</code>" in page
    assert "Not as written" not in page
    assert "Under the readings asked for" not in front(failing())
