"""One mistake put through conformance: whether it is caught, what is said of it, and whether that is true."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from verify.conformance.blame.accuracy.accuracy import accuracy_of
from verify.conformance.blame.all_stages import explain_all
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.bugs.generated.marking import WORST_FIRST, Mark, Marked, Unheld, marked, named
from verify.conformance.bugs.generated.mistakes import Mistake
from verify.conformance.bugs.generated.unseen import Unseen, draw_unseen
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.letter.diagnosis import diagnose
from verify.method.lines import Stage
from verify.subjects.protocol import StageCalls

ROUNDS = 3
"""Unseen problems of each size: thirty of most kinds of probe."""


@dataclass(frozen=True)
class NamingOutcome:
    """What became of one mistake, single or double.

    ``visible`` are edits, by number, whose stage diverges, ``marked`` what is said worth, by explanations, and
    ``catalogue`` what the catalogue's name is worth; ``lines`` are what is printed.
    """

    number: int
    mistake: Mistake
    caught: bool
    visible: frozenset[int]
    marked: Marked
    catalogue: Mark
    lines: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    @property
    def mark(self) -> Mark:
        """The whole: wrong where anything said is, exact where every visible edit is described."""
        marks = [*self.marked.marks.values()]
        if "wrong" in marks:
            return "wrong"
        if not self.marked.described or not self.visible <= self.marked.described:
            return "unnamed"
        return "one-of" if "one-of" in marks else "exact"

    @property
    def partly(self) -> bool:
        """Whether something is said, all of it true, of a part of what is wrong."""
        return self.mark == "unnamed" and bool(self.marked.described)


@lru_cache(maxsize=2)
def unseen_of(seed: int) -> Unseen:
    """The unseen problems of a benchmark."""
    return draw_unseen(np.random.default_rng([seed, 2]), ROUNDS)


def measure(seed: int, number: int, mistake: Mistake) -> NamingOutcome:
    """Everything about one mistake."""
    start = time.process_time()
    with np.errstate(all="ignore"):
        stages = StageCalls(mistake.subject())
        seen = look(stages)
        blames = explain_all(
            stages, seen, accuracy_of(stages, seen), lambda: nullcontext(StageCalls(mistake.subject()))
        )
        unheld = Unheld(mistake, unseen_of(seed))
        off = {finding.stage for finding in seen.findings if finding.status in ("diverges", "fault")}
        names = {d.stage: [match.id for match in d.matches] for d in diagnose(seen) if d.matches}
        known = {named(unheld, stage, ids) for stage, ids in names.items()}
        catalogue: Mark = next((mark for mark in WORST_FIRST if mark in known), "unnamed")
        marks = marked(unheld, blames)
    visible = frozenset(i for stage in off for i in unheld.at(stage))
    return NamingOutcome(number, mistake, bool(off), visible, marks, catalogue, _said(blames, names),
                   time.process_time() - start)  # fmt: skip


def _said(blames: Sequence[Blame], names: Mapping[Stage, Sequence[str]]) -> tuple[str, ...]:
    sentences = (f"{blame.stage}: {' | '.join(e.sentence for e in blame.explanations)}" for blame in blames
                 if blame.explanations)  # fmt: skip
    return (*sentences, *(f"{stage}: catalogue's {', '.join(ids)}" for stage, ids in names.items()))
