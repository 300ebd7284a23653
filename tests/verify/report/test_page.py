"""The page is whole, self-contained, deterministic, accessible and safe against what results contain."""

from __future__ import annotations

import re
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from html.parser import HTMLParser

import pytest
from verify.report.page import html_fragment, problem_text, render_html

import verify
from verify.campaign.workers import context
from verify.evidence.charts import Mark, Plot, Series
from verify.evidence.model import Counterexample
from verify.report.faces import Report

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """Collects what the tests ask about, and checks that tags nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.tags: Counter[str] = Counter()
        self.images_without_words = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        self.tags[tag] += 1
        self.ids += [names["id"] or ""] if "id" in names else []
        if "href" in names:
            self.links.append(names["href"] or "")
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "svg" and names.get("role") == "img" and not names.get("aria-label"):
            self.images_without_words += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def html(report: Report, claims: dict) -> str:
    return render_html(report, claims)


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_tags_nest_and_close(page: Page) -> None:
    assert page.open == []


def test_needs_nothing_from_outside(html: str, page: Page) -> None:
    assert page.tags["script"] == page.tags["link"] == page.tags["img"] == page.tags["iframe"] == 0
    assert all(link.startswith("#") for link in page.links)
    assert "@import" not in html
    assert "url(" not in html
    assert "http" not in html.replace("http://www.w3.org/", "")


def test_ids_are_unique_and_every_link_lands(page: Page) -> None:
    assert [name for name, count in Counter(page.ids).items() if count > 1] == []
    assert {link[1:] for link in page.links} <= set(page.ids)


def test_headings_never_skip_a_level(page: Page) -> None:
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in zip(page.headings, page.headings[1:], strict=False))


def test_every_drawing_has_words(page: Page) -> None:
    assert page.images_without_words == 0


def test_the_same_report_gives_the_same_bytes(html: str, report: Report, claims: dict) -> None:
    assert render_html(report, claims) == html


def test_a_matrix_cell_leads_to_each_verdict(html: str) -> None:
    matrix = html[html.index('<div class="scroll matrix"') : html.index('<details class="legend"')]
    for anchor in ("bias-bound.as-written", "bias-bound.T1.repaired", "bias-bound.only.dual_term"):
        assert f'href="#{anchor}"' in matrix
        assert f'id="{anchor}"' in html


def test_what_is_not_checked_is_said(html: str) -> None:
    article = html[html.index('id="goldstein-convergence"') :]
    assert "not checked yet" in article[: article.index("</article>")]


@pytest.mark.parametrize(
    "words",
    [
        "Of 5 claims and 3 proof steps, 5 were checked against the subject “reference” on 4 instances",
        "bias-bound [repaired] on toy1: SUPPORTED, on record INCONCLUSIVE",
        "cannot be met: strong convexity forces growth &lt;&amp;&gt; without bound",
        "not met on 1 of 4 instances; crossing-rows: row 2 is active with λ* = 0",
        "TimeoutError: no answer within 10 s &lt;lower_level&gt;",
        "zero at every point",
        "100.990099",
        "−2.00 [−2.004, −1.997]",
        "loose by 1",
        "refuted on 3 of 4 instances, supported on 1",
        "f2csa verify bias-bound --reading as-written --instance toy1 --seed 0",
        "False refutation ≤ 1 × 10⁻⁹; false support ≤ 0.001",
        "claimed 1.00; 2 points excluded",
        "; closed form |−α²/(1 + α²)| = α²/(1 + α²)",
        '<span class="closed">= <svg class="formula" role="img" aria-label="\\frac{\\alpha^{2}}{1 + \\alpha^{2}}"',
        '<span class="closed">begins √180962α²·(1 + 653350α²/1447697) + … &lt;long&gt; + 1000000α²',
        "(first terms), which this subject leaves",
        "Not the verdict on record.",
        "Counterexample</b> on <code>toy1</code> at x = (1)",
        "&#34;constraints&#34;: {&#34;A&#34;: [[1]], &#34;B&#34;: [[1]], &#34;b&#34;: [0]}",
    ],
)
def test_shows(html: str, words: str) -> None:
    assert words in html


def test_results_cannot_inject_markup(report: Report) -> None:
    evil = "<script>alert(1)</script><b id='matrix'>"
    result = report.results[0].model_copy(
        update={"claim": "made-up", "instance": evil, "sentence": evil, "reproduce": evil, "claimed": evil}
    )
    hostile = report.model_copy(
        update={"results": (result,), "summary": (), "subject": evil, "findings": (evil,), "environment": {evil: evil}}
    )
    for text in (render_html(hostile, {}), html_fragment(hostile)):
        page = Page(text)
        assert page.tags["script"] == 0
        assert page.ids.count("matrix") <= 1


def test_a_report_without_results_is_still_a_page(report: Report) -> None:
    empty = report.model_copy(update={"results": (), "summary": (), "findings": (), "complete": False})
    assert "No check was run" in render_html(empty, {})


def test_a_long_problem_file_is_cut_short_visibly() -> None:
    long = Counterexample(problem={"kind": "quadratic", "f": {"y": list(range(5000))}})
    assert problem_text(long).endswith("(in full in report.json)")


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_has_enough_contrast_in_light_dark_and_print(html: str) -> None:
    # WCAG AA: 4.5 for text, on the page and on tinted blocks; 3 for the marks of a plot.
    blocks = re.findall(r":root \{(.*?)\}", html, re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6}|#[0-9a-f]{3})\b", block))
        full = {
            name: value if len(value) == 7 else "#" + "".join(2 * c for c in value[1:])
            for name, value in colours.items()
        }
        for ground in ("paper", "tint"):
            back = _luminance(full[ground])
            for name in full.keys() - {"paper", "tint", "shade", "rule"}:
                front = _luminance(full[name])
                contrast = (max(front, back) + 0.05) / (min(front, back) + 0.05)
                assert contrast >= (3 if name in ("measured", "claimed") else 4.5), (name, ground, contrast)


def test_the_fragment_brings_its_own_styles(report: Report) -> None:
    fragment = html_fragment(report)
    page = Page(fragment)
    assert page.open == []
    assert page.tags["style"] == 0
    assert "class=" not in fragment
    assert "✗ refuted" in fragment


def test_processes_that_help_change_no_byte() -> None:
    report = verify.run(["bias-bound/T3", "bias-bound/L-H-y"], profile="smoke", instances=["toy1"])
    with ProcessPoolExecutor(2, mp_context=context()) as pool:
        assert render_html(report, pool=pool) == render_html(report)


def test_curves_are_drawn_in_words_and_colours(report: Report) -> None:
    plot = Plot(title="Work <of> a step", x_label="dimension d", y_label="operations",
                series=(Series(name="F2CSA & co", x=(1, 2), y=(3, 4)),),
                marks=(Mark(x=1, y=3, text="printed"),))  # fmt: skip
    shown = report.model_copy(update={"results": [result.model_copy(update={"pictures": (plot,)})
                                                  for result in report.results]})  # fmt: skip
    page = render_html(shown)
    Page(page)
    assert 'aria-label="Work &lt;of&gt; a step: operations against dimension d"' in page
    assert "F2CSA &amp; co" not in render_html(report)
    assert "<of>" not in page
