"""The annotated paper: every assertion has its place and its evidence, and looks as this run's verdicts say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec.claims import find, load_claims
from spec.text.argument import load_argument
from spec.text.assertions import PaperAssertion, load_assertions
from verify.report.model import ReportData, Result
from verify.report.rows.summary_row import SummaryRow
from verify.report.site.all_pages import all_pages
from verify.report.site.frame import SiteFrame
from verify.report.site.paper.judged_paper import ABSENT, ASIDE, AT_ODDS, SAID, WORST_FIRST, judged_paper
from verify.report.site.paper.paper_page import answer, body, page_alone, pages, set_words
from verify.report.site.words import cell_numbers as numbers

ENTRIES = load_assertions().assertions
STATEMENTS = {full: statement for claim in load_claims().values() for full, statement in claim.statements()}
DECIDED = [entry for entry in ENTRIES if not entry.granted and not entry.reason]
SAID_ONES = [entry for entry in ENTRIES if entry.kind == "said"]


def own(entry: PaperAssertion) -> list[str]:
    """The statements that say what an assertion says."""
    enough = {"said": {"said"}, "implied": {"said", "implied"}}.get(entry.kind)
    judging = [full for full in entry.covered_by if full not in entry.beside]
    told = [full for full in judging if not (entry.quote and full.startswith("consistency/"))]
    return [full for full in told if enough is None or find(full).relation in enough]


def run(statuses: Mapping[tuple[str, str], str] = {}, *, subject: str = "reference", only: str = "") -> ReportData:
    """A run of all statements, or of one claim; each holds but where a status is given."""
    rows = [
        SummaryRow(claim=full, reading=reading, status=statuses.get((full, reading), "SUPPORTED"), sentence="It is so.")
        for full, statement in STATEMENTS.items() for reading in ("as-written", "repaired")
        if not statement.left_open and full.startswith(only)
    ]  # fmt: skip
    rows += [
        SummaryRow(claim=full, reading="", status="LEFT_OPEN", sentence=statement.left_open)
        for full, statement in STATEMENTS.items() if statement.left_open and full.startswith(only)
    ]  # fmt: skip
    return ReportData(
        environment={}, seed=1, profile="ci", subject=subject, results=(), summary=tuple(rows), schema="f2csa-report/1"
    )


def site(*given: object, **more: object) -> SiteFrame:
    return SiteFrame.of(run(*given, **more))  # type: ignore[arg-type]  # passed on


@lru_cache(maxsize=4)
def all_spans(page: str) -> dict[int, list[tuple[str, str]]]:
    """By assertion, where the argument's words lead to its evidence: the class of their underline, and the link."""
    made: dict[int, list[tuple[str, str]]] = {}
    for found in re.finditer(r'<a class="u u-(\w+)" href="#a(\d+)">.*?</a>', page):
        made.setdefault(int(found[2]), []).append((found[1], found[0]))
    return made


def spans(page: str, number: int) -> list[str]:
    return [tone for tone, _ in all_spans(page)[number]]


@lru_cache(maxsize=4)
def all_evidence(page: str) -> dict[int, str]:
    found = re.findall(r'<section class="ev" id="a(\d+)">(.*?)</section>', page, re.DOTALL)
    assert len(found) == len(ENTRIES)
    return {int(number): shown for number, shown in found}


def evidence(page: str, number: int) -> str:
    return all_evidence(page)[number]


@cache
def all_holds() -> str:
    """The paper of a run in which everything holds."""
    return str(body(site()))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry.number))
def test_every_assertion_has_a_place_and_what_decides_it(entry) -> None:
    shown = evidence(all_holds(), entry.number)
    assert spans(all_holds(), entry.number)
    assert all(f"<code>{full}</code>" in shown for full in entry.covered_by)
    assert entry.covered_by
    assert ("Nothing decides it" in shown) == bool(entry.reason)
    assert ("in our words alone" in shown) == (entry.quote is None)
    assert entry.quote is None or re.search(rf"\blines? {entry.quote.lines[0]}\b", shown)
    ours = re.findall(rf'href="#a{entry.number}">(?:(?!</a>).)*</a> <span class="quiet">\(our words\)', all_holds())
    assert bool(ours) == (entry.quote is None)
    assert (": nothing to decide." in shown) == bool(entry.granted)


def test_evidence_and_places_are_in_the_inventorys_order() -> None:
    assert [int(n) for n in re.findall(r'<section class="ev" id="a(\d+)">', all_holds())] == [e.number for e in ENTRIES]
    first: dict[int, int] = {}
    elsewhere = {p.number for passage in load_argument().passages for p in passage.ties if p.elsewhere}
    for found in re.finditer(r'<a class="u u-\w+" href="#a(\d+)">', all_holds()):
        first.setdefault(int(found[1]), found.start())
    places = [at for number, at in sorted(first.items()) if number not in elsewhere]
    assert places == sorted(places)


def test_what_links_within_the_page_arrives_and_no_id_repeats() -> None:
    ids = re.findall(r' id="([^"]+)"', all_holds())
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', all_holds())) <= set(ids)


def test_links_lead_to_pages_of_the_report() -> None:
    whole = site()
    files = {file.removeprefix("pages/") for file in all_pages(whole)}
    assert "paper.html" in files
    linked = set(re.findall(r'href="([^"#]+)(?:#[^"]*)?"', all_holds()))
    assert linked
    assert linked <= files


@pytest.mark.parametrize("reading", ["as-written", "repaired"])
@pytest.mark.parametrize("status", ["REFUTED", "VACUOUS", "INCONCLUSIVE", "FAULT"])
def test_a_verdict_changes_the_assertions_that_it_judges_and_no_other(reading: str, status: str) -> None:
    changed = str(body(site({("bias-bound/T3", reading): status})))
    touched = {entry.number for entry in DECIDED if "bias-bound/T3" in entry.covered_by}
    assert touched
    tone = numbers.look(status).look
    for entry in ENTRIES:
        before, after = spans(all_holds(), entry.number), spans(changed, entry.number)
        expected = [tone] * len(before) if entry.number in touched and reading == "as-written" else before
        assert after == expected, entry.number
        links = [link for _, link in all_spans(changed)[entry.number]]
        if entry.number in touched:
            mark = numbers.look(status).drawing
            assert all(mark in link and numbers.word(status) in link for link in links), entry.number
        else:
            assert links == [link for _, link in all_spans(all_holds())[entry.number]]


def test_all_refuted_marks_all_and_lists_them_in_the_margin() -> None:
    every = {(full, "as-written"): "REFUTED" for full in STATEMENTS}
    page = str(body(site(every)))
    for entry in DECIDED:
        judged_by = {find(full).left_open for full in own(entry)}
        if judged_by == {""}:
            assert set(spans(page, entry.number)) == {"bad"}, entry.number
        elif not judged_by:
            assert set(spans(page, entry.number)) == {"none"}, entry.number
    assert 'class="side"' in page
    assert 'class="side"' not in all_holds()


STATUSES = st.sampled_from(["SUPPORTED", "REFUTED", "VACUOUS", "INCONCLUSIVE", "NOT_APPLICABLE", "FAULT"])


@settings(max_examples=20, deadline=None)
@given(st.dictionaries(st.tuples(st.sampled_from(sorted(STATEMENTS)), st.just("repaired")), STATUSES, max_size=40))
def test_an_assertion_stands_as_the_worst_that_judges_it(statuses: dict[tuple[str, str], str]) -> None:
    # Repaired, every statement counts.
    judged = judged_paper(site(statuses))
    for entry in DECIDED:
        known = [
            "LEFT_OPEN" if find(full).left_open else statuses.get((full, "repaired"), "SUPPORTED")
            for full in own(entry)
        ]
        stands = min(known, key=WORST_FIRST.index) if known else ASIDE
        assert judged.assertions[entry.number].repaired.status == stands


def test_no_sentence_is_called_wrong_for_words_it_does_not_have() -> None:
    """Whatever becomes of what it takes for granted and of our consequences, it stands by what says it."""
    weaker = {(full, "as-written"): "REFUTED" for full in STATEMENTS if find(full).relation != "said"}
    judged = judged_paper(site(weaker)).assertions
    assert not any(one.fails for one in judged.values())
    assert sum(bool(one.beside) for one in judged.values()) > 20


def test_an_assertion_fails_where_its_own_words_do() -> None:
    every = {(full, "as-written"): "REFUTED" for full in STATEMENTS}
    judged = judged_paper(site(every)).assertions
    assert not any(judged[e.number].fails for e in ENTRIES if e.kind in ("silent", "consequence"))
    assert sum(one.fails for one in judged.values()) > 150
    # One of its three statements falls.
    part = judged_paper(site({("bias-bound/T1", "as-written"): "REFUTED"})).assertions[253]
    assert part.fails
    assert part.fails_in_part


def test_what_was_not_run_says_so() -> None:
    page = site(only="bias-bound")
    judged = judged_paper(page).assertions
    assert judged[19].written.status == "SUPPORTED"
    assert judged[20].written.status == ABSENT
    assert "not in this run" in evidence(str(body(page)), 20)
    assert spans(str(body(page)), 20) == ["none"]
    # Nothing of the run covers this one: no link leaves the page.
    assert 'href="variance-bound' not in str(body(page))


def test_results_without_a_summary_decide_nothing() -> None:
    result = Result(claim="bias-bound", reading="as-written", instance="toy1", verdict="REFUTED", sentence="No.")
    bare = SiteFrame.of(run(only="none").model_copy(update={"results": (result,), "summary": ()}))
    assert judged_paper(bare).assertions[19].written.status == ABSENT
    assert "not in this run" in evidence(str(body(bare)), 19)


def test_a_run_of_another_program_says_nothing_of_the_method() -> None:
    other = site({(full, "repaired"): "REFUTED" for full in STATEMENTS}, subject="pkg:Mine")
    judged = judged_paper(other).assertions
    abouts = {entry.number: {find(full).about for full in own(entry)} for entry in DECIDED}
    assert {judged[n].repaired.status for n, about in abouts.items() if about == {"subject"}} == {ABSENT}
    assert {judged[n].repaired.status for n, about in abouts.items() if about == {"paper"}} <= {"REFUTED", "LEFT_OPEN"}
    assert "pkg:Mine" in str(body(other))


def test_the_answer_counts_what_the_page_shows() -> None:
    (first, *_) = answer(judged_paper(site()))
    assert first == f"Of {len(SAID_ONES)} assertions that the words say, 0 fail as written and {_holding(site())} hold."
    fallen = site({("bias-bound", "as-written"): "REFUTED"})
    told = list(answer(judged_paper(fallen)))
    failing = [one for one in judged_paper(fallen).assertions.values() if one.fails]
    counts = f"{len(failing)} fail as written and {_holding(fallen)} hold."
    assert told[0] == f"Of {len(SAID_ONES)} assertions that the words say, {counts}"
    assert f"With the text repaired, all of the {len(failing)} hold." in told
    nothing = list(answer(judged_paper(SiteFrame.of(run(only="none")))))
    assert nothing == [f"None of the paper’s {len(ENTRIES)} assertions was judged in this run."]


def _holding(of: SiteFrame) -> int:
    return sum(one.written.status == "SUPPORTED" for one in judged_paper(of).said)


def test_what_contradicts_another_passage_is_not_false_by_that() -> None:
    whole = load_claims()["consistency"]
    every = {(f"consistency/{step.id}", "as-written"): "REFUTED" for step in whole.steps}
    before, judged = judged_paper(site()).assertions, judged_paper(site(every)).assertions
    changed = {n for n, one in judged.items() if one.written != before[n].written and one.entry.quote}
    assert {judged[n].written.status for n in changed} == {AT_ODDS}
    assert changed >= {35, 117, 197, 247, 277, 306}
    assert not any(one.fails for one in judged.values())
    # What is judged, or granted, says it beside its own mark.
    assert judged[174].written.status == "SUPPORTED"
    assert all("Another passage does not go together with it" in judged[n].note for n in (*changed, 122, 133, 174))


def test_what_is_granted_has_no_mark() -> None:
    definitions = [entry for entry in ENTRIES if entry.granted]
    assert definitions
    judged = judged_paper(site({(full, "as-written"): "REFUTED" for full in STATEMENTS})).assertions
    for entry in definitions:
        assert judged[entry.number].written.status == entry.granted.upper()
        (span,) = re.findall(rf'<a class="u u-none" href="#a{entry.number}">.*?</a>', all_holds())
        assert "<svg" not in span
        assert f"({SAID[entry.granted.upper()]})" in span


def test_the_page_alone_needs_no_other_file() -> None:
    page = page_alone(site())
    assert re.findall(r'(?:href|src)="(?!#)[^"]*"', page) == []
    assert "<style>" in page
    assert page == page_alone(site())
    (among,) = pages(site())
    assert among.file == "pages/paper.html"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("α_1 = α^-2", "α<sub>1</sub> = α<sup>−2</sup>"),
        ("Ω(αμ_g)", "Ω(αμ<sub>g</sub>)"),
        ("y_{λ̃,α} & L_{H,y}δ", "y<sub>λ̃,α</sub> &amp; L<sub>H,y</sub>δ"),
        ("2M_∇hC_λα_1δ", "2M<sub>∇h</sub>C<sub>λ</sub>α<sub>1</sub>δ"),
        ("C_bias^2α^2", "C<sub>bias</sub><sup>2</sup>α<sup>2</sup>"),
        ("∂_δF, ∇_xL^{T}", "∂<sub>δ</sub>F, ∇<sub>x</sub>L<sup>T</sup>"),
    ],
)
def test_words_are_set(text: str, html: str) -> None:
    assert set_words(text) == html


def test_no_index_or_power_is_left_raw() -> None:
    code = r'<code>.*?</code>|<span class="at">.*?</span>|<math.*?</math>|<details.*?</details>'
    shown = re.sub(code, "", all_holds(), flags=re.DOTALL)
    words = re.sub(r"<[^>]+>", "", shown)
    assert re.findall(r"\S*[_^]\S*", words) == []


def test_the_legend_has_what_the_page_shows() -> None:
    legend = re.search(
        r'<ul class="legend">(.*?)</ul>', str(body(site({("bias-bound", "as-written"): "VACUOUS"}))), re.DOTALL
    )
    assert legend is not None
    told = re.sub(r"<[^>]+>", "", legend[1])
    assert [word in told for word in ("vacuous:", "holds:", "left open:", "refuted:")] == [True, True, True, False]


def test_a_cause_is_linked_where_its_statement_fails() -> None:
    fails = body(site({("bias-bound/T3", "as-written"): "REFUTED"}))
    (link,) = set(re.findall(r'href="(cause-[^"]*)"', fails))
    assert f"pages/{link}" in all_pages(site({("bias-bound/T3", "as-written"): "REFUTED"}))
    assert "cause-" not in all_holds()
    assert "cause-" not in page_alone(site({("bias-bound/T3", "as-written"): "REFUTED"}))


def test_a_text_that_fails_in_some_readings_is_neither() -> None:
    # Its first literal reading fails, its second holds.
    choices = STATEMENTS["variance-bound/per-sample"].literal_readings
    assert choices[0] == "as-written"
    rows = [
        SummaryRow(claim="variance-bound/per-sample", reading=name, status="SUPPORTED", sentence="")
        for name in choices[1:]
    ]
    made = run({("variance-bound/per-sample", "as-written"): "REFUTED"})
    mixed = SiteFrame.of(made.model_copy(update={"summary": (*made.summary, *rows)}))
    one = judged_paper(mixed).assertions[136]
    assert one.written.status == "MIXED"
    assert not one.fails
    assert set(spans(str(body(mixed)), 136)) == {numbers.look("MIXED").look}
    assert any("hold under some literal readings" in line for line in answer(judged_paper(mixed)))


@pytest.mark.parametrize("passage", [p for p in load_argument().passages if p.lines], ids=lambda p: str(p.lines))
def test_every_passage_can_be_found_by_its_lines(passage) -> None:
    first, last = passage.lines
    assert all_holds().count(f'id="l{first}" data-lines="{first} {last}"') == 1


def test_the_parts_counts_add_up_to_the_answers() -> None:
    judged = judged_paper(site({(full, "as-written"): "REFUTED" for full in STATEMENTS}))
    counted = sum(len(judged.failing(part.numbers)) for part in load_argument().parts)
    assert f"{counted} fail as written" in next(iter(answer(judged)))


def test_what_of_the_repaired_text_was_not_run_is_said() -> None:
    statuses = {(full, "as-written"): "REFUTED" for full in STATEMENTS}
    made = run(statuses)
    bare = SiteFrame.of(
        made.model_copy(update={"summary": tuple(row for row in made.summary if row.reading != "repaired")})
    )
    (told,) = (line for line in answer(judged_paper(bare)) if line.startswith("With the text repaired"))
    assert re.fullmatch(r"With the text repaired, 0 of the (\d+) hold; \1 not in this run\.", told)
