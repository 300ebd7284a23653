"""The badge says what the verdicts say, in a picture that stands alone."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from verify.report.formats.badge import COLOURS, LABEL_COLOUR, Badge, badge_of
from verify.report.report_files import Report
from verify.report.rows.summary_row import SummaryRow
from verify.verdict import Verdict


def of(*statuses: str, **more: object) -> Badge:
    rows = [SummaryRow(claim=f"c{k}", reading="repaired", status=status, sentence="") for k, status in
            enumerate(statuses)]  # fmt: skip
    rows.append(SummaryRow(claim="z", reading="as-written", status=Verdict.REFUTED, sentence=""))
    given = {"environment": {}, "seed": 1, "profile": "ci", "subject": "s", "results": (), "summary": rows} | more
    return badge_of(Report(**given))


@pytest.mark.parametrize(
    ("statuses", "more", "message", "colour"),
    [
        (["SUPPORTED"] * 3, {}, "3 of 3 statements about a solver hold", "brightgreen"),
        (
            ["SUPPORTED", "NOT_APPLICABLE", "NOT_CHECKED"],
            {},
            "1 of 2 statements about a solver could be asked; it holds",
            "yellow",
        ),
        (["NOT_APPLICABLE"] * 2, {}, "nothing could be asked", "lightgrey"),
        (["SUPPORTED", "INCONCLUSIVE"], {}, "1 of 2 statements about a solver hold", "yellow"),
        (["SUPPORTED", "REFUTED"], {}, "1 of 2 statements about a solver hold", "red"),
        (["SUPPORTED"], {"findings": ("a",)}, "1 finding, 1 of 1 statements about a solver hold", "red"),
        (["SUPPORTED"], {"complete": False}, "incomplete run, 1 of 1 statements about a solver hold", "lightgrey"),
        ([], {}, "no repaired claim judged", "lightgrey"),
    ],
)
def test_the_message_comes_from_the_verdicts(statuses: list, more: dict, message: str, colour: str) -> None:
    made = of(*statuses, **more)
    assert (made.message, made.colour) == (message, colour)


@pytest.mark.parametrize("about", ["mathematics", "paper"])
def test_what_is_not_about_a_solver_is_no_credit_to_one(about: str) -> None:
    row = SummaryRow(claim="c", reading="repaired", status="SUPPORTED", sentence="", about=about)
    assert of(summary=[row]).message == "no repaired claim judged"
    assert of(summary=[row, row.model_copy(update={"about": "subject"})]).message.startswith("1 of 1 ")


def test_a_fault_comes_before_everything_else(report: Report) -> None:
    made = badge_of(report)
    assert made.message.startswith("1 fault, ")
    assert made.colour == "orange"


def test_the_picture_is_self_contained_and_says_its_title() -> None:
    text = Badge("my <solver> & co", "3 of 3", "brightgreen").svg()
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img"
    assert root.get("aria-label") == "my <solver> & co: 3 of 3"
    assert root.find("{*}title").text == "my <solver> & co: 3 of 3"
    assert not any(
        word in text.replace('xmlns="http://www.w3.org/2000/svg"', "") for word in ("http", "import", "url(h")
    )


def test_white_text_can_be_read_on_every_colour() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colour in (*COLOURS.values(), LABEL_COLOUR):
        assert 1.05 / (luminance(colour) + 0.05) >= 4.5, colour


def test_the_endpoint_has_what_shields_asks_for() -> None:
    assert Badge("a", "b", "yellow").endpoint() == {"schemaVersion": 1, "label": "a", "message": "b", "color": "yellow"}
    assert Badge("a", "b", "red").endpoint()["isError"] is True


def test_two_badges_in_one_page_do_not_share_a_clip() -> None:
    short, long = (Badge("F2CSA", text, "red").svg() for text in ("no", "2 faults, 1 of 4 repaired claims hold"))
    names = [re.search(r'clipPath id="(\w+)"', picture)[1] for picture in (short, long)]
    assert names[0] != names[1]
    assert f"url(#{names[1]})" in long
