"""``python -m verify.conformance.bugs.generated``: how many random mistakes are caught, and described as they are."""

from __future__ import annotations

import argparse
import itertools
import os
import secrets
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from spec import InvalidInputError
from verify.conformance.bugs.generated.marking import Mark
from verify.conformance.bugs.generated.measuring_names import NamingOutcome, measure
from verify.conformance.bugs.generated.mistakes import Mistake, draws, standing
from verify.method.alike import WEIGHTS
from verify.method.edits import all_edits

HEAD = """# Mistakes that nobody listed

`python -m verify.conformance.bugs.generated` draws random edits of a plain implementation of the method: a term is
dropped, a sign turned, an argument taken for another, a power of α is wrong, a value is an earlier call's, ... Each is
put through the stages of conformance, and what is said of it is held against answers that nobody has seen.

An explanation is *exact* only if it gives the wrong program's own answers on at least 20 fresh random problems (in the
outer loop: 39 fresh runs) and names a stage whose code was changed; *one of* if one of several that are listed together
does; *wrong* if what is printed does not. A pair is exact if both are. What is said of a whole oracle call may describe
edits of the stages that it computes; what is said of a memory must give a row of calls, and fail without the edit.
Edits that change no answer on random problems, and those that end in errors more often than in wrong answers, are left
out.
"""
MARKS: tuple[Mark, ...] = ("exact", "one-of", "unnamed", "wrong")
COLUMNS = "| | mistakes | caught | visible | exact | one of | unnamed | wrong | catalogue true | catalogue wrong |"
"""Visible: in a stage whose code was changed; the last two: the name from the catalogue, where there is one."""
SEED_BITS = 32
MOST_DRAWS = 100
"""Draws for each mistake that is asked for, after which there are no new ones."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write; 2 where an argument breaks its rule."""
    options = _options(arguments)
    seed = secrets.randbits(SEED_BITS) if options.seed is None else options.seed
    if options.census:
        sys.stdout.write("\n".join(census()) + "\n")
        return 0
    # One thread a process: small systems lose time on more, and results must not depend on how many there are.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    mistakes, left_out = drawn(seed, options.mistakes, options.pairs)
    outcomes = list(measured(seed, mistakes, options.jobs))
    text = "\n".join(page(seed, outcomes, left_out)) + "\n"
    if options.out is not None:
        Path(options.out).write_text(text, encoding="utf-8")
    if options.misses is not None:
        Path(options.misses).write_text("\n".join(misses(outcomes)) + "\n", encoding="utf-8")
    sys.stdout.write(text)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m verify.conformance.bugs.generated", description=__doc__)
    parser.add_argument("--mistakes", type=_count, default=300, metavar="N", help="single mistakes (300)")
    parser.add_argument("--pairs", type=_count, default=50, metavar="N", help="two mistakes at once (50)")
    parser.add_argument("--seed", type=_count, help="of all draws; fresh if not given, and printed")
    parser.add_argument("--jobs", type=_count, default=1, metavar="J", help="processes (1)")
    parser.add_argument("--out", metavar="FILE", help="where the page is written as well")
    parser.add_argument("--misses", metavar="FILE", help="where mistakes that are not described exactly are listed")
    parser.add_argument("--census", action="store_true", help="count all edits and say which change nothing")
    return parser.parse_args(arguments)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number >= 0; got {text}")
    return int(text)


def drawn(seed: int, singles: int, pairs: int) -> tuple[list[tuple[int, Mistake]], int]:
    """Single mistakes, no two alike, then pairs, each with its number; and the draws left out: they change nothing."""
    mistakes: list[tuple[int, Mistake]] = []
    known: set[str] = set()
    left_out = 0
    for number in itertools.count():
        if len(mistakes) == singles:
            break
        mistake, skipped = draws((seed, 0, number), 1)
        if mistake.sentence not in known:
            known.add(mistake.sentence)
            left_out += skipped
            mistakes.append((number, mistake))
        if number > MOST_DRAWS * singles:
            raise InvalidInputError("mistakes", "must not be more than there are", singles)
    return [*mistakes, *((number, draws((seed, 1, number), 2)[0]) for number in range(pairs))], left_out


def measured(seed: int, mistakes: Sequence[tuple[int, Mistake]], jobs: int) -> Iterator[NamingOutcome]:
    """Every mistake's outcome, in order, whatever the number of processes."""
    task = partial(_task, seed)
    if jobs <= 1:
        yield from map(task, mistakes)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(task, mistakes, chunksize=4)


def _task(seed: int, numbered: tuple[int, Mistake]) -> NamingOutcome:
    return measure(seed, *numbered)


def page(seed: int, outcomes: Sequence[NamingOutcome], left_out: int) -> Iterator[str]:
    """Markdown of all tables."""
    singles = [one for one in outcomes if len(one.mistake.edits) == 1]
    pairs = [one for one in outcomes if len(one.mistake.edits) > 1]
    yield HEAD
    seconds = sum(one.seconds for one in outcomes)
    yield f"Seed {seed}: {len(singles)} mistakes, {len(pairs)} pairs; {left_out} draws left out; {seconds:.0f} s of"
    yield "processor time."
    for title, group in (("All", singles), ("Pairs", pairs)):
        if group:
            yield f"\n## {title}\n"
            yield from _table([(title.lower(), group)])
    if pairs:
        partly = sum(one.partly for one in pairs)
        yield f"\nOf the pairs called unnamed, {partly} have one of two mistakes described, and nothing wrong said."
    for title, key in (("By stage", _stage), ("By kind of edit", _kind)):
        groups = [(name, [one for one in singles if key(one) == name]) for name in sorted({*map(key, singles)})]
        yield f"\n## {title}\n"
        yield from _table(groups)


def _stage(one: NamingOutcome) -> str:
    return one.mistake.edits[0].procedure


def _kind(one: NamingOutcome) -> str:
    return one.mistake.edits[0].kind


def _table(groups: Sequence[tuple[str, Sequence[NamingOutcome]]]) -> Iterator[str]:
    """Counts of each group; shares of those visible in a stage."""
    yield COLUMNS
    yield "|---|" + "--:|" * (COLUMNS.count("|") - 2)
    for name, group in groups:
        visible = [one for one in group if one.visible]
        counts = [len(group), sum(one.caught for one in group), len(visible)]
        counts += [[one.mark for one in group].count(mark) for mark in MARKS]
        names = [one.catalogue for one in group]
        true, false = names.count("exact") + names.count("one-of"), names.count("wrong")
        yield f"| {name} | " + " | ".join(map(str, (*counts, true, false))) + " |"


def misses(outcomes: Sequence[NamingOutcome]) -> Iterator[str]:
    """What was not caught, not described or described wrongly, with the truth; wrong ones first."""
    rank = {"wrong": 0, "unnamed": 1}
    missed = [one for one in outcomes if one.mark in rank or not one.caught or one.catalogue == "wrong"]
    for one in sorted(missed, key=lambda one: (rank.get(one.mark, 2), one.mistake.edits[0].procedure)):
        edits = one.mistake.edits
        caught = "" if one.caught else "NOT CAUGHT "
        catalogue = "WRONG CATALOGUE NAME " if one.catalogue == "wrong" else ""
        kinds = "+".join(edit.kind for edit in edits)
        yield f"{caught}{catalogue}{one.mark.upper()} [{kinds}] {one.mistake.sentence}"
        yield f"    visible: edits {sorted(one.visible)}, described: {sorted(one.marked.described)}; {one.marked.marks}"
        yield from (f"    said: {line}" for line in one.lines)


def census() -> Iterator[str]:
    """All edits counted by what they do, and those that change nothing."""
    edits = all_edits()
    by = {name: [edit for edit in edits if standing(edit) == name] for name in ("changes", "equivalent", "breaks")}
    yield f"{len(edits)} edits of {len(WEIGHTS)} kinds: {len(by['changes'])} change answers, {len(by['equivalent'])} "
    yield f"change none on 200 random probes or on runs, {len(by['breaks'])} end in errors more often than in answers."
    yield from (f"changes nothing: {edit.sentence}" for edit in by["equivalent"])


if __name__ == "__main__":
    sys.exit(main())
