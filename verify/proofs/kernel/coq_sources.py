"""The proofs' sources as text: what they declare, what they must not say, and their hashes. Coq is not asked here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "coq"
FORBIDDEN = (
    "Admitted", "admit", "give_up", "Axiom", "Axioms", "Parameter", "Parameters", "Conjecture", "Conjectures", "Unset",
    "bypass_check", "Notation", "Infix", "Reserved", "Declare", "Load", "Redirect", "Extraction", "Cd", "Primitive",
)  # fmt: skip
"""Words that leave a proof out, assume something, switch a check of the kernel off, change how a statement is printed,
or reach out of the proofs."""
_DECLARES = re.compile(r"^\s*(?:Theorem)\s+(\w+)", re.M)
_DEFINES = re.compile(r"^\s*(?:Definition|Fixpoint|Record|Inductive)\s+(\w+)", re.M)
_REQUIRES = re.compile(r"From\s+(\S+)\s+Require\s+(?:Import|Export)?\s*([\w\s.]*?)\.(?=\s|$)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_ASSUMES = re.compile(r"(?:#\[[^\]]*\]\s*)?(?:Local\s+|Global\s+)?(Variables?|Hypothes[ie]s|Context)\b")
_OPENS = re.compile(r"(Section|End)\s+\w+$")


@dataclass(frozen=True)
class CoqSource:
    """One file: its name without ``.v`` and its bytes."""

    name: str
    raw: bytes

    @property
    def digest(self) -> str:
        """SHA-256, as in the record."""
        return hashlib.sha256(self.raw).hexdigest()

    @property
    def text(self) -> str:
        """Without its comments."""
        return uncommented(self.raw.decode("utf-8", "replace"))

    @property
    def theorems(self) -> list[str]:
        """``FILE.NAME`` of each, in order."""
        return [f"{self.name}.{found}" for found in _DECLARES.findall(self.text)]

    @property
    def definitions(self) -> list[str]:
        """``FILE.NAME`` of what statements may be made of."""
        return [f"{self.name}.{found}" for found in _DEFINES.findall(self.text)]

    @property
    def requires(self) -> tuple[str, ...]:
        """Files of ours that it builds on."""
        return tuple(name for of, names in _REQUIRES.findall(self.text) if of == "f2csa" for name in names.split())

    def faults(self) -> Iterator[str]:
        """What it must not say, one line each."""
        words = set(_WORD.findall(self.text))
        yield from (f"{self.name}.v says {word}" for word in FORBIDDEN if word in words)
        yield from (
            f"{self.name}.v builds on {of}, which is neither Coq's library nor ours"
            for of, _ in _REQUIRES.findall(self.text)
            if of not in ("Coq", "f2csa")
        )
        depth = 0
        for sentence in re.split(r"\.(?=\s|$)", self.text):
            said = sentence.strip()
            if opened := _OPENS.match(said):
                depth += 1 if opened[1] == "Section" else -1
            elif depth <= 0 and (found := _ASSUMES.match(said)):
                yield f"{self.name}.v has a {found[1]} outside of a section: {' '.join(said.split())[:60]}"


def uncommented(text: str) -> str:
    """The text without comments, which nest."""
    kept, depth = [], 0
    for part in re.split(r"(\(\*|\*\))", text):
        if part == "(*":
            depth += 1
        elif part == "*)" and depth:
            depth -= 1
            kept.append(" ")
        elif not depth:
            kept.append(part)
    return "".join(kept)


def read_sources(folder: Path = FOLDER) -> dict[str, CoqSource]:
    """All ``.v`` files of a folder by name."""
    return {path.stem: CoqSource(path.stem, path.read_bytes()) for path in sorted(folder.glob("*.v"))}


def needed(sources: dict[str, CoqSource], order: tuple[str, ...], wanted: set[str]) -> list[str]:
    """The files wanted and all that they build on, in the order's order."""
    found: set[str] = set()
    todo = set(wanted)
    while todo:
        name = todo.pop()
        found.add(name)
        todo |= {one for one in sources[name].requires if one in sources} - found
    return [name for name in order if name in found]
