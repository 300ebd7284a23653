"""Proofs on record are accepted, all else is refused in one line, and nothing counts as re-checked that was not."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from spec import InvalidInputError
from spec.claims import load_claims
from tests.verify.proofs.edited_proofs import OPENING, RECORD, edit, lines, needs_coq
from verify.cli.main import invoke
from verify.cli.statements.claims import proof_lines
from verify.proofs.kernel import standings as standings_module
from verify.proofs.kernel.coq_checking import CoqOutcome, check
from verify.proofs.kernel.coq_run import ALLOWED
from verify.proofs.kernel.coq_sources import FOLDER, uncommented
from verify.proofs.kernel.proof_record import RecordedDefinition
from verify.proofs.kernel.standings import counts, standings
from verify.proofs.kernel.theorems import Settled, TheoremTable, load_theorems, parse_table
from verify.report.formats.proven_page import page

TABLE = load_theorems()
SMALL = ("hilbert.cauchy_schwarz",)
"""A theorem of a file that builds on no other, so that a test compiles that one alone."""


def test_the_table_and_the_catalogue_match_both_ways() -> None:
    assert TABLE.deviations() == []
    statements = {full for claim in load_claims().values() for full, _ in claim.statements()}
    placed = {row.statement for row in TABLE.settled if row.reading == "repaired"} | TABLE.reasons.keys()
    assert placed == statements
    assert RECORD.theorems.keys() == TABLE.theorems.keys()


def test_only_statements_with_a_goal_of_their_own_are_proven() -> None:
    found = counts()
    # A goal proves a formula; where the words say more, the statement is proven in part.
    assert 5 <= found["proven"] <= len(RECORD.goals)
    assert found["proven"] + found["part"] + found["left"] == sum(
        1 for c in load_claims().values() for _ in c.statements()
    )


def test_the_readme_counts_as_the_data_do() -> None:
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    found = counts()
    assert f"Of {found['proven']} repaired" in readme
    assert f"{found['part']} are proven in part" in readme


def test_every_recorded_proof_rests_on_the_axioms_of_the_reals_alone() -> None:
    assert {axiom for theorem in RECORD.theorems.values() for axiom in theorem.axioms} <= set(ALLOWED)
    assert all(theorem.statement.startswith(f"{name} ") for name, theorem in RECORD.theorems.items())


def test_without_coq_a_proof_is_recorded_and_no_more() -> None:
    outcome = check(record=RECORD, coqc=None)
    assert outcome.state == "recorded"
    assert "not re-checked here" in outcome.words
    assert outcome.record is None


def test_without_coq_an_edited_or_missing_file_is_refused(folder: Path) -> None:
    edit(folder, "shift", ("(* |y - ys|", "(* So |y - ys|"))
    assert lines(check(record=RECORD, folder=folder, coqc=None)) == (
        "shift.v is not the file on record: it was edited since",
    )
    (folder / "shift.v").unlink()
    assert lines(check(record=RECORD, folder=folder, coqc=None)) == ("shift.v is missing",)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Qed.", "Admitted.", "says Admitted"),
        (OPENING, OPENING + "\nAxiom free : 0 = 1.", "says Axiom"),
        (OPENING, OPENING + "\nParameter free : 0 = 1.", "says Parameter"),
        (OPENING, "Unset Guard Checking.", "says Unset"),
        (OPENING, "#[bypass_check(guard)] Fixpoint f (n : nat) : False := f n.", "says #["),
        (OPENING, 'Notation "a <= b" := True.', 'says "'),
        (OPENING, "Hypothesis free : False.", "has a Hypothesis outside of a section"),
        (OPENING, "Section s.\nEnd s.\nContext (free : False).", "has a Context outside of a section"),
        ("From Coq Require", "From mathcomp Require", "builds on mathcomp"),
        ("Theorem triangle", "Theorem other (a : R) : a = a. Proof. auto. Qed.\nTheorem triangle", "not in the table"),
        ("Theorem triangle", "Lemma triangle", "declared in no file"),
    ],
)  # fmt: skip
def test_what_a_file_must_not_say_is_refused_before_coq_is_asked(folder: Path, old: str, new: str, told: str) -> None:
    record = edit(folder, "hilbert", (old, new))
    found = lines(check(record=record, folder=folder, coqc=None))
    assert len(found) == 1
    assert told in found[0]


def test_a_comment_may_say_anything_and_hides_nothing() -> None:
    assert uncommented("a (* Axiom (* nested *) still *) b").split() == ["a", "b"]
    assert "Admitted" in uncommented("(* (* *) *) Admitted.")


def test_a_file_outside_of_the_order_is_refused(folder: Path) -> None:
    (folder / "more.v").write_text("Definition one := 1.", encoding="utf-8")
    assert lines(check(record=RECORD, folder=folder, coqc=None)) == ("more.v is of no file in the order",)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('statement = "bias-bound/T2"', 'statement = "bias-bound/T9"', ("has no bias-bound/T9", "T2 has no theorem")),
        ('by = ["steps.three_terms"]', 'by = ["steps.four_terms"]', ("no theorem is named steps.four_terms",)),
        ('coq = "toys.kink"', 'coq = "toys.kinks"', ("no theorem is named toys.kink", "toys.kinks must settle")),
        ('"consistency/labels", ', "", ("consistency/labels has no theorem and no reason",)),
        ('kkt = "strict-complementarity"', 'kkt = "wishes"', ("has no premise wishes to grant kkt",)),
        ("helps = true\n", "", ("must settle a statement, or say that it helps",)),
    ],
)  # fmt: skip
def test_names_that_do_not_match_are_told(old: str, new: str, told: tuple[str, ...]) -> None:
    text = (FOLDER.parent / "theorems.toml").read_text(encoding="utf-8")
    assert old in text
    found = "\n".join(parse_table(text.replace(old, new, 1)).deviations())
    assert all(line in found for line in told), found


def test_a_table_with_a_field_nobody_knows_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="is not a field"):
        parse_table("order = []\npremise = []\ntheorem = []\nsettled = []\nproven = true\n")


def test_a_premise_that_a_statement_does_not_grant_is_a_gap() -> None:
    (row,) = [one for one in TABLE.settling("bias-bound/explicit") if one.reading == "repaired"]
    assert TABLE.gaps(row) == []
    ungranted = Settled(statement=row.statement, by=row.by)
    assert TABLE.premises["kkt"].text in TABLE.gaps(ungranted)
    (shown,) = [one for one in standings("bias-bound/T2") if one.grade != "refuted"]
    assert shown.gaps[0] == TABLE.premises["quadratic"].text
    assert all("solution-error/convexity-source" in text for text in shown.gaps[1:])
    assert any("a premise more than the statement has: g is quadratic" in line for line in proof_lines("bias-bound/T2"))


def test_a_report_runs_no_coq_and_never_says_re_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("a program was started"))
    standings_module.on_record.cache_clear()
    every = [one for claim in load_claims().values() for full, _ in claim.statements() for one in standings(full)]
    assert {one.outcome.state for one in every} == {"recorded"}
    assert all("not re-checked here" in one.headline for one in every)


def test_what_is_refused_proves_nothing() -> None:
    refused = CoqOutcome("refused", "8.16.1", (), ("shift.v is missing",))
    assert {one.grade for one in standings("bias-bound/T3", refused)} == {"no proof"}
    assert all(one.headline.startswith("no proof counts: refused: shift.v") for one in standings("bias-bound", refused))


def test_the_page_is_what_the_data_make() -> None:
    path = Path(__file__).parents[3] / "docs" / "theorems.md"
    assert path.read_text(encoding="utf-8") == page(TABLE), (
        "python -m verify.report.formats.proven_page > docs/theorems.md"
    )


def test_the_command_without_coq(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_: None)
    assert invoke(["prove"]) == 0
    assert f"{len(TABLE.theorem)} theorems: recorded with Coq 8.16.1, not re-checked here (no coqc)" in " ".join(
        capsys.readouterr().out.split()
    )
    assert invoke(["prove", "bias-bound/T3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["state"] == "recorded"
    assert {one["coq"] for one in told["theorems"]} >= {"bias.bias_bound_alpha2", "toys.T3_frozen_refuted"}
    for wrong in (["--kernel"], ["--record"], ["bias.no_such"], ["consistency/labels"], ["toys.kink", "--record"]):
        assert invoke(["prove", *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_the_command_refuses_in_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "toys.v").unlink()
    monkeypatch.setattr("verify.cli.statements.prove.check", lambda names, **how: check(names, folder=folder, **how))
    assert invoke(["prove"]) == 1
    assert capsys.readouterr().out == "refused: toys.v is missing\n"


@needs_coq
def test_coq_agrees_with_the_record_and_the_package_stays_as_it_is() -> None:
    before = sorted(path.name for path in FOLDER.iterdir())
    outcome = check(SMALL, record=RECORD)
    assert (outcome.state, outcome.refusals) == ("re-checked", ())
    assert outcome.record is not None
    assert outcome.record.theorems == {name: RECORD.theorems[name] for name in SMALL}
    assert sorted(path.name for path in FOLDER.iterdir()) == before


CAUCHY = "Theorem cauchy_schwarz (V : space) (v w : V) : inner v w <= norm v * norm w.\nProof.\n"


@needs_coq
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (((CAUCHY, CAUCHY.replace("<= norm v", "<= 1 * norm v") + "  rewrite Rmult_1_l.\n"),),
         "hilbert.cauchy_schwarz states otherwise"),
        (((CAUCHY, CAUCHY.replace(": inner v", ": 0 <= 1 -> inner v") + "  intros _.\n"),),
         "hilbert.cauchy_schwarz states otherwise"),
        ((("From Coq Require Import Reals", "From Coq Require Import Classical_Prop Reals"),
          (CAUCHY, CAUCHY + "  pose proof (classic True) as _.\n")), "rests on Classical_Prop.classic : "),
        (((CAUCHY, CAUCHY.replace("norm v * norm w.", "0.")),), "hilbert.v does not compile"),
    ],
    ids=["statement", "premise", "axiom", "false"],
)  # fmt: skip
def test_tampering_that_also_mends_the_hash_is_refused_by_coq(
    folder: Path, changes: tuple[tuple[str, str], ...], told: str
) -> None:
    record = edit(folder, "hilbert", *changes)
    found = lines(check(SMALL, record=record, folder=folder))
    assert told in found[0]
    assert len({line.split(" ")[0] for line in found}) == len(found)


@needs_coq
@pytest.mark.usefixtures("renewed")
def test_a_definition_that_is_not_the_recorded_one_is_refused() -> None:
    norm = RecordedDefinition(text="hilbert.norm = inner", explicit="hilbert.norm = inner")
    record = RECORD.model_copy(update={"definitions": RECORD.definitions | {"hilbert.norm": norm}})
    (line,) = lines(check(SMALL[:1], record=record))
    assert line.startswith("hilbert.norm is defined otherwise than on record")


def test_the_table_says_what_it_says() -> None:
    assert isinstance(TABLE, TheoremTable)
    assert all(one.says for one in TABLE.theorem)
