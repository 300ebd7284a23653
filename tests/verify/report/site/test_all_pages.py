"""The pages are whole, need nothing from outside, link to each other, and are safe against what results contain."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest

import verify
from spec import load_claims
from tests import kept
from tests.verify.report.site.parsed import Parsed, dangling, html_of, together
from verify.evidence.charts import Mark, Plot, Series
from verify.evidence.model import Counterexample
from verify.report.report_files import Report
from verify.report.site.all_pages import site_files
from verify.report.site.frame import SCRIPT, STYLE
from verify.report.site.notebook import html_fragment
from verify.report.site.words.evidence_words import problem_text


@pytest.fixture(scope="module")
def files(report: Report, claims: dict) -> dict[str, str]:
    return html_of(report, claims)


@pytest.fixture(scope="module")
def parsed(files: dict[str, str]) -> dict[str, Parsed]:
    return {name: Parsed(text) for name, text in files.items()}


@cache
def smoke() -> Report:
    """A real run of a claim, its steps and their readings."""
    return kept.run(["bias-bound/T3", "bias-bound/T1", "solution-error"], profile="smoke", instances=["toy1"])


def test_the_front_page_stands_alone_and_the_others_share_their_style(report: Report, claims: dict) -> None:
    made = site_files(report, claims)
    assert made[STYLE].startswith("/* f2csa-verify */")
    assert made[SCRIPT].startswith("/* f2csa-verify */")
    front = Parsed(made["report.html"])
    assert (front.tags["style"], front.tags["link"]) == (1, 0)
    for name, text in made.items():
        if name.startswith("pages/") and name.endswith(".html"):
            assert '<link rel="stylesheet" href="style.css">' in text
            assert Parsed(text).tags["style"] == 0


def test_tags_nest_and_close(parsed: dict[str, Parsed]) -> None:
    assert {name: page.open for name, page in parsed.items() if page.open} == {}


def test_nothing_comes_from_outside(report: Report, claims: dict) -> None:
    for name, text in site_files(report, claims).items():
        assert "@import" not in text, name
        assert re.findall(r"url\((?!data:)", text) == [], name
        away = text.replace("https://openfontlicense.org", "").replace("http://www.w3.org/", "")
        assert "http:" not in away, name
        assert "https:" not in away, name


def test_ids_are_unique_and_every_link_lands(files: dict[str, str], parsed: dict[str, Parsed]) -> None:
    for name, page in parsed.items():
        assert [each for each, count in Counter(page.ids).items() if count > 1] == [], name
    assert dangling(files) == []


def test_links_of_a_real_run_land() -> None:
    assert dangling(html_of(smoke())) == []


def test_a_link_that_leads_nowhere_is_found() -> None:
    assert dangling({"a.html": '<a href="pages/b.html#x">b</a>', "pages/b.html": '<p id="y"></p>'}) == [
        "a.html: pages/b.html#x"
    ]


def test_headings_never_skip_a_level(parsed: dict[str, Parsed]) -> None:
    for name, page in parsed.items():
        assert page.headings[0] == 1, name
        assert page.headings.count(1) == 1, name
        steps = zip(page.headings, page.headings[1:], strict=False)
        assert all(later <= earlier + 1 for earlier, later in steps), name


def test_every_drawing_has_words(parsed: dict[str, Parsed]) -> None:
    assert {name for name, page in parsed.items() if page.images_without_words} == set()


def test_the_same_report_gives_the_same_bytes(report: Report, claims: dict) -> None:
    assert site_files(report, claims) == site_files(report, claims)


def test_every_statement_has_a_row_and_a_section_under_its_public_id(report: Report, claims: dict) -> None:
    for shown, known in ((report, claims), (smoke(), load_claims())):
        made = {name: Parsed(text).ids for name, text in html_of(shown, known).items()}
        ids = {row.claim for row in shown.summary} | {result.claim for result in shown.results}
        assert ids
        for full in ids:
            assert full in made["pages/matrix.html"], full
            assert full in made[f"pages/{full.split('/')[0]}.html"], full


def test_every_result_and_its_evidence_is_on_its_claims_page(report: Report, files: dict[str, str]) -> None:
    for result in report.results:
        page = files[f"pages/{result.claim.split('/')[0]}.html"]
        start = page.index(f'id="{result.claim}.{result.reading.replace(":", ".")}"')
        assert result.instance in page[start:]


def test_a_part_of_a_run_has_the_pages_of_its_claims_alone() -> None:
    made = html_of(verify.run(["bias-bound/T3"], profile="smoke", instances=["toy1"]))
    assert {name for name in made if name.startswith("pages/")} == {
        "pages/matrix.html", "pages/bias-bound.html", "pages/archive.html", "pages/glossary.html",
        "pages/cause-frozen-term.html", "pages/algorithm.html", "pages/paper.html",
    }  # fmt: skip


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
        "exponent −2.00 [−2.004, −1.997] in α",
        "1 order better than claimed",
        "refuted on 3 of 4 instances, supported on 1",
        "f2csa verify bias-bound --reading as-written --instance toy1 --seed 0",
        "false refutation ≤ 1 × 10⁻⁹; false support ≤ 0.001",
        "claimed 1.00; 2 points excluded",
        "; closed form |−α²/(1 + α²)| = α²/(1 + α²)",
        '<span class="closed">= <math ',
        '<span class="closed">begins √180962α²·(1 + 653350α²/1447697) + … &lt;long&gt; + 1000000α²',
        "(first terms), which this subject leaves",
        "Not the verdict on record.",
        "Counterexample</b> on <code>toy1</code> at x = (1)",
        "&#34;constraints&#34;: {&#34;A&#34;: [[1]], &#34;B&#34;: [[1]], &#34;b&#34;: [0]}",
        "not checked",
    ],
)
def test_shows(files: dict[str, str], words: str) -> None:
    assert words.casefold() in "\n".join(files.values()).casefold()


def test_no_raw_tex_and_no_program_words() -> None:
    for name, text in html_of(smoke()).items():
        shown = re.sub(r"<(script|style|code|pre|math|svg|title)\b.*?</\1>", " ", text, flags=re.DOTALL)
        plain = re.sub(r"<[^>]+>", " ", shown)
        assert re.findall(r"\S*(?:\\[a-z]+|_\{|\^\{|&lt;=|&gt;=|==)\S*", plain) == [], name
        assert re.findall(r"\b(?:lam star|y star|mu_g|alpha_\d|[CLNM]_[a-zλ])\b", plain) == [], name
        assert re.findall(r"loose by 1 orders|\^[-−]?0\.00", plain) == [], name


EVIL = "<script>alert(1)</script><b id='main'>\"'&"


def test_results_cannot_inject_markup(report: Report) -> None:
    result = report.results[0].model_copy(
        update={"claim": "made-up", "instance": EVIL, "sentence": EVIL, "reproduce": EVIL, "claimed": EVIL}
    )
    hostile = report.model_copy(
        update={"results": (result,), "summary": (), "subject": EVIL, "findings": (EVIL,), "environment": {EVIL: EVIL}}
    )
    made = html_of(hostile, {})
    for text in (*made.values(), html_fragment(hostile)):
        assert "<script>alert" not in text
        page = Parsed(text)
        assert page.open == []
        assert page.ids.count("main") <= 1


def test_a_claim_of_any_name_has_a_page_inside_the_folder(report: Report) -> None:
    result = report.results[0].model_copy(update={"claim": "../up & away/<step>"})
    odd = report.model_copy(update={"results": (result,), "summary": (), "findings": ()})
    made = site_files(odd, {})
    assert all(re.fullmatch(r"report\.html|pages/[\w-]+\.(html|css|js)", name) for name in made), sorted(made)
    assert dangling({name: text for name, text in made.items() if name.endswith(".html")}) == []


def test_a_report_without_results_is_still_a_page(report: Report) -> None:
    empty = report.model_copy(update={"results": (), "summary": (), "findings": (), "complete": False})
    assert "No check was run" in together(empty, {})


def test_a_long_problem_file_is_cut_short_visibly() -> None:
    long = Counterexample(problem={"kind": "quadratic", "f": {"y": list(range(5000))}})
    assert problem_text(long).endswith("(in full in report.json)")


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_has_enough_contrast_in_light_dark_and_print(report: Report, claims: dict) -> None:
    # WCAG AA: 4.5 for text, on the page and on tinted blocks; 3 for the marks of a plot.
    blocks = re.findall(r":root \{(.*?)\}", site_files(report, claims)[STYLE], re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6}|#[0-9a-f]{3})\b", block))
        full = {
            name: value if len(value) == 7 else "#" + "".join(2 * c for c in value[1:])
            for name, value in colours.items()
        }
        for ground in ("paper", "tint"):
            back = _luminance(full[ground])
            for name in full.keys() - {"paper", "tint", "shade", "rule", "bad-tint", "good-tint"}:
                front = _luminance(full[name])
                contrast = (max(front, back) + 0.05) / (min(front, back) + 0.05)
                assert contrast >= (3 if name in ("measured", "claimed") else 4.5), (name, ground, contrast)


def test_the_fragment_brings_its_own_styles_and_the_numbers(report: Report) -> None:
    fragment = html_fragment(report)
    page = Parsed(fragment)
    assert page.open == []
    assert page.tags["style"] == 0
    assert "class=" not in fragment
    assert "✗ refuted: ≈\u00a0α<sup>−2</sup>" in fragment
    assert "claimed O(α)" in fragment


def test_curves_are_drawn_in_words_and_colours(report: Report) -> None:
    plot = Plot(title="Work <of> a step", x_label="dimension d", y_label="operations",
                series=(Series(name="F2CSA & co", x=(1, 2), y=(3, 4)),),
                marks=(Mark(x=1, y=3, text="printed"),))  # fmt: skip
    shown = report.model_copy(update={"results": [result.model_copy(update={"pictures": (plot,)})
                                                  for result in report.results]})  # fmt: skip
    page = together(shown)
    assert 'aria-label="Work &lt;of&gt; a step: operations against dimension d"' in page
    assert "F2CSA &amp; co" not in together(report)
    assert "<of>" not in page
