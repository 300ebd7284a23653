"""Each way to have something false called proven that a reader thought of is refused, in a line."""

from __future__ import annotations

import shutil
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.verify.proofs.edited_proofs import OPENING, RECORD, edit, lines, needs_coq
from verify.cli.main import invoke
from verify.proofs.kernel import coq_checking, proof_record
from verify.proofs.kernel import standings as standings_module
from verify.proofs.kernel.coq_checking import CoqOutcome, check
from verify.proofs.kernel.coq_run import ALLOWED, CoqRun, axioms_in
from verify.proofs.kernel.coq_sources import CoqSource
from verify.proofs.kernel.proof_record import ProofRecord, digest
from verify.proofs.kernel.theorems import Theorem, TheoremTable, load_theorems

TABLE = load_theorems()
NORM = "Definition norm {V : space} (v : V) := sqrt (inner v v)."
QED = "Proof. now rewrite inner_sym, inner_add, (inner_sym _ u), (inner_sym _ v). Qed."
BAD = "Fixpoint bad (n : nat) : False := bad n."


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (NORM, f"#[local] {NORM}", "says #[, an attribute"),
        (QED, f'Proof. idtac "(*". Unset Guard Checking. {BAD} idtac "*)". auto. Qed.', 'says "'),
        (OPENING, f'{OPENING}\n(* " *) Section fake. (* " *) Hypothesis a\u00a0b : False. End fake.', 'says "'),
        (OPENING, f"{OPENING}\nProgram Definition a\u00a0b : False := _. Admit Obligations.", "outside of a comment"),
        (OPENING, f"{OPENING}\nProgram Definition a : False := _.", "says Program"),
        (OPENING, f"{OPENING}\nLemma\ta : True.", "has '\\t' outside of a comment"),
        (OPENING, f"{OPENING} *)", "has a comment that is not closed, or not opened"),
        (OPENING, "Local Open Scope R_scope.(* *)Set Guard Checking.", "has a full stop that ends no sentence"),
        (OPENING, f"{OPENING}\nSet Universe Checking.", "of no known kind: Set Universe"),
        (OPENING, f"{OPENING}\nExample a : True. Proof. auto. Qed.", "of no known kind: Example a"),
        (OPENING, f"{OPENING}\nModule hilbert. End hilbert.", "says Module"),
        (OPENING, f"{OPENING}\nExisting Class space.", "of no known kind: Existing"),
        (OPENING, f"{OPENING}\nImport Rdefinitions.", "of no known kind: Import Rdefinitions"),
        (OPENING, f"{OPENING}\nRequire Import ClassicalEpsilon.", "of no known kind: Require"),
        (OPENING, f"{OPENING}\nGlobal Open Scope nat_scope.", "of no known kind: Global"),
        (OPENING, f"{OPENING}\nLocal Definition sub := 0.", "of no known kind: Local Definition"),
        (OPENING, f"{OPENING}\nLet sub := 0.", "has a Let outside of a section"),
        (QED, "Proof. Fixpoint f (n : nat) : nat := n. auto. Qed.", "no tactic: Fixpoint f"),
        (QED, f"Proof. 1: {{ Fail Check bad. }} {QED[7:]}", "no tactic: 1: { Fail Check bad"),
        (QED, "Proof. all: { auto. } Qed.", "no tactic: all: { auto"),
        (QED, "Proof. Abort.", "no tactic: Abort"),
        (QED, "now auto. Qed.", "has no proof after: Lemma inner_add_r"),
        (OPENING, f"{OPENING}\nLemma a : True := I.", "has no proof after: Lemma a"),
        (OPENING, f"{OPENING}\nProof. auto. Qed.", "has a proof of nothing: Proof"),
    ],
)  # fmt: skip
def test_a_file_says_nothing_but_known_sentences(folder: Path, old: str, new: str, told: str) -> None:
    (line,) = lines(check(record=edit(folder, "hilbert", (old, new)), folder=folder, coqc=None))
    assert line.startswith("hilbert.v ")
    assert told in line


def test_a_file_ends_within_no_proof_and_no_comment() -> None:
    assert CoqSource("a", b"Lemma one : True.\nProof. auto.").faults() == ["a.v ends within a proof"]
    assert CoqSource("a", b"(* (* *)").faults() == ["a.v has a comment that is not closed, or not opened"]
    assert CoqSource("a", b"Lemma one : True.").faults() == ["a.v ends within a proof"]
    assert CoqSource("a", "(* ‖v‖ *)\nLemma one : True.\nProof. - auto. Qed.".encode()).faults() == []


def test_definitions_are_found_wherever_they_stand() -> None:
    text = b"(* *) Definition one := 1. Section s. Definition\n two' := 2. End s. Record r := Made { part : nat }."
    source = CoqSource("a", text)
    assert source.definitions == ["a.one", "a.two'", "a.r"]
    assert {"a.Made", "a.part"} <= source.parts


def test_a_file_of_another_kind_of_name_is_refused(folder: Path) -> None:
    shutil.copy(folder / "toys.v", folder / "Rdefinitions.v")
    assert "'Rdefinitions' is no name of a file of proofs" in lines(check(record=RECORD, folder=folder, coqc=None))


def _edited(**theorems: str | tuple[str, ...]) -> ProofRecord:
    one = RECORD.theorems["hilbert.triangle"].model_copy(update=theorems)
    return RECORD.model_copy(update={"theorems": RECORD.theorems | {"hilbert.triangle": one}})


@pytest.mark.parametrize(
    "record",
    [
        _edited(statement="hilbert.triangle : False"), _edited(explicit="hilbert.triangle : False"), _edited(axioms=()),
        RECORD.model_copy(update={"coq": "9.0.0"}),
        RECORD.model_copy(update={"definitions": {}}),
    ],
    ids=["statement", "explicit", "axioms", "version", "definitions"],
)  # fmt: skip
def test_without_coq_an_edited_record_is_refused(record: ProofRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = lines(check(record=record, coqc=None))
    assert line == "proofs.json is not the record that the package knows: it was edited since"
    monkeypatch.setattr(standings_module, "_shipped", lambda: record)
    assert standings_module.on_record.__wrapped__().words == f"refused: {line}"


def test_the_command_refuses_an_edited_record(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_: None)
    monkeypatch.setattr(
        "verify.cli.statements.prove.load_record", lambda: _edited(statement="hilbert.triangle : False")
    )
    assert invoke(["prove"]) == 1
    assert capsys.readouterr().out.count("\n") == 1


def test_recording_writes_the_record_and_its_hash() -> None:
    texts = proof_record.files(RECORD)
    module = types.ModuleType("written")
    exec(texts["record_digest.py"], module.__dict__)
    assert module.__dict__["DIGEST"] == digest(RECORD) == proof_record.DIGEST
    assert texts == {name: (proof_record.RECORD.parent / name).read_text(encoding="utf-8") for name in texts}


@pytest.mark.usefixtures("renewed")
@pytest.mark.parametrize("name", ["sources", "theorems"])
def test_what_is_on_record_and_nowhere_else_is_refused(name: str) -> None:
    more = {"other": ""} if name == "sources" else {"hilbert.other": RECORD.theorems["hilbert.triangle"]}
    record = RECORD.model_copy(update={name: getattr(RECORD, name) | more})
    (line,) = lines(check(record=record, coqc=None))
    assert line.startswith(("other.v is on record", "hilbert.other is on record and not in the table"))


def _table(name: str, **changes: str | tuple[str, ...]) -> TheoremTable:
    rows = [row.model_copy(update=changes) if row.coq == name else row for row in TABLE.theorem]
    return TABLE.model_copy(update={"theorem": tuple(rows)})


def test_the_words_of_a_theorem_are_bound_to_its_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    told = "is described otherwise than on record"
    (line,) = lines(check(record=RECORD, table=_table("hilbert.triangle", says="‖v + w‖ ≤ ‖v‖ / 2"), coqc=None))
    assert line.startswith(f"hilbert.triangle {told}")
    monkeypatch.setattr(TheoremTable, "deviations", lambda _: [])
    (line,) = lines(check(record=RECORD, table=_table("bias.bias_bound_alpha2", asks=()), coqc=None))
    assert line.startswith(f"bias.bias_bound_alpha2 {told}")
    weaker = [one.model_copy(update={"text": "nothing"}) if one.id == "kkt" else one for one in TABLE.premise]
    found = lines(check(record=RECORD, table=TABLE.model_copy(update={"premise": tuple(weaker)}), coqc=None))
    assert len(found) == sum("kkt" in theorem.asks for theorem in TABLE.theorem) > 0


def test_assumptions_are_read_as_a_whitelist() -> None:
    name, says = next(iter(ALLOWED.items()))
    assert axioms_in("Closed under the global context\n") == ()
    assert axioms_in(f"Axioms:\n{name} : {says}\n") == (name,)
    assert axioms_in(f"Axioms:\n{name}\n  : {says.replace(', ', ',' + chr(10) + '    ')}\n") == (name,)
    for line in ("bad is assumed to be guarded.", "a\u00a0b : False", f"{name} : False", f"f2csa.{name} : {says}"):
        assert set(axioms_in(f"Axioms:\n{name} : {says}\n{line}\n")) - ALLOWED.keys() == {" ".join(line.split())}
    for text in ("", "Axioms:", "Closed under the global context\na : False", f"Section Variables:\n{name} : {says}"):
        assert set(axioms_in(text)) - ALLOWED.keys()


@pytest.fixture
def fake(tmp_path: Path) -> Callable[[str], str]:
    """A program that is not Coq, from the lines of a shell script."""

    def made(script: str) -> str:
        path = tmp_path / "coqc"
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    return made


VERSION = 'test "$1" = --version && echo "The Coq Proof Assistant, version 9.0.0" && exit 0\n'


@pytest.mark.skipif(shutil.which("sh") is None, reason="the programs are shell scripts")
@pytest.mark.parametrize(
    ("script", "told"),
    [
        # Coq's file is the seventh argument.
        ("exit 0", "coqc tells no version: it is no coqc that could check anything"),
        ("exit 127", "coqc tells no version: it is no coqc that could check anything"),
        (VERSION + "exit 127", "hilbert.v does not compile: coqc ended with 127 and said nothing"),
        (VERSION + "echo no >&2; exit 1", "hilbert.v does not compile: no"),
        (VERSION + "true", "coqc ends well and has not compiled hilbert.v"),
        (VERSION + "touch hilbert.vo", "coqc ends well and says nothing of the statement hilbert.triangle"),
        (VERSION + "touch hilbert.vo; test hilbert.v = $7", "Coq does not answer about the theorems: coqc ended"),
    ],
)  # fmt: skip
def test_a_program_that_is_not_coq_gets_a_line(fake: Callable[[str], str], script: str, told: str) -> None:
    (line,) = lines(check(["hilbert.triangle"], record=RECORD, coqc=fake(script)))
    assert line.startswith(told)


def test_a_program_that_cannot_be_run_gets_a_line(tmp_path: Path) -> None:
    (line,) = lines(check(["hilbert.triangle"], record=RECORD, coqc=str(tmp_path / "none")))
    assert "tells no version" in line


@pytest.mark.skipif(shutil.which("sh") is None, reason="the program is a shell script")
def test_no_variable_has_coq_read_other_libraries(
    fake: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("COQPATH", "COQLIB", "COQBIN", "COQCORELIB", "ROCQPATH", "ROCQLIB", "OCAMLPATH", "OCAMLFIND_CONF")
    for name in (*names, "XDG_DATA_HOME", "XDG_DATA_DIRS"):
        monkeypatch.setenv(name, "/elsewhere")
    place = tmp_path / "place"
    place.mkdir()
    told = CoqRun(place, fake("env"), {}).coqc("a.v").stdout
    assert "PATH=" in told
    assert "/elsewhere" not in told


def test_another_version_is_told_beside_the_one_on_record() -> None:
    words = CoqOutcome("re-checked", "9.0.0", (), on_record="8.16.1").words
    assert words == "re-checked in this run with Coq 9.0.0 (on record: 8.16.1)"
    assert "on record" not in CoqOutcome("re-checked", "8.16.1", (), on_record="8.16.1").words


TINY = """From Coq Require Import Reals.
Local Open Scope R_scope.
Record space := Space { point :> Type; size : point -> R }.
Arguments size {_}.
Definition flat (V : space) : space := Space (point V) (fun _ => 0).
Definition weight (a : R) := a.
Theorem bound (V : space) (v : V) : size v <= Rabs (size v) \\/ weight 0 = 1.
Proof. left. apply Rle_abs. Qed.
"""
SWAPPED = ("Definition weight (a : R) := a.", "Lemma weight (a : R) : R.\nProof. exact 1. Qed.")
HIDDEN = (("size v <=", "@size (flat V) v <="), ("apply Rle_abs", "apply Rabs_pos"))


class Tiny:
    """One small file of proofs, recorded by Coq."""

    def __init__(self, folder: Path) -> None:
        """Write it and have it recorded."""
        row = Theorem(coq="tiny.bound", says="‖v‖ ≤ |‖v‖|", helps=True)
        self.table = TheoremTable(order=("tiny",), premise=(), theorem=(row,), settled=())
        self.folder = folder
        made = self.check(None).record
        assert made is not None
        self.record = made

    def check(self, record: ProofRecord | None, *changes: tuple[str, str]) -> CoqOutcome:
        """Check the file after changes, its hash renewed."""
        text = TINY
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (self.folder / "tiny.v").write_text(text, encoding="utf-8")
        if record is not None:
            record = record.model_copy(update={"sources": {"tiny": CoqSource("tiny", text.encode()).digest}})
        return check(folder=self.folder, record=record, table=self.table)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TheoremTable, "deviations", lambda _: [])
        return Tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def tiny(recorded: Tiny, renewed: None, monkeypatch: pytest.MonkeyPatch) -> Tiny:
    monkeypatch.setattr(TheoremTable, "deviations", lambda _: [])
    return recorded


@needs_coq
def test_a_hidden_argument_is_seen(tiny: Tiny) -> None:
    outcome = tiny.check(tiny.record, *HIDDEN)
    assert outcome.record is not None
    assert outcome.record.theorems["tiny.bound"].statement == tiny.record.theorems["tiny.bound"].statement
    (line,) = lines(outcome)
    assert line.startswith("tiny.bound states otherwise than on record, which only its hidden arguments show")


@needs_coq
def test_a_definition_on_record_is_one_still_and_no_lemma(tiny: Tiny) -> None:
    found = lines(tiny.check(tiny.record, SWAPPED))
    assert found == (
        "tiny.bound is made of tiny.weight, which is no definition that is recorded",
        "tiny.weight is on record and defined no more",
    )


@needs_coq
def test_a_statement_is_made_of_nothing_but_what_is_recorded(tiny: Tiny) -> None:
    hidden = ("Definition weight (a : R) := a.", "Fixpoint other (n : nat) := 0 with weight (a : R) (n : nat) := a.")
    found = lines(tiny.check(tiny.record, hidden, ("weight 0", "weight 0 O")))
    assert any(line.startswith("tiny.bound is made of tiny.weight, which is no definition") for line in found)


@needs_coq
def test_the_axioms_of_each_theorem_are_held_against_the_record(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coq_checking, "SEPARATE", 0)
    bare = {name: one.model_copy(update={"axioms": ()}) for name, one in tiny.record.theorems.items()}
    (line,) = lines(tiny.check(tiny.record.model_copy(update={"theorems": bare})))
    assert line.startswith("tiny.bound rests on sig_forall_dec")
    assert line.endswith("on record: no axiom")
