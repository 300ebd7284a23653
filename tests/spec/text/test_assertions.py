"""The inventory of the paper's assertions: complete, in order, and matched with the claims both ways."""

from __future__ import annotations

import re
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import InvalidInputError, load_claims
from spec.text.assertions import FREE, GRANTED, Inventory, PaperAssertion, load_assertions
from spec.works import CitedWork, find, load_works
from tests.spec.test_claims import VERDICT_WORDS

INVENTORY = load_assertions()
STATEMENTS = {full: statement for claim in load_claims().values() for full, statement in claim.statements()}
COUNT = 328


def entry(**given: object) -> PaperAssertion:
    data = {"number": 1, "section": "s", "place": "p", "asserts": "A.", "decided_by": ["exact"], "covered_by": [],
            "quote": {"lines": [1, 1], "digest": "0" * 16}}  # fmt: skip
    return PaperAssertion.model_validate(data | given)


def test_every_assertion_is_there_in_reading_order() -> None:
    assert [a.number for a in INVENTORY.assertions] == list(range(1, COUNT + 1))
    assert load_assertions() is INVENTORY


def test_every_assertion_is_covered() -> None:
    assert [entry.number for entry in INVENTORY.assertions if not entry.covered_by] == []


def test_every_statement_is_asked_for_or_says_why_it_is_there() -> None:
    assert INVENTORY.unasked(STATEMENTS) == ()
    for full in INVENTORY.beside:
        assert STATEMENTS[full].relation in FREE, full
        assert full not in INVENTORY.covering, full


@given(st.sampled_from(sorted(INVENTORY.covering)))
def test_a_statement_that_loses_its_assertions_is_noticed(full: str) -> None:
    kept = tuple(
        a.model_copy(
            update={
                field: tuple(name for name in getattr(a, field) if name != full) for field in ("covered_by", "beside")
            }
        )
        for a in INVENTORY.assertions
    )
    assert Inventory(assertions=kept).unasked(STATEMENTS) == (full,)


def test_no_reason_excuses_a_statement_that_the_paper_makes() -> None:
    said = next(full for full, statement in STATEMENTS.items() if statement.relation == "said")
    excused = STATEMENTS | {said: STATEMENTS[said].model_copy(update={"beside": "for no reason"})}
    bare = Inventory(assertions=())
    assert said in bare.unasked(excused)
    assert "inner-cost/shared-sample" not in bare.unasked(excused)


def test_nothing_decides_only_for_a_reason() -> None:
    with pytest.raises(ValueError, match="where nothing decides"):
        entry(decided_by=["undecidable"])
    with pytest.raises(ValueError, match="where nothing decides"):
        entry(reason="because")
    assert entry(decided_by=["undecidable"], reason="because").reason == "because"


def test_what_is_left_open_covers_what_cannot_be_decided() -> None:
    for a in INVENTORY.assertions:
        if a.decided_by == ("undecidable",) and a.number != 200:
            none_judges = set(a.beside) == set(a.covered_by)
            assert none_judges or any(STATEMENTS[full].left_open for full in a.covered_by), a.number


def test_no_verdict_is_stored_with_an_assertion() -> None:
    text = (resources.files("spec") / "assertions.toml").read_text(encoding="utf-8")
    assert VERDICT_WORDS.search(text) is None
    for a in INVENTORY.assertions:
        assert re.match(r"(?!(?:clip|log|max)[_({])[a-z]{2}", a.asserts) is None, a.asserts
        assert a.asserts.endswith("."), a.asserts


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("number = 2\n", "number = 3\n", "must count from 1"),
        ('covered_by = ["bias-bound"]', 'covered_by = ["bias-bond"]', "must name known claims"),
        ('covered_by = ["bias-bound"]', 'covered_by = ["bias-bound", "bias-bound"]', "must not repeat"),
    ],
)
def test_a_malformed_inventory_is_refused(monkeypatch: pytest.MonkeyPatch, old: str, new: str, rule: str) -> None:
    text = (resources.files("spec") / "assertions.toml").read_text(encoding="utf-8")
    assert old in text
    monkeypatch.setattr("spec.text.assertions.package_text", lambda _path: text.replace(old, new, 1))
    with pytest.raises(InvalidInputError, match=rule):
        load_assertions.__wrapped__()


def test_a_work_says_something_only_where_it_was_looked_up() -> None:
    assert {work.id for work in load_works().values() if not work.looked_up} == {
        "ghadimi-2018", "chen-2024-finding", "kwon-2024-complexity",
    }  # fmt: skip
    with pytest.raises(ValueError, match="only there"):
        CitedWork.model_validate({"id": "a", "reference": "A", "properties": ["stochastic"]})
    with pytest.raises(ValueError, match="only there"):
        CitedWork.model_validate({"id": "a", "reference": "A", "place": "abstract"})
    with pytest.raises(InvalidInputError, match="did you mean zhang-2020"):
        find("zhang-202")


def test_every_work_is_a_source_of_a_statement_and_every_source_a_work() -> None:
    used = {source for statement in STATEMENTS.values() for source in statement.sources}
    assert used == set(load_works())
    # Whatever is held against sources names them.
    for full, statement in STATEMENTS.items():
        if full.startswith("related-rates"):
            assert statement.sources, full


def test_assertions_and_their_statements_agree_on_what_the_words_say() -> None:
    assert INVENTORY.at_odds(STATEMENTS) == ()


JUDGED: dict[str, object] = {"decided_by": ("exact",), "beside": ()}
"""Of a row that nothing judges: as if its statements did."""


@pytest.mark.parametrize(
    ("number", "change", "told"),
    [
        (86, JUDGED | {"leaves_open": ""}, "86 is silent, variance-bound/per-sample is said"),
        (86, JUDGED | {"leaves_open": "ramp_width"}, "86 is silent, variance-bound/per-sample is said"),
        (
            86,
            JUDGED | {"covered_by": ("variance-bound/independence",)},
            "86 is silent, variance-bound/independence is said",
        ),
        (103, {"covered_by": ("dual-extraction/fixed-point",)}, "103 is said, and its statements are all silent"),
        (178, JUDGED | {"kind": "silent", "reason": ""}, "178 is silent, inner-cost/linear-rate is said"),
        (225, {"kind": "implied"}, "dual-extraction/row-difference is said, and no assertion that it judges is"),
        (
            22,
            {"kind": "consequence", "quote": None},
            "bias-bound/parent-limit is implied, and no assertion that it judges is",
        ),
    ],
)
def test_words_that_a_row_and_its_statement_tell_differently_are_noticed(
    number: int, change: dict[str, object], told: str
) -> None:
    changed = tuple(a.model_copy(update=change) if a.number == number else a for a in INVENTORY.assertions)
    assert told in Inventory(assertions=changed).at_odds(STATEMENTS)


def test_what_is_granted_stands_alone_and_an_open_choice_is_a_known_one() -> None:
    granted = {kind: {a.number for a in INVENTORY.assertions if a.granted == kind} for kind in GRANTED}
    assert granted["definition"] >= {5, 18, 47, 72, 74, 80, 96, 98}
    # All of the assumptions, of what a lemma supposes, and of what the theorem on convergence does.
    assert granted["hypothesis"] >= {
        46,
        51,
        52,
        54,
        55,
        56,
        62,
        65,
        68,
        69,
        70,
        104,
        120,
        122,
        133,
        158,
        159,
        160,
        162,
        163,
    }
    for kind in GRANTED:
        with pytest.raises(ValueError, match="definition or hypothesis alone"):
            entry(decided_by=[kind, "exact"])
    with pytest.raises(ValueError, match="silent alone"):
        entry(leaves_open="noise_pairing")
    with pytest.raises(ValueError, match="must be one of"):
        entry(leaves_open="no_such", kind="silent")


def test_what_leaves_a_choice_open_is_judged_by_statements_that_make_it() -> None:
    open_rows = {a.number: a.leaves_open for a in INVENTORY.assertions if a.leaves_open}
    assert open_rows == {86: "noise_pairing", 97: "multiplier_width"}
    for number, field in open_rows.items():
        assert all(field in STATEMENTS[full].choices for full in INVENTORY.assertions[number - 1].covered_by)


CAPITAL = re.compile(r"^(?:[Α-Ω]\u0303?(?=$|[ ,.=*²])|(?:Log|Exp|Min|Max|Sup|Inf|Clip|Argmin)(?=[_({ ])|[A-Z]_\w)")
"""A text that starts with a symbol in capitals: a Greek letter alone, a function, a letter with an index."""
NAMED_SO = ("Θ", "Ω", "C_", "L_", "N_", "M_", "B_", "Q_", "G_j")
"""What the paper itself names with a capital."""


def in_capitals(text: str) -> bool:
    return CAPITAL.match(text) is not None and not text.startswith(NAMED_SO)


def test_a_symbol_at_the_start_of_a_text_keeps_its_case() -> None:
    for made_up in ("Clip_D is defined.", "U_k", "Σ", "Ξ, ζ", "Λ̃ and λ̃*", "G_t/g̃_t", "Max{0, λ}", "Log(1/δ)", "Δ"):
        assert in_capitals(made_up), made_up
    assert not any(map(in_capitals, ("Δρ_i≠0", "Σ⟨∇F,u_k⟩", "N_g=1", "Minimiser exists.", "Δ_t is", "Supported")))
    assert [a.number for a in INVENTORY.assertions if in_capitals(a.place) or in_capitals(a.asserts)] == []
