"""The claims' data: complete, consistent, printable, and silent on whether anything holds."""

from __future__ import annotations

import re
import tomllib
from graphlib import TopologicalSorter
from importlib import resources
from math import prod
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import CHOICES, REPAIRED, InvalidInputError, Sense, Statement, load_claims
from spec.claims import ORDER, Bound, Claim, find
from spec.reading import find_choice
from verify.report.mathml import formula

CLAIMS = load_claims()
STATEMENTS = {full: statement for claim in CLAIMS.values() for full, statement in claim.statements()}
VARIABLES = {
    "alpha", "inner_tol", "N_g", "radius", "distance", "eta", "M", "epsilon", "goldstein_radius", "L_F", "kappa_g",
    "sigma_min_B", "sigma", "d",
}  # fmt: skip
"""What a bound may be a power of; docs/notation.md names each."""
VERDICT_WORDS = re.compile(
    r"supported|\brefuted\b|inconclusive|vacuous|not[ _-]applicable|disprove|\bfalse\b|\bwrong\b|incorrect|"
    r"counterexample|audit",
    re.IGNORECASE,
)
MOST_SIGNS = 120
"""Signs of a formula that a wide page shows without scrolling."""
NOTATION = (Path(__file__).parents[2] / "docs" / "notation.md").read_text(encoding="utf-8")


def source(name: str) -> str:
    return (resources.files("spec") / "claims" / f"{name}.toml").read_text(encoding="utf-8")


def formulae(statement: Statement) -> list[str]:
    own = [statement.latex, statement.as_written.latex, statement.repaired.latex]
    return own + [premise.latex for premise in statement.premises]


def test_every_claim_of_the_order_is_there_and_no_other() -> None:
    files = {entry.name for entry in (resources.files("spec") / "claims").iterdir() if entry.name.endswith(".toml")}
    assert tuple(CLAIMS) == ORDER
    assert files == {f"{name}.toml" for name in ORDER}


def test_loading_is_cached_and_returns_frozen_data() -> None:
    assert load_claims() is load_claims()
    with pytest.raises(ValueError, match="frozen"):
        CLAIMS["bias-bound"].title = "another"  # type: ignore[misc]  # frozen: that it fails is the point


@pytest.mark.parametrize("name", ORDER)
def test_a_claim_is_split_into_steps_with_unique_premises(name: str) -> None:
    claim = CLAIMS[name]
    assert claim.steps, "a claim without steps cannot say where its proof breaks"
    for full, statement in claim.statements():
        ids = [premise.id for premise in statement.premises]
        assert len(set(ids)) == len(ids), full


@pytest.mark.parametrize("name", ORDER)
def test_a_claim_survives_a_json_round_trip(name: str) -> None:
    assert Claim.model_validate_json(CLAIMS[name].model_dump_json()) == CLAIMS[name]


@pytest.mark.parametrize("name", ORDER)
def test_every_formula_renders_on_one_line(name: str) -> None:
    for full, statement in CLAIMS[name].statements():
        for latex in formulae(statement):
            assert latex, f"{full} lacks a formula"
            assert latex.count("{") == latex.count("}"), f"{full}: {latex}"
            # An unknown command is no error to the renderer: it is printed by name.
            made = formula(latex)
            assert made.startswith("<math"), f"{full}: {latex}"
            assert "\\" not in made, f"{full}: unknown command in {latex}"
            assert "<mtable" not in made, f"{full}: several lines in {latex}"
            assert len(made.striptags()) <= MOST_SIGNS, f"{full}: {latex}"


@pytest.mark.parametrize("name", ORDER)
def test_no_verdict_is_stored(name: str) -> None:
    found = VERDICT_WORDS.search(source(name))
    assert found is None, f"{name}: {found}"


@pytest.mark.parametrize("name", ORDER)
def test_texts_are_sentences(name: str) -> None:
    for full, statement in CLAIMS[name].statements():
        texts = [statement.statement, statement.refuted_by, statement.as_written.text, statement.repaired.text]
        for text in texts + [premise.words() for premise in statement.premises]:
            assert re.match(r"[a-z]{2}", text) is None, f"{full}: {text}"  # a symbol may come first
            assert text.rstrip(")").endswith("."), f"{full}: {text}"
            assert "\n" not in text, f"{full}: {text}"
            assert "  " not in text, f"{full}: {text}"


def test_what_rests_on_what_has_no_cycle() -> None:
    graph = {full: set(statement.rests_on) for full, statement in STATEMENTS.items()}
    for name, claim in CLAIMS.items():
        # A claim rests on its own steps, whether or not it says so.
        graph[name] |= {f"{name}/{step.id}" for step in claim.steps}
    assert set(TopologicalSorter(graph).static_order()) == set(STATEMENTS)


def test_no_statement_rests_on_itself_or_its_own_claim() -> None:
    for full, statement in STATEMENTS.items():
        assert full.partition("/")[0] not in statement.rests_on, full
        assert len(set(statement.rests_on)) == len(statement.rests_on), full


def test_bounds_are_powers_of_named_variables_only() -> None:
    used = set()
    for full, statement in STATEMENTS.items():
        for asserted in (statement.as_written, statement.repaired):
            bound = asserted.bound
            used |= set(bound.exponents)
            compared = asserted.formula or "against" in bound.quantity or "number" in bound.quantity
            assert bound.exponents or compared, full
    assert used == VARIABLES
    for variable in VARIABLES:
        assert f"`{variable}`" in NOTATION, variable


def test_both_readings_measure_powers_of_the_same_variables_or_say_otherwise() -> None:
    differing = {
        full
        for full, statement in STATEMENTS.items()
        if statement.as_written.bound.exponents.keys() != statement.repaired.bound.exponents.keys()
    }
    # A rate that as written is asserted and repaired is plainly absent, or the other way round.
    assert differing == {
        "dual-extraction/T2", "inner-cost/alpha-accurate", "inner-cost/noise-floor", "smoothness/bounded-gradient",
        "smoothness/bounded-gradient-note", "smoothness/f-lipschitz",
    }  # fmt: skip


def values(statement: Statement, name: str) -> dict[str, str]:
    """What a reading chooses otherwise than the repaired one, by field."""
    reading, sense = statement.interpreted(name)
    return reading.differences(REPAIRED) | {
        field: value for field, value in sense.model_dump().items() if value != getattr(Sense(), field)
    }


def test_readings_differ_where_a_statement_decides_a_choice() -> None:
    for full, statement in STATEMENTS.items():
        assert values(statement, "repaired") == {}
        written = {field: find_choice(field).as_written for field in statement.repairable}
        assert values(statement, "as-written") == written, full


@given(st.sampled_from(sorted(STATEMENTS)))
def test_each_choice_is_isolated_alone(full: str) -> None:
    for field in STATEMENTS[full].repairable:
        assert values(STATEMENTS[full], f"only:{field}") == {field: find_choice(field).as_written}


@given(st.sampled_from(sorted(full for full, statement in STATEMENTS.items() if statement.open_choices)))
def test_the_lattice_holds_every_literal_reading_and_every_partial_repair_once(full: str) -> None:
    statement = STATEMENTS[full]
    names = statement.literal_readings
    points = [statement.interpreted(name) for name in names]
    assert statement.axes or names[0] == "as-written"
    assert len(set(points)) == len(points) == prod(len(find_choice(field).literal) for field in statement.open_choices)
    repairs = statement.repairs
    assert len(repairs) == len(statement.kept) == 2 ** len(statement.repairable) - 1
    for chosen, name in (*repairs.items(), *statement.kept.items()):
        written = {f: find_choice(f).as_written for f in statement.repairable if f not in chosen}
        assert values(statement, name) == written
    for name in statement.kept.values():
        assert statement.assertion(name) == statement.repaired
    for name in repairs.values():
        assert statement.assertion(name) == statement.as_written
    if statement.repairable:
        assert statement.interpreted(repairs[statement.repairable]) == statement.interpreted("repaired")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("literal", "must be as-written, repaired, only:FIELD, choose:... or keep:FIELD"),
        ("keep:ramp_width=delta", "must be as-written"),
        ("keep:dual_term=thawed", "reading.dual_term: must be one of frozen, map, both-maps, cancelled; got thawed"),
        ("only:ramp_width", "must be as-written"),
        ("choose:ramp_width=delta", "must be as-written"),
        ("choose:dual_term=thawed", "reading.dual_term: must be one of frozen, map, both-maps, cancelled; got thawed"),
        ("choose:dual_term", "reading.dual_term: must be one of"),
        ("choose:mood=good", "choices: must be one of dual_term"),
        ("choose:", "choices: must be one of dual_term"),
    ],
)
def test_another_name_of_a_reading_is_refused(name: str, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        find("bias-bound/T3").interpreted(name)
    assert message in str(caught.value)


def test_every_open_choice_is_decided_somewhere() -> None:
    assert {f for statement in STATEMENTS.values() for f in statement.open_choices} == {c.field for c in CHOICES}


@given(st.sampled_from(sorted(STATEMENTS)))
def test_find_returns_what_was_loaded(full: str) -> None:
    assert find(full) is STATEMENTS[full]
    assert find(full).assertion("as-written") is STATEMENTS[full].as_written
    assert find(full).assertion("repaired") is STATEMENTS[full].repaired


def test_an_unknown_claim_is_answered_with_the_nearest() -> None:
    with pytest.raises(InvalidInputError, match="did you mean bias-bound"):
        find("bias-bund")
    with pytest.raises(InvalidInputError, match="f2csa claims"):
        find("0")


def test_an_axis_is_repaired_as_written_and_asked_under_each_literal_value() -> None:
    ramp = find("bias-bound/ramp")
    assert ramp.axes == ("dual_term", "multiplier_width", "weights")
    assert ramp.reading("as-written").dual_term == "cancelled"
    asked = {ramp.reading(name).dual_term for name in ramp.literal_readings}
    assert asked == {"frozen", "map", "both-maps"}
    data = tomllib.loads(source("variance-bound")) | {"choices": ["noise_pairing"], "axes": ["noise_pairing"]}
    with pytest.raises(ValueError, match="must not name what choices names"):
        Claim.model_validate(data)


def test_a_premise_under_a_reading_is_asked_there_alone() -> None:
    named = {premise.id: premise for premise in find("bias-bound").premises}["assumed-constant"]
    assert named.predicate("as-written", {"constants": "assumed"}) is not None
    assert named.predicate("as-written", {"constants": "derived"}) is None
    assert named.predicate("repaired", {"constants": "assumed"}) is None
    for under, rule in (
        ("no_such=1", "must be one of"),
        ("constants=soft", "must be one of"),
        ("accuracy=mean", "must name"),
    ):
        data = tomllib.loads(source("bias-bound"))
        next(one for one in data["premises"] if one["id"] == named.id)["under"] = under
        with pytest.raises(ValueError, match=rule):
            Claim.model_validate(data)


@pytest.mark.parametrize(
    ("premise", "change", "rule"),
    [("licq", {"formula": ""}, "licq.formula: must stand where there is neither"),
     ("licq", {"no_formula": "a rank"}, "licq.formula: must stand where there is neither"),
     ("variance", {"no_formula": ""}, "variance.formula: must stand where there is neither"),
     ("variance", {"taken_from": ["inner-cost"]}, "variance.taken_from: must be among what its statement rests on")],
)  # fmt: skip
def test_a_premise_has_a_formula_or_says_why_not_or_where_it_is_taken_from(
    premise: str, change: dict[str, object], rule: str
) -> None:
    data = tomllib.loads(source("goldstein-convergence" if premise == "variance" else "bias-bound"))
    next(one for one in data["premises"] if one["id"] == premise).update(change)
    with pytest.raises(ValueError, match=re.escape(rule)):
        Claim.model_validate(data)


def test_a_hypothesis_is_listed_everywhere_or_nowhere() -> None:
    """One that the text lists in one place cannot be one that the repaired text adds, or that is granted, elsewhere."""
    listed: dict[str, set[bool]] = {}
    for statement in STATEMENTS.values():
        for premise in statement.premises:
            listed.setdefault(premise.id, set()).add(premise.listed)
    assert [name for name, both in listed.items() if len(both) > 1] == []
    assert listed["strict-complementarity"] == listed["some-row-active"] == listed["no-row-active"] == {False}
    assert listed["licq"] == listed["dual-accuracy"] == listed["alpha-range"] == {True}


@pytest.mark.parametrize("premise", ["feasible", "gradient-bound"])
def test_what_only_the_repaired_text_has_or_a_lemma_gives_is_not_granted(premise: str) -> None:
    data = tomllib.loads(source("solution-error"))
    next(one for one in data["premises"] if one["id"] == premise)["granted"] = "so that it is asked"
    with pytest.raises(ValueError, match=f"{premise}.granted: must be of a premise that the text as written is asked"):
        Claim.model_validate(data)


@pytest.mark.parametrize("blank", [" ", "so that it is asked "])
def test_what_is_granted_has_a_reason(blank: str) -> None:
    data = tomllib.loads(source("solution-error"))
    next(one for one in data["premises"] if one["id"] == "alpha-range")["granted"] = blank
    with pytest.raises(ValueError, match=r"alpha-range.granted: must be a reason, without blanks around it"):
        Claim.model_validate(data)


def test_an_unknown_choice_is_refused() -> None:
    data = tomllib.loads(source("variance-bound")) | {"choices": ["no_such_choice"]}
    with pytest.raises(ValueError, match="must be one of dual_term"):
        Claim.model_validate(data)


@given(st.fractions(min_value=-9, max_value=9, max_denominator=6))
def test_exponents_are_exact(exponent: object) -> None:
    bound = Bound(quantity="q", exponents={"alpha": str(exponent)})  # type: ignore[dict-item]  # as in a TOML file
    assert bound.exponents["alpha"] == exponent
    assert Bound.model_validate_json(bound.model_dump_json()) == bound


NAMES_A_VALUE = {
    "dual_term": r"frozen|held fixed|functions? of x|dual term|\ba map\b|cancel",
    "noise_pairing": r"independent draws|draws? (of ∇_x g )?(are|being) independent|common draw|one draw|ζ'|\\zeta'",
    "ramp_width": r"width τδ|order δ²|\\text\{width\}|width Θ|τ = Θ",
    "inner_solver": r"[Cc]onstant[- ]step|averag|[Dd]ecreasing",
    "multiplier_width": r"shrink|ε_λ (is )?fixed|ε_λ = δ|any (positive width )?ε_λ",
    "accuracy": r"[Ff]irst[- ]moment|in the mean|surely|\\mathbb\{E\}\\lVert\\tilde\{y\}\^\*-y\^\*",
}


def test_a_text_judged_under_several_readings_names_none_of_them() -> None:
    """The literal values stand in the set of readings; the assertion is what all of them have in common."""
    looked_at = 0
    for full, statement in (entry for claim in CLAIMS.values() for entry in claim.statements()):
        for field in statement.open_choices:
            if len(find_choice(field).values) > 1 and field in NAMES_A_VALUE and statement.relation != "consequence":
                said = f"{statement.as_written.text} {statement.as_written.latex}"
                assert re.search(NAMES_A_VALUE[field], said) is None, f"{full} names a value of {field}: {said}"
                looked_at += 1
    assert looked_at > 20


BESIDE = re.compile(r'^(Abstract|Sentence after|Section "Introduction")|, note to part \([iv]+\)(,|$)')
"""Where a sentence stands that is beside an assumption, a lemma or a theorem."""


def test_a_claim_falls_with_what_its_own_words_assert_alone() -> None:
    judged = [claim for claim in CLAIMS.values() if claim.kind in ("assumption", "lemma", "theorem", "remark")]
    beside = {f"{claim.id}/{step.id}": step for claim in judged for step in claim.steps if BESIDE.search(step.location)}
    assert "smoothness/bounded-gradient-note" in beside
    assert [full for full, step in beside.items() if step.role == "statement"] == []
    assert beside.keys().isdisjoint(part for claim in judged for part in claim.parts("repaired"))


def test_no_more_is_put_into_a_sentence_than_its_words_say() -> None:
    for full in ("goldstein-convergence/what-is-averaged", "stochastic-oracles/dual-accuracy"):
        assert STATEMENTS[full].relation == "consequence", full
