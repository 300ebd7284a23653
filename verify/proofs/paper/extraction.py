"""A source as an extract: every passage that some rule compares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from spec.text.extract import Extract, Passage
from verify.proofs.paper.attributions import environments, files, parts, references
from verify.proofs.paper.definitions import bounds, constants, definitions, meanings
from verify.proofs.paper.named_methods import solvers
from verify.proofs.paper.stated_orders import orders
from verify.proofs.paper.structure import Document, document_of
from verify.proofs.paper.tex import Source
from verify.proofs.paper.usage import domains, draws, glyphs, means, pairs, stances, variants

READERS: tuple[Callable[[Document], Iterator[Passage]], ...] = (
    environments, references, parts, files, meanings, definitions, bounds, constants, draws, variants, orders, means,
    domains, pairs, solvers, glyphs, stances,
)  # fmt: skip


def extract_of(source: Source) -> Extract:
    """All passages of a source, in reading order, but for what says nothing that a rule compares."""
    document = document_of(source)
    passages = [passage for reader in READERS for passage in reader(document)]
    counts = Counter((_family(passage), passage.name) for passage in passages)
    by_key: dict[str, Passage] = {}
    for at, passage in enumerate(passages):
        if passage.kind == "order" and not passage.name and len(passage.powers) < 2:
            continue
        if counts[_family(passage), passage.name] > 1 or not _needs_another(passage):
            by_key.setdefault(_key(passage, at), passage)
    ordered = sorted(by_key.values(), key=lambda passage: passage.line)
    return Extract(sha256=source.sha256, lines=source.lines, passages=tuple(ordered))


def _family(passage: Passage) -> str:
    return "order" if passage.kind == "upper" else passage.kind


def _needs_another(passage: Passage) -> bool:
    """Whether it is compared with its like only; an order of several symbols is with what an abstract says of it."""
    like = passage.kind == "upper" or len(passage.powers) < 2
    return passage.kind in ("mean", "meaning") or (passage.kind in ("order", "upper") and passage.says != "Θ" and like)


def _key(passage: Passage, at: int) -> str:
    """Equal for passages of which one is enough: a reference's first mention, an order once on a line."""
    if passage.kind in ("label", "pair"):
        return f"{passage.kind} {at}"
    if passage.kind == "reference" and not passage.symbols:
        return f"reference {passage.name}"
    return passage.model_dump_json()
