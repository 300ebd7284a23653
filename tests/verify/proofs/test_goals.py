"""A statement is proven by a theorem printed from its own formula; what is edited by hand since proves nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spec import InvalidInputError
from spec.formulas import parse_formula
from tests.verify.proofs.edited_proofs import RECORD, needs_coq
from verify.campaign.plan import Task, perform
from verify.proofs.kernel.coq_checking import check
from verify.proofs.kernel.coq_run import CoqRun
from verify.proofs.kernel.coq_sources import FOLDER, needed, read_sources
from verify.proofs.kernel.goal_printing import print_sentence
from verify.proofs.kernel.goals import GOALS, compile_goals, goal_deviations, load_goals
from verify.proofs.kernel.standings import NO_GOAL, standings
from verify.proofs.kernel.theorems import load_theorems, parse_table
from verify.subjects.loading import load_subject
from verify.subjects.subject_names import REFERENCE
from verify.verdict import Decision, Verdict

TABLE = load_theorems()
TEXT = (FOLDER.parent / "theorems.toml").read_text(encoding="utf-8")


def test_a_sentence_is_printed_from_its_formula() -> None:
    sentence = print_sentence(parse_formula("norm(jac_h) <= norm(A) + norm(B)"), [])
    assert sentence.opening.splitlines()[-2:] == [
        "Definition sentence : Prop :=",
        "  (spectral_p_nm (fun point => (jac_h point))) <= ((spectral_p_n (times A)) + (spectral_p_m (times B))).",
    ]
    assert "Hypothesis spectral_p_n_is : is_spectral spectral_p_n." in sentence.opening
    assert sentence.theorem == "Theorem statement : sentence."


def test_constants_of_an_order_are_chosen_before_alpha_and_the_errors() -> None:
    formula = parse_formula("sup(norm(T1), e_y) <= O(alpha)")
    opening = print_sentence(formula, [("small", parse_formula("alpha <= 1")), ("strong", parse_formula("mu_g > 0"))])
    text = " ".join(opening.opening.partition("Definition sentence")[2].split())
    assert re.search(r"exists C alpha_0, 0 < alpha_0 /\\ forall alpha, 0 < alpha <= alpha_0 -> forall e_ys", text)
    assert "(alpha <= 1) -> (@norm X (T1 alpha e_ys e_lam e_y)) <= C * alpha." in text
    assert "Hypothesis premise_strong : mu_g > 0." in opening.opening


def test_what_has_no_term_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="must be of what has a term"):
        print_sentence(parse_formula('observed("calls") <= 1'), [])


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('statement = "inner-cost/smoothness"\nby = ["convexity.steep", "budget.curvature_le"]',
         'statement = "inner-cost/smoothness"\nby = ["steps.part_of_whole"]', "inner-cost/smoothness"),
        ('short = [\n  "the constants √κ_g and', 'under = []\n[[nothing]]\nshort = [\n  "', "bias-bound/T3"),
        ('granted = { weights = "strict-complementarity" }', 'granted = { weights = "licq" }', "weighted-rows"),
    ],
)  # fmt: skip
def test_an_edited_map_is_refused(old: str, new: str, told: str) -> None:
    assert old in TEXT
    if "[[nothing]]" in new:
        text = re.sub(r'short = \[\n  "the constants √κ_g and[^\]]*\]\n', "", TEXT, count=1)
    else:
        text = TEXT.replace(old, new, 1)
    outcome = check(record=RECORD, table=parse_table(text), coqc=None)
    assert outcome.state == "refused"
    assert any(told in line for line in outcome.refusals)


def test_an_edited_formula_takes_the_proof_away(monkeypatch: pytest.MonkeyPatch) -> None:
    assert goal_deviations(RECORD.goals, TABLE) == {}
    real = parse_formula

    def edited(text: str, *where: str) -> object:
        return real(text.replace("<= norm(A) + norm(B)", "<= norm(A) + norm(B) / 2"), *where)

    monkeypatch.setattr("spec.claim_parts.parse_formula", edited)
    found = goal_deviations(RECORD.goals, TABLE)
    assert found == {
        "dual-extraction/jacobian-bound":
            "dual-extraction/jacobian-bound is stated or proven otherwise than on record: no proof counts"
    }  # fmt: skip


def test_a_proof_that_is_edited_or_missing_is_told(tmp_path: Path) -> None:
    for path in GOALS.glob("*.v"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "bias-bound.triangle.v").unlink()
    with (tmp_path / "solution-error.y-part.v").open("a") as file:
        file.write("Axiom more : False.\n")
    found = goal_deviations(RECORD.goals, TABLE, tmp_path)
    assert sorted(found) == ["bias-bound/triangle", "solution-error/y-part"]
    goals, _ = load_goals(TABLE, tmp_path)
    assert any("says Axiom" in line for line in goals["solution-error/y-part"].faults())


def test_without_a_goal_a_statement_is_proven_in_part() -> None:
    (with_goal,) = standings("bias-bound/triangle")
    assert (with_goal.grade, with_goal.lacks) == ("proven", ())
    (without,) = [one for one in standings("bias-bound/T2") if one.row.reading == "repaired"]
    assert (without.grade, without.lacks[-1]) == ("proven in part", NO_GOAL)


@needs_coq
def test_coq_proves_the_sentence_and_not_another(tmp_path: Path) -> None:
    run = CoqRun(tmp_path, "coqc", read_sources())
    assert run.compile(needed(dict(run.sources), TABLE.order, {"terms", "steps"})) == []
    goals, _ = load_goals(TABLE)
    name = "bias-bound/penalty-weights"
    assert compile_goals(run, {name: goals[name]}) == []
    wrong = print_sentence(parse_formula("alpha_1 + alpha_2 == Theta(alpha^-3)"), [])
    other = type(goals[name])(goals[name].row, wrong, goals[name].proof)
    (line,) = compile_goals(run, {name: other})
    assert line.startswith(f"{name} is not proven by its goal")


def test_a_verdict_against_a_proven_statement_is_a_fault_that_shows_both(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Task(claim="dual-extraction/jacobian-bound", reading="repaired", instance="toy1", profile="smoke",
                subject=REFERENCE, seed=0)  # fmt: skip
    refuted = Decision(Verdict.REFUTED, "Refuted: 2 > 1.")
    monkeypatch.setattr("verify.campaign.plan.decide", lambda *_: refuted)
    result = perform(task, load_subject(REFERENCE))
    assert result.verdict is None
    assert result.fault is not None
    assert "Refuted: 2 > 1. But it is proven: Proven for every problem" in result.fault
