"""``f2csa experiment board``: what an exact or nearly exact hypergradient takes, from an error of 1e-2 to 1e-12.

Every entrant of :mod:`verify.experiments.answers` is brought to every error, held to it against ∇F in more digits than
doubles have, and timed beside the prepared implicit gradient, whose time is 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from verify.experiments.answers.board_field import field_of
from verify.experiments.answers.ours import BatchedF2csa, FastF2csa, PageF2csa, PageImplicit
from verify.experiments.answers.problems import LEAST, ROWS
from verify.experiments.hypergradient_board_words import described
from verify.experiments.model import Experiment, Size
from verify.experiments.work_cells import Bench, Cell

DIMENSIONS: dict[Size, tuple[int, ...]] = {"quick": (10, 100), "whole": (10, 100, 1000, 4000)}
LEAST_LARGEST = 10
"""Least dimension to stop at."""
CONDITIONS: dict[Size, tuple[float, ...]] = {"quick": (10.0, 1000.0), "whole": (10.0, 100.0, 1000.0)}
LARGE, HUGE = 1000, 2000
"""Fewer points from the first dimension on; from the second the least condition alone, no pages and no batches."""
KINDS: dict[Size, tuple[str, ...]] = {"quick": ("box", "5 rows"), "whole": tuple(ROWS)}
COUNTS: dict[str, tuple[int, int, int, int]] = {"small": (2, 6, 5, 3), "large": (1, 4, 3, 2), "huge": (1, 3, 2, 1)}
"""Points to choose efforts at, of the walk, fresh ones, and rounds, by size."""


def run(
    bench: Bench, size: Size, seed: int, *, largest: int | None = None, elsewhere: Sequence[str] = ()
) -> Experiment:
    """All cells up to the largest dimension asked for, then what they show."""
    cells = [
        Cell("answers.race:measured", place | {"elsewhere": list(elsewhere)})
        for place in _places(size, seed, largest or DIMENSIONS[size][-1])
    ]
    rows = [row for answers in bench.perform("problems", cells, timed=True) for row in answers]
    return described(rows, field_of(elsewhere), size, seed)


def _places(size: Size, seed: int, largest: int) -> Iterator[dict[str, Any]]:
    for d in (d for d in DIMENSIONS[size] if d <= largest):
        for kind in (kind for kind in KINDS[size] if d >= LEAST[kind]):
            for condition in CONDITIONS[size][: 1 if d >= HUGE else None]:
                stage = "huge" if d >= HUGE else "large" if d >= LARGE else "small"
                place = {"rows": kind, "d": d, "condition": condition, "seed": seed}
                yield {"place": place, "counts": list(COUNTS[stage]), "without": _without(d)}


def _without(d: int) -> list[str]:
    """Who is left out at a size, where a single answer takes longer than all others' together."""
    if d < HUGE:
        return []
    return [PageF2csa().name, PageImplicit().name, BatchedF2csa().name, *([FastF2csa(True).name] if d > 4000 else [])]
