"""Have the proofs checked by Coq, in a folder of their own, and hold what it says against the record.

Without ``coqc`` only names, words and hashes are compared: then a proof is *recorded*, never *re-checked*. Hashes find
what was edited by itself; who edits sources, table, record and hash so that they agree is found out by Coq alone, and
who has them recorded anew, by the reader of that change.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from verify.proofs.kernel.coq_run import ALLOWED, CoqAnswer, CoqRun
from verify.proofs.kernel.coq_sources import FOLDER, CoqSource, needed, read_sources
from verify.proofs.kernel.goals import compile_goals, load_goals
from verify.proofs.kernel.proof_record import ProofRecord, RecordedDefinition, RecordedTheorem, edited
from verify.proofs.kernel.theorems import TheoremTable, load_theorems

SEPARATE = 8
"""Theorems up to which the axioms are asked of each alone; beyond, of all at once that have the same on record, which
takes a twentieth as long: together they rest on those and no others, or one of them is not as recorded."""

State = Literal["re-checked", "recorded", "refused"]


@dataclass(frozen=True)
class CoqOutcome:
    """What became of the theorems asked for.

    Args:
        state: ``re-checked`` by Coq in this run, ``recorded`` alone, or ``refused``.
        coq: Version that checked, or that is on record.
        theorems: Those asked for.
        refusals: Why they are refused, a line each.
        record: What Coq said, to be recorded; empty without it.
        kernel: Whether the compiled files were checked again by ``coqchk``.
        why: Why they are only recorded.
        on_record: Version on record, where there is one.
    """

    state: State
    coq: str
    theorems: tuple[str, ...]
    refusals: tuple[str, ...] = ()
    record: ProofRecord | None = field(default=None, repr=False)
    kernel: bool = False
    why: str = "no coqc"
    on_record: str = ""

    @property
    def words(self) -> str:
        """The state in a sentence."""
        if self.state == "refused":
            return f"refused: {self.refusals[0]}"
        if self.state == "recorded":
            return f"recorded with Coq {self.coq}, not re-checked here ({self.why})"
        other = f" (on record: {self.on_record})" if self.on_record not in ("", self.coq) else ""
        return f"re-checked in this run with Coq {self.coq}{other}" + (" and its small kernel" if self.kernel else "")


def check(
    names: Sequence[str] = (),
    *,
    folder: Path = FOLDER,
    record: ProofRecord | None = None,
    table: TheoremTable | None = None,
    kernel: bool = False,
    coqc: str | None = "",
) -> CoqOutcome:
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
    wanted = tuple(names) or tuple(theorem.coq for theorem in table.theorem)
    sources = read_sources(folder)
    refusals = [*table.deviations(), *_text_faults(sources, table)]
    changed = [] if record is None else edited(sources, record, table)
    program = shutil.which("coqc") if coqc == "" else coqc
    version = "" if record is None else record.coq
    if refusals or program is None:
        state: State = "refused" if refusals or changed or record is None else "recorded"
        none = [] if program or record else ["there is no coqc to record with"]
        return CoqOutcome(state, version, wanted, (*refusals, *(line for _, line in changed), *none))
    groups = _groups(wanted, record)
    with tempfile.TemporaryDirectory(prefix="f2csa-proofs-") as place:
        run = CoqRun(Path(place), program, sources)
        refusals = run.compile(needed(sources, table.order, {name.split(".")[0] for name in wanted}))
        answer = "" if refusals else run.ask(wanted, groups)
        current = None
        if isinstance(answer, CoqAnswer):
            current = _made(run, answer, groups, table)
            refusals = [*_unsound(current, groups, record), *_unrecorded_parts(current, sources, answer.data)]
            refusals += [] if record is None else _differing(current, record, run.files)
        elif answer:
            refusals = [answer]
        if not refusals:
            refusals = _goal_faults(run, table, names)
        if kernel and not refusals:
            refusals = run.small_kernel()
    # A file whose statements tell what was edited in it needs no second line.
    told = {line.split(".")[0] for line in refusals}
    refusals += [line for name, line in changed if name not in told]
    state = "refused" if refusals else "re-checked"
    return CoqOutcome(state, run.version, wanted, tuple(refusals), current, kernel, on_record=version)


def _goal_faults(run: CoqRun, table: TheoremTable, names: Sequence[str]) -> list[str]:
    """Goals that Coq does not accept: of all, or of the theorems asked for alone."""
    goals, faults = load_goals(table)
    mine = {full: goal for full, goal in goals.items() if not names or {*goal.row.by} & {*names}}
    imported = {name for goal in mine.values() for name in goal.source.requires}
    for name in needed(dict(run.sources), table.order, imported & {*run.sources}):
        if name not in run.files:
            (run.place / f"{name}.v").write_bytes(run.sources[name].raw)
            if run.coqc(f"{name}.v").returncode:
                return [f"{name}.v does not compile"]
    return [*faults.values(), *compile_goals(run, mine)]


def _groups(names: Sequence[str], record: ProofRecord | None) -> list[tuple[str, ...]]:
    """Theorems whose axioms are asked for together."""
    if record is None or len(names) <= SEPARATE:
        return [(name,) for name in names]
    by: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        by.setdefault(record.theorems[name].axioms if name in record.theorems else (name,), []).append(name)
    return [tuple(group) for group in by.values()]


def _made(run: CoqRun, answer: CoqAnswer, groups: Sequence[Sequence[str]], table: TheoremTable) -> ProofRecord:
    axioms = {name: group_axioms for group, group_axioms in zip(groups, answer.axioms, strict=True) for name in group}
    return ProofRecord(
        coq=run.version,
        sources={name: run.sources[name].digest for name in table.order},
        definitions={
            name: RecordedDefinition(text=text, explicit=full) for name, (text, full) in answer.definitions.items()
        },
        theorems={
            name: RecordedTheorem(statement=text, explicit=full, axioms=axioms[name], row=table.row_digest(name))
            for name, (text, full) in answer.statements.items()
        },
        map=table.map_digests(),
        goals={full: goal.digest for full, goal in load_goals(table)[0].items()},
    )


def _text_faults(sources: Mapping[str, CoqSource], table: TheoremTable) -> list[str]:
    faults = [f"{name!r} is no name of a file of proofs" for name in sources if not re.fullmatch(r"[a-z][a-z_]*", name)]
    faults += [f"{name}.v is missing" for name in table.order if name not in sources]
    faults += [f"{name}.v is of no file in the order" for name in sources if name not in table.order]
    declared = [name for file in table.order if file in sources for name in sources[file].theorems]
    listed = table.theorems
    faults += [
        f"{name} is declared in no file" for name in listed if name not in declared and name.split(".")[0] in sources
    ]
    faults += [f"{name} is not in the table" for name in declared if name not in listed]
    return faults + [fault for source in sources.values() for fault in source.faults()]


def _unsound(current: ProofRecord, groups: Sequence[Sequence[str]], record: ProofRecord | None) -> Iterator[str]:
    """Groups that rest on what is not allowed, or not as recorded."""
    for group in groups:
        axioms = current.theorems[group[0]].axioms
        names = ", ".join(group[:3]) + (f" or one of {len(group) - 3} more" if len(group) > 3 else "")
        then = None if record is None or group[0] not in record.theorems else record.theorems[group[0]].axioms
        if bad := [axiom for axiom in axioms if axiom not in ALLOWED]:
            yield f"{names} rests on {bad[0][:160]}, which is not allowed"
        elif then is not None and axioms != then:
            yield f"{names} rests on {_listed(axioms)}; on record: {_listed(then)}"


def _listed(axioms: Sequence[str]) -> str:
    return ", ".join(axiom.split(".")[-1] for axiom in axioms) or "no axiom"


def _unrecorded_parts(current: ProofRecord, sources: Mapping[str, CoqSource], data: frozenset[str]) -> Iterator[str]:
    """Names of ours in a statement or a definition that could be made otherwise unseen."""
    parts = {name for source in sources.values() for name in source.parts} | current.definitions.keys()
    proofs = {name for source in sources.values() for name in source.proven} - data
    own = re.compile(rf"\b(?:{'|'.join(sources)})\.[A-Za-z_][\w']*")
    printed = {name: definition.explicit for name, definition in current.definitions.items()}
    printed |= {name: theorem.explicit for name, theorem in current.theorems.items()}
    for name, text in printed.items():
        for part in sorted({*own.findall(text)} - parts - proofs - {name}):
            yield f"{name} is made of {part}, which is no definition that is recorded"


def _differing(current: ProofRecord, record: ProofRecord, files: Sequence[str]) -> Iterator[str]:
    """Statements and definitions that are not as recorded, and definitions that were recorded and are no more."""
    for name, theorem in current.theorems.items():
        if on := record.theorems.get(name):
            yield from _otherwise(name, "states", (theorem.statement, theorem.explicit), (on.statement, on.explicit))
    for name, definition in current.definitions.items():
        was = record.definitions.get(name) or RecordedDefinition(text="", explicit="")
        yield from _otherwise(name, "is defined", (definition.text, definition.explicit), (was.text, was.explicit))
    gone = record.definitions.keys() - current.definitions.keys()
    yield from (f"{name} is on record and defined no more" for name in sorted(gone) if name.split(".")[0] in files)


def _otherwise(name: str, does: str, now: tuple[str, str], then: tuple[str, str]) -> Iterator[str]:
    for shown, was, how in zip(now, then, ("", ", which only its hidden arguments show"), strict=True):
        if shown != was:
            here, there = _around(shown, was)
            yield f"{name} {does} otherwise than on record{how}: now “{here}”, on record “{there}”"
            return


def _around(now: str, then: str, room: int = 60) -> tuple[str, str]:
    """Where two texts begin to differ, with a little before."""
    start = next((i for i, (a, b) in enumerate(zip(now, then, strict=False)) if a != b), min(len(now), len(then)))
    start = max(0, start - 20)
    return now[start : start + room], then[start : start + room]
