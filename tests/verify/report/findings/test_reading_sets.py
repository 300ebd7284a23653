"""A statement under every literal reading: counts, what its failures share, and the smallest repairs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.claims import find
from tests import kept
from verify.evidence.model import Point, PremiseEvidence
from verify.evidence.rates.rates import fit_rate
from verify.report.findings.corrections import corrections_in, corrections_markdown
from verify.report.findings.outline import outline
from verify.report.findings.reading_sets import reading_set
from verify.report.formats.markdown import render_markdown
from verify.report.model import Result
from verify.verdict import Verdict

CHOICES = {
    "bias-bound": 24,
    "bias-bound/T3": 12,
    "bias-bound/uniformity": 6,
    "variance-bound/per-sample": 2,
    "dual-extraction": 24,
}


def made(claim, holding, repaired="SUPPORTED", repairs=(), kept=()):
    """The set where some literal readings, partial repairs and partly repaired texts, by choices, are supported."""
    statement = find(claim)
    statuses = {name: "SUPPORTED" if name in holding else "REFUTED" for name in statement.literal_readings}
    statuses.setdefault("as-written", "SUPPORTED" if "as-written" in holding else "REFUTED")
    for chosen, name in statement.repairs.items():
        statuses.setdefault(name, "SUPPORTED" if chosen in repairs else "REFUTED")
    for chosen, name in statement.kept.items():
        statuses[name] = "SUPPORTED" if chosen in kept else "REFUTED"
    statuses["repaired"] = repaired
    premises = (*find(claim.split("/")[0]).premises, *statement.premises)
    met = [PremiseEvidence(premise=premise.id, holds=True, finding="") for premise in premises]
    results = {name: [result(claim, name, verdict, met)] for name, verdict in statuses.items()}
    return reading_set(claim, statement, statuses, results)


def result(claim, reading, verdict, evidence=(), instance="toy1"):
    """A result of one verdict; of a rate it is of no more."""
    return Result(
        claim=claim, reading=reading, instance=instance, verdict=Verdict(verdict), sentence="", evidence=tuple(evidence)
    )


def power(exponent, variable="alpha", quantity="size"):
    """A rate that is exactly a power."""
    points = [Point(at=2.0**-k, measured=2.0 ** (-k * exponent)) for k in range(6)]
    return fit_rate(points, quantity=quantity, variable=variable)


@pytest.mark.parametrize(("claim", "count"), CHOICES.items())
def test_every_combination_of_literal_values_is_one_reading(claim, count):
    found = made(claim, find(claim).literal_readings)
    assert len(found.literal) == count
    assert found.said.removeprefix("by its own check ") == f"holds under all {count} literal readings"
    if "as-written" in find(claim).literal_readings:
        assert found.repaired_by == ""


def test_what_fails_is_named_by_what_it_shares():
    statement = find("dual-extraction")
    fixed = [n for n in statement.literal_readings if statement.interpreted(n).sense.multiplier_width == "fixed"]
    found = made("dual-extraction", fixed, repairs=[("multiplier_width",)])
    assert "holds under 12 of 24 literal readings; fails with ε_λ shrinking with δ: " in found.said
    assert found.repaired_by == "ε_λ fixed"


def test_where_no_value_describes_the_failures_they_are_listed():
    found = made("dual-extraction/T2", find("dual-extraction/T2").literal_readings[-1:])
    assert found.holding == 1
    assert found.said.count("ε_λ shrinking") == 2


def test_where_all_fail_the_first_and_last_are_told():
    found = made("bias-bound/T3", ())
    assert found.said.startswith("fails under all 12 literal readings")


def test_the_smallest_repairs_are_those_with_fewest_choices():
    alone = [("dual_term", "ramp_width"), ("inner_stop",)]
    assert made("bias-bound", (), repairs=alone).repaired_by == "ỹ stopped by its gradient"
    both = [("dual_term",), ("inner_stop",)]
    assert made("bias-bound", (), repairs=both).repaired_by == "the dual term cancelled, or ỹ stopped by its gradient"


def test_where_no_choice_suffices_what_else_the_repaired_text_has_is_said():
    weaker = made("bias-bound/T1", ())
    assert weaker.repaired_by == "ỹ stopped by its gradient; it then holds as O(α) where O(α³) is claimed"
    assert made("bias-bound/T1", (), repaired="REFUTED").repaired_by == ""
    # Without any choice made otherwise, where the repaired text holds so.
    assert made("bias-bound/T1", (), kept=[()]).repaired_by == "it holds as O(α) where O(α³) is claimed"


def test_a_set_that_was_not_run_whole_says_nothing():
    assert reading_set("bias-bound/T3", find("bias-bound/T3"), {"as-written": "REFUTED"}, {}) is None
    assert (
        reading_set("bias-bound", find("bias-bound"), dict.fromkeys(find("bias-bound").literal_readings, "REFUTED"), {})
        is None
    )


@given(st.data())
def test_the_count_is_that_of_the_supported(data):
    claim = data.draw(st.sampled_from(sorted(CHOICES)))
    names = find(claim).literal_readings
    holding = data.draw(st.sets(st.sampled_from(names)))
    found = made(claim, holding)
    assert found.holding == len(holding)
    assert all(one.words for one in found.literal)
    assert len({one.words for one in found.literal}) == len(names)


def judged_on(claim, holding, refuting):
    """Results of the literal readings of a claim, by the instances on which each is decided."""
    made = {}
    for name in find(claim).literal_readings:
        outcomes = [(i, Verdict.REFUTED) for i in refuting] if name == "as-written" else []
        outcomes += [(i, Verdict.SUPPORTED) for i in holding]
        made[name] = [
            Result(claim=claim, reading=name, instance=i, verdict=verdict, sentence="") for i, verdict in outcomes
        ]
    return made


@pytest.mark.parametrize(("holding", "count"), [(("two-of-three",), 0), (("toy1",), 11)])
def test_a_reading_is_said_to_hold_only_where_another_fails(holding, count):
    statement = find("bias-bound/T3")
    statuses = dict.fromkeys(statement.literal_readings, "SUPPORTED") | {"as-written": "REFUTED"}
    found = reading_set("bias-bound/T3", statement, statuses, judged_on("bias-bound/T3", holding, ("toy1",)))
    assert found.holding == count
    assert ("undecided" in found.said) == (count == 0)


def test_partial_repairs_are_held_against_the_repaired_bound_by_what_they_measured():
    claim, name = "inner-cost/total", "choose:inner_solver=averaged"
    statement = find(claim)
    results = {
        "as-written": [result(claim, "as-written", "REFUTED", [power(-6.5)])],
        name: [result(claim, name, "REFUTED", [power(-6.0)])],
    }
    statuses = dict.fromkeys(results, "REFUTED") | {"repaired": "SUPPORTED"}
    (repair,) = reading_set(claim, statement, statuses, results).repairs
    assert (repair.choices, repair.changed) == (("inner_solver",), "as O(α⁻⁶) where O(α⁻²) is claimed")
    # At α⁻⁶ with constant steps, no choice has to be made otherwise.
    results["as-written"] = [result(claim, "as-written", "REFUTED", [power(-6.0)])]
    (repair,) = reading_set(claim, statement, statuses, results).repairs
    assert repair.choices == ()
    # What measures nothing that has an order repairs nothing.
    results = {key: [result(claim, key, "REFUTED")] for key in results}
    assert reading_set(claim, statement, statuses | {"repaired": "REFUTED"}, results).repairs == ()


@pytest.mark.parametrize(("premise", "hypotheses"), [("strict-complementarity", ("strict-complementarity",)), ("", ())])
def test_a_hypothesis_is_added_where_it_excludes_what_refutes(premise, hypotheses):
    claim, statement = "bias-bound/T2", find("bias-bound/T2")
    unmet = [PremiseEvidence(premise="strict-complementarity", holds=False, finding="a row has multiplier 0")]
    statuses = dict.fromkeys((*statement.literal_readings, *statement.repairs.values()), "REFUTED")
    results = {name: [result(claim, name, "REFUTED", instance="weakly-active")] for name in statuses}
    name = statement.kept["multiplier_width",]
    there = result(claim, name, "NOT_APPLICABLE" if premise else "SUPPORTED", unmet if premise else (), "weakly-active")
    met = [PremiseEvidence(premise=p, holds=True, finding="") for p in ("feasible", "hessian-lipschitz")]
    met += [] if premise else [PremiseEvidence(premise="strict-complementarity", holds=True, finding="")]
    there = there.model_copy(update={"evidence": (*met, *there.evidence)})
    results[name] = [there, result(claim, name, "SUPPORTED", instance="toy1")]
    found = reading_set(claim, statement, statuses | {name: "SUPPORTED", "repaired": "SUPPORTED"}, results)
    if premise:
        assert [(r.choices, r.hypotheses) for r in found.repairs] == [(("multiplier_width",), hypotheses)]
        assert found.repaired_by == "ε_λ fixed and the hypothesis “strict-complementarity”"
        # On an instance that refutes nothing alone it would not be earned.
        results[name] = results[name][1:]
        found = reading_set(claim, statement, statuses | {name: "SUPPORTED", "repaired": "SUPPORTED"}, results)
        assert found.repairs[0].choices != ("multiplier_width",)
    else:
        # Met where the literal text fails, it is not what repairs it.
        assert all("strict-complementarity" not in repair.hypotheses for repair in found.repairs)


def test_a_hypothesis_that_the_ledger_finds_unneeded_is_none_of_the_repair():
    claim, statement = "variance-bound/per-sample", find("variance-bound/per-sample")
    statuses = dict.fromkeys((*statement.literal_readings, *statement.repairs.values()), "REFUTED")
    results = {name: [result(claim, name, "REFUTED")] for name in statuses}
    for need, said in (
        ("needed", "at most one draw a sample and the hypothesis “mean-square-smooth”; it then holds of "),
        ("not needed here", "at most one draw a sample; it then holds of "),
    ):
        found = reading_set(
            claim, statement, statuses | {"repaired": "SUPPORTED"}, results, {"mean-square-smooth": need}
        )
        assert found.repaired_by.startswith(said)


@pytest.mark.parametrize("finding", ["met by construction: the ramp is as wide", "width 3"])
def test_what_the_check_itself_sees_to_is_added_and_what_the_instance_has_is_not(finding):
    claim, statement = "hypergradient-accuracy", find("hypergradient-accuracy")
    statuses = dict.fromkeys((*statement.literal_readings, *statement.repairs.values()), "REFUTED")
    results = {name: [result(claim, name, "REFUTED")] for name in statuses}
    met = [PremiseEvidence(premise="wide-ramp", holds=True, finding=finding)]
    results["repaired"] = [result(claim, "repaired", "SUPPORTED", met)]
    (repair,) = reading_set(claim, statement, statuses | {"repaired": "SUPPORTED"}, results).repairs
    assert repair.choices == ("inner_stop", "accuracy")
    assert ("wide-ramp" in repair.hypotheses) == met[0].is_constructed
    assert "independent-rows" in repair.hypotheses


def test_where_fewer_choices_were_not_run_a_repair_is_one_at_most():
    claim, statement = "inner-cost/output-accuracy", find("inner-cost/output-accuracy")
    statuses = dict.fromkeys((*statement.literal_readings, *statement.repairs.values()), "REFUTED")
    found = reading_set(claim, statement, statuses | {"repaired": "SUPPORTED"}, {})
    assert found.repaired_by.startswith("at most decreasing steps, averaged and one draw a sample; it then holds of “")


@pytest.mark.parametrize(
    ("other", "said"), [("REFUTED", True), ("VACUOUS", True), ("INCONCLUSIVE", False), ("SUPPORTED", False)]
)
def test_a_part_falls_under_each_reading_where_each_is_decided_against_it(other, said):
    claim, statement = "bias-bound/black-box", find("bias-bound/black-box")
    statuses = dict.fromkeys(statement.literal_readings, other) | {"as-written": "REFUTED"}
    assert reading_set(claim, statement, statuses, {}).fails_throughout is said


def _dual(name):
    return find("bias-bound/T3").reading(name).dual_term


def test_what_cannot_be_met_and_what_is_not_judged_are_told_apart():
    claim, statement = "bias-bound/T3", find("bias-bound/T3")
    frozen, through, both = (n for n in statement.literal_readings if "shrinking" not in n and "weights" not in n)
    unmet = [PremiseEvidence(premise="dual-accuracy", holds=False, finding="of no derivative")]
    results = {
        frozen: [result(claim, frozen, "VACUOUS")],
        through: [result(claim, through, "SUPPORTED")],
        both: [result(claim, both, "NOT_APPLICABLE", unmet)],
    }
    for name in (frozen, through, both):
        for other in statement.literal_readings:
            if other != name and _dual(other) == _dual(name):
                results[other] = [one.model_copy(update={"reading": other}) for one in results[name]]
    found = reading_set(claim, statement, {name: str(r[0].verdict) for name, r in results.items()}, results)
    assert found.said == (
        "holds under 4 of 12 literal readings; cannot be met with ỹ* and λ̃ held fixed; "
        "not judged with ỹ* and λ̃ maps of x: “dual-accuracy” says nothing there: of no derivative"
    )


@pytest.fixture(scope="module")
def report():
    claims = ["smoothness", "bias-bound/T3", "inner-loop-remark/penalty-solve"]
    return kept.run(claims, instances=["two-of-three", "toy1"], profile="ci")


def test_the_domain_and_the_inner_workload_decide(report):
    sets = {entry.id: entry.literal for entry in outline(report).statements}
    for claim, values in {
        "bias-bound/T3": ("REFUTED",) * 4 + ("SUPPORTED",) * 8,
        "smoothness/bounded-gradient": ("VACUOUS", "SUPPORTED"),
        "inner-loop-remark/penalty-solve": ("REFUTED", "SUPPORTED"),
    }.items():
        assert tuple(str(one.status) for one in sets[claim].literal) == values, claim
        assert sets[claim].holding == values.count("SUPPORTED")
    # A linear f meets it on R^m, too; this quadratic one does not.
    verdicts = {
        r.reading: r.verdict
        for r in report.results
        if (r.claim, r.instance) == ("smoothness/f-lipschitz", "two-of-three")
    }
    assert (verdicts["as-written"], verdicts["choose:domain=compact"]) == (Verdict.REFUTED, Verdict.SUPPORTED)
    assert sets["smoothness/bounded-gradient"].repaired_by == "a compact domain"
    assert sets["inner-loop-remark/penalty-solve"].repaired_by == "it holds as O(α⁻²) where O(1) is claimed"


def test_a_false_note_does_not_make_an_assumption_impossible(report):
    (entry,) = [one for one in outline(report).claims if one.id == "smoothness"]
    note = entry.steps[[step.id for step in entry.steps].index("smoothness/bounded-gradient-note")]
    assert note.named["as-written"].status == Verdict.REFUTED
    assert entry.literal.parts == ()
    assert entry.literal.said == (
        "by its own check holds under 1 of 2 literal readings; fails with y ranging over R^m: 1 where 0 is claimed"
    )
    assert entry.named["as-written"].is_mixed


def test_a_claims_set_is_of_its_own_check_and_names_the_parts_it_falls_with(report):
    rows = [
        row.model_copy(update={"status": Verdict.REFUTED}) if row.claim == "smoothness/g-smooth" else row
        for row in report.summary
    ]
    (entry,) = [one for one in outline(report.model_copy(update={"summary": tuple(rows)})).claims
                if one.id == "smoothness"]  # fmt: skip
    assert entry.literal.said.startswith("by its own check holds under 1 of 2 literal readings; ")
    assert entry.literal.said.endswith("it falls under each with `smoothness/g-smooth`")
    assert "smoothness/bounded-gradient" not in entry.literal.parts
    # It is not said to hold under some readings where a part fells it under each.
    assert not entry.named["as-written"].is_mixed
    by_reading = {row.reading: row for row in report.summary if row.claim == "smoothness"}
    assert by_reading["choose:domain=compact"].status is Verdict.SUPPORTED
    whole = report.model_copy(update={"summary": tuple(r for r in report.summary if "g-smooth" not in r.claim)})
    (entry,) = [one for one in outline(whole).claims if one.id == "smoothness"]
    assert entry.literal.parts == ()


def test_corrections_and_pages_tell_what_the_words_allow(report):
    text = corrections_markdown(corrections_in(report))
    section = text.split("## bias-bound/T3")[1].split("\n## ")[0]
    assert "* as its words allow: holds under 8 of 12 literal readings; fails with ỹ* and λ̃ held fixed: α⁻²" in section
    assert "* smallest repair: the dual term cancelled." in section
    whole = render_markdown(report)
    # A text that holds in some of its readings is marked as neither refuted nor supported.
    assert "| `bias-bound/T3` | ⬖ 8 of 12 readings hold |" in whole
    table = whole.split("Every literal reading")[1]
    assert "it holds as O(α⁻²) where O(1) is claimed" in table
