"""Have the proofs checked by Coq, in a folder of their own, and hold what it says against the record.

Without ``coqc`` only names, words and hashes are compared: then a proof is *recorded*, never *re-checked*.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field, ValidationError

from spec.errors import from_validation
from spec.files import Frozen
from verify.proofs.kernel.coq_sources import FOLDER, CoqSource, needed, read_sources
from verify.proofs.kernel.theorems import TheoremTable, load_theorems

ALLOWED = (
    "ClassicalDedekindReals.sig_not_dec", "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
)  # fmt: skip
"""The axioms of the standard library's real numbers; no theorem may rest on another."""
LOADED = "Classical_Prop.classic"
"""An axiom that the library of reals loads and no theorem uses: ``coqchk`` lists what is loaded."""
RECORD = FOLDER.parent / "proofs.json"
LIMIT = 900.0
"""Seconds one call of Coq may take; the longest takes a few."""
SEPARATE = 8
"""Theorems up to which the axioms are asked of each alone; beyond, of all at once, which takes a twentieth as long."""
HEAD = ("From Coq Require Import Reals.", "Open Scope R_scope.", "Set Printing Width 118.", "Set Printing Depth 10000.")

State = Literal["re-checked", "recorded", "refused"]


class RecordedTheorem(Frozen):
    """A statement as the kernel prints it, and the axioms its proof rests on."""

    statement: str
    axioms: tuple[str, ...]


class ProofRecord(Frozen):
    """What Coq said when the proofs were recorded.

    Args:
        coq: Its version.
        sources: SHA-256 of each file.
        definitions: What statements are made of, as the kernel prints it.
        theorems: By ``FILE.NAME``.
    """

    schema_: Literal["f2csa-proofs/1"] = Field(default="f2csa-proofs/1", alias="schema")
    coq: str
    sources: dict[str, str]
    definitions: dict[str, str]
    theorems: dict[str, RecordedTheorem]

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


@dataclass(frozen=True)
class Outcome:
    """What became of the theorems asked for.

    Args:
        state: ``re-checked`` by Coq in this run, ``recorded`` alone, or ``refused``.
        coq: Version that checked, or that is on record.
        theorems: Those asked for.
        refusals: Why they are refused, a line each.
        made: What Coq said, to be recorded; empty without it.
        kernel: Whether the compiled files were checked again by ``coqchk``.
        why: Why they are only recorded.
    """

    state: State
    coq: str
    theorems: tuple[str, ...]
    refusals: tuple[str, ...] = ()
    made: ProofRecord | None = field(default=None, repr=False)
    kernel: bool = False
    why: str = "no coqc"

    @property
    def words(self) -> str:
        """The state in a sentence."""
        if self.state == "refused":
            return f"refused: {self.refusals[0]}"
        if self.state == "recorded":
            return f"recorded with Coq {self.coq}, not re-checked here ({self.why})"
        return f"re-checked in this run with Coq {self.coq}" + (" and its small kernel" if self.kernel else "")


def load_record(path: Path = RECORD) -> ProofRecord:
    """The record that ships with the package.

    Raises:
        InvalidInputError: If it is malformed.
    """
    try:
        return ProofRecord.model_validate_json(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        raise from_validation(error, path.name) from None


def dumps(record: ProofRecord) -> str:
    """The record as the file has it."""
    return record.model_dump_json(by_alias=True, indent=1) + "\n"


def check(
    names: Sequence[str] = (),
    *,
    folder: Path = FOLDER,
    record: ProofRecord | None = None,
    table: TheoremTable | None = None,
    kernel: bool = False,
    coqc: str | None = "",
) -> Outcome:
    """Check theorems, all by default, against a record; without one, what Coq says is taken as it is, to be recorded.

    Args:
        names: ``FILE.NAME`` of those asked for.
        folder: Where the sources lie; nothing is written there.
        record: What must come out.
        table: What must be declared; the one that ships by default.
        kernel: Whether ``coqchk`` checks the compiled files, too.
        coqc: The program; looked for on the path by default, ``None`` for going without.
    """
    table = load_theorems() if table is None else table
    asked = tuple(names) or tuple(theorem.coq for theorem in table.theorem)
    sources = read_sources(folder)
    refusals = [*table.deviations(), *_text_faults(sources, table)]
    edited = [] if record is None else _edited(sources, record, table)
    program = shutil.which("coqc") if coqc == "" else coqc
    version = "" if record is None else record.coq
    if refusals or program is None:
        state: State = "refused" if refusals or edited or record is None else "recorded"
        none = [] if program or record else ["there is no coqc to record with"]
        return Outcome(state, version, asked, (*refusals, *(line for _, line in edited), *none))
    with tempfile.TemporaryDirectory(prefix="f2csa-proofs-") as place:
        run = CoqRun(Path(place), program, sources)
        refusals = run.compile(needed(sources, table.order, {name.split(".")[0] for name in asked}))
        made = None if refusals else run.ask(asked, table, each=record is None or len(asked) <= SEPARATE)
        if made is not None:
            refusals = _differing(made, record, asked)
        elif not refusals:
            refusals = ["Coq does not answer about the theorems: one of them was not proven to its end"]
        if kernel and not refusals:
            refusals = run.small_kernel()
        version = run.version
    # A file whose statements tell what was edited in it needs no second line.
    told = {line.split(".")[0] for line in refusals}
    refusals += [line for name, line in edited if name not in told]
    return Outcome("refused" if refusals else "re-checked", version, asked, tuple(refusals), made, kernel)


def _text_faults(sources: Mapping[str, CoqSource], table: TheoremTable) -> list[str]:
    faults = [f"{name}.v is missing" for name in table.order if name not in sources]
    faults += [f"{name}.v is of no file in the order" for name in sources if name not in table.order]
    declared = [name for file in table.order if file in sources for name in sources[file].theorems]
    listed = table.theorems
    faults += [
        f"{name} is declared in no file" for name in listed if name not in declared and name.split(".")[0] in sources
    ]
    faults += [f"{name} is not in the table" for name in declared if name not in listed]
    return faults + [fault for source in sources.values() for fault in source.faults()]


def _edited(sources: Mapping[str, CoqSource], record: ProofRecord, table: TheoremTable) -> list[tuple[str, str]]:
    """Files that are not the recorded ones, and theorems that the record does not have."""
    found = [
        (name, f"{name}.v is not the file on record: it was edited since")
        for name in table.order
        if name in sources and record.sources.get(name) != sources[name].digest
    ]
    missing = table.theorems.keys() - record.theorems.keys()
    return found + [(name, f"{name} is not on record") for name in sorted(missing)]


def _differing(made: ProofRecord, record: ProofRecord | None, asked: Iterable[str]) -> list[str]:
    lines = [
        f"{name} rests on {axiom}, which is not allowed"
        for name, found in made.theorems.items()
        for axiom in found.axioms
        if axiom not in ALLOWED
    ]
    if record is None:
        return lines
    for name in asked:
        if name in record.theorems and made.theorems[name].statement != record.theorems[name].statement:
            now, then = _around(made.theorems[name].statement, record.theorems[name].statement)
            lines.append(f"{name} states otherwise than on record: now “{now}”, on record “{then}”")
    for name, text in made.definitions.items():
        if record.definitions.get(name) != text:
            now, then = _around(text, record.definitions.get(name, ""))
            lines.append(f"{name} is defined otherwise than on record: now “{now}”, on record “{then}”")
    return lines


def _around(now: str, then: str, room: int = 60) -> tuple[str, str]:
    """Where two texts begin to differ, with a little before."""
    start = next((i for i, (a, b) in enumerate(zip(now, then, strict=False)) if a != b), min(len(now), len(then)))
    start = max(0, start - 20)
    return now[start : start + room], then[start : start + room]


@dataclass
class CoqRun:
    """One temporary folder with the sources, compiled there."""

    place: Path
    program: str
    sources: Mapping[str, CoqSource]
    files: list[str] = field(default_factory=list)

    @property
    def version(self) -> str:
        """Coq's version."""
        found = re.search(r"version (\S+)", self._call([self.program, "--version"]).stdout)
        return found[1] if found else "unknown"

    def compile(self, files: list[str]) -> list[str]:
        """Compile, each after those it builds on, two and more at once; the line of the first that does not."""
        self.files = files
        for name in files:
            (self.place / f"{name}.v").write_bytes(self.sources[name].raw)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            made: dict[str, Future[str]] = {}
            for name in files:
                before = [made[one] for one in self.sources[name].requires if one in made]
                made[name] = pool.submit(self._compiled, name, before)
            return [line for line in (made[name].result() for name in files) if line][:1]

    def _compiled(self, name: str, before: Sequence[Future[str]]) -> str:
        """What is wrong with a file; empty where it compiles, or where one that it builds on does not."""
        if any(one.result() for one in before):
            return ""
        done = self.coqc(f"{name}.v")
        return f"{name}.v does not compile: {' '.join(done.stderr.split())[-160:]}" if done.returncode else ""

    def ask(self, asked: Sequence[str], table: TheoremTable, *, each: bool) -> ProofRecord | None:
        """Statements, definitions and axioms as Coq prints them; none where it does not know one of them."""
        definitions = [name for file in self.files for name in self.sources[file].definitions]
        lines = [f"From f2csa Require {' '.join(self.files)}.", *HEAD]
        for name in asked:
            lines += [_mark(f"theorem {name}"), f"Check @{name}."]
            lines += [_mark(f"axioms {name}"), f"Print Assumptions {name}."] if each else []
        for name in definitions:
            lines += [_mark(f"definition {name}"), f"Print {name}."]
        if not each:
            every = ", ".join(f"@{name}" for name in asked)
            lines += [
                f"Definition every_one_of_them := ({every}).",
                _mark("axioms"),
                "Print Assumptions every_one_of_them.",
            ]
        (self.place / "asked_of_coq.v").write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = self.coqc("asked_of_coq.v")
        if done.returncode:
            return None
        parts = dict(part.split("\n", 1) for part in done.stdout.split("@@ ")[1:])
        said = {name: " ".join(text.split()) for name, text in parts.items()}
        of_all = axioms_in(parts.get("axioms", ""))
        return ProofRecord(
            coq=self.version,
            sources={name: self.sources[name].digest for name in table.order},
            definitions={name: said[f"definition {name}"] for name in definitions},
            theorems={
                name: RecordedTheorem(
                    statement=said[f"theorem {name}"],
                    axioms=axioms_in(parts[f"axioms {name}"]) if each else of_all,
                )
                for name in asked
            },
        )

    def small_kernel(self) -> list[str]:
        """Check the compiled files with ``coqchk``, which lists every axiom that is loaded."""
        program = shutil.which("coqchk")
        if program is None:
            return ["there is no coqchk to check the compiled files with"]
        modules = [f"f2csa.{name}" for name in self.files]
        done = self._call([program, "-o", "-silent", "-Q", str(self.place), "f2csa", *modules])
        if done.returncode:
            return [f"coqchk refuses the compiled files: {' '.join((done.stderr or done.stdout).split())[-160:]}"]
        context = done.stdout + done.stderr
        faults = []
        for title, allowed in (
            ("Axioms", {*ALLOWED, LOADED}), ("relying on type-in-type", set()), ("unsafe (co)fixpoints", set()),
            ("positivity is assumed", set()),
        ):  # fmt: skip
            block = re.search(rf"\* [^\n]*{re.escape(title)}:(.*?)(?=\n\s*\n|\n\* |\Z)", context, re.S)
            if block is None:
                return [f"coqchk does not say: {title}"]
            found = [word for word in block[1].split() if word != "<none>"]
            faults += [f"coqchk finds {word} under “{title}”" for word in found if not _among(word, allowed)]
        return faults

    def coqc(self, file: str) -> subprocess.CompletedProcess[str]:
        """Compile one file of the folder."""
        return self._call([self.program, "-q", "-w", "none", "-Q", ".", "f2csa", file])

    def _call(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                command, cwd=self.place, capture_output=True, text=True, encoding="utf-8", timeout=LIMIT, check=False
            )
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"Coq took more than {LIMIT:g} s") from None


def _among(word: str, allowed: Iterable[str]) -> bool:
    return any(word == name or word.endswith(f".{name}") for name in allowed)


def _mark(text: str) -> str:
    return f'Goal True. idtac "@@ {text}". exact I. Qed.'


def axioms_in(text: str) -> tuple[str, ...]:
    """Names in what ``Print Assumptions`` prints: one at the start of a line, its type behind it or below."""
    found = re.findall(r"^([A-Za-z_][\w.']*)\s*(?::|$)", text, re.M)
    return tuple(sorted({name for name in found if name != "Axioms"}))
