"""Rules on labels, references, environments, numbered parts and files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from spec.text.extract import Extract
from verify.proofs.paper.findings import PaperFinding, Rule


def undeclared_environments(extract: Extract) -> Iterator[PaperFinding]:
    """A theorem-like environment is used and never declared."""
    declared = {passage.name for passage in extract.of("declared")}
    uses = Counter(passage.name for passage in extract.of("environment"))
    for passage in extract.of("environment"):
        if passage.name not in declared and uses.pop(passage.name, 0):
            count = sum(other.name == passage.name for other in extract.of("environment"))
            why = f"the environment {passage.name} is declared nowhere; it is used {count} times"
            yield PaperFinding("environment-undeclared", passage.name, passage, None, why)


def missing_labels(extract: Extract) -> Iterator[PaperFinding]:
    """A reference to a label that is not there."""
    known = {passage.name for passage in extract.of("label")}
    for passage in extract.of("reference"):
        label = passage.name.partition(" (")[0]
        if label not in known:
            yield PaperFinding("label-missing", label, passage, None, f"nothing has the label {label}")


def unused_labels(extract: Extract) -> Iterator[PaperFinding]:
    """A label to which nothing refers."""
    used = {passage.name.partition(" (")[0] for passage in extract.of("reference")}
    for passage in extract.of("label"):
        if " (" not in passage.name and passage.name not in used:
            yield PaperFinding(
                "label-unused", passage.name, passage, None, f"nothing refers to the label {passage.name}"
            )


def doubled_labels(extract: Extract) -> Iterator[PaperFinding]:
    """One label at two places."""
    first: dict[str, int] = {}
    passages = list(extract.of("label"))
    for at, passage in enumerate(passages):
        there = passages[first.setdefault(passage.name, at)]
        if there is not passage:
            yield PaperFinding(
                "label-doubled", passage.name, passage, there, f"the label {passage.name} stands at two places"
            )


def attributions(extract: Extract) -> Iterator[PaperFinding]:
    """What is attributed to a statement has no symbol in common with it."""
    targets = {passage.name: passage for passage in extract.of("label") if passage.symbols}
    for passage in extract.of("reference"):
        target = targets.get(passage.name)
        if passage.symbols and target is not None and not set(passage.symbols) & set(target.symbols):
            why = f"{passage.name} is cited for {passage.says}, and no symbol of that occurs there"
            yield PaperFinding("reference-attribution", passage.name, passage, target, why)


def numbered_parts(extract: Extract) -> Iterator[PaperFinding]:
    """A part with a number, where the one before it is not there."""
    known = {(passage.place, passage.name, passage.number) for passage in extract.of("part")}
    for passage in extract.of("part"):
        before = (passage.place, passage.name, passage.number - 1)
        if passage.number > 1 and before not in known:
            why = f"there is no {passage.name} {passage.number - 1} before it"
            yield PaperFinding("part-missing", f"{passage.name} {passage.number}", passage, None, why)


def named_terms(extract: Extract) -> Iterator[PaperFinding]:
    """A heading names one term of a sum, its text treats another."""
    texts = {passage.name: passage for passage in extract.of("term") if passage.says == "text"}
    for passage in extract.of("term"):
        text = texts.get(passage.name)
        if passage.says == "heading" and text is not None and text.number != passage.number:
            why = f"the heading names term {passage.number} of {passage.name}, the text treats term {text.number}"
            yield PaperFinding("term-named", passage.name, passage, text, why)


def unnamed_files(extract: Extract) -> Iterator[PaperFinding]:
    """A file is included without a name."""
    for passage in extract.of("file"):
        if not passage.name:
            yield PaperFinding("file-unnamed", passage.says, passage, None, f"{passage.says} names no file")


LABEL_RULES: dict[str, Rule] = {
    "environment-undeclared": undeclared_environments,
    "label-missing": missing_labels,
    "label-unused": unused_labels,
    "label-doubled": doubled_labels,
    "reference-attribution": attributions,
    "part-missing": numbered_parts,
    "term-named": named_terms,
    "file-unnamed": unnamed_files,
}
