"""Rules on symbols: one with several meanings, one meaning with several symbols."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from spec.text.extract import Extract, Passage
from verify.proofs.paper.findings import PaperFinding, Rule

_GENERIC = frozenset({
    "accuracy", "tolerance", "radius", "parameter", "parameters", "size", "variance", "deviation", "budget",
    "width", "level", "horizon", "rate", "weights", "constant", "approximation", "oracle", "method", "algorithm",
    "problem-dependent", "universal", "absolute", "numerical", "finite", "overall", "noise", "standard",
    "stochastic", "fixed", "positive",
})  # fmt: skip
"""Words that tell no quantity from another."""


def worded_meanings(extract: Extract) -> Iterator[PaperFinding]:
    """A symbol is given words that have nothing in common."""
    by_symbol: dict[str, list[Passage]] = defaultdict(list)
    for passage in extract.of("meaning"):
        others = by_symbol[passage.name]
        clash = next((other for other in others if _apart(other.says, passage.says)), None)
        if clash is not None and not any(_telling(other.says) & _telling(passage.says) for other in others):
            why = f"{passage.name} is “{clash.says}” and “{passage.says}”"
            yield PaperFinding("symbol-words", passage.name, passage, clash, why)
        others.append(passage)


def _apart(one: str, other: str) -> bool:
    first, second = _telling(one), _telling(other)
    return bool(first and second) and not first & second


def _telling(words: str) -> set[str]:
    return {part for word in words.lower().split() for part in word.split("-")} - _GENERIC - {"problem", "dependent"}


def set_twice(extract: Extract) -> Iterator[PaperFinding]:
    """A symbol is set to two formulas."""
    first: dict[str, Passage] = {}
    told = set()
    for passage in extract.of("definition"):
        there = first.setdefault(passage.name, passage)
        if there.says != passage.says and (passage.name, passage.says) not in told:
            told.add((passage.name, passage.says))
            why = f"{passage.name} is set to {there.says} and to {passage.says}"
            yield PaperFinding("symbol-formulas", passage.name, passage, there, why)


def indexed_families(extract: Extract) -> Iterator[PaperFinding]:
    """In one algorithm, a letter with one index and with another is set to two formulas."""
    first: dict[tuple[str, str], Passage] = {}
    for passage in extract.of("definition"):
        indexed = re.fullmatch(r"(.\u0303?\*?)_([a-z])", passage.name)
        if indexed:
            there = first.setdefault((passage.place, indexed[1]), passage)
            if there.name != passage.name:
                why = f"{indexed[1]} with an index is {there.says} ({there.name}) and {passage.says} ({passage.name})"
                yield PaperFinding("symbol-index", indexed[1], passage, there, why)


def shared_bounds(extract: Extract) -> Iterator[PaperFinding]:
    """One constant bounds, by hypothesis, different quantities in different statements."""
    by_symbol: dict[str, dict[str, list[Passage]]] = defaultdict(lambda: defaultdict(list))
    for passage in extract.of("bound"):
        by_symbol[passage.name][passage.place].append(passage)
    for name, places in by_symbol.items():
        (first, *_), *others = places.values()
        for here, *_ in others:
            if {one.says for one in places[first.place]} & {one.says for one in places[here.place]}:
                continue
            why = f"{name} bounds {first.says} in {first.place} and {here.says} in {here.place}"
            yield PaperFinding("symbol-bounds", name, here, first, why)


def names_of_constants(extract: Extract) -> Iterator[PaperFinding]:
    """One constant under two names."""
    first: dict[str, Passage] = {}
    for passage in extract.of("constant"):
        there = first.setdefault(passage.name, passage)
        if there.says != passage.says:
            why = f"the {passage.name} is {there.says} and {passage.says}"
            yield PaperFinding("constant-names", passage.name, passage, there, why)


def undefined_variants(extract: Extract) -> Iterator[PaperFinding]:
    """A symbol stands in proofs alone, is defined nowhere, and resembles one that is in use."""
    for passage in extract.of("symbol"):
        if passage.says == "proofs":
            beside = ", ".join(passage.symbols)
            why = f"{passage.name} occurs in proofs alone and is not defined; elsewhere stands {beside}"
            yield PaperFinding("symbol-undefined", passage.name, passage, None, why)


def missing_draws(extract: Extract) -> Iterator[PaperFinding]:
    """A noisy function shows fewer random arguments than the functions it is made of."""
    shows: dict[str, set[str]] = defaultdict(set)
    for passage in extract.of("draw"):
        shows[passage.name[0]] |= set(passage.symbols)
    told = set()
    for passage in extract.of("part-of"):
        wanted = set[str]().union(*(shows.get(part, set()) for part in passage.symbols))
        missing = sorted(wanted - shows.get(passage.name, wanted))
        here = next((one for one in extract.of("draw") if one.name[0] == passage.name), None)
        if missing and here is not None and (here.name, *missing) not in told:
            told.add((here.name, *missing))
            why = f"{here.name} is made of {', '.join(passage.symbols)} and does not show their {', '.join(missing)}"
            yield PaperFinding("draw-missing", passage.name, here, passage, why)


def mean_or_sure(extract: Extract) -> Iterator[PaperFinding]:
    """A norm is bounded in the mean at one place and surely at another."""
    first: dict[str, Passage] = {}
    told = set()
    for passage in extract.of("mean"):
        there = first.setdefault(passage.name, passage)
        if there.says != passage.says and passage.name not in told:
            told.add(passage.name)
            why = f"‖{passage.name}‖ is bounded {_bounded(there)} and {_bounded(passage)}"
            yield PaperFinding("mean-or-sure", passage.name, passage, there, why)


def _bounded(passage: Passage) -> str:
    return f"{'in the mean' if passage.says == 'mean' else 'surely'} in {passage.place}"


def domains(extract: Extract) -> Iterator[PaperFinding]:
    """A problem restricts a variable that an algorithm takes from the whole space."""
    restricted: dict[str, Passage] = {}
    for passage in extract.of("domain"):
        if "minimisation" in passage.symbols and not passage.says.startswith("ℝ"):
            restricted.setdefault(passage.name, passage)
    for passage in extract.of("domain"):
        there = restricted.get(passage.name)
        if "input" in passage.symbols and passage.says.startswith("ℝ") and there is not None:
            why = f"the problem has {passage.name} ∈ {there.says}, the algorithm {passage.name} ∈ {passage.says}"
            yield PaperFinding("domain", passage.name, passage, there, why)


def ordered_pairs(extract: Extract) -> Iterator[PaperFinding]:
    """A pair that qualifies a noun stands in both orders; the rarer one is the surprise."""
    seen: dict[tuple[str, tuple[str, ...]], list[Passage]] = defaultdict(list)
    first: dict[tuple[str, tuple[str, ...]], int] = {}
    for at, passage in enumerate(extract.of("pair")):
        first.setdefault((passage.name, passage.symbols), -at)
        seen[passage.name, passage.symbols].append(passage)
    for (noun, both), passages in seen.items():
        turned = (noun, both[::-1])
        others = seen.get(turned, [])
        # Of two orders that are as frequent, the later one is the surprise.
        if others and (len(passages), first[noun, both]) < (len(others), first[turned]):
            why = f"({', '.join(both)})-{noun} here, ({', '.join(both[::-1])})-{noun} at {len(others)} other places"
            yield PaperFinding("pair-order", noun, passages[0], others[0], why)


def solver_names(extract: Extract) -> Iterator[PaperFinding]:
    """The same is computed by one method at one place and by another at another."""
    methods: dict[str, dict[str, list[Passage]]] = defaultdict(lambda: defaultdict(list))
    for passage in extract.of("solver"):
        for symbol in passage.symbols:
            methods[symbol][passage.place].append(passage)
    told = set()
    for symbol, places in methods.items():
        (first, *more), *others = places.values()
        names = {one.name for one in (first, *more)}
        for here, *rest in others:
            if not names & {one.name for one in (here, *rest)} and (first.line, here.line) not in told:
                told.add((first.line, here.line))
                why = f"{symbol} is computed by {first.name} in {first.place} and by {here.name} in {here.place}"
                yield PaperFinding("solver-names", symbol, here, first, why)


def two_glyphs(extract: Extract) -> Iterator[PaperFinding]:
    """One letter under two glyphs."""
    for passage in extract.of("glyphs"):
        if len(set(passage.symbols)) > 1:
            why = f"{passage.name} stands as {' and as '.join(passage.symbols)}"
            yield PaperFinding("symbol-glyphs", passage.name, passage, None, why)


def derived_or_assumed(extract: Extract) -> Iterator[PaperFinding]:
    """A statement derives a property that its own proof calls assumed."""
    statements = {(one.place, one.name): one for one in extract.of("stance") if not one.place.startswith("proof")}
    for passage in extract.of("stance"):
        there = statements.get((passage.place.removeprefix("proof of "), passage.name))
        if there is not None and there is not passage and there.says == "derived" and passage.says == "assumed":
            why = f"{passage.name} follows in {there.place}, and is assumed in {passage.place}"
            yield PaperFinding("derived-or-assumed", passage.name, passage, there, why)


SYMBOL_RULES: dict[str, Rule] = {
    "symbol-words": worded_meanings,
    "symbol-formulas": set_twice,
    "symbol-index": indexed_families,
    "symbol-bounds": shared_bounds,
    "symbol-glyphs": two_glyphs,
    "derived-or-assumed": derived_or_assumed,
    "symbol-undefined": undefined_variants,
    "constant-names": names_of_constants,
    "draw-missing": missing_draws,
    "mean-or-sure": mean_or_sure,
    "domain": domains,
    "pair-order": ordered_pairs,
    "solver-names": solver_names,
}
