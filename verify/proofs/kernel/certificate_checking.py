"""Certificates of a report put to the kernel: each is a theorem there, accepted by evaluating a check proven right.

Beside the checker in plain fractions this is a second one, and its proof that what passes is true is Coq's to check.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from spec import InvalidInputError
from verify.proofs.kernel.certificate_terms import IMPORTS, CoqTerm, content_hash, coq_term
from verify.proofs.kernel.coq_run import ALLOWED, CoqRun, axioms_in
from verify.proofs.kernel.coq_sources import FOLDER, needed, read_sources
from verify.proofs.kernel.proof_record import RECORD, edited, load_record
from verify.proofs.kernel.theorems import load_theorems
from verify.truth.certificates.certificate import Certificate

SOUND = "certificate_check.certificate_sound"
"""The theorem that each certificate's own rests on."""

State = Literal["accepted", "refused", "not checked"]


@dataclass(frozen=True)
class KernelFinding:
    """What the kernel says of one certificate.

    Args:
        where: What it is a certificate of, in words.
        hash: SHA-256 of its content; the first digits are in the theorem's name.
        theorem: Its name; empty where the certificate cannot be put to the kernel.
        state: ``accepted``: its theorem was proven in this run; ``refused``; ``not checked``: Coq was not asked.
        why: Why it is refused, a line.
    """

    where: str
    hash: str
    theorem: str
    state: State
    why: str = ""


@dataclass(frozen=True)
class KernelOutcome:
    """All findings, the version of Coq, and what forbids to rely on any, a line each."""

    findings: tuple[KernelFinding, ...]
    coq: str = ""
    faults: tuple[str, ...] = ()

    def count(self, state: State) -> int:
        """How many certificates are in a state."""
        return sum(finding.state == state for finding in self.findings)


def spread(several: Sequence[tuple[str, Certificate]], limit: int | None) -> list[tuple[str, Certificate]]:
    """Each certificate once, at most ``limit`` of them, spread evenly over their order."""
    once = list({content_hash(certificate): (where, certificate) for where, certificate in several}.values())
    if limit is None or limit >= len(once):
        return once
    return [once[k * len(once) // limit] for k in range(limit)]


def as_file(several: Sequence[tuple[str, Certificate]]) -> str:
    """A Coq file of all of them, each under what it is one of; ``coqc -Q FOLDER_OF_THE_CHECKER f2csa`` compiles it."""
    text = [IMPORTS]
    for where, certificate in several:
        try:
            term = coq_term(certificate)
        except InvalidInputError as error:
            text.append(_comment(f"{where}: not a term; {error}"))
        else:
            text.append(f"{_comment(where)}{term.definitions}{term.theorem}")
    return "\n".join(text)


def _comment(text: str) -> str:
    """Words of a report, which must not end the comment that they stand in."""
    for sign in '()*"':
        text = text.replace(sign, " ")
    return f"(* {text} *)\n"


def put_to_the_kernel(
    several: Sequence[tuple[str, Certificate]], *, folder: Path = FOLDER, coqc: str | None = ""
) -> KernelOutcome:
    """Have Coq prove each certificate's theorem.

    Args:
        several: Certificates, each with what it is one of, in words.
        folder: Where the checker's Coq sources lie; they must be those on record.
        coqc: The program; looked for on the path by default, ``None`` for going without.
    """
    terms: dict[str, CoqTerm] = {}
    told: dict[str, str] = {}
    for _, certificate in several:
        try:
            terms[content_hash(certificate)] = coq_term(certificate)
        except InvalidInputError as error:
            told[content_hash(certificate)] = str(error)
    program = shutil.which("coqc") if coqc == "" else coqc
    faults, version, accepted = _not_on_record(folder), "", set[str]()
    if program is not None and not faults:
        with tempfile.TemporaryDirectory(prefix="f2csa-certificates-") as place:
            run = CoqRun(Path(place), program, read_sources(folder))
            faults = run.compile(needed(dict(run.sources), load_theorems().order, {SOUND.split(".")[0]}))
            version = run.version
            if not faults:
                accepted, refused = prove_terms(run, list(terms.values()))
                told |= {key: refused[term.name] for key, term in terms.items() if term.name in refused}
    findings = []
    for where, certificate in several:
        key = content_hash(certificate)
        name = terms[key].name if key in terms else ""
        state: State = "refused" if key in told else "accepted" if name in accepted else "not checked"
        findings.append(KernelFinding(where, key, name, state, told.get(key, "")))
    return KernelOutcome(tuple(findings), version, tuple(faults))


def _not_on_record(folder: Path) -> list[str]:
    """Files of the checker that are not those whose theorems are on record, and a record that is not the package's."""
    sources, record = read_sources(folder), load_record()
    if SOUND not in record.theorems or SOUND.split(".")[0] not in sources:
        return [f"{SOUND} is not on record"]
    relied_on = {RECORD.name, *needed(sources, load_theorems().order, {SOUND.split(".")[0]})}
    return [line for name, line in edited(sources, record, load_theorems()) if name in relied_on]


def prove_terms(run: CoqRun, terms: Sequence[CoqTerm]) -> tuple[set[str], dict[str, str]]:
    """Names of the theorems that hold, and why the others do not; two files and more at once, of like size."""
    workers = min(os.cpu_count() or 1, len(terms)) or 1
    shares: list[list[CoqTerm]] = [[] for _ in range(workers)]
    for term in sorted(terms, key=lambda term: -len(term.definitions)):
        min(shares, key=lambda share: sum(len(one.definitions) for one in share)).append(term)
    accepted: set[str] = set()
    refused: dict[str, str] = {}
    with ThreadPoolExecutor(workers) as pool:
        for good, bad in pool.map(lambda k: _share(run, f"certificates_{k}", shares[k]), range(workers)):
            accepted |= good
            refused |= bad
    return accepted, refused


def _share(run: CoqRun, name: str, terms: Sequence[CoqTerm]) -> tuple[set[str], dict[str, str]]:
    """One file's theorems; where it does not compile, what each check comes out as, then those that come out true."""
    outcome = _theorems(run, name, terms)
    if isinstance(outcome, set):
        return outcome, {}
    values = _values(run, f"{name}_alone", terms)
    refused = {term.name: "its check comes out false" for term in terms if not values.get(term.name, False)}
    rest = [term for term in terms if term.name not in refused]
    again = _theorems(run, f"{name}_rest", rest)
    if isinstance(again, set):
        return again, refused
    return set(), refused | {term.name: again for term in rest}


def _theorems(run: CoqRun, name: str, terms: Sequence[CoqTerm]) -> set[str] | str:
    """The names, where Coq accepts them all and they rest on nothing else than the reals; else what it says."""
    if not terms:
        return set()
    text = [IMPORTS, *(term.definitions + term.theorem for term in terms)]
    text += [
        f"Definition all_of_them := ({', '.join(f'@{term.name}' for term in terms)}).",
        "Print Assumptions all_of_them.",
    ]
    (run.place / f"{name}.v").write_text("\n".join(text) + "\n", encoding="utf-8")
    done = run.coqc(f"{name}.v")
    if done.returncode:
        return f"Coq refuses it: {' '.join(done.stderr.split())[-120:]}"
    others = sorted(set(axioms_in(done.stdout)) - set(ALLOWED))
    return f"it rests on {others[0]}, which is not allowed" if others else {term.name for term in terms}


def _values(run: CoqRun, name: str, terms: Sequence[CoqTerm]) -> Mapping[str, bool]:
    """What each check comes out as; one that is missing here did not come out at all."""
    text = IMPORTS + "".join(term.definitions for term in terms)
    text += "".join(
        f'Goal True. idtac "@@ {term.name}". exact I. Qed.\nEval vm_compute in {term.check}.\n' for term in terms
    )
    (run.place / f"{name}.v").write_text(text, encoding="utf-8")
    parts = (part.split("\n", 1) for part in run.coqc(f"{name}.v").stdout.split("@@ ")[1:])
    return {part[0].strip(): "= true" in part[1] for part in parts if len(part) > 1}
