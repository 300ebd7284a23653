"""Rules on orders: of one quantity in different powers, or saying more than what they were derived from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from spec.text.extract import Extract, Passage
from verify.proofs.paper.findings import PaperFinding, Rule, quoted
from verify.proofs.paper.stated_orders import STATIONARITY

_ONE_SIDED = ("O", "O\u0303", "Ω", "≤", "≥")


def changed_powers(extract: Extract) -> Iterator[PaperFinding]:
    """A quantity has other powers in a statement than in its proof, or than in another statement."""
    by_name: dict[str, dict[str, list[Passage]]] = defaultdict(lambda: defaultdict(list))
    for passage in extract.of("order"):
        # What is small enough is as small as an order says, too.
        if passage.name and passage.says != "≤" and not _is_text(passage.place):
            by_name[passage.name][passage.place].append(passage)
    links = _links(extract)
    for name, places in by_name.items():
        told = set()
        for one, other in combinations(places, 2):
            there_place, place = (other, one) if other == one.removeprefix("proof of ") else (one, other)
            # A proof is held to its own statement, a statement to all others.
            local = there_place.startswith("proof") or (
                place.startswith("proof") and place != f"proof of {there_place}"
            )
            there, here = places[there_place], places[place]
            if not local and place not in told and _differ(there, here, links):
                told.add(place)
                why = f"{quoted(there[0])} in {there_place}, {quoted(here[-1])} in {place}"
                yield PaperFinding("order-powers", name, here[-1], there[0], why)


def _is_text(place: str) -> bool:
    return place.startswith("section") or place in ("abstract", "")


def _links(extract: Extract) -> dict[str, str]:
    """Symbols that are set in proportion to another, such as ``α = Θ(ε)``."""
    return {
        passage.name: next(iter(passage.powers)) for passage in extract.of("order")
        if passage.says in "Θ=" and list(passage.powers.values()) == [1] and len(passage.name) <= 2
    }  # fmt: skip


def _differ(one: list[Passage], other: list[Passage], links: dict[str, str]) -> bool:
    return not any(_linked(a, links) == _linked(b, links) for a in one for b in other)


def _linked(passage: Passage, links: dict[str, str]) -> dict[str, Fraction]:
    exponents: dict[str, Fraction] = {}
    for name, power in _variables(passage).items():
        known = links.get(name, name) if links.get(name) != passage.name else name
        exponents[known] = exponents.get(known, Fraction(0)) + power
    return exponents


def _variables(passage: Passage) -> dict[str, Fraction]:
    """Powers of what varies: constants are left out, as the letters leave them, and so are sums."""
    return {name: power for name, power in passage.powers.items() if name[0] not in "Cc("}


def strengthened_letters(extract: Extract) -> Iterator[PaperFinding]:
    """A Θ taken from a bound on one side.

    Earlier statements and proofs bound the same order of the same quantity, and none has it from both sides. The
    abstract sums up: what it says without a name is held to the statements. Θ implies O, so O after Θ is no finding.
    """
    stated = [passage for passage in extract.of("order") if _variables(passage)]
    told = set()
    for at, passage in enumerate(stated):
        key = passage.name, frozenset(_variables(passage).items())
        sources = list(_sources(stated, at)) if passage.says == "Θ" and key not in told else []
        if sources and all(source.says in _ONE_SIDED for source in sources):
            told.add(key)
            other = sources[-1]
            why = f"{quoted(passage)} here, {quoted(other)} in {other.place or 'another place'}: from one side alone"
            yield PaperFinding("order-letters", passage.name or _named(passage), passage, other, why)


def _sources(stated: list[Passage], at: int) -> Iterator[Passage]:
    """What the order there may be taken from."""
    passage, powers = stated[at], _variables(stated[at])
    for place, other in enumerate(stated):
        if passage.place == "abstract" and not passage.name:
            if _is_statement(other.place) and _variables(other) == powers:
                yield other
        elif passage.name == other.name and other.name and place < at and not _is_text(other.place):
            theirs = _variables(other)
            if powers.items() <= theirs.items() or theirs.items() <= powers.items():
                yield other


def _is_statement(place: str) -> bool:
    return not _is_text(place) and not place.startswith("proof")


def _named(passage: Passage) -> str:
    return quoted(passage.model_copy(update={"says": "="})).removeprefix("an order = ").strip()


def more_than_derived(extract: Extract) -> Iterator[PaperFinding]:
    """A quantity only ever bounded from above is called Θ; a Θ among the terms of such a bound says no more than it."""
    bounded = {passage.name: passage for passage in extract.of("upper") if passage.says == "O"}
    for passage in extract.of("upper"):
        if passage.says == "Θ" and passage.name == STATIONARITY:
            why = f"what is shown of {passage.name} is a bound from above, and Θ says from both sides"
            yield PaperFinding("theta-bound", passage.name, passage, bounded.get(passage.name), why)
    for passage in extract.of("order"):
        there = bounded.get(passage.name)
        if passage.says == "Θ" and there is not None and passage.name:
            why = f"{passage.name} is bounded from above alone, and Θ says from both sides"
            yield PaperFinding("theta-bound", passage.name, passage, there, why)


ORDER_RULES: dict[str, Rule] = {
    "order-powers": changed_powers,
    "order-letters": strengthened_letters,
    "theta-bound": more_than_derived,
}
