"""The proofs' sources as text: what they declare, what alone they may say, and their hashes. Coq is not asked here.

A file is read as Coq reads it. That is only sure without strings, attributes and letters beyond ASCII, so they are
refused.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

FOLDER = Path(__file__).parent / "coq"
FORBIDDEN = (
    "Admitted", "Admit", "admit", "give_up", "Axiom", "Axioms", "Parameter", "Parameters", "Conjecture", "Conjectures",
    "Unset", "bypass_check", "Notation", "Infix", "Reserved", "Declare", "Load", "Redirect", "Extraction", "Cd",
    "Primitive", "Program", "Obligation", "Obligations", "Module", "Instance", "Canonical", "Coercion", "Export",
)  # fmt: skip
"""Words that leave a proof out, assume something, switch a check of the kernel off, change how a statement is printed,
or reach out of the proofs; refused wherever they stand."""
NAME = r"[A-Za-z_][\w']*"
_DATA = rf"(?:Definition|Fixpoint|Record|Inductive) {NAME}"
_PROVEN = rf"(?:Theorem|Lemma) {NAME}"
_SENTENCES = re.compile(
    r"(?:From \S+ Require Import(?: [\w.]+)+|Import ListNotations|Local Open Scope \w+|(?:Section|End) \w+"
    rf"|{_DATA} .*|{_PROVEN} .*|(?:Variables?|Hypothesis|Hypotheses|Context|Let) .*"
    r"|(?:(?:Local )?Arguments|Implicit Types|Ltac) .*)"
)
"""What may stand outside of proofs, a sentence each, blanks made one."""
_NAMED = re.compile(rf"(Theorem|Lemma|Definition|Fixpoint|Record|Inductive) ({NAME})")
_REQUIRES = re.compile(r"From (\S+) Require Import (.*)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_ASSUMES = re.compile(r"(Variables?|Hypothes[ie]s|Context|Let)\b")
_OPENS = re.compile(r"(Section|End) \w+")
_OPENS_A_PROOF = re.compile(rf"{_PROVEN}\b|(?:Definition|Fixpoint) (?!.*:=)")
_BULLETS = re.compile(r"^(?:[-+*{}\s]|\d+\s*:|all\s*:(?!\s*\{))+")
_TACTIC = re.compile(r"(?!\w+\s*:(?!=))[a-z(]")
_UNREADABLE = (
    (re.compile(r'"'), 'says ", and a string could hide words'),
    (re.compile(r"#\["), "says #[, an attribute"),
    (re.compile(r"\.(?:\.\s|\.\.|\(\*)"), "has a full stop that ends no sentence"),
)
_STRANGE = re.compile(r"[^\n -~]")


@dataclass(frozen=True)
class CoqSource:
    """One file: its name without ``.v`` and its bytes."""

    name: str
    raw: bytes

    @property
    def digest(self) -> str:
        """SHA-256, as in the record."""
        return hashlib.sha256(self.raw).hexdigest()

    @cached_property
    def text(self) -> str:
        """Without its comments."""
        return uncommented(self.raw.decode("utf-8", "replace"))

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Each without its full stop, blanks made one; what opens a part of a proof stands before its first."""
        sentences = (" ".join(sentence.split()) for sentence in re.split(r"\.(?=\s|$)", self.text))
        return tuple(sentence for sentence in sentences if sentence)

    def _named(self, *kinds: str) -> list[str]:
        matches = (_NAMED.match(sentence) for sentence in self.sentences)
        return [f"{self.name}.{one[2]}" for one in matches if one and one[1] in kinds]

    @property
    def theorems(self) -> list[str]:
        """``FILE.NAME`` of each, in order."""
        return self._named("Theorem")

    @property
    def proven(self) -> list[str]:
        """``FILE.NAME`` of theorems and lemmas."""
        return self._named("Theorem", "Lemma")

    @property
    def definitions(self) -> list[str]:
        """``FILE.NAME`` of what statements may be made of."""
        return self._named("Definition", "Fixpoint", "Record", "Inductive")

    @property
    def parts(self) -> set[str]:
        """``FILE.WORD`` of all words of its records and inductive types: their fields and constructors among them."""
        kinds = ("Record ", "Inductive ")
        return {f"{self.name}.{w}" for one in self.sentences if one.startswith(kinds) for w in re.findall(NAME, one)}

    @property
    def requires(self) -> tuple[str, ...]:
        """Files of ours that it builds on."""
        matches = (_REQUIRES.match(sentence) for sentence in self.sentences)
        return tuple(name for one in matches if one and one[1] == "f2csa" for name in one[2].split())

    def faults(self) -> list[str]:
        """What it must not say, a line each: what first hinders reading, else all words, else the first sentence."""
        words = set(_WORD.findall(self.text))
        forbidden = [f"{self.name}.v says {word}" for word in FORBIDDEN if word in words]
        return [*islice(self._unreadable(), 1)] or forbidden or [*islice(self._misplaced(), 1)]

    def _unreadable(self) -> Iterator[str]:
        whole = self.raw.decode("utf-8", "replace")
        # A string's quotes count in comments, too: Coq ends none within one.
        for (pattern, told), text in zip(_UNREADABLE, (whole, self.text, uncommented(whole, "(**)")), strict=True):
            if pattern.search(text):
                yield f"{self.name}.v {told}"
        if strange := _STRANGE.search(self.text):
            yield f"{self.name}.v has {strange[0]!a} outside of a comment"
        if "*)" in self.text or not uncommented(f"{whole} end").endswith("end"):
            yield f"{self.name}.v has a comment that is not closed, or not opened"

    def _misplaced(self) -> Iterator[str]:
        """Sentences of no kind that is known, assumptions outside of a section, proofs of nothing and unproven."""
        depth, owed, proving = 0, "", False
        for sentence in self.sentences:
            shown = sentence[:60]
            if proving:
                tactic = _BULLETS.sub("", sentence, count=1)
                proving = tactic not in ("Qed", "Defined")
                if proving and not _TACTIC.match(tactic):
                    yield f"{self.name}.v has in a proof what is no tactic: {shown}"
            elif owed or sentence == "Proof":
                if not owed or sentence != "Proof":
                    yield f"{self.name}.v has {'no proof after' if owed else 'a proof of nothing'}: {owed or shown}"
                owed, proving = "", sentence == "Proof"
            elif not _SENTENCES.fullmatch(sentence):
                yield f"{self.name}.v has a sentence of no known kind: {shown}"
            elif (built := _REQUIRES.match(sentence)) and built[1] not in ("Coq", "f2csa"):
                yield f"{self.name}.v builds on {built[1]}, which is neither Coq's library nor ours"
            elif opened := _OPENS.fullmatch(sentence):
                depth += 1 if opened[1] == "Section" else -1
            elif depth <= 0 and (assumption := _ASSUMES.match(sentence)):
                yield f"{self.name}.v has a {assumption[1]} outside of a section: {shown}"
            elif _OPENS_A_PROOF.match(sentence):
                owed = shown
        if owed or proving:
            yield f"{self.name}.v ends within a proof"


def uncommented(text: str, mark: str = " ") -> str:
    """The text without comments, which nest; a mark stands for each."""
    pieces, depth = [], 0
    for part in re.split(r"(\(\*|\*\))", text):
        if part == "(*":
            depth += 1
        elif part == "*)" and depth:
            depth -= 1
            pieces += [] if depth else [mark]
        elif not depth:
            pieces.append(part)
    return "".join(pieces)


def read_sources(folder: Path = FOLDER) -> dict[str, CoqSource]:
    """All ``.v`` files of a folder by name."""
    return {path.stem: CoqSource(path.stem, path.read_bytes()) for path in sorted(folder.glob("*.v"))}


def needed(sources: dict[str, CoqSource], order: tuple[str, ...], wanted: set[str]) -> list[str]:
    """The files wanted and all that they build on, in the order's order."""
    files: set[str] = set()
    todo = set(wanted)
    while todo:
        name = todo.pop()
        files.add(name)
        todo |= {one for one in sources[name].requires if one in sources} - files
    return [name for name in order if name in files]
