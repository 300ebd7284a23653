"""Coq at work, in a folder of its own: what it says of theorems, definitions and axioms. Nothing is judged here."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from verify.proofs.kernel.coq_sources import CoqSource

ALLOWED = {
    "ClassicalDedekindReals.sig_not_dec": "forall P : Prop, {~ ~ P} + {~ P}",
    "ClassicalDedekindReals.sig_forall_dec": (
        "forall P : nat -> Prop, (forall n : nat, {P n} + {~ P n}) -> {n : nat | ~ P n} + {forall n : nat, P n}"
    ),
    "FunctionalExtensionality.functional_extensionality_dep": (
        "forall (A : Type) (B : A -> Type) (f g : forall x : A, B x), (forall x : A, f x = g x) -> f = g"
    ),
}
"""The axioms of the standard library's real numbers, and what they say; no theorem may rest on another."""
LOADED = "Classical_Prop.classic"
"""An axiom that the library of reals loads and no theorem uses: ``coqchk`` lists what is loaded."""
LIMIT = 900.0
"""Seconds one call of Coq may take; the longest takes a few."""
HEAD = ("From Coq Require Import Reals.", "Open Scope R_scope.", "Set Printing Width 118.", "Set Printing Depth 10000.")
PROOF = "(fun (P : Prop) (p : P) => p)"
FOREIGN = ("COQ", "ROCQ", "OCAML", "CAML", "XDG_")
"""What variables begin with that would have Coq read other libraries than its own."""


@dataclass(frozen=True)
class CoqAnswer:
    """What Coq says, blanks made one.

    Args:
        statements: By theorem, as printed for readers and with nothing left out.
        definitions: By name, in both ways, too.
        axioms: Those that each group of theorems rests on together.
        data: Theorems and lemmas that prove nothing: what they name is no proposition.
    """

    statements: Mapping[str, tuple[str, str]]
    definitions: Mapping[str, tuple[str, str]]
    axioms: tuple[tuple[str, ...], ...]
    data: frozenset[str]


@dataclass
class CoqRun:
    """One temporary folder with the sources, compiled there."""

    place: Path
    program: str
    sources: Mapping[str, CoqSource]
    files: list[str] = field(default_factory=list)

    @cached_property
    def version(self) -> str:
        """Coq's version as it tells it itself; ``unknown`` where it tells none."""
        match = re.search(r"version (\d[\w.+~-]*)", self._call([self.program, "--version"]).stdout)
        return match[1] if match else "unknown"

    def compile(self, files: list[str]) -> list[str]:
        """Compile, each after those it builds on, two and more at once; the line of the first that does not."""
        if self.version == "unknown":
            return [f"{Path(self.program).name} tells no version: it is no coqc that could check anything"]
        self.files = files
        for name in files:
            (self.place / f"{name}.v").write_bytes(self.sources[name].raw)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            futures: dict[str, Future[str]] = {}
            for name in files:
                before = [futures[one] for one in self.sources[name].requires if one in futures]
                futures[name] = pool.submit(self._compiled, name, before)
            return [line for line in (futures[name].result() for name in files) if line][:1]

    def _compiled(self, name: str, before: Sequence[Future[str]]) -> str:
        """What is wrong with a file; empty where it compiles, or where one that it builds on does not."""
        if any(one.result() for one in before):
            return ""
        done = self.coqc(f"{name}.v")
        if done.returncode:
            return f"{name}.v does not compile: {_last_words(done)}"
        return "" if (self.place / f"{name}.vo").exists() else f"coqc ends well and has not compiled {name}.v"

    def ask(self, theorems: Sequence[str], groups: Sequence[Sequence[str]]) -> CoqAnswer | str:
        """Statements, definitions and axioms as Coq prints them; where it does not answer, that in a line."""
        definitions = [name for file in self.files for name in self.sources[file].definitions]
        mark = f"@@ {secrets.token_hex(8)} "
        questions = {("statement", name): f"Check @f2csa.{name}." for name in theorems}
        questions |= {("definition", name): f"Print f2csa.{name}." for name in definitions}
        lines = [f"From f2csa Require {' '.join(self.files)}.", *HEAD]
        for (kind, name), question in questions.items():
            lines += [_say(f"{mark}{kind} {name}"), question]
        for number, group in enumerate(groups):
            every = ", ".join(f"@f2csa.{name}" for name in group)
            lines += [f"Definition every_{number} := ({every}).", _say(f"{mark}axioms {number}")]
            lines += [f"Print Assumptions every_{number}."]
        lines.append("Set Printing All.")
        for (kind, name), question in questions.items():
            lines += [_say(f"{mark}explicit-{kind} {name}"), question]
        # What statements may name without its being on record is a proof: it does not matter which.
        proven = (name for file in self.files for name in self.sources[file].proven)
        lines += [
            f"Goal True. first [let p := constr:({PROOF} _ (@f2csa.{name})) in idtac"
            f' | idtac "{mark}data {name}"]. exact I. Qed.'
            for name in proven
        ]
        (self.place / "asked_of_coq.v").write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = self.coqc("asked_of_coq.v")
        if done.returncode:
            return f"Coq does not answer about the theorems: {_last_words(done)}"
        parts = dict(part.partition("\n")[::2] for part in done.stdout.split(mark)[1:])
        answers = {key: " ".join(text.split()) for key, text in parts.items()}
        wanted = [f"{way}{kind} {name}" for kind, name in questions for way in ("", "explicit-")]
        wanted += [f"axioms {number}" for number in range(len(groups))]
        if silent := [key for key in wanted if not answers.get(key)]:
            return f"coqc ends well and says nothing of the {silent[0]}"
        return CoqAnswer(
            {name: (answers[f"statement {name}"], answers[f"explicit-statement {name}"]) for name in theorems},
            {name: (answers[f"definition {name}"], answers[f"explicit-definition {name}"]) for name in definitions},
            tuple(axioms_in(parts[f"axioms {number}"]) for number in range(len(groups))),
            frozenset(key.split()[1] for key in parts if key.startswith("data ")),
        )

    def small_kernel(self) -> list[str]:
        """Check the compiled files with ``coqchk``, which lists every axiom that is loaded."""
        program = shutil.which("coqchk")
        if program is None:
            return ["there is no coqchk to check the compiled files with"]
        modules = [f"f2csa.{name}" for name in self.files]
        done = self._call([program, "-o", "-silent", "-Q", str(self.place), "f2csa", *modules])
        if done.returncode:
            return [f"coqchk refuses the compiled files: {_last_words(done)}"]
        context = done.stdout + done.stderr
        faults = []
        for title, allowed in (
            ("Axioms", {*ALLOWED, LOADED}), ("relying on type-in-type", set()), ("unsafe (co)fixpoints", set()),
            ("positivity is assumed", set()),
        ):  # fmt: skip
            block = re.search(rf"\* [^\n]*{re.escape(title)}:(.*?)(?=\n\s*\n|\n\* |\Z)", context, re.S)
            if block is None:
                return [f"coqchk does not say: {title}"]
            names = [word for word in block[1].split() if word != "<none>"]
            faults += [f"coqchk finds {word} under “{title}”" for word in names if not _among(word, allowed)]
        return faults

    def coqc(self, file: str) -> subprocess.CompletedProcess[str]:
        """Compile one file of the folder."""
        return self._call([self.program, "-q", "-w", "none", "-Q", ".", "f2csa", file])

    def _call(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Run a program in the folder; one that cannot be started, or takes too long, fails with that as its words."""
        none = str(self.place / "none")
        elsewhere = {"XDG_DATA_HOME": none, "XDG_DATA_DIRS": none, "XDG_CONFIG_HOME": none, "XDG_CONFIG_DIRS": none}
        own = {name: value for name, value in os.environ.items() if not name.upper().startswith(FOREIGN)}
        try:
            return subprocess.run(
                command, cwd=self.place, env=own | elsewhere, capture_output=True, text=True, encoding="utf-8",
                errors="replace", timeout=LIMIT, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, "", f"it took more than {LIMIT:g} s")
        except OSError as error:
            return subprocess.CompletedProcess(command, 126, "", f"it cannot be run: {error.strerror}")


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    words = " ".join((done.stderr.strip() or done.stdout).split())[-160:]
    return words or f"{Path(done.args[0]).name} ended with {done.returncode} and said nothing"


def _among(word: str, allowed: Iterable[str]) -> bool:
    return not word.startswith("f2csa.") and any(word == name or word.endswith(f".{name}") for name in allowed)


def _say(text: str) -> str:
    return f'Goal True. idtac "{text}". exact I. Qed.'


def axioms_in(text: str) -> tuple[str, ...]:
    """What ``Print Assumptions`` lists: allowed axioms by name, and any other line, of whatever kind, as it stands."""
    head, *rest = text.strip().split("\n")
    if head == "Closed under the global context" and not rest:
        return ()
    if head != "Axioms:" or not rest:
        return (" ".join(text.split()) or "what Coq does not tell",)
    # The type of an axiom stands behind its name, or below it, and goes on in lines that begin with blanks.
    entries = [" ".join(entry.split()) for entry in re.split(r"\n(?! )", "\n".join(rest))]
    named = {entry: entry.partition(" : ")[::2] for entry in entries}
    return tuple(sorted(name if ALLOWED.get(name) == type_ else entry for entry, (name, type_) in named.items()))
