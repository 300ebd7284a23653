"""What programs have in Algorithm 2 by mistake: edits of its lines as formulas over a run's rows, with their words.

``loop_edits.toml`` has them, a table a line. What may stand for one series, whichever, is one grammar
(:func:`replacements`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Any, NamedTuple


class LineEdit(NamedTuple):
    """Another formula, how it is written in the paper's letters, and what it means; the right one has no words."""

    formula: str
    shown: str = ""
    words: str = ""

    @property
    def halves(self) -> list[str]:
        """The two formulas of an edit that has two."""
        return self.formula.split(" | ", 1)


def _rows(table: Sequence[Sequence[Any]]) -> Iterator[LineEdit]:
    for formula, shown, words, *values in table:
        edit = LineEdit(formula, shown, words)
        for c in values[0] if values else ():
            yield LineEdit(*(text.replace("{c}", f"{c:g}").replace("{rest}", f"{1 - c:.2g}") for text in edit))
        if not values:
            yield edit


_TABLES = tomllib.loads((resources.files("verify.method") / "loop_edits.toml").read_text("utf-8"))
INTERVALS: tuple[tuple[float, float], ...] = tuple(map(tuple, _TABLES.pop("intervals")))
"""Where a uniform number may be drawn from in place of [0, 1]."""
EDITS: dict[str, tuple[LineEdit, ...]] = {name: tuple(_rows(table)) for name, table in _TABLES.items()}
"""All tables, by name."""


class Noun(NamedTuple):
    """A series in words: its formula, its letter with and without the step's number, one step earlier, and names."""

    formula: str
    letter: str
    bare: str
    before: str
    one: str
    many: str
    it: str


ANSWERS = Noun("g", "g_t", "g", "g_{t−1}", "answer", "answers", "g")
STEPS = Noun("step", "Δ_t", "Δ", "Δ_{t−1}", "Δ", "steps", "the previous step")
QUERIES = Noun("z", "z_t", "z", "z_{t−1}", "queried point", "queried points", "z_t")
ITERATES = Noun("x_next", "x_t", "x", "x_{t−1}", "iterate", "iterates", "x_t")
STARTS = Noun("x", "x_{t−1}", "x", "x_{t−2}", "iterate", "iterates", "x_{t−1}")
SERIES = (ANSWERS, STEPS, QUERIES, ITERATES, STARTS)


def replacements(noun: Noun, frame: str = "{}") -> tuple[LineEdit, ...]:
    """The noun in its frame, as it is right, first; then everything that may stand for it."""
    words = noun._asdict() | {"v": noun.formula}
    own = [LineEdit(*(text.format(**words) for text in edit)) for edit in EDITS["series"]]
    others = [
        LineEdit(o.formula, o.letter, f"the {o.many} {o.letter} instead of the {noun.many} {noun.letter}")
        for o in SERIES
        if o != noun
    ]
    right = LineEdit(noun.formula, noun.letter)
    return tuple(edit._replace(formula=frame.format(f"({edit.formula})")) for edit in (right, *own, *others))


UPDATED_FIRST = LineEdit("eta * g", "g_t", "Δ is updated before x moves, with the answer of the same step")
"""Line 7 before line 8: it makes Δ_t, the first one too."""
WHOLE_WAY = LineEdit("x_next - first(x)", "(x_t − x_0)", "the whole way is used in place of the previous step")
MIDDLES = LineEdit("(x + x_next) / 2", "", "the segments' middles instead of the queried points z_t")
EARLY = LineEdit("ahead(z)", "", "the points asked at one step later, z_{t+1}")
*MOVES, LATE_MOVE = EDITS["moves"]
"""The last makes the iterates that a late g makes, and its last step never shows."""
SHOWN_BY_QUERIES = EDITS["moves_that_queries_show"]
STRAIGHT, STEP_BEFORE = EDITS["lines"][:2]
"""The right line for queried points, and what Δ that is updated before x moves comes to."""
