"""Switches are the causes' choices, and their phrases stand in the paper's argument."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from spec.claims import find
from spec.reading import Reading, Sense, find_choice
from spec.text.argument import load_argument, pieces
from tests.verify.report.site.story_reports import failing
from verify.report.site.causes.failure_causes import cause_texts
from verify.report.site.frame import SiteFrame
from verify.report.site.living.phrases import ShownAlgorithms, lines_of, switches, tabs


@pytest.fixture(scope="module")
def shown() -> ShownAlgorithms:
    return ShownAlgorithms(SiteFrame.of(failing()))


def test_there_is_a_switch_for_every_cause_in_the_causes_order() -> None:
    assert [one.field for one in switches()] == [cause.choice for cause in cause_texts()]
    assert [one.number for one in switches()] == list(range(1, len(cause_texts()) + 1))


def test_values_are_those_of_the_choice_and_one_that_repairs() -> None:
    for one in switches():
        choice = find_choice(one.field)
        literal = [value.value for value in one.values if not value.is_repair]
        repairs = [value.value for value in one.values if value.is_repair]
        assert tuple(literal) == choice.values
        assert one.as_written == literal[0]
        assert one.repaired in (*literal, *repairs)
        assert len(repairs) <= 1
        model = Reading if one.field in Reading.model_fields else Sense
        for value in one.values:
            model.model_validate({one.field: value.value})


def test_every_phrase_stands_in_the_argument_where_it_is_said_to(shown: ShownAlgorithms) -> None:
    texts = [text for part in load_argument().parts for passage in part.passages for text in passage.texts]
    ties = Counter(
        piece.statement or str(piece.number) for text in texts for piece in pieces(text) if not piece.elsewhere
    )
    for one in switches():
        assert all(ties[place] for place in one.text.at), one.field


def test_a_phrase_is_marked_and_its_repair_written_once(shown: ShownAlgorithms) -> None:
    text = "".join(str(line.words) + "".join(map(str, line.defined)) for line in shown.lines)
    for one in switches():
        assert text.count(f'<mark data-for="{one.field}"') == len(one.text.at), one.field
        assert text.count(f'<ins data-for="{one.field}" hidden>') == 1, one.field


def test_each_switch_stands_at_one_line(shown: ShownAlgorithms) -> None:
    homes = {switch.field: line.number for line in shown.lines for switch in line.switches}
    assert homes == {
        "inner_solver": 3, "ramp_width": 4, "multiplier_width": 4, "inner_stop": 5, "dual_term": 6, "noise_pairing": 6,
    }  # fmt: skip
    assert sum(len(line.switches) for line in shown.lines) == len(switches())


def test_the_lines_are_the_arguments(shown: ShownAlgorithms) -> None:
    assert [line.number for line in shown.lines] == [step.number for step in lines_of(1)]
    assert [line.number for line in shown.outer_lines] == [step.number for step in lines_of(2)]
    (defined,) = [line.defined for line in shown.lines if line.defined]
    assert sum("<math" in part for part in defined) == 3
    plain = re.sub("<[^>]+>", "", " ".join(part for part in defined if "<math" not in part))
    assert "{" not in plain


def test_tabs_claim_what_the_statements_assert() -> None:
    assert [tab.claimed for tab in tabs()] == [1, 0, -1, -5]
    for tab in tabs():
        assert find(tab.statement).as_written.bound.exponents[tab.variable] == tab.claimed
    assert {one.text.tab for one in switches()} == {tab.id for tab in tabs()}
