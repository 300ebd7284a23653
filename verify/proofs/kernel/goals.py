"""Goals: each statement that is called proven has a theorem of its own, whose sentence is printed from the spec.

``coq/goals/CLAIM.STEP.v`` holds the proof alone: imports, lemmas, the line ``Goal.`` where the printed sentence goes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from spec.claims import Statement, load_claims
from spec.errors import InvalidInputError
from spec.formulas import Node
from verify.proofs.kernel.coq_run import ALLOWED, CoqRun, axioms_in
from verify.proofs.kernel.coq_sources import FOLDER, CoqSource
from verify.proofs.kernel.goal_printing import THEOREM, Sentence, print_sentence
from verify.proofs.kernel.theorems import Settled, TheoremTable

GOALS = FOLDER / "goals"
LIBRARY = "From Coq Require Import Reals.\nFrom f2csa Require Import hilbert outer rows terms."
MARK = "Goal."
_IMPORT = re.compile(r"From (?:Coq|f2csa) Require Import [\w. ]+\.")
_OWN = re.compile(r"(?:Lemma|Ltac) .*")


@dataclass(frozen=True)
class Goal:
    """A statement's theorem.

    Args:
        row: Which statement, by which theorems, under which of its premises.
        sentence: Printed.
        proof: The file's text.
    """

    row: Settled
    sentence: Sentence
    proof: str

    @property
    def name(self) -> str:
        """Of its file when it is compiled."""
        return "goal_" + re.sub(r"\W", "_", self.row.statement)

    @cached_property
    def source(self) -> CoqSource:
        """Imports, the printed sentence, lemmas, the theorem and its proof."""
        imports = "\n".join(_IMPORT.findall(self.proof))
        before, _, after = _parted(self.proof)
        parts = [LIBRARY, imports, "Local Open Scope R_scope.", self.sentence.opening, before.strip()]
        parts += [self.sentence.theorem, after.strip(), "End goal.\n"]
        return CoqSource(self.name, "\n".join(part for part in parts if part).encode())

    @property
    def digest(self) -> str:
        """SHA-256 of the sentence, the proof, the map's row and what every name stands for."""
        meanings = [dict(self.sentence.facts), dict(self.sentence.opaque)]
        told = [self.source.raw.decode(), self.row.model_dump(mode="json"), meanings]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()

    def faults(self) -> list[str]:
        """What the proof's file must not say, a line each."""
        path = f"{_file(self.row.statement)}"
        lines = [f"{path} must have one line {MARK}"] if f"\n{self.proof}".count(f"\n{MARK}\n") != 1 else []
        before = CoqSource("before", _parted(self.proof)[0].encode())
        # What stands before the sentence proves; it may neither define nor assume.
        depth = False
        for sentence in before.sentences:
            if sentence == "Proof" or depth:
                depth = sentence not in ("Qed", "Defined")
            elif not _OWN.match(sentence):
                lines.append(f"{path} says what is neither lemma nor proof: {sentence[:60]}")
        words = set(re.findall(r"\w+", self.proof))
        idle = [name for name in self.row.by if name.split(".")[-1] not in words]
        # Where words say more than the formula, other theorems may be of that.
        if self.row.short and len(idle) < len(self.row.by):
            idle = []
        lines += [f"{self.row.statement} is said to be proven by {name}, which its goal does not use" for name in idle]
        return lines + self.source.faults()


def _parted(proof: str) -> tuple[str, str, str]:
    return _IMPORT.sub("", f"\n{proof}").partition(f"\n{MARK}\n")


def _file(statement: str) -> str:
    return statement.replace("/", ".") + ".v"


def load_goals(table: TheoremTable, folder: Path = GOALS) -> tuple[dict[str, Goal], dict[str, str]]:
    """Goals by statement, and why one that the table names has none, in a line."""
    statements = {full: (one, claim) for claim in load_claims().values() for full, one in claim.statements()}
    standing = {one.standing: statements[one.standing][0] for one in table.premise if one.standing in statements}
    goals, faults = dict[str, Goal](), dict[str, str]()
    for row in table.settled:
        if row.under is None or row.statement not in statements:
            continue
        try:
            formula, premises = _parts(row, *statements[row.statement], standing)
            proof = (folder / _file(row.statement)).read_text(encoding="utf-8")
            goals[row.statement] = Goal(row, print_sentence(formula, premises), proof)
        except InvalidInputError as error:
            faults[row.statement] = f"{row.statement} has no goal: {error}"
        except OSError:
            faults[row.statement] = f"{row.statement} has no goal: {_file(row.statement)} is missing"
    return goals, faults


def _parts(
    row: Settled, statement: Statement, claim: Statement, standing: Mapping[str, Statement]
) -> tuple[Node, list[tuple[str, Node]]]:
    formula = statement.repaired.proposition
    if formula is None:
        raise InvalidInputError(row.statement, "must have a formula")
    own = {premise.id: premise.predicate("repaired") for premise in (*claim.premises, *statement.premises)}
    # What the paper assumes once, for all claims, may be named as well.
    own |= {full: assumed.repaired.proposition for full, assumed in standing.items()}
    premises = []
    for name in row.under or ():
        node = own.get(name)
        if node is None:
            raise InvalidInputError(row.statement, "must have a premise with a formula of that name", name)
        premises.append((name, node))
    return formula, premises


def goal_deviations(recorded: Mapping[str, str], table: TheoremTable, folder: Path = GOALS) -> dict[str, str]:
    """Statements whose goal is not the one on record, each with why, in a line."""
    goals, faults = load_goals(table, folder)
    lines = dict(faults)
    for full, goal in goals.items():
        if recorded.get(full) != goal.digest:
            lines[full] = f"{full} is stated or proven otherwise than on record: no proof counts"
    lines |= {
        full: f"{full} has a goal on record and none in the table"
        for full in recorded.keys() - goals.keys() - faults.keys()
    }
    return lines


def compile_goals(run: CoqRun, goals: Mapping[str, Goal]) -> list[str]:
    """Have Coq check goals, in the folder where the library is compiled; what is refused, a line each."""
    refusals = []
    for full, goal in goals.items():
        if faults := goal.faults():
            refusals.append(faults[0])
            continue
        text = goal.source.raw + f"\nPrint Assumptions {THEOREM}.\n".encode()
        (run.place / f"{goal.name}.v").write_bytes(text)
        done = run.coqc(f"{goal.name}.v")
        if done.returncode:
            refusals.append(f"{full} is not proven by its goal: {' '.join(done.stderr.split())[-160:]}")
        elif bad := [axiom for axiom in axioms_in(done.stdout) if axiom not in ALLOWED]:
            refusals.append(f"{full} rests on {bad[0][:160]}, which is not allowed")
    return refusals
